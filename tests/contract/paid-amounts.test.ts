import { afterEach, expect, test } from 'vitest';
import { useShop } from '../helpers/gateway/shop.ts';
import { orderPlan } from '../helpers/http/requests.ts';
import { restThenPool, useProject } from '../helpers/project/use-project.ts';
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
