import { afterAll, beforeAll, expect, test } from 'vitest';
import { houseRules } from '../../scripts/house-rules.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

/** One violation of each rule: a rule that cannot fail checks nothing. */
const offences: Record<string, { sql: string; detail: string }> = {
  'row level security is on for every table': {
    sql: 'create table public.open (id int)',
    detail: 'table public.open',
  },
  'every table has a comment': {
    sql: 'create table billing.silent (id int)',
    detail: 'table billing.silent',
  },
  'every view but billing.users has the rights of its caller': {
    sql: 'create view billing.powerful as select 1 as one',
    detail: 'view billing.powerful',
  },
  'every function of the API has a comment': {
    sql: 'create function public.silent() returns int language sql return 1',
    detail: 'function silent()',
  },
  // An empty search_path, too: types and relations would be looked up in the caller's pg_temp first.
  'every function has search_path = pg_catalog, pg_temp': {
    sql: "create function billing.wandering() returns int language sql set search_path = '' return 1",
    detail: 'function billing.wandering()',
  },
  'no security definer function is in a schema of the API or callable by a client': {
    sql: 'create function billing.powerful() returns int language sql security definer return 1',
    detail: 'function billing.powerful()',
  },
  'no function is executable by public': {
    sql: 'create function billing.handy() returns int language sql return 1',
    detail: 'function billing.handy()',
  },
  'every foreign key has an index that starts with its columns': {
    sql: 'create table billing.pointing (plan_id uuid constraint pointing_fkey references public.plans (id))',
    detail: 'foreign key pointing_fkey of billing.pointing',
  },
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test.each(houseRules)('$name', async ({ violations }) => {
  expect(await database.query(violations)).toEqual([]);
});

test.each(houseRules)(
  'a violation is found: $name',
  async ({ name, violations }) => {
    const offence = offences[name];
    const session = await database.connect();
    await session.query('begin');
    await session.query(offence?.sql ?? '');
    const { rows } = await session.query(violations);
    await session.query('rollback');
    expect(rows).toEqual([{ detail: offence?.detail }]);
  },
);
