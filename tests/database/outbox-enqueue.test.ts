import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { enqueue } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';
import { readAllRows, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
beforeAll(async () => {
  // Tiers are written by hand, one event fails, one order is paid twice.
  database = await createTestDatabase({
    findings: { entitled_not_paid: 15, failed_events: 1, paid_twice: 1, unmailed_payment: 2 },
  });
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(async () => {
  userId = (await createUser(database)).id;
  await emptyOutbox(database);
});
afterAll(() => database.close());

async function kinds(): Promise<unknown[]> {
  return (await database.query('select kind from billing.outbox order by kind')).map((row) => row.kind);
}

async function verify(payment: { orderId: string }) {
  return await callRpc(service, 'verify_payment', userId, payment.orderId, uniqueId('pay'), 'signature');
}

describe('a side effect commits or rolls back with its change', () => {
  test.each(['rollback', 'commit'])('a purchase, on %s', async (end) => {
    const payment = await createPayment(database, { userId });
    const before = await readAllRows(database);
    await service.query('begin');
    expect(await verify(payment)).toMatchObject({ outcome: 'applied' });
    expect((await service.query('select from billing.outbox')).rowCount).toBe(2);
    expect(await kinds()).toEqual([]);
    await service.query(end);
    expect(await kinds()).toEqual(end === 'commit' ? ['payment-success', 'revalidation'] : []);
    if (end === 'rollback') expect(await readAllRows(database)).toEqual(before);
  });

  test.each(['rollback', 'commit'])('a failed attempt, on %s', async (end) => {
    const { orderId } = await createPayment(database, { userId });
    const before = await readAllRows(database);
    await service.query('begin');
    expect(await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: orderId }))).toBe('applied');
    await service.query(end);
    expect(await kinds()).toEqual(end === 'commit' ? ['payment-failed'] : []);
    if (end === 'rollback') expect(await readAllRows(database)).toEqual(before);
  });

  test('an event whose effect fails enqueues no side effect, although its ledger row stays', async () => {
    await database.query(
      "alter table public.profiles add constraint broken check (subscription_tier <> 'pro') not valid",
    );
    const payment = await createPayment(database, { userId });
    await expect(verify(payment)).rejects.toMatchObject({ code: '23514' });
    await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
    const period = { planId: 'plan_pro', start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
    expect(await deliver(service, subscriptionEvent({ name: 'activated', userId, ...period }))).toBe('failed: 23514');
    expect(await kinds()).toEqual([]);
    await database.query('alter table public.profiles drop constraint broken');
  });
});

describe('the same fact twice', () => {
  test('is one row, the first', async () => {
    await database.query(`select billing.enqueue('payment-success/1', 'email', 'payment-success', '{"to": "first"}')`);
    await database.query(`select billing.enqueue('payment-success/1', 'email', 'payment-success', '{"to": "second"}')`);
    expect(await database.query('select payload from billing.outbox')).toEqual([{ payload: { to: 'first' } }]);
  });

  test('is one row, also after it was delivered or parked', async () => {
    for (const column of ['delivered_at', 'parked_at']) {
      const key = uniqueId('fact');
      await enqueue(database, 'email', key);
      await database.query(`update billing.outbox set ${column} = now() where key = $1`, [key]);
      await database.query("select billing.enqueue($1, 'email', 'kind', '{}')", [key]);
      expect(await database.query('select from billing.outbox where key = $1', [key])).toHaveLength(1);
    }
  });

  test('a repeated verify and a repeated event add no row', async () => {
    const payment = await createPayment(database, { userId });
    const failed = paymentFailed({ id: uniqueId('pay'), order_id: payment.orderId });
    await deliver(service, failed);
    await verify(payment);
    const expected = ['payment-failed', 'payment-success', 'revalidation'];
    expect(await kinds()).toEqual(expected);
    await deliver(service, failed);
    await verify(payment);
    expect(await kinds()).toEqual(expected);
  });
});

describe('the revalidation of cached pages', () => {
  const edit = 'update public.profiles set subscription_tier = $2 where user_id = $1';
  const pages = ['/subscription', '/pricing', '/analytics', '/dashboard'];

  test('is one row with the four pages', async () => {
    await database.query(edit, [userId, 'pro']);
    expect(await database.query('select destination, kind, payload from billing.outbox')).toEqual([
      { destination: 'revalidation', kind: 'revalidation', payload: { paths: pages } },
    ]);
  });

  test('follows a write of the same tier', async () => {
    await database.query(edit, [userId, 'free']);
    expect(await kinds()).toEqual(['revalidation']);
  });

  test('follows a new profile', async () => {
    await createUser(database);
    expect(await kinds()).toEqual(['revalidation']);
  });

  test('does not follow an update of a name', async () => {
    await database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [userId]);
    expect(await kinds()).toEqual([]);
  });

  test('follows an update by the service', async () => {
    await service.query(edit, [userId, 'pro']);
    expect(await kinds()).toEqual(['revalidation']);
  });

  test('follows insert and update by a role of the app that has rights only on profiles', async () => {
    const { id: otherId } = await createUser(database);
    await database.query('delete from public.profiles where user_id = $1', [otherId]);
    await emptyOutbox(database);
    const app = await database.connect();
    await app.query('begin'); // roles belong to the whole server: this one is rolled back with its transaction
    await app.query('create role app_backend bypassrls');
    await app.query('grant usage on schema public to app_backend');
    await app.query('grant select, insert, update on public.profiles to app_backend');
    await app.query('set local role app_backend');
    await app.query(edit, [userId, 'pro']);
    await app.query(
      "insert into public.profiles (user_id, subscription_tier, created_at) values ($1, 'basic', now())",
      [otherId],
    );
    await app.query('set local role postgres');
    const { rows } = await app.query('select kind from billing.outbox');
    const changes = await app.query(
      'select to_tier, cause from billing.tier_changes where user_id = any ($1) order by id',
      [
        [userId, otherId],
      ],
    );
    await app.query('rollback');
    expect(rows).toEqual([{ kind: 'revalidation' }]);
    expect(changes.rows).toEqual([{ to_tier: 'pro', cause: 'direct' }, { to_tier: 'basic', cause: 'direct' }]);
  });

  test('is one row per transaction', async () => {
    const admin = await database.connect();
    for (const tiers of [['pro', 'premium', 'pro'], ['basic']]) {
      await admin.query('begin');
      for (const tier of tiers) await admin.query(edit, [userId, tier]);
      await admin.query('commit');
    }
    expect(await kinds()).toEqual(['revalidation', 'revalidation']);
    expect(await readTier(database, userId)).toBe('basic');
  });

  test('is one row for an update of every profile', async () => {
    await database.query("update public.profiles set subscription_tier = 'pro'");
    expect(await kinds()).toEqual(['revalidation']);
  });
});
