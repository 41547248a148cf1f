import type pg from 'pg';
import { readOutbox, readPayment, readSubscription, readTier } from './read-records.ts';
import { createPayment, createUser, uniqueId } from './records.ts';
import { callRpc } from '../database/session.ts';
import type { TestDatabase } from '../database/test-database.ts';

/** An order that is not paid yet, and the id of its future payment at the gateway. */
export type Purchase = {
  readonly user: { readonly id: string; readonly email: string | null };
  readonly id: string;
  readonly orderId: string;
  readonly paymentId: string;
};

/** A new order of 999.00 for the tier, by default of a new user. */
export async function placeOrder(
  database: TestDatabase,
  { user, tier = 'pro', amount }: { user?: Purchase['user']; tier?: string; amount?: number } = {},
): Promise<Purchase> {
  const owner = user ?? await createUser(database);
  const payment = await createPayment(database, {
    userId: owner.id,
    meta: { tier },
    ...(amount === undefined ? {} : { amount }),
  });
  return { user: owner, ...payment, paymentId: uniqueId('pay') };
}

/** The fields by which an event names the payment of a purchase. */
export function paymentOf({ orderId, paymentId }: Pick<Purchase, 'orderId' | 'paymentId'>) {
  return { id: paymentId, order_id: orderId };
}

/** Verifies a purchase, as the client does after the checkout. */
export function verifyPurchase(
  session: pg.Client,
  { user, orderId, paymentId }: Purchase,
): Promise<Record<string, unknown>> {
  return callRpc(session, 'verify_payment', user.id, orderId, paymentId, 'signature');
}

/** Keys of a user's mails: first those about payments, then those about the end of a period, oldest first. */
export async function mailsTo(database: TestDatabase, user: Purchase['user']): Promise<unknown[]> {
  const mails = await Promise.all(
    (['email', 'notice'] as const).map((destination) => readOutbox(database, destination, user.email)),
  );
  return mails.flat().map(({ key }) => key);
}

/** The state of a purchase, to compare two sequences that must end in the same state. */
export async function readPurchase(
  database: TestDatabase,
  { user, id }: Purchase,
): Promise<Record<string, unknown>> {
  const payment = await readPayment(database, id);
  const subscription = await readSubscription(database, user.id);
  return {
    status: payment.status,
    paymentId: payment.gateway_payment_id,
    isFulfilled: payment.fulfilled_at !== null,
    subscription: subscription && { tier: subscription.tier, status: subscription.status },
    tier: await readTier(database, user.id),
    mails: await mailsTo(database, user),
  };
}

/** The extra payments on an order, which an admin must refund. */
export async function extraPayments(database: TestDatabase, { id }: Purchase): Promise<unknown[]> {
  const rows = await database.query(
    'select gateway_payment_id from public.payments where extra_of = $1 order by gateway_payment_id',
    [id],
  );
  return rows.map((row) => row.gateway_payment_id);
}
