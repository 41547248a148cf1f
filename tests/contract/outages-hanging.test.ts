import { afterAll, describe, expect, test } from 'vitest';
import { type PostgresProxy, startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { outageMilliseconds } from '../helpers/faults/fault-requests.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { type ApiProxy, startApiProxy } from '../helpers/http/api-proxy.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, requestOrderState, requestSubscription, returnCheckout, verify } from '../helpers/http/requests.ts';
import { everyTarget, isOverPool, type RunningService, startService, type Target } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { paymentOfOrder } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

// These tests wait in real time, so they run concurrently.
const project = useProject();
const running: { service: RunningService; proxy: ApiProxy; pool: PostgresProxy }[] = [];
const end = Promise.withResolvers<void>();

afterAll(async () => {
  end.resolve();
  for (const { service, proxy, pool } of running) {
    await service.stop();
    pool.stop();
    await proxy.stop();
  }
});

/** The service with a project of which one part accepts requests and never answers. */
async function startBehindHanging(part: '/auth/' | '/rest/', target: Target): Promise<RunningService> {
  const proxy = startApiProxy(() => project.apiUrl, async (request, forwardRequest) => {
    if (!new URL(request.url).pathname.startsWith(part)) return await forwardRequest();
    await end.promise;
    return new Response(null, { status: 503 });
  });
  const pool = startPostgresProxy(() => project.poolUrl);
  const service = await startService(target, { apiUrl: proxy.url, poolUrl: pool.url }, {
    APP_URL: 'https://app.example',
  });
  running.push({ service, proxy, pool });
  if (part === '/rest/' && isOverPool(target)) {
    // One connection is open already. Some requests wait for an answer on it, others wait to connect.
    await (await service.request('/api/health')).body?.cancel();
    pool.hang();
  }
  return service;
}

describe.concurrent.each(everyTarget)('%s', (target) => {
  test('order, return and plans while the database or the auth server hangs → 500, 303 pending, the public plans', async () => {
    const behindAuth = await startBehindHanging('/auth/', target);
    const behindDatabase = await startBehindHanging('/rest/', target);
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const started = performance.now();
    const [order, returned, plans] = await Promise.all([
      answer(requestOrderState(behindDatabase, user.accessToken, orderId)),
      returnCheckout(behindDatabase, await checkout(orderId)),
      answer(behindAuth.request('/api/subscriptions/plans', {
        headers: { authorization: `Bearer ${user.accessToken}` },
      })),
    ]);
    expect(performance.now() - started).toBeLessThan(outageMilliseconds);
    expect(order).toEqual(refusal(500, 'Failed to get order'));
    expect(returned.status).toBe(303);
    expect(returned.headers.get('location')).toBe(`https://app.example/dashboard?payment=pending&order=${orderId}`);
    expect(plans).toMatchObject({ status: 200, body: { plans: [{ tier: 'basic' }, {}, {}] } });
    expect(JSON.stringify(plans)).not.toContain('scenario');
  });

  test('read, verify and webhook while auth server or database hang → their 500 within 5 s, nothing written', async () => {
    const behindAuth = await startBehindHanging('/auth/', target);
    const behindDatabase = await startBehindHanging('/rest/', target);
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const paid = await checkout(orderId);

    const started = performance.now();
    const answers = await Promise.all([
      answer(requestSubscription(behindAuth, user.accessToken)),
      answer(requestSubscription(behindDatabase, user.accessToken)),
      answer(verify(behindAuth, user.accessToken, paid)),
      answer(verify(behindDatabase, user.accessToken, paid)),
      // Webhooks do not use the auth server.
      answer(postWebhook(behindDatabase, paymentFailed({ order_id: orderId }))),
    ]);
    expect(performance.now() - started).toBeLessThan(outageMilliseconds);
    expect(answers).toEqual([
      refusal(500, 'Failed to get subscription'),
      refusal(500, 'Failed to get subscription'),
      refusal(500, 'Failed to verify payment'),
      refusal(500, 'Failed to verify payment'),
      refusal(500, 'Webhook processing failed'),
    ]);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({
      status: 'created',
      gateway_payment_id: null,
    });
  });
});
