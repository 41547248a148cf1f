import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { type AppProject, createAppProject } from '../helpers/database/app-project.ts';
import { createTestDatabase } from '../helpers/database/test-database.ts';

const firstFile = await Deno.readTextFile(`${root}/supabase/schemas/01_base/01_schema.sql`);

let app: AppProject;
beforeAll(async () => {
  app = await createAppProject();
  await app.addService();
});
afterAll(() => app.close());

/** Applies files to a database with the objects of an app, reads, and rolls back. @returns the row, or the error */
async function beside(sql: string, files: readonly string[] = [firstFile], read = 'select 1 as one') {
  const client = await app.database.connect();
  try {
    await client.query('begin');
    await client.query(sql);
    for (const file of files) await client.query(file);
    return (await client.query(read)).rows[0];
  } catch (error) {
    return error instanceof Error ? error.message : error;
  } finally {
    await client.query('rollback');
    await client.end();
  }
}
const sentence = (taken: string) =>
  `Nothing was installed, because the database already has ${taken}: read "Beside another app" in ` +
  'supabase/docs/deployment.md.';

test('the first migration names every object of an installation in schema public, and every trigger on auth.users', async () => {
  const installation = await createTestDatabase();
  const names = async (sql: string) => (await installation.query(sql)).map(({ name }) => name);
  const created = await names(`
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
  const triggers = await names(
    "select tgname as name from pg_trigger where tgrelid = 'auth.users'::regclass and not tgisinternal order by 1",
  );
  await installation.close();
  const [, list = ''] = /v_names constant text\[\] := array\[(.*?)\]/s.exec(firstFile) ?? [];
  const known = [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name).sort();
  expect(known, 'correct v_names in supabase/schemas/01_base/01_schema.sql').toEqual(created);
  expect(firstFile).toContain(`t.tgname in (${triggers.map((name) => `'${name}'`).join(', ')})`);
});

test.each([
  // An index keeps its name when its table is renamed.
  [
    'create table public.payments (id int primary key); alter table public.payments rename to old_payments',
    'index public.payments_pkey',
  ],
  [
    `create view public.subscriptions as select 1 as one; create function public.has_tier(int) returns int language sql return 1`,
    'function public.has_tier(integer), view public.subscriptions',
  ],
  [
    `create function public.create_profile() returns trigger language plpgsql as 'begin return null; end';
     create trigger create_profile after insert on auth.users for each row execute function public.create_profile()`,
    'trigger create_profile on auth.users',
  ],
  [
    `create schema billing; create table public.subscription_profiles (id int); create type public.payments as enum ('card')`,
    'schema billing, type public.payments, table public.subscription_profiles',
  ],
])('the first migration stops beside `%s`', async (sql, taken) => {
  expect(await beside(sql)).toBe(sentence(taken));
});

test('the first migration applies beside a schema private, a function create_profile, and our names in another schema', async () => {
  const others = `create schema private; create schema shop; create table shop.plans (id int primary key);
    create function public.create_profile() returns int language sql return 1`;
  expect(await beside(others)).toEqual({ one: 1 });
});

test('profiles of the app can be a view', async () => {
  const tables = (await Promise.all(
    ['02_catalogue/01_plans.sql', '03_customers/01_profiles.sql'].map((file) =>
      Deno.readTextFile(`${root}/supabase/schemas/${file}`)
    ),
  )).join('\n');
  const read = 'select billing.profiles_table()::text as name';
  expect(await beside('create view public.profiles as select 1 as one', [firstFile, tables], read))
    .toEqual({ name: 'subscription_profiles' });
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
  await database.query('alter table public.plans rename to shop_plans');
  await database.query('alter index public.plans_pkey rename to shop_plans_pkey');
  await app.push();
  expect(await installed()).toMatchObject({ schemas: 1, triggers: 3 });
});
