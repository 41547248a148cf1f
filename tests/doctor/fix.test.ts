import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { linesOf, runDoctor, statuses } from './doctor-process.ts';
import { diagnose, hosted } from './doctor.ts';
import { type GatewayAccount, startGateway } from './fake-gateway.ts';
import { listedFunction, type ManagedProject, projectRef, startManagementApi } from './fake-management-api.ts';
import { startResend } from './fake-resend.ts';
import { type FakeServer, startFake } from './fake-server.ts';
import { schedule } from '../../scripts/doctor/checks/schedule.ts';
import { handledEvents } from '../../scripts/doctor/handled-events.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { type HostedPostgres, startHostedPostgres } from '../helpers/database/hosted-postgres.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { type RunningService, startService } from '../helpers/project/targets.ts';

// A hosted project: the real function, and a database with stand-ins for pg_net, pg_cron and Vault. The other services
// are fakes.
const account: GatewayAccount = {
  keyId: 'rzp_live_AbCdEfGhIjKlMn',
  keySecret: 'the-key-secret',
  hasPlans: true,
  plans: [],
  payments: [],
  endpoints: [],
  mayChangeEndpoints: true,
};
const gateway = startGateway(account);
const resend = startResend({
  key: 're_the-key',
  permission: 'full_access',
  domains: [{ name: 'acme.example', status: 'verified' }],
});
const app = startFake(({ path, headers }) => {
  if (path !== '/api/revalidate') return Response.json({});
  const status = headers.get('x-revalidate-secret') === 'the-revalidate-secret' ? 200 : 401;
  return Response.json({}, { status });
});

let postgres: HostedPostgres;
let database: TestDatabase;
let service: RunningService;
let platform: FakeServer;
let managed: ManagedProject;
let environment: Record<string, string>;
const api = startManagementApi(() => managed);

beforeAll(async () => {
  postgres = await startHostedPostgres();
  await prepareDatabase(postgres.url);
  database = openDatabase(postgres.url);
  // As in the extension, without the encryption.
  await database.query(`
    create schema vault;
    create table vault.secrets (
      id uuid primary key default gen_random_uuid(), name text unique, description text, secret text not null
    );
    create view vault.decrypted_secrets as select id, name, description, secret as decrypted_secret from vault.secrets;
    create function vault.create_secret(
      new_secret text, new_name text default null, new_description text default '', new_key_id uuid default null
    )
    returns uuid language sql as
    'insert into vault.secrets (secret, name, description) values ($1, $2, $3) returning id';
    create function vault.update_secret(
      secret_id uuid,
      new_secret text default null,
      new_name text default null,
      new_description text default null,
      new_key_id uuid default null
    )
    returns void language sql as
    'update vault.secrets set secret = coalesce($2, secret), name = coalesce($3, name) where id = $1'`);
  await migrate({ url: postgres.url, seed: false, log: () => {} });
  await withClient(postgres.url, setPoolPassword);

  environment = {
    GATEWAY_KEY_ID: account.keyId,
    GATEWAY_KEY_SECRET: account.keySecret,
    GATEWAY_API_URL: gateway.url,
    GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
    INTERNAL_KEY: 'the-internal-key',
    RESEND_API_KEY: 're_the-key',
    RESEND_BASE_URL: resend.url,
    EMAIL_FROM: 'Acme <billing@acme.example>',
    // 0.0.0.0 reaches this machine but is not one of the names that the doctor treats as local.
    APP_URL: app.url.replace('127.0.0.1', '0.0.0.0'),
    REVALIDATE_SECRET: 'the-revalidate-secret',
    DATABASE_POOL_URL: poolUrl(postgres.url),
  };
  service = await startService(
    'in process over the pool',
    { apiUrl: 'http://127.0.0.1:1', poolUrl: poolUrl(postgres.url) },
    environment,
  );
  platform = startFake(async ({ method, path, headers, text }) => {
    if (path === '/auth/v1/.well-known/jwks.json') return Response.json({ keys: [{ kty: 'EC', alg: 'ES256' }] });
    const init = { method, headers, ...(method === 'POST' && { body: text }) };
    return await service.request(path.replace('/functions/v1', ''), init);
  });
  managed = {
    token: 'sbp_the-token',
    rights: 'read',
    functions: [listedFunction()],
    secrets: environment,
    security: [],
    performance: [],
    answer: null,
  };
});
afterAll(async () => {
  await service?.stop();
  await database?.close();
  await postgres?.stop();
  await Promise.all([gateway, resend, app, platform, api].map((server) => server.stop()));
});

const runWith = (changes: Record<string, string>, ...options: string[]) =>
  runDoctor(['--project-ref', projectRef, '--env-file', '/dev/null', ...options], {
    ...environment,
    ...changes,
    SUPABASE_ACCESS_TOKEN: 'sbp_the-token',
    SUPABASE_API_URL: api.url,
    SUPABASE_URL: platform.url,
    DATABASE_URL: postgres.url,
  });
const doctor = (...options: string[]) => runWith({}, ...options);
const webhookUrl = () => `${platform.url}/functions/v1/api/webhooks/gateway`;
const vault = () => database.query('select name, secret from vault.secrets order by name');
const jobs = () => database.query('select jobname from cron.job order by 1');
const filled = () => [
  { name: 'subscriptions_internal_key', secret: 'the-internal-key' },
  { name: 'subscriptions_url', secret: `${platform.url}/functions/v1` },
];

const on = Object.fromEntries(handledEvents.map((event) => [event, true]));

// Each test starts with a project that needs no repair.
beforeEach(async () => {
  account.mayChangeEndpoints = true;
  account.endpoints = [{ id: 'ours', url: webhookUrl(), active: true, disabled_at: 0, events: on }];
  await database.query('delete from vault.secrets');
  for (const { name, secret } of filled()) await database.query('select vault.create_secret($1, $2)', [secret, name]);
  await database.query('select billing.set_up()');
});

/** Removes everything that `--fix` can create. */
async function breakProject(): Promise<void> {
  account.endpoints = [];
  await database.query('delete from vault.secrets');
  await database.query('drop trigger create_profile on auth.users');
  await database.query("delete from cron.job where jobname = 'subscriptions-sweep'");
}

describe('npm run doctor -- --fix', () => {
  const fixes = () => [
    `fix register the webhook endpoint ${webhookUrl()} at the gateway, active, with 22 events`,
    'fix run billing.set_up() in the database: extensions, jobs, triggers on auth.users',
    'fix create the Vault secret subscriptions_url',
    'fix create the Vault secret subscriptions_internal_key',
  ];

  test('without --yes and a terminal shows the fixes and changes nothing', async () => {
    await breakProject();
    const run = await doctor('--fix');
    expect(run.code).toBe(1);
    expect(linesOf(run, 'fix ')).toEqual(fixes());
    expect(run.stderr).toContain('Nothing was changed. --yes applies it without asking.');
    expect(linesOf(run, 'fail ')).toEqual([
      expect.stringContaining('fail webhook-endpoint the webhook endpoint is not registered'),
      expect.stringContaining(
        'fail schedule missing: job subscriptions-sweep; missing: trigger create_profile on auth.users; missing: ' +
          'Vault secret subscriptions_url; missing: Vault secret subscriptions_internal_key',
      ),
    ]);
    expect({ endpoints: account.endpoints, vault: await vault(), jobs: (await jobs()).length })
      .toEqual({ endpoints: [], vault: [], jobs: 2 });
  });

  test('with --yes shows the fixes, applies them, and runs their checks again', async () => {
    await breakProject();
    const run = await doctor('--fix', '--yes');
    expect(linesOf(run, 'fix ')).toEqual(fixes());
    const repaired = run.stdout.slice(run.stdout.lastIndexOf('fix   '));
    expect(linesOf({ ...run, stdout: repaired }, 'pass ')).toEqual([
      'pass webhook-endpoint registered and active, with 22 events',
      'pass schedule nothing is missing, failing or overdue',
    ]);
    expect(run.code).toBe(0);
    expect(account.endpoints).toEqual([{
      id: expect.any(String),
      url: webhookUrl(),
      active: true,
      disabled_at: 0,
      secret: 'the-webhook-secret',
      events: on,
    }]);
    expect(await vault()).toEqual(filled());
    expect(await jobs()).toHaveLength(3);
    expect(`${run.stdout}${run.stderr}`).not.toMatch(
      /the-webhook-secret|the-internal-key|the-key-secret|sbp_the-token/,
    );
  });

  test('changes nothing in a correct project: each check passes, except a warning about the address of the app', async () => {
    const run = await doctor('--fix', '--yes', '--json');
    expect(run.stderr).toContain('There is nothing that --fix can repair.');
    const { 'app-url': appUrl, ...others } = statuses(run);
    expect(appUrl).toBe('warn'); // it is not encrypted
    expect(Object.entries(others).filter(([, status]) => status !== 'pass')).toEqual([]);
    expect(run.code).toBe(0);
  });

  test('switches an endpoint on again, and keeps its other events', async () => {
    const events = { 'payment.captured': true, 'payment.authorized': true, 'invoice.paid': false };
    account.endpoints = [{ id: 'ours', url: webhookUrl(), active: false, disabled_at: 1790000000, events }];
    const run = await doctor('--fix', '--yes');
    expect(linesOf(run, 'fix ')).toEqual([
      `fix switch on the webhook endpoint ${webhookUrl()} at the gateway, active, with 22 events`,
    ]);
    expect(run.code).toBe(0);
    expect(account.endpoints).toMatchObject([{ id: 'ours', active: true }]);
    expect(Object.keys(account.endpoints[0]?.events ?? {}).toSorted())
      .toEqual([...handledEvents, 'payment.authorized'].toSorted());
  });

  test('does not register an endpoint with a secret that the function does not have', async () => {
    account.endpoints = [];
    const run = await runWith({ GATEWAY_WEBHOOK_SECRET: 'of-another-project' }, '--fix', '--yes');
    expect(linesOf(run, 'fix failed:')).toEqual([
      `fix failed: register the webhook endpoint ${webhookUrl()} at the gateway, active, with 22 events: the function ` +
      'must receive a webhook first: the function has another GATEWAY_WEBHOOK_SECRET than this environment',
    ]);
    expect(account.endpoints).toEqual([]);
  });

  test('reports a fix that the gateway refuses, and the check still fails', async () => {
    Object.assign(account, { endpoints: [], mayChangeEndpoints: false });
    const run = await doctor('--fix', '--yes');
    expect(linesOf(run, 'fix failed:')).toEqual([
      `fix failed: register the webhook endpoint ${webhookUrl()} at the gateway, active, with 22 events: the gateway ` +
      'refuses it: 403 Access Denied',
    ]);
    expect(run.code).toBe(1);
  });
});

describe('the Vault rows', () => {
  const project = (fields: Parameters<typeof hosted>[0] = {}) =>
    hosted({
      databaseUrl: postgres.url,
      url: platform.url,
      functionsUrl: `${platform.url}/functions/v1`,
      managementUrl: api.url,
      accessToken: 'sbp_the-token',
      environment,
      ...fields,
    });
  const put = (name: string, secret: string) =>
    database.query('update vault.secrets set secret = $2 where name = $1', [name, secret]);

  test('fail without the extension', async () => {
    await database.query('alter schema vault rename to away');
    expect(await diagnose(schedule, project())).toMatchObject({
      status: 'fail',
      message: 'missing: extension supabase_vault',
    });
    await database.query('alter schema away rename to vault');
  });

  test('may end with a slash and be surrounded by spaces', async () => {
    await put('subscriptions_url', ` ${platform.url}/functions/v1/\n`);
    await put('subscriptions_internal_key', ' the-internal-key\n');
    expect(await diagnose(schedule, project())).toMatchObject({ status: 'pass' });
  });

  test('fail with the address of another project, and are replaced', async () => {
    await put('subscriptions_url', 'https://other.supabase.co/functions/v1');
    expect(await diagnose(schedule, project())).toMatchObject({
      status: 'fail',
      message: 'the Vault secret subscriptions_url is not what the function has',
      remedy: expect.stringContaining('vault.update_secret'),
    });
    expect(linesOf(await doctor('--fix', '--yes'), 'fix ')).toEqual(['fix replace the Vault secret subscriptions_url']);
    expect(await vault()).toEqual(filled());
  });

  test('fail with another key than the function has', async () => {
    await put('subscriptions_internal_key', 'before-the-rotation');
    expect(await diagnose(schedule, project())).toMatchObject({
      status: 'fail',
      message: 'the Vault secret subscriptions_internal_key is not what the function has',
    });
  });

  test('warn where the key of the function is not known', async () => {
    await put('subscriptions_internal_key', 'perhaps-the-right-one');
    const warning = {
      status: 'warn',
      message: 'the Vault secret subscriptions_internal_key is not INTERNAL_KEY of this environment',
    };
    expect(await diagnose(schedule, project({ accessToken: null }))).toMatchObject(warning);
    const other = { ...environment, INTERNAL_KEY: 'of-this-machine' };
    expect(await diagnose(schedule, project({ environment: other }))).toMatchObject(warning);
    expect(await diagnose(schedule, project({ environment: {} }))).toMatchObject({ status: 'pass' });
  });

  test('fail where one is blank, also where its expected value is not known', async () => {
    await put('subscriptions_internal_key', ' ');
    expect(await diagnose(schedule, project({ environment: {} }))).toEqual({
      status: 'fail',
      message: 'missing: Vault secret subscriptions_internal_key',
      remedy: expect.stringContaining('vault.create_secret'),
    });
  });

  test('fail where they cannot be decrypted, together with the other missing parts', async () => {
    await database.query(`
      create or replace view vault.decrypted_secrets as
      select id, name, description, decode('not hex', 'hex')::text as decrypted_secret from vault.secrets`);
    await database.query('drop trigger create_profile on auth.users');
    expect(await diagnose(schedule, project())).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(
        /missing: trigger create_profile on auth.users; .*Vault secrets can't be read [(]22023[)]/,
      ),
    });
    await database.query(`
      create or replace view vault.decrypted_secrets as
      select id, name, description, secret as decrypted_secret from vault.secrets`);
    await database.query('select billing.set_up()');
  });
});
