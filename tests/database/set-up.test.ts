import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { startHostedPostgres } from '../helpers/database/hosted-postgres.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { isLong } from '../helpers/project/suite.ts';
import { createUser } from '../helpers/records/records.ts';

let database: TestDatabase;

/** Starts a hosted project for the tests of the surrounding block. They leave `missing` findings of missing parts. */
function useHosted(missing: number, options: Parameters<typeof startHostedPostgres>[0] = {}): void {
  let stop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const postgres = await startHostedPostgres(options);
    stop = () => postgres.stop();
    await prepareDatabase(postgres.url);
    database = openDatabase(postgres.url, { findings: { missing_part: missing } });
    await migrate({ url: postgres.url, seed: false, log: () => {} });
    await fillVault();
  });
  afterAll(async () => {
    await database.close();
    await stop?.();
  });
}

const setUp = async () => (await database.one('select billing.set_up() as missing')).missing;
const fillVault = () =>
  database.query(`
    select vault.create_secret('https://project.test/functions/v1', 'subscriptions_url'),
      vault.create_secret('k', 'subscriptions_internal_key')`);
const jobs = async () =>
  (await database.query("select jobname from cron.job where jobname like 'subscriptions-%' order by 1"))
    .map(({ jobname }) => String(jobname));
const calls = () =>
  database.query('select url, body, headers, timeout_milliseconds as timeout from net.http_request_queue');
const secrets = ['Vault secret subscriptions_internal_key', 'Vault secret subscriptions_url'];
const missing = (...parts: string[]) => parts.map((part) => ['missing_part', part]);

describe('on a hosted project', () => {
  useHosted(0);

  test('the migrations install the extensions where they are available; another run changes nothing', async () => {
    const extensions = "select extname from pg_extension where extname like 'pg!_%' escape '!' order by 1";
    expect((await database.query(extensions)).map(({ extname }) => extname)).toEqual(['pg_cron', 'pg_net', 'pg_trgm']);
    const schema =
      "select nspname from pg_namespace n join pg_extension e on e.extnamespace = n.oid and extname = 'pg_net'";
    expect(await database.one(schema)).toEqual({ nspname: 'extensions' });
    expect(await readFindings(database)).toEqual([]);
    const before = await jobs();
    expect(before).toHaveLength(3);
    expect(await setUp()).toBe(0);
    expect(await jobs()).toEqual(before);
  });

  test.each([
    ['subscriptions-sweep', '* * * * *', 'outbox', sweep],
    ['subscriptions-reconcile', '* * * * *', 'reconcile', expect.stringMatching(/^select billing[.]call_function/)],
  ])('the job %s runs at %s and calls the endpoint %s', async (name, schedule, endpoint, command) => {
    const job = await database.one('select schedule, command from cron.job where jobname = $1', [name]);
    expect(job).toEqual({ schedule, command });
    await database.query('truncate net.http_request_queue');
    await database.query(String(job.command));
    expect(await calls()).toEqual([{
      url: `https://project.test/functions/v1/api/internal/${endpoint}`,
      body: {},
      headers: { 'content-type': 'application/json', 'prefer': 'respond-async', 'x-internal-key': 'k' },
      timeout: 5000,
    }]);
  });

  test('the runs of its jobs are deleted after seven days, those of other jobs are not', async () => {
    await database.query("select cron.schedule('of-the-app', '* * * * *', 'select 1')");
    await database.query(`
      insert into cron.job_run_details (jobid, end_time)
      select j.jobid, now() - make_interval(days => d)
      from cron.job j
      cross join generate_series(6, 8, 2) d
      where j.jobname in ('subscriptions-sweep', 'of-the-app')`);
    const { command } = await database.one("select command from cron.job where jobname = 'subscriptions-purge-runs'");
    await database.query(String(command));
    const left = 'select jobname from cron.job_run_details join cron.job using (jobid) order by 1';
    expect((await database.query(left)).map(({ jobname }) => jobname))
      .toEqual(['of-the-app', 'of-the-app', 'subscriptions-sweep']);
  });

  const triggers = ['create_profile', 'note_deleted_user', 'settle_new_user'];
  test.each([
    [
      'triggers on auth.users',
      triggers.map((name) => `drop trigger ${name} on auth.users`).join('; '),
      triggers.map((name) => `trigger ${name} on auth.users`),
    ],
    ['a role of a direct connection', 'drop role subscriptions_api', ['role subscriptions_api']],
    ['its settings', 'alter role subscriptions_api reset all', ['role subscriptions_api']],
    ['an index that needs an extension', 'drop extension pg_trgm cascade', ['index of names']],
  ])('what a restore lost is a finding until it is set up again: %s', async (_, loss, parts) => {
    await database.query(loss);
    expect(await readFindings(database)).toEqual(missing(...parts));
    expect(await setUp()).toBe(0);
    expect(await readFindings(database)).toEqual([]);
    const { id } = await createUser(database);
    expect(await database.query('select from public.profiles where user_id = $1', [id])).toHaveLength(1);
    expect(await database.one("select rolconfig, rolinherit from pg_roles where rolname = 'subscriptions_api'"))
      .toEqual({
        rolconfig: expect.arrayContaining(['role=service_role', 'statement_timeout=4s', 'jit=off']),
        rolinherit: false,
      });
  });

  test('extension and jobs that a toggle of pg_cron drops are findings until they are set up again', async () => {
    const before = await jobs();
    await database.query('drop extension pg_cron cascade; drop schema if exists cron cascade');
    expect(await readFindings(database)).toEqual(missing('extension pg_cron'));
    await database.query('create extension pg_cron');
    expect(await readFindings(database))
      .toEqual(missing(...before.map((name) => `job ${name}`)));
    expect(await setUp()).toBe(0);
    expect(await jobs()).toEqual(before);
    expect(await readFindings(database)).toEqual([]);
  });

  test('a job that was switched off is a finding until it is set up again, by any role: each job exists once', async () => {
    await database.query("update cron.job set active = jobname = 'subscriptions-reconcile'");
    expect(await readFindings(database))
      .toEqual(missing('job subscriptions-purge-runs (switched off)', 'job subscriptions-sweep (switched off)'));
    await (await database.connect()).query('create role another superuser; set role another; select billing.set_up()');
    expect(await readFindings(database)).toEqual([]);
    const left = "select jobname from cron.job where jobname like 'subscriptions-%' and active order by 1";
    expect((await database.query(left)).map(({ jobname }) => jobname)).toEqual(await jobs());
    expect(await jobs()).toHaveLength(3);
  });

  test('a dropped Vault is a finding, then its secrets are, until they are stored again', async () => {
    await database.query('drop extension supabase_vault');
    expect(await readFindings(database)).toEqual(missing('extension supabase_vault'));
    expect(await setUp()).toBe(2);
    expect(await readFindings(database)).toEqual(missing(...secrets));
    await fillVault();
    expect(await readFindings(database)).toEqual([]);
  });

  test('a second role, for the rotation of the password, replaces the first', async () => {
    await database.query('alter role subscriptions_api rename to subscriptions_api_2');
    expect(await readFindings(database)).toEqual([]);
    await database.query('drop role subscriptions_api_2');
    expect(await setUp()).toBe(0);
  });

  test.each([
    ['is absent', 'delete from vault.secrets'],
    ['is blank or not an http URL', "update vault.secrets set secret = 'encrypted ftp:\\n'"],
    ['is of another project', "update vault.secrets set secret = 'of its key'"],
  ])('a Vault entry that %s is a finding until its remedy is run', async (_, loss) => {
    await database.query(loss);
    await database.query(
      "update vault.secrets set secret = 'encrypted  ' where name like '%key' and secret like 'enc%'",
    );
    expect(await readFindings(database)).toEqual(missing(...secrets));
    const remedies = await database.query("select remedy from billing.findings where finding = 'missing_part'");
    for (const { remedy } of remedies) {
      const [, statements = ''] = /^Run "(.*)" with its value[.]$/.exec(String(remedy)) ?? [];
      await database.query(statements.replace('...', 'https://project.test/functions/v1'));
    }
    expect(await readFindings(database)).toEqual([]);
  });
});

describe.runIf(isLong)('on a server that has the files of pg_cron and did not load it', () => {
  useHosted(1, { isCronPreloaded: false });

  test('the migrations succeed, and pg_cron is a finding', async () => {
    expect(await readFindings(database)).toEqual(missing('extension pg_cron'));
    expect(await setUp()).toBe(1);
  });
});
