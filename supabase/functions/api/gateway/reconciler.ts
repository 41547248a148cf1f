import { readOrderPayments } from './order-payments.ts';
import { type GatewayReads, systemTimer } from './rate-limit.ts';
import { readStatementPage } from './statement.ts';
import type { NewestPayment, ReconcileDatabase } from '../ports.ts';
import { valueOf } from './value-of.ts';

/**
 * `asked`: payments and subscriptions that were read from the gateway. `applied`: changes that the answers made.
 * `unanswered`: reads that will be retried, because there was no answer or it could not be applied.
 */
export type ReconcileReport = { readonly asked: number; readonly applied: number; readonly unanswered: number };

/** No claim after this time, so that what is claimed can still be read: else it would wait for the end of its lease. */
const claimMilliseconds = 54_000;
/** Less than the minute until the next call, and than the run time of an isolate. The next call reconciles the rest. */
const budgetMilliseconds = 58_000;
/** How long a call waits for the one before it. With the budget's last reads it is less than the lease of a run, 75 s. */
const waitMilliseconds = 20_000;
/** After this many in a row the gateway counts as down. Single ones may be errors for single orders. */
const maxUnanswered = 5;
/** Bounds what is open while the gateway is slow: with the rate's default it may take half a second for each answer. */
const parallel = 5;

/** Reads one entity from the gateway and applies it. @returns how many changes it made; null: no answer. */
type Read = () => Promise<number | null>;
/** A read of the round. One that got no answer is repeated once, after the others. A page of a list may have a next one. */
type Claimed = { readonly read: Read; readonly isPage: boolean; readonly isRepeated: boolean };

/**
 * Reads everything that is due from the gateway, until nothing is left, the time is over or the gateway is down. Only one
 * run at a time does so, so that the rate of the calls holds for all of them. An answer that can't be applied, for
 * example because its user is locked, is logged and does not stop the others. It is retried when its lease has expired.
 * Contract: Reconciliation.
 * @param gateway keeps the rate of the calls
 * @throws when the due payments and subscriptions can't be claimed
 */
export async function reconcileAll(
  database: ReconcileDatabase,
  gateway: GatewayReads,
  logFault: (error: unknown) => void,
): Promise<ReconcileReport> {
  const startedAt = performance.now();
  const runId = crypto.randomUUID();
  const counts = { asked: 0, applied: 0, unanswered: 0, failed: 0 };
  const claimed: Claimed[] = [];
  let isNothingLeft = false;
  /** A page that was applied may make the next one due, also while a claim that began before finds nothing. */
  let pagesApplied = 0;
  let claiming: Promise<void> | null = null;
  let unansweredInARow = 0;
  const mayContinue = (milliseconds = budgetMilliseconds) =>
    performance.now() - startedAt < milliseconds && unansweredInARow < maxUnanswered;

  let isOther: Promise<boolean> | undefined;
  /** Whether the key is of another account, which does not know our newest payment. It is asked once. */
  const isOtherAccount = ({ payment, key }: NewestPayment) =>
    isOther ??= key !== null && !gateway.hasModeOf(key)
      ? Promise.resolve(false) // the tests before the first real payment
      : gateway.readPayment(payment).then(({ status }) => status === 'unknown');

  /** Claims the next round: some of each kind, payments first. The workers share one claim at a time. */
  async function claim(): Promise<void> {
    const before = pagesApplied;
    try {
      const { reads, pages, settled } = await claimRound(database, gateway, isOtherAccount);
      claimed.push(...reads.map((read) => ({ read, isPage: false, isRepeated: false })));
      claimed.push(...pages.map((read) => ({ read, isPage: true, isRepeated: false })));
      isNothingLeft = reads.length + pages.length + settled === 0 && pagesApplied === before;
    } catch (error) {
      isNothingLeft = true;
      throw error;
    } finally {
      claiming = null;
    }
  }

  /** The others still read and apply while the first that has nothing to do claims: no pause between two rounds. */
  async function next(): Promise<Claimed | undefined> {
    while (claimed.length === 0 && !isNothingLeft && mayContinue(claimMilliseconds)) await (claiming ??= claim());
    return mayContinue() ? claimed.shift() : undefined;
  }

  async function work(): Promise<void> {
    for (let one = await next(); one !== undefined; one = await next()) {
      if (!one.isRepeated) counts.asked += 1;
      try {
        const applied = await one.read();
        unansweredInARow = applied === null ? unansweredInARow + 1 : 0;
        // Another worker may have found nothing left while this page was read.
        if (applied !== null && one.isPage) {
          pagesApplied += 1;
          isNothingLeft = false;
        }
        if (applied !== null) counts.applied += applied;
        else if (one.isRepeated) counts.unanswered += 1;
        else claimed.push({ ...one, isRepeated: true });
      } catch (error) {
        // The gateway answered.
        unansweredInARow = 0;
        counts.failed += 1;
        logFault(error);
      }
    }
  }

  if (!await begin(database, runId, startedAt + waitMilliseconds)) return { asked: 0, applied: 0, unanswered: 0 };
  const workers = await Promise.allSettled(Array.from({ length: parallel }, work));
  const crashed = workers.find((worker) => worker.status === 'rejected');
  if (crashed !== undefined) {
    // If the database is down, the lease of the run expires.
    await database.endReconciliation(runId, false, null).catch(() => {});
    throw crashed.reason;
  }
  const { asked, applied, unanswered, failed } = counts;
  const missed = unanswered + failed + claimed.filter(({ isRepeated }) => isRepeated).length;
  const isOutOfTime = !isNothingLeft && unansweredInARow < maxUnanswered;
  await database.endReconciliation(runId, isOutOfTime ? asked > missed : missed === 0, gateway.now());
  return { asked, applied, unanswered: missed };
}

/** Starts a run, after the one that is still running. @returns false if that one does not end in time */
async function begin(database: ReconcileDatabase, runId: string, until: number): Promise<boolean> {
  while (!(await database.beginReconciliation(runId)).began) {
    if (systemTimer.now() >= until) return false;
    await systemTimer.sleep(1000);
  }
  return true;
}

/**
 * At most 20 of each kind, so that a lot of one kind delays no other. The lists of another account are not read: its pages
 * would move our marks.
 */
async function claimRound(
  database: ReconcileDatabase,
  gateway: GatewayReads,
  isOtherAccount: (newest: NewestPayment) => Promise<boolean>,
): Promise<{ reads: Read[]; pages: Read[]; settled: number }> {
  const { settled, payments } = await database.claimPaymentsToReconcile();
  const { settled: later, subscriptions } = await database.claimSubscriptionsToReconcile();
  const { pages: claimed, newest } = await database.claimStatementPages();
  const pages = claimed.length > 0 && newest !== null && await isOtherAccount(newest) ? [] : claimed;
  const { pages: settlementPages } = await database.claimSettlementPages();
  const reads: Read[] = [
    ...payments.map((payment): Read => async () => {
      const reading = await readOrderPayments(gateway, payment.order_id, payment.amount);
      if (reading.status === 'unanswered') return null;
      const { applied, ended } = await database.applyOrderPayments(payment.id, valueOf(reading));
      return applied + Number(ended);
    }),
    ...subscriptions.map((subscription): Read => () => readSubscription(database, gateway, subscription)),
  ];
  return {
    reads,
    pages: [
      ...pages.map((page): Read => () => readStatementPage(database, gateway, page)),
      ...settlementPages.map((page): Read => async () => {
        const lines = await gateway.listSettlementLines(page);
        if (lines.status === 'unanswered') return null;
        return Number((await database.applySettlementPage(page, valueOf(lines))).is_complete);
      }),
    ],
    settled: settled + later,
  };
}

/** Reads a subscription, and its invoices if the payment of a cycle is not known. @returns as `Read` */
export async function readSubscription(
  database: Pick<ReconcileDatabase, 'applyGatewaySubscription' | 'applyInvoices'>,
  gateway: Pick<GatewayReads, 'readSubscription' | 'listInvoices'>,
  { id, gateway_subscription_id: gatewayId }: { readonly id: string; readonly gateway_subscription_id: string },
): Promise<number | null> {
  const reading = await gateway.readSubscription(gatewayId);
  if (reading.status === 'unanswered') return null;
  const { applied, lacks_payment: lacksPayment } = await database.applyGatewaySubscription(id, valueOf(reading));
  if (!lacksPayment) return Number(applied);
  const invoices = await gateway.listInvoices(gatewayId);
  if (invoices.status === 'unanswered') return null;
  return Number(applied) + (await database.applyInvoices(gatewayId, valueOf(invoices))).applied;
}
