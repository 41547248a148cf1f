const KEPT_MS = 24 * 60 * 60 * 1000;
const KEPT_KEYS = 10_000;

export type IdempotencyMemory = {
  /** The id answered before under this key, `'conflict'` when that was another payload, else undefined. */
  recall(key: string, payload: string): { id: string } | 'conflict' | undefined;
  remember(key: string, payload: string, id: string): void;
};

/** Remembers for 24 hours, as the real service does, which payload came under which key, and the id it was given. */
export function createIdempotencyMemory(): IdempotencyMemory {
  const seen = new Map<string, { payload: string; id: string; until: number }>();
  return {
    recall(key, payload) {
      const entry = seen.get(key);
      if (entry === undefined || entry.until < Date.now()) return undefined;
      return entry.payload === payload ? { id: entry.id } : 'conflict';
    },
    remember(key, payload, id) {
      // Set anew rather than in place, so that the Map's order stays the order of age.
      seen.delete(key);
      seen.set(key, { payload, id, until: Date.now() + KEPT_MS });
      for (const oldest of seen.keys()) {
        if (seen.size <= KEPT_KEYS) break;
        seen.delete(oldest);
      }
    },
  };
}
