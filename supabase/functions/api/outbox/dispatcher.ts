import { deliverRows, type Outcome } from './deliver-rows.ts';
import { oneAtATime } from './one-at-a-time.ts';
import type { Destination, Sender } from './outbox.ts';
import type { OutboxDatabase } from '../ports.ts';
import { add, type Counts, nothing, settleRows } from './settle-rows.ts';

/** How many rows went which way, and when the next one is due (ISO 8601; null: nothing is left). */
export type DispatchReport = Counts & { readonly next_attempt_at: string | null };

/** Delivers what is due in the outbox. */
export type Dispatcher = {
  /** Delivers until nothing is due or its time is over; a call while one runs looks once more after it. */
  dispatch(): Promise<DispatchReport>;
};

/** Within what an isolate has; what is left comes with the next call. */
const budgetMilliseconds = 25_000;

/** @param senders the destinations that are configured; rows of others wait. */
export function createDispatcher(
  database: OutboxDatabase,
  senders: Readonly<Partial<Record<Destination, Sender>>>,
): Dispatcher {
  // Each destination has a runner of its own: one that hangs holds up nobody else.
  const runners = Object.entries(senders).map(([destination, sender]) =>
    oneAtATime(() => drain(database, destination, sender))
  );
  return {
    async dispatch() {
      if (runners.length === 0) return { ...nothing, next_attempt_at: null };
      const counts = await Promise.all(runners.map((run) => run()));
      const { nextAttemptAt } = await database.nextOutboxAttempt(Object.keys(senders));
      return { ...counts.reduce(add, nothing), next_attempt_at: nextAttemptAt };
    },
  };
}

/** A receiver that asks for a short pause gets it and the rest after it: so mails go at the provider's rate. */
async function pauseFor(outcomes: readonly Outcome[], until: number): Promise<void> {
  const seconds = Math.max(0, ...outcomes.map(({ delivery }) => delivery.status === 'paused' ? delivery.seconds : 0));
  const milliseconds = seconds * 1000;
  if (milliseconds > 0 && performance.now() + milliseconds < until) {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }
}

async function drain(database: OutboxDatabase, destination: string, sender: Sender): Promise<Counts> {
  const until = performance.now() + budgetMilliseconds;
  let counts = nothing;
  while (performance.now() < until) {
    const claimedAt = performance.now();
    const { token, rows, parked } = await database.claimOutbox(destination);
    counts = add(counts, { ...nothing, parked });
    if (rows.length === 0 && parked === 0) break;
    const outcomes = await deliverRows(sender(rows), claimedAt);
    counts = add(counts, await settleRows(database, token, outcomes));
    await pauseFor(outcomes, until);
  }
  return counts;
}
