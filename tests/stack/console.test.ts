import { afterAll, describe, expect, test, vi } from 'vitest';
import { createConsole } from '../../scripts/console/console.ts';
import { createSupportDatabase } from '../../scripts/console/database.ts';
import { localPassword } from '../helpers/project/keys.ts';
import { hasIpv6 } from '../../scripts/stack/http/local-host-service.ts';
import { markLocal } from '../../scripts/stack/mark-local.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { readLines } from '../../scripts/stack/process/read-lines.ts';
import { root } from '../../scripts/stack/root.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { enter } from '../helpers/http/enter-console.ts';
import { paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';
import { useConsole } from './console-rig.ts';

const support = useConsole();
const client = Deno.createHttpClient({ allowHost: true });
afterAll(() => client.close());

describe('access', () => {
  async function status(path: string, headers: Record<string, string> = {}): Promise<number> {
    const answer = await fetch(support.url + path, { headers: new Headers(headers), client, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status;
  }

  test('the address with the token gives once, under a random host name, a cookie that no script reads', async () => {
    const url = support.entryUrl;
    const { pathname, search, port } = new URL(url);
    const led = await fetch(url, { redirect: 'manual' });
    await led.body?.cancel();
    expect([led.status, led.headers.get('set-cookie')]).toEqual([303, null]);
    const { hostname } = new URL(led.headers.get('location') ?? '');
    expect(hostname).toMatch(/^console-[0-9a-f]{16}\.localhost$/);
    const answers = await Promise.all([url, url].map(enter));
    expect(answers.map(([{ status }]) => status).toSorted()).toEqual([303, 403]);
    const headers = answers.find(([{ status }]) => status === 303)?.[0].headers ?? expect.fail();
    expect(headers.get('location')).toBe('/');
    expect(headers.get('set-cookie')).toMatch(/^console=[0-9a-f]{48}; Path=\/; HttpOnly; SameSite=Strict$/);
    const host = `${hostname}:${port}`;
    // The printed address still leads an admitted browser to the pages.
    expect(await status(pathname + search)).toBe(303);
    expect(await status(pathname + search, { host, cookie: support.cookie })).toBe(303);
    expect(await status('/', { host, cookie: support.cookie })).toBe(200);
    expect(await status(pathname + search, { host })).toBe(403);
  });

  test.runIf(hasIpv6())('no other program can listen where browsers look for the random host name, too', () => {
    const taken = { hostname: '::1', port: Number(new URL(support.url).port) };
    expect(() => Deno.listen(taken)).toThrow(Deno.errors.AddrInUse);
  });

  test('the token leads to the console also from //attacker.example/', async () => {
    const [{ headers }] = await enter(support.entryUrl.replace('/?', '//attacker.example/?'));
    expect(headers.get('location')).toBe('/');
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
  const inDays = (days: number) => `${new Date(Date.now() + days * 24 * 3_600_000).toISOString().slice(0, 19)}Z`;

  test('an action is carried out with its reason, and is in the timeline', async () => {
    const { id } = await createUser(support.database);
    const until = inDays(30);
    const entitlements = '{"projects": 50}';
    const answer = await support.act({
      action: 'grant',
      email: id,
      tier: 'pro',
      until,
      entitlements,
      reason: 'Thanks',
    });
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
    expect(await support.database.query('select entitlements from billing.grants')).toEqual([
      { entitlements: { projects: 50 } },
    ]);
  });

  test.each([
    [{ action: 'note', reason: ' ' }, 400, 'Say why: the reason is kept with the action.'],
    [{ action: 'note', reason: 'x', result: 'forged' }, 400, expect.any(String)],
    [{ action: 'grant', entitlements: 'projects: 5', reason: 'x' }, 400, expect.stringContaining('as JSON')],
    [{ action: 'drop', reason: 'x' }, 422, expect.stringContaining('invalid input value for enum')],
    [{ action: 'note', email: 'nobody@example.com', reason: 'x' }, 422, expect.stringContaining('no user with')],
  ])('the action %o → %d with the reason', async (action, status, error) => {
    const answer = await support.act(action);
    expect([answer.status, await answer.json()]).toEqual([status, { error }]);
  });

  test('a grant of at most 100 years is given; a longer one, and an infinite one, is refused', async () => {
    const { email } = await createUser(support.database);
    const sql = await openSupport(support.database);
    const grant = (until: string) => act(sql, { action: 'grant', email, tier: 'pro', until });
    const years = (count: number) => new Date(Date.now() + count * 365.25 * 24 * 3_600_000).toISOString();
    for (const until of ['infinity', '294276-12-31Z', years(101)]) {
      await expect(grant(until), until).rejects.toThrow(
        'grant needs until: a time in the future, at most 100 years ahead',
      );
    }
    expect(await grant(years(99))).toMatchObject({ email });
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

  test('a list with an unknown filter, or the name of a property, is read as without one', async () => {
    const all = await support.read('/messages');
    expect(all.status).toBe(200);
    for (const show of ['unknown', 'constructor']) expect(await support.read(`/messages?show=${show}`)).toEqual(all);
  });

  test('the revenue is the same in the page and in the CSV', async () => {
    await support.database.query('select billing.run_passes()');
    const { body } = await support.read('/revenue');
    expect(body.revenue).toMatchObject([{ currency: 'INR', gross: 99900, net: 99900, new_customers: 1 }]);
    const csv = await support.get('/api/revenue.csv?currency=INR');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="revenue.csv"');
    expect(await csv.text()).toMatch(/^month,currency,gross,refunded,net,mrr,.*\r\n\d{4}-\d\d,INR,99900,0,99900,/);
  });

  test('a customer has the price and the months that were sold, of payments and of what the gateway bills', async () => {
    await support.database.query(
      `update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro';
       insert into public.plans (tier, name, lookup_key, price, duration_months, gateway_plan_id)
       values ('pro', 'Pro', 'pro_monthly', 9900, 1, 'plan_pro_monthly')`,
    );
    const { id } = await createUser(support.database);
    const start = inDays(0);
    const cycle = { userId: id, planId: 'plan_pro_monthly', start, end: inDays(30), createdAt: start };
    const charged = subscriptionEvent({ name: 'charged', ...cycle, payment: { id: 'pay_cycle', amount: 9900 } });
    await deliver(await support.database.connect(), charged);
    const { body } = await support.read(`/customers/${id}`);
    expect(body).toMatchObject({
      commitments: [{
        lookup_key: 'pro_monthly',
        amount: 9900,
        currency: 'INR',
        months: 1,
        charge_at: expect.any(String),
      }],
      payments: { rows: [{ tier: 'pro', price_key: 'pro_monthly', months: 1 }] },
    });
  });

  test('a customer has receipts and credit notes, and a receipt is reissued once with the details of today', async () => {
    await support.database.query(
      "update billing.settings set seller_name = 'Example Software LLP', receipts_from = '2020-01-01'",
    );
    const session = await support.database.connect();
    const order = await placeOrder(support.database);
    const { id } = order.user;
    await verifyPurchase(session, order);
    await deliver(session, paymentCaptured(paymentOf(order)));
    await support.database.query('do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$');
    const documents = async () => Object((await support.read(`/customers/${id}`)).body.documents).rows;
    const [receipt] = await documents();
    expect(receipt).toMatchObject({
      ...{ title: 'Receipt', document_number: expect.stringMatching(/^\d{4}\/\d{6}$/), total: 99900, currency: 'INR' },
      ...{ gateway_payment_id: order.paymentId, can_be_reissued: true },
    });
    const { document_number: reference } = receipt;
    const reissue = () => support.act({ action: 'reissue', email: id, reference, reason: 'another address' });
    expect((await reissue()).status).toBe(200);
    expect((await documents()).map((row: typeof receipt) => [row.kind, row.total, row.can_be_reissued]).toSorted())
      .toEqual([['credit_note', 99900, false], ['receipt', 99900, false], ['receipt', 99900, true]]);
    expect((await reissue()).status).not.toBe(200);
    expect((await support.read(`/customers/${id}/documents`)).body).toEqual({ rows: await documents(), older: null });
  });

  test('GET /payments/:id → what may still be refunded of a payment; GET /clock → the time of the database', async () => {
    const order = await placeOrder(support.database);
    await verifyPurchase(await support.database.connect(), order);
    expect(await support.read(`/payments/${order.paymentId}`))
      .toEqual({
        status: 200,
        body: { currency: 'INR', kind: 'order', refundable_amount: 99900, refund_effect: null },
      });
    expect((await support.read('/payments/pay_unknown')).status).toBe(404);
    const { now } = await support.database.one('select billing.clock() as now');
    const { body } = await support.read('/clock');
    expect(body.zone).toBe('UTC');
    expect(Date.parse(String(body.now)) - Number(now)).toBeLessThan(10_000);
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
    const owner = run([], { SUPPORT_DB_URL: support.database.url });
    expect([await wrong.ended, await misused.ended, await owner.ended]).toEqual([1, 2, 1]);
    expect(owner.stderr.join('\n')).toContain('postgres is no support login');
    expect(wrong.stderr.join('\n')).toContain('the login is refused (28P01)');
    for (const { stdout, stderr } of [wrong, misused]) {
      expect([stdout, stderr.join('\n')]).toEqual([[], expect.not.stringContaining('s3cret')]);
    }
  });
});

describe('the session in the database', () => {
  const login = `support_${crypto.randomUUID().replaceAll('-', '')}`;
  /** Reads the limits of a session as a role. */
  async function limits(username: string, password: string) {
    const database = createSupportDatabase(Object.assign(new URL(support.supportUrl), { username, password }).href);
    const names = "('statement_timeout', 'idle_in_transaction_session_timeout')";
    const rows = database.read(`select setting from pg_settings where name in ${names}`);
    return await rows.finally(() => database.close());
  }

  test('of a personal login, and of the role itself, ends long statements and open transactions', async () => {
    await support.database.query(`create role ${login} login password 'pw' in role subscriptions_support`);
    for (const [name, password] of [[login, 'pw'], ['subscriptions_support', localPassword]] as const) {
      expect([name, await limits(name, password)]).toEqual([name, [{ setting: '60000' }, { setting: '60000' }]]);
    }
    await support.database.query(`drop role ${login}`);
    // In any other program, too.
    const { rows } = await withClient(
      support.supportUrl,
      (sql) => sql.query('show idle_in_transaction_session_timeout'),
    );
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '1min' }]);
  });

  test('is refused to the owner of the database, but not on a local stack', async () => {
    await expect(limits('postgres', localPassword)).rejects.toThrow('postgres is no support login');
    await markLocal(support.database.url);
    expect(await limits('postgres', localPassword)).toHaveLength(2);
  });
});
