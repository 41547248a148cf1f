import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, orderPlan, requestOrder, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const unauthorized = refusal(401, 'Unauthorized');
const notConfigured = refusal(503, 'Payment service not configured');
const planNotFound = refusal(404, 'Plan not found');
const unavailable = refusal(502, 'Payment gateway unavailable');
const failed = refusal(500, 'Failed to create order');
const noSession = 'no-session';
const tooLong = { 'idempotency-key': 'k'.repeat(256) };

let user: SignedUpUser;
beforeAll(async () => {
  user = await createCaller(project.database);
  await project.database.query(
    "insert into public.plans (tier, name, price, is_active) values ('retired', 'Retired', 100, false)",
  );
});

/** The answer to an invalid request, for one field. Contract: Errors. */
function invalid(field: string, message: string): { status: number; body: unknown } {
  return {
    status: 400,
    body: { error: 'Invalid request', details: { formErrors: [], fieldErrors: { [field]: [message] } } },
  };
}

describe.each(poolSample)('%s', (target) => {
  const shop = useShop(target, project);

  /** Sends a request that must be refused, and asserts that it writes nothing. */
  async function refused(body: unknown, accessToken = user.accessToken, headers: Record<string, string> = {}) {
    const before = await readAllRows(project.database);
    const received = await answer(requestOrder(shop, accessToken, body, headers));
    expect(await readAllRows(project.database)).toEqual(before);
    return received;
  }

  test('POST /api/payments/orders without a session → 401, before 400, 404 and 500', async () => {
    for (const body of [{ tier: 'pro' }, {}, { tier: 'no-such-plan' }, '{']) {
      expect(await refused(body, noSession)).toEqual(unauthorized);
    }
    expect(await refused({ tier: 'pro' }, noSession, tooLong)).toEqual(unauthorized);
  });

  test('POST /api/payments/orders of a user who was deleted → 401', async () => {
    const gone = await createCaller(project.database);
    await project.database.query('delete from auth.users where id = $1', [gone.id]);
    expect(await refused({ tier: 'pro' }, gone.accessToken)).toEqual(unauthorized);
  });

  test.each([[{}, 'undefined'], [{ tier: null }, 'null'], [{ tier: 1 }, 'number'], [{ tier: ['pro'] }, 'array']])(
    'POST /api/payments/orders with %j → 400 with details, also with a key that is too long',
    async (body, received) => {
      const expected = invalid('tier', `Invalid input: expected string, received ${received}`);
      expect(await refused(body)).toEqual(expected);
      expect(await refused(body, user.accessToken, tooLong)).toEqual(expected);
    },
  );

  test('POST /api/payments/orders with a key of 256 characters → 400 with details, before 404', async () => {
    const expected = invalid('idempotency-key', 'At most 255 characters');
    expect(await refused({ tier: 'pro' }, user.accessToken, tooLong)).toEqual(expected);
    expect(await refused({ tier: 'no-such-plan' }, user.accessToken, tooLong)).toEqual(expected);
  });

  test.each(['no-such-plan', 'retired', '', 'Pro', 'pro ', 'pro\0', '\ud800', '%'])(
    'POST /api/payments/orders of the tier %j → 404, the gateway is not called',
    async (tier) => {
      expect(await refused({ tier })).toEqual(planNotFound);
      expect(await refused({ tier }, user.accessToken, { 'idempotency-key': uniqueId('key') })).toEqual(planNotFound);
      expect(shop.calls).toEqual([]);
    },
  );

  test.each(['', '{', 'tier=pro', '{}{}', 'NaN'])(
    'POST /api/payments/orders with the invalid JSON body %j → 500',
    async (body) => {
      expect(await refused(body)).toEqual(failed);
    },
  );

  test('/api/payments/orders with another method → 405; over 1 MiB → 413', async () => {
    const { headers, ...received } = await fullAnswer(shop.request('/api/payments/orders'));
    expect(received).toEqual(refusal(405, 'Method not allowed'));
    expect(headers.get('allow')).toBe('POST');
    expect(await refused(`{"tier":"${'x'.repeat(1_100_000)}"}`, noSession)).toEqual(refusal(413, 'Payload too large'));
  });

  test('OPTIONS /api/payments/orders → 204, idempotency-key allowed from any origin', async () => {
    const { status, headers } = await fullAnswer(shop.request('/api/payments/orders', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, idempotency-key',
      },
    }));
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-headers')).toContain('idempotency-key');
    expect(headers.get('access-control-allow-headers')).toContain('authorization');
  });

  test('POST /api/payments/orders when the database refuses → 500, the gateway is not called', async () => {
    await whileBroken(project.database, 'create_order', async () => {
      expect(await refused({ tier: 'pro' })).toEqual(failed);
    });
    expect(shop.calls).toEqual([]);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    [
      '400',
      () => Response.json({ error: { code: 'BAD_REQUEST_ERROR', description: 'inner detail' } }, { status: 400 }),
    ],
    ['401', () => Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status: 401 })],
    ['429', () => Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status: 429 })],
    ['500 with an id', () => Response.json({ id: 'order_Afterall000001' }, { status: 500 })],
    ['200 with HTML', () => new Response('<h1>inner detail</h1>')],
    ['200 with nothing', () => new Response(null)],
    ['200 with null', () => Response.json(null)],
    ['200 without an id', () => Response.json({ amount: 99900 })],
    ['200 with an empty id', () => Response.json({ id: '' })],
    ['200 with a number as its id', () => Response.json({ id: 1 })],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: '/v1/elsewhere' } })],
  ])('POST /api/payments/orders while the gateway answers %s → 502, no payment; then 201', async (_, respond) => {
    const caller = await createCaller(project.database);
    const key = { 'idempotency-key': uniqueId('key') };
    shop.onGatewayCall(respond);
    expect(await refused({ tier: 'pro' }, caller.accessToken, key)).toEqual(unavailable);
    expect(shop.calls).toHaveLength(1);
    shop.onGatewayCall((_, forwardRequest) => forwardRequest());
    await orderPlan(shop, caller.accessToken, 'basic', key);
    await orderPlan(shop, caller.accessToken, 'pro');
  });

  test('POST /api/payments/orders while the gateway hangs → 502 within 10 s; meanwhile 409 with retry-after', async () => {
    const caller = await createCaller(project.database);
    const before = await readAllRows(project.database);
    const end = Promise.withResolvers<void>();
    onTestFinished(() => end.resolve());
    shop.onGatewayCall(async () => {
      await end.promise;
      return new Response(null, { status: 503 });
    });
    const started = performance.now();
    const first = answer(requestOrder(shop, caller.accessToken, { tier: 'pro' }));
    await vi.waitFor(() => expect(shop.calls).toHaveLength(1));
    const { headers, ...second } = await fullAnswer(requestOrder(shop, caller.accessToken, { tier: 'pro' }));
    expect(second).toEqual(refusal(409, 'Order is being created'));
    expect(headers.get('retry-after')).toBe('1');
    expect(await first).toEqual(unavailable);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await readAllRows(project.database)).toEqual(before);

    shop.onGatewayCall((_, forwardRequest) => forwardRequest());
    await orderPlan(shop, caller.accessToken);
  });

  test('POST /api/payments/orders, accepted or refused → no secret and no personal data in the log', async () => {
    const caller = await createCaller(project.database);
    const key = uniqueId('key');
    const { order, payment_id } = await orderPlan(shop, caller.accessToken, 'pro', { 'idempotency-key': key });
    await refused('{"tier":"whatever', caller.accessToken);
    shop.onGatewayCall(() => new Response('inner detail', { status: 500 }));
    await refused({ tier: 'basic' }, caller.accessToken);
    const { headers } = await fullAnswer(shop.request('/api/health'));
    await vi.waitFor(() => expect(shop.output.join('\n')).toContain(headers.get('x-request-id')));

    const written = shop.output.join('\n');
    const secretTexts = [
      ...Object.values(secrets).filter((secret) => secret !== secrets.GATEWAY_KEY_ID),
      btoa(`${secrets.GATEWAY_KEY_ID}:${secrets.GATEWAY_KEY_SECRET}`),
      ...caller.accessToken.split('.').slice(1),
      ...[key, order.id, payment_id, caller.id, caller.email, 'whatever', 'inner detail'],
    ];
    for (const text of secretTexts) expect(written).not.toContain(text);
    for (const outcome of ['created', 'createOrderFailed', 'gatewayUnavailable']) {
      expect(written).toContain(`"outcome":"${outcome}"`);
    }
  });
});

describe.each(poolSample)('%s without a server at GATEWAY_API_URL', (target) => {
  const shop = useShop(target, project, { GATEWAY_API_URL: `http://127.0.0.1:${freePort()}` });

  test('POST /api/payments/orders → 502, no payment', async () => {
    const before = await readAllRows(project.database);
    expect(await answer(requestOrder(shop, user.accessToken, { tier: 'pro' }))).toEqual(unavailable);
    expect(await readAllRows(project.database)).toEqual(before);
  });
});

describe.each(poolSample.flatMap((target) => [
  { target, missing: 'GATEWAY_KEY_ID' },
  { target, missing: 'GATEWAY_KEY_SECRET' },
  { target, missing: 'GATEWAY_API_URL' },
]))('$target without $missing', ({ target, missing }) => {
  const shop = useShop(target, project, { [missing]: '' });

  test('POST /api/payments/orders → 503, before 401, 400, 404 and 500; nothing written', async () => {
    const before = await readAllRows(project.database);
    for (const body of [{ tier: 'pro' }, {}, { tier: 'no-such-plan' }, '{']) {
      expect(await answer(requestOrder(shop, user.accessToken, body))).toEqual(notConfigured);
      expect(await answer(requestOrder(shop, noSession, body))).toEqual(notConfigured);
    }
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/payments/verify → 503 without the key, 404 without GATEWAY_API_URL', async () => {
    const expected = missing === 'GATEWAY_API_URL' ? refusal(404, 'Payment not found') : notConfigured;
    expect(await answer(verify(shop, user.accessToken, await checkout(uniqueId('order'))))).toEqual(expected);
  });
});
