import { appendFileSync, closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** A map that outlives the simulator. A change counts when `set` or `delete` is called: values are JSON. */
export type KeptMap<Value> = Pick<Map<string, Value>, 'get' | 'has' | 'set' | 'delete' | 'entries' | 'keys' | 'values'>;

/** One value that outlives the simulator, such as a setting. */
export type KeptValue<Value> = { current: Value };

/** What the simulator remembers, in memory, and in a file if it has one. */
export type Journal = {
  map<Value>(name: string): KeptMap<Value>;
  value<Value>(name: string, initial: Value): KeptValue<Value>;
  /** Closes the file. A later change opens it again. */
  close(): void;
};

// A program's own file: what it wrote needs no check.
type Json = ReturnType<typeof JSON.parse>;
/** A change of a map. Without a value the key was deleted. */
type Change = [map: string, key: string, value?: Json];

/**
 * Keeps maps in a file, one line for all changes that are made without a pause, so that each line leaves the data
 * whole: a payment with its order and its webhooks. The line is written before the request is answered. A kill may cut
 * the last line, which then did not happen. The start writes the file anew, beside the old one, and renames it.
 * @param path default: nothing is kept
 * @throws Error when the file is damaged
 */
export function createJournal(path?: string): Journal {
  const kept = path === undefined ? new Map<string, Map<string, Json>>() : readKept(path);
  let changes: Change[] = [];
  let file: number | undefined;
  if (path !== undefined) rewrite(path, kept);

  const write = () => {
    if (path === undefined || changes.length === 0) return;
    file ??= openSync(path, 'a', 0o600);
    appendFileSync(file, lineOf(changes));
    changes = [];
  };
  const note = (...change: Change) => {
    if (path !== undefined && changes.push(change) === 1) queueMicrotask(write);
  };
  const map = <Value>(name: string): KeptMap<Value> => {
    const entries: Map<string, Value> = kept.get(name) ?? new Map();
    kept.set(name, entries);
    return {
      get: (key) => entries.get(key),
      has: (key) => entries.has(key),
      keys: () => entries.keys(),
      values: () => entries.values(),
      entries: () => entries.entries(),
      set(key, value) {
        note(name, key, value);
        return entries.set(key, value);
      },
      delete(key) {
        note(name, key);
        return entries.delete(key);
      },
    };
  };
  return {
    map,
    value<Value>(name: string, initial: Value) {
      const entry = map<Value>(name);
      return {
        get current() {
          return entry.get('') ?? initial;
        },
        set current(value) {
          entry.set('', value);
        },
      };
    },
    close() {
      write();
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function readKept(path: string): Map<string, Map<string, Json>> {
  const kept = new Map<string, Map<string, Json>>();
  const lines = readText(path).split('\n');
  // What follows the last line break was cut.
  for (const [index, line] of lines.slice(0, -1).entries()) {
    for (const [name, key, ...value] of changesOf(line, `${path}, line ${index + 1}`)) {
      const entries = kept.get(name) ?? new Map<string, Json>();
      kept.set(name, entries);
      if (value.length === 0) entries.delete(key);
      else entries.set(key, value[0]);
    }
  }
  return kept;
}

function changesOf(line: string, where: string): Change[] {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`The data of the gateway simulator are damaged (${where}): delete them with npm start -- --reset`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Writes each entry once, without the changes before. */
function rewrite(path: string, kept: Map<string, Map<string, Json>>): void {
  const lines = [...kept].flatMap(([name, entries]) =>
    [...entries].map(([key, value]) => lineOf([[name, key, value]]))
  );
  writeFileSync(`${path}.new`, lines.join(''), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function lineOf(changes: Change[]): string {
  return `${JSON.stringify(changes)}\n`;
}

/** Deletes the file of a journal. */
export function removeJournal(path: string): void {
  for (const name of [path, `${path}.new`]) rmSync(name, { force: true });
}
