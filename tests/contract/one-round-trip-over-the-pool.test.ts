import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PostgresProxy, startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, requestSubscription, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { type RunningService, startService } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { createPayment } from '../helpers/records/records.ts';

const project = useProject();
let service: RunningService;
let user: SignedUpUser;
let pool: PostgresProxy;

beforeAll(async () => {
  user = await createCaller(project.database);
  pool = startPostgresProxy(() => project.poolUrl);
  service = await startService('in process over the pool', { apiUrl: project.apiUrl, poolUrl: pool.url });
});
afterAll(async () => {
  await service.stop();
  pool.stop();
});
beforeEach(() => {
  pool.recorded.calls.length = 0;
  pool.recorded.statementNames.length = 0;
  pool.recorded.roundTrips = 0;
});

test('GET /api/subscriptions → one unnamed statement in one round trip', async () => {
  expect((await requestSubscription(service, user.accessToken)).status).toBe(200);
  expect(pool.recorded).toEqual({ calls: ['get_subscription'], statementNames: [''], roundTrips: 1 });
});

test('POST /api/payments/verify → one unnamed statement in one round trip', async () => {
  const body = await checkout((await createPayment(project.database, { userId: user.id })).orderId);
  expect((await verify(service, user.accessToken, body)).status).toBe(200);
  expect(pool.recorded).toEqual({ calls: ['verify_payment'], statementNames: [''], roundTrips: 1 });
});

test('POST /api/webhooks/gateway → one unnamed statement in one round trip', async () => {
  const { orderId } = await createPayment(project.database, { userId: user.id });
  expect((await postWebhook(service, paymentFailed({ order_id: orderId }))).status).toBe(200);
  expect(pool.recorded).toEqual({ calls: ['apply_gateway_event'], statementNames: [''], roundTrips: 1 });
});

test('requests that are refused → no request to Postgres', async () => {
  expect((await requestSubscription(service, 'garbage')).status).toBe(401);
  expect((await verify(service, user.accessToken, {})).status).toBe(400);
  expect((await postWebhook(service, paymentFailed(), { secret: 'another' })).status).toBe(400);
  expect(pool.recorded).toEqual({ calls: [], statementNames: [], roundTrips: 0 });
});
