import type pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { schemaFiles } from '../../scripts/migration/baseline.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { root } from '../../scripts/stack/root.ts';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { type AppProject, createAppProject } from '../helpers/database/app-project.ts';

const users = 100_000;

type Waits = { longest: number; updates: number };

let app: AppProject;
/** The push waits for this transaction. It holds the lock of a vacuum, which does not block updates. */
let vacuum: pg.Client;
let waitsFor: unknown;
let installation: Waits;
let profiles: Waits;
beforeAll(async () => {
  app = await createAppProject({ findings: {} });
  const { database } = app;
  await database.query(
    `insert into auth.users (id, email, raw_user_meta_data)
     select gen_random_uuid(), 'user-' || n || '@example.com', jsonb_build_object('full_name', 'User ' || n)
     from generate_series(1, $1::int) n`,
    [users],
  );
  await database.query('vacuum analyze auth.users');
  await app.addService();
  vacuum = await database.connect();
  await vacuum.query('begin; lock table auth.users in share update exclusive mode');
  installation = await whileUpdating(() => app.push(), async (waits) => {
    waitsFor = await vi.waitUntil(waitOfPush, { timeout: 60_000 });
    const { length } = waits;
    await vi.waitUntil(() => waits.length >= length + 20, { timeout: 60_000 });
    await vacuum.query('rollback');
  });
  expect(await database.query('select from billing.profiles')).toEqual([]);
  profiles = await whileUpdating(() => database.query(sweep));
}, 600_000);
afterAll(() => app.close());

/** What the migrations wait for, if they wait: PgSleep, or a kind of lock. */
async function waitOfPush(): Promise<unknown> {
  const [row] = await app.database.query(`
    select a.wait_event from pg_stat_activity a
    where a.datname = current_database()
      and a.pid <> pg_backend_pid()
      and (a.wait_event = 'PgSleep' or a.wait_event_type = 'Lock' and a.query not like 'update auth.users%')`);
  return row?.wait_event;
}

/**
 * Updates a user every 10 ms on another connection while `work` runs, as sign-ins do. `meanwhile` gets the milliseconds that
 * each update took.
 */
async function whileUpdating(
  work: () => Promise<unknown>,
  meanwhile: (waits: readonly number[]) => Promise<void> = () => Promise.resolve(),
): Promise<Waits> {
  const client = await app.database.connect();
  const { rows } = await client.query('select id from auth.users order by id desc limit 1');
  const waits: number[] = [];
  let isDone = false;
  const updates = async () => {
    while (!isDone) {
      const start = performance.now();
      await client.query('update auth.users set last_sign_in_at = now() where id = $1', [rows[0].id]);
      waits.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const working = Promise.all([work(), meanwhile(waits)]).finally(() => isDone = true);
  await Promise.all([working, updates()]);
  return { longest: Math.round(Math.max(...waits)), updates: waits.length };
}

// On an idle machine it is about 30 ms, and 110 ms with a million users.
test.for(
  [
    ['the migrations', () => installation],
    ['the sweep that creates the profiles', () => profiles],
  ] as const,
)(`%s of a project with ${users} users block no update of a user for a second`, ([name, of]) => {
  writeLine(`${name}: the longest of ${of().updates} updates of a user took ${of().longest} ms`);
  expect(of().updates).toBeGreaterThan(10);
  expect(of().longest).toBeLessThan(1000);
});

test('the migrations do not queue for the lock during a vacuum, so that updates go on', () => {
  expect(waitsFor).toBe('PgSleep');
});

test('each file locks auth.users before its first foreign key or trigger there', async () => {
  const files = await Promise.all((await schemaFiles()).map(async (name) => {
    const sql = await Deno.readTextFile(`${root}/supabase/schemas/${name}`);
    const needs = sql.search(/references auth\.users|^create trigger[^;]* on auth\.users/m);
    return { name, needs, locks: sql.indexOf('\nselect billing.lock_users();') };
  }));
  const needing = files.filter(({ needs }) => needs >= 0);
  expect(needing.length).toBeGreaterThan(3);
  expect(needing.filter(({ needs, locks }) => locks < 0 || locks > needs)).toEqual([]);
});

test('a role that may not lock auth.users is not refused', async () => {
  const client = await app.database.connect();
  await client.query('begin; grant execute on function billing.lock_users() to service_role; set role service_role');
  await expect(client.query('lock table auth.users in share row exclusive mode')).rejects.toMatchObject({
    code: '42501',
  });
  await client.query(
    'rollback; begin; grant execute on function billing.lock_users() to service_role; set role service_role',
  );
  await expect(client.query('select billing.lock_users()')).resolves.toBeDefined();
  await client.query('rollback');
});

test('the sweep creates the profile of each user in batches of 1,000, without side effects', async () => {
  expect(
    await app.database.one(`
      select count(*)::int as profiles, count(distinct p.xmin::text)::int as batches,
        count(*) filter (where p.display_name = initcap(replace(p.username, '-', ' ')))::int as named,
        (select count(*)::int from billing.outbox) + (select count(*)::int from billing.tier_changes) as side_effects
      from public.profiles p`),
  ).toEqual({ profiles: users, batches: users / 1000, named: users, side_effects: 0 });
});

test('after the last batch the sweep does not read auth.users, and a sign-up creates its own profile', async () => {
  const { database } = app;
  expect(await database.one("select profiled_until from billing.scheduled_jobs where name = 'sweep'"))
    .toEqual({ profiled_until: null });
  const other = await database.connect();
  await other.query('begin; lock table auth.users in access exclusive mode');
  const client = await database.connect();
  await client.query("set lock_timeout = '1s'");
  expect((await client.query('select billing.create_profiles() as users')).rows).toEqual([{ users: 0 }]);
  await other.query('rollback');
  await database.query("insert into auth.users (id, email) values (gen_random_uuid(), 'late@example.com')");
  expect(await database.query("select username from public.profiles where username = 'late'")).toHaveLength(1);
});
