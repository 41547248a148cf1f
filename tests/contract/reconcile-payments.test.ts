import { expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { openSession } from '../helpers/database/session.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { answer, call, checkout, fullAnswer, orderPlan, refusal, send, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

// A payment that was verified and never captured.
const project = useProject({ findings: { never_captured: 1, missed_webhook: 1 } });
const { database, newUser } = project;
const internalKey = 'internal-key';
const shop = useShop(poolThenRest, project, { INTERNAL_KEY: internalKey });
const endpoint = 'POST /api/internal/reconcile';
const withInternalKey = { 'x-internal-key': internalKey };
/** Long enough for a slow machine. */
const patience = { timeout: 30_000 };

const reconcile = (headers: Record<string, string> = withInternalKey) => call(shop, endpoint, { headers });
const report = (asked: number, applied: number, unanswered = 0) => ({
  status: 200,
  body: { asked, applied, unanswered },
});
const tier = (user: { id: string }) => readTier(database, user.id);

/** Makes these orders due now, and no other order at any time. */
const makeDue = (...orders: { orderId: string }[]) =>
  database.query(
    `update public.payments
     set next_reconcile_at = case when gateway_order_id = any ($1) then billing.clock() - interval '1 second' end`,
    [orders.map(({ orderId }) => orderId)],
  );

/** An order, due now, whose payment no webhook announced. */
async function paidWithoutWebhooks(outcome: 'captured' | 'failed' = 'captured') {
  const user = await newUser();
  const { order: { id: orderId } } = await orderPlan(shop, user);
  await shop.pay(orderId, outcome, { events: [] });
  await makeDue({ orderId });
  return { user, orderId };
}

/** A subscription that the gateway bills, and the charge of its next cycle. Its last cycle ends now. */
async function billed() {
  const { id: userId } = await newUser();
  const id = uniqueId('sub');
  const [start, end, nextEnd] = [-30, 0, 30].map((days) => Math.floor(Date.now() / 1000) + days * 86_400);
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  const iso = (at = 0) => new Date(at * 1000).toISOString();
  const cycle = { start: iso(start), end: iso(end), createdAt: iso(start) };
  const service = await openSession(database, { role: 'service_role' });
  await deliver(service, subscriptionEvent({ name: 'activated', userId, id, planId: 'plan_pro', ...cycle }));
  return {
    subscription: { id, plan_id: 'plan_pro', current_start: start, current_end: end, paid_count: 1, notes: [] },
    charge: { current_start: end, current_end: nextEnd, paid_count: 2 },
    async makeDue() {
      await makeDue();
      await database.query(
        `update billing.gateway_subscriptions
         set next_check_at = case when gateway_subscription_id = $1 then billing.clock() - interval '1 second' end`,
        [id],
      );
    },
  };
}

test('POST /api/internal/reconcile with another key, or with the session of a user → 401, the gateway is not called', async () => {
  const { accessToken } = await newUser();
  const refused: Record<string, string>[] = [
    {},
    { 'x-internal-key': 'another-key' },
    { apikey: localKeys.publishable },
    { apikey: internalKey },
    { authorization: `Bearer ${accessToken}` },
  ];
  for (const headers of refused) expect(await reconcile(headers)).toEqual(refusal(401, 'Unauthorized'));
  expect(shop.calls).toEqual([]);
});

test('POST /api/internal/reconcile with prefer: respond-async → 202, due payments are reconciled', async () => {
  const { user } = await paidWithoutWebhooks();
  expect(await reconcile({ ...withInternalKey, prefer: 'respond-async' }))
    .toEqual({ status: 202, body: { accepted: true } });
  await expect.poll(() => tier(user), patience).toBe('pro');
  const done = "select done_at from billing.scheduled_jobs where name = 'reconciliation'";
  await expect.poll(async () => (await database.one(done)).done_at, patience).not.toBeNull();
});

test('POST /api/internal/reconcile → 200 with the counts only; nothing is due twice', async () => {
  await makeDue(await paidWithoutWebhooks(), await paidWithoutWebhooks('failed'));
  const { headers, ...received } = await fullAnswer(send(shop, endpoint, { headers: withInternalKey }));
  expect(received).toEqual(report(2, 2));
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(await reconcile({ apikey: localKeys.secret })).toEqual(report(0, 0));
});

test('POST /api/internal/reconcile after a payment without verification and webhooks → 200, fulfilled, with an alert', async () => {
  const { user, orderId } = await paidWithoutWebhooks();
  expect(await reconcile()).toEqual(report(1, 1));
  const at = expect.any(Date);
  expect(await paymentOfOrder(database, orderId))
    .toMatchObject({ status: 'captured', fulfilled_at: at, confirmed_at: at });
  expect(await tier(user)).toBe('pro');
  expect(await queued(database, 'payment-success', user.email)).toHaveLength(1);
  expect(await alertsAbout(database, orderId)).toEqual(['missed_webhook']);
  expect(shop.calls.at(-1)).toMatchObject({ method: 'GET', path: `/v1/orders/${orderId}/payments` });
});

test('POST /api/payments/verify of a payment that was never captured → 400, every time', async () => {
  const user = await newUser();
  const { order: { id: orderId } } = await orderPlan(shop, user);
  const paid = await checkout(orderId);
  expect((await verify(shop, user.accessToken, paid)).status).toBe(200);
  await makeDue({ orderId });
  await database.query(
    "update public.payments set created_at = now() - interval '6 days', captured_at = now() - interval '6 days' where gateway_order_id = $1",
    [orderId],
  );
  expect(await reconcile()).toEqual(report(1, 1));
  for (const _ of [1, 2]) {
    expect(await tier(user)).toBe('free');
    expect(await answer(verify(shop, user.accessToken, paid))).toEqual(refusal(400, 'Payment verification failed'));
  }
  expect(await tier(user)).toBe('free');
});

// All answers that the gateway may give: unit/gateway.
test.each([500, 401])(
  'POST /api/internal/reconcile while the gateway answers %i → 200, retried later',
  async (status) => {
    const { user, orderId } = await paidWithoutWebhooks();
    shop.onGatewayCall(() => Response.json({ error: {} }, { status }));
    expect(await reconcile()).toEqual(report(1, 0, 1));
    expect(await paymentOfOrder(database, orderId)).toMatchObject({ status: 'created' });
    shop.onGatewayCall((_call, forwardRequest) => forwardRequest());
    await makeDue({ orderId });
    expect(await reconcile()).toEqual(report(1, 1));
    expect(await tier(user)).toBe('pro');
  },
);

test('POST /api/internal/reconcile of a subscription that was halted and that the gateway charged again → 200, renewed', async () => {
  const { subscription, charge, makeDue } = await billed();
  const invoices: object[] = [];
  const standIn = (answered: object) =>
    shop.onGatewayCall(({ path }) => Response.json(path.startsWith('/v1/invoices') ? { items: invoices } : answered));
  standIn({ ...subscription, status: 'halted' });
  await makeDue();
  // The state itself was announced by no webhook.
  expect(await reconcile()).toEqual(report(1, 1));
  const { current_start: billing_start, current_end: billing_end } = charge;
  const paid = { payment_id: uniqueId('pay'), amount: 99900, currency: 'INR', paid_at: billing_start };
  invoices.push({ ...paid, status: 'paid', billing_start, billing_end });
  standIn({ ...subscription, ...charge, status: 'active' });
  await makeDue();
  // The cycle and its payment.
  expect(await reconcile()).toEqual(report(1, 2));
  expect(shop.calls.slice(-2)).toMatchObject([
    { method: 'GET', path: `/v1/subscriptions/${subscription.id}` },
    { method: 'GET', path: '/v1/invoices' },
  ]);
  const until =
    'select extract(epoch from current_period_end)::int as until from public.subscriptions where gateway_subscription_id = $1';
  expect(await database.one(until, [subscription.id])).toEqual({ until: charge.current_end });
  expect(await alertsAbout(database, subscription.id)).toEqual(['missed_webhook']);
});
