import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { outageMilliseconds } from '../helpers/faults/fault-requests.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { startApiProxy } from '../helpers/http/api-proxy.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { answer, call, fullAnswer, refusal, returnCheckout, send } from '../helpers/http/requests.ts';
import { isOverPool, type RunningService, startService } from '../helpers/project/targets.ts';
import { onRest, targets, useProject, useService } from '../helpers/project/use-project.ts';

const project = useProject();
const { newBuyer, unchanged } = project;
const unauthorized = refusal(401, 'Unauthorized');
const garbage = { accessToken: 'garbage' };
const [getOwn, postVerify] = ['GET /api/subscriptions', 'POST /api/payments/verify'];
const failures = {
  read: refusal(500, 'Failed to get subscription'),
  verified: refusal(500, 'Failed to verify payment'),
  webhook: refusal(500, 'Webhook processing failed'),
  health: refusal(503, 'Service unavailable'),
};
let buyer: Buyer;
beforeAll(async () => {
  buyer = await newBuyer();
});

/** Calls all endpoints at once, and asserts that nothing is written. */
const callAll = (service: RunningService) =>
  unchanged(async () => {
    const [read, verified, webhook, health] = await Promise.all([
      call(service, getOwn, { user: buyer }),
      call(service, postVerify, { user: buyer, body: buyer.paid }),
      answer(postWebhook(service, paymentFailed({ order_id: buyer.orderId }))),
      call(service, 'GET /api/health'),
    ]);
    return { read, verified, webhook, health };
  });
const publicPlans = async (service: RunningService) => {
  const { status, body } = await call(service, 'GET /api/subscriptions/plans', { user: buyer });
  expect({ status, plans: body.plans.length }).toEqual({ status: 200, plans: 3 });
  expect(JSON.stringify(body)).not.toContain('scenario');
};

/** The project's API, of which one part fails. */
function useFailingApi(part: 'auth' | 'rest') {
  const proxy = startApiProxy(() => project.apiUrl, (request, forwardRequest) => {
    if (!new URL(request.url).pathname.startsWith(`/${part}/`)) return forwardRequest();
    failing.calls += 1;
    return failing.respond(forwardRequest, request.url);
  });
  const failing = {
    /** How the part answers. */
    respond: (_forward: () => Promise<Response>, _url: string): Response | Promise<Response> =>
      new Response(null, { status: 503 }),
    /** How often it was called. */
    calls: 0,
    apiUrl: proxy.url,
    get poolUrl() {
      return project.poolUrl;
    },
  };
  afterAll(() => proxy.stop());
  return failing;
}

describe.each(targets)('%s', (target) => {
  describe('without a server at the addresses of the API and the database', () => {
    const port = freePort();
    const service = useService(target, {
      apiUrl: `http://127.0.0.1:${port}`,
      poolUrl: `postgresql://subscriptions_api:x@127.0.0.1:${port}/postgres`,
    });

    test('read, verify and webhook → their 500, health → 503; without a token, or with a malformed one → 401', async () => {
      expect(await callAll(service)).toEqual(failures);
      expect(await call(service, getOwn)).toEqual(unauthorized);
      expect(await call(service, getOwn, { user: garbage })).toEqual(unauthorized);
      expect(await call(service, postVerify, { user: garbage, body: buyer.paid })).toEqual(unauthorized);
    });
  });

  describe('with an auth server', () => {
    const api = useFailingApi('auth');
    const service = useService(target, api);

    test('that answers 502, 429 or HTML: read and verify → their 500, not 401; plans with a session → the public ones', async () => {
      const html = '<h1>inner detail</h1>';
      for (const [status, retryAfter] of [[502, null], [429, '7'], [200, null]] as const) {
        api.respond = () => new Response(html, { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} });
        api.calls = 0;
        for (const [endpoint, expected] of [[getOwn, failures.read], [postVerify, failures.verified]] as const) {
          const body = endpoint === postVerify ? buyer.paid : undefined;
          const received = await unchanged(() => fullAnswer(send(service, endpoint, { user: buyer, body })));
          expect(received).toMatchObject(expected);
          expect(received.headers.get('retry-after')).toBe(retryAfter);
        }
        expect(api.calls).toBe(2);
        await publicPlans(service);
      }
    });
  });

  describe.skipIf(isOverPool(target))('with REST', () => {
    const api = useFailingApi('rest');
    const service = useService(target, api);

    test.each(['53300', '57P03', 'PGRST003'])(
      'that answers %s twice → 500 with retry-after; once → 200',
      async (code) => {
        let refusals = 2;
        // At its start the function also asks for the schema's version.
        api.respond = (forward, url) =>
          url.endsWith('/get_subscription') && refusals-- > 0
            ? Response.json({ code, message: '', details: null, hint: null }, { status: 503 })
            : forward();
        const failed = await unchanged(() => fullAnswer(send(service, getOwn, { user: buyer })));
        expect(failed).toMatchObject(failures.read);
        expect([failed.headers.get('retry-after'), refusals]).toEqual(['1', 0]);
        refusals = 1;
        expect((await call(service, getOwn, { user: buyer })).status).toBe(200);
        expect(refusals).toBe(-1);
      },
    );
  });

  describe('with a part that hangs', () => {
    const end = Promise.withResolvers<void>();
    const [auth, rest] = [useFailingApi('auth'), useFailingApi('rest')];
    for (const part of [auth, rest]) part.respond = () => end.promise.then(() => new Response(null, { status: 503 }));
    const pool = startPostgresProxy(() => project.poolUrl);
    const behindAuth = useService(target, auth, { APP_URL: 'https://app.example' });
    let behindDatabase: RunningService;
    beforeAll(async () => {
      const addresses = { apiUrl: rest.apiUrl, poolUrl: pool.url };
      behindDatabase = await startService(target, addresses, { APP_URL: 'https://app.example' });
      if (!isOverPool(target)) return;
      // One connection is open already. Some requests wait for an answer on it, others wait to connect.
      await (await send(behindDatabase, 'GET /api/health')).body?.cancel();
      pool.hang();
    });
    afterAll(async () => {
      end.resolve();
      await behindDatabase.stop();
      pool.stop();
    });

    test('read, verify, webhook and order → their 500 within 5 s, nothing written; return → 303 pending, plans → the public ones', async () => {
      const started = performance.now();
      await unchanged(async () => {
        const [all, read, verified, order, returned] = await Promise.all([
          callAll(behindDatabase),
          call(behindAuth, getOwn, { user: buyer }),
          call(behindAuth, postVerify, { user: buyer, body: buyer.paid }),
          call(behindDatabase, `GET /api/payments/orders/${buyer.orderId}`, { user: buyer }),
          returnCheckout(behindDatabase, buyer.paid),
          publicPlans(behindAuth),
        ]);
        expect(all).toEqual(failures);
        expect({ read, verified }).toEqual({ read: failures.read, verified: failures.verified });
        expect(order).toEqual(refusal(500, 'Failed to get order'));
        const pending = `https://app.example/dashboard?payment=pending&order=${buyer.orderId}`;
        expect([returned.status, returned.headers.get('location')]).toEqual([303, pending]);
      });
      expect(performance.now() - started).toBeLessThan(outageMilliseconds);
    });
  });
});

describe(onRest, () => {
  const api = useFailingApi('rest');
  const service = useService(onRest, api);

  test.each<[string, () => Response]>([
    ['500 with JSON', () => Response.json({ code: 'XX000', message: 'inner detail' }, { status: 500 })],
    ['404', () => new Response(null, { status: 404 })],
    ['200 with HTML', () => new Response('<h1>inner detail</h1>')],
    ['200 with null', () => Response.json(null)],
  ])('with a database API that answers %s: read, verify and webhook → their 500, health → 503', async (_, respond) => {
    api.respond = respond;
    api.calls = 0;
    expect(await callAll(service)).toEqual(failures);
    expect(api.calls).toBeGreaterThanOrEqual(4);
  });
});
