/** Entities by id. `save` and the reads copy, so that a later change does not affect earlier results. */
export type EntityStore<Entity> = {
  save(entity: Entity): Entity;
  find(id: string | null | undefined): Entity | undefined;
  /** Newest first. */
  list(): Entity[];
};

export function createEntityStore<Entity extends { id: string }>(): EntityStore<Entity> {
  const entities = new Map<string, Entity>();
  return {
    save(entity) {
      entities.set(entity.id, structuredClone(entity));
      return structuredClone(entity);
    },
    find: (id) => structuredClone(entities.get(id ?? '')),
    list: () => structuredClone([...entities.values()].reverse()),
  };
}
