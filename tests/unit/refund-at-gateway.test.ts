import { expect, test } from 'vitest';
import { createGateway } from '../../supabase/functions/api/gateway/gateway.ts';
import { createGatewaySender } from '../../supabase/functions/api/outbox/gateway-sender.ts';

const payload = { gateway_payment_id: 'pay/1', amount: 40000, currency: 'INR', support_action: '7' };
const row = { id: 1, key: 'refund-6f0f8f0e-1d2c-4a5b-8c7d-9e0f1a2b3c4d', kind: 'refund', payload };
const made = { id: 'rfnd_1', entity: 'refund', payment_id: 'pay/1', amount: 40000, status: 'pending' };
const refusal = (description: string) => ({ error: { code: 'BAD_REQUEST_ERROR', description } });

/** Sends the row to a gateway that gives this answer. @returns the delivery, and the request */
async function send(status: number, body: unknown, sent: Record<string, unknown> = row) {
  const requests: unknown[] = [];
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async (request) => {
    const { method, url, headers } = request;
    requests.push([method, new URL(url).pathname, headers.get('x-refund-idempotency'), await request.text()]);
    return typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status });
  });
  const apiUrl = `http://127.0.0.1:${server.addr.port}`;
  const gateway = createGateway({ apiUrl, keyId: 'key', keySecret: 'secret', accountId: null } as never);
  if (gateway === null) throw new Error('no gateway');
  const [attempt] = createGatewaySender(gateway, { confirmStop: () => Promise.reject(new Error('not asked')) })([{
    ...row,
    ...sent,
  }]);
  const delivery = await attempt?.deliver();
  await server.shutdown();
  return { delivery, requests };
}

test('a refund is asked for with the key of its row and the action in its notes, the same each time', async () => {
  const asked = (body: string) => ({
    delivery: { status: 'delivered', refund: made },
    requests: [['POST', '/v1/payments/pay%2F1/refund', row.key, body]],
  });
  const body = '{"amount":40000,"speed":"normal","notes":{"support_action":"7"}}';
  expect(await send(200, made)).toEqual(asked(body));
  // A row of an older version, which may have been sent before, has none.
  const { support_action: _, ...older } = payload;
  expect(await send(200, made, { payload: older })).toEqual(asked('{"amount":40000,"speed":"normal"}'));
});

test.each<[number, unknown, object]>([
  [409, refusal('in progress'), { status: 'failed', error: 'HTTP 409: in progress' }],
  [500, 'not { JSON', { status: 'failed', error: 'no answer' }],
  [429, refusal('slow down'), { status: 'paused', error: 'HTTP 429: slow down', seconds: 60 }],
  [429, '<h1>Too many requests</h1>', { status: 'paused', error: 'HTTP 429', seconds: 60 }],
  [400, refusal('no balance'), { status: 'refused', error: 'HTTP 400: no balance' }],
  [401, {}, { status: 'refused', error: 'HTTP 401' }],
  [200, { ok: true }, { status: 'failed', error: 'an answer without a refund' }],
])('an answer %s %j is %j', async (status, body, delivery) => {
  expect((await send(status, body)).delivery).toEqual(delivery);
});

test('a row that names no payment or no amount is refused without a call', async () => {
  for (const sent of [{ payload: {} }, { payload: { ...payload, amount: 0 } }, { kind: 'another' }]) {
    expect(await send(200, made, sent)).toEqual({
      delivery: { status: 'refused', error: 'unknown row' },
      requests: [],
    });
  }
});
