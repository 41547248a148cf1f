import { expect, test, vi } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { checkout, fullAnswer, requestSubscription, send, verify } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';
import { createToken } from '../helpers/http/tokens.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newBuyer } = project;
const service = useService(restThenPool, project);

/** The body of an answer, and the log lines of its request as soon as they are complete. */
async function logged(response: Promise<Response>) {
  const { headers, body } = await fullAnswer(response);
  const id = headers.get('x-request-id');
  const lines = () => service.log.filter((line) => line.request_id === id);
  await vi.waitFor(() => expect(lines().some(({ event }) => event === 'request')).toBe(true), 30_000);
  return { lines: lines(), body };
}
const request_id = expect.any(String);
const line = (method: string, route: unknown, status: number, outcome: string, level = 'info') => (
  { level, event: 'request', request_id, method, route, status, milliseconds: expect.any(Number), outcome }
);
const [read, pay, hook] = ['/api/subscriptions', '/api/payments/verify', '/api/webhooks/gateway'];

test('each request → one line with its id, route, status, milliseconds and outcome', async () => {
  const { accessToken, paid } = await newBuyer();
  const verified = (body: unknown) => verify(service, accessToken, body);
  const unknown = await checkout(uniqueId('order'));
  const asked = { headers: { 'access-control-request-method': 'POST' } };
  const cases: [Promise<Response>, unknown][] = [
    [requestSubscription(service, accessToken), line('GET', read, 200, 'read')],
    [requestSubscription(service, 'garbage'), line('GET', read, 401, 'unauthorized')],
    [verified(paid), line('POST', pay, 200, 'applied')],
    [verified({}), line('POST', pay, 400, 'invalidRequest')],
    [verified(unknown), line('POST', pay, 404, 'paymentNotFound')],
    [postWebhook(service, { event: uniqueId('event') }), line('POST', hook, 200, 'ignored: not handled')],
    [postWebhook(service, {}, { secret: 'x' }), line('POST', hook, 400, 'invalidSignature')],
    [send(service, 'GET /api/health'), line('GET', '/api/health', 200, 'healthy')],
    [send(service, `PUT ${hook}`), line('PUT', hook, 405, 'methodNotAllowed')],
    [send(service, 'GET /api/unknown'), line('GET', expect.any(String), 404, 'notFound')],
    [send(service, `OPTIONS ${pay}`, asked), line('OPTIONS', pay, 204, 'preflight')],
  ];
  for (const [response, expected] of cases) {
    const { lines } = await logged(response);
    expect(lines).toEqual([expected]);
    expect(lines[0]?.milliseconds).toBeGreaterThanOrEqual(0);
  }
});

test('a fault → one line beside the request, at level info if the caller made it, and no inner detail in the answer', async () => {
  const { accessToken, paid } = await newBuyer();
  const fault = (error: unknown, level = 'error') => ({ level, event: 'fault', request_id, error });
  await whileBroken(database, 'get_subscription', async () => {
    expect(await logged(requestSubscription(service, accessToken))).toEqual({
      body: { error: 'Failed to get subscription' },
      lines: [fault('get_subscription failed: 42501'), line('GET', read, 500, 'getSubscriptionFailed', 'error')],
    });
  });
  expect(await logged(verify(service, accessToken, `{"gateway_order_id":"${paid}`))).toEqual({
    body: { error: 'Failed to verify payment' },
    lines: [
      fault(expect.stringMatching(/^MalformedJson at .*api\/http\/read-json\.ts:\d+:\d+\)?$/), 'info'),
      line('POST', pay, 500, 'verifyPaymentFailed'),
    ],
  });
});

test('all kinds of requests → JSON lines with an id of their own, without a secret, signature, token, address or path of the caller; no secret or token in the database', async () => {
  const { id, email, accessToken, orderId, paid } = await newBuyer();
  const forged = await createToken({ sub: id }, { secret: 'another-secret-of-more-than-32-letters' });
  const event = paymentFailed({ order_id: orderId, email });
  const kinds = () => [
    requestSubscription(service, accessToken),
    requestSubscription(service, forged),
    verify(service, accessToken, paid),
    verify(service, accessToken, { ...paid, gateway_payment_id: 'x' }),
    verify(service, accessToken, `${JSON.stringify(paid)}${email}`),
    postWebhook(service, event),
    postWebhook(service, event, { secret: 'another' }),
    postWebhook(service, `${JSON.stringify(event)}${paid.gateway_signature}`),
    send(service, `GET /api/unknown/${email}?apikey=${localKeys.secret}&token=${accessToken}`),
  ];
  const logAll = () => Promise.all(kinds().map((response) => logged(response)));
  await logAll();
  await whileBroken(
    database,
    'get_subscription',
    () => whileBroken(database, 'verify_payment', () => whileBroken(database, 'apply_gateway_event', logAll)),
  );
  const written = service.output.join('\n');
  const { GATEWAY_KEY_ID: _, ...keys } = secrets;
  const secretTexts = [...[keys, localKeys, paid].flatMap(Object.values), ...`${accessToken}.${forged}`.split('.')];
  for (const text of [...secretTexts, email, '@', 'unknown/']) expect(written).not.toContain(text);
  // Any other signature or hash of a body.
  expect(written).not.toMatch(/[0-9a-f]{64}/i);
  const tables = await database.query(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace)`,
  );
  const rows = tables.map(({ name }) => database.query(`select t::text from ${name} t`));
  const stored = JSON.stringify(await Promise.all(rows));
  expect(stored).toContain(orderId);
  const credentials = [
    ...[keys, localKeys].flatMap(Object.values),
    ...[accessToken, forged].map((t) => t.split('.')[2]),
  ];
  for (const text of credentials) expect(stored).not.toContain(text);
  const requests = service.log.filter((line) => line.event === 'request');
  expect(new Set(requests.map((line) => line.request_id)).size).toBe(requests.length);
  expect(service.output).toHaveLength(service.log.length);
});
