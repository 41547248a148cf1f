import type { Reading, ReconcileDatabase, StatementNews, StatementPage } from '../ports.ts';
import { readOrderPayments } from './order-payments.ts';
import type { GatewayReads } from './rate-limit.ts';
import { valueOf } from './value-of.ts';

/**
 * Reads a page of what was created at the gateway, and applies what no webhook announced: each as the event that would have.
 * The page counts as read when nothing in it is new, so a crash in between only repeats. Contract: Statement.
 * @returns how many changes it made; null: an answer is missing, the page is read again
 * @throws when something can't be applied. The rest of the page is applied first
 */
export async function readStatementPage(
  database: ReconcileDatabase,
  gateway: GatewayReads,
  page: StatementPage,
): Promise<number | null> {
  const listed = await gateway.listCreated(page);
  if (listed.status === 'unanswered') return null;
  const items = valueOf(listed);
  const { news } = await database.applyStatementPage(page, items, 0);
  const results = [];
  for (const one of news) results.push(await settled(applyNews(database, gateway, page.list, one)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const applied = results.map((result) => result.status === 'fulfilled' ? result.value : null);
  if (applied.includes(null)) return null;
  if (news.length > 0) await database.applyStatementPage(page, items, news.length);
  return applied.reduce<number>((sum, changes) => sum + (changes ?? 0), 0);
}

/** @returns as `readStatementPage` */
async function applyNews(
  database: ReconcileDatabase,
  gateway: GatewayReads,
  list: StatementPage['list'],
  { item, payment }: StatementNews,
): Promise<number | null> {
  if (payment !== null) {
    const payments = await readOrderPayments(gateway, payment.order_id, payment.amount);
    if (payments.status === 'unanswered') return null;
    return (await database.applyOrderPayments(payment.id, valueOf(payments))).applied;
  }
  if (list !== 'payments') return Number((await database.applyStatementItem(list, item)).applied);
  const invoice = await readNamed(item.invoice_id, gateway.readInvoice);
  if (invoice.status === 'unanswered') return null;
  const subscription = await readNamed(valueOf(invoice)?.subscription_id, gateway.readSubscription);
  if (subscription.status === 'unanswered') return null;
  const cycle = { invoice: valueOf(invoice), subscription: valueOf(subscription) };
  return Number((await database.applyStatementItem(list, item, cycle)).applied);
}

async function readNamed<T>(id: unknown, read: (id: string) => Promise<Reading<T>>): Promise<Reading<T>> {
  return typeof id === 'string' ? await read(id) : { status: 'unknown' };
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise]);
  return result;
}
