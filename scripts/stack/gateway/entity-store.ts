import type { KeptMap } from './journal.ts';

/** Entities by id. Each is frozen, so that a later change does not affect earlier results. */
export function createEntityStore<Entity extends { id: string }>(entities: KeptMap<Entity>) {
  for (const entity of entities.values()) freeze(entity);
  return {
    save(entity: Entity): Entity {
      const saved = freeze(structuredClone(entity));
      entities.set(saved.id, saved);
      return saved;
    },
    find: (id: string | null | undefined): Entity | undefined => entities.get(id ?? ''),
    /** Newest first. */
    list: (): Entity[] => [...entities.values()].reverse(),
  };
}

/** Freezes a value with all that it holds. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}
