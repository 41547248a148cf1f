import type pg from 'pg';
import { expect, test } from 'vitest';
import { type Act, asOwner, countDeadlocks, race, untilBlocked } from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import {
  paymentCaptured,
  paymentFailed,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { seededRandom } from '../helpers/orderings/permutations.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readOutbox, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { day } from '../helpers/records/time.ts';

// The findings depend on the order of execution: a capture before or after the deletion of its user (the test checks their
// reasons), a charge before or after the cancellation or purchase that ends its subscription, which of two orders is captured
// first, and whether a webhook follows a reconciliation.
const database = useDatabase({
  findings: {
    captured_not_fulfilled: 'any',
    charged_after_cancellation: 'any',
    charged_after_replacement: 'any',
    paid_twice: 'any',
    missed_webhook: 'any',
  },
});

/** Fifty operations on one user, in random proportions. */
async function actsOn(userId: string, isDeleted: boolean, random: () => number): Promise<Act[]> {
  const user = { id: userId, email: null };
  const orders = await Promise.all(['pro', 'basic'].map(async (tier) => {
    const order = await placeOrder(database, { user, tier });
    const body = () => paymentCaptured({ id: order.paymentId, amount: undefined });
    // Each body may be delivered several times.
    return { ...order, captures: [body(), body()] };
  }));
  const ids = [uniqueId('sub'), uniqueId('sub')];
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const verify: Act = (session) => verifyPurchase(session, pick(orders));
  const captured: Act = (session) => deliver(session, pick(pick(orders).captures));
  const failed: Act = (session) =>
    deliver(session, paymentFailed({ id: uniqueId('pay'), order_id: pick(orders).orderId }));
  const reconciled: Act = (session) => {
    const { id, orderId, paymentId } = pick(orders);
    const attempt = { order_id: orderId, amount: 99900, currency: 'INR' };
    const attempts = [
      { ...attempt, id: `${paymentId}_0`, status: 'failed' },
      { ...attempt, id: paymentId, status: pick(['authorized', 'captured']) },
    ];
    return callRpc(session, 'apply_order_payments', id, JSON.stringify(attempts));
  };
  const claimed: Act = (session) => callRpc(session, 'claim_payments_to_reconcile');
  const subscription = (name: SubscriptionEvent['name']): Act => (session) => {
    const cycle = { planId: 'plan_pro', start: day('2126-01-01'), end: day('2126-02-01') };
    const createdAt = day(`01-0${pick([1, 2, 3, 4])}`);
    return deliver(session, subscriptionEvent({ name, userId, id: pick(ids), createdAt, ...cycle }));
  };
  const rename: Act = (session) =>
    session.query("update public.profiles set display_name = 'X' where user_id = $1", [userId]);
  const kinds = [
    ...[verify, verify, verify, captured, failed, reconciled, reconciled, claimed, rename],
    ...[subscription('activated'), subscription('charged'), subscription('cancelled')],
  ];
  const acts = Array.from({ length: 50 }, () => pick(kinds));
  if (isDeleted) acts[25] = asOwner('delete from auth.users where id = $1', [userId]);
  return acts;
}

test('fifty operations on one user at once: no deadlock, no error, and no partial effect', async () => {
  const random = seededRandom(50);
  for (const isDeleted of [false, true, false, true]) {
    const user = await createUser(database);
    await race(database, await actsOn(user.id, isDeleted, random));

    const { wrong, unclear } = await database.one(
      `select count(*)::int as wrong,
         (select count(*)::int from billing.captured_not_fulfilled where reason <> 'paid, user gone') as unclear
       from public.payments
       -- A payment without a user fulfils nothing.
       where (status = 'captured') is distinct from (fulfilled_at is not null) and user_id is not null
         or (fulfilled_at is not null) is distinct from (period_end is not null)`,
    );
    expect({ wrong, unclear }).toEqual({ wrong: 0, unclear: 0 });
    const mails = (await readOutbox(database, 'email', user.email)).map(({ key }) => String(key));
    const fulfilled = await database.query(
      `select 'payment-success/' || id as key from public.payments
       where fulfilled_at is not null and 'payment-success/' || id = any ($1) order by 1`,
      [mails],
    );
    expect(mails.filter((key) => key.startsWith('payment-success/')).sort()).toEqual(fulfilled.map(({ key }) => key));
    const rows = await database.query('select tier, status from public.subscriptions where user_id = $1', [user.id]);
    expect(rows.length).toBeLessThanOrEqual(isDeleted ? 0 : 1);
    const tier = rows[0]?.status === 'active' ? rows[0].tier : 'free';
    expect(await readTier(database, user.id)).toBe(isDeleted ? undefined : tier);
  }
  expect(await countDeadlocks(database)).toBe(0);
});

test('countDeadlocks counts a real deadlock', async () => {
  const [first, second] = [await database.connect(), await database.connect()];
  const update = (session: pg.Client, tier: string) =>
    session.query('update public.plans set price = price + 1 where tier = $1', [tier]);
  for (const session of [first, second]) await session.query("set deadlock_timeout = '20ms'; begin");
  await update(first, 'pro');
  await update(second, 'basic');
  const waiting = update(first, 'basic');
  await untilBlocked(database, first, waiting);
  const results = await Promise.allSettled([waiting, update(second, 'pro')]);
  expect(results.filter((result) => result.status === 'rejected')).toMatchObject([{ reason: { code: '40P01' } }]);
  await Promise.all([first, second].map((session) => session.query('rollback')));
  expect(await countDeadlocks(database, [first, second])).toBe(1);
});
