import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksFor } from '../../scripts/doctor/checks.ts';
import { root } from '../../scripts/stack/root.ts';
import { linesOf, runDoctor, statuses } from './doctor-process.ts';
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
  ...Object.values(secrets),
  'the/database-password',
  'the%2Fdatabase-password',
  'the-pool-password',
  'the-url-password',
  btoa('rzp_live_AbCdEfGhIjKlM:the-key-secret'),
];

/** Answers every request with its path, headers and body, in every field that an error may have. */
const echo = startFake(({ path, headers, text }) => {
  const request = `${path} ${[...headers].join(' ')} ${text}`;
  const status = path.includes('revalidate') ? 401 : 400;
  return Response.json({ name: request, message: request, error: { code: request, description: request } }, { status });
});
let folder: string;
let envFile: string;
beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'doctor-' });
  envFile = `${folder}/.env`;
  const { SUPABASE_ACCESS_TOKEN: _, DATABASE_URL: __, ...ofFunction } = secrets;
  await Deno.writeTextFile(
    envFile,
    Object.entries({
      ...ofFunction,
      GATEWAY_KEY_ID: 'rzp_live_AbCdEfGhIjKlM',
      GATEWAY_API_URL: echo.url,
      RESEND_BASE_URL: echo.url,
      EMAIL_FROM: 'billing@acme.example',
      APP_URL: echo.url,
      REVALIDATE_URL: `http://user:the-url-password@${echo.url.slice('http://'.length)}/api/revalidate`,
    }).map(([name, value]) => `${name}='${value}'`).join('\n'),
  );
});
afterAll(async () => {
  await echo.stop();
  await Deno.remove(folder, { recursive: true });
});

const ref = ['--project-ref', 'abcdefghijklmnopqrst'];
const given = () => ({
  SUPABASE_ACCESS_TOKEN: secrets.SUPABASE_ACCESS_TOKEN,
  DATABASE_URL: secrets.DATABASE_URL,
  SUPABASE_URL: echo.url,
  SUPABASE_API_URL: echo.url,
});

describe('npm run doctor', () => {
  test('writes no secret when a server repeats the request in its error', async () => {
    for (const options of [[], ['--json'], ['--fix'], ['--fix', '--yes', '--json']]) {
      const { code, stdout, stderr } = await runDoctor([...ref, '--env-file', envFile, ...options], given());
      expect(code).toBe(1);
      expect(hidden.filter((secret) => `${stdout}${stderr}`.includes(secret))).toEqual([]);
      expect(stdout).toContain('***');
    }
  });

  test('with --json writes each check once, with status, message and remedy, and nothing else to stdout', async () => {
    const run = await runDoctor([...ref, '--env-file', envFile, '--json'], given());
    const results = JSON.parse(run.stdout);
    expect(results.map(({ check }: { check: string }) => check))
      .toEqual(checksFor({ mode: 'hosted' }).map(({ name }) => name));
    for (const result of results) {
      const bad = result.status === 'fail' || result.status === 'warn';
      expect(Object.keys(result)).toEqual(['check', 'status', 'message', ...(bad ? ['remedy'] : [])]);
    }
  });

  test('of a hosted project without token, database and env file skips the checks that need them, with the reason', async () => {
    const platform = startFake(({ path }) => {
      if (path === '/auth/v1/.well-known/jwks.json') return Response.json({ keys: [{ kty: 'EC', alg: 'ES256' }] });
      return null;
    });
    const run = await runDoctor([...ref, '--env-file', `${folder}/missing`], { SUPABASE_URL: platform.url });
    await platform.stop();
    expect(linesOf(run, 'skip')).toEqual([
      'skip function-deployed SUPABASE_ACCESS_TOKEN is not given',
      'skip secrets SUPABASE_ACCESS_TOKEN is not given',
      'skip webhook-ping GATEWAY_WEBHOOK_SECRET not given',
      'skip gateway-key GATEWAY_API_URL, GATEWAY_KEY_ID, GATEWAY_KEY_SECRET not given',
      'skip webhook-endpoint GATEWAY_API_URL, GATEWAY_KEY_ID, GATEWAY_KEY_SECRET not given',
      'skip gateway-plans GATEWAY_API_URL, GATEWAY_KEY_ID, GATEWAY_KEY_SECRET not given',
      'skip authorised-payments GATEWAY_API_URL, GATEWAY_KEY_ID, GATEWAY_KEY_SECRET not given',
      'skip silence GATEWAY_API_URL, GATEWAY_KEY_ID, GATEWAY_KEY_SECRET not given',
      'skip sender-domain RESEND_API_KEY, EMAIL_FROM not given',
      'skip database DATABASE_URL is not given',
      'skip schedule DATABASE_URL is not given',
      'skip early-renewal DATABASE_URL is not given',
      'skip credit DATABASE_URL is not given',
      'skip pool-role DATABASE_POOL_URL not given: the function calls the database over REST',
      'skip advisors SUPABASE_ACCESS_TOKEN is not given',
      'skip findings DATABASE_URL is not given',
      'skip app-url APP_URL not given',
      'skip revalidation REVALIDATE_SECRET, or APP_URL and REVALIDATE_URL, not given',
    ]);
    expect(linesOf(run, 'pass')).toEqual(['pass session-keys public keys: ES256']);
    expect(run.code).toBe(1); // the fake platform has no function
  });

  test('the process environment overrides the env file', async () => {
    const run = await runDoctor([...ref, '--env-file', envFile, '--json'], { ...given(), RESEND_API_KEY: '' });
    expect(statuses(run)['sender-domain']).toBe('skip');
  });

  test('without a local stack fails one check, skips the others, and exits with 1', async () => {
    const { port } = new URL(deadAddress());
    const run = await runDoctor(['--port', port, '--env-file', `${folder}/missing`]);
    expect(run.code).toBe(1);
    expect(linesOf(run, 'fail')).toEqual([
      `fail local-stack no local stack runs at http://127.0.0.1:${port} -> Run \`npm start\`, set its port with ` +
      '--port, or check a hosted project with --project-ref.',
    ]);
    expect(linesOf(run, 'skip').every((line) => line.endsWith(' see local-stack'))).toBe(true);
    expect(run.stderr).toContain(`1 fail, ${checksFor({ mode: 'local' }).length - 1} skip`);
  });

  test.each(['--prot 1', '--port http', '--port 70000', '--project-ref a/b', '--yes'])(
    'with %s writes the usage and exits with 2',
    async (options) => {
      const { code, stdout, stderr } = await runDoctor(options.split(' '));
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('Usage: npm run doctor');
    },
  );

  test('with --help writes the usage and exits with 0', async () => {
    const { code, stdout } = await runDoctor(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: npm run doctor');
  });

  test('is a script of package.json', async () => {
    const { scripts } = JSON.parse(await Deno.readTextFile(`${root}/package.json`));
    expect(scripts.doctor).toBe('exec deno run -A scripts/doctor.ts');
  });
});
