import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  await database.query('truncate billing.gateway_events, billing.outbox, billing.tier_changes cascade');
});
afterAll(() => database.close());

const purge = async (ledger = 400, outbox = 30, tierHistory = 1100): Promise<unknown> =>
  (await callRpc(service, 'purge_records', ledger, outbox, tierHistory)).purged;
const count = async (table: string): Promise<unknown> =>
  (await database.one(`select count(*)::int as rows from billing.${table}`)).rows;
const ledgerHas = async (body: string): Promise<boolean> =>
  (await database.query("select from billing.gateway_events where body_sha256 = decode($1, 'hex')", [sha256(body)]))
    .length > 0;

/** Empties payloads older than 90 days, then purges until nothing is left to purge. */
async function purgeAll(at: string): Promise<void> {
  await setClock(database, at);
  for (let job = 0; job < 20; job += 1) await database.query('select billing.empty_payloads()');
  for (let batch = 0; batch < 20; batch += 1) if (await purge() === 0) return;
}

describe('the ledger', () => {
  test('deletes rows older than its days, and no newer ones', async () => {
    const order = await placeOrder(database);
    await deliver(service, paymentCaptured(paymentOf(order)));
    await purgeAll('2027-02-05T00:00:00Z');
    expect(await count('gateway_events')).toBe(1);
    await purgeAll('2027-02-05T00:00:00.001Z');
    expect(await count('gateway_events')).toBe(0);
  });

  test('deletes an event whose order is still unknown', async () => {
    await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: uniqueId('order') }));
    await purgeAll('2030-01-01T00:00:00Z');
    expect([await count('gateway_events'), await count('unsettled_events')]).toEqual([0, 0]);
  });

  test.each(['plan_not_found', 'parked', 'failed: 23514'])(
    'keeps an event that is %s, which can still be applied',
    async (outcome) => {
      const body = paymentCaptured({ id: uniqueId('pay'), order_id: uniqueId('order') });
      await deliver(service, body);
      await database.query('update billing.gateway_events set outcome = $1', [outcome]);
      await purgeAll('2030-01-01T00:00:00Z');
      expect(await ledgerHas(body)).toBe(true);
    },
  );

  test.each(['unmatched', 'parked', 'failed: 23514'])(
    'deletes an event that is %s after its user was deleted',
    async (outcome) => {
      const user = await createUser(database);
      const at = '2026-01-01T00:00:00Z';
      const body = subscriptionEvent({ name: 'activated', userId: user.id, id: uniqueId('sub'), createdAt: at });
      await deliver(service, body);
      await database.query('update billing.gateway_events set outcome = $1', [outcome]);
      await database.query('delete from auth.users where id = $1', [user.id]);
      await purgeAll('2030-01-01T00:00:00Z');
      expect(await ledgerHas(body)).toBe(false);
    },
  );

  test('deletes an event whose outcome is a mismatch, and its row in unsettled_events', async () => {
    const order = await placeOrder(database, { amount: 1 });
    expect(await deliver(service, paymentCaptured(paymentOf(order)))).toBe('mismatch');
    expect(await count('unsettled_events')).toBe(1);
    await purgeAll('2030-01-01T00:00:00Z');
    expect([await count('gateway_events'), await count('unsettled_events')]).toEqual([0, 0]);
  });

  test('deletes the capture of a cycle’s payment, which stays unmatched', async () => {
    const user = await createUser(database);
    const payment = { id: uniqueId('pay'), amount: 99900 };
    const body = paymentCaptured({ ...payment, order_id: uniqueId('order_of_cycle') });
    expect(await deliver(service, body)).toBe('unmatched');
    const cycle = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z', createdAt: '2026-01-01T00:00:00Z' };
    await deliver(
      service,
      subscriptionEvent({ name: 'charged', userId: user.id, id: uniqueId('sub'), ...cycle, payment }),
    );
    await purgeAll('2030-01-01T00:00:00Z');
    expect(await count('gateway_events')).toBe(0);
  });

  test('keeps a subscription event without a time: a repeated delivery would count as new', async () => {
    const user = await createUser(database);
    const body = subscriptionEvent({ name: 'cancelled', userId: user.id, id: uniqueId('sub') });
    await deliver(service, body);
    await purgeAll('2030-01-01T00:00:00Z');
    expect(await ledgerHas(body)).toBe(true);
    const outcome = await deliver(service, body);
    expect(await database.one('select deliveries, outcome from billing.gateway_events')).toEqual({
      deliveries: 2,
      outcome,
    });
  });

  test('deletes a thousand rows at a time, and skips locked rows', async () => {
    await database.query(`
      insert into billing.gateway_events (body_sha256, event, outcome)
      select sha256(n::text::bytea), 'payment.captured', 'applied' from generate_series(1, 2100) n`);
    await setClock(database, '2028-01-01T00:00:00Z');
    const holder = await database.connect();
    await holder.query('begin');
    await holder.query("select from billing.gateway_events where body_sha256 = sha256('7') for update");
    expect([await purge(), await purge(), await purge(), await purge()]).toEqual([1000, 1000, 99, 0]);
    await holder.query('rollback');
    expect(await purge()).toBe(1);
  });
});

describe('the outbox', () => {
  /** Inserts a side effect of June 2025. The options are SQL expressions of its columns. */
  const insert = (
    kind: string,
    { delivered = 'null', parked = 'null', claims = "'{}'" } = {},
    payload = '{}',
    rows = 1,
  ) =>
    database.query(`
      insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at,
        parked_at, claims)
      select gen_random_uuid(), 'gateway', '${kind}', '${payload}', at, at, at, ${delivered}, ${parked}, ${claims}
      from generate_series(1, ${rows}) n
      cross join (values (timestamptz '2025-06-01T00:00:00Z')) t (at)`);

  test('deletes rows that were delivered more than its days ago, and no newer ones', async () => {
    await insert('kind', { delivered: "'2025-12-01T23:59:59Z'" });
    await insert('kind', { delivered: "'2025-12-02T00:00:00Z'" });
    expect([await purge(), await purge()]).toEqual([1, 0]);
    expect(await count('outbox')).toBe(1);
    await insert('kind', { delivered: "'2025-11-01T00:00:00Z'" });
    expect(await purge(400, 62)).toBe(0);
    expect(await purge(400, 60)).toBe(1);
  });

  test('deletes withdrawn rows', async () => {
    await insert('cancel-subscription', { parked: "'2025-12-01T23:59:59Z'" });
    await insert('cancel-subscription', { parked: "'2025-12-02T00:00:00Z'" });
    expect([await purge(), await purge()]).toEqual([1, 0]);
  });

  test('keeps pending and parked rows of any age', async () => {
    await insert('cancel-subscription');
    await insert('revalidation', { parked: "'2025-06-02T00:00:00Z'", claims: 'array[gen_random_uuid()]' });
    await setClock(database, '2040-01-01T00:00:00Z');
    expect(await purge()).toBe(0);
  });

  test('keeps a delivered cancellation until its subscription is known to be cancelled', async () => {
    const user = await createUser(database);
    const id = uniqueId('sub');
    const cycle = { start: '2026-01-01T00:00:00Z', end: '2027-01-01T00:00:00Z' };
    const of = { userId: user.id, id };
    await deliver(
      service,
      subscriptionEvent({ name: 'activated', ...of, ...cycle, createdAt: '2026-01-01T00:00:00Z' }),
    );
    await insert(
      'cancel-subscription',
      { delivered: "'2025-06-01T00:00:00Z'" },
      `{"gateway_subscription_id": "${id}"}`,
    );
    expect(await purge()).toBe(0);
    await deliver(service, subscriptionEvent({ name: 'cancelled', ...of, createdAt: '2026-01-02T00:00:00Z' }));
    expect(await purge()).toBe(1);
  });

  test('deletes a thousand rows at a time, and skips locked rows', async () => {
    await insert('kind', { delivered: "'2025-06-01T00:00:00Z'" }, '{}', 2100);
    const holder = await database.connect();
    await holder.query('begin');
    await holder.query('select from billing.outbox limit 1 for update');
    const purged = [Number(await purge()), Number(await purge()), Number(await purge()), Number(await purge())];
    expect(purged.reduce((sum, rows) => sum + rows)).toBe(2099);
    expect(Math.max(...purged)).toBeLessThanOrEqual(1000);
    await holder.query('rollback');
    expect(await purge()).toBe(1);
  });
});

test('the purge of tier_changes deletes rows older than its days, a thousand at a time', async () => {
  await database.query(`
    insert into billing.tier_changes (user_id, to_tier, cause)
    select gen_random_uuid(), 'pro', 'payment' from generate_series(1, 1001)`);
  await setClock(database, '2029-01-05T00:00:00Z');
  expect(await purge()).toBe(0);
  await setClock(database, '2029-01-05T00:00:01Z');
  expect([await purge(), await purge(), await purge()]).toEqual([1000, 1, 0]);
});

test('one call deletes from every table', async () => {
  const order = await placeOrder(database);
  await deliver(service, paymentCaptured(paymentOf(order)));
  await database.query(
    'update billing.gateway_events set payload = null; update billing.outbox set delivered_at = created_at',
  );
  await setClock(database, '2030-01-01T00:00:00Z');
  const before = Number(await count('outbox')) + Number(await count('tier_changes')) + 1;
  expect(await purge()).toBe(before);
});

test.each([[89, 30, 30], [90, 29, 30], [90, 30, 29], [null, 30, 30], [0, 0, 0], [-400, 30, 30]])(
  'a purge with %s days for the ledger, %s for the outbox and %s for the history is refused',
  async (ledger, outbox, tierHistory) => {
    await expect(callRpc(service, 'purge_records', ledger, outbox, tierHistory)).rejects.toMatchObject({
      code: 'PS400',
    });
  },
);

test('a purge with the shortest days is accepted', async () => {
  expect(await purge(90, 30, 30)).toBe(0);
});

test.each(['anon', 'authenticated'] as const)('a purge is closed to %s', async (role) => {
  const session = await openSession(database, role === 'anon' ? { role } : { role, userId: crypto.randomUUID() });
  await expect(callRpc(session, 'purge_records', 400, 30, 1100)).rejects.toMatchObject({ code: '42501' });
});
