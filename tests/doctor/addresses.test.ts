import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { appUrl } from '../../scripts/doctor/checks/app-url.ts';
import { localStack } from '../../scripts/doctor/checks/local-stack.ts';
import { revalidation } from '../../scripts/doctor/checks/revalidation.ts';
import { senderDomain } from '../../scripts/doctor/checks/sender-domain.ts';
import { sessionKeys } from '../../scripts/doctor/checks/session-keys.ts';
import { diagnose, hosted, local } from './doctor.ts';
import { type ResendAccount, startResend } from './fake-resend.ts';
import { deadAddress, type Handler, startFake } from './fake-server.ts';

let answer: Handler;
const server = startFake((call) => answer(call));
const account: ResendAccount = { key: 're_key', permission: 'full_access', domains: [] };
const resend = startResend(account);
afterAll(async () => {
  await server.stop();
  await resend.stop();
});
beforeEach(() => {
  answer = () => Response.json({ ok: true });
});

describe('session-keys', () => {
  const project = hosted({ url: server.url });
  const es256 = {
    kty: 'EC',
    alg: 'ES256',
    crv: 'P-256',
    use: 'sig',
    key_ops: ['verify'],
    kid: 'b8c3f4a5',
    ext: true,
    x: 'x',
    y: 'y',
  };

  test('pass with a public key', async () => {
    answer = ({ path }) => path === '/auth/v1/.well-known/jwks.json' ? Response.json({ keys: [es256] }) : null;
    expect(await diagnose(sessionKeys, project)).toEqual({ status: 'pass', message: 'public keys: ES256' });
  });

  test.each([['an empty set', []], ['a shared secret alone', [{ kty: 'oct', alg: 'HS256' }]]])(
    'warn with %s',
    async (_, keys) => {
      answer = () => Response.json({ keys });
      expect(await diagnose(sessionKeys, project)).toEqual({
        status: 'warn',
        message: 'sessions are signed with a shared secret: each request calls the auth server',
        remedy: expect.stringContaining('signing keys'),
      });
    },
  );

  test('fail where the auth server does not return its public keys', async () => {
    answer = () => Response.json({ message: 'paused' }, { status: 540 });
    expect(await diagnose(sessionKeys, project))
      .toMatchObject({ status: 'fail', message: 'the auth server answers 540 for its public keys' });
  });

  test('are skipped for the local stack', async () => {
    expect(await diagnose(sessionKeys, local())).toMatchObject({ status: 'skip' });
  });
});

describe('sender-domain', () => {
  const project = (from = 'Acme <billing@Acme.example>', key = 're_key') =>
    hosted({ environment: { RESEND_API_KEY: key, EMAIL_FROM: from, RESEND_BASE_URL: resend.url } });
  beforeEach(() => {
    account.permission = 'full_access';
    account.domains = [{ name: 'other.example', status: 'verified' }, { name: 'acme.example', status: 'verified' }];
  });

  test.each(['Acme <billing@Acme.example>', 'billing@acme.example'])('passes for %s', async (from) => {
    expect(await diagnose(senderDomain, project(from)))
      .toEqual({ status: 'pass', message: 'acme.example is verified' });
  });

  test.each(['not_started', 'pending', 'failed', 'temporary_failure'])(
    'fails where the domain is %s',
    async (status) => {
      account.domains = [{ name: 'acme.example', status }];
      expect(await diagnose(senderDomain, project())).toEqual({
        status: 'fail',
        message: `acme.example is ${status} at Resend, not verified`,
        remedy: expect.stringContaining('DNS records'),
      });
    },
  );

  test('fails where Resend has only the parent domain', async () => {
    expect(await diagnose(senderDomain, project('billing@mail.acme.example'))).toMatchObject({
      status: 'fail',
      message: 'Resend has no domain mail.acme.example, of EMAIL_FROM',
    });
  });

  test('warns about a key that may only send', async () => {
    account.permission = 'sending_access';
    expect(await diagnose(senderDomain, project()))
      .toMatchObject({ status: 'warn', message: expect.stringContaining('may only send') });
  });

  test('fails with a key that Resend refuses', async () => {
    expect(await diagnose(senderDomain, project(undefined, 're_another')))
      .toMatchObject({ status: 'fail', message: 'Resend refuses RESEND_API_KEY (403)' });
  });

  test('fails where EMAIL_FROM is not an address, and warns about the test domain', async () => {
    expect(await diagnose(senderDomain, project('Acme'))).toMatchObject({ status: 'fail' });
    expect(await diagnose(senderDomain, project('onboarding@resend.dev'))).toMatchObject({ status: 'warn' });
  });

  test('is skipped without a key, and where the local mailbox receives the mails', async () => {
    expect(await diagnose(senderDomain, hosted())).toMatchObject({ status: 'skip' });
    expect(await diagnose(senderDomain, local({ environment: project().environment })))
      .toEqual({ status: 'skip', message: 'the local mailbox accepts every sender' });
  });
});

describe('app-url', () => {
  // 0.0.0.0 reaches this machine but is not one of the names that the doctor treats as local.
  const publicUrl = server.url.replace('127.0.0.1', '0.0.0.0');
  const project = (url: string) => hosted({ environment: { APP_URL: url } });

  test('of a hosted project fails for an address of the local machine', async () => {
    expect(await diagnose(appUrl, project('http://localhost:3000'))).toMatchObject({
      status: 'fail',
      message: "APP_URL is http://localhost:3000: mails link to the customer's own machine",
    });
  });

  test('of a hosted project fails where no server answers', async () => {
    expect(await diagnose(appUrl, project(deadAddress().replace('127.0.0.1', '0.0.0.0')))).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('no app answers at'),
    });
  });

  test('of a hosted project warns about an unencrypted address', async () => {
    expect(await diagnose(appUrl, project(publicUrl)))
      .toMatchObject({ status: 'warn', message: `APP_URL is not encrypted: ${publicUrl}` });
  });

  test('fails where the app answers 502, and passes where it answers 307', async () => {
    answer = () => new Response(null, { status: 502 });
    expect(await diagnose(appUrl, project(publicUrl)))
      .toMatchObject({ status: 'fail', message: `${publicUrl} answers 502` });
    answer = () => new Response(null, { status: 307, headers: { location: '/login' } });
    expect(await diagnose(appUrl, local({ environment: { APP_URL: server.url } })))
      .toEqual({ status: 'pass', message: `${server.url} answers 307` });
  });

  test('of the local stack is skipped while no app runs there', async () => {
    expect(await diagnose(appUrl, local({ environment: { APP_URL: deadAddress() } })))
      .toMatchObject({ status: 'skip', message: expect.stringContaining('no app runs at') });
    expect(await diagnose(appUrl, hosted())).toEqual({ status: 'skip', message: 'APP_URL not given' });
  });
});

describe('revalidation', () => {
  const environment = { APP_URL: `${server.url}/`, REVALIDATE_SECRET: 'revalidate-secret' };
  const routeHandler: Handler = ({ method, path, headers }) => {
    if (method !== 'POST' || path !== '/api/revalidate') return null;
    return headers.get('x-revalidate-secret') === 'revalidate-secret'
      ? Response.json({ revalidated: true })
      : Response.json({ error: 'Unauthorized' }, { status: 401 });
  };

  test('passes with 401 without the secret and 200 with it', async () => {
    answer = routeHandler;
    expect(await diagnose(revalidation, hosted({ environment })))
      .toEqual({ status: 'pass', message: `${server.url}/api/revalidate: 401 without the secret, 200 with it` });
  });

  test('fails where the app refreshes the pages without the secret', async () => {
    expect(await diagnose(revalidation, hosted({ environment })))
      .toMatchObject({ status: 'fail', message: expect.stringContaining('for any caller: 200 without the secret') });
  });

  test('fails where the app has no such route, or redirects to a login', async () => {
    answer = () => null;
    expect(await diagnose(revalidation, hosted({ environment })))
      .toMatchObject({ status: 'fail', message: expect.stringContaining('answers 404 without the secret, not 401') });
    answer = () => new Response(null, { status: 307, headers: { location: '/login' } });
    expect(await diagnose(revalidation, hosted({ environment })))
      .toMatchObject({ status: 'fail', message: expect.stringContaining('answers 307 without the secret, not 401') });
  });

  test('fails where the app has another secret', async () => {
    answer = routeHandler;
    expect(await diagnose(revalidation, hosted({ environment: { ...environment, REVALIDATE_SECRET: 'another' } })))
      .toMatchObject({ status: 'fail', message: 'the app has another REVALIDATE_SECRET than this environment' });
  });

  test('fails where the app fails with the secret', async () => {
    answer = ({ headers }) => new Response(null, { status: headers.has('x-revalidate-secret') ? 500 : 401 });
    expect(await diagnose(revalidation, hosted({ environment })))
      .toMatchObject({ status: 'fail', message: expect.stringContaining('answers 500 with the secret') });
  });

  test('fails where no app answers, and warns for the local stack', async () => {
    const away = { ...environment, REVALIDATE_URL: `${deadAddress()}/api/revalidate` };
    expect(await diagnose(revalidation, hosted({ environment: away }))).toMatchObject({ status: 'fail' });
    expect(await diagnose(revalidation, local({ environment: away }))).toMatchObject({ status: 'warn' });
  });

  test('is skipped where REVALIDATE_URL is empty, and without REVALIDATE_SECRET', async () => {
    expect(await diagnose(revalidation, hosted({ environment: { ...environment, REVALIDATE_URL: '' } })))
      .toEqual({ status: 'skip', message: 'REVALIDATE_URL is empty: there are no cached pages' });
    expect(await diagnose(revalidation, hosted({ environment: { APP_URL: server.url } })))
      .toMatchObject({ status: 'skip' });
  });
});

describe('local-stack', () => {
  const project = (url: string) => local({ url, functionsUrl: `${url}/functions/v1` });

  test('passes where the local stack answers', async () => {
    answer = ({ path }) => path === '/functions/v1/api/health' ? Response.json({ status: 'ok' }) : null;
    expect(await diagnose(localStack, project(server.url))).toMatchObject({ status: 'pass' });
  });

  test('fails where no local stack runs, with a remedy', async () => {
    const url = deadAddress();
    expect(await diagnose(localStack, project(url))).toEqual({
      status: 'fail',
      message: `no local stack runs at ${url}`,
      remedy: expect.stringContaining('npm start'),
    });
  });

  test('fails where its database does not answer', async () => {
    answer = () => Response.json({ error: 'Service unavailable' }, { status: 503 });
    expect(await diagnose(localStack, project(server.url)))
      .toMatchObject({ status: 'fail', message: 'GET /api/health answers 503' });
  });
});
