import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { startApiProxy } from '../helpers/http/api-proxy.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { call, requestSubscription, returnCheckout, verify } from '../helpers/http/requests.ts';
import { isOverPool, type RunningService, startService } from '../helpers/project/targets.ts';
import { targets, useProject } from '../helpers/project/use-project.ts';

const project = useProject();
const { newBuyer } = project;

describe.each(targets)('%s', (target) => {
  let service: RunningService;
  let buyer: Buyer;
  /** The requests to the project's API, without those of the start. */
  let sent: string[] = [];
  const api = startApiProxy(() => project.apiUrl, async (request, forwardRequest) => {
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return await forwardRequest();
  });
  const pool = startPostgresProxy(() => project.poolUrl);
  beforeAll(async () => {
    const addresses = { apiUrl: api.url, poolUrl: pool.url };
    service = await startService(target, addresses, { APP_URL: 'https://app.example' });
    await vi.waitFor(() => expect([...pool.recorded.calls, ...sent].join()).toContain('get_schema_version'), 30_000);
  });
  afterAll(async () => {
    await service.stop();
    await api.stop();
    pool.stop();
  });
  beforeEach(async () => {
    buyer = await newBuyer();
    sent = [];
    pool.recorded.calls.length = 0;
    pool.recorded.statementNames.length = 0;
    pool.recorded.roundTrips = 0;
  });

  const user = () => ({ user: buyer });
  const requests: [name: string, rpc: string | null, status: number, request: () => Promise<{ status: number }>][] = [
    ['GET /api/subscriptions', 'get_subscription', 200, () => call(service, 'GET /api/subscriptions', user())],
    ['POST /api/payments/verify', 'verify_payment', 200, () => verify(service, buyer.accessToken, buyer.paid)],
    ['POST /api/payments/return', 'verify_returned_payment', 303, () => returnCheckout(service, buyer.paid)],
    ['an order', 'get_order', 200, () => call(service, `GET /api/payments/orders/${buyer.orderId}`, user())],
    ['plans of a user', 'list_plans_for_user', 200, () => call(service, 'GET /api/subscriptions/plans', user())],
    [
      'billing details',
      'put_billing_details',
      200,
      () => call(service, 'PUT /api/billing-details', { ...user(), body: {} }),
    ],
    ['POST /api/webhooks/gateway', 'apply_gateway_event', 200, () => postWebhook(service, paymentFailed())],
    ['GET /api/subscriptions with garbage', null, 401, () => requestSubscription(service, 'garbage')],
    ['POST /api/payments/verify without fields', null, 400, () => verify(service, buyer.accessToken, {})],
    ['POST /api/payments/return without a signature', null, 303, () => returnCheckout(service, 'razorpay_order_id=o')],
    ['a badly signed webhook', null, 400, () => postWebhook(service, paymentFailed(), { secret: 'another' })],
  ];
  test.each(requests)('%s → one call of the database, in one round trip: %s', async (_, rpc, status, request) => {
    expect((await request()).status).toBe(status);
    const calls = rpc === null ? [] : [rpc];
    const toDatabase = sent.filter((path) => !path.includes('/auth/'));
    // The auth server is asked at most once.
    expect(sent.length - toDatabase.length).toBeLessThanOrEqual(1);
    if (!isOverPool(target)) return expect(toDatabase).toEqual(calls.map((name) => `POST /rest/v1/rpc/${name}`));
    expect(toDatabase).toEqual([]);
    // An unnamed statement ends with its transaction, as a transaction pooler needs it.
    expect(pool.recorded).toEqual({ calls, statementNames: calls.map(() => ''), roundTrips: calls.length });
  });
});
