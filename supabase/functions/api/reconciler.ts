import type { Gateway, Reading, ReconcileDatabase } from './ports.ts';

/**
 * How many payments and subscriptions the gateway was asked about; how many of its answers changed something here; how
 * often it did not answer.
 */
export type ReconcileReport = { readonly asked: number; readonly applied: number; readonly unanswered: number };

/** Within what an isolate has; what is left comes with the next call. */
const budgetMilliseconds = 25_000;
/** By then it is the gateway that is away, not one order that it stumbles over. */
const mostUnanswered = 3;
/** Polite to the gateway, whose rate nobody knows. */
const parallel = 5;

/** One question to the gateway. @returns how many changes its answer made; null: it did not answer. */
type Question = () => Promise<number | null>;

/** Asks the gateway about whatever is due, until nothing is, or it stops answering: what it did not say is asked again. */
export async function reconcileAll(
  database: ReconcileDatabase,
  gateway: Pick<Gateway, 'listOrderPayments' | 'readSubscription'>,
): Promise<ReconcileReport> {
  const until = performance.now() + budgetMilliseconds;
  let report: ReconcileReport = { asked: 0, applied: 0, unanswered: 0 };
  while (performance.now() < until && report.unanswered < mostUnanswered) {
    const { settled, payments } = await database.claimPaymentsToReconcile();
    const subscriptions = await database.claimSubscriptionsToReconcile();
    const questions: Question[] = [
      ...payments.map((payment): Question => async () => {
        const reading = await gateway.listOrderPayments(payment.orderId);
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
    if (questions.length === 0 && settled === 0) break;
    report = add(report, await askAll(questions));
  }
  return report;
}

function valueOf<T>(reading: Reading<T>): T | null {
  return reading.status === 'found' ? reading.value : null;
}

/** A few at a time, and no more of them once too many got no answer. */
async function askAll(questions: Question[]): Promise<ReconcileReport> {
  let report: ReconcileReport = { asked: 0, applied: 0, unanswered: 0 };
  async function work(): Promise<void> {
    while (report.unanswered < mostUnanswered) {
      const ask = questions.shift();
      if (ask === undefined) return;
      const applied = await ask();
      report = add(report, { asked: 1, applied: applied ?? 0, unanswered: applied === null ? 1 : 0 });
    }
  }
  await Promise.all(Array.from({ length: parallel }, work));
  return report;
}

function add(a: ReconcileReport, b: ReconcileReport): ReconcileReport {
  return { asked: a.asked + b.asked, applied: a.applied + b.applied, unanswered: a.unanswered + b.unanswered };
}
