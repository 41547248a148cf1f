import { describe, expect, test } from 'vitest';
import { type Act, asOwner, countDeadlocks, overlap, race } from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { disputeEvent, orderPaid, paymentCaptured, paymentFailed, refundEvent } from '../helpers/gateway/events.ts';
import { seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import { extraPayments, mailsTo, paymentOf, placeOrder, type Purchase } from '../helpers/records/purchases.ts';
import { readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readOutbox, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

// Several tests pay one order many times at once, and one removes a profile before the purchases.
const database = useDatabase({ findings: { paid_twice: 26, unmailed_payment: 1 } });

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

  test('the storing of an order and its events: no deadlock, and the events are applied', async () => {
    const random = seededRandom(4);
    for (let round = 0; round < 10; round++) {
      const user = await createUser(database);
      const { payment_id: id } = await database.rpc('create_order', user.id, 'pro');
      const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
      await race(
        database,
        shuffle<Act>([
          send(paymentCaptured(money)),
          send(orderPaid(money, { id: money.order_id, receipt: String(id).replaceAll('-', '') })),
          send(paymentFailed({ ...money, id: uniqueId('pay') })),
          send(disputeEvent('created', 'open', money)),
          (session) => callRpc(session, 'store_order', id, money.order_id),
          (session) => callRpc(session, 'create_order', user.id, 'pro', 'key'),
        ], random),
      );
      expect(await readTier(database, user.id)).toBe('pro');
      expect((await mailsTo(database, user)).filter((key) => key === `payment-success/${id}`)).toHaveLength(1);
    }
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

  test('a failed attempt and the verify of the next one leave the payment captured, in either order', async () => {
    for (const failureFirst of [true, false]) {
      const order = await placeOrder(database, { tier: 'premium' });
      const acts = [send(paymentFailed({ id: uniqueId('pay'), order_id: order.orderId })), verify(order)] as const;
      await overlap<unknown, unknown>(database, acts[failureFirst ? 0 : 1], acts[failureFirst ? 1 : 0]);
      expect(await readPurchase(database, order)).toMatchObject({ status: 'captured', tier: 'premium' });
      expect(await mailsTo(database, order.user)).toHaveLength(failureFirst ? 2 : 1);
    }
  });

  test('the refund of a second payment on an order is stored with that payment, in either order', async () => {
    for (const refundFirst of [true, false]) {
      const order = await placeOrder(database);
      await verifyPurchase(database.service, order);
      const extra = { id: uniqueId('pay'), order_id: order.orderId };
      const acts = [send(refundEvent(extra, 99900)), send(paymentCaptured(extra))] as const;
      await overlap(database, acts[refundFirst ? 0 : 1], acts[refundFirst ? 1 : 0]);
      const stored = 'select gateway_payment_id as id, refunded_amount::int as refunded from public.payments';
      expect(await database.query(`${stored} where extra_of = $1`, [order.id])).toEqual([
        { id: extra.id, refunded: 99900 },
      ]);
    }
  });
});

test('a read during a verify neither waits nor sees a part of it', async () => {
  const order = await placeOrder(database);
  const writer = await database.connect();
  const read = async () => {
    const { subscription, currentTier, payments } = await database.rpc('get_subscription', order.user.id);
    return [Object(subscription).status, currentTier, Object(payments)[0].status];
  };
  await writer.query('begin');
  await verifyPurchase(writer, order);
  expect(await read()).toEqual([undefined, 'free', 'created']);
  await writer.query('commit');
  expect(await read()).toEqual(['active', 'pro', 'captured']);
});

test('none of these tests caused a deadlock', async () => {
  expect(await countDeadlocks(database)).toBe(0);
});
