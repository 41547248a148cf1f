import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { checkout, requestOrderState, requestSubscription, returnCheckout, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { type RunningService, startService } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { createPayment, createUser } from '../helpers/records/records.ts';

const project = useProject();
let service: RunningService;
let user: SignedUpUser;
let sent: { method: string; path: string }[] = [];

// Only in process: there the requests of the service are counted without a proxy.
beforeAll(async () => {
  user = await project.signUp();
  service = await startService('in process', project, { APP_URL: 'https://app.example' }, (input, init) => {
    const request = new Request(input, init);
    sent.push({ method: request.method, path: new URL(request.url).pathname });
    return fetch(request);
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  sent = [];
});

const toDatabase = () => sent.filter(({ path }) => path.startsWith('/rest/v1'));

test('GET /api/subscriptions → one call of get_subscription before the answer', async () => {
  expect((await requestSubscription(service, user.accessToken)).status).toBe(200);
  expect(toDatabase()).toEqual([{ method: 'POST', path: '/rest/v1/rpc/get_subscription' }]);
  expect(sent.length).toBeLessThanOrEqual(2);
});

test('POST /api/payments/verify → one call of verify_payment before the answer', async () => {
  const { orderId } = await createPayment(project.database, { userId: user.id });
  const body = await checkout(orderId);
  sent = [];
  expect((await verify(service, user.accessToken, body)).status).toBe(200);
  expect(toDatabase()).toEqual([{ method: 'POST', path: '/rest/v1/rpc/verify_payment' }]);
  expect(sent.length).toBeLessThanOrEqual(2);
});

test('POST /api/payments/return → one call of verify_returned_payment before the answer, and no other', async () => {
  const { orderId } = await createPayment(project.database, { userId: (await createUser(project.database)).id });
  const form = await checkout(orderId);
  sent = [];
  expect((await returnCheckout(service, form)).status).toBe(303);
  expect(sent).toEqual([{ method: 'POST', path: '/rest/v1/rpc/verify_returned_payment' }]);
});

test('GET /api/payments/orders/:order_id, and the plans with a session → one call each', async () => {
  const { orderId } = await createPayment(project.database, { userId: user.id });
  expect((await requestOrderState(service, user.accessToken, orderId)).status).toBe(200);
  const headers = { authorization: `Bearer ${user.accessToken}` };
  expect((await service.request('/api/subscriptions/plans', { headers })).status).toBe(200);
  expect(toDatabase().map(({ path }) => path)).toEqual([
    '/rest/v1/rpc/get_order',
    '/rest/v1/rpc/list_plans_for_user',
  ]);
});

test('POST /api/webhooks/gateway → one call of apply_gateway_event before the answer, and no other', async () => {
  const { orderId } = await createPayment(project.database, { userId: user.id });
  expect((await postWebhook(service, paymentFailed({ order_id: orderId }))).status).toBe(200);
  expect(sent).toEqual([{ method: 'POST', path: '/rest/v1/rpc/apply_gateway_event' }]);
});

test('requests that are refused → no call of the database', async () => {
  expect((await requestSubscription(service, 'garbage')).status).toBe(401);
  expect((await verify(service, user.accessToken, {})).status).toBe(400);
  expect((await postWebhook(service, paymentFailed(), { secret: 'another' })).status).toBe(400);
  expect((await returnCheckout(service, 'razorpay_order_id=order_1')).status).toBe(303);
  expect((await requestOrderState(service, 'garbage', 'order_1')).status).toBe(401);
  expect(toDatabase()).toEqual([]);
});
