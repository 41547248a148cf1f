import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSupportDatabase } from '../../scripts/console/database.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { runSupabase } from '../../scripts/stack/postgres/supabase-cli.ts';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { root } from '../../scripts/stack/root.ts';
import { lockTimeout } from '../../scripts/migration/baseline.ts';
import { netSchema } from '../helpers/database/call-stand-ins.ts';
import { type DebianPostgres, findDebianPostgres, startDebianPostgres } from '../helpers/database/debian-postgres.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { watchPlans } from '../helpers/database/query-plans.ts';
import { openSession } from '../helpers/database/session.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { blocksOf } from '../helpers/documents.ts';
import { localPassword } from '../helpers/project/keys.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';

// Postgres as Debian packages it, which compiles plans, with pg_cron as it comes and an owner who is no superuser.
const found = await findDebianPostgres();
const programs = 'programs' in found ? found.programs : '';
if ('missing' in found) {
  const line = `tests/real is skipped: no Postgres of Debian's packages with its extensions: ${found.missing}`;
  if (Deno.env.get('CI') === 'true') throw new Error(line);
  writeLine(line);
}

describe.skipIf(programs === '')("on a server of Debian's packages", () => {
  let server: DebianPostgres;
  let database: TestDatabase;
  let admin: TestDatabase;
  let applied: string[];
  beforeAll(async () => {
    server = await startDebianPostgres(programs);
    await server.prepare('postgres');
    const lines: string[] = [];
    await migrate({ url: server.url('postgres'), seed: false, log: (line) => void lines.push(line) });
    applied = lines.flatMap((line) => /Applying migration (\d+)_/.exec(line)?.[1] ?? []);
    database = openDatabase(server.url('postgres'));
    admin = openDatabase(server.adminUrl('postgres'), { findings: 'compared elsewhere' });
  });
  afterAll(async () => {
    await database?.close();
    await admin?.close();
    await server?.stop();
  });

  const jobs = async () => await database.query('select jobname, active from cron.job order by 1');
  const scheduled = ['subscriptions-purge-runs', 'subscriptions-reconcile', 'subscriptions-sweep']
    .map((jobname) => ({ jobname, active: true }));

  test('an owner who is no superuser installs all migrations, and nothing is missing', async () => {
    expect(applied).toEqual(await migrationVersions());
    const facts = 'select rolsuper, pg_jit_available() as compiles from pg_roles where rolname = current_user';
    expect(await database.one(facts)).toEqual({ rolsuper: false, compiles: true });
    expect(await jobs()).toEqual(scheduled);
    expect(await readFindings(database)).toEqual([]);
  });

  test('a job that was switched off is a finding, and set_up() makes it again without the right to alter one', async () => {
    await expect(database.query('select cron.alter_job(jobid, active := true) from cron.job'))
      .rejects.toMatchObject({ code: '42501' });
    await admin.query("update cron.job set active = false where jobname = 'subscriptions-sweep'");
    expect(await readFindings(database)).toEqual([['missing_part', 'job subscriptions-sweep (switched off)']]);
    expect(await database.one('select billing.set_up() as missing')).toEqual({ missing: 0 });
    expect(await jobs()).toEqual(scheduled);
    expect(await readFindings(database)).toEqual([]);
  });

  test('plpgsql_check finds no error and no needless variable in any function', async () => {
    const session = await admin.connect();
    // What hosted projects have besides.
    await session.query(`begin; ${netSchema()};
      create schema vault; create table vault.decrypted_secrets (name text, decrypted_secret text)`);
    const { rows } = await session.query(`
      select p.oid::regprocedure::text as function, c.lineno, c.level, c.message
      from pg_proc p
      join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
      cross join lateral extensions.plpgsql_check_function_tb(
        p.oid,
        coalesce((select t.tgrelid from pg_trigger t where t.tgfoid = p.oid limit 1), 0::oid),
        other_warnings => false, performance_warnings => false
      ) c
      where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)`);
    await session.query('rollback');
    expect(rows).toEqual([]);
    const checked = "select count(*)::int as functions from pg_proc where pronamespace = 'billing'::regnamespace";
    expect(Number((await database.one(checked)).functions)).toBeGreaterThan(100);
  });

  test("the platform's advisors have no error and no warning", async () => {
    const report = await runSupabase(
      localPassword,
      ...['db', 'advisors', '--level', 'warn', '--output-format', 'json'],
      `--remote=${server.url('postgres').replace(`:${localPassword}@`, '@')}`,
    );
    expect(JSON.parse(report).results).toEqual([]);
  });

  /** Calls, each with what it is about. The roles' own settings are left out: their functions have to do. */
  const calls: [call: string, prepare: () => Promise<unknown[]>][] = [
    ['select * from billing.findings_of($1)', async () => [(await createUser(database)).id]],
    ['select billing.sweep()', () => Promise.resolve([])],
    ["select public.verify_payment($1, $2, $3, 's')", async () => {
      const { user, orderId, paymentId } = await placeOrder(database);
      return [user.id, orderId, paymentId];
    }],
    ['select public.get_subscription($1)', async () => [(await createUser(database)).id]],
    ["select public.create_order($1, 'pro')", async () => [(await createUser(database)).id]],
    ['select * from billing.customers where user_id = $1', async () => [(await createUser(database)).id]],
    ['select * from billing.findings', () => Promise.resolve([])],
  ];

  test.each(calls)('no plan of %s is compiled', async (call, prepare) => {
    const plans = await watchPlans(admin);
    const read = await plans.of(call, await prepare());
    expect(read).toMatch(/cost=/);
    expect(read).not.toMatch(/^JIT:/m);
    // It can be seen here.
    const compiled = await plans.of(
      '/* of the test */ select count(*) from generate_series(1, 20000000) g where g < 0',
    );
    expect(compiled).toMatch(/^JIT:/m);
  });

  test.each(calls.slice(0, 3))(
    '%s takes at most three times as long as without compiled plans',
    async (call, prepare) => {
      const timeOf = async (session: pg.Client) => {
        const times = [];
        for (let count = 0; count < 21; count += 1) {
          const values = await prepare();
          const startedAt = performance.now();
          await session.query(call, values);
          times.push(performance.now() - startedAt);
        }
        return times.toSorted((one, other) => one - other)[10] ?? NaN;
      };
      const [usual, without] = [await database.connect(), await database.connect()];
      await without.query('set jit = off');
      const [median, reference] = [await timeOf(usual), await timeOf(without)];
      writeLine(`${call}: ${median.toFixed(1)} ms, without compiled plans ${reference.toFixed(1)} ms`);
      expect(median).toBeLessThan(3 * reference);
    },
  );

  test('2,000 rows under a policy are read in less than 0.5 s, also where it asks for each row', async () => {
    const user = await createUser(database);
    await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [user.id]);
    await database.query(`
      create table public.articles as
      select n, case when n % 2 = 0 then 'pro' else 'premium' end as required_tier from generate_series(1, 2000) n;
      alter table public.articles enable row level security;
      grant select on public.articles to authenticated`);
    const guide = (await blocksOf('sql')).filter(({ document }) => document.endsWith('own-plan.md'));
    const [, printed] = /using \((.*current_tiers.*)\)$/m.exec(guide.map(({ code }) => code).join('\n')) ?? [];
    const session = await openSession(database, { role: 'authenticated', userId: user.id });
    for (const condition of [printed, 'public.has_tier_at_least(required_tier)']) {
      await database.query(`create policy "Readers" on public.articles for select using (${condition})`);
      const startedAt = performance.now();
      const { rows } = await session.query('select count(*)::int as read from public.articles');
      const took = performance.now() - startedAt;
      expect(rows).toEqual([{ read: 1000 }]);
      writeLine(`2,000 rows, ${condition}: ${took.toFixed(1)} ms`);
      expect(took).toBeLessThan(500);
      await database.query('drop policy "Readers" on public.articles');
    }
    await database.query('drop table public.articles');
    await database.query("update public.profiles set subscription_tier = 'free' where user_id = $1", [user.id]);
  });

  describe.each<[string, hold: () => Promise<() => Promise<unknown>>]>([
    ['a long reader', async () => {
      const session = await database.connect();
      await session.query('begin; select count(*) from billing.sources');
      return () => session.query('commit');
    }],
    ['pg_dump', async () => {
      const dump = new Deno.Command(`${programs}/pg_dump`, {
        args: ['--schema=billing', '--schema=public', server.url('postgres')],
        stdout: 'piped',
      }).spawn();
      // It has locked all tables and waits for a reader of its output.
      await repeatUntil('pg_dump holds its locks', 10_000, async () => {
        const locks = `select count(*)::int as held from pg_locks l join pg_stat_activity a using (pid)
          where a.application_name = 'pg_dump' and l.relation = 'billing.outbox'::regclass and l.granted`;
        return (await database.one(locks)).held === 1;
      });
      return () => new Response(dump.stdout).text().then(() => dump.status);
    }],
  ])('behind %s', (_, hold) => {
    test('a push gives up before a request does, and succeeds when it is repeated', async () => {
      const folder = await Deno.makeTempDir({ prefix: 'push-' });
      await copyTo(folder, 'supabase/config.toml', 'supabase/migrations');
      const { view } = await database.one("select pg_get_viewdef('billing.sources'::regclass) as view");
      const version = String(Number((await newestVersion()) ?? 0) + 1);
      const sql = `${lockTimeout}
        create or replace view billing.sources with (security_invoker = true) as ${view}`;
      await Deno.writeTextFile(`${folder}/supabase/migrations/${version}_again.sql`, sql);
      const lines: string[] = [];
      const push = () =>
        migrate({ url: server.url('postgres'), seed: false, folder, log: (line) => void lines.push(line) });
      const session = await database.connect();
      await session.query("set lock_timeout = '3s'");
      const release = await hold();
      try {
        const pushed = push().then(() => 'pushed', () => lines.join('\n'));
        let [isOver, longest] = [false, 0];
        void pushed.then(() => isOver = true);
        while (!isOver) {
          const startedAt = performance.now();
          await session.query('select count(*) from billing.find_ruling(gen_random_uuid())');
          longest = Math.max(longest, performance.now() - startedAt);
        }
        expect(await pushed).toContain('lock timeout');
        // A request waited for the push.
        expect(longest).toBeGreaterThan(1000);
        expect(longest).toBeLessThan(3000);
      } finally {
        await release();
      }
      await push();
      expect(await newestVersion()).toBe(version);
      await database.query('delete from supabase_migrations.schema_migrations where version = $1', [version]);
      await Deno.remove(folder, { recursive: true });
    });
  });
  const newestVersion = async () =>
    (await database.one('select max(version) as version from supabase_migrations.schema_migrations')).version;

  test('a dump restored into a new database works after set_up()', async () => {
    const dump = await run('pg_dump', '--schema=billing', '--schema=public', server.url('postgres'));
    const users = await run('pg_dump', '--data-only', '--table=auth.users', server.adminUrl('postgres'));
    await server.prepare('restored');
    // As the platform's guide does: what is there already, and what needs an extension, fails alone.
    await restore(server.adminUrl('restored'), users);
    await restore(server.url('restored'), dump);
    const restored = openDatabase(server.url('restored'), { findings: { missing_part: 1 } });
    const cron = ['missing_part', 'extension pg_cron'];
    const lost = ['create_profile', 'note_deleted_user', 'settle_new_user'].map((name) =>
      `trigger ${name} on auth.users`
    );
    expect(await readFindings(restored)).toEqual([
      cron,
      ...['index of names', ...lost].map((part) => ['missing_part', part]),
    ]);
    // pg_cron runs in one database of a server.
    expect(await restored.one('select billing.set_up() as missing')).toEqual({ missing: 1 });
    expect(await readFindings(restored)).toEqual([cron]);
    const purchase = await placeOrder(restored);
    const session = await openSession(restored, { role: 'service_role' });
    expect(await verifyPurchase(session, purchase)).toMatchObject({ outcome: 'applied' });
    const profile = 'select subscription_tier as tier from public.profiles where user_id = $1';
    expect(await restored.one(profile, [purchase.user.id])).toEqual({ tier: 'pro' });
    await restored.close();
  });

  test('the role of direct connections and the console compile nothing', async () => {
    await withClient(server.url('postgres'), setPoolPassword);
    const url = new URL(server.url('postgres'));
    [url.username, url.password] = ['subscriptions_api', 'pool role of the tests'];
    await withClient(url.href, async (client) => {
      expect((await client.query('show jit')).rows).toEqual([{ jit: 'off' }]);
    });
    // A login of support does not have the settings of the role that it is in.
    await database.query(`create role support_asha login password '${localPassword}' in role subscriptions_support`);
    [url.username, url.password] = ['support_asha', localPassword];
    await withClient(url.href, async (client) => {
      expect((await client.query('show jit')).rows).toEqual([{ jit: 'on' }]);
    });
    const console = createSupportDatabase(url.href);
    expect(await console.read("select current_setting('jit') as jit")).toEqual([{ jit: 'off' }]);
    console.close();
  });

  test('pg_cron runs the jobs each minute', async () => {
    const runs = `select distinct j.jobname, d.status from cron.job j join cron.job_run_details d using (jobid)
      where d.end_time is not null and j.jobname in ('subscriptions-sweep', 'subscriptions-reconcile') order by 1`;
    // A minute and a half.
    await repeatUntil('both jobs ran', 900, async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return (await database.query(runs)).length >= 2;
    });
    expect(await database.query(runs)).toEqual([
      { jobname: 'subscriptions-reconcile', status: 'succeeded' },
      { jobname: 'subscriptions-sweep', status: 'succeeded' },
    ]);
    expect(await database.one("select done_at is not null as is_done from billing.scheduled_jobs where name = 'sweep'"))
      .toEqual({ is_done: true });
  });
});

async function run(program: 'pg_dump' | 'psql', ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(`${programs}/${program}`, { args }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

async function restore(url: string, dump: string): Promise<void> {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, dump);
  await run('psql', '--quiet', `--file=${file}`, url);
  await Deno.remove(file);
}

/** Copies files and folders of the project. */
async function copyTo(folder: string, ...paths: string[]): Promise<void> {
  await Deno.mkdir(`${folder}/supabase`);
  for (const path of paths) {
    const { success } = await new Deno.Command('cp', { args: ['-r', `${root}/${path}`, `${folder}/${path}`] }).output();
    if (!success) throw new Error(`${path} was not copied`);
  }
}
