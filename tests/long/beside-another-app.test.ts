import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeSchema } from '../../scripts/release/describe-schema.ts';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { type AppProject, createAppProject } from '../helpers/database/app-project.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { createPayment } from '../helpers/records/records.ts';

// A project with the usual starter, a schema private, users, and a migration that is newer than the service's.
const starter = await Deno.readTextFile(new URL('../helpers/database/starter.sql', import.meta.url));
const privateSchema = `
create schema private;
create table private.notes (id int primary key);
create function private.is_owner() returns boolean language sql security definer set search_path = '' return true;
grant usage on schema private to authenticated;`;
const early = crypto.randomUUID();
const nobody = crypto.randomUUID();

let app: AppProject;
let database: TestDatabase;
let before: Row;
let first: { refusal: string; applied: string[] };

/** What the app has: its table of profiles with columns, rights, policies and triggers, and its default privileges. */
const readApp = () =>
  database.one(`
    select
      (select array_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = 'public.profiles'::regclass and a.attnum > 0) as columns,
      (select relacl::text from pg_class where oid = 'public.profiles'::regclass) as rights,
      (select json_agg(p order by p.policyname) from pg_policies p where p.tablename = 'profiles') as policies,
      (select json_agg(t.tgname) from pg_trigger t
        where t.tgrelid = 'public.profiles'::regclass and not t.tgisinternal) as triggers,
      (select json_agg(p.* order by p.id) from public.profiles p) as rows,
      (select json_agg(d.defaclacl order by d.defaclobjtype) from pg_default_acl d
        where d.defaclnamespace = 'public'::regnamespace) as default_rights,
      (select json_agg(p.proname) from pg_proc p where p.pronamespace = 'private'::regnamespace) as functions,
      (select nspacl::text from pg_namespace where nspname = 'private') as schema_rights`);
const appliedVersions = async () =>
  (await database.query('select version from supabase_migrations.schema_migrations order by version'))
    .map(({ version }) => version);
const signUp = async (metadata: unknown, email: string | null, id: string = crypto.randomUUID()) => {
  const values = [id, email, JSON.stringify(metadata)];
  await database.query('insert into auth.users (id, email, raw_user_meta_data) values ($1, $2, $3)', values);
  return id;
};
const denied = 'permission denied';
/** The rows of a statement for a person: a user by id, `anon` or `service_role`; or that it is denied. */
async function rowsFor(person: string, sql: string, values: unknown[] = []): Promise<Row[] | string> {
  const session = await openSession(
    database,
    person === 'anon' || person === 'service_role' ? { role: person } : { role: 'authenticated', userId: person },
  );
  const isDenied = (error: unknown) => Object(error).code === '42501';
  return await session.query(sql, values).then(({ rows }) => rows, (error) => isDenied(error) ? denied : String(error));
}

beforeAll(async () => {
  app = await createAppProject({ findings: {} });
  ({ database } = app);
  await app.add('20250101000000_profiles.sql', starter);
  await app.add('20250101000001_private.sql', privateSchema);
  await app.add('20991201000000_reports.sql', 'create table public.reports (id int primary key);');
  await app.push();
  await signUp({ full_name: 'Early Bird' }, 'early@example.com', early);
  await signUp(null, null, nobody);
  before = await readApp();
  await app.addService();
  const refusal = await app.push().then(() => '', (error: unknown) => String(error));
  expect(await appliedVersions()).toEqual(['20250101000000', '20250101000001', '20991201000000']);
  first = { refusal, applied: await app.push({ includeAll: true }) };
});
afterAll(() => app.close());

describe('db push with migrations of the app', () => {
  test('that are newer than ours asks for --include-all, which applies exactly ours and leaves what the app has', async () => {
    expect(first.refusal).toContain('--include-all');
    expect(first.applied.map((name) => name.slice(0, 14))).toEqual(await migrationVersions());
    expect(before.rows).toHaveLength(2);
    expect(await readApp()).toEqual(before);
    const service = await openSession(database, { role: 'service_role' });
    const newest = (await migrationVersions()).at(-1) ?? '';
    expect(await callRpc(service, 'get_schema_version', newest)).toEqual({ version: newest });
  });

  test('goes on with newer migrations of the app, and applies a later one of ours between them with --include-all', async () => {
    await app.add('20991231000000_later.sql', 'create table public.later (id int primary key);');
    expect(await app.push()).toEqual(['20991231000000_later.sql']);
    await app.add('20991215000000_later_of_ours.sql', 'alter table billing.settings add column later text;');
    await expect(app.push()).rejects.toThrow('--include-all');
    expect(await app.push({ includeAll: true })).toEqual(['20991215000000_later_of_ours.sql']);
    await database.query('alter table billing.settings drop column later');
  });
});

test('rights on our objects are those of a project without default privileges, which the next table of the app has', async () => {
  const plain = await createTestDatabase();
  const rights = async (url: string) =>
    (await withClient(url, describeSchema)).filter((line) => /^(right|policy)/.test(line));
  const expected = await rights(plain.url);
  await plain.close();
  const ofTheApp =
    /^(right on|policy .* on) (column )?(public\.)?(profiles|reports|later|handle_new_user|default in public)\b/;
  const found = (await rights(database.url))
    .filter((line) => !ofTheApp.test(line))
    .map((line) => line.replace('subscription_profiles', 'profiles'));
  expect(found.sort()).toEqual(expected.filter((line) => !line.includes('default in public')).sort());

  await database.query('create table public.notes (id int)');
  for (const person of ['anon', 'service_role', early]) {
    expect(await rowsFor(person, 'insert into public.notes values (1) returning id')).toEqual([{ id: 1 }]);
  }
});

test('users who signed up before the installation are free without a finding, and have a profile after the sweep', async () => {
  const read = async () => ({
    tier: await rowsFor(early, "select public.current_tier() as tier, public.has_tier('free') as free"),
    profiles: await database.query(
      `select user_id, display_name, username, subscription_tier as tier from public.subscription_profiles
       where user_id in ($1, $2) order by username`,
      [early, nobody],
    ),
    findings: await readFindings(database),
    mails: await database.query('select key from billing.outbox'),
  });
  const free = { tier: [{ tier: 'free', free: true }], findings: [], mails: [] };
  expect(await read()).toEqual({ ...free, profiles: [] });
  await database.query('select billing.sweep()');
  // Every part is there, also after the parts are set up again.
  expect(await database.one('select billing.set_up() as missing')).toEqual({ missing: 0 });
  expect(await database.query('select part from billing.missing_parts()')).toEqual([]);
  const profiles = [
    { user_id: early, display_name: 'Early Bird', username: 'early', tier: 'free' },
    { user_id: nobody, display_name: null, username: 'user', tier: 'free' },
  ];
  expect(await read()).toEqual({ ...free, profiles });
});

describe('an app with its own public.profiles', () => {
  let owner: string;
  let stranger: string;
  beforeAll(async () => {
    owner = await signUp({ full_name: 'Asha Rao', avatar_url: 'https://app.example/a.png' }, 'asha@example.com');
    stranger = await signUp({}, 'ravi@example.com');
    const { orderId } = await createPayment(database, { userId: owner });
    const service = await openSession(database, { role: 'service_role' });
    expect(await callRpc(service, 'verify_payment', owner, orderId, `pay_${orderId}`, 'signature'))
      .toMatchObject({ outcome: 'applied', tier: 'pro' });
  });

  test('fills both tables at a sign-up, and greets the buyer by the name of the metadata', async () => {
    expect(await database.query('select full_name, username from public.profiles where id = $1', [owner]))
      .toEqual([{ full_name: 'Asha Rao', username: null }]);
    const ours = `select subscription_tier as tier, display_name as name, username from public.subscription_profiles
      where user_id in ($1, $2) order by username`;
    expect(await database.query(ours, [owner, stranger])).toEqual([
      { tier: 'pro', name: 'Asha Rao', username: 'asha' },
      { tier: 'free', name: null, username: 'ravi' },
    ]);
    const mail = "select payload ->> 'display_name' as name from billing.outbox where kind = 'payment-success'";
    expect(await database.query(mail)).toEqual([{ name: 'Asha Rao' }]);
  });

  const ofOwner = 'public.subscription_profiles where user_id = $1';
  test.each([
    [`select subscription_tier as tier from ${ofOwner}`, [{ tier: 'pro' }], []],
    ["select public.current_tier() as tier, public.has_tier('pro') as pro where $1 <> ''", [
      { tier: 'pro', pro: true },
    ], [{ tier: 'free', pro: false }]],
    ['select user_id from billing.profiles where user_id = $1', denied, denied],
    [
      "update public.subscription_profiles set display_name = 'A. Rao' where user_id = $1 returning username",
      [{ username: 'asha' }],
      [],
    ],
    ["update public.subscription_profiles set subscription_tier = 'premium' where user_id = $1", denied, denied],
  ])('answers its clients by person: %s', async (sql, forOwner, forStranger) => {
    expect(await rowsFor(owner, sql, [owner])).toEqual(forOwner);
    expect(await rowsFor(stranger, sql, [owner])).toEqual(forStranger);
    expect(await rowsFor('anon', sql, [owner])).toBe(denied);
  });

  test('shows support the customer with tier and name', async () => {
    const support = await database.connect();
    await support.query('set role subscriptions_support');
    const { rows } = await support.query("select email, name, tier from billing.search_customers('asha')");
    expect(rows).toEqual([{ email: 'asha@example.com', name: 'A. Rao', tier: 'pro' }]);
  });
});
