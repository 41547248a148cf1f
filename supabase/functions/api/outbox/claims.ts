import type { OutboxDatabase, OutboxRow } from '../ports.ts';

/** How long a delivered row waits for those of other destinations that were claimed with it, to be completed together. */
const joinMilliseconds = 1_000;

/** The rows of one destination in a claim, and where their outcomes go. */
export type Claim = {
  readonly token: string;
  readonly rows: readonly OutboxRow[];
  readonly parked: number;
  /** Whether further rows may be due. */
  readonly hasMore: boolean;
  readonly nextAttemptAt: string | null;
  readonly database: SettlingDatabase;
  /** Says that no further outcome follows. */
  end(): void;
};

/** The methods that store outcomes. */
export type SettlingDatabase = Pick<OutboxDatabase, 'completeOutbox' | 'failOutbox'>;

/** The claims of one turn of the event loop become one call of the database. */
export function joinClaims(database: OutboxDatabase): (destination: string) => Promise<Claim> {
  let waiting: { destinations: string[]; result: Promise<(destination: string) => Claim> } | null = null;

  async function claimAll(destinations: readonly string[]) {
    await Promise.resolve();
    waiting = null;
    const { token, rows, parked, more, next_attempt_at } = await database.claimOutbox(destinations);
    const completion = joinCompletions(database, new Set(rows.map((row) => row.destination)).size);
    return (destination: string): Claim => ({
      token,
      rows: rows.filter((row) => row.destination === destination),
      parked: destination === destinations[0] ? parked : 0,
      hasMore: more.includes(destination),
      nextAttemptAt: next_attempt_at,
      ...completion(),
    });
  }

  return async (destination) => {
    if (waiting === null) {
      const destinations: string[] = [];
      waiting = { destinations, result: claimAll(destinations) };
    }
    waiting.destinations.push(destination);
    return (await waiting.result)(destination);
  };
}

/** Deliveries that are completed together. */
type Waiting = {
  readonly ids: number[];
  readonly token: string;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly done: PromiseWithResolvers<void>;
};

/**
 * The plain deliveries of several destinations become one call of the database, unless one takes a second longer.
 * @param count of the destinations
 * @returns creates the end of one destination
 */
function joinCompletions(database: OutboxDatabase, count: number): () => Pick<Claim, 'database' | 'end'> {
  let missing = count;
  let waiting: Waiting | null = null;

  function flush(): void {
    if (waiting === null) return;
    const { ids, token, timer, done } = waiting;
    waiting = null;
    clearTimeout(timer);
    database.completeOutbox(token, ids).then(done.resolve, done.reject);
  }

  return () => {
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      missing -= 1;
      if (missing === 0) flush();
    };
    return {
      end,
      database: {
        failOutbox: database.failOutbox,
        completeOutbox(token, ids, delivery) {
          if (delivery?.note !== undefined || delivery?.refund !== undefined) {
            return database.completeOutbox(token, ids, delivery);
          }
          waiting ??= { ids: [], token, timer: setTimeout(flush, joinMilliseconds), done: Promise.withResolvers() };
          waiting.ids.push(...ids);
          const { promise } = waiting.done;
          end();
          return promise;
        },
      },
    };
  };
}
