import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMailbox } from '../../scripts/stack/mailbox/mailbox.ts';
import { anyUser } from '../helpers/gateway/any-user.ts';

const mailbox = createMailbox({ port: 0, isOwn: anyUser, revalidateSecret: 'revalidate-me' });
beforeAll(() => mailbox.start());
afterAll(() => mailbox.stop());
beforeEach(async () => {
  for (const path of ['/emails', '/api/revalidate', '/simulate/fault']) await call('DELETE', path);
});

const KEY = { authorization: 'Bearer re_local' };
const MAIL = { from: 'Acme <billing@acme.example>', to: 'asha@example.com', subject: 'Hello', html: '<p>Hello</p>' };

/** Calls the mailbox. `body` is the text where the answer is no JSON. */
async function call(method: string, path: string, body?: unknown, headers: HeadersInit = {}) {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(mailbox.url + path, { method, headers, body: sent });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: /^[{[]/.test(text) ? JSON.parse(text) : text };
}
const send = (body: unknown, headers: Record<string, string> = {}) =>
  call('POST', '/emails', body, { ...KEY, ...headers });
const list = async (): Promise<Record<string, unknown>[]> => (await call('GET', '/emails')).body.data;
const subjects = async () => (await list()).map(({ subject }) => subject);
const fault = (fields: Record<string, unknown>) => call('POST', '/simulate/fault', fields);

test('POST /emails returns an id, by which the mail can be read', async () => {
  const attachments = [{ filename: '2627-000001.pdf', content: 'JVBERi0xLjc=' }];
  const fields = { attachments, text: 'Hello', cc: ['b@example.com'], headers: { 'X-Entity-Ref-ID': '7' } };
  const tags = [{ name: 'kind', value: 'success' }];
  const sent = await send({ ...MAIL, ...fields, tags, reply_to: 'help@acme.example' });
  expect([sent.status, sent.body]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
  expect((await call('GET', `/emails/${sent.body.id}`)).body).toEqual({
    ...{ object: 'email', id: sent.body.id, ...MAIL, ...fields, tags },
    ...{ to: ['asha@example.com'], bcc: [], reply_to: ['help@acme.example'], scheduled_at: null },
    ...{ last_event: 'delivered', idempotency_key: null, created_at: expect.stringMatching(/^\d{4}-.*T.*\.\d{3}Z$/) },
  });
  const { status, body } = await call('GET', '/emails/nope');
  expect([status, body]).toEqual([404, { statusCode: 404, name: 'not_found', message: 'Email not found' }]);
});

test('the list is newest first, without bodies, and has pages with limit and after', async () => {
  for (const subject of ['1', '2', '3']) await send({ ...MAIL, subject });
  const { body } = await call('GET', '/emails?limit=2');
  expect(body).toMatchObject({ object: 'list', has_more: true, data: [{ subject: '3' }, { subject: '2' }] });
  expect(JSON.stringify(body)).not.toContain('<p>');
  const { body: last } = await call('GET', `/emails?limit=2&after=${body.data[1].id}`);
  expect(last).toMatchObject({ has_more: false, data: [{ subject: '1' }] });
});

test.each<[string, unknown, Record<string, string>, string]>([
  ['without a key', MAIL, { authorization: '' }, '401 invalid_api_key'],
  ['that is no JSON', '{', {}, '400 validation_error'],
  ['without a recipient', { ...MAIL, to: undefined }, {}, '422 missing_required_field to'],
  ['to no address', { ...MAIL, to: 'Asha' }, {}, '422 validation_error to'],
  ['to 51 recipients', { ...MAIL, to: Array(51).fill('a@example.com') }, {}, '422 validation_error to'],
  [
    'with an attachment that is not base64',
    { ...MAIL, attachments: [{ filename: 'a', content: '%' }] },
    {},
    '422 validation_error attachments',
  ],
  ['with a line break in the subject', { ...MAIL, subject: 'a\nb' }, {}, '422 validation_error subject'],
  ['with a key of 257 characters', MAIL, { 'idempotency-key': 'k'.repeat(257) }, '400 invalid_idempotency_key'],
])('a mail %s is refused and not stored', async (_, mail, headers, expected) => {
  const [statusCode, name, field = ''] = expected.split(' ');
  const { status, body } = await send(mail, headers);
  expect([`${status}`, body])
    .toEqual([statusCode, { statusCode: status, name, message: expect.stringContaining(field) }]);
  expect(await list()).toEqual([]);
  expect((await call('POST', '/emails', mail)).body.name).toBe('missing_api_key');
});

describe('an idempotency key', () => {
  const key = () => ({ 'idempotency-key': crypto.randomUUID().padEnd(256, 'k') });

  test('with the same mail, also at the same time, stores one and answers its id; with another mail → 409', async () => {
    const header = key();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(MAIL, header)));
    const [{ id, idempotency_key } = expect.fail()] = await list();
    expect(answers.map(({ status, body }) => [status, body.id])).toEqual(Array(10).fill([200, id]));
    expect(idempotency_key).toBe(header['idempotency-key']);
    const { status, body } = await send({ ...MAIL, subject: 'Other' }, header);
    expect([status, body.name, await subjects()]).toEqual([409, 'invalid_idempotent_request', ['Hello']]);
  });

  test('can be used again after a refusal; after a lost answer it stores no second mail', async () => {
    const header = key();
    expect((await send({ ...MAIL, to: 'nobody' }, header)).status).toBe(422);
    await fault({ mode: 'status', status: 500, times: 1, applied: true });
    expect([(await send(MAIL, header)).status, (await send(MAIL, header)).status]).toEqual([500, 200]);
    expect(await subjects()).toEqual(['Hello']);
  });
});

describe('a fault', () => {
  test('affects the given number of sends, with retry-after or as garbage, and they store no mail', async () => {
    await fault({ mode: 'garbage', times: 1 });
    expect(await send(MAIL)).toMatchObject({ status: 200, body: expect.any(String) });
    await fault({ mode: 'status', status: 429, times: 1, retry_after: 7 });
    const { status, headers, body } = await send(MAIL);
    expect([status, headers.get('retry-after'), body.name]).toEqual([429, '7', 'rate_limit_exceeded']);
    expect([(await send(MAIL)).status, await subjects()]).toEqual([200, ['Hello']]);
  });

  test('can hold an answer until it is removed, or until the mailbox stops', async () => {
    await fault({ mode: 'hang', times: 9 });
    let answered = false;
    const held = send(MAIL).finally(() => answered = true);
    await untilHeld(8);
    await expect(fetch(`${mailbox.url}/emails`, { method: 'POST', headers: KEY, signal: AbortSignal.timeout(50) }))
      .rejects.toThrow();
    expect(answered).toBe(false);
    await call('DELETE', '/simulate/fault');
    expect([(await held).status, (await send(MAIL)).status]).toEqual([503, 200]);
    await fault({ mode: 'hang', times: 9 });
    const cut = send(MAIL).then(({ status }) => status, () => 'cut');
    await untilHeld(8);
    await mailbox.stop();
    expect([503, 'cut']).toContain(await cut);
    await mailbox.start();
  });

  test('of the revalidation does not affect mails; an invalid one → 400, and none is set', async () => {
    for (const fields of [{ mode: 'status', status: 200 }, { mode: 'sulk' }]) {
      expect((await fault(fields)).status).toBe(400);
    }
    expect((await call('GET', '/simulate/fault')).body).toEqual({ faults: [] });
    await fault({ target: 'revalidate', mode: 'status', status: 500, times: 1 });
    expect([(await send(MAIL)).status, await revalidate(['/a']), await revalidate(['/a'])]).toEqual([200, 500, 200]);
  });
});

/** Waits until so many requests are left that will be held. */
const untilHeld = (times: number) =>
  vi.waitFor(async () => {
    expect((await call('GET', '/simulate/fault')).body).toMatchObject({ faults: [{ times }] });
  }, { timeout: 20_000 });

const SECRET = { 'x-revalidate-secret': 'revalidate-me' };
const revalidate = async (paths: string[], headers: HeadersInit = SECRET) =>
  (await call('POST', '/api/revalidate', { paths }, headers)).status;

test('a revalidation call is answered and listed newest first', async () => {
  expect((await call('POST', '/api/revalidate', { paths: ['/pricing'] }, SECRET)).body).toEqual({ revalidated: true });
  await revalidate(['/subscription', '/dashboard']);
  expect((await call('GET', '/api/revalidate')).body)
    .toMatchObject({ object: 'list', data: [{ paths: ['/subscription', '/dashboard'] }, { paths: ['/pricing'] }] });
});

test('a revalidation call without the secret → 401, with an invalid body → 400, and is not listed', async () => {
  for (const secret of ['', 'revalidate-m']) {
    expect(await revalidate(['/pricing'], { 'x-revalidate-secret': secret })).toBe(401);
  }
  for (const body of ['{', { paths: [] }, { paths: ['pricing'] }]) {
    expect([body, (await call('POST', '/api/revalidate', body, SECRET)).status]).toEqual([body, 400]);
  }
  expect((await call('GET', '/api/revalidate')).body.data).toEqual([]);
});

test('the page refuses a foreign Origin, and with its files a foreign script, and the HTML of a mail is unchanged and sandboxed', async () => {
  for (const path of ['/', '/page.css', '/page.js']) {
    const { status, headers } = await call('GET', path);
    expect([status, headers.get('content-security-policy')])
      .toEqual([200, expect.stringContaining("default-src 'none'; script-src 'self'")]);
  }
  expect((await call('GET', '/emails', undefined, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await call('GET', '/')).body).toMatch(/<iframe[^>]* sandbox=""/);
  const html = '<script>alert(1)</script><p>₹499.00</p>';
  const frame = await call('GET', `/mails/${(await send({ ...MAIL, html })).body.id}/html`);
  expect(frame.body).toBe(html);
  expect(frame.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
  const plain = await send({ ...MAIL, html: undefined, text: 'Hello' });
  expect((await call('GET', `/mails/${plain.body.id}/html`)).status).toBe(404);
});
