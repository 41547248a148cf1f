import type { Attempt, Delivery, OutboxRow } from './outbox.ts';

/** What became of claimed rows. */
export type Outcome = { readonly rows: readonly OutboxRow[]; readonly delivery: Delivery };

/** Few enough to be polite to a receiver, many enough that one slow answer does not hold up a batch. */
const parallel = 5;

/** An attempt starts with at least 15 of the lease's 60 seconds left: it must end before the rows are claimed again. */
const startWithinMilliseconds = 45_000;

/**
 * Makes the attempts, a few at a time.
 * @param claimedAt of the clock `performance.now()`
 * @returns the outcomes; attempts that had no time left are not among them, their lease runs out.
 */
export async function deliverRows(attempts: readonly Attempt[], claimedAt: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...attempts];
  let pause: Delivery | undefined;
  async function work(): Promise<void> {
    while (performance.now() - claimedAt < startWithinMilliseconds) {
      const attempt = waiting.shift();
      if (attempt === undefined) return;
      // Who asks for a pause gets no more of them: each would be refused and put the end of the pause off.
      const delivery = pause ?? await attempt.deliver();
      if (delivery.status === 'paused') pause = delivery;
      outcomes.push({ rows: attempt.rows, delivery });
    }
  }
  await Promise.all(Array.from({ length: parallel }, work));
  return outcomes;
}
