import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { schemaFiles } from '../../scripts/migration/baseline.ts';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { root } from '../../scripts/stack/root.ts';
import { type AppProject, createAppProject } from '../helpers/database/app-project.ts';

const users = 30_000;

let app: AppProject;
/** The milliseconds that each update of a user took meanwhile, and that the whole took. */
const waits = { migrations: { each: [] as number[], whole: 0 }, sweep: { each: [] as number[], whole: 0 } };
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
  // The push waits for this transaction. It holds the lock of a vacuum, which does not block updates.
  const vacuum = await database.connect();
  await vacuum.query('begin; lock table auth.users in share update exclusive mode');
  await whileUpdating(waits.migrations, async () => {
    const pushed = app.push();
    // They do not queue for the lock, so that updates go on.
    expect(await vi.waitUntil(waitOfPush, { timeout: 60_000 })).toBe('PgSleep');
    const { length } = waits.migrations.each;
    await vi.waitUntil(() => waits.migrations.each.length >= length + 20, { timeout: 60_000 });
    await vacuum.query('rollback');
    await pushed;
  });
  expect(await database.query('select from billing.profiles')).toEqual([]);
  await whileUpdating(waits.sweep, () => database.query(sweep));
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

/** Updates a user every 10 ms on another connection while `work` runs, as sign-ins do. */
async function whileUpdating(waits: { each: number[]; whole: number }, work: () => Promise<unknown>): Promise<void> {
  const begin = performance.now();
  const client = await app.database.connect();
  const { rows: [user] } = await client.query('select id from auth.users order by id desc limit 1');
  let isDone = false;
  const updating = (async () => {
    while (!isDone) {
      const start = performance.now();
      await client.query('update auth.users set last_sign_in_at = now() where id = $1', [user.id]);
      waits.each.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  await work().finally(() => isDone = true);
  await updating;
  waits.whole = performance.now() - begin;
}

// On an idle machine it is about 30 ms. On a busy one each part of the work takes longer, and so does the whole.
test.each(['migrations', 'sweep'] as const)(
  `the %s of ${users} users block no update of a user for a fifth of their time`,
  (name) => {
    const { each, whole } = waits[name];
    expect(each.length).toBeGreaterThan(10);
    expect(Math.max(...each)).toBeLessThan(whole / 5);
  },
);

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

test('the sweep creates the profile of each user in batches of 1,000, without side effects', async () => {
  const row = await app.database.one(`
    select count(*)::int as profiles, count(distinct p.xmin::text)::int as batches,
      count(*) filter (where p.display_name = initcap(replace(p.username, '-', ' ')))::int as named,
      (select count(*)::int from billing.outbox) + (select count(*)::int from billing.tier_changes) as side_effects
    from public.profiles p`);
  expect(row).toEqual({ profiles: users, batches: users / 1000, named: users, side_effects: 0 });
});

test('after the last batch the sweep does not read auth.users, and a sign-up creates its own profile', async () => {
  const { database } = app;
  const until = await database.one("select profiled_until from billing.scheduled_jobs where name = 'sweep'");
  expect(until).toEqual({ profiled_until: null });
  const [other, client] = [await database.connect(), await database.connect()];
  await other.query('begin; lock table auth.users in access exclusive mode');
  await client.query("set lock_timeout = '1s'");
  expect((await client.query('select billing.create_profiles() as users')).rows).toEqual([{ users: 0 }]);
  await other.query('rollback');
  await database.query("insert into auth.users (id, email) values (gen_random_uuid(), 'late@example.com')");
  expect(await database.query("select username from public.profiles where username = 'late'")).toHaveLength(1);
});
