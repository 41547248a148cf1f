import { afterAll, expect, test, vi } from 'vitest';
import { createConsole } from '../../scripts/console/console.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';
import { useConsole } from './console-rig.ts';

const support = useConsole();
const inAMonth = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();

afterAll(() => vi.restoreAllMocks());

test('an action is carried out with its reason, and is in the timeline', async () => {
  const { id } = await createUser(support.database);
  const answer = await support.act({ action: 'grant', email: id, tier: 'pro', until: inAMonth, reason: 'Thanks' });
  expect([answer.status, await answer.json()]).toEqual([200, {
    result: expect.stringMatching(/^Grant \d+ gives pro/),
  }]);
  const { body } = await support.read(`/customers/${id}`);
  expect(body).toMatchObject({
    customer: { user_id: id, tier: 'pro', billing: 'complimentary', why: expect.stringContaining('(Thanks)') },
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
  [{ action: 'grant', tier: 'pro', reason: 'x' }, 422, expect.stringContaining('grant needs email')],
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
  const sizes: number[] = [];
  const hashes: unknown[] = [];
  const times: string[] = [];
  for (let older: unknown = ''; older !== null;) {
    const { body } = await support.read(`/webhooks?older=${encodeURIComponent(String(older))}`);
    const rows = Array.isArray(body.rows) ? body.rows : [];
    sizes.push(rows.length);
    hashes.push(...rows.map(({ body_sha256 }) => body_sha256));
    times.push(...rows.map(({ received_at }) => received_at));
    older = body.older;
  }
  expect(sizes).toEqual([100, 100, 50]);
  expect(new Set(hashes).size).toBe(250);
  expect(times).toEqual(times.toSorted().toReversed());
  expect((await support.read('/webhooks?show=open')).body).toEqual({ rows: [], older: null });
  expect((await support.read(`/webhooks/${hashes[0]}`)).body).toMatchObject({
    event: 'payment.captured',
    payload: null,
  });
});

test('a mail is shown as it is sent, in a document without scripts and foreign images', async () => {
  const purchase = await placeOrder(support.database);
  await verifyPurchase(await support.database.connect(), purchase);
  const { body } = await support.read('/messages?show=queued');
  const [mail] = Array.isArray(body.rows) ? body.rows.filter(({ recipient }) => recipient === purchase.user.email) : [];
  expect((await support.read(`/messages/${mail.id}`)).body).toMatchObject({
    kind: 'payment-success',
    state: 'queued',
    subject: 'Payment received: your Pro plan is active',
  });
  const shown = await fetch(`${support.url}/api/messages/${mail.id}/mail`, { headers: { cookie: support.cookie } });
  expect(shown.headers.get('content-security-policy')).toBe(
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  );
  expect(await shown.text()).toContain('https://app.example/dashboard');
  expect((await support.read('/messages/999999')).status).toBe(404);
});

test('the revenue is the same in the page and in the CSV', async () => {
  const { body } = await support.read('/revenue');
  expect(body.revenue).toMatchObject([{ currency: 'INR', gross: 99900, net: 99900, new_customers: 1 }]);
  const csv = await fetch(`${support.url}/api/revenue.csv?currency=INR`, { headers: { cookie: support.cookie } });
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="revenue.csv"');
  const [head, row] = (await csv.text()).split('\r\n');
  expect(head).toMatch(/^month,currency,gross,refunded,net,mrr,/);
  expect(row).toMatch(/^\d{4}-\d\d,INR,99900,0,99900,/);
});

test.each([`/customers/${crypto.randomUUID()}`, '/customers/x', `/webhooks/${'0'.repeat(64)}`, '/nothing'])(
  'GET /api%s → 404',
  async (path) => expect((await support.read(path)).status).toBe(404),
);

test('a database that does not answer → 503; neither the answer nor the log has its address or password', async () => {
  const log: string[] = [];
  vi.spyOn(Deno.stderr, 'writeSync').mockImplementation((bytes) => log.push(new TextDecoder().decode(bytes)));
  const databaseUrl = `postgresql://subscriptions_support:s3cret-password@127.0.0.1:${freePort()}/postgres`;
  const service = createConsole({ port: 0, databaseUrl, appUrl: 'https://app.example' });
  await service.start();
  const entered = await fetch(service.entryUrl, { redirect: 'manual' });
  await entered.body?.cancel();
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const answer = await fetch(`${service.url}/api/today`, { headers: { cookie } });
  const text = await answer.text();
  await service.stop();
  vi.restoreAllMocks();
  expect([answer.status, text]).toEqual([503, '{"error":"The database did not answer (ECONNREFUSED)."}']);
  expect(log.join('')).toBe('console: GET /api/today failed: ECONNREFUSED\n');
});
