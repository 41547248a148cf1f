import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDeadlocks, openRacers } from '../helpers/database/racers.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { disputeEvent, orderPaid, paymentCaptured, paymentFailed, refundEvent } from '../helpers/gateway/events.ts';
import { seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import {
  extraPayments,
  mailsTo,
  paymentOf,
  placeOrder,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  // One test makes ten payments on one order: nine are extra.
  database = await createTestDatabase({ findings: { paid_twice: 9 } });
});
afterAll(() => database.close());

type Racer = (session: pg.Client) => Promise<unknown>;

/** Runs all racers at once, each on its own session. Rejects if one of them rejects. */
async function race(racers: readonly Racer[]): Promise<unknown[]> {
  const sessions = await openRacers(database, racers.length);
  const results = await Promise.all(racers.map((racer, index) => {
    const session = sessions[index];
    if (!session) throw new Error('fewer sessions than racers');
    return racer(session);
  }));
  await Promise.all(sessions.map((session) => session.end()));
  return results;
}

test('verify, payment.captured and order.paid at once grant one period and write one mail', async () => {
  for (let round = 0; round < 10; round++) {
    const order = await placeOrder(database);
    const money = paymentOf(order);
    const [one, two] = [paymentCaptured(money), orderPaid(money, { id: order.orderId })];
    const results = await race([
      (session) => verifyPurchase(session, order),
      (session) => deliver(session, one),
      (session) => deliver(session, two),
      (session) => deliver(session, one),
      (session) => verifyPurchase(session, order),
    ]);
    const { end } = await readSubscription(database, order.user.id) ?? {};
    expect(results[0]).toMatchObject({ tier: 'pro', valid_until: end });
    expect(results[4]).toMatchObject({ tier: 'pro', valid_until: end });
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
    expect(await extraPayments(database, order)).toEqual([]);
    expect(await readPayment(database, order.id)).toMatchObject({ confirmed_at: expect.any(Date) });
  }
});

test.each([['verify first', true], ['webhook first', false]])(
  'a verify and a webhook for one payment, %s: the second waits and finds the payment fulfilled',
  async (_, verifyFirst) => {
    const order = await placeOrder(database);
    const verify: Racer = async (session) => (await verifyPurchase(session, order)).outcome;
    const webhook: Racer = (session) => deliver(session, paymentCaptured(paymentOf(order)));
    const [first, second] = await openRacers(database, 2);
    if (!first || !second) throw new Error('no sessions');
    await first.query('begin');
    expect(await (verifyFirst ? verify : webhook)(first)).toBe('applied');
    const later = (verifyFirst ? webhook : verify)(second);
    await waitUntilBlocked(database, second);
    await first.query('commit');
    expect(await later).toBe(verifyFirst ? 'applied' : 'already_applied');
    expect(await mailsTo(database, order.user)).toHaveLength(1);
  },
);

test('ten captured payments on one order at once: one counts, nine are extra', async () => {
  const order = await placeOrder(database);
  const ids = Array.from({ length: 10 }, () => uniqueId('pay'));
  await race(ids.map((id) => (session) => deliver(session, paymentCaptured({ id, order_id: order.orderId }))));
  const { paymentId, mails } = await readPurchase(database, order);
  expect(await extraPayments(database, order)).toEqual(ids.filter((id) => id !== paymentId).sort());
  expect(mails).toHaveLength(1);
});

test('a full refund and the capture at once never leave access', async () => {
  for (let round = 0; round < 10; round++) {
    const order = await placeOrder(database);
    const money = paymentOf(order);
    await race([
      (session) => deliver(session, paymentCaptured(money)),
      (session) => deliver(session, refundEvent(money, 99900)),
      (session) => verifyPurchase(session, order),
    ]);
    expect(await readTier(database, order.user.id)).toBe('free');
    expect(await readPayment(database, order.id)).toMatchObject({ status: 'captured', refunded_amount: '99900' });
  }
});

test('an order that is stored while its events arrive: no deadlock, and the events are applied', async () => {
  const sessions: pg.Client[] = await openRacers(database, 6);
  const random = seededRandom(4);
  for (let round = 0; round < 40; round++) {
    const user = await createUser(database);
    const { payment_id } = await callRpc(sessions[0] ?? await database.connect(), 'create_order', user.id, 'pro');
    const id = String(payment_id);
    const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
    const receipt = id.replaceAll('-', '');
    const racers = shuffle<Racer>([
      (session) => deliver(session, paymentCaptured(money)),
      (session) => deliver(session, orderPaid(money, { id: money.order_id, receipt })),
      (session) => deliver(session, paymentFailed({ ...money, id: uniqueId('pay') })),
      (session) => deliver(session, disputeEvent('created', 'open', money)),
      (session) => callRpc(session, 'store_order', id, money.order_id),
      (session) => callRpc(session, 'create_order', user.id, 'pro', 'key'),
    ], random);
    const results = await Promise.allSettled(
      sessions.map((session, index) => racers[index]?.(session)),
    );
    expect(results.filter((result) => result.status === 'rejected')).toEqual([]);
    expect(await readTier(database, user.id)).toBe('pro');
    expect((await mailsTo(database, user)).filter((key) => key === `payment-success/${id}`)).toHaveLength(1);
  }
  expect(await countDeadlocks(database, sessions)).toBe(0);
});

test('an event that arrives while its order is being inserted is applied by the next sweep', async () => {
  const user = await createUser(database);
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  const app = await database.connect();
  const service = await openSession(database, { role: 'service_role' });
  await app.query('begin');
  await app.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
    [user.id, money.order_id],
  );
  expect(await deliver(service, paymentCaptured(money))).toBe('unmatched');
  await app.query('commit');
  expect(await readTier(database, user.id)).toBe('free');
  await database.query('select billing.sweep()');
  expect(await readTier(database, user.id)).toBe('pro');
  await database.query('select billing.sweep()');
  expect(await mailsTo(database, user)).toHaveLength(1);
});
