import type { Attempt, Delivery, Destination, OutboxDatabase, OutboxRow, Sender } from '../ports.ts';
import { type Claim, joinClaims, type SettlingDatabase } from './claims.ts';

/** The result of a dispatch. `next_attempt_at`: when the next row is due, ISO 8601; null: no row is left. */
export type DispatchReport = Counts & { readonly next_attempt_at: string | null };

/** How many rows were delivered, will be retried, and were parked. */
export type Counts = { readonly delivered: number; readonly retried: number; readonly parked: number };

/** The delivery of claimed rows. */
export type Outcome = { readonly rows: readonly OutboxRow[]; readonly delivery: Delivery };

export type Dispatcher = {
  /** Delivers until nothing is due or the time is over. A call during a run starts one more run after it. */
  dispatch(): Promise<DispatchReport>;
};

/** Less than the run time of an isolate. The next dispatch delivers what is left. */
const budgetMilliseconds = 25_000;

/** Low enough for the receivers' rate limits, high enough that one slow answer does not delay a batch. */
const parallel = 5;

/** An attempt starts with at least 15 of the lease's 60 seconds left: it must end before the rows are claimed again. */
const startWithinMilliseconds = 45_000;

export const noCounts: Counts = { delivered: 0, retried: 0, parked: 0 };

/** @param senders the configured destinations; rows of other destinations wait. */
export function createDispatcher(
  database: OutboxDatabase,
  senders: Readonly<Partial<Record<Destination, Sender>>>,
): Dispatcher {
  const claim = joinClaims(database);
  // One runner for each destination, so that a receiver that hangs delays no other destination.
  const runners = Object.entries(senders).map(([destination, sender]) =>
    oneAtATime(() => drain(() => claim(destination), sender))
  );
  return {
    async dispatch() {
      if (runners.length === 0) return { ...noCounts, next_attempt_at: null };
      const runs = await Promise.all(runners.map((run) => run()));
      const counts = runs.map((run) => run.counts).reduce(addCounts, noCounts);
      // A claim knows nothing of what failed or was left afterwards.
      if (!runs.every((run) => run.isComplete)) {
        return { ...counts, ...await database.nextOutboxAttempt(Object.keys(senders)) };
      }
      const times = runs.flatMap((run) => run.nextAttemptAt ?? []);
      return { ...counts, next_attempt_at: times.toSorted()[0] ?? null };
    },
  };
}

/** What a run did. `isComplete`: whether every row that was due is delivered or parked. */
type Run = { readonly counts: Counts; readonly isComplete: boolean; readonly nextAttemptAt: string | null };

async function drain(claim: () => Promise<Claim>, sender: Sender): Promise<Run> {
  const until = performance.now() + budgetMilliseconds;
  let counts = noCounts;
  let isComplete = true;
  while (performance.now() < until) {
    const claimedAt = performance.now();
    const { token, rows, parked, hasMore, nextAttemptAt, database, end } = await claim();
    counts = addCounts(counts, { ...noCounts, parked });
    let isPaused = false;
    if (rows.length > 0) {
      const outcomes = await deliverRows(sender(rows), claimedAt);
      const settled = await settleRows(database, token, outcomes).finally(end);
      counts = addCounts(counts, settled);
      isComplete &&= settled.delivered === rows.length;
      isPaused = outcomes.some(({ delivery }) => delivery.status === 'paused');
      await waitForRateLimit(outcomes, until);
    }
    if (!hasMore && !isPaused) return { counts, isComplete, nextAttemptAt };
  }
  return { counts, isComplete: false, nextAttemptAt: null };
}

/**
 * Waits as long as a receiver's rate limit demands, if the time allows it. The next batch follows after the pause.
 */
async function waitForRateLimit(outcomes: readonly Outcome[], until: number): Promise<void> {
  const seconds = Math.max(0, ...outcomes.map(({ delivery }) => delivery.status === 'paused' ? delivery.seconds : 0));
  const milliseconds = seconds * 1000;
  if (milliseconds > 0 && performance.now() + milliseconds < until) {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }
}

/**
 * Runs work, never twice at once. All calls during a run share the next run, which sees every row that was due when
 * they called. So no call waits for more than two runs.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function start(): Promise<T> {
    const run = work();
    const end = () => {
      if (running === run) running = null;
    };
    run.then(end, end);
    running = run;
    return run;
  }

  function startNext(): Promise<T> {
    next = null;
    return start();
  }

  return () => {
    if (next !== null) return next;
    if (running === null) return start();
    next = running.then(startNext, startNext);
    return next;
  };
}

/**
 * Makes the attempts, a few in parallel.
 * @param claimedAt time of the claim, by `performance.now()`
 * @returns the outcomes. Attempts that had no time left are not among them: their lease expires.
 */
export async function deliverRows(attempts: readonly Attempt[], claimedAt: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...attempts];
  let pause: Delivery | undefined;
  async function work(): Promise<void> {
    while (performance.now() - claimedAt < startWithinMilliseconds) {
      const attempt = waiting.shift();
      if (attempt === undefined) return;
      // After a 429 the remaining attempts are not made: each would be refused and extend the pause.
      const delivery = pause ?? await attempt.deliver();
      if (delivery.status === 'paused') pause = delivery;
      outcomes.push({ rows: attempt.rows, delivery });
    }
  }
  await Promise.all(Array.from({ length: parallel }, work));
  return outcomes;
}

/**
 * Stores the outcomes, with one call of the database for each distinct delivery.
 * @throws the first error of the database, after all calls: a refund that can't be applied keeps no other outcome back.
 */
export async function settleRows(
  database: SettlingDatabase,
  token: string,
  outcomes: readonly Outcome[],
): Promise<Counts> {
  let counts = noCounts;
  const errors: unknown[] = [];
  for (const { delivery, rows } of groupByDelivery(outcomes)) {
    const ids = rows.map(({ id }) => id);
    try {
      if (delivery.status === 'delivered') {
        await database.completeOutbox(token, ids, delivery);
        counts = addCounts(counts, { ...noCounts, delivered: ids.length });
      } else {
        const failed = await database.failOutbox(token, ids, delivery);
        counts = addCounts(counts, { ...noCounts, ...failed });
      }
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return counts;
}

function groupByDelivery(outcomes: readonly Outcome[]): Iterable<{ delivery: Delivery; rows: OutboxRow[] }> {
  const groups = new Map<string, { delivery: Delivery; rows: OutboxRow[] }>();
  for (const { delivery, rows } of outcomes) {
    const name = JSON.stringify(delivery);
    const group = groups.get(name) ?? { delivery, rows: [] };
    group.rows.push(...rows);
    groups.set(name, group);
  }
  return groups.values();
}

export function addCounts(one: Counts, other: Counts): Counts {
  return {
    delivered: one.delivered + other.delivered,
    retried: one.retried + other.retried,
    parked: one.parked + other.parked,
  };
}
