const KEPT_MS = 24 * 60 * 60 * 1000;
const KEPT_KEYS = 10_000;

export type IdempotencyMemory = {
  /** The earlier answer for this key, `'conflict'` for another payload, undefined for an unknown key. */
  recall(key: string, payload: string): { id: string } | 'conflict' | undefined;
  remember(key: string, payload: string, id: string): void;
};

/** Stores payload and answered id for each key for 24 hours, as Resend does. */
export function createIdempotencyMemory(): IdempotencyMemory {
  const seen = new Map<string, { payload: string; id: string; until: number }>();
  return {
    recall(key, payload) {
      const entry = seen.get(key);
      if (entry === undefined || entry.until < Date.now()) return undefined;
      return entry.payload === payload ? { id: entry.id } : 'conflict';
    },
    remember(key, payload, id) {
      // Delete and insert, so that the Map stays ordered by age.
      seen.delete(key);
      seen.set(key, { payload, id, until: Date.now() + KEPT_MS });
      for (const oldest of seen.keys()) {
        if (seen.size <= KEPT_KEYS) break;
        seen.delete(oldest);
      }
    },
  };
}
