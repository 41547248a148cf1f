/** The project's public keys by key id, as JWK. */
type Keys = ReadonlyMap<string, JsonWebKey>;

/** The cached public keys of the project. */
export type SessionKeys = {
  /**
   * @returns the key, or undefined when the project has no key with this id.
   * @throws when the auth server is unavailable: an outage is not a refusal.
   */
  find(id: string): Promise<JsonWebKey | undefined>;
};

/** Minimum time between two fetches: forged sessions with unknown key ids must not overload the auth server. */
const refreshPauseMilliseconds = 60_000;

/** Shorter while there are no keys at all, because then every session fails. */
const firstKeysPauseMilliseconds = 5000;

/** Older keys are refreshed in the background, so that a revoked key is dropped. Requests still use the old ones. */
const maxAgeMilliseconds = 600_000;

/**
 * Caches the project's keys. They are fetched for the first session and for an unknown key id. Concurrent requests
 * share a fetch. Known keys stay valid while the auth server is unavailable.
 * @param now milliseconds of a monotonic clock
 */
export function createSessionKeys(
  fetchKeys: () => Promise<Keys>,
  now: () => number = () => performance.now(),
): SessionKeys {
  let keys: Keys | null = null;
  let fetchedAt = -Infinity;
  let triedAt = -Infinity;
  let failure: unknown = null;
  let fetching: Promise<void> | null = null;

  async function fetchNow(): Promise<void> {
    triedAt = now();
    try {
      keys = await fetchKeys();
      fetchedAt = now();
      failure = null;
    } catch (error) {
      failure = error;
    } finally {
      fetching = null;
    }
  }

  /** Never rejects. */
  function refresh(): Promise<void> {
    if (fetching !== null) return fetching;
    const pause = keys === null ? firstKeysPauseMilliseconds : refreshPauseMilliseconds;
    if (now() - triedAt < pause) return Promise.resolve();
    return fetching = fetchNow();
  }

  return {
    async find(id) {
      const known = keys?.get(id);
      if (known !== undefined) {
        if (now() - fetchedAt > maxAgeMilliseconds) void refresh();
        return known;
      }
      await refresh();
      const key = keys?.get(id);
      if (key === undefined && failure !== null) throw failure;
      return key;
    },
  };
}
