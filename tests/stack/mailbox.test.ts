import { expect, test } from 'vitest';
import { createMailbox } from '../../scripts/stack/mailbox/mailbox.ts';
import { useMailbox } from './mailbox-rig.ts';

const { url, call } = await useMailbox();
const KEY = { authorization: 'Bearer re_local' };
const MAIL = { from: 'Acme <billing@acme.example>', to: 'asha@example.com', subject: 'Hello', html: '<p>Hello</p>' };

const send = (body: unknown, headers: Record<string, string> = {}) =>
  call('POST', '/emails', body, { ...KEY, ...headers });
const list = async () => (await call('GET', '/emails')).body;

test('POST /emails returns an id, by which the mail can be read', async () => {
  const sent = await send({
    ...MAIL,
    text: 'Hello',
    cc: ['b@example.com'],
    reply_to: 'help@acme.example',
    headers: { 'X-Entity-Ref-ID': '7' },
    tags: [{ name: 'kind', value: 'success' }],
  });
  expect(sent.status).toBe(200);
  expect(sent.body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  const { status, body } = await call('GET', `/emails/${sent.body.id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    object: 'email',
    id: sent.body.id,
    from: 'Acme <billing@acme.example>',
    to: ['asha@example.com'],
    subject: 'Hello',
    html: '<p>Hello</p>',
    text: 'Hello',
    cc: ['b@example.com'],
    bcc: [],
    reply_to: ['help@acme.example'],
    headers: { 'X-Entity-Ref-ID': '7' },
    tags: [{ name: 'kind', value: 'success' }],
    scheduled_at: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    last_event: 'delivered',
    idempotency_key: null,
  });
});

test('the list is newest first and without bodies', async () => {
  await send({ ...MAIL, subject: 'first' });
  await send({ ...MAIL, subject: 'second', to: ['a@example.com', 'b@example.com'] });
  expect(await list()).toEqual({
    object: 'list',
    has_more: false,
    data: [
      expect.objectContaining({ subject: 'second', to: ['a@example.com', 'b@example.com'], last_event: 'delivered' }),
      expect.objectContaining({ subject: 'first', to: ['asha@example.com'] }),
    ],
  });
  expect((await call('GET', '/emails')).text).not.toContain('<p>');
});

test('the list has pages with limit and after', async () => {
  for (const subject of ['1', '2', '3']) await send({ ...MAIL, subject });
  const first = (await call('GET', '/emails?limit=2')).body;
  expect(first).toMatchObject({ has_more: true, data: [{ subject: '3' }, { subject: '2' }] });
  const { data } = await list();
  const last = Array.isArray(data) ? data[1].id : '';
  expect((await call('GET', `/emails?limit=2&after=${last}`)).body).toMatchObject({
    has_more: false,
    data: [{ subject: '1' }],
  });
});

test('an unknown mail → 404 in the API’s shape', async () => {
  const { status, body } = await call('GET', '/emails/nope');
  expect(status).toBe(404);
  expect(body).toEqual({ statusCode: 404, name: 'not_found', message: 'Email not found' });
});

test.each([
  [{}, 'missing_api_key'],
  [{ authorization: 'Bearer sk_other' }, 'invalid_api_key'],
  [{ authorization: 're_local' }, 'invalid_api_key'],
])('sending with the headers %o → 401 %s and no mail', async (headers, name) => {
  const { status, body } = await call('POST', '/emails', MAIL, headers);
  expect(status).toBe(401);
  expect(body).toEqual({ statusCode: 401, name, message: expect.any(String) });
  expect(await list()).toMatchObject({ data: [] });
});

test.each([
  ['no recipient', { ...MAIL, to: undefined }, 'missing_required_field', 'to'],
  ['an empty list of recipients', { ...MAIL, to: [] }, 'missing_required_field', 'to'],
  ['no sender', { ...MAIL, from: undefined }, 'missing_required_field', 'from'],
  ['no subject', { ...MAIL, subject: undefined }, 'missing_required_field', 'subject'],
  ['neither html nor text', { ...MAIL, html: undefined }, 'missing_required_field', 'html'],
  ['a recipient that is not an address', { ...MAIL, to: 'Asha' }, 'validation_error', 'to'],
  ['a sender that is not an address', { ...MAIL, from: 'Acme <acme>' }, 'validation_error', 'from'],
  ['a recipient of a wrong type', { ...MAIL, to: 7 }, 'validation_error', 'to'],
  ['51 recipients', { ...MAIL, to: Array(51).fill('a@example.com') }, 'validation_error', 'to'],
  ['a line break in the subject', { ...MAIL, subject: 'a\nb' }, 'validation_error', 'subject'],
  ['a tag with a space', { ...MAIL, tags: [{ name: 'a b', value: 'c' }] }, 'validation_error', 'Tags'],
  ['a list as the body', [], 'validation_error', 'body'],
])('%s → 422 that names the field', async (_what, body, name, field) => {
  const answer = await send(body);
  expect(answer.status).toBe(422);
  expect(answer.body).toEqual({ statusCode: 422, name, message: expect.stringContaining(field) });
});

test('a body that is not JSON → 400', async () => {
  expect(await send('{')).toMatchObject({ status: 400, body: { statusCode: 400, name: 'validation_error' } });
});

test('the same idempotency key with the same payload returns the same id and stores one mail', async () => {
  const key = { 'idempotency-key': `payment-success/${crypto.randomUUID()}` };
  const [first, second] = [await send(MAIL, key), await send(MAIL, key)];
  expect(second.status).toBe(200);
  expect(second.body).toEqual(first.body);
  expect(await list()).toMatchObject({ data: [{ id: first.body.id, idempotency_key: key['idempotency-key'] }] });
  expect((await list()).data).toHaveLength(1);
});

test('ten concurrent sends with one key store one mail', async () => {
  const key = { 'idempotency-key': crypto.randomUUID() };
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(MAIL, key)));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect((await list()).data).toHaveLength(1);
});

test('the same idempotency key with another payload → 409 and no second mail', async () => {
  const key = { 'idempotency-key': crypto.randomUUID() };
  await send(MAIL, key);
  const { status, body } = await send({ ...MAIL, subject: 'Other' }, key);
  expect(status).toBe(409);
  expect(body).toEqual({ statusCode: 409, name: 'invalid_idempotent_request', message: expect.any(String) });
  expect((await list()).data).toHaveLength(1);
});

test('an idempotency key can be used again after a refused mail', async () => {
  const key = { 'idempotency-key': crypto.randomUUID() };
  expect((await send({ ...MAIL, to: 'nobody' }, key)).status).toBe(422);
  expect((await send(MAIL, key)).status).toBe(200);
});

test('an idempotency key of 256 characters is accepted, one of 257 → 400', async () => {
  expect((await send(MAIL, { 'idempotency-key': 'k'.repeat(256) })).status).toBe(200);
  const { status, body } = await send(MAIL, { 'idempotency-key': 'k'.repeat(257) });
  expect(status).toBe(400);
  expect(body).toMatchObject({ statusCode: 400, name: 'invalid_idempotency_key' });
});

test('the mailbox keeps the newest 1,000 mails', async () => {
  for (let i = 0; i < 1_001; i++) await send({ ...MAIL, subject: `${i}` });
  const { data } = await list();
  expect(data).toHaveLength(1_000);
  expect(data).toMatchObject({ 0: { subject: '1000' }, 999: { subject: '1' } });
});

test('a status fault affects the given number of sends, with retry-after, and they store no mail', async () => {
  await call('POST', '/simulate/fault', { mode: 'status', status: 429, times: 2, retry_after: 7 });
  for (const _time of [1, 2]) {
    const { status, headers, body } = await send(MAIL);
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('7');
    expect(body).toMatchObject({ statusCode: 429, name: 'rate_limit_exceeded' });
  }
  expect((await send(MAIL)).status).toBe(200);
  expect((await list()).data).toHaveLength(1);
});

test('an applied fault loses only the answer: the retry with the same key stores no second mail', async () => {
  const key = { 'idempotency-key': crypto.randomUUID() };
  await call('POST', '/simulate/fault', { mode: 'status', status: 500, times: 1, applied: true });
  expect((await send(MAIL, key)).status).toBe(500);
  expect((await send(MAIL, key)).status).toBe(200);
  expect((await list()).data).toHaveLength(1);
});

test('a hanging send gets no answer until the fault is removed', async () => {
  await call('POST', '/simulate/fault', { mode: 'hang' });
  let answered = false;
  const held = send(MAIL).finally(() => answered = true);
  await expect(fetch(`${url}/emails`, {
    method: 'POST',
    headers: KEY,
    body: JSON.stringify(MAIL),
    signal: AbortSignal.timeout(50),
  })).rejects.toThrow();
  expect(answered).toBe(false);
  await call('DELETE', '/simulate/fault');
  expect((await held).status).toBe(503);
  expect((await send(MAIL)).status).toBe(200);
});

test('garbage is a 200 with a JSON content-type and invalid JSON', async () => {
  await call('POST', '/simulate/fault', { mode: 'garbage', times: 1 });
  const { status, headers, text } = await send(MAIL);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toContain('application/json');
  expect(() => JSON.parse(text)).toThrow();
});

test('an invalid fault → 400, no fault is set', async () => {
  expect((await call('POST', '/simulate/fault', { mode: 'status', status: 200 })).status).toBe(400);
  expect((await call('POST', '/simulate/fault', { mode: 'sulk' })).status).toBe(400);
  expect((await call('GET', '/simulate/fault')).body).toEqual({ faults: [] });
});

test('a stop ends a held answer', async () => {
  const other = createMailbox({ port: 0, revalidateSecret: '' });
  await other.start();
  await fetch(`${other.url}/simulate/fault`, { method: 'POST', body: JSON.stringify({ mode: 'hang' }) });
  const held = fetch(`${other.url}/emails`, { method: 'POST', headers: KEY, body: JSON.stringify(MAIL) })
    .then((response) => response.status, () => 'cut');
  await other.stop();
  expect([503, 'cut']).toContain(await held);
});

const SECRET = { 'x-revalidate-secret': 'revalidate-me' };

test('a fault of the revalidation route does not affect mails', async () => {
  await call('POST', '/simulate/fault', { target: 'revalidate', mode: 'status', status: 500, times: 1 });
  expect((await send(MAIL)).status).toBe(200);
  expect((await call('POST', '/api/revalidate', { paths: ['/a'] }, SECRET)).status).toBe(500);
  expect((await call('POST', '/api/revalidate', { paths: ['/a'] }, SECRET)).status).toBe(200);
});

test('the page and its files allow no foreign script', async () => {
  for (const path of ['/', '/page.css', '/page.js']) {
    const { status, headers } = await call('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  }
  expect((await call('GET', '/')).text).toMatch(/<iframe[^>]* sandbox=""/);
});

test('the HTML of a mail is served unchanged and sandboxed, and a mail without HTML → 404', async () => {
  const html = '<script>alert(1)</script><p>₹499.00</p>';
  const { body } = await send({ ...MAIL, html });
  const frame = await call('GET', `/mails/${body.id}/html`);
  expect(frame.text).toBe(html);
  expect(frame.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
  const plain = await send({ ...MAIL, html: undefined, text: 'Hello' });
  expect((await call('GET', `/mails/${plain.body.id}/html`)).status).toBe(404);
});

test.each([['GET', '/emails'], ['DELETE', '/emails'], ['POST', '/simulate/fault'], ['GET', '/']])(
  '%s %s with a foreign Origin → 403',
  async (method, path) => {
    const { status } = await call(method, path, undefined, { origin: 'https://evil.example' });
    expect(status).toBe(403);
  },
);
