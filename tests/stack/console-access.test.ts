import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createUser } from '../helpers/records/records.ts';
import { useConsole } from './console-rig.ts';

const support = useConsole();
const client = Deno.createHttpClient({ allowHost: true });
afterAll(() => client.close());

async function status(path: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(new URL(path, support.url), { headers: new Headers(headers), client, redirect: 'manual' });
  await answer.body?.cancel();
  return answer.status;
}

test('the address with the token gives a cookie that no script reads, and leads to an address without it', async () => {
  const entered = await fetch(support.entryUrl, { redirect: 'manual' });
  await entered.body?.cancel();
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
  expect(entered.headers.get('set-cookie')).toMatch(
    /^console_[0-9a-f]{8}=[0-9a-f]{48}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(await status('/', { cookie: support.cookie })).toBe(200);
});

test.each([
  '/',
  '/customers',
  '/page.js',
  '/page.css',
  '/icon.svg',
  '/api/today',
  '/api/revenue.csv?currency=INR',
  '/no',
])(
  'a request for %s without the cookie, or with a wrong token or cookie → 403',
  async (path) => {
    expect(await status(path)).toBe(403);
    expect(await status(`${path.split('?')[0]}?token=${'0'.repeat(48)}`)).toBe(403);
    expect(await status(path, { cookie: support.cookie.replace(/=.*/, `=${'0'.repeat(48)}`) })).toBe(403);
  },
);

test.each([
  ['Host', { host: 'attacker.example' }],
  ['Origin', { origin: 'http://attacker.example' }],
  ['Origin of another port', { origin: 'http://127.0.0.1:1' }],
  ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
])('a request with the cookie and a foreign %s → 403', async (_, headers) => {
  expect(await status('/api/today', { cookie: support.cookie, ...headers })).toBe(403);
});

test('an action without an origin, or of another page → 403, and nothing is done', async () => {
  const { id } = await createUser(support.database);
  const body = JSON.stringify({ action: 'note', email: id, reason: 'forged' });
  const headers = { cookie: support.cookie, 'content-type': 'application/json' };
  const bare = await fetch(`${support.url}/api/actions`, { method: 'POST', headers, body });
  const foreign = await support.act({ action: 'note', email: id, reason: 'forged' }, {
    'sec-fetch-site': 'cross-site',
  });
  expect([bare.status, foreign.status]).toEqual([403, 403]);
  expect(await support.database.query('select from billing.support_actions')).toEqual([]);
});

test('a page has a policy without inline script and style, and no address but its own', async () => {
  const page = await fetch(`${support.url}/customers`, { headers: { cookie: support.cookie } });
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect([page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual(['no-referrer', 'no-store']);
  const html = await page.text();
  expect([...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual(['<script src="/page.js" type="module">']);
  expect(html).not.toMatch(/https?:|\son[a-z]+=|<style| style=/);
});

test('an answer of the API has a policy of its own and is not stored', async () => {
  const { headers, body } = await fetch(`${support.url}/api/tiers`, { headers: { cookie: support.cookie } });
  await body?.cancel();
  expect([headers.get('content-security-policy'), headers.get('cache-control'), headers.get('x-content-type-options')])
    .toEqual(["default-src 'none'", 'no-store', 'nosniff']);
});

test.each([
  "update public.profiles set subscription_tier = 'premium'",
  'update public.plans set price = 0',
  'delete from billing.support_actions',
  "update billing.support_actions set reason = 'another'",
  "insert into billing.grants (user_id, tier, until) values (gen_random_uuid(), 'pro', now())",
  "insert into billing.support_actions (action, reason, actor) values ('note', 'as another', 'postgres')",
  'select encrypted_password from auth.users',
  'create table public.mine ()',
])('the role of the console is refused: %s', async (statement) => {
  const connection = new pg.Client({ connectionString: support.supportUrl });
  await connection.connect();
  await expect(connection.query(statement)).rejects.toMatchObject({ code: '42501' });
  await connection.end();
});
