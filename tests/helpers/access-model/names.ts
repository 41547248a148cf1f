import { uniqueId } from '../records.ts';

/** The names of a history beside the ids in the database and at the gateway. */
export type Names = {
  /** The id of a name; a new one with that prefix when it has none yet. */
  idOf(name: string, prefix: string): string;
  /** The name of an id, or the id itself. */
  nameOf(id: string): string;
  /** Adds an id, of which a name may have several. */
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
