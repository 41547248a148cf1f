import { describe, expect, test } from 'vitest';
import { type Act, asOwner, countDeadlocks, overlap, race } from '../helpers/database/racers.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { extraPayments, mailsTo, paymentOf, placeOrder, type Purchase } from '../helpers/records/purchases.ts';
import { readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readOutbox, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

// Several tests pay one order many times at once, one pays two orders, and one removes a profile before the purchases.
const database = useDatabase({ findings: { paid_twice: 27, unmailed_payment: 1 } });

const verify = (order: Purchase): Act<Record<string, unknown>> => (session) => verifyPurchase(session, order);
const send = (body: string): Act => (session) => deliver(session, body);
const captured = (order: Purchase) => send(paymentCaptured(paymentOf(order)));
/** Other payments on the same order. */
const paymentsOn = (order: Purchase, count: number): Purchase[] =>
  Array.from({ length: count }, () => ({ ...order, paymentId: uniqueId('pay') }));
const several = (count: number, make: () => Promise<Purchase>) => Promise.all(Array.from({ length: count }, make));

describe('at once', () => {
  test('twelve verifies of one payment fulfil it once and answer the same', async () => {
    const order = await placeOrder(database);
    const answers = await race(database, Array.from({ length: 12 }, () => verify(order)));
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual([...Array(11).fill('already_applied'), 'applied']);
    const { end } = await readSubscription(database, order.user.id) ?? {};
    expect(new Set(answers.map(({ tier, valid_until }) => `${tier} ${valid_until}`))).toEqual(new Set([`pro ${end}`]));
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test.each([['verified', verify], ['captured', captured]])(
    'ten payments on one order, %s: one counts, nine are extra, one mail',
    async (_, pay) => {
      const order = await placeOrder(database);
      const payments = paymentsOn(order, 10);
      await race<unknown>(database, payments.map(pay));
      const { paymentId: counted, mails } = await readPurchase(database, order);
      const others = payments.map(({ paymentId }) => paymentId).filter((id) => id !== counted);
      expect(others).toHaveLength(9);
      expect(await extraPayments(database, order)).toEqual(others.sort());
      expect(mails).toHaveLength(1);
    },
  );

  test('ten first purchases of a user without a profile leave one subscription with the period of one of them', async () => {
    const user = await createUser(database);
    await database.query('delete from public.profiles where user_id = $1', [user.id]);
    let made = 0;
    const orders = await several(10, () => placeOrder(database, { user, tier: made++ % 2 ? 'basic' : 'premium' }));
    const answers = await race(database, orders.map(verify));
    const { tier, end, status } = await readSubscription(database, user.id) ?? {};
    expect(status).toBe('active');
    expect(answers.map(({ outcome }) => outcome)).toEqual(Array(10).fill('applied'));
    expect(answers).toContainEqual({ outcome: 'applied', tier, valid_until: end });
    expect(await readTier(database, user.id)).toBe(tier);
    const linked = 'select distinct subscription_id from public.payments where user_id = $1';
    expect(await database.query(linked, [user.id])).toHaveLength(1);
  });

  test('six early renewals add up to six months, each payment with its own month', async () => {
    await database.set("early_renewal = 'extend'");
    const user = await createUser(database);
    await race(database, (await several(6, () => placeOrder(database, { user, tier: 'basic' }))).map(verify));
    const chain = await database.one(
      `select count(distinct period_start)::int as months, min(billing.iso_time(period_start)) as start,
         max(billing.iso_time(period_end)) as end,
         count(*) filter (where period_start in (select period_end from public.payments where user_id = $1))::int as later
       from public.payments where user_id = $1`,
      [user.id],
    );
    expect(chain).toMatchObject({ months: 6, later: 5 });
    const { start, end } = chain;
    expect(await readSubscription(database, user.id)).toMatchObject({ start, end });
  });
});

describe('the second waits for the first:', () => {
  test('a verify and a webhook for one payment fulfil it once, in either order', async () => {
    const [one, two] = [await placeOrder(database), await placeOrder(database)];
    const [answer, later] = await overlap(database, verify(one), captured(one));
    expect([answer.outcome, later]).toEqual(['applied', 'applied']);
    const [outcome, repeat] = await overlap(database, captured(two), verify(two));
    expect([outcome, repeat.outcome]).toEqual(['applied', 'already_applied']);
    for (const { user } of [one, two]) expect(await mailsTo(database, user)).toHaveLength(1);
  });

  test('a verify uses the values to which its payment is changed', async () => {
    const order = await placeOrder(database, { tier: 'premium' });
    const change = `update public.payments set meta = '{"tier": "basic"}', amount = 1 where id = $1`;
    const [, later] = await overlap(database, asOwner(change, [order.id]), verify(order));
    expect(later).toMatchObject({ outcome: 'applied', tier: 'basic' });
    expect(await readOutbox(database, 'email', order.user.email)).toMatchObject([{ payload: { amount: 1 } }]);
  });
});

test('a capture that waited for the end of its payment, as never captured, starts over with the lock on the user', async () => {
  const order = await placeOrder(database);
  await verify(order)(database.service);
  await database.at(new Date(Date.now() + 5 * 86_400_000 + 1000).toISOString());
  const end: Act<Record<string, unknown>> = (session) => callRpc(session, 'apply_order_payments', order.id, '[]');
  // The function calls again after this error.
  const capture: Act = (session) => captured(order)(session).catch(({ code }) => code);
  expect(await overlap(database, end, capture)).toEqual([{ applied: 0, ended: true }, '40001']);
  const lock = asOwner('select from auth.users where id = $1 for update', [order.user.id]);
  expect(await overlap(database, lock, capture)).toMatchObject([{}, 'applied']);
  expect(await readTier(database, order.user.id)).toBe('pro');
  await database.at(null);
});

test('a refund keeps the access of a payment that began before it and was stored after it', async () => {
  await database.set("early_renewal = 'extend'");
  const [first, second] = [await placeOrder(database), await placeOrder(database)];
  await database.query('update public.payments set user_id = $1 where id = $2', [first.user.id, second.id]);
  // The time of a transaction is that of its start, and it may wait for the user's lock.
  const [late, refund] = [
    await openSession(database, { role: 'service_role' }),
    await openSession(database, { role: 'service_role' }),
  ];
  for (const session of [late, refund]) await session.query('begin');
  await deliver(database.service, paymentCaptured(paymentOf(first)));
  await deliver(late, paymentCaptured(paymentOf(second)));
  await late.query('commit');
  await deliver(refund, refundEvent(paymentOf(first), 99900));
  await refund.query('commit');
  await Promise.all([late.end(), refund.end()]);
  expect(await readTier(database, first.user.id)).toBe('pro');
});

test('none of these tests caused a deadlock', async () => {
  expect(await countDeadlocks(database)).toBe(0);
});
