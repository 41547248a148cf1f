import type pg from 'pg';
import { setClock } from '../database/clock.ts';
import { placeOrder, type Purchase } from '../records/purchases.ts';
import { callRpc } from '../database/session.ts';
import type { TestDatabase } from '../database/test-database.ts';

/** Stops the database's clock at a time (ISO 8601) and places an order. */
export async function orderedAt(database: TestDatabase, at: string): Promise<Purchase> {
  await setClock(database, at);
  return await placeOrder(database);
}

/** Payments on an order as the gateway lists them. By default of the full amount and with the purchase's payment id. */
export function listed(
  { orderId, paymentId }: Purchase,
  ...fields: Record<string, unknown>[]
): Record<string, unknown>[] {
  return fields.map((field) => ({
    id: paymentId,
    entity: 'payment',
    order_id: orderId,
    amount: 99900,
    currency: 'INR',
    amount_refunded: 0,
    ...field,
  }));
}

/** Applies the gateway's list of payments on an order; null: the gateway does not know the order. */
export function applyOrderPayments(
  service: pg.Client,
  { id }: Purchase,
  answer: unknown[] | null,
): Promise<Record<string, unknown>> {
  return callRpc(service, 'apply_order_payments', id, answer === null ? null : JSON.stringify(answer));
}

/** The kinds of the alerts about an order or a subscription. */
export async function alertsAbout(database: TestDatabase, subjectId: string): Promise<unknown[]> {
  const rows = await database.query('select kind from billing.marks where key = $1 order by kind', [subjectId]);
  return rows.map(({ kind }) => kind);
}
