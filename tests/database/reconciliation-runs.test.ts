import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(() => database.query('update billing.scheduled_jobs set run_id = null, run_until = null, done_at = null'));
afterAll(() => database.close());

const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
const begin = async (run: string) => (await callRpc(service, 'begin_reconciliation', run)).began;
const end = (run: string, isDone: boolean) => callRpc(service, 'end_reconciliation', run, isDone);
const readJob = () =>
  database.one("select done_at, run_id, run_until from billing.scheduled_jobs where name = 'reconciliation'");

test('a second reconciliation starts only after the first one ended', async () => {
  expect(await begin(first)).toBe(true);
  expect(await begin(second)).toBe(false);
  expect(await begin(first)).toBe(false);
  await end(first, true);
  expect(await begin(second)).toBe(true);
});

test('of eight that start at once, one begins', async () => {
  const sessions = await Promise.all(
    Array.from({ length: 8 }, () => openSession(database, { role: 'service_role' })),
  );
  const results = await Promise.all(
    sessions.map((session) => callRpc(session, 'begin_reconciliation', crypto.randomUUID())),
  );
  expect(results.filter(({ began }) => began)).toHaveLength(1);
});

test('one that crashed stops the others until its lease of 75 seconds expires', async () => {
  await begin(first);
  const { seconds } = await database.one(
    `select round(extract(epoch from run_until - now()))::int as seconds
     from billing.scheduled_jobs
     where name = 'reconciliation'`,
  );
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThanOrEqual(75);
  await database.query("update billing.scheduled_jobs set run_until = now() where name = 'reconciliation'");
  expect(await begin(second)).toBe(true);
});

test('the end of one whose lease expired does not end the next one', async () => {
  await begin(first);
  await database.query("update billing.scheduled_jobs set run_until = now() where name = 'reconciliation'");
  await begin(second);
  await end(first, true);
  expect(await readJob()).toMatchObject({ done_at: null, run_id: second });
  expect(await begin(first)).toBe(false);
});

test('the end of a complete one is stored, and that of an incomplete one is not', async () => {
  await begin(first);
  await end(first, false);
  expect(await readJob()).toEqual({ done_at: null, run_id: null, run_until: null });
  await begin(second);
  await end(second, true);
  const stored = await readJob();
  expect(stored).toEqual({ done_at: expect.any(Date), run_id: null, run_until: null });
  await begin(first);
  await end(first, false);
  expect(await readJob()).toEqual(stored);
});

test('a backlog is what is due for two hours although the runs get answers', async () => {
  const backlog = () =>
    database.query(
      `select subject as kind, (detail -> 'due')::int as due
       from billing.findings
       where finding = 'reconciliation_backlog'
       order by subject`,
    );
  const runs = async (at: string) => {
    await begin(first);
    await end(first, true);
    await database.query(`update billing.scheduled_jobs set done_at = ${at} where name = 'reconciliation'`);
  };
  const due = (at: string) =>
    database.query(
      `with payment as (
         insert into public.payments (user_id, amount, tier, meta, gateway_order_id, next_reconcile_at)
         select u.id, 100, 'pro', '{}', u.id, ${at} from auth.users u
       )
       insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, next_check_at, arrived_at)
       select u.id, 'sub_' || u.id, ${at}, now() from auth.users u`,
    );
  await database.query(
    "insert into auth.users (id, email) select gen_random_uuid(), n || '@example.com' from generate_series(1, 3) n",
  );
  await due("now() - interval '119 minutes'");
  await runs('now()');
  expect(await backlog()).toEqual([]);
  await database.query("update billing.gateway_subscriptions set next_check_at = now() - interval '121 minutes'");
  expect(await backlog()).toEqual([{ kind: 'gateway_subscriptions', due: 3 }]);
  await database.query("update public.payments set next_reconcile_at = now() - interval '1 day'");
  expect(await backlog()).toEqual([{ kind: 'gateway_subscriptions', due: 3 }, { kind: 'payments', due: 3 }]);
  await callRpc(service, 'claim_subscriptions_to_reconcile');
  await callRpc(service, 'claim_payments_to_reconcile');
  expect(await backlog()).toEqual([]);
  await database.query("update public.payments set next_reconcile_at = now() - interval '1 day'");
  await runs("now() - interval '16 minutes'");
  expect(await backlog()).toEqual([]);
  await database.query(
    'delete from auth.users; delete from public.payments; delete from billing.gateway_subscriptions',
  );
});
