/** The project's public keys by their ids, each in JWK form. */
type Keys = ReadonlyMap<string, JsonWebKey>;

/** Finds the key that a session says it was signed with. */
export type SessionKeys = {
  /**
   * @returns the key, or undefined when the project has none of that id.
   * @throws when the auth server can't say: an outage is not a refusal.
   */
  find(id: string): Promise<JsonWebKey | undefined>;
};

/** Forged sessions may name any id: whatever comes, the auth server is asked no more often than this. */
const refreshPauseMilliseconds = 60_000;

/** Without any keys nobody gets in, so they are asked for a little sooner after a failure. */
const firstKeysPauseMilliseconds = 5000;

/** Keys older than this are refreshed beside the requests, which go on with them: a revoked one is dropped. */
const maxAgeMilliseconds = 600_000;

/**
 * Keeps the project's keys. They are fetched when the first session comes and when one names an unknown key; requests that
 * wait for a fetch share it, and what is known stays good while the auth server is out of reach.
 * @param fetchKeys asks the auth server
 * @param now milliseconds of a clock that only goes on
 */
export function createSessionKeys(
  fetchKeys: () => Promise<Keys>,
  now: () => number = () => performance.now(),
): SessionKeys {
  let keys: Keys | null = null;
  let fetchedAt = -Infinity;
  let askedAt = -Infinity;
  let failure: unknown = null;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    askedAt = now();
    try {
      keys = await fetchKeys();
      fetchedAt = now();
      failure = null;
    } catch (error) {
      failure = error;
    } finally {
      asking = null;
    }
  }

  /** Never rejects. */
  function refresh(): Promise<void> {
    if (asking !== null) return asking;
    const pause = keys === null ? firstKeysPauseMilliseconds : refreshPauseMilliseconds;
    if (now() - askedAt < pause) return Promise.resolve();
    return asking = ask();
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
