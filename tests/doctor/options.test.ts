import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksFor } from '../../scripts/doctor/checks.ts';
import { readProject } from '../../scripts/doctor/project.ts';
import { resultLine, summaryLine } from '../../scripts/doctor/report.ts';
import { type Result, runChecks } from '../../scripts/doctor/run-checks.ts';
import { linesOf, runDoctor } from './doctor.ts';
import { deadAddress, startFake } from './fake-server.ts';

const secrets = {
  SUPABASE_ACCESS_TOKEN: 'sbp_the-access-token',
  DATABASE_URL: `postgresql://postgres:the%2Fdatabase-password@${deadAddress().slice('http://'.length)}/postgres`,
  DATABASE_POOL_URL: `postgresql://role:the-pool-password@${deadAddress().slice('http://'.length)}/postgres`,
  GATEWAY_KEY_SECRET: 'the-key-secret',
  GATEWAY_KEY_SECRET_PREVIOUS: 'the-previous-key-secret',
  GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
  GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'the-previous-webhook-secret',
  REVALIDATE_SECRET: 'the-revalidate-secret',
  RESEND_API_KEY: 're_the-resend-key',
  INTERNAL_KEY: 'the-internal-key',
};
/** Texts that the doctor must never write: the secrets, and their forms inside addresses and headers. */
const hidden = [
  ...[...Object.values(secrets), 'the/database-password', 'the%2Fdatabase-password', 'the-pool-password'],
  ...['the-url-password', btoa('rzp_live_AbCdEfGhIjKlM:the-key-secret')],
];

/** Answers every request with its path, headers and body, in every field that an error may have. */
const echo = startFake(({ path, headers, text }) => {
  const request = `${path} ${[...headers].join(' ')} ${text}`;
  const status = path.includes('revalidate') ? 401 : 400;
  return Response.json({ name: request, message: request, error: { code: request, description: request } }, { status });
});
const noFile = '/dev/null';
/** A SHA-256. */
const hash = '0'.repeat(64);
let folder: string;
const write = async (name: string, variables: Record<string, string>) => {
  const text = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`).join('');
  await Deno.writeTextFile(`${folder}/${name}`, text);
  return `${folder}/${name}`;
};
/** The folder of an app with this record of an installation. */
const installApp = async (record: string) => {
  const app = await Deno.makeTempDir({ dir: folder });
  await Deno.mkdir(`${app}/supabase/functions`, { recursive: true });
  await Deno.writeTextFile(`${app}/supabase/subscriptions.json`, record);
  return app;
};
beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'doctor-' });
});
afterAll(async () => {
  await echo.stop();
  await Deno.remove(folder, { recursive: true });
});

const ref = 'abcdefghijklmnopqrst';
const lineOf = (result: Result) => resultLine(result, (text) => text);

test.each(['', '--fix --yes --json'])(
  'npm run doctor -- %s writes no secret when a server repeats the request in its error',
  async (options) => {
    const { SUPABASE_ACCESS_TOKEN, DATABASE_URL, ...ofFunction } = secrets;
    const envFile = await write('secrets.env', {
      ...ofFunction,
      GATEWAY_KEY_ID: 'rzp_live_AbCdEfGhIjKlM',
      GATEWAY_API_URL: echo.url,
      RESEND_BASE_URL: echo.url,
      EMAIL_FROM: 'billing@acme.example',
      APP_URL: echo.url,
      REVALIDATE_URL: `http://user:the-url-password@${echo.url.slice('http://'.length)}/api/revalidate`,
    });
    const { code, stdout, stderr } = await runDoctor(
      ['--project-ref', ref, '--env-file', envFile, ...options.split(' ').filter(Boolean)],
      { SUPABASE_ACCESS_TOKEN, DATABASE_URL, SUPABASE_URL: echo.url, SUPABASE_API_URL: echo.url },
    );
    expect(code).toBe(1);
    expect(hidden.filter((secret) => `${stdout}${stderr}`.includes(secret))).toEqual([]);
    expect(stdout).toContain('***');
    if (!options.includes('--json')) return;
    // Nothing else is written to stdout.
    const results: Record<string, string>[] = JSON.parse(stdout);
    expect(results.map(({ check }) => check)).toEqual(checksFor({ mode: 'hosted' }).map(({ name }) => name));
  },
);

test.each([
  [2, '--port 70000'],
  [2, '--yes'],
  [2, '--function billing'],
  [2, `--project-ref ${ref} --function ../x`],
  [0, '--help'],
])('the exit code is %i and the usage is written with %s', async (code, options) => {
  const run = await runDoctor(options.split(' '));
  expect(run.code).toBe(code);
  expect(code === 0 ? run.stdout : run.stderr).toContain('Usage: npm run doctor');
  if (code === 2) expect(run.stdout).toBe('');
});

test('of a hosted project without token, database and env file skips the checks that need them, with the reason', async () => {
  const keys = { keys: [{ kty: 'EC', alg: 'ES256' }] };
  const platform = startFake(({ path }) => path === '/auth/v1/.well-known/jwks.json' ? Response.json(keys) : null);
  const project = await readProject({ ref, port: 54321, envFile: noFile, environment: { SUPABASE_URL: platform.url } });
  const report = (await runChecks(checksFor(project), project)).map(lineOf).join('\n');
  await platform.stop();
  const inFile = 'Add it to supabase/functions/.env, to the file of --env-file, or to the environment.';
  expect(linesOf(report, 'skip')).toEqual(expect.arrayContaining([
    'skip secrets SUPABASE_ACCESS_TOKEN not given -> Create SUPABASE_ACCESS_TOKEN in the dashboard under Access Tokens.',
    `skip webhook-ping GATEWAY_WEBHOOK_SECRET not given -> ${inFile}`,
    `skip silence GATEWAY_API_URL, GATEWAY_KEY_ID, GATEWAY_KEY_SECRET not given -> ${inFile}`,
    'skip schedule DATABASE_URL not given -> Take DATABASE_URL from the "Connect" dialog of the project, with the password ' +
    'of `postgres`.',
    'skip pool-role DATABASE_POOL_URL not given: the function calls the database over REST -> To connect: ' +
    'supabase/docs/deployment.md, "Direct database connection".',
    `skip revalidation APP_URL, REVALIDATE_URL not given -> ${inFile}`,
  ]));
  expect(linesOf(report, 'skip').filter((line) => !/ -> \S/.test(line))).toEqual([]);
  expect(linesOf(report, 'pass')).toEqual(['pass session-keys public keys: ES256']);
});

test('without a local stack fails one check, and skips the others', async () => {
  const port = Number(new URL(deadAddress()).port);
  const project = await readProject({ ref: null, port, envFile: noFile, environment: {} });
  const results = await runChecks(checksFor(project), project);
  expect(linesOf(results.map(lineOf).join('\n'), 'fail')).toEqual([
    `fail local-stack no local stack runs at http://127.0.0.1:${port} -> Run \`npm start\`, set its port with ` +
    '--port, or check a hosted project with --project-ref.',
  ]);
  expect(results.slice(1).every(({ message }) => message === 'the check "local-stack" failed')).toBe(true);
  expect(summaryLine(results)).toBe(`1 fail, ${checksFor({ mode: 'local' }).length - 1} skip`);
});

test('behind a proxy that does not answer names it, and the variable that sets it', async () => {
  const proxy = deadAddress();
  const { stdout } = await runDoctor(['--project-ref', ref, '--env-file', noFile], { HTTPS_PROXY: proxy });
  expect(linesOf(stdout, 'fail session-keys')).toEqual([
    `fail session-keys the proxy of HTTPS_PROXY does not answer: ${proxy.slice('http://'.length)} -> Start it, unset ` +
    'HTTPS_PROXY, or name the servers in NO_PROXY.',
  ]);
});

describe('the project', () => {
  const read = async (ref: string | null, environment: Record<string, string>) => {
    const file = { GATEWAY_KEY_ID: 'of-the-file', INTERNAL_KEY: 'of the file', INTERAL_KEY: 'x' };
    return await readProject({ ref, port: 56000, envFile: await write('.env', file), environment });
  };
  const url = `https://${ref}.supabase.co`;

  test('that is hosted has the addresses of the platform, and null for everything that is not given', async () => {
    expect(await read(ref, {})).toEqual({
      ...{ mode: 'hosted', ref, url, functionsUrl: `${url}/functions/v1`, databaseUrl: null, accessToken: null },
      functionName: 'api',
      managementUrl: 'https://api.supabase.com',
      withoutCa: false,
      environment: { GATEWAY_KEY_ID: 'of-the-file', INTERNAL_KEY: 'of the file' },
      envFileNames: ['GATEWAY_KEY_ID', 'INTERNAL_KEY', 'INTERAL_KEY'],
      ...{ hasSimulator: false, hasMailbox: false },
    });
  });

  test('in the folder of an app has the name, migrations and env file of the installation; an option wins', async () => {
    const files = {
      'supabase/migrations/20261122000002_b.sql': hash,
      'supabase/migrations/20261122000001_a.sql': hash,
    };
    const app = await installApp(JSON.stringify({ version: '0.3.0', function: 'billing', files }));
    await Deno.writeTextFile(`${app}/supabase/functions/.env`, 'GATEWAY_KEY_ID=of-the-app\n');
    const options = { ref, port: 56000, folder: app, environment: {} };
    expect(await readProject(options)).toMatchObject({
      functionName: 'billing',
      functionsUrl: `${url}/functions/v1/billing`,
      migrations: ['20261122000001', '20261122000002'],
      environment: { GATEWAY_KEY_ID: 'of-the-app' },
    });
    expect(await readProject({ ...options, functionName: 'pay' })).toMatchObject({ functionName: 'pay' });
    // The local stack serves this checkout.
    expect((await readProject({ ...options, ref: null })).functionName).toBe('api');
    const { code, stderr } = await runDoctor(['--project-ref', ref], { INIT_CWD: await installApp('{') });
    expect([code, stderr.trim()]).toEqual([
      1,
      'supabase/subscriptions.json is damaged: restore it from your repository',
    ]);
  });

  test('has the values of the process environment before those of the env file', async () => {
    const { environment } = await read(ref, { GATEWAY_KEY_ID: 'of-the-process', HOME: '/', INTERNAL_KEY: '' });
    expect(environment).toEqual({ GATEWAY_KEY_ID: 'of-the-process', INTERNAL_KEY: '' });
  });

  test.each([
    ['https://api.acme.example/', 'https://api.acme.example'],
    ['https://anotherproject.supabase.co', url],
  ])('that is hosted with SUPABASE_URL=%s is at %s', async (given, url) => {
    expect(await read(ref, { SUPABASE_URL: given })).toMatchObject({ url, functionsUrl: `${url}/functions/v1` });
  });

  test('that is local has addresses derived from its port, and local defaults', async () => {
    expect(await read(null, {})).toMatchObject({
      ...{ mode: 'local', url: 'http://127.0.0.1:56000', hasSimulator: true, hasMailbox: true },
      databaseUrl: expect.stringMatching(/^postgresql:\/\/postgres:\w{48}@127\.0\.0\.1:56001\/postgres$/),
      environment: { GATEWAY_KEY_ID: 'of-the-file', GATEWAY_API_URL: 'http://127.0.0.1:56004' },
    });
    expect(await read(null, { GATEWAY_API_URL: 'https://gateway.example', RESEND_BASE_URL: '' }))
      .toMatchObject({ hasSimulator: false, hasMailbox: false });
  });
});
