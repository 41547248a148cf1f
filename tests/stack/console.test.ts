import { afterAll, describe, expect, test, vi } from 'vitest';
import { createConsole } from '../../scripts/console/console.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { readLines } from '../../scripts/stack/process/read-lines.ts';
import { root } from '../../scripts/stack/root.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';
import { enter, useConsole } from './console-rig.ts';

const support = useConsole();
const client = Deno.createHttpClient({ allowHost: true });
afterAll(() => client.close());

describe('access', () => {
  async function status(path: string, headers: Record<string, string> = {}): Promise<number> {
    const answer = await fetch(support.url + path, { headers: new Headers(headers), client, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status;
  }

  test('the address with the token gives a cookie that no script reads, and leads to an address without it', async () => {
    const [{ status: entered, headers }] = await enter(support.entryUrl);
    expect([entered, headers.get('location')]).toEqual([303, '/']);
    expect(headers.get('set-cookie')).toMatch(
      /^console_[0-9a-f]{8}=[0-9a-f]{48}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await status('/', { cookie: support.cookie })).toBe(200);
  });

  test('a request without the cookie, or with a wrong token or cookie → 403', async () => {
    const paths = ['/', '/customers', '/page.js', '/page.css', '/icon.svg', '/api/today', '/api/revenue.csv', '/no'];
    const wrong = '0'.repeat(48);
    for (const path of paths) {
      const cookie = support.cookie.replace(/=.*/, `=${wrong}`);
      expect([path, await status(path), await status(`${path}?token=${wrong}`), await status(path, { cookie })])
        .toEqual([path, 403, 403, 403]);
    }
  });

  test.each([
    ['Host', { host: 'attacker.example' }],
    ['Origin', { origin: 'http://attacker.example' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  ])('a request with the cookie and a foreign %s → 403', async (_, headers) => {
    expect(await status('/api/today', { cookie: support.cookie, ...headers })).toBe(403);
  });

  test('an action without an origin, or of another page → 403, and nothing is done', async () => {
    const { id } = await createUser(support.database);
    const action = { action: 'note', email: id, reason: 'forged' };
    const headers = { cookie: support.cookie, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(action) };
    expect((await fetch(`${support.url}/api/actions`, init)).status).toBe(403);
    expect((await support.act(action, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await support.database.query('select from billing.support_actions')).toEqual([]);
  });

  test('a page has a policy without inline script and style, and no address but its own; the API has its own', async () => {
    const names = ['content-security-policy', 'referrer-policy', 'cache-control', 'x-content-type-options'];
    const page = await support.get('/customers');
    expect(names.map((name) => page.headers.get(name))).toEqual([
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ...['no-referrer', 'no-store', 'nosniff'],
    ]);
    const html = await page.text();
    expect(html.match(/<script[^>]*>/g)).toEqual(['<script src="/page.js" type="module">']);
    expect(html).not.toMatch(/https?:|\son[a-z]+=|<style| style=/);
    const { headers, body } = await support.get('/api/tiers');
    await body?.cancel();
    expect(names.map((name) => headers.get(name))).toEqual(["default-src 'none'", null, 'no-store', 'nosniff']);
  });
});

describe('the API', () => {
  test('an action is carried out with its reason, and is in the timeline', async () => {
    const { id } = await createUser(support.database);
    const until = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
    const answer = await support.act({ action: 'grant', email: id, tier: 'pro', until, reason: 'Thanks' });
    const result = expect.stringMatching(/^Grant \d+ gives pro/);
    expect([answer.status, await answer.json()]).toEqual([200, { result }]);
    const { body } = await support.read(`/customers/${id}`);
    const why = expect.stringContaining('(Thanks)');
    expect(body).toMatchObject({
      customer: { user_id: id, tier: 'pro', billing: 'complimentary', why },
      periods: [{ kind: 'grant', tier: 'pro', is_ruling: true }],
      payments: { rows: [], older: null },
    });
    expect(JSON.stringify(body.timeline)).toContain('grant by subscriptions_support');
  });

  test.each([
    [{ action: 'note', reason: ' ' }, 400, 'Say why: the reason is kept with the action.'],
    [{ action: 'note', reason: 'x', result: 'forged' }, 400, expect.any(String)],
    [{ action: 'drop', reason: 'x' }, 422, expect.stringContaining('invalid input value for enum')],
    [{ action: 'note', email: 'nobody@example.com', reason: 'x' }, 422, expect.stringContaining('no user with')],
  ])('the action %o → %d with the reason', async (action, status, error) => {
    const answer = await support.act(action);
    expect([answer.status, await answer.json()]).toEqual([status, { error }]);
  });

  test('a list of 250 webhooks is read in three pages, each row once and the newest first', async () => {
    await support.database.query(
      `insert into billing.gateway_events (body_sha256, event, outcome, received_at)
       select sha256(n::text::bytea), 'payment.captured', 'applied', timestamptz '2026-01-01' + n / 3 * interval '1 second'
       from generate_series(1, 250) n`,
    );
    const pages: Record<string, string>[][] = [];
    for (let older: unknown = ''; older !== null;) {
      const { body } = await support.read(`/webhooks?older=${encodeURIComponent(String(older))}`);
      pages.push(Array.isArray(body.rows) ? body.rows : []);
      older = body.older;
    }
    const rows = pages.flat();
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(new Set(rows.map(({ body_sha256 }) => body_sha256)).size).toBe(250);
    const times = rows.map(({ received_at }) => received_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect((await support.read('/webhooks?show=open')).body).toEqual({ rows: [], older: null });
    expect((await support.read(`/webhooks/${rows[0]?.body_sha256}`)).body)
      .toMatchObject({ event: 'payment.captured', payload: null });
  });

  test('a mail is shown as it is sent, in a document without scripts and foreign images', async () => {
    const purchase = await placeOrder(support.database);
    await verifyPurchase(await support.database.connect(), purchase);
    const { body } = await support.read('/messages?show=queued');
    const [mail] = Array.isArray(body.rows) ? body.rows.filter((row) => row.recipient === purchase.user.email) : [];
    const subject = 'Payment received: your Pro plan is active';
    expect((await support.read(`/messages/${mail.id}`)).body)
      .toMatchObject({ kind: 'payment-success', state: 'queued', subject });
    const shown = await support.get(`/api/messages/${mail.id}/mail`);
    expect(shown.headers.get('content-security-policy')).toBe(
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    );
    expect(await shown.text()).toContain('https://app.example/dashboard');
  });

  test('the revenue is the same in the page and in the CSV', async () => {
    const { body } = await support.read('/revenue');
    expect(body.revenue).toMatchObject([{ currency: 'INR', gross: 99900, net: 99900, new_customers: 1 }]);
    const csv = await support.get('/api/revenue.csv?currency=INR');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="revenue.csv"');
    expect(await csv.text()).toMatch(/^month,currency,gross,refunded,net,mrr,.*\r\n\d{4}-\d\d,INR,99900,0,99900,/);
  });

  test('GET of an unknown customer, webhook, message or path → 404', async () => {
    const paths = [`customers/${crypto.randomUUID()}`, 'customers/x', `webhooks/${'0'.repeat(64)}`];
    for (const path of [...paths, 'messages/999999', 'nothing']) {
      expect([path, (await support.read(`/${path}`)).status]).toEqual([path, 404]);
    }
  });

  test('a database that does not answer → 503; neither the answer nor the log has its address or password', async () => {
    const log: string[] = [];
    const spy = vi.spyOn(Deno.stderr, 'writeSync');
    spy.mockImplementation((bytes) => log.push(new TextDecoder().decode(bytes)));
    const databaseUrl = `postgresql://subscriptions_support:s3cret-password@127.0.0.1:${freePort()}/postgres`;
    const service = createConsole({ port: 0, databaseUrl, appUrl: 'https://app.example' });
    await service.start();
    const [, cookie] = await enter(service.entryUrl);
    const answer = await fetch(`${service.url}/api/today`, { headers: { cookie } });
    const text = await answer.text();
    await service.stop();
    spy.mockRestore();
    expect([answer.status, text]).toEqual([503, '{"error":"The database did not answer (ECONNREFUSED)."}']);
    expect(log.join('')).toBe('console: GET /api/today failed: ECONNREFUSED\n');
  });
});

describe('npm run console', () => {
  /** Runs the command. Its output is complete when it has ended. */
  function run(args: string[], env: Record<string, string> = {}) {
    const npm = new Deno.Command('npm', {
      args: ['run', '--silent', 'console', '--', ...args],
      ...{ cwd: root, env, stdin: 'null', stdout: 'piped', stderr: 'piped' },
    }).spawn();
    const stdout: string[] = [];
    const stderr: string[] = [];
    const read = [[npm.stdout, stdout], [npm.stderr, stderr]] as const;
    const complete = Promise.all(read.map(([stream, lines]) => readLines(stream, (line) => lines.push(line))));
    const ended = npm.status.then(async ({ code }) => {
      await complete;
      return code;
    });
    return { stdout, stderr, ended, stop: () => npm.kill('SIGTERM') };
  }

  test('serves the database of SUPPORT_DB_URL, and ends with SIGTERM', async () => {
    const command = run([], { SUPPORT_DB_URL: support.supportUrl });
    await vi.waitFor(() => expect(command.stdout).toContain('ready'), { timeout: 30_000, interval: 20 });
    const [, url = ''] =
      /^CONSOLE_URL="(http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{48})"$/.exec(command.stdout[0] ?? '') ?? [];
    const [{ status }, cookie] = await enter(url);
    const answer = await fetch(new URL('/api/tiers', url), { headers: { cookie } });
    expect([status, await answer.json()]).toEqual([303, ['basic', 'pro', 'premium']]);
    command.stop();
    await command.ended;
    expect(command.stdout).toEqual([`CONSOLE_URL="${url}"`, 'ready']);
  });

  test('with a wrong password or option ends at once, without a secret in its output', async () => {
    const url = new URL(support.supportUrl);
    url.password = '';
    const wrong = run(['--db-url', url.href], { SUPPORT_DB_PASSWORD: 's3cret' });
    const misused = run(['--port', 'http', '--db-url', 'postgresql://asha:s3cret@127.0.0.1/postgres']);
    expect([await wrong.ended, await misused.ended]).toEqual([1, 2]);
    expect(wrong.stderr.join('\n')).toContain('the login is refused (28P01)');
    for (const { stdout, stderr } of [wrong, misused]) {
      expect([stdout, stderr.join('\n')]).toEqual([[], expect.not.stringContaining('s3cret')]);
    }
  });
});
