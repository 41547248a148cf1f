import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { gatewayEvent, orderPaid, paymentCaptured, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { mailsTo, paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readLedger, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

describe('an event whose plan is missing', () => {
  /** An order of a tier without a plan, and its capture. */
  async function paidWithoutPlan() {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { tier });
    const money = paymentOf(order);
    const body = paymentCaptured(money);
    expect(await deliver(service, body)).toBe('plan_not_found');
    const addPlan = () => database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 1)", [tier]);
    return { tier, order, money, body, addPlan };
  }

  test('is applied by a repeated delivery after the plan was created', async () => {
    const { tier, order, body, addPlan } = await paidWithoutPlan();
    expect(await deliver(service, body)).toBe('plan_not_found');
    await addPlan();
    expect(await deliver(service, body)).toBe('applied');
    expect(await deliver(service, body)).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe(tier);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
    expect(await readLedger(database, sha256(body))).toMatchObject({ attempts: 3, deliveries: 4 });
  });

  test('is applied by the next sweep after the plan was created, however late, and not tried before', async () => {
    const { tier, order, money, body, addPlan } = await paidWithoutPlan();
    const paid = orderPaid(money, { id: order.orderId });
    expect(await deliver(service, paid)).toBe('plan_not_found');
    await database.query("update billing.gateway_events set received_at = received_at - interval '40 days'");
    for (let sweep = 0; sweep < 4; sweep++) await database.query('select billing.sweep()');
    expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'plan_not_found', attempts: 1 });
    await addPlan();
    await database.query('select billing.sweep()');
    expect(await readTier(database, order.user.id)).toBe(tier);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
    const outcomes = [body, paid].map(async (each) => (await readLedger(database, sha256(each))).outcome);
    expect((await Promise.all(outcomes)).sort()).toEqual(['already', 'applied']);
  });

  test('is applied by the next sweep after a plan was renamed to its tier', async () => {
    const { tier, order } = await paidWithoutPlan();
    await database.query(
      `insert into public.plans (tier, name, price) values ($1 || '-old', 'Team', 1)`,
      [tier],
    );
    await database.query("update public.plans set tier = $1 where tier = $1 || '-old'", [tier]);
    await database.query('select billing.sweep()');
    expect(await readTier(database, order.user.id)).toBe(tier);
  });

  test('grants nothing after its payment was refunded, and is not retried without end', async () => {
    const { order, money, body, addPlan } = await paidWithoutPlan();
    await deliver(service, refundEvent(money, 99900));
    await addPlan();
    for (let sweep = 0; sweep < 3; sweep++) await database.query('select billing.sweep()');
    expect(await readTier(database, order.user.id)).toBe('free');
    expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'already', attempts: 2 });
  });
});

describe('an event that names a payment and no order', () => {
  const disputeOf = (paymentId: string) =>
    gatewayEvent('payment.dispute.created', { dispute: { payment_id: paymentId } });

  test.each(['verify', 'payment.captured'])(
    'is applied by the next sweep after %s stores the payment’s id',
    async (name) => {
      const order = await placeOrder(database);
      const body = disputeOf(order.paymentId);
      expect(await deliver(service, body)).toBe('unmatched');
      if (name === 'verify') await verifyPurchase(service, order);
      else await deliver(service, paymentCaptured(paymentOf(order)));
      await database.query('select billing.sweep()');
      expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: 'open' });
      expect(await readLedger(database, sha256(body))).toMatchObject({
        subject_id: order.paymentId,
        outcome: 'applied',
        attempts: 2,
      });
    },
  );

  test('and is a full refund leaves nothing for a verification to grant', async () => {
    const order = await placeOrder(database);
    expect(await deliver(service, refundEvent({ id: order.paymentId }, 99900))).toBe('unmatched');
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'refunded' });
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '99900' });
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test('is matched by the next sweep if it arrived at the same time as the capture', async () => {
    const order = await placeOrder(database);
    const verifying = await openSession(database, { role: 'service_role' });
    await verifying.query('begin');
    await verifyPurchase(verifying, order);
    expect(await deliver(service, disputeOf(order.paymentId))).toBe('unmatched');
    await verifying.query('commit');
    await database.query('select billing.sweep()');
    expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: 'open' });
  });
});

describe('a gateway subscription of an unknown plan', () => {
  test('stays in the mirror: after the plan was created, the next sweep creates an active or a cancelled subscription', async () => {
    for (const cancelled of [false, true]) {
      const { id: userId } = await createUser(database);
      const [planId, id] = [uniqueId('plan'), uniqueId('sub')];
      const at = (day: number) => ({ createdAt: `2026-01-0${day}T00:00:00Z` });
      const month = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
      const activated = subscriptionEvent({ name: 'activated', userId, id, planId, ...month, ...at(1) });
      expect(await deliver(service, activated)).toBe('unmatched');
      if (cancelled) await deliver(service, subscriptionEvent({ name: 'cancelled', userId, id, ...at(2) }));
      await database.query('select billing.sweep()');
      expect(await readSubscription(database, userId)).toBeNull();

      await database.query(
        'insert into public.plans (tier, name, price, gateway_plan_id) values ($1, $1, 1, $1)',
        [planId],
      );
      await database.query('select billing.sweep()');
      expect(await readSubscription(database, userId)).toMatchObject({
        tier: planId,
        status: cancelled ? 'cancelled' : 'active',
        gateway_subscription_id: id,
      });
      expect(await readTier(database, userId)).toBe(cancelled ? 'free' : planId);
      expect(await readLedger(database, sha256(activated))).toMatchObject({ outcome: 'unmatched', attempts: 1 });
    }
  });
});
