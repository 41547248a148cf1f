import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRacers } from '../helpers/database/racers.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readLedger, readOutbox, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  // The cancellation of an attached gateway subscription ends two purchases of a user.
  database = await createTestDatabase({ findings: { paid_not_entitled: 2 } });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
afterAll(() => database.close());

const openPair = async () =>
  [
    await openSession(database, { role: 'service_role' }),
    await openSession(database, { role: 'service_role' }),
  ] as const;

async function failedAttempt() {
  const user = await createUser(database);
  const { orderId } = await createPayment(database, { userId: user.id });
  return { user, body: paymentFailed({ id: uniqueId('pay'), order_id: orderId }) };
}

const period = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };

test('ten deliveries of one event at once apply it once and return the same outcome', async () => {
  const { user, body } = await failedAttempt();
  const racers = await openRacers(database, 10);
  const outcomes = await Promise.all(racers.map((racer) => deliver(racer, body)));
  expect(outcomes).toEqual(Array(10).fill('applied'));
  expect(await readLedger(database, sha256(body))).toMatchObject({ deliveries: 10, attempts: 1 });
  expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
});

test('the second of two deliveries waits, and applies the event when the first rolls back', async () => {
  const { user, body } = await failedAttempt();
  const [first, second] = await openPair();
  await first.query('begin');
  expect(await deliver(first, body)).toBe('applied');
  const repeat = deliver(second, body);
  await waitUntilBlocked(database, second);
  await first.query('rollback');
  expect(await repeat).toBe('applied');
  expect(await readLedger(database, sha256(body))).toMatchObject({ deliveries: 1, attempts: 1 });
  expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
});

test('the second of two deliveries waits, and returns the outcome of the first after its commit', async () => {
  const { body } = await failedAttempt();
  const [first, second] = await openPair();
  await first.query('begin');
  await deliver(first, body);
  const repeat = deliver(second, body);
  await waitUntilBlocked(database, second);
  await first.query('commit');
  expect(await repeat).toBe('applied');
  expect(await readLedger(database, sha256(body))).toMatchObject({ deliveries: 2, attempts: 1 });
});

test('twenty events of one new gateway subscription at once create one subscription', async () => {
  const { id: userId } = await createUser(database);
  const id = uniqueId('sub');
  const bodies = Array.from({ length: 20 }, (_, index) =>
    subscriptionEvent({
      name: index % 4 === 0 ? 'activated' : 'charged',
      userId,
      id,
      planId: 'plan_pro',
      start: period.start,
      end: `2126-02-${String(index + 1).padStart(2, '0')}T00:00:00Z`,
      createdAt: `2026-01-${String(index + 1).padStart(2, '0')}T00:00:00Z`,
    }));
  const racers = await openRacers(database, 20);
  await Promise.all(racers.map((racer, index) => deliver(racer, bodies[index] ?? '')));
  expect(await readSubscription(database, userId)).toMatchObject({ end: '2126-02-20T00:00:00.000Z', status: 'active' });
  expect(await readTier(database, userId)).toBe('pro');
});

describe('a verify and a cancellation of the same user', () => {
  async function subscriber() {
    const user = await createUser(database);
    const [earlier, later] = [
      await createPayment(database, { userId: user.id }),
      await createPayment(database, { userId: user.id, meta: { tier: 'premium' } }),
    ];
    const session = await openSession(database, { role: 'service_role' });
    await callRpc(session, 'verify_payment', user.id, earlier.orderId, uniqueId('pay'), 'signature');
    return {
      userId: user.id,
      orderId: later.orderId,
      cancelled: subscriptionEvent({ name: 'cancelled', userId: user.id, id: uniqueId('sub') }),
    };
  }

  test('the verify first: the cancellation ends the purchase', async () => {
    const { userId, orderId, cancelled } = await subscriber();
    const [verifying, cancelling] = await openPair();
    await verifying.query('begin');
    await callRpc(verifying, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
    const cancellation = deliver(cancelling, cancelled);
    await waitUntilBlocked(database, cancelling);
    await verifying.query('commit');
    expect(await cancellation).toBe('applied');
    expect(await readSubscription(database, userId)).toMatchObject({ status: 'cancelled', tier: 'premium' });
    expect(await readTier(database, userId)).toBe('free');
  });

  test('the cancellation first: the verify starts a new period', async () => {
    const { userId, orderId, cancelled } = await subscriber();
    const [verifying, cancelling] = await openPair();
    await cancelling.query('begin');
    expect(await deliver(cancelling, cancelled)).toBe('applied');
    const purchase = callRpc(verifying, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
    await waitUntilBlocked(database, verifying);
    await cancelling.query('commit');
    expect(await purchase).toMatchObject({ outcome: 'applied' });
    expect(await readSubscription(database, userId)).toMatchObject({ status: 'active', tier: 'premium' });
    expect(await readTier(database, userId)).toBe('premium');
  });

  test.each([['with a subscription', true], ['without one', false]])(
    'of a user %s: a verify that starts first and waits for the cancellation activates the purchase',
    async (_, hasSubscription) => {
      const { id: userId } = await createUser(database);
      const session = await openSession(database, { role: 'service_role' });
      if (hasSubscription) {
        const { orderId } = await createPayment(database, { userId });
        await callRpc(session, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
      }
      const { orderId } = await createPayment(database, { userId, meta: { tier: 'premium' } });
      const [verifying, cancelling] = await openPair();
      // The time of a transaction is the start of its first statement.
      await verifying.query('begin');
      await verifying.query('select now()');
      await cancelling.query('begin');
      await deliver(cancelling, subscriptionEvent({ name: 'cancelled', userId, id: uniqueId('sub') }));
      const purchase = callRpc(verifying, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
      await waitUntilBlocked(database, verifying);
      await cancelling.query('commit');
      expect(await purchase).toMatchObject({ outcome: 'applied', tier: 'premium' });
      await verifying.query('commit');
      expect(await readSubscription(database, userId)).toMatchObject({ status: 'active', tier: 'premium' });
      expect(await readTier(database, userId)).toBe('premium');
    },
  );
});

test('an event that arrived before its subscription is applied, although a repeated delivery of it is in progress', async () => {
  const { id: userId } = await createUser(database);
  const of = { userId, id: uniqueId('sub'), planId: 'plan_pro' };
  const [repeating, making] = await openPair();
  const cancelled = subscriptionEvent({ name: 'cancelled', ...of, createdAt: '2026-01-02T00:00:00Z' });
  expect(await deliver(making, cancelled)).toBe('unmatched');
  await repeating.query('begin');
  expect(await deliver(repeating, cancelled)).toBe('unmatched');
  const activated = subscriptionEvent({ name: 'activated', ...of, ...period, createdAt: '2026-01-01T00:00:00Z' });
  expect(await deliver(making, activated)).toBe('applied');
  await repeating.query('commit');
  expect(await readSubscription(database, userId)).toMatchObject({ status: 'cancelled' });
  expect(await readTier(database, userId)).toBe('free');
});
