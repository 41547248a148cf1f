import { expect, test } from 'vitest';
import { takenNames } from '../../scripts/add/taken-names.ts';
import { createAppFolder, expectCode } from './app-folder.ts';

/** What the installer prints about an app with these files. */
async function addTo(files: Readonly<Record<string, string>>, ...args: string[]) {
  const app = await createAppFolder(files);
  const before = await app.state();
  const outcome = await app.add(args);
  const after = await app.state();
  const config = await app.read('supabase/config.toml');
  await app.remove();
  return { outcome, config, paths: Object.keys(after), isUnchanged: JSON.stringify(after) === JSON.stringify(before) };
}

test('a table subscriptions of the app → 1 with the way out, and nothing is written', async () => {
  const { outcome, isUnchanged } = await addTo({
    'supabase/migrations/20250101000000_shop.sql': 'create table subscriptions (id int primary key);',
  });
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain('add    supabase/migrations/20261122000001_schema.sql');
  expect(outcome.stdout).toContain(
    'table public.subscriptions is created by supabase/migrations/20250101000000_shop.sql. Way out: rename it there, or ' +
      'in a migration older than 20261122000001_schema.sql, such as `alter table public.subscriptions rename to ' +
      'app_subscriptions`, and its indexes, which keep their names.',
  );
  expect(isUnchanged).toBe(true);
});

test('a materialized view with a name of ours → 1, and the way out is a statement that runs', async () => {
  const { outcome } = await addTo({
    'supabase/migrations/20250101000000_shop.sql': 'create materialized view public.payments as select 1;',
  });
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain('`alter materialized view public.payments rename to app_payments`.');
});

test('a function api of the app → 1 with the way out, and --function billing installs beside it', async () => {
  const files = { 'supabase/functions/api/index.ts': 'Deno.serve(() => new Response());\n' };
  const { outcome, isUnchanged } = await addTo(files);
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain(
    'supabase/functions/api is a function of the app. Way out: give ours another name ' +
      'with `--function billing`.',
  );
  expect(isUnchanged).toBe(true);

  const billing = await addTo(files, '--function', 'billing');
  expectCode(billing.outcome, 0);
  expect(billing.config).toMatch(/^\[functions\.billing\]\n[^[]*^verify_jwt = false$/m);
  const inFunctions = billing.paths.filter((path) => path.startsWith('supabase/functions/api/'));
  expect(inFunctions).toEqual(['supabase/functions/api/index.ts']);
  expect(billing.paths).toContain('supabase/functions/billing/index.ts');
});

test('a migration with a version of ours, and a file under a path of ours → 1, each with its way out', async () => {
  const { outcome } = await addTo({
    'supabase/migrations/20261122000002_notes.sql': 'create table public.notes (id int primary key);',
    'supabase/client/subscriptions.ts': 'export {};\n',
  });
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain(
    '20261122000002_notes.sql has the version of ours, 20261122000002_plans.sql. Way out: rename the file',
  );
  expect(outcome.stdout).toContain('supabase/client/subscriptions.ts is a file of the app. Way out: move it');
});

test('verify_jwt = true for our function → 1, and the section without it gets the line', async () => {
  const app = await createAppFolder();
  const config = await app.read('supabase/config.toml');
  await app.write('supabase/config.toml', `${config}\n[functions.api]\nverify_jwt = true\n`);
  const outcome = await app.add();
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain('functions.api of supabase/config.toml does not have `verify_jwt = false`');
  await app.write('supabase/config.toml', `${config}\n[functions.api]\nenabled = true\n\n[other]\n`);
  expectCode(await app.add(), 0);
  expect(await app.read('supabase/config.toml')).toBe(
    `${config}\n[functions.api]\nenabled = true\nverify_jwt = false\n\n[other]\n`,
  );
  await app.remove();
});

test('a younger migration of the app → 0, and the output names --include-all', async () => {
  const { outcome } = await addTo({
    'supabase/migrations/20990101000000_notes.sql': 'create table public.notes (id int primary key);',
  });
  expectCode(outcome, 0);
  expect(outcome.stdout).toContain('20990101000000_notes.sql is younger than ours: push with --include-all.');
});

test('a younger migration with a table of profiles → 1: in a new database ours has the name', async () => {
  const { outcome } = await addTo({
    'supabase/migrations/20990101000000_users.sql': 'create table if not exists public.profiles (id uuid primary key);',
  });
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain(
    'table public.profiles is created by supabase/migrations/20990101000000_users.sql: in a new database ours has the ' +
      'name by then. Way out: rename the file to a version older than 20261122000001_schema.sql; where it is applied,',
  );
});

const ours = [{
  file: '20260101000000_ours.sql',
  sql: `create schema billing; create table public.plans (id int); create view public.offers as select 1;
    create function public.has_tier() returns int language sql return 1;
    create table public.subscription_profiles (id int); create index plans_idx on public.plans (id);`,
}];
const older = '20250101000000_app.sql';

test.each<[sql: string, taken: string[]]>([
  ['create table if not exists "public"."plans" (id int)', ['table public.plans']],
  ['CREATE OR REPLACE VIEW plans AS SELECT 1', ['view public.plans']],
  ['create function has_tier(int) returns int language sql return 1', ['function public.has_tier']],
  ['create materialized view public.offers as select 1', ['materialized view public.offers']],
  ['create schema if not exists billing', ['schema billing']],
  ['create index plans_idx on notes (id)', ['index public.plans_idx']],
  ['create table public.notes (id int); alter table notes rename to plans', ['table public.plans']],
  // Not taken
  ['create table public.profiles (id int)', []],
  ['create table shop.plans (id int); create index plans_idx on shop.plans (id)', []],
  ['create table "Plans" (id int)', []],
  ['create temp table plans (id int)', []],
  ['-- create table plans (id int);\n/* create schema billing; */ select 1', []],
  [`comment on table notes is 'create table plans (id int);'; select 'create schema billing'`, []],
  ["do $$ begin execute 'create table public.plans (id int)'; end $$", []],
  ['create table public.plans (id int); alter table if exists public.plans rename to app_plans', []],
  ['create table plans (id int); alter table plans set schema shop', []],
  [
    'create table plans (id int); create view offers as select 1; drop view offers; drop table if exists notes, plans',
    [],
  ],
  ['create schema billing; alter schema billing rename to plans', []],
  ['create function has_tier(int) returns int language sql return 1; drop function public.has_tier(int)', []],
])('beside `%s` the taken names are %j', (sql, taken) => {
  expect(takenNames([{ file: older, sql }], ours).map(({ object }) => object)).toEqual(taken);
});

test('a name that only a younger migration frees is taken: a new database has our object by then', () => {
  const create = { file: older, sql: 'create table plans (id int)' };
  const free = (file: string) => takenNames([create, { file, sql: 'alter table plans rename to app_plans' }], ours);
  expect(free('20250102000000_free.sql')).toEqual([]);
  expect(free('20270101000000_free.sql')).toEqual([{ object: 'table public.plans', file: older }]);
});

test('a name that a younger migration creates is taken, with the file that creates it', () => {
  const file = '20270101000000_late.sql';
  expect(takenNames([{ file, sql: 'create table if not exists plans (id int)' }], ours))
    .toEqual([{ object: 'table public.plans', file }]);
});
