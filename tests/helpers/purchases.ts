import type pg from 'pg';
import { createPayment, createUser, uniqueId } from './records.ts';
import { callRpc } from './session.ts';
import { readOutbox, readPayment, readSubscription, readTier } from './state.ts';
import type { TestDatabase } from './test-database.ts';

/** An order that a user has not paid yet, and the id that the gateway will give its payment. */
export type Purchase = {
  readonly user: { readonly id: string; readonly email: string | null };
  readonly id: string;
  readonly orderId: string;
  readonly paymentId: string;
};

/** A new order, of a new user unless told otherwise: 999.00 for the tier. */
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

/** Verifies a purchase as the browser brings it back, with another payment id if told so. */
export function verifyPurchase(
  session: pg.Client,
  { user, orderId, paymentId }: Purchase,
  earlyRenewal: 'replace' | 'extend' = 'replace',
): Promise<Record<string, unknown>> {
  return callRpc(session, 'verify_payment', user.id, orderId, paymentId, 'signature', earlyRenewal);
}

/** Keys of a user's mails: those about money, then those about a period's end, each in the order in which they were written. */
export async function mailsTo(database: TestDatabase, user: Purchase['user']): Promise<unknown[]> {
  const mails = await Promise.all(
    (['email', 'notice'] as const).map((destination) => readOutbox(database, destination, user.email)),
  );
  return mails.flat().map(({ key }) => key);
}

/** What a purchase left, as two ways to the same end are compared by. */
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

/** The further payments on an order, to be given back. */
export async function extraPayments(database: TestDatabase, { id }: Purchase): Promise<unknown[]> {
  const rows = await database.query(
    'select gateway_payment_id from private.extra_payments where payment_id = $1 order by gateway_payment_id',
    [id],
  );
  return rows.map((row) => row.gateway_payment_id);
}
