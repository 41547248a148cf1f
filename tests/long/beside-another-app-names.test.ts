import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { type AppProject, createAppProject } from '../helpers/database/app-project.ts';
import { createTestDatabase } from '../helpers/database/test-database.ts';

const firstFile = await Deno.readTextFile(`${root}/supabase/schemas/01_schema.sql`);

let app: AppProject;
beforeAll(async () => {
  app = await createAppProject();
  await app.addService();
});
afterAll(() => app.close());

/** The error of the first migration in a database with the objects of an app. The transaction is rolled back. */
async function refusalBeside(sql: string): Promise<string | undefined> {
  const client = await app.database.connect();
  try {
    await client.query('begin');
    await client.query(sql);
    return await client.query(firstFile).then(() => undefined, ({ message }: Error) => message);
  } finally {
    await client.query('rollback');
    await client.end();
  }
}
const sentence = (taken: string) =>
  `Nothing was installed, because the database already has ${taken}: read "Beside another app" in ` +
  'supabase/docs/deployment.md.';

test('the first migration names every table, index, function and type of an installation in schema public', async () => {
  const installation = await createTestDatabase();
  const created = await installation.query(`
    -- Where the app has a table of profiles, ours has the longer name.
    select distinct regexp_replace(o.name, '^profiles', 'subscription_profiles') as name
    from (
      select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace
      union all
      select p.proname from pg_proc p where p.pronamespace = 'public'::regnamespace
      union all
      select t.typname from pg_type t where t.typnamespace = 'public'::regnamespace and t.typrelid = 0 and t.typelem = 0
    ) o (name)
    order by 1`);
  await installation.close();
  const [, list = ''] = /v_names constant text\[\] := array\[(.*?)\]/s.exec(firstFile) ?? [];
  const names = [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name).sort();
  expect(names, 'correct v_names in supabase/schemas/01_schema.sql').toEqual(created.map(({ name }) => name));
});

test('the first migration names every trigger of an installation on auth.users', async () => {
  const installation = await createTestDatabase();
  const created = await installation.query(
    "select tgname as name from pg_trigger where tgrelid = 'auth.users'::regclass and not tgisinternal order by 1",
  );
  await installation.close();
  expect(firstFile).toContain(`t.tgname in (${created.map(({ name }) => `'${name}'`).join(', ')})`);
});

test.each([
  ['create table public.plans (id int primary key)', 'table public.plans, index public.plans_pkey'],
  ['create view public.subscriptions as select 1 as one', 'view public.subscriptions'],
  ["create type public.payments as enum ('card')", 'type public.payments'],
  ['create function public.has_tier(int) returns int language sql return 1', 'function public.has_tier(integer)'],
  ['create table public.subscription_profiles (id int)', 'table public.subscription_profiles'],
  ['create schema billing', 'schema billing'],
  [
    'create table public.payments (id int primary key); alter table public.payments rename to old_payments',
    'index public.payments_pkey',
  ],
  [
    `create function public.create_profile() returns trigger language plpgsql as 'begin return null; end';
     create trigger create_profile after insert on auth.users for each row execute function public.create_profile()`,
    'trigger create_profile on auth.users',
  ],
  [
    'create schema billing; create table public.plans (id int); create table public.payments (id int)',
    'schema billing, table public.payments, table public.plans',
  ],
])('the first migration stops beside `%s`', async (sql, taken) => {
  expect(await refusalBeside(sql)).toBe(sentence(taken));
});

test.each([
  ['a schema private', 'create schema private'],
  ['a table of profiles', 'create table public.profiles (id uuid primary key)'],
  ['a function create_profile', 'create function public.create_profile() returns int language sql return 1'],
  ['our names in another schema', 'create schema shop; create table shop.plans (id int primary key)'],
])('the first migration applies beside %s', async (_, sql) => {
  expect(await refusalBeside(sql)).toBeUndefined();
});

test('db push prints the sentence and applies nothing, and everything once the names are free', async () => {
  const { database } = app;
  await app.add('20250101000000_shop.sql', 'create table public.plans (id int primary key, price int);');
  await expect(app.push()).rejects.toThrow(sentence('table public.plans, index public.plans_pkey'));
  const installed = () =>
    database.one(`
      select
        (select array_agg(version) from supabase_migrations.schema_migrations) as versions,
        (select count(*)::int from pg_namespace where nspname = 'billing') as schemas,
        (select count(*)::int from pg_class where relnamespace = 'public'::regnamespace) as relations,
        (select count(*)::int from pg_trigger where tgrelid = 'auth.users'::regclass and not tgisinternal) as triggers`);
  expect(await installed()).toEqual({ versions: ['20250101000000'], schemas: 0, relations: 2, triggers: 0 });
  await database.query(`
    alter table public.plans rename to shop_plans;
    alter index public.plans_pkey rename to shop_plans_pkey`);
  await app.push();
  expect(await installed()).toMatchObject({ schemas: 1, triggers: 3 });
});

// An index keeps its name when its table is renamed.
test.each([
  ['a view', 'create view public.profiles as select 1 as one'],
  ['an enum', "create type public.profiles as enum ('a')"],
  ['the index of a renamed table', 'create table public.people (id int constraint profiles_pkey primary key)'],
])('profiles of the app can also be %s', async (_, sql) => {
  const tables = await Deno.readTextFile(`${root}/supabase/schemas/02_tables.sql`);
  const own = await createAppProject();
  await own.database.query(sql);
  await own.database.query(firstFile);
  await own.database.query(tables);
  expect(await own.database.one('select billing.profiles_table()::text as name')).toEqual({
    name: 'subscription_profiles',
  });
  await own.close();
});
