import { describe, expect, test, vi } from 'vitest';
import type { DeliverOptions } from '../../scripts/stack/gateway/events.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { answer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { type Checkout, orderPlan, requestSubscription, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { ledgerRow, paymentOfOrder, queued, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

// For each target: four payments that do not match their order, and an order paid twice.
const project = useProject({ findings: { failed_events: 4 * poolSample.length, paid_twice: poolSample.length } });

describe.each(poolSample)('%s', (target) => {
  const shop = useShop(target, project);

  /** A user with an open order. */
  async function startPurchase(): Promise<{ user: SignedUpUser; orderId: string }> {
    const user = await createCaller(project.database);
    const { order } = await orderPlan(shop, user.accessToken, 'pro');
    return { user, orderId: order.id };
  }

  /** The user has the purchased access and one mail. @returns the end of the period */
  async function expectBought(user: SignedUpUser, { gateway_order_id, gateway_payment_id }: Checkout) {
    const payment = await paymentOfOrder(project.database, gateway_order_id);
    expect(payment).toMatchObject({ status: 'captured', tier: 'pro', gateway_payment_id });
    const validUntil = payment.period_end instanceof Date ? payment.period_end.toISOString() : 'never';
    expect(await answer(requestSubscription(shop, user.accessToken))).toMatchObject({
      status: 200,
      body: {
        currentTier: 'pro',
        subscription: { tier: 'pro', status: 'active' },
        payments: [{ id: payment.id, status: 'captured', amount: 99900 }],
      },
    });
    expect((await subscriptionOf(project.database, user.id))?.current_period_end).toEqual(payment.period_end);
    expect(await queued(project.database, 'payment-success', user.email)).toMatchObject([
      { transaction_id: gateway_payment_id, amount: 99900, valid_until: validUntil },
    ]);
    return validUntil;
  }

  /** The user has no paid tier and no mail. */
  async function expectNothingBought(user: SignedUpUser): Promise<void> {
    expect(await readTier(project.database, user.id)).toBe('free');
    expect(await queued(project.database, 'payment-success', user.email)).toEqual([]);
  }

  /** POST /api/payments/verify. @returns `validUntil` */
  async function verified(user: SignedUpUser, paid: Checkout): Promise<unknown> {
    const response = await verify(shop, user.accessToken, paid);
    expect(response.status).toBe(200);
    const { subscription } = await response.json();
    expect(subscription.tier).toBe('pro');
    return subscription.validUntil;
  }

  test('order, pay, verify, read → the tier; later webhooks change nothing', async () => {
    const { user, orderId } = await startPurchase();
    await expectNothingBought(user);
    const paid = await shop.pay(orderId, 'captured', { drop: true });
    const validUntil = await verified(user, paid);
    expect(await expectBought(user, paid)).toBe(validUntil);

    for (const { body } of await shop.deliveries(orderId, 0)) await shop.deliver(body);
    await shop.deliveries(orderId, 3);
    expect(await expectBought(user, paid)).toBe(validUntil);
    expect((await paymentOfOrder(project.database, orderId)).confirmed_at).not.toBeNull();
  });

  test.each<[string, DeliverOptions, number]>([
    ['all webhooks', {}, 3],
    ['all webhooks at once', { at_once: true }, 3],
    ['all webhooks in reverse order', { reorder: true }, 3],
    ['all webhooks three times', { duplicate: 2 }, 9],
    ['all webhooks three times, at once', { duplicate: 2, at_once: true }, 9],
    ['payment.captured alone', { events: ['payment.captured'] }, 1],
    ['order.paid alone', { events: ['order.paid'] }, 1],
    ['order.paid before payment.captured', { events: ['order.paid', 'payment.captured'] }, 2],
    ['payment.captured before payment.authorized', { events: ['payment.captured', 'payment.authorized'] }, 2],
  ])('order, pay, no verification: %s → the tier and one mail', async (_, deliver, posts) => {
    const { user, orderId } = await startPurchase();
    const paid = await shop.pay(orderId, 'captured', deliver);
    await shop.deliveries(orderId, posts);
    const validUntil = await expectBought(user, paid);
    // A late verification changes nothing.
    expect(await verified(user, paid)).toBe(validUntil);
    expect(await expectBought(user, paid)).toBe(validUntil);
  });

  test('order, pay, payment.authorized alone → no access', async () => {
    const { user, orderId } = await startPurchase();
    await shop.pay(orderId, 'captured', { events: ['payment.authorized'] });
    await shop.deliveries(orderId, 1);
    await expectNothingBought(user);
  });

  test('order, pay, verify and all webhooks at the same time → one period, one mail', async () => {
    const { user, orderId } = await startPurchase();
    const paid = await shop.pay(orderId, 'captured', { at_once: true, duplicate: 1 });
    const answers = await Promise.all([verified(user, paid), verified(user, paid), shop.deliveries(orderId, 6)]);
    const validUntil = await expectBought(user, paid);
    expect(answers.slice(0, 2)).toEqual([validUntil, validUntil]);
  });

  test('order, a failed attempt, a successful one on the same order → one mail for each, the ordered tier', async () => {
    const { user, orderId } = await startPurchase();
    const failed = await shop.pay(orderId, 'failed');
    await shop.deliveries(orderId, 1);
    await expectNothingBought(user);
    expect(await queued(project.database, 'payment-failed', user.email))
      .toMatchObject([{ tier: 'pro', amount: 99900, reason: 'The bank declined the payment.' }]);

    const again = await orderPlan(shop, user.accessToken, 'pro');
    expect(again.order.id).toBe(orderId);
    const paid = await shop.pay(orderId);
    expect(paid.gateway_payment_id).not.toBe(failed.gateway_payment_id);
    await shop.deliveries(orderId, 4);
    const validUntil = await expectBought(user, paid);
    expect(await verified(user, paid)).toBe(validUntil);
    expect(await queued(project.database, 'payment-failed', user.email)).toHaveLength(1);
  });

  test('order, a failed attempt, a successful one, then the late payment.failed → the tier stays', async () => {
    const { user, orderId } = await startPurchase();
    await shop.pay(orderId, 'failed', { drop: true });
    const [late] = await shop.deliveries(orderId, 0);
    const paid = await shop.pay(orderId);
    await shop.deliveries(orderId, 3);
    await shop.deliver(late?.body ?? '');
    await shop.deliveries(orderId, 4);
    await expectBought(user, paid);
    expect(await ledgerRow(project.database, late?.body)).toMatchObject({ outcome: 'stale' });
    expect(await queued(project.database, 'payment-failed', user.email)).toEqual([]);
  });

  test('order, a failed attempt that is captured later → the tier and one mail', async () => {
    const { user, orderId } = await startPurchase();
    const paid = await shop.pay(orderId, 'failed');
    await shop.deliveries(orderId, 1);
    const fields = { id: paid.gateway_payment_id, order_id: orderId };
    await shop.deliver(paymentCaptured(fields));
    await shop.deliveries(orderId, 2);
    await expectBought(user, paid);
  });

  test.each([
    ['a smaller amount', { amount: 99899 }],
    ['a greater amount', { amount: 99901 }],
    ['another currency', { currency: 'USD' }],
    ['an amount that is not captured', { status: 'authorized' }],
  ])('order, payment.captured of %s → mismatch, no access', async (_, change) => {
    const { user, orderId } = await startPurchase();
    const body = paymentCaptured({ order_id: orderId, amount: 99900, ...change });
    await shop.deliver(body);
    await shop.deliveries(orderId, 1);
    expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'mismatch' });
    await expectNothingBought(user);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'created' });
  });

  test('order, pay, the first delivery of the webhook fails → a retry grants the tier', async () => {
    const { user, orderId } = await startPurchase();
    const paid = await whileBroken(project.database, 'apply_gateway_event', async () => {
      const paid = await shop.pay(orderId, 'captured', { events: ['payment.captured'] });
      const [delivery] = await shop.deliveries(orderId, 1);
      expect(delivery?.attempts[0]?.status).toBe(500);
      return paid;
    });
    await vi.waitFor(async () => {
      expect((await shop.deliveries(orderId, 2)).map(({ state }) => state)).toContain('delivered');
    }, { timeout: 20_000 });
    await expectBought(user, paid);
  });

  test.each(
    [
      ['payment.captured', 'unmatched'],
      // The order's receipt is the id of our payment.
      ['order.paid', 'applied'],
    ] as const,
  )('%s before the order is stored → %s, and fulfilled when the order is stored', async (event, outcome) => {
    const user = await createCaller(project.database);
    let paid: Checkout | undefined;
    shop.onGatewayCall(async (_, forwardRequest) => {
      const order = await (await forwardRequest()).json();
      paid = await shop.pay(order.id, 'captured', { events: [event] });
      await shop.deliveries(order.id, 1);
      const about = await project.database.query(
        'select event, outcome from billing.gateway_events where subject_id = $1',
        [
          order.id,
        ],
      );
      expect.soft(about).toEqual([{ event, outcome }]);
      return Response.json(order);
    });
    const { order } = await orderPlan(shop, user.accessToken, 'pro');
    expect(paid?.gateway_order_id).toBe(order.id);
    if (paid === undefined) return;
    const validUntil = await expectBought(user, paid);
    expect(await verified(user, paid)).toBe(validUntil);
  });

  test('payment.failed before the order is stored → the failure mail when it is stored; a later payment grants the tier', async () => {
    const user = await createCaller(project.database);
    shop.onGatewayCall(async (_, forwardRequest) => {
      const order = await (await forwardRequest()).json();
      await shop.pay(order.id, 'failed');
      await shop.deliveries(order.id, 1);
      return Response.json(order);
    });
    const { order } = await orderPlan(shop, user.accessToken, 'pro');
    expect(await paymentOfOrder(project.database, order.id)).toMatchObject({ status: 'failed', tier: 'pro' });
    expect(await queued(project.database, 'payment-failed', user.email)).toHaveLength(1);
    const paid = await shop.pay(order.id);
    await shop.deliveries(order.id, 4);
    await expectBought(user, paid);
  });

  test('two payments on one order → the first counts, the second is an extra payment', async () => {
    const { user, orderId } = await startPurchase();
    const paid = await shop.pay(orderId);
    await shop.deliveries(orderId, 3);
    const id = uniqueId('pay');
    await shop.deliver(paymentCaptured({ id, order_id: orderId }));
    await shop.deliveries(orderId, 4);
    await expectBought(user, paid);
    expect(
      await project.database.query(
        'select 1 from public.payments where extra_of is not null and gateway_payment_id = $1',
        [id],
      ),
    )
      .toHaveLength(1);
  });

  test('a second purchase after the first → another order, another mail, a new period', async () => {
    const { user, orderId } = await startPurchase();
    await shop.pay(orderId);
    await shop.deliveries(orderId, 3);
    const second = await orderPlan(shop, user.accessToken, 'premium');
    await shop.pay(second.order.id);
    await shop.deliveries(second.order.id, 3);
    expect(await readTier(project.database, user.id)).toBe('premium');
    expect(await queued(project.database, 'payment-success', user.email)).toMatchObject([
      { plan_name: 'Pro' },
      { plan_name: 'Premium' },
    ]);
  });
});
