import { beforeAll, expect, test } from 'vitest';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { createUser } from '../helpers/records/records.ts';

const database = useDatabase();
let id: string;
beforeAll(async () => {
  ({ id } = await createUser(database));
});

test('no constraint names a tier', async () => {
  const named = `select conname from pg_constraint where pg_get_constraintdef(oid) ~* '(basic|pro|premium|free)\\M'`;
  expect(await database.query(named)).toEqual([]);
});

test('a day is 24 hours in each time zone: no function and no view adds calendar days to a period', async () => {
  const added = `select name from (
      select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as text
      from pg_proc p where p.pronamespace in ('billing'::regnamespace, 'public'::regnamespace) and p.prokind = 'f'
      union all
      select c.oid::regclass::text, pg_get_viewdef(c.oid)
      from pg_class c where c.relnamespace = 'billing'::regnamespace and c.relkind = 'v'
    ) d where d.text ~ 'make_interval\\(\\s*days' and d.name !~ 'purge_'`;
  expect(await database.query(added)).toEqual([]);
  await database.query('update public.plans set grace_days = 3 where tier = $1', ['pro']);
  const lapses = `select lapses_at at time zone 'UTC' as at from billing.sources where user_id = $1`;
  await database.at('2026-02-06T12:00:00Z');
  const customer = await database.customer();
  await database.query("update public.plans set duration_months = 1 where tier = 'pro'");
  await customer.buy('pro');
  const session = await database.connect();
  // Daylight saving begins on 8 March.
  await session.query("set timezone = 'America/New_York'");
  const { rows: [there] } = await session.query(lapses, [customer.id]);
  expect(there).toEqual(await database.one(lapses, [customer.id]));
});

const payment = 'insert into public.payments (user_id, amount, gateway_order_id, gateway_payment_id)';
const plan = "insert into public.plans (tier, name, price, gateway_plan_id) values ('one', 'One', 100, 'plan_one')";
test.each([
  ['payments_gateway_order_id_key', `${payment} values ($1, 1, 'order_one', null)`],
  ['payments_gateway_payment_id_key', `${payment} values ($1, 1, null, 'pay_one')`],
  [
    'subscriptions_user_id_key',
    "insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')",
  ],
  ['plans_tier_key', plan.replace('plan_one', 'plan_other').replace('$1', '')],
  ['plans_gateway_plan_id_key', plan.replace("'one', 'One'", "'other', 'Other'")],
])('%s refuses a second row: %s', async (constraint, insert) => {
  const session = await database.connect();
  const parameters = insert.includes('$1') ? [id] : [];
  await session.query('begin');
  if (insert.includes('plans')) await session.query(plan);
  else await session.query(insert, parameters);
  await expect(session.query(insert, parameters)).rejects.toMatchObject({ code: '23505', constraint });
  await session.query('rollback');
});

test.each([
  ['a negative amount', 'payments', 'amount = -1'],
  ['a negative refund', 'payments', 'refunded_amount = -1'],
  ['a length of 0 months', 'payments', 'duration_months = 0'],
  ['a currency in lower case', 'payments', "currency = 'inr'"],
  ['an unknown status', 'payments', "status = 'paid'"],
  ['an unknown status', 'subscriptions', "status = 'expired'"],
  ['a negative price', 'plans', 'price = -1'],
  ['a negative duration', 'plans', 'duration_months = -1'],
  ['negative days of grace', 'plans', 'grace_days = -1'],
])('%s is refused in %s', async (_, table, assignment) => {
  const session = await database.connect();
  await session.query('begin');
  await session.query(`${payment} values ('${id}', 1, null, null), ('${id}', 1, null, null)`);
  await session.query(`insert into public.subscriptions (user_id, tier, status) values ('${id}', 'pro', 'cancelled')`);
  await expect(session.query(`update public.${table} set ${assignment}`)).rejects.toMatchObject({ code: '23514' });
  await session.query('rollback');
});

test('get_schema_version returns the newest version that is applied and not newer than the caller’s', async () => {
  const newest = (await migrationVersions()).at(-1) ?? '';
  const versionFor = async (version: string) => (await database.rpc('get_schema_version', version)).version;
  await database.query("insert into supabase_migrations.schema_migrations (version, name) values ('2999', 'reports')");
  expect(await versionFor(newest)).toBe(newest);
  expect(await versionFor('29981231000000')).toBe(newest);
  expect(await versionFor('20000101000000')).toBeNull();
  // Without the history of the CLI.
  await database.query('drop schema supabase_migrations cascade');
  expect(await versionFor(newest)).toBeNull();
});
