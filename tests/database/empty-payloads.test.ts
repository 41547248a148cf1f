import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { mailsTo, paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from billing.gateway_events');
});
afterAll(() => database.close());

async function empty(at: string): Promise<unknown> {
  await setClock(database, at);
  return (await database.one('select billing.empty_payloads() as emptied')).emptied;
}

const row = (body: string): Promise<Row> =>
  database.one("select * from billing.gateway_events where body_sha256 = decode($1, 'hex')", [sha256(body)]);

test('a payload is emptied after 90 days; hash, ids, outcome and counts stay', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  const order = await placeOrder(database);
  const body = paymentCaptured(paymentOf(order));
  await deliver(service, body, 'evt_header');
  const { payload: _, ...before } = await row(body);
  expect(await empty('2026-04-01T00:00:00Z')).toBe(0);
  expect(await empty('2026-04-01T00:00:00.001Z')).toBe(1);
  expect(await empty('2026-04-01T00:00:00.001Z')).toBe(0);
  expect(await row(body)).toEqual({ ...before, payload: null });
  expect(before).toMatchObject({ event_id: 'evt_header', subject_id: order.orderId, outcome: 'applied' });
});

test('a repeated delivery of an emptied event is recognized: it returns the outcome and changes nothing', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  const order = await placeOrder(database);
  const body = paymentCaptured(paymentOf(order));
  await deliver(service, body);
  await empty('2026-05-01T00:00:00Z');
  expect(await deliver(service, body)).toBe('applied');
  expect(await row(body)).toMatchObject({ payload: null, deliveries: 2, attempts: 1 });
  expect(await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)])).toEqual({
    outcome: 'applied',
  });
  expect(await row(body)).toMatchObject({ attempts: 1 });
  expect(await mailsTo(database, order.user)).toHaveLength(1);
});

test.each(['unmatched', 'plan_not_found', 'parked', 'failed: 23514'])(
  'an event that is %s keeps the fields that a later application needs',
  async (outcome) => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
    const body = paymentCaptured({
      ...money,
      email: 'asha.rao@example.com',
      contact: '+919800000000',
      vpa: 'asha@upi',
    });
    await deliver(service, body);
    await database.query('update billing.gateway_events set outcome = $1', [outcome]);
    expect((await row(body)).payload).toEqual(JSON.parse(body));
    expect(await empty('2027-01-01T00:00:00Z')).toBe(1);
    expect((await row(body)).payload).toEqual({
      reduced: true,
      event: 'payment.captured',
      payload: {
        payment: {
          entity: {
            ...money,
            amount: 99900,
            currency: 'INR',
            status: 'captured',
            error_code: null,
            error_reason: null,
          },
        },
      },
      created_at: 1_767_225_600,
    });
    expect(await empty('2027-01-01T00:00:00Z')).toBe(0);
  },
);

test('an event of an unknown order, or of an unhandled type, keeps its whole payload for a day', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  const money = { id: uniqueId('pay'), order_id: uniqueId('order'), email: 'asha.rao@example.com' };
  const bodies = [paymentCaptured(money), paymentCaptured(money).replace('payment.captured', 'payment.authorized')];
  for (const body of bodies) await deliver(service, body);
  const reduce = async (at: string) => {
    await setClock(database, at);
    return (await database.one('select billing.reduce_payloads() as reduced')).reduced;
  };
  expect(await reduce('2026-01-02T00:00:00Z')).toBe(0);
  expect(await reduce('2026-01-02T00:00:00.001Z')).toBe(2);
  expect(await reduce('2026-01-02T00:00:00.001Z')).toBe(0);
  for (const body of bodies) expect(JSON.stringify((await row(body)).payload)).not.toContain('asha.rao');
});

test('an event that waited a year for its order is applied', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  await deliver(service, paymentCaptured(money));
  await empty('2027-01-01T00:00:00Z');
  const user = await createUser(database);
  await createPayment(database, { userId: user.id, orderId: money.order_id });
  expect(await readTier(database, user.id)).toBe('pro');
});

test.each(['ignored: not handled', 'stale', 'already', 'mismatch', 'applied'])(
  'an event with the outcome %s is emptied',
  async (outcome) => {
    await setClock(database, '2026-01-01T00:00:00Z');
    await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: uniqueId('order') }));
    await database.query('update billing.gateway_events set outcome = $1', [outcome]);
    expect(await empty('2027-01-01T00:00:00Z')).toBe(1);
  },
);

test('a batch is a thousand rows, skips locked rows, and never takes new rows', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  await database.query(`
    insert into billing.gateway_events (body_sha256, payload, outcome)
    select sha256(n::text::bytea), '{}', 'applied' from generate_series(1, 2100) n`);
  await setClock(database, '2026-12-31T00:00:00Z');
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  const fresh = paymentCaptured(paymentOf(order));
  await deliver(service, fresh);

  const holder = await database.connect();
  await holder.query('begin');
  await holder.query("select from billing.gateway_events where body_sha256 = sha256('7') for update");
  const emptied = [];
  for (let batch = 0; batch < 4; batch++) emptied.push(await empty('2027-01-01T00:00:00Z'));
  expect(emptied).toEqual([1000, 1000, 99, 0]);
  await holder.query('rollback');
  expect(await empty('2027-01-01T00:00:00Z')).toBe(1);
  expect((await row(fresh)).payload).not.toBeNull();
});
