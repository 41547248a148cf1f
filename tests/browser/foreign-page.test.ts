import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../helpers/browser/in-page.js';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { createToken } from '../helpers/http/tokens.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';

/** Another program of this machine, with a page, and what browsers send it: host, cookie, referrer. */
const arrivals: (string | null)[][] = [];
const other = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, ({ headers }) => {
  arrivals.push(['host', 'cookie', 'referer'].map((name) => headers.get(name)));
  return new Response('<!doctype html><title>Other</title><link rel="icon" href="data:,">', {
    headers: { 'content-type': 'text/html' },
  });
});
const browser = useBrowser();
let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  env = await stack.ready;
});
afterAll(async () => {
  await stack.end();
  await other.shutdown();
});

test('a page on another port sees no cookie of the console, and can neither read nor act in it', async () => {
  const page = await browser.openPage();
  await page.goto(env.CONSOLE_URL ?? '');
  await page.waitForSelector('main h1');
  const { origin, port } = new URL(page.url());
  expect((await page.evaluate(send, '/api/revenue.csv', {}))[0]).toBe(200);
  for (const name of ['127.0.0.1', 'localhost']) await page.goto(`http://${name}:${other.addr.port}/`);
  expect(arrivals).toEqual(['127.0.0.1', 'localhost'].map((name) => [`${name}:${other.addr.port}`, null, null]));
  const action = { method: 'POST', credentials: 'include', body: '{"action":"note","email":"asha@example.com"}' };
  for (const at of [origin, `http://127.0.0.1:${port}`]) {
    expect(await page.evaluate(send, `${at}/api/today`, { credentials: 'include' })).toEqual(['TypeError']);
    expect(await page.evaluate(send, `${at}/api/actions`, action)).toEqual(['TypeError']);
  }
});

test('a page of another origin uses the API with a session, and gets nothing with a forged one', async () => {
  const page = await browser.openPage();
  await page.goto(`http://localhost:${other.addr.port}/`);
  const call = async (path: string, token: string, body?: unknown) => {
    const headers = {
      apikey: env.PUBLISHABLE_KEY,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    };
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const [status, text = ''] = await page.evaluate(send, env.API_URL + path, init);
    return [status, text] as const;
  };
  const signUp = { email: 'visitor@example.com', password: 'correct horse battery' };
  const [, session] = await call('/auth/v1/signup', env.PUBLISHABLE_KEY ?? '', signUp);
  const { access_token, user } = JSON.parse(session);
  expect(await call('/rest/v1/profiles?select=user_id', access_token)).toEqual([200, `[{"user_id":"${user.id}"}]`]);
  for (const role of ['postgres', 'service_role']) {
    const forged = await createToken(
      { sub: user.id, role, exp: Math.floor(Date.now() / 1000) + 3600 },
      { secret: 'local-development-only-not-a-secret-of-anything' },
    );
    for (const path of ['/rest/v1/profiles', '/functions/v1/api/subscriptions']) {
      expect([role, path, (await call(path, forged))[0]]).toEqual([role, path, 401]);
    }
  }
});
