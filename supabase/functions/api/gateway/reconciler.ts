import { readOrderPayments } from './order-payments.ts';
import type { Gateway, Reading, ReconcileDatabase } from '../ports.ts';

/**
 * How many payments and subscriptions the gateway was asked about; how many changes its answers made; how many questions
 * are asked again, because the gateway did not answer or its answer could not be applied.
 */
export type ReconcileReport = { readonly asked: number; readonly applied: number; readonly unanswered: number };

/** Within what an isolate has; what is left comes with the next call. */
const budgetMilliseconds = 25_000;
/** So many, and the gateway is away; fewer may be orders for which it alone fails. */
const mostUnanswered = 3;
/** Polite to the gateway, whose rate nobody knows. */
const parallel = 5;

/** One question to the gateway. @returns how many changes its answer made; null: the gateway did not answer. */
type Question = () => Promise<number | null>;

/**
 * Asks the gateway about all that is due, until nothing is left, the time is over or the gateway stops answering.
 * An answer that can't be applied, for example because its user is locked, is logged and stops no other question: its
 * lease expires, then it is asked again.
 * @throws when the database can't be asked what is due
 */
export async function reconcileAll(
  database: ReconcileDatabase,
  gateway: Pick<Gateway, 'listOrderPayments' | 'listRefunds' | 'readSubscription'>,
  logFault: (error: unknown) => void,
): Promise<ReconcileReport> {
  const until = performance.now() + budgetMilliseconds;
  const counts = { asked: 0, applied: 0, unanswered: 0, failed: 0 };
  const mayAsk = () => performance.now() < until && counts.unanswered < mostUnanswered;

  async function askOneByOne(questions: Question[]): Promise<void> {
    while (mayAsk()) {
      const ask = questions.shift();
      if (ask === undefined) return;
      counts.asked += 1;
      try {
        const applied = await ask();
        if (applied === null) counts.unanswered += 1;
        else counts.applied += applied;
      } catch (error) {
        counts.failed += 1;
        logFault(error);
      }
    }
  }

  while (mayAsk()) {
    const { settled, payments } = await database.claimPaymentsToReconcile();
    const subscriptions = await database.claimSubscriptionsToReconcile();
    const questions: Question[] = [
      ...payments.map((payment): Question => async () => {
        const reading = await readOrderPayments(gateway, payment.orderId);
        if (reading.status === 'unanswered') return null;
        const { applied, ended } = await database.applyOrderPayments(payment.id, valueOf(reading));
        return applied + Number(ended);
      }),
      ...subscriptions.map((subscription): Question => async () => {
        const reading = await gateway.readSubscription(subscription.gatewaySubscriptionId);
        if (reading.status === 'unanswered') return null;
        return Number((await database.applyGatewaySubscription(subscription, valueOf(reading))).applied);
      }),
    ];
    if (questions.length === 0 && settled === 0) {
      if (counts.unanswered + counts.failed === 0) await database.finishReconciliation();
      break;
    }
    await Promise.all(Array.from({ length: parallel }, () => askOneByOne(questions)));
  }
  const { asked, applied, unanswered, failed } = counts;
  return { asked, applied, unanswered: unanswered + failed };
}

function valueOf<T>(reading: Reading<T>): T | null {
  return reading.status === 'found' ? reading.value : null;
}
