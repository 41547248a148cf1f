import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder } from '../helpers/records/purchases.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ findings: { paid_twice: 1 } });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
afterAll(() => database.close());

test('a webhook that fulfils a payment writes the ledger once, and no index for the tier in the profile', async () => {
  const { user } = await placeOrder(database);
  for (let payment = 0; payment < 2; payment += 1) {
    const { paymentId, orderId } = await placeOrder(database, { user });
    await service.query('begin');
    expect(await deliver(service, paymentCaptured({ id: paymentId, order_id: orderId }))).toBe('applied');
    const { rows } = await service.query(
      `select relname as name, n_tup_upd > 0 as is_updated, (n_tup_upd - n_tup_hot_upd)::int as through_indexes
       from pg_stat_xact_user_tables where relname in ('gateway_events', 'profiles') order by relname`,
    );
    await service.query('commit');
    expect(rows).toEqual([
      { name: 'gateway_events', is_updated: false, through_indexes: 0 },
      { name: 'profiles', is_updated: true, through_indexes: 0 },
    ]);
  }
});

test('a charge writes the ledger once, and no index of the mirror', async () => {
  const { user } = await placeOrder(database);
  const of = { userId: user.id, id: uniqueId('sub'), planId: 'plan_pro' };
  const month = (start: number) => ({ start: `2126-0${start}-01T00:00:00Z`, end: `2126-0${start + 1}-01T00:00:00Z` });
  await deliver(service, subscriptionEvent({ name: 'activated', ...of, ...month(1) }));
  await deliver(service, subscriptionEvent({ name: 'charged', ...of, ...month(1) }));
  // The statistics of a session include its transactions of the last second.
  const counting = await openSession(database, { role: 'service_role' });
  await counting.query('begin');
  expect(await deliver(counting, subscriptionEvent({ name: 'charged', ...of, ...month(2) }))).toBe('applied');
  const { rows } = await counting.query(
    `select relname as name, n_tup_upd::int as updated, (n_tup_upd - n_tup_hot_upd)::int as through_indexes
     from pg_stat_xact_user_tables where relname in ('gateway_events', 'gateway_subscriptions') order by relname`,
  );
  await counting.query('commit');
  expect(rows).toEqual([
    { name: 'gateway_events', updated: 0, through_indexes: 0 },
    { name: 'gateway_subscriptions', updated: 1, through_indexes: 0 },
  ]);
});

test('no index of the ledger contains a column that an event updates', async () => {
  const rows = await database.query(
    `select indexdef from pg_indexes where tablename = 'gateway_events' and indexdef ~ 'outcome|attempts|deliveries|error'`,
  );
  expect(rows).toEqual([]);
});
