import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { createUser } from '../helpers/records/records.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';

/** What the console and Studio show. */
const views = [
  'active_monthly',
  'customer_payments',
  'customers',
  'findings',
  'messages',
  'periods',
  'revenue_monthly',
  'service_state',
  'timeline',
  'users',
  'webhooks',
];
const denied = { code: '42501' };

let database: TestDatabase;
let support: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  support = await openSupport(database);
});
afterAll(() => database.close());

test.each(views)('support reads billing.%s', async (view) => {
  await createUser(database);
  await expect(support.query(`select * from billing.${view}`)).resolves.toMatchObject({ rows: expect.any(Array) });
});

test('support sees the rows of all users, and finds them', async () => {
  const { email } = await createUser(database);
  for (const sql of ['select from billing.customers where email = $1', 'select from billing.search_customers($1)']) {
    expect((await support.query(sql, [email])).rows, sql).toHaveLength(1);
  }
});

test('support writes nothing but support actions', async () => {
  const rows = await database.query(
    `select format('%s %s.%s', lower(privilege), n.nspname, c.relname) as "right"
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest(array['INSERT', 'UPDATE', 'REFERENCES']) privilege
     where n.nspname in ('public', 'billing', 'auth', 'extensions')
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and (
         has_any_column_privilege('subscriptions_support', c.oid, privilege)
         or has_table_privilege('subscriptions_support', c.oid, 'DELETE, TRUNCATE, TRIGGER, MAINTAIN')
       )`,
  );
  expect(rows).toEqual([{ right: 'insert billing.support_actions' }]);
});

test.each([
  "update public.profiles set subscription_tier = 'premium'",
  'delete from public.payments',
  'insert into billing.grants (user_id, tier, until) select user_id, tier, now() from billing.customers',
  "insert into billing.support_actions (action, reference, reason, actor) values ('note', 'x', 'x', 'another')",
  'update billing.outbox set parked_at = null',
  'truncate billing.gateway_events',
  'select from auth.users',
  'select from auth.identities',
  'select from billing.deleted_users',
  'select from billing.function_calls',
  "select billing.replay_event('')",
  'select billing.requeue(1)',
  'select billing.set_up()',
  'select public.get_subscription(gen_random_uuid())',
  'create table public.t ()',
  'create table billing.t ()',
  'set role service_role',
])('support is refused %s', async (sql) => {
  await expect(support.query(sql)).rejects.toMatchObject(denied);
});

test('the functions that support may execute write nothing', async () => {
  const rows = await database.query(
    `select p.oid::regprocedure::text as name
     from pg_proc p
     where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
       and has_function_privilege('subscriptions_support', p.oid, 'execute')
       and p.provolatile = 'v'`,
  );
  expect(rows).toEqual([]);
});

describe('a login role for each person', () => {
  // Roles belong to the whole server, which the test files share.
  const name = `support_${crypto.randomUUID().replaceAll('-', '')}`;
  afterAll(() => database.query(`drop role if exists ${name}`));

  test('is made by the documented statement, reads, and is named in the trail, also after it switches its role', async () => {
    const guide = await Deno.readTextFile('supabase/docs/operations.md');
    const [, statement = ''] = /^(create role support_asha .*)$/m.exec(guide) ?? [];
    expect(statement).toContain('<password>');
    await database.query(statement.replace('support_asha', name));
    const asha = await database.connect();
    await asha.query(`set session authorization ${name}`);
    const { email } = await createUser(database);
    expect((await asha.query('select from billing.customers where email = $1', [email])).rows).toHaveLength(1);
    await asha.query('set role subscriptions_support');
    expect(await act(asha, { action: 'note', email })).toMatchObject({ actor: name });
  });
});

describe('the parts of the role', () => {
  test('that a restore lost are a finding, until they are set up again', async () => {
    const found = () => database.query("select subject from billing.findings where finding = 'missing_part'");
    for (
      const loss of [
        'revoke select on billing.outbox from subscriptions_support',
        'revoke insert (reason) on billing.support_actions from subscriptions_support',
        'drop policy "Support acts" on billing.support_actions',
      ]
    ) {
      await database.query(loss);
      expect(await found(), loss).toEqual([{ subject: 'role subscriptions_support' }]);
      expect(await database.one('select billing.set_up() as missing')).toEqual({ missing: 0 });
      expect(await found(), loss).toEqual([]);
    }
  });
});

test('each view has a comment', async () => {
  const rows = await database.query(
    `select c.relname as silent
     from pg_class c
     where c.relnamespace = 'billing'::regnamespace
       and c.relname = any ($1)
       and obj_description(c.oid) is null`,
    [views],
  );
  expect(rows).toEqual([]);
});
