import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { advisors } from '../../scripts/doctor/checks/advisors.ts';
import { functionDeployed } from '../../scripts/doctor/checks/function-deployed.ts';
import { secrets } from '../../scripts/doctor/checks/secrets.ts';
import { diagnose, hosted, local } from './doctor.ts';
import { lint, listedFunction, type ManagedProject, startManagementApi } from './fake-management-api.ts';

const complete = {
  GATEWAY_KEY_ID: 'rzp_live_AbCdEfGhIjKlMn',
  GATEWAY_KEY_SECRET: 'the-key-secret',
  GATEWAY_API_URL: 'https://gateway.example',
  GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
  INTERNAL_KEY: 'the-internal-key',
  APP_URL: 'https://app.example',
  RESEND_API_KEY: 're_the-key',
  EMAIL_FROM: 'Acme <billing@acme.example>',
  REVALIDATE_SECRET: 'the-revalidate-secret',
};

let managed: ManagedProject;
const api = startManagementApi(() => managed);
afterAll(() => api.stop());
beforeEach(() => {
  managed = {
    token: 'sbp_token',
    rights: 'read',
    functions: [listedFunction({ slug: 'hello', verify_jwt: true }), listedFunction()],
    secrets: { SUPABASE_URL: 'https://x.supabase.co', ...complete },
    security: [lint('security_definer_view', 'INFO')],
    performance: [],
    answer: null,
  };
});

const project = (environment: Record<string, string> = {}, accessToken: string | null = 'sbp_token') =>
  hosted({ managementUrl: api.url, accessToken, environment });

describe('function-deployed', () => {
  test('passes where api is active with verify_jwt off', async () => {
    expect(await diagnose(functionDeployed, project()))
      .toEqual({ status: 'pass', message: 'api, version 7, verify_jwt off' });
  });

  test.each([
    ['is not deployed', [listedFunction({ slug: 'hello' })], 'the function api is not deployed'],
    ['is throttled', [listedFunction({ status: 'THROTTLED' })], 'the function api is THROTTLED'],
    ['has verify_jwt on', [listedFunction({ verify_jwt: true })], expect.stringContaining('verify_jwt is on')],
  ])('fails where the function %s', async (_, functions, message) => {
    managed.functions = functions;
    expect(await diagnose(functionDeployed, project()))
      .toEqual({ status: 'fail', message, remedy: expect.stringContaining('supabase functions deploy api --use-api') });
  });

  test('fails with an invalid token', async () => {
    expect(await diagnose(functionDeployed, project({}, 'sbp_another'))).toMatchObject({
      status: 'fail',
      message: 'SUPABASE_ACCESS_TOKEN is refused',
      remedy: expect.stringContaining('new token'),
    });
  });

  test('fails where the project is unknown', async () => {
    expect(await diagnose(functionDeployed, { ...project(), ref: 'anotherproject' }))
      .toMatchObject({ status: 'fail', message: 'the Management API has no project anotherproject' });
  });

  test.each([
    [429, 'the Management API limits calls'],
    [500, 'the Management API answers /functions with 500'],
  ])('warns about an answer %i', async (status, message) => {
    managed.answer = Response.json({ message: 'told by the test' }, { status });
    expect(await diagnose(functionDeployed, project())).toMatchObject({ status: 'warn', message });
  });

  test('warns about a list in an undocumented shape', async () => {
    managed.answer = Response.json({ functions: [] });
    expect(await diagnose(functionDeployed, project()))
      .toMatchObject({ status: 'warn', message: expect.stringContaining('in another form than documented') });
  });

  test('is skipped without a token, and for the local stack', async () => {
    expect(await diagnose(functionDeployed, project({}, null)))
      .toEqual({ status: 'skip', message: 'SUPABASE_ACCESS_TOKEN is not given' });
    expect(await diagnose(functionDeployed, local())).toEqual({ status: 'skip', message: 'only for a hosted project' });
  });
});

describe.each([functionDeployed, secrets, advisors])('$name', (check) => {
  test('warns where the token has too few rights', async () => {
    managed.rights = 'none';
    expect(await diagnose(check, project())).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('the access token has no right to read'),
      remedy: expect.stringContaining('Use a token with more rights'),
    });
  });
});

describe('secrets', () => {
  test('pass where all have the values of this environment', async () => {
    expect(await diagnose(secrets, project(complete))).toEqual({ status: 'pass', message: '10 secrets' });
  });

  test('fail where a secret that payments need is missing or empty', async () => {
    const { GATEWAY_WEBHOOK_SECRET: _, ...others } = complete;
    managed.secrets = { ...others, INTERNAL_KEY: '' };
    expect(await diagnose(secrets, project())).toEqual({
      status: 'fail',
      message: 'not set: GATEWAY_WEBHOOK_SECRET, INTERNAL_KEY',
      remedy: expect.stringContaining('supabase secrets set'),
    });
  });

  test('warn where a secret of an optional feature is missing', async () => {
    const { EMAIL_FROM: _, ...others } = complete;
    managed.secrets = others;
    expect(await diagnose(secrets, project())).toMatchObject({ status: 'warn', message: 'not set: EMAIL_FROM' });
  });

  test('pass without REVALIDATE_SECRET where REVALIDATE_URL is empty', async () => {
    const { REVALIDATE_SECRET: _, ...others } = complete;
    managed.secrets = { ...others, REVALIDATE_URL: '' };
    expect(await diagnose(secrets, project())).toMatchObject({ status: 'pass' });
  });

  test('warn about a name that the function does not read', async () => {
    managed.secrets = { ...managed.secrets, GATEWAY_WEBHOK_SECRET: 'x' };
    expect(await diagnose(secrets, project())).toEqual({
      status: 'warn',
      message: 'not read by the function: GATEWAY_WEBHOK_SECRET',
      remedy: expect.stringContaining('Check the spelling'),
    });
  });

  test('warn where the hosted value differs from this environment', async () => {
    expect(await diagnose(secrets, project({ ...complete, GATEWAY_KEY_SECRET: 'of-test-mode' }))).toEqual({
      status: 'warn',
      message: 'other values than in this environment: GATEWAY_KEY_SECRET',
      remedy: expect.stringContaining('Use the hosted values here'),
    });
  });

  test('fail for an invalid value, without showing it', async () => {
    expect(await diagnose(secrets, project({ EARLY_RENEWAL: 'sometimes' })))
      .toMatchObject({ status: 'fail', message: 'EARLY_RENEWAL is neither "replace" nor "extend"' });
  });

  test('are skipped without a token, and warn about unknown names in the env file', async () => {
    expect(await diagnose(secrets, project({}, null)))
      .toEqual({ status: 'skip', message: 'SUPABASE_ACCESS_TOKEN is not given' });
    expect(await diagnose(secrets, { ...project({}, null), envFileNames: ['INTERNAL_KEY', 'INTERAL_KEY'] }))
      .toMatchObject({ status: 'warn', message: 'not read by the function: INTERAL_KEY' });
  });

  test('of the local stack pass, and warn about empty variables and unknown names in the env file', async () => {
    expect(await diagnose(secrets, local({ environment: complete })))
      .toEqual({ status: 'pass', message: '9 variables' });
    expect(
      await diagnose(secrets, local({ environment: { ...complete, EMAIL_FROM: '' }, envFileNames: ['EMAIL_FORM'] })),
    ).toMatchObject({ status: 'warn', message: 'not set: EMAIL_FROM; not read by the function: EMAIL_FORM' });
  });
});

describe('advisors', () => {
  test('pass with lints of level INFO only', async () => {
    expect(await diagnose(advisors, project()))
      .toEqual({ status: 'pass', message: 'security: nothing to do; performance: nothing to do' });
  });

  test('fail with an error, and include the warnings', async () => {
    managed.security = [lint('rls_disabled_in_public', 'ERROR'), lint('rls_disabled_in_public', 'ERROR')];
    managed.performance = [lint('unindexed_foreign_keys', 'WARN')];
    expect(await diagnose(advisors, project())).toEqual({
      status: 'fail',
      message: 'security: 2 errors (rls_disabled_in_public); performance: 1 warning (unindexed_foreign_keys)',
      remedy: 'Open the advisors in the dashboard. Each finding there has a remedy.',
    });
  });

  test('warn with a warning', async () => {
    managed.performance = [lint('unindexed_foreign_keys', 'WARN')];
    expect(await diagnose(advisors, project())).toMatchObject({ status: 'warn' });
  });

  test('are skipped for the local stack', async () => {
    expect(await diagnose(advisors, local())).toEqual({ status: 'skip', message: '`npm run check` runs them' });
  });
});
