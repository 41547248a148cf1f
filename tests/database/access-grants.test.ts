import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

const roles = ['anon', 'authenticated', 'service_role'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

// Every new grant must be listed here.
test('the API’s roles hold exactly these rights on tables', async () => {
  const rows = await database.query(
    `select distinct format('%s: %s %s.%s', role, lower(privilege), n.nspname, c.relname) as "right"
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest($1::text[]) role
     cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN'])
       privilege
     where n.nspname in ('public', 'billing', 'auth', 'extensions')
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and has_table_privilege(role, c.oid, privilege)
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'anon: select public.plans',
    // For public.current_tier. The role may not use schema billing.
    'authenticated: select billing.profiles',
    'authenticated: select public.payments',
    'authenticated: select public.plans',
    'authenticated: select public.profiles',
    'authenticated: select public.subscriptions',
    'service_role: delete billing.unsettled_events',
    'service_role: insert billing.gateway_events',
    'service_role: insert billing.gateway_subscriptions',
    'service_role: insert billing.marks',
    'service_role: insert billing.outbox',
    'service_role: insert billing.profiles',
    'service_role: insert billing.refunds',
    'service_role: insert billing.subscription_orders',
    'service_role: insert billing.unsettled_events',
    'service_role: insert billing.wishes',
    'service_role: insert public.payments',
    'service_role: insert public.profiles',
    'service_role: insert public.subscriptions',
    'service_role: select billing.deleted_users',
    'service_role: select billing.gateway_events',
    'service_role: select billing.gateway_subscriptions',
    'service_role: select billing.grants',
    'service_role: select billing.manual_subscriptions',
    'service_role: select billing.marks',
    'service_role: select billing.outbox',
    'service_role: select billing.profiles',
    'service_role: select billing.refunded',
    'service_role: select billing.refunds',
    'service_role: select billing.replacements',
    'service_role: select billing.scheduled_jobs',
    'service_role: select billing.settings',
    'service_role: select billing.sources',
    'service_role: select billing.stoppable',
    'service_role: select billing.subscription_orders',
    'service_role: select billing.unsettled_events',
    'service_role: select billing.wishes',
    'service_role: select public.payments',
    'service_role: select public.plans',
    'service_role: select public.profiles',
    'service_role: select public.subscriptions',
    'service_role: update billing.gateway_events',
    'service_role: update billing.gateway_subscriptions',
    'service_role: update billing.grants',
    'service_role: update billing.manual_subscriptions',
    'service_role: update billing.marks',
    'service_role: update billing.outbox',
    'service_role: update billing.profiles',
    'service_role: update billing.refunds',
    'service_role: update billing.scheduled_jobs',
    'service_role: update billing.subscription_orders',
    'service_role: update billing.wishes',
    'service_role: update public.payments',
    'service_role: update public.profiles',
    'service_role: update public.subscriptions',
  ]);
});

test('the API’s roles hold exactly these rights on single columns', async () => {
  const rows = await database.query(
    `select format('%s: %s %s.%s.%s', role, lower(privilege), n.nspname, c.relname, a.attname) as "right"
     from pg_attribute a
     join pg_class c on c.oid = a.attrelid
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest($1::text[]) role
     cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) privilege
     where n.nspname in ('public', 'billing', 'auth', 'extensions')
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and a.attnum > 0
       and not a.attisdropped
       and has_column_privilege(role, c.oid, a.attnum, privilege)
       and not has_table_privilege(role, c.oid, privilege)
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'authenticated: update public.profiles.display_name',
    'authenticated: update public.profiles.username',
  ]);
});

test('of schema public the API’s roles may execute exactly these functions', async () => {
  const rows = await database.query(
    `select format('%s: %s', role, p.proname) as "right"
     from pg_proc p
     cross join unnest($1::text[]) role
     where p.pronamespace = 'public'::regnamespace
       and has_function_privilege(role, p.oid, 'EXECUTE')
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'authenticated: current_tier',
    'authenticated: has_tier',
    'service_role: apply_gateway_event',
    'service_role: apply_gateway_subscription',
    'service_role: apply_invoices',
    'service_role: apply_order_payments',
    'service_role: apply_order_read',
    'service_role: apply_subscription_order',
    'service_role: begin_reconciliation',
    'service_role: cancel_subscription',
    'service_role: claim_outbox',
    'service_role: claim_payments_to_reconcile',
    'service_role: claim_subscription_orders',
    'service_role: claim_subscriptions_to_reconcile',
    'service_role: complete_outbox',
    'service_role: create_change',
    'service_role: create_order',
    'service_role: create_subscription',
    'service_role: discard_order',
    'service_role: end_reconciliation',
    'service_role: fail_outbox',
    'service_role: get_health',
    'service_role: get_order',
    'service_role: get_schema_version',
    'service_role: get_subscription',
    'service_role: list_plans',
    'service_role: list_plans_for_user',
    'service_role: next_outbox_attempt',
    'service_role: preview_change',
    'service_role: purge_records',
    'service_role: resume_subscription',
    'service_role: store_order',
    'service_role: store_subscription',
    'service_role: verify_payment',
    'service_role: verify_returned_payment',
    'service_role: verify_subscription',
  ]);
});

// A default privilege. What is not for the service is revoked beside its definition.
test('of schema billing a client may execute no function, and the service all but these', async () => {
  const rows = await database.query(
    `select format('%s: %s', role, p.oid::regprocedure) as exception
     from pg_proc p
     cross join unnest($1::text[]) role
     where p.pronamespace = 'billing'::regnamespace
       and has_function_privilege(role, p.oid, 'EXECUTE') <> (role = 'service_role')
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.exception)).toEqual([
    'service_role: billing.create_profiles()',
    'service_role: billing.lock_users()',
    'service_role: billing.missing_parts()',
    'service_role: billing.replay_event(bytea)',
    'service_role: billing.requeue(bigint)',
    'service_role: billing.schedule_faults()',
    'service_role: billing.set_up()',
    'service_role: billing.set_up_support()',
    'service_role: billing.wake()',
  ]);
});

test('no sequence is open to the API’s roles', async () => {
  const rows = await database.query(
    `select format('%s: %s.%s', role, n.nspname, c.relname) as "right"
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest($1::text[]) role
     where c.relkind = 'S' and n.nspname in ('public', 'billing')
       and has_sequence_privilege(role, c.oid, 'USAGE, SELECT, UPDATE')`,
    [roles],
  );
  expect(rows).toEqual([]);
});

test('only the service can use schema billing, and no role of the API can create objects in a schema', async () => {
  const rows = await database.query(
    `select format('%s: %s %s', role, lower(privilege), n.nspname) as "right"
     from pg_namespace n
     cross join unnest($1::text[]) role
     cross join unnest(array['USAGE', 'CREATE']) privilege
     where n.nspname in ('public', 'billing')
       and has_schema_privilege(role, n.oid, privilege)
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'anon: usage public',
    'authenticated: usage public',
    'service_role: usage billing',
    'service_role: usage public',
  ]);
});

test('a new table of schema public is closed to the API’s roles', async () => {
  await database.query('create table public.new_table (id int)');
  const row = await database.one(
    `select bool_or(has_table_privilege(role, 'public.new_table', 'SELECT, INSERT, UPDATE, DELETE')) as open
     from unnest($1::text[]) role`,
    [roles],
  );
  expect(row).toEqual({ open: false });
});

test('no security definer function is in schema public, which the API exposes', async () => {
  const rows = await database.query(
    `select p.proname from pg_proc p where p.prosecdef and p.pronamespace = 'public'::regnamespace`,
  );
  expect(rows).toEqual([]);
});
