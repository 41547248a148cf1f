import { uniqueId } from '../records/records.ts';

/** Maps the names of a history to the ids in the database and at the gateway. */
export type Names = {
  /** The id of a name. Creates one with the prefix at the first use. */
  idOf(name: string, prefix: string): string;
  /** The name of an id, or the id itself. */
  nameOf(id: string): string;
  /** Adds an id to a name. A name may have several. */
  add(id: string, name: string): void;
};

export function createNames(): Names {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  return {
    idOf(name, prefix) {
      const id = ids.get(name) ?? uniqueId(prefix);
      ids.set(name, id);
      if (!names.has(id)) names.set(id, name);
      return id;
    },
    nameOf: (id) => names.get(id) ?? id,
    add: (id, name) => void names.set(id, name),
  };
}
