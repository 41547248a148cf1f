import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openRacers } from '../helpers/database/racers.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  // Several tests pay one order many times at once.
  database = await createTestDatabase({ findings: { paid_twice: 17, unmailed_payment: 1 } });
});
afterAll(() => database.close());

test('twenty verifies of one payment at once fulfil it once and return the same result', async () => {
  const user = await createUser(database);
  const { id, orderId } = await createPayment(database, { userId: user.id });
  const paymentId = uniqueId('pay');
  const racers = await openRacers(database, 20);
  const results = await Promise.all(
    racers.map((racer) => callRpc(racer, 'verify_payment', user.id, orderId, paymentId, 'signature')),
  );
  expect(results.map((result) => result.outcome).sort()).toEqual([...Array(19).fill('already_applied'), 'applied']);
  expect(new Set(results.map((result) => `${result.tier} ${result.valid_until}`)).size).toBe(1);
  expect(await readOutbox(database, 'email', user.email)).toMatchObject([{ key: `payment-success/${id}` }]);
  expect(await readSubscription(database, user.id)).toMatchObject({ end: results[0]?.valid_until });
});

test('ten payments on one order at once: one counts, nine are extra', async () => {
  const user = await createUser(database);
  const { id, orderId } = await createPayment(database, { userId: user.id });
  const racers = await openRacers(database, 10);
  await Promise.all(
    racers.map((racer) => callRpc(racer, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature')),
  );
  const { gateway_payment_id } = await readPayment(database, id);
  const extra = await database.query('select gateway_payment_id from public.payments where extra_of = $1', [
    id,
  ]);
  expect(extra).toHaveLength(9);
  expect(extra).not.toContainEqual({ gateway_payment_id });
  expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
});

test('ten first purchases of one user at once leave one subscription with the period of one of them', async () => {
  const user = await createUser(database);
  await database.query('delete from public.profiles where user_id = $1', [user.id]);
  const payments = await Promise.all(
    Array.from(
      { length: 10 },
      (_, index) => createPayment(database, { userId: user.id, meta: { tier: index % 2 ? 'basic' : 'premium' } }),
    ),
  );
  const racers = await openRacers(database, 10);
  const results = await Promise.all(payments.map(({ orderId }, index) => {
    const racer = racers[index];
    if (!racer) throw new Error('fewer racers than payments');
    return callRpc(racer, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
  }));
  expect(new Set(results.map((result) => result.outcome))).toEqual(new Set(['applied']));

  const subscription = await readSubscription(database, user.id);
  expect(results).toContainEqual({
    outcome: 'applied',
    tier: subscription?.tier,
    valid_until: subscription?.end,
  });
  expect(await readTier(database, user.id)).toBe(subscription?.tier);
  const linked = await database.query('select distinct subscription_id from public.payments where user_id = $1', [
    user.id,
  ]);
  expect(linked).toHaveLength(1);
});

test('six early renewals at once add up to six months, each payment with its own month', async () => {
  await setEarlyRenewal(database, 'extend');
  onTestFinished(() => setEarlyRenewal(database, 'replace'));
  const user = await createUser(database);
  const meta = { tier: 'basic' };
  const payments = await Promise.all(
    Array.from({ length: 6 }, () => createPayment(database, { userId: user.id, meta })),
  );
  const racers = await openRacers(database, 6);
  await Promise.all(payments.map(({ orderId }, index) => {
    const racer = racers[index];
    if (!racer) throw new Error('fewer racers than payments');
    return callRpc(racer, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
  }));
  const periods = await database.query(
    `select period_start, period_end, lag(period_end) over (order by period_start) as before
     from public.payments where user_id = $1 order by period_start`,
    [user.id],
  );
  for (const period of periods.slice(1)) expect(period.period_start).toEqual(period.before);
  const subscription = await database.one(
    'select current_period_start, current_period_end from public.subscriptions where user_id = $1',
    [user.id],
  );
  expect(subscription.current_period_start).toEqual(periods[0]?.period_start);
  expect(subscription.current_period_end).toEqual(periods[5]?.period_end);
});

test('a second purchase waits for the first and applies to its result', async () => {
  const user = await createUser(database);
  const [one, two] = [
    await createPayment(database, { userId: user.id, meta: { tier: 'premium' } }),
    await createPayment(database, { userId: user.id, meta: { tier: 'basic' } }),
  ];
  const [first, second] = [
    await openSession(database, { role: 'service_role' }),
    await openSession(database, { role: 'service_role' }),
  ];
  await first.query('begin');
  await callRpc(first, 'verify_payment', user.id, one.orderId, uniqueId('pay'), 'signature');
  const later = callRpc(second, 'verify_payment', user.id, two.orderId, uniqueId('pay'), 'signature');
  await waitUntilBlocked(database, second);
  await first.query('commit');
  expect(await later).toMatchObject({ outcome: 'applied', tier: 'basic' });
  expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'basic' });
  expect(await readOutbox(database, 'email', user.email)).toHaveLength(2);
});

test('a verify that waits for another verify fulfils the payment if that one rolls back', async () => {
  const user = await createUser(database);
  const { orderId } = await createPayment(database, { userId: user.id });
  const [first, second] = [
    await openSession(database, { role: 'service_role' }),
    await openSession(database, { role: 'service_role' }),
  ];
  const paymentId = uniqueId('pay');
  await first.query('begin');
  await callRpc(first, 'verify_payment', user.id, orderId, paymentId, 'signature');
  const repeat = callRpc(second, 'verify_payment', user.id, orderId, paymentId, 'signature');
  await waitUntilBlocked(database, second);
  await first.query('rollback');
  expect(await repeat).toMatchObject({ outcome: 'applied' });
  expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
});

test('a verify waits for a change of its payment and uses the changed values', async () => {
  const user = await createUser(database);
  const { id, orderId } = await createPayment(database, { userId: user.id, meta: { tier: 'premium' } });
  const [changing, verifying] = [
    await openSession(database, { role: 'service_role' }),
    await openSession(database, { role: 'service_role' }),
  ];
  await changing.query('begin');
  await changing.query(`update public.payments set meta = '{"tier": "basic"}', amount = 1 where id = $1`, [id]);
  const later = callRpc(verifying, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
  await waitUntilBlocked(database, verifying);
  await changing.query('commit');
  expect(await later).toMatchObject({ outcome: 'applied', tier: 'basic' });
  expect(await readOutbox(database, 'email', user.email)).toMatchObject([{ payload: { amount: 1 } }]);
});

test('a failed attempt and the verify of the next attempt at once leave the payment captured with its tier granted', async () => {
  for (const failureFirst of [true, false]) {
    const user = await createUser(database);
    const { id, orderId } = await createPayment(database, { userId: user.id, meta: { tier: 'premium' } });
    const [failing, verifying] = [
      await openSession(database, { role: 'service_role' }),
      await openSession(database, { role: 'service_role' }),
    ];
    const body = paymentFailed({ id: uniqueId('pay'), order_id: orderId });
    const fail = () => deliver(failing, body);
    const verify = () => callRpc(verifying, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
    const [first, one, second, other] = failureFirst
      ? [failing, fail, verifying, verify]
      : [verifying, verify, failing, fail];
    await first.query('begin');
    await one();
    const waiting = other();
    await waitUntilBlocked(database, second);
    await first.query('commit');
    await waiting;
    expect(await readPayment(database, id)).toMatchObject({ status: 'captured', tier: 'premium' });
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(failureFirst ? 2 : 1);
  }
});

test('a read during a verify neither waits nor sees a part of it', async () => {
  const user = await createUser(database);
  const { orderId } = await createPayment(database, { userId: user.id });
  const [writer, reader] = [
    await openSession(database, { role: 'service_role' }),
    await openSession(database, { role: 'service_role' }),
  ];
  await writer.query('begin');
  await callRpc(writer, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
  expect(await callRpc(reader, 'get_subscription', user.id)).toMatchObject({
    subscription: null,
    currentTier: 'free',
    payments: [{ status: 'created' }],
  });
  await writer.query('commit');
  expect(await callRpc(reader, 'get_subscription', user.id)).toMatchObject({
    subscription: { status: 'active' },
    currentTier: 'pro',
    payments: [{ status: 'captured' }],
  });
});
