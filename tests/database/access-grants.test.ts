import { describe, expect, test } from 'vitest';
import { houseRules } from '../../scripts/check/house-rules.ts';
import { useDatabase } from '../helpers/database/use-database.ts';

const database = useDatabase();
const words = (text: string) => text.trim().split(/\s+/);

/** A condition about `role` and each object: the names for which it holds, by `key`. Sorted by name. */
async function granted(key: string, name: string, from: string): Promise<Record<string, string[]>> {
  const rows = await database.query(
    `select ${key} as key, array_agg(distinct (${name})::text order by (${name})::text) as names
     from unnest(array['anon', 'authenticated', 'service_role']) role cross join ${from} group by 1`,
  );
  return Object.fromEntries(rows.map((row) => [row.key, row.names]));
}

const relations =
  `unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN'])
    privilege
  cross join pg_class c
  join pg_namespace n on n.oid = c.relnamespace
    and n.nspname in ('public', 'billing', 'auth', 'extensions') and c.relkind in ('r', 'p', 'v', 'm', 'f')`;
const key = `format('%s: %s %s', role, lower(privilege), n.nspname)`;

// Every new grant must be listed in one of these tests.
describe('the API’s roles hold exactly these rights', () => {
  test('on tables', async () => {
    const holds = 'where has_table_privilege(role, c.oid, privilege)';
    expect(await granted(key, 'c.relname', `${relations} ${holds}`)).toEqual({
      'anon: select public': ['plans'],
      // For public.current_tier. The role may not use schema billing.
      'authenticated: select billing': ['profiles'],
      'authenticated: select public': words('billing_details payments plans profiles receipts subscriptions'),
      'service_role: delete billing': ['unsettled_events'],
      'service_role: insert billing': words(`disputes gateway_events gateway_subscriptions marks outbox profiles refunds
        settlement_lines settlements unsettled_events wishes`),
      'service_role: insert public': words('billing_details payments profiles subscriptions'),
      'service_role: select billing': words(
        `access book_months deleted_users disputes ends_wished gateway_events gateway_subscriptions grants
        lost_disputes manual_subscriptions marks outbox profiles purchases refunded refunds replacements scheduled_jobs settings settlement_lines settlements shown_subscriptions sources starts statement statement_windows stoppable
        unsettled_events wishes`,
      ),
      'service_role: select public': words('billing_details payments plans profiles receipts subscriptions'),
      'service_role: update billing': words(
        `disputes gateway_events gateway_subscriptions grants manual_subscriptions marks outbox
        profiles refunds scheduled_jobs settlement_lines settlements statement_windows wishes`,
      ),
      'service_role: update public': words('billing_details payments profiles subscriptions'),
    });
  });

  test('on single columns', async () => {
    const columns = `${relations} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where not has_table_privilege(role, c.oid, privilege)
        and case when privilege in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
          then has_column_privilege(role, c.oid, a.attnum, privilege) end`;
    expect(await granted(key, 'a.attname', columns)).toEqual({
      'authenticated: update public': ['display_name', 'username'],
    });
  });

  test('on functions of schema public', async () => {
    const functions = `pg_proc p where p.pronamespace = 'public'::regnamespace
      and has_function_privilege(role, p.oid, 'EXECUTE')`;
    expect(await granted('role', 'p.proname', functions)).toEqual({
      anon: ['current_tiers', 'feature_limit', 'has_feature', 'has_tier_at_least'],
      authenticated: [
        'current_tier',
        'current_tiers',
        'feature_limit',
        'has_feature',
        'has_tier',
        'has_tier_at_least',
      ],
      service_role: words(`apply_gateway_event apply_gateway_subscription apply_invoices apply_order_payments
        apply_order_read apply_settlement apply_settlement_page apply_statement_item apply_statement_page begin_reconciliation cancel_subscription claim_outbox
        claim_payments_to_reconcile claim_settlement_pages claim_statement_pages claim_subscriptions_to_reconcile complete_outbox confirm_stop create_change
        create_order create_subscription discard_order end_reconciliation fail_outbox get_billing_details get_document get_health get_order get_receipt
        get_schema_version get_subscription list_plans list_plans_for_user next_outbox_attempt preview_change purge_records put_billing_details
        resume_subscription store_order store_subscription verify_payment verify_returned_payment verify_subscription`),
    });
  });

  // A default privilege. What is not for the service is revoked beside its definition.
  test('on functions of schema billing: clients only the access of their own, the service all but these', async () => {
    const exceptions = `pg_proc p where p.pronamespace = 'billing'::regnamespace
      and has_function_privilege(role, p.oid, 'EXECUTE') <> (role = 'service_role')`;
    expect(await granted('role', 'p.oid::regprocedure', exceptions)).toEqual({
      anon: ['billing.own_access()', 'billing.tiers_on_offer()'],
      authenticated: ['billing.own_access()', 'billing.tiers_on_offer()'],
      service_role: words(
        `billing.close_month(date) billing.create_profiles() billing.index_names() billing.lock_users() billing.missing_parts()
        billing.replay_event(bytea) billing.requeue(bigint) billing.schedule_faults() billing.schedule_jobs()
        billing.set_up() billing.set_up_support() billing.switch_triggers(text,boolean) billing.wake()`,
      ),
    });
  });

  test('on sequences: none; on schemas: only the service uses billing, and nobody creates objects', async () => {
    const sequences = `pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'S' and n.nspname in ('public', 'billing')
        and has_sequence_privilege(role, c.oid, 'USAGE, SELECT, UPDATE')`;
    expect(await granted('role', 'c.relname', sequences)).toEqual({});
    const schemas = `unnest(array['USAGE', 'CREATE']) privilege cross join pg_namespace n
      where n.nspname in ('public', 'billing') and has_schema_privilege(role, n.oid, privilege)`;
    expect(await granted(`format('%s: %s', role, lower(privilege))`, 'n.nspname', schemas)).toEqual({
      'anon: usage': ['public'],
      'authenticated: usage': ['public'],
      'service_role: usage': ['billing', 'public'],
    });
  });

  test('on a new table of schema public: none', async () => {
    const open =
      "pg_class c where relname = 'new' and has_table_privilege(role, c.oid, 'SELECT, INSERT, UPDATE, DELETE')";
    await database.query('create table public.new (id int)');
    expect(await granted('role', 'c.relname', open)).toEqual({});
    await database.query('drop table public.new');
  });
});

/** One violation of each house rule, and how it is named: a rule that cannot fail checks nothing. */
const offences: Record<string, [sql: string, detail: string]> = {
  'row level security is on for every table': ['create table public.open (id int)', 'table public.open'],
  'every table has a comment': ['create table billing.silent (id int)', 'table billing.silent'],
  'every view but billing.users has the rights of its caller': [
    'create view billing.powerful as select 1 as one',
    'view billing.powerful',
  ],
  'every function of the API has a comment': [
    'create function public.silent() returns int language sql return 1',
    'function silent()',
  ],
  // An empty search_path, too: types and relations would be looked up in the caller's pg_temp first.
  'every function has search_path = pg_catalog, pg_temp': [
    "create function billing.wandering() returns int language sql set search_path = '' return 1",
    'function billing.wandering()',
  ],
  'every function with enable_seqscan = off has jit = off': [
    `create function billing.slow() returns int language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off
     return 1; revoke execute on function billing.slow from public`,
    'function billing.slow()',
  ],
  'no security definer function but own_access and tiers_on_offer is in a schema of the API or callable by a client': [
    'create function billing.powerful() returns int language sql security definer return 1',
    'function billing.powerful()',
  ],
  'no function is executable by public': [
    'create function billing.handy() returns int language sql return 1',
    'function billing.handy()',
  ],
  'every foreign key has an index that starts with its columns': [
    'create table billing.pointing (plan_id uuid constraint pointing_fkey references public.plans (id))',
    'foreign key pointing_fkey of billing.pointing',
  ],
};

test.each(houseRules)('$name; a violation is found', async ({ name, violations }) => {
  expect(await database.query(violations)).toEqual([]);
  const [sql = '', detail] = offences[name] ?? [];
  const session = await database.connect();
  await session.query(`begin; ${sql}`);
  expect((await session.query(violations)).rows).toEqual([{ detail }]);
  await session.query('rollback');
});

test('no index of the ledger contains a column that an event updates', async () => {
  const rows = await database.query(
    `select indexdef from pg_indexes where tablename = 'gateway_events' and indexdef ~ 'outcome|attempts|deliveries|error'`,
  );
  expect(rows).toEqual([]);
});
