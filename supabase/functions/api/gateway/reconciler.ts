import { readOrderPayments } from './order-payments.ts';
import type { Gateway, Reading, ReconcileDatabase } from '../ports.ts';

/**
 * `asked`: payments and subscriptions that were read from the gateway. `applied`: changes that the answers made.
 * `unanswered`: reads that will be retried, because there was no answer or it could not be applied.
 */
export type ReconcileReport = { readonly asked: number; readonly applied: number; readonly unanswered: number };

/** Less than the run time of an isolate. The next call reconciles what is left. */
const budgetMilliseconds = 25_000;
/** After this many the gateway counts as down. Fewer may be errors for single orders. */
const maxUnanswered = 3;
/** Low, because the gateway's rate limit is not documented. */
const parallel = 5;

/** Reads one entity from the gateway and applies it. @returns how many changes it made; null: no answer. */
type Read = () => Promise<number | null>;

/**
 * Reads everything that is due from the gateway, until nothing is left, the time is over or the gateway is down. An
 * answer that can't be applied, for example because its user is locked, is logged and does not stop the others. It is
 * retried when its lease has expired. Contract: Reconciliation.
 * @throws when the due payments and subscriptions can't be claimed
 */
export async function reconcileAll(
  database: ReconcileDatabase,
  gateway: Pick<Gateway, 'listOrderPayments' | 'listRefunds' | 'readSubscription'>,
  logFault: (error: unknown) => void,
): Promise<ReconcileReport> {
  const until = performance.now() + budgetMilliseconds;
  const counts = { asked: 0, applied: 0, unanswered: 0, failed: 0 };
  const mayContinue = () => performance.now() < until && counts.unanswered < maxUnanswered;

  async function work(reads: Read[]): Promise<void> {
    while (mayContinue()) {
      const read = reads.shift();
      if (read === undefined) return;
      counts.asked += 1;
      try {
        const applied = await read();
        if (applied === null) counts.unanswered += 1;
        else counts.applied += applied;
      } catch (error) {
        counts.failed += 1;
        logFault(error);
      }
    }
  }

  while (mayContinue()) {
    const { settled, payments } = await database.claimPaymentsToReconcile();
    const { subscriptions } = await database.claimSubscriptionsToReconcile();
    const { orders } = await database.claimSubscriptionOrders();
    const reads: Read[] = [
      ...payments.map((payment): Read => async () => {
        const reading = await readOrderPayments(gateway, payment.order_id);
        if (reading.status === 'unanswered') return null;
        const { applied, ended } = await database.applyOrderPayments(payment.id, valueOf(reading));
        return applied + Number(ended);
      }),
      ...subscriptions.map((subscription): Read => async () => {
        const reading = await gateway.readSubscription(subscription.gateway_subscription_id);
        if (reading.status === 'unanswered') return null;
        return Number((await database.applyGatewaySubscription(subscription, valueOf(reading))).applied);
      }),
      ...orders.map((order): Read => async () => {
        const reading = await gateway.readSubscription(order.gateway_subscription_id);
        if (reading.status === 'unanswered') return null;
        return Number((await database.applySubscriptionOrder(order.id, valueOf(reading))).applied);
      }),
    ];
    if (reads.length === 0 && settled === 0) {
      if (counts.unanswered + counts.failed === 0) await database.finishReconciliation();
      break;
    }
    await Promise.all(Array.from({ length: parallel }, () => work(reads)));
  }
  const { asked, applied, unanswered, failed } = counts;
  return { asked, applied, unanswered: unanswered + failed };
}

function valueOf<T>(reading: Reading<T>): T | null {
  return reading.status === 'found' ? reading.value : null;
}
