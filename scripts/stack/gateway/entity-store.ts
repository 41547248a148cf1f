import type { KeptMap } from './journal.ts';

/** Entities of one kind. */
export type EntityStore<Entity> = {
  save(entity: Entity): Entity;
  remove(id: string): boolean;
  find(id: string | null | undefined): Entity | undefined;
  /** Newest first. */
  list(): Entity[];
};

/** Entities by id. Each is frozen, so that a later change does not affect earlier results. */
export function createEntityStore<Entity extends { id: string }>(entities: KeptMap<Entity>): EntityStore<Entity> {
  for (const entity of entities.values()) freeze(entity);
  return {
    save(entity: Entity): Entity {
      const saved = freeze(structuredClone(entity));
      entities.set(saved.id, saved);
      return saved;
    },
    remove: (id: string): boolean => entities.delete(id),
    find: (id: string | null | undefined): Entity | undefined => entities.get(id ?? ''),
    list: (): Entity[] => [...entities.values()].reverse(),
  };
}

/** Freezes a value with all that it holds. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}
