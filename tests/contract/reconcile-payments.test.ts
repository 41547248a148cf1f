import { expect, test } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { answer, call, checkout, fullAnswer, orderPlan, refusal, send, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier } from '../helpers/records/read-records.ts';

// A payment that was verified and never captured.
const project = useProject({ findings: { never_captured: 1, missed_webhook: 1 } });
const { database, newUser } = project;
const shop = useShop(poolThenRest, project, { INTERNAL_KEY: 'internal-key' });
const endpoint = 'POST /api/internal/reconcile';
const withInternalKey = { 'x-internal-key': 'internal-key' };
/** Long enough for a slow machine. */
const patience = { timeout: 30_000 };

const reconcile = (headers: Record<string, string> = withInternalKey) => call(shop, endpoint, { headers });
const report = (asked: number, applied: number, unanswered = 0) => (
  { status: 200, body: { asked, applied, unanswered } }
);
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

test('POST /api/internal/reconcile with another key, or with the session of a user → 401, the gateway is not called', async () => {
  const { accessToken } = await newUser();
  const refused: Record<string, string>[] = [
    {},
    { 'x-internal-key': 'another-key' },
    { apikey: localKeys.publishable },
    { apikey: 'internal-key' },
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

test('POST /api/internal/reconcile after a payment without verification and webhooks → 200 with the counts; fulfilled, with an alert; nothing is due twice', async () => {
  const { user, orderId } = await paidWithoutWebhooks();
  await makeDue({ orderId }, await paidWithoutWebhooks('failed'));
  const { headers, ...received } = await fullAnswer(send(shop, endpoint, { headers: withInternalKey }));
  expect(received).toEqual(report(2, 2));
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(await reconcile({ apikey: localKeys.secret })).toEqual(report(0, 0));
  const at = expect.any(Date);
  expect(await paymentOfOrder(database, orderId))
    .toMatchObject({ status: 'captured', fulfilled_at: at, confirmed_at: at });
  expect(await tier(user)).toBe('pro');
  expect(await queued(database, 'payment-success', user.email)).toHaveLength(1);
  expect(await alertsAbout(database, orderId)).toEqual(['missed_webhook']);
  expect(shop.calls).toContainEqual({ method: 'GET', path: `/v1/orders/${orderId}/payments`, body: null });
});

test('POST /api/payments/verify of a payment that was never captured → 400, every time', async () => {
  const user = await newUser();
  const { order: { id: orderId } } = await orderPlan(shop, user);
  const paid = await checkout(orderId);
  expect((await verify(shop, user.accessToken, paid)).status).toBe(200);
  await makeDue({ orderId });
  await database.query(
    `update public.payments set created_at = day, captured_at = day
     from (select now() - interval '6 days' as day) d where gateway_order_id = $1`,
    [orderId],
  );
  expect(await reconcile()).toEqual(report(1, 1));
  for (const _ of [1, 2]) {
    expect(await answer(verify(shop, user.accessToken, paid))).toEqual(refusal(400, 'Payment verification failed'));
    expect(await tier(user)).toBe('free');
  }
});
