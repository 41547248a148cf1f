import { afterEach, expect, test, vi } from 'vitest';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, orderPlan } from '../helpers/http/requests.ts';
import { restThenPool, useProject } from '../helpers/project/use-project.ts';
import { localKeys } from '../helpers/project/keys.ts';
import { paymentOfOrder, readTier } from '../helpers/records/read-records.ts';

// The rules as a table: database/paid-amounts. Here the browser is closed, and the gateway's own events tell all.
const project = useProject();
const { database, newUser } = project;
const shop = useShop(restThenPool, project);
afterEach(() => shop.simulate('account', {}));

const sold = 99900;
const fee = { fee_bearer: 'customer' };
const both = { ...fee, offer: { amount: 900 } };
const captured = 'payment.captured' as const;
const paid = 'order.paid' as const;

async function ordered(account: unknown) {
  await shop.simulate('account', account);
  const user = await newUser();
  const { order: { id: orderId } } = await orderPlan(shop, user);
  return { orderId, tier: () => readTier(database, user.id), stored: () => paymentOfOrder(database, orderId) };
}

test.each([
  ['the fee on top', fee, 102258, [captured, paid]],
  ['the fee on top', fee, 102258, [paid, captured]],
  ['an offer', { offer: { percent: 10 } }, 89910, [captured, paid]],
  ['an offer', { offer: { percent: 10 } }, 89910, [paid, captured]],
  ['both', both, 101336, [paid]],
])(
  'POST /api/webhooks/gateway of an order that was paid with %s %j: %i, in the order %j → fulfilled; a full refund ends access',
  async (_name, account, amount, events) => {
    const { orderId, tier, stored } = await ordered(account);
    const { gateway_payment_id: payment_id } = await shop.pay(orderId, 'captured', { events });
    await shop.deliveries(orderId, events.length);
    expect(await tier()).toBe('pro');
    const row = await stored();
    expect(row).toMatchObject({ gateway_payment_id: payment_id, status: 'captured' });
    expect([row.amount, row.paid_amount].map(Number)).toEqual([sold, amount]);

    await shop.simulate('refund', { payment_id, amount: amount - 1 });
    await shop.deliveries(payment_id, events.length + 2);
    expect(await tier()).toBe('pro');
    await shop.simulate('refund', { payment_id });
    await shop.deliveries(payment_id, events.length + 4);
    expect(await tier()).toBe('free');
    expect(Number((await stored()).refunded_amount)).toBe(amount);
  },
);

/** The reads of an order since the test began: its payments, and the order itself. */
const readsOf = (orderId: string) =>
  shop.calls.filter(({ method, path }) => method === 'GET' && path.startsWith(`/v1/orders/${orderId}`))
    .map(({ path }) => path.replace(`/v1/orders/${orderId}`, ''));

test('POST /api/webhooks/gateway with payment.captured of another amount → 200; the order is read once, and fulfilled', async () => {
  const { orderId, tier, stored } = await ordered(fee);
  await shop.pay(orderId, 'captured', { events: [captured] });
  await vi.waitFor(async () => expect(await tier()).toBe('pro'), { timeout: 10_000, interval: 20 });
  expect(readsOf(orderId)).toEqual(['/payments', '']);
  expect(Number((await stored()).paid_amount)).toBe(102258);
  expect(await alertsAbout(database, orderId)).toEqual([]);
});

test('POST /api/webhooks/gateway with payment.captured of the amount of its order → 200; nothing is read', async () => {
  const { orderId, tier } = await ordered({});
  await shop.pay(orderId, 'captured', { events: [captured] });
  await shop.deliveries(orderId, 1);
  expect([await tier(), readsOf(orderId)]).toEqual(['pro', []]);
});

test('POST /api/webhooks/gateway with payment.captured of another amount while the gateway hangs → 200 at once; a crash loses nothing', async () => {
  const { orderId, tier } = await ordered(fee);
  const { promise: over, resolve: end } = Promise.withResolvers<Response>();
  shop.onGatewayCall(() => over);
  await shop.pay(orderId, 'captured', { events: [captured] });
  const delivered = await shop.deliveries(orderId, 1);
  expect(delivered.flatMap(({ attempts }) => attempts.map(({ status }) => status))).toEqual([200]);
  await vi.waitFor(() => expect(readsOf(orderId)).toEqual(['/payments']), { timeout: 10_000, interval: 20 });
  end(new Response(null, { status: 500 }));
  // The read is not repeated; the next reconciliation finds the order due.
  shop.onGatewayCall((_call, forwardRequest) => forwardRequest());
  expect(await tier()).toBe('free');
  expect(await call(shop, 'POST /api/internal/reconcile', { headers: { apikey: localKeys.secret } })).toMatchObject({
    status: 200,
    body: { unanswered: 0 },
  });
  expect(await tier()).toBe('pro');
});
