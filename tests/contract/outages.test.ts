import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { type ApiProxy, startApiProxy } from '../helpers/http/api-proxy.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { type Checkout, checkout, requestSubscription, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import {
  type Addresses,
  everyTarget,
  poolTargets,
  restTargets,
  type RunningService,
} from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

const project = useProject();
const readFailed = refusal(500, 'Failed to get subscription');
const verifyFailed = refusal(500, 'Failed to verify payment');
const webhookFailed = refusal(500, 'Webhook processing failed');
const unauthorized = refusal(401, 'Unauthorized');
const unavailable = refusal(503, 'Service unavailable');

let user: SignedUpUser;
let orderId: string;
let paid: Checkout;
beforeAll(async () => {
  user = await createCaller(project.database);
  ({ orderId } = await createPayment(project.database, { userId: user.id }));
  paid = await checkout(orderId);
});

/** Calls all endpoints at once, and asserts that nothing is written. */
async function callAll(service: RunningService) {
  const before = await readAllRows(project.database);
  const [read, verified, webhook, health] = await Promise.all([
    answer(requestSubscription(service, user.accessToken)),
    answer(verify(service, user.accessToken, paid)),
    answer(postWebhook(service, paymentFailed({ order_id: orderId }))),
    answer(service.request('/api/health')),
  ]);
  expect(await readAllRows(project.database)).toEqual(before);
  return { read, verified, webhook, health };
}

/** The project's API, of which one part fails. One service calls it, because a start takes longer than a test. */
type FailingApi = Addresses & {
  /** The failing part answers like this from now on. */
  answerWith(respond: () => Response): void;
  /** How often the failing part was called since `answerWith`. */
  calls(): number;
};

function useFailingApi(part: 'auth' | 'rest'): FailingApi {
  let proxy: ApiProxy | undefined;
  let respond = (): Response => new Response(null, { status: 503 });
  let calls = 0;
  beforeAll(() => {
    proxy = startApiProxy(() => project.apiUrl, (request, forwardRequest) => {
      if (!new URL(request.url).pathname.startsWith(`/${part}/`)) return forwardRequest();
      calls += 1;
      return respond();
    });
  });
  afterAll(() => proxy?.stop());
  return {
    get apiUrl() {
      return proxy?.url ?? '';
    },
    get poolUrl() {
      return project.poolUrl;
    },
    answerWith(answer) {
      respond = answer;
      calls = 0;
    },
    calls: () => calls,
  };
}

describe.each(everyTarget)('%s', (target) => {
  describe('without a server at the addresses of the API and the database', () => {
    const port = freePort();
    const service = useService(target, {
      apiUrl: `http://127.0.0.1:${port}`,
      poolUrl: `postgresql://subscriptions_api:x@127.0.0.1:${port}/postgres`,
    });

    test('read, verify and webhook → their 500, health → 503', async () => {
      expect(await callAll(service))
        .toEqual({ read: readFailed, verified: verifyFailed, webhook: webhookFailed, health: unavailable });
    });

    test('read and verify without a token, or with a malformed one → 401', async () => {
      expect(await answer(service.request('/api/subscriptions'))).toEqual(unauthorized);
      expect(await answer(requestSubscription(service, 'garbage'))).toEqual(unauthorized);
      expect(await answer(verify(service, 'garbage', paid))).toEqual(unauthorized);
    });
  });

  const api = useFailingApi('auth');
  const service = useService(target, api);

  describe.each([
    ['500 with JSON', () => Response.json({ message: 'inner detail' }, { status: 500 })],
    ['502 with HTML', () => new Response('<h1>inner detail</h1>', { status: 502 })],
    ['503', () => new Response(null, { status: 503 })],
    ['429', () => Response.json({ code: 429, msg: 'inner detail' }, { status: 429 })],
    ['200 with HTML', () => new Response('<h1>inner detail</h1>')],
  ])('with an auth server that answers %s', (_, respond) => {
    test('read and verify → their 500, not 401', async () => {
      api.answerWith(respond);
      const before = await readAllRows(project.database);
      expect(await answer(requestSubscription(service, user.accessToken))).toEqual(readFailed);
      expect(await answer(verify(service, user.accessToken, paid))).toEqual(verifyFailed);
      expect(api.calls()).toBe(2);
      expect(await readAllRows(project.database)).toEqual(before);
    });

    test('plans with a session → 200 without scenarios', async () => {
      api.answerWith(respond);
      const headers = { authorization: `Bearer ${user.accessToken}` };
      const { status, body } = await answer(service.request('/api/subscriptions/plans', { headers }));
      expect({ status, plans: Object(body).plans.length }).toEqual({ status: 200, plans: 3 });
      expect(JSON.stringify(body)).not.toContain('scenario');
    });
  });
});

describe.each(restTargets)('%s', (target) => {
  const api = useFailingApi('rest');
  const service = useService(target, api);

  describe.each([
    ['500 with JSON', () => Response.json({ code: 'XX000', message: 'inner detail' }, { status: 500 })],
    ['503 with HTML', () => new Response('<h1>inner detail</h1>', { status: 503 })],
    ['401', () => Response.json({ message: 'inner detail' }, { status: 401 })],
    ['404', () => new Response(null, { status: 404 })],
    ['200 with HTML', () => new Response('<h1>inner detail</h1>')],
    ['200 with null', () => Response.json(null)],
  ])('with a database API that answers %s', (_, respond) => {
    test('read, verify and webhook → their 500, health → 503', async () => {
      api.answerWith(respond);
      expect(await callAll(service))
        .toEqual({ read: readFailed, verified: verifyFailed, webhook: webhookFailed, health: unavailable });
      expect(api.calls()).toBeGreaterThanOrEqual(4);
    });
  });
});

describe.each(poolTargets)('%s', (target) => {
  const broken: Record<string, (url: URL) => void> = {
    'refuses the password': (url) => url.password = 'another',
    'knows no such role': (url) => url.username = 'nobody',
    'has no such database': (url) => url.pathname = '/nothing',
    'is a web server': (url) => url.host = new URL(project.apiUrl).host,
  };
  describe.each(Object.entries(broken))('with a database that %s', (_, change) => {
    const service = useService(target, {
      get apiUrl() {
        return project.apiUrl;
      },
      get poolUrl() {
        const url = new URL(project.poolUrl);
        change(url);
        return url.href;
      },
    });

    test('read, verify and webhook → their 500, health → 503; no address in the log', async () => {
      expect(await callAll(service))
        .toEqual({ read: readFailed, verified: verifyFailed, webhook: webhookFailed, health: unavailable });
      expect(service.output.join('\n')).not.toMatch(/postgres|password|127\.0\.0\.1/i);
    });
  });
});
