import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDeadlocks, openRacers } from '../helpers/database/racers.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { listed } from '../helpers/gateway/reconciliation.ts';
import { mailsTo, paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readTier } from '../helpers/records/read-records.ts';

let database: TestDatabase;
beforeAll(async () => {
  // Reconciliation may be the first of the racers to learn of a payment.
  database = await createTestDatabase({ findings: { missed_webhook: 'any' } });
});
afterAll(() => database.close());

const service = () => openSession(database, { role: 'service_role' });
const outcomes = (results: Record<string, unknown>[]) => results.map(({ outcome }) => outcome).sort();
const captured = (order: Purchase) => JSON.stringify(listed(order, { status: 'captured' }));

test('twenty pages that ask for an order at once: one reads it, also at the next time', async () => {
  const order = await placeOrder(database);
  const sessions = await openRacers(database, 20);
  for (let time = 0; time < 3; time += 1) {
    const results = await Promise.all(
      sessions.map((session) => callRpc(session, 'get_order', order.user.id, order.orderId, true)),
    );
    expect(outcomes(results)).toEqual([...Array(19).fill('known'), 'read']);
    await database.query("update public.payments set read_at = read_at - interval '5 seconds'");
  }
});

test('a second page waits for the first one, and reads the order itself if the first rolls back', async () => {
  for (const [end, outcome] of [['commit', 'known'], ['rollback', 'read']]) {
    const order = await placeOrder(database);
    const [first, second] = [await service(), await service()];
    await first.query('begin');
    await callRpc(first, 'get_order', order.user.id, order.orderId, true);
    const later = callRpc(second, 'get_order', order.user.id, order.orderId, true);
    await waitUntilBlocked(database, second);
    await first.query(String(end));
    expect(await later).toMatchObject({ outcome });
  }
});

test('the answer of the gateway, verify, the return and the webhook at once fulfil an order once, without a deadlock', async () => {
  const sessions = await openRacers(database, 8);
  for (let time = 0; time < 10; time += 1) {
    const order = await placeOrder(database);
    const { user, id, orderId, paymentId } = order;
    const get = (session: typeof sessions[number]) => callRpc(session, 'get_order', user.id, orderId, true);
    const acts: ((session: typeof sessions[number]) => Promise<unknown>)[] = [
      (session) => callRpc(session, 'apply_order_read', id, captured(order)),
      (session) => callRpc(session, 'apply_order_read', id, captured(order)),
      (session) => verifyPurchase(session, order),
      (session) => callRpc(session, 'verify_returned_payment', orderId, paymentId, 'signature'),
      (session) => deliver(session, paymentCaptured(paymentOf(order))),
      (session) => callRpc(session, 'apply_order_payments', id, captured(order)),
      get,
      get,
    ];
    await Promise.all(sessions.map((session, index) => acts[(index + time) % acts.length]?.(session)));
    expect(await mailsTo(database, user)).toEqual([`payment-success/${id}`]);
    expect(await readTier(database, user.id)).toBe('pro');
  }
  expect(await countDeadlocks(database, sessions)).toBe(0);
});
