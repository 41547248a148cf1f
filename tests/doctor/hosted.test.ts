import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { applyFixes, proposals } from '../../scripts/doctor/apply-fixes.ts';
import { type Check, pass } from '../../scripts/doctor/check.ts';
import { checksFor } from '../../scripts/doctor/checks.ts';
import { database as databaseCheck } from '../../scripts/doctor/checks/database.ts';
import { poolRole } from '../../scripts/doctor/checks/pool-role.ts';
import { schedule } from '../../scripts/doctor/checks/schedule.ts';
import { webhookEndpoint } from '../../scripts/doctor/checks/webhook-endpoint.ts';
import { handledEvents } from '../../scripts/doctor/handled-events.ts';
import type { Project } from '../../scripts/doctor/project.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { root } from '../../scripts/stack/root.ts';
import { unprivilegedUser } from '../../scripts/stack/process/unprivileged-user.ts';
import { type HostedPostgres, startHostedPostgres } from '../helpers/database/hosted-postgres.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { type RunningService, startService } from '../helpers/project/targets.ts';
import { expectReport, hosted, linesOf, patient, publicly, runDoctor, testReports } from './doctor.ts';
import { emptyAccount, startGateway } from './fake-gateway.ts';
import { emptyProject, listedFunction, projectRef, startManagementApi } from './fake-management-api.ts';
import { startResend } from './fake-resend.ts';
import { type FakeServer, type Handler, startFake } from './fake-server.ts';

// A hosted project: the real function, and a database with stand-ins for pg_net, pg_cron and Vault, with TLS. The other
// services are fakes.
const nothing =
  "nothing is missing, failing or overdue; the gateway's lists are not read yet: they are an hour after the installation";
const account = emptyAccount();
const managed = emptyProject();
const gateway = startGateway(account);
const api = startManagementApi(() => managed);
const domains = [{ name: 'acme.example', status: 'verified' }];
const resend = startResend({ key: 're_the-key', permission: 'full_access', domains });
const answerApp: Handler = ({ path, headers }) => {
  const isKnown = headers.get('x-revalidate-secret') === 'the-revalidate-secret';
  return Response.json({}, { status: path === '/api/revalidate' && !isKnown ? 401 : 200 });
};
const app = startFake(answerApp);

const certificates = `${root}/tests/fixtures/tls`;
const readPem = (name: string) => Deno.readTextFile(`${certificates}/${name}.pem`);
const authority = await readPem('authority');
const anotherAuthority = await readPem('another-authority');
const tls = { cert: await readPem('server'), key: await readPem('server-key') };

let postgres: HostedPostgres;
let database: TestDatabase;
let service: RunningService;
let platform: FakeServer;
let environment: Record<string, string>;
let folder: string;

beforeAll(async () => {
  postgres = await startHostedPostgres();
  await prepareDatabase(postgres.url);
  database = openDatabase(postgres.url);
  await migrate({ url: postgres.url, seed: false, log: () => {} });
  await withClient(postgres.url, setPoolPassword);
  await database.query("create role admin superuser login password 'of-this-project'");
  await useTls();

  environment = {
    GATEWAY_KEY_ID: account.keyId,
    GATEWAY_KEY_SECRET: account.keySecret,
    GATEWAY_API_URL: gateway.url,
    GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
    INTERNAL_KEY: 'the-internal-key',
    RESEND_API_KEY: 're_the-key',
    RESEND_BASE_URL: resend.url,
    EMAIL_FROM: 'Acme <billing@acme.example>',
    APP_URL: publicly(app.url),
    REVALIDATE_SECRET: 'the-revalidate-secret',
    DATABASE_POOL_URL: poolUrl(postgres.url),
  };
  service = await startFunction(environment);
  platform = startFake(async ({ method, path, headers, text }) => {
    if (path === '/auth/v1/.well-known/jwks.json') return Response.json({ keys: [{ kty: 'EC', alg: 'ES256' }] });
    if (!path.startsWith(`${basePath}/api/`)) return null;
    const init = { method, headers, ...(method === 'POST' && { body: text }) };
    return await service.request(path.replace(basePath, ''), init);
  });
  Object.assign(managed, { token: 'sbp_the-token', functions: [listedFunction()], secrets: environment });
});
afterAll(async () => {
  await service?.stop();
  await database?.close();
  await postgres?.stop();
  await Promise.all([gateway, resend, app, platform, api].map((server) => server.stop()));
  await Deno.remove(folder, { recursive: true });
});

function startFunction(variables: Record<string, string>): Promise<RunningService> {
  const addresses = { apiUrl: 'http://127.0.0.1:1', poolUrl: poolUrl(postgres.url) };
  return startService('in process over the pool', addresses, variables);
}

async function useTls(): Promise<void> {
  folder = await Deno.makeTempDir({ prefix: 'certificate-' });
  const user = await unprivilegedUser();
  for (const name of ['server.pem', 'server-key.pem']) {
    await Deno.copyFile(`${certificates}/${name}`, `${folder}/${name}`);
    await Deno.chmod(`${folder}/${name}`, 0o600);
  }
  for (const path of [folder, `${folder}/server.pem`, `${folder}/server-key.pem`]) {
    if (user) await Deno.chown(path, user.uid, user.gid);
  }
  await database.query(`alter system set ssl_cert_file = '${folder}/server.pem'`);
  await database.query(`alter system set ssl_key_file = '${folder}/server-key.pem'`);
  await database.query('alter system set ssl = on');
  await database.query('select pg_reload_conf()');
  // New connections use the new settings.
  await vi.waitFor(async () => {
    const { rows } = await withClient(postgres.url, (client) => client.query('show ssl'));
    expect(rows).toEqual([{ ssl: 'on' }]);
  }, 30_000);
}

/** What the function's paths follow at the platform. */
let basePath = '/functions/v1';

/** The database as the doctor reaches it: not with the published password of the local stack. */
const ownUrl = () => Object.assign(new URL(postgres.url), { username: 'admin', password: 'of-this-project' }).href;
const webhookUrl = () => `${platform.url}/functions/v1/api/webhooks/gateway`;
const on = Object.fromEntries(handledEvents.map((event) => [event, true]));
const ours = () => ({ id: 'ours', url: webhookUrl(), active: true, disabled_at: 0, events: on });
const vault = () =>
  database.query('select name, decrypted_secret as secret from vault.decrypted_secrets order by name');
const filled = () => [
  { name: 'subscriptions_internal_key', secret: 'the-internal-key' },
  { name: 'subscriptions_url', secret: `${platform.url}/functions/v1` },
];
const project = (fields: Partial<Project> = {}) =>
  hosted({
    databaseUrl: postgres.url,
    url: platform.url,
    functionsUrl: `${platform.url}/functions/v1`,
    managementUrl: api.url,
    accessToken: 'sbp_the-token',
    environment,
    ...fields,
  });

/** Applies the fixes that the checks propose. Returns their titles, and those that failed. */
async function fix(given = project()) {
  const fixes = proposals(await runChecks([webhookEndpoint, schedule], given, patient));
  return { fixes: fixes.map(({ fix }) => fix.title), failed: await applyFixes(given, fixes) };
}

// Each test starts with a project that needs no repair.
beforeEach(async () => {
  Object.assign(account, { mayChangeEndpoints: true, endpoints: [ours()] });
  await database.query('delete from vault.secrets; delete from billing.function_calls');
  for (const { name, secret } of filled()) await database.query('select vault.create_secret($1, $2)', [secret, name]);
  await database.query('select billing.set_up()');
});

/** Runs `npm run doctor` for this project, with these changes of its variables. */
const runHosted = (options: string[], changes: Record<string, string> = {}) =>
  runDoctor(['--project-ref', projectRef, '--env-file', '/dev/null', ...options], {
    ...environment,
    SUPABASE_ACCESS_TOKEN: 'sbp_the-token',
    SUPABASE_API_URL: api.url,
    SUPABASE_URL: platform.url,
    DATABASE_URL: ownUrl(),
    ...changes,
  });

test('npm run doctor passes each check of a correct project', () => expectPasses([]));

test('npm run doctor -- --function billing calls the function below its name, and passes each check', async () => {
  basePath = '/functions/v1/billing';
  const base = `${platform.url}${basePath}`;
  managed.functions = [listedFunction({ slug: 'billing' })];
  account.endpoints = [{ ...ours(), url: `${base}/webhooks/gateway` }];
  await database.query("delete from vault.secrets where name = 'subscriptions_url'");
  await database.query("select vault.create_secret($1, 'subscriptions_url')", [base]);
  try {
    await expectPasses(['--function', 'billing']);
    const { stdout } = await runHosted([]);
    for (const check of ['function-deployed', 'webhook-ping', 'function-version', 'webhook-endpoint', 'schedule']) {
      expect(stdout).toMatch(new RegExp(`^fail +${check} `, 'm'));
    }
  } finally {
    basePath = '/functions/v1';
    managed.functions = [listedFunction()];
  }
});

/** The doctor passes each check of the project, whose app and gateway have certificates for it. */
async function expectPasses(options: string[]): Promise<void> {
  const [secureApp, secureGateway] = [startFake(answerApp, tls), startGateway(account, tls)];
  const changes = { APP_URL: publicly(secureApp.url), GATEWAY_API_URL: secureGateway.url };
  managed.secrets = { ...environment, ...changes };
  const { code, stdout, stderr } = await runHosted(options, { ...changes, DENO_CERT: `${certificates}/authority.pem` });
  managed.secrets = environment;
  await Promise.all([secureApp, secureGateway].map((server) => server.stop()));
  expect(stdout.split('\n').filter((line) => !line.startsWith('pass '))).toEqual(['']);
  expect([code, stderr.trim()]).toEqual([0, `${checksFor(project()).length} pass`]);
}

describe('npm run doctor -- --fix', () => {
  const doctor = (...options: string[]) => runHosted(['--fix', ...options]);
  const jobs = () => database.query('select jobname from cron.job order by 1');

  test('shows the fixes and changes nothing without --yes and a terminal; with it applies them and checks again', async () => {
    account.endpoints = [];
    await database.query('delete from vault.secrets');
    await database.query('drop trigger create_profile on auth.users');
    await database.query("delete from cron.job where jobname = 'subscriptions-sweep'");
    const fixes = [
      `fix register the webhook endpoint ${webhookUrl()} at the gateway, active, with 23 events`,
      'fix run billing.set_up() in the database: extensions, jobs, triggers on auth.users',
      'fix create the Vault secret subscriptions_url',
      'fix create the Vault secret subscriptions_internal_key',
    ];
    const shown = await doctor();
    expect([shown.code, linesOf(shown.stdout, 'fix ')]).toEqual([1, fixes]);
    expect(shown.stderr).toContain('Nothing was changed. --yes applies it without asking.');
    expect(linesOf(shown.stdout, 'fail ').map((line) => line.replace(/ ->.*/, ''))).toEqual([
      'fail webhook-endpoint the webhook endpoint is not registered',
      'fail schedule missing: job subscriptions-sweep; missing: trigger create_profile on auth.users; missing: ' +
      'Vault secret subscriptions_url; missing: Vault secret subscriptions_internal_key',
    ]);
    expect([account.endpoints, await vault(), (await jobs()).length]).toEqual([[], [], 2]);

    const run = await doctor('--yes');
    expect([run.code, linesOf(run.stdout, 'fix ')]).toEqual([0, fixes]);
    expect(linesOf(run.stdout.slice(run.stdout.lastIndexOf('fix   ')), 'pass ')).toEqual([
      'pass webhook-endpoint registered and active, with 23 events',
      `pass schedule ${nothing}`,
    ]);
    expect(account.endpoints).toEqual([{ ...ours(), id: expect.any(String), secret: 'the-webhook-secret' }]);
    expect([await vault(), (await jobs()).length]).toEqual([filled(), 3]);
    expect(`${run.stdout}${run.stderr}`)
      .not.toMatch(/the-webhook-secret|the-internal-key|the-key-secret|sbp_the-token/);
  });

  test('replaces Vault rows of another project and rows that are no URL; calls that failed before it do not matter', async () => {
    await database.query(
      "insert into billing.function_calls (path, answered_at, status_code) values ('/a', now(), 401)",
    );
    await database.query(
      "update vault.secrets set secret = case name when $1 then 'of another' else 'encrypted x' end",
      [
        'subscriptions_internal_key',
      ],
    );
    const { fixes, failed } = await fix();
    expect([fixes, failed]).toEqual([
      ['replace the Vault secret subscriptions_url', 'replace the Vault secret subscriptions_internal_key'],
      [],
    ]);
    expect(await vault()).toEqual(filled());
    await expectReport(schedule, project(), `pass ${nothing}`);
  });

  test('switches a job on again', async () => {
    await database.query("update cron.job set active = false where jobname = 'subscriptions-sweep'");
    const off = 'fail missing: job subscriptions-sweep (switched off)';
    await expectReport(schedule, project(), off, 'select billing.set_up()');
    expect((await fix()).failed).toEqual([]);
    await expectReport(schedule, project(), `pass ${nothing}`);
  });

  test('switches an endpoint on again, and keeps its other events', async () => {
    const events = { 'payment.captured': true, 'payment.authorized': true, 'invoice.paid': false };
    account.endpoints = [{ ...ours(), active: false, disabled_at: 1790000000, events }];
    const { fixes, failed } = await fix();
    expect(failed).toEqual([]);
    expect(fixes).toEqual([`switch on the webhook endpoint ${webhookUrl()} at the gateway, active, with 23 events`]);
    const switchedOn = { ...on, 'payment.authorized': true };
    expect(account.endpoints).toMatchObject([{ id: 'ours', active: true, events: switchedOn }]);
  });

  test('registers no endpoint with a secret that the function lacks, or where the gateway refuses it', async () => {
    const title = `register the webhook endpoint ${webhookUrl()} at the gateway, active, with 23 events`;
    Object.assign(account, { endpoints: [], mayChangeEndpoints: false });
    expect((await fix()).failed).toEqual([`${title}: the gateway refuses it: 403 Access Denied`]);
    account.mayChangeEndpoints = true;
    const other = { ...environment, GATEWAY_WEBHOOK_SECRET: 'of-another-project' };
    expect((await fix(project({ environment: other }))).failed).toEqual([
      `${title}: the function must receive a webhook first: the function has another GATEWAY_WEBHOOK_SECRET than this ` +
      'environment',
    ]);
    expect(account.endpoints).toEqual([]);
  });

  test('registers no endpoint with the previous secret of the function', async () => {
    account.endpoints = [];
    const before = service;
    service = await startFunction({
      ...environment,
      GATEWAY_WEBHOOK_SECRET: 'the-next-secret',
      GATEWAY_WEBHOOK_SECRET_PREVIOUS: environment.GATEWAY_WEBHOOK_SECRET ?? '',
    });
    try {
      const { failed } = await fix();
      expect(failed).toEqual([expect.stringContaining('is the previous one of the function')]);
      expect(account.endpoints).toEqual([]);
      const renewed = { ...environment, GATEWAY_WEBHOOK_SECRET: 'the-next-secret' };
      expect((await fix(project({ environment: renewed }))).failed).toEqual([]);
      expect(account.endpoints).toMatchObject([{ secret: 'the-next-secret' }]);
    } finally {
      await service.stop();
      service = before;
    }
  });
});

/** A project after a change of one of its Vault rows. */
function put(name: string, secret: string, fields: () => Partial<Project> = () => ({})) {
  return async () => {
    await database.query("update vault.secrets set secret = 'encrypted ' || $2 where name = $1", [name, secret]);
    return project(fields());
  };
}

describe('the Vault rows', () => {
  const key = 'subscriptions_internal_key';
  const isNot = `fail the Vault secret ${key} is not what the function has`;
  const isNotKnown = `warn the Vault secret ${key} is not INTERNAL_KEY of this environment`;

  testReports(schedule, [
    [() => put('subscriptions_url', ` ${platform.url}/functions/v1/\n`)(), /^pass /],
    [put(key, ' the-internal-key\n'), /^pass /],
    [
      put(key, 'before-the-rotation'),
      isNot,
      `delete from vault.secrets where name = '${key}'; select vault.create_secret(`,
    ],
    [put(key, 'perhaps', () => ({ accessToken: null })), isNotKnown],
    [put(key, 'perhaps', () => ({ environment: { ...environment, INTERNAL_KEY: 'of-this-machine' } })), isNotKnown],
    [put(key, ' ', () => ({ environment: {} })), `fail missing: Vault secret ${key}`, 'vault.create_secret'],
  ]);

  test('fail without the extension, and where they cannot be decrypted, together with the other missing parts', async () => {
    await database.query('drop extension supabase_vault');
    await expectReport(schedule, project(), 'fail missing: extension supabase_vault', 'select billing.set_up()');
    await database.query('select billing.set_up()');
    await database.query("insert into vault.secrets (name, secret) values ('subscriptions_url', 'of another project')");
    await database.query('drop trigger create_profile on auth.users');
    const missing = "fail missing: trigger create_profile on auth.users; the Vault secret subscriptions_url can't be " +
      `decrypted: it is of another project; missing: Vault secret ${key}`;
    await expectReport(schedule, project(), missing, 'delete from vault.secrets');
  });
});

describe('the calls of the schedule', () => {
  const called = (request: number | null, status: number | null, error: string | null) => async () => {
    await database.query(
      `insert into billing.function_calls (path, request_id, answered_at, status_code, error)
      values ('/api/internal/outbox', $1, now(), $2, $3)`,
      [request, status, error],
    );
    return project();
  };
  const told = (cause: string) => `fail call_failed: /api/internal/outbox (${cause})`;
  const unresolved = "Couldn't resolve host name";

  testReports(schedule, [
    [called(1, 401, null), told('401'), "is not the function's INTERNAL_KEY"],
    [called(1, null, 'no answer within 5 s'), told('no answer within 5 s'), 'was too slow'],
    [called(1, null, unresolved), told(unresolved), 'does not answer'],
    [called(null, null, 'pg_net is not up'), told('pg_net is not up'), 'not preloaded'],
  ]);
});

describe('the connection of the checks', () => {
  const isEncrypted: Check = {
    name: 'is-encrypted',
    run: async ({ query }) => {
      const [row] = await query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return [pass(String(row?.ssl))];
    },
  };
  const elsewhere = (environment = {}) => hosted({ databaseUrl: publicly(postgres.url), environment });
  const unverified = () => elsewhere({ DATABASE_POOL_CA: anotherAuthority });

  testReports(isEncrypted, [
    [() => hosted({ databaseUrl: postgres.url }), 'pass false'],
    [() => ({ ...elsewhere(), withoutCa: true }), 'pass true'],
    [unverified, /^skip /],
  ]);
  testReports(databaseCheck, [[unverified, /^fail /]]);
});

describe('the role of the pool', () => {
  const over = (changes: { username?: string; password?: string; hostname?: string }, DATABASE_POOL_CA = '') => () => {
    const { href } = Object.assign(new URL(poolUrl(postgres.url)), changes);
    return hosted({ environment: { DATABASE_POOL_URL: href, DATABASE_POOL_CA } });
  };
  /** A role with a statement timeout, which may act as service_role. */
  const withRole = (name: string, timeout: string, isService = true) => async () => {
    await database.query(`create role ${name} login noinherit password 'pool role of the tests'`);
    await database.query(`alter role ${name} set statement_timeout = '${timeout}'`);
    if (isService) await database.query(`grant service_role to ${name}; alter role ${name} set role = 'service_role'`);
    return over({ username: name })();
  };
  const acts = 'pass subscriptions_api acts as service_role, 4000 ms a statement';

  testReports(poolRole, [
    [over({}), acts],
    [over({}, authority.replaceAll('\n', '\\n')), acts],
    [
      over({}, anotherAuthority),
      /^fail DATABASE_POOL_URL can't be connected to: [A-Z_]*(CERT|ISSUER|SIGNATURE)/,
      'DATABASE_POOL_CA',
    ],
    [
      () => ({ ...over({ hostname: '0.0.0.0' })(), withoutCa: true }),
      'warn DATABASE_POOL_CA is not set: the connection of the function is not verified',
      'database settings',
    ],
    [
      over({ password: 'wrong' }),
      "fail DATABASE_POOL_URL can't be connected to: the login is refused (28P01)",
    ],
    [
      () => hosted({ environment: { DATABASE_POOL_URL: postgres.url } }),
      /^fail postgres acts as postgres, not as service_role; postgres has more rights than the service/,
    ],
    [withRole('does_not_act', '4s', false), 'fail does_not_act acts as does_not_act, not as service_role'],
    [
      withRole('waits_0', '0'),
      'warn statement_timeout of waits_0 is off',
      "alter role waits_0 set statement_timeout = '4s'",
    ],
  ]);
});
