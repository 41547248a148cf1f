import { describe, expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { openSession } from '../helpers/database/session.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { type Shop, useShop } from '../helpers/gateway/shop.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, orderPlan, verify } from '../helpers/http/requests.ts';
import { poolSample, type RunningService } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const path = '/api/internal/reconcile';
/** Long enough for a slow machine. */
const patience = { timeout: 30_000 };
const internalKey = 'internal-key';
const withInternalKey = { 'x-internal-key': internalKey };
// One payment for each target was verified and never captured.
const project = useProject({ findings: { never_captured: poolSample.length, missed_webhook: 1 } });
const none = { events: [] };

const reconcile = (service: Pick<RunningService, 'request'>, headers: HeadersInit = withInternalKey) =>
  service.request(path, { method: 'POST', headers });

/** Makes these orders due now, and no other order at any time. */
const makeDue = (...orders: { orderId: string }[]) =>
  project.database.query(
    `update public.payments
     set next_reconcile_at = case when gateway_order_id = any ($1) then billing.clock() - interval '1 second' end`,
    [orders.map(({ orderId }) => orderId)],
  );

/** An order whose payment no webhook announced. */
async function paidWithoutWebhooks(shop: Shop, outcome: 'captured' | 'failed' = 'captured') {
  const user = await createCaller(project.database);
  const { order } = await orderPlan(shop, user.accessToken);
  const checkout = await shop.pay(order.id, outcome, none);
  return { user, orderId: order.id, checkout };
}

/** Makes this subscription due now, and nothing else. */
async function makeSubscriptionDue(id: string) {
  await makeDue();
  await project.database.query(
    `update billing.gateway_subscriptions
     set next_check_at = case when gateway_subscription_id = $1 then billing.clock() - interval '1 second' end`,
    [id],
  );
}

/** A subscription that the gateway bills, and the charge of its next cycle. Its last cycle ends now. */
async function billed() {
  const { id: userId } = await createCaller(project.database);
  const id = uniqueId('sub');
  const [start, end, nextEnd] = [-30, 0, 30].map((days) => Math.floor(Date.now() / 1000) + days * 86_400);
  await project.database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  const iso = (at = 0) => new Date(at * 1000).toISOString();
  const cycle = { start: iso(start), end: iso(end), createdAt: iso(start) };
  const service = await openSession(project.database, { role: 'service_role' });
  await deliver(service, subscriptionEvent({ name: 'activated', userId, id, planId: 'plan_pro', ...cycle }));
  return {
    subscription: { id, plan_id: 'plan_pro', current_start: start, current_end: end, paid_count: 1, notes: [] },
    charge: { current_start: end, current_end: nextEnd, paid_count: 2 },
  };
}

/** When the last complete reconciliation ended. */
const doneAt = async () =>
  (await project.database.one("select done_at from billing.scheduled_jobs where name = 'reconciliation'")).done_at;

describe.each(poolSample)('%s', (target) => {
  const shop = useShop(target, project, { INTERNAL_KEY: internalKey });
  const unconfigured = useService(target, project, { GATEWAY_KEY_SECRET: '', INTERNAL_KEY: internalKey });

  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['another key', { 'x-internal-key': 'another-key' }],
    ['the publishable key', { apikey: localKeys.publishable }],
    ['the internal key as apikey', { apikey: internalKey }],
  ])('POST /api/internal/reconcile with %s → 401, the gateway is not called', async (_, headers) => {
    expect(await answer(reconcile(shop, headers))).toEqual(refusal(401, 'Unauthorized'));
    expect(shop.calls).toEqual([]);
  });

  test('POST /api/internal/reconcile with the session of a user → 401', async () => {
    const { accessToken } = await createCaller(project.database);
    expect(await answer(reconcile(shop, { authorization: `Bearer ${accessToken}` }))).toEqual(
      refusal(401, 'Unauthorized'),
    );
  });

  test('POST /api/internal/reconcile without a gateway → 503', async () => {
    expect(await answer(reconcile(unconfigured))).toEqual(refusal(503, 'Payment service not configured'));
  });

  test('POST /api/internal/reconcile with prefer: respond-async and without a gateway → 503', async () => {
    expect(await answer(reconcile(unconfigured, { ...withInternalKey, prefer: 'respond-async' })))
      .toEqual(refusal(503, 'Payment service not configured'));
  });

  test('POST /api/internal/reconcile with prefer: respond-async → 202, due payments are reconciled', async () => {
    const { user, orderId } = await paidWithoutWebhooks(shop);
    await makeDue({ orderId });
    expect(await answer(reconcile(shop, { ...withInternalKey, prefer: 'respond-async' })))
      .toEqual({ status: 202, body: { accepted: true } });
    await expect.poll(() => readTier(project.database, user.id), patience).toBe('pro');
    await expect.poll(() => doneAt(), patience).not.toBeNull();
  });

  test('GET /api/internal/reconcile → 405', async () => {
    expect(await answer(shop.request(path, { headers: withInternalKey }))).toEqual(refusal(405, 'Method not allowed'));
  });

  test('POST /api/internal/reconcile → 200 with the counts only; nothing is due twice', async () => {
    await makeDue(await paidWithoutWebhooks(shop), await paidWithoutWebhooks(shop, 'failed'));
    const { status, headers, body } = await fullAnswer(reconcile(shop));
    expect({ status, body }).toEqual({ status: 200, body: { asked: 2, applied: 2, unanswered: 0 } });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(await answer(reconcile(shop, { apikey: localKeys.secret }))).toEqual({
      status: 200,
      body: { asked: 0, applied: 0, unanswered: 0 },
    });
  });

  test('POST /api/internal/reconcile after a payment without verification and webhooks → 200, fulfilled', async () => {
    const { user, orderId } = await paidWithoutWebhooks(shop);
    await makeDue({ orderId });
    expect((await reconcile(shop)).status).toBe(200);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({
      status: 'captured',
      fulfilled_at: expect.any(Date),
      confirmed_at: expect.any(Date),
    });
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
    expect(await alertsAbout(project.database, orderId)).toEqual(['missed_webhook']);
    expect(shop.calls.at(-1)).toMatchObject({ method: 'GET', path: `/v1/orders/${orderId}/payments` });
  });

  test('POST /api/internal/reconcile after a verification without webhooks → confirmed', async () => {
    const { user, orderId, checkout } = await paidWithoutWebhooks(shop);
    expect((await verify(shop, user.accessToken, checkout)).status).toBe(200);
    const before = await paymentOfOrder(project.database, orderId);
    expect(before).toMatchObject({ confirmed_at: null });
    await makeDue({ orderId });
    await reconcile(shop);
    expect(await paymentOfOrder(project.database, orderId)).toEqual({
      ...before,
      confirmed_at: expect.any(Date),
      next_reconcile_at: null,
    });
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
  });

  test('POST /api/payments/verify of a payment that was never captured → 400, every time', async () => {
    const { accessToken, id } = await createCaller(project.database);
    const { order } = await orderPlan(shop, accessToken);
    const paid = await checkout(order.id);
    expect((await verify(shop, accessToken, paid)).status).toBe(200);
    await makeDue({ orderId: order.id });
    await project.database.query(
      "update public.payments set created_at = now() - interval '6 days', captured_at = now() - interval '6 days' where gateway_order_id = $1",
      [order.id],
    );
    expect(await answer(reconcile(shop))).toEqual({ status: 200, body: { asked: 1, applied: 1, unanswered: 0 } });
    expect(await readTier(project.database, id)).toBe('free');
    for (let time = 0; time < 2; time += 1) {
      expect(await answer(verify(shop, accessToken, paid))).toEqual(refusal(400, 'Payment verification failed'));
    }
    expect(await readTier(project.database, id)).toBe('free');
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ['500', () => new Response(null, { status: 500 })],
    ['429', () => new Response(null, { status: 429 })],
    ['401', () => Response.json({ error: {} }, { status: 401 })],
  ])('POST /api/internal/reconcile while the gateway answers %s → 200, retried later', async (_, broken) => {
    const { user, orderId } = await paidWithoutWebhooks(shop);
    await makeDue({ orderId });
    shop.onGatewayCall(broken);
    expect(await answer(reconcile(shop))).toEqual({ status: 200, body: { asked: 1, applied: 0, unanswered: 1 } });
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'created' });
    shop.onGatewayCall((_call, forwardRequest) => forwardRequest());
    await makeDue({ orderId });
    expect(await answer(reconcile(shop))).toEqual({ status: 200, body: { asked: 1, applied: 1, unanswered: 0 } });
    expect(await readTier(project.database, user.id)).toBe('pro');
  });

  test.each(['pending', 'halted', 'paused'])(
    'POST /api/internal/reconcile of a subscription that was %s and that the gateway charged again → 200, renewed',
    async (status) => {
      const { subscription, charge } = await billed();
      const invoices: object[] = [];
      const standIn = (answered: object) =>
        shop.onGatewayCall(({ path }) =>
          Response.json(path.startsWith('/v1/invoices') ? { items: invoices } : answered)
        );
      standIn({ ...subscription, status });
      await makeSubscriptionDue(subscription.id);
      // The state itself was announced by no webhook.
      expect(await answer(reconcile(shop))).toEqual({ status: 200, body: { asked: 1, applied: 1, unanswered: 0 } });
      const { current_start: billing_start, current_end: billing_end } = charge;
      const paid = { payment_id: uniqueId('pay'), amount: 99900, currency: 'INR', paid_at: billing_start };
      invoices.push({ ...paid, status: 'paid', billing_start, billing_end });
      standIn({ ...subscription, ...charge, status: 'active' });
      await makeSubscriptionDue(subscription.id);
      // The cycle and its payment.
      expect(await answer(reconcile(shop))).toEqual({ status: 200, body: { asked: 1, applied: 2, unanswered: 0 } });
      expect(shop.calls.slice(-2)).toMatchObject([
        { method: 'GET', path: `/v1/subscriptions/${subscription.id}` },
        { method: 'GET', path: '/v1/invoices' },
      ]);
      expect(
        await project.database.one(
          'select extract(epoch from current_period_end)::int as until from public.subscriptions where gateway_subscription_id = $1',
          [subscription.id],
        ),
      ).toEqual({ until: charge.current_end });
      expect(await alertsAbout(project.database, subscription.id)).toEqual(['missed_webhook']);
    },
  );

  test('two reconciliations at once → each payment is read once', async () => {
    const orders = [await paidWithoutWebhooks(shop), await paidWithoutWebhooks(shop), await paidWithoutWebhooks(shop)];
    await makeDue(...orders);
    const reports = await Promise.all([reconcile(shop), reconcile(shop)].map(async (sent) => (await sent).json()));
    expect(reports.reduce((sum, { asked }) => sum + asked, 0)).toBe(3);
    for (const { user } of orders) expect(await readTier(project.database, user.id)).toBe('pro');
  });

  test('no key, address or payload is in the log', async () => {
    await makeDue(await paidWithoutWebhooks(shop));
    await reconcile(shop);
    for (const secret of [internalKey, localKeys.secret, '@', 'pay_', 'order_']) {
      expect(shop.output.join('\n')).not.toContain(secret);
    }
  });
});
