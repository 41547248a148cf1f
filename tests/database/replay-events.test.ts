import { beforeEach, describe, expect, test } from 'vitest';
import { listen } from '../helpers/database/notifications.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { gatewayEvent, orderPaid, paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import type { Customer } from '../helpers/records/customer.ts';
import { paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { readLedger } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

const database = useDatabase();
let customer: Customer;
beforeEach(async () => {
  customer = await database.customer();
});

const ledger = (body: string) => readLedger(database, sha256(body));
const sweepOnce = () => database.query('select billing.sweep()');
async function replay(body: string): Promise<unknown> {
  return (await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)])).outcome;
}

describe('billing.replay_event', () => {
  test('of an unknown event returns null, and is closed to the service', async () => {
    expect(await replay('unknown')).toBeNull();
    const call = database.service.query("select billing.replay_event('\\x00')");
    await expect(call).rejects.toMatchObject({ code: '42501' });
  });

  test('of the capture of a payment that was refunded later grants nothing again', async () => {
    const order = await customer.order('pro');
    const body = paymentCaptured(paymentOf(order));
    await database.send(body);
    await order.refund();
    expect(await replay(body)).toBe('already');
    expect(await customer.tier()).toBe('free');
    const mails = [`payment-success/${order.id}`, expect.stringMatching(/^subscription-ended\//)];
    expect(await customer.mails()).toEqual(mails);
  });

  test('of a capture fulfils after the amount of the payment was corrected, and wakes the dispatcher', async () => {
    const order = await placeOrder(database, { user: customer, amount: 1 });
    const body = paymentCaptured(paymentOf(order));
    expect(await database.send(body)).toBe('mismatch');
    await database.query('update public.payments set amount = 99900 where id = $1', [order.id]);
    expect(await database.send(body)).toBe('mismatch');
    const listener = await listen(database, 'outbox');
    expect(await replay(body)).toBe('applied');
    expect(await customer.tier()).toBe('pro');
    expect(await listener.count()).toBe(1);
  });
});

test('an order whose event cannot be applied is inserted nevertheless, and a replay applies the event', async () => {
  const [id, orderId] = [uniqueId('pay'), uniqueId('order')];
  const body = paymentCaptured({ id, order_id: orderId });
  await database.send(body);
  await database.query(`alter table public.payments add constraint poison check (gateway_payment_id <> '${id}')`);
  await createPayment(database, { userId: customer.id, orderId });
  expect(await ledger(body)).toMatchObject({ outcome: 'failed: 23514' });
  await database.query('alter table public.payments drop constraint poison');
  expect(await replay(body)).toBe('applied');
  expect(await customer.tier()).toBe('pro');
});

test('a sweep retries an event that stays unmatched at most three times', async () => {
  const body = paymentCaptured({ ...paymentOf(await customer.order('pro')), amount: undefined });
  expect(await database.send(body)).toBe('unmatched');
  for (let sweep = 0; sweep < 4; sweep++) await sweepOnce();
  expect(await ledger(body)).toMatchObject({ outcome: 'unmatched', attempts: 3 });
});

describe('an event whose plan is missing', () => {
  /** An order of a tier without a plan, and its capture. */
  async function paidWithoutPlan() {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { user: customer, tier });
    const money = paymentOf(order);
    const body = paymentCaptured(money);
    expect(await database.send(body)).toBe('plan_not_found');
    const addPlan = () => database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 1)", [tier]);
    return { tier, order, money, body, addPlan };
  }

  test('is applied by the next sweep after the plan was created, however late, and not tried before', async () => {
    const { tier, order, money, body, addPlan } = await paidWithoutPlan();
    const paid = orderPaid(money, { id: order.orderId });
    expect(await database.send(paid)).toBe('plan_not_found');
    await database.query("update billing.gateway_events set received_at = received_at - interval '40 days'");
    for (let sweep = 0; sweep < 2; sweep++) await sweepOnce();
    expect(await ledger(body)).toMatchObject({ outcome: 'plan_not_found', attempts: 1 });
    await addPlan();
    await sweepOnce();
    expect(await database.send(body)).toBe((await ledger(body)).outcome);
    expect([await customer.tier(), await customer.mails()]).toEqual([tier, [`payment-success/${order.id}`]]);
    const outcomes = [(await ledger(body)).outcome, (await ledger(paid)).outcome];
    expect(outcomes.sort()).toEqual(['already', 'applied']);
  });

  test('is applied by the next sweep after a plan was renamed to its tier', async () => {
    const { tier } = await paidWithoutPlan();
    await database.query("insert into public.plans (tier, name, price) values ($1 || '-old', 'Team', 1)", [tier]);
    await database.query("update public.plans set tier = $1 where tier = $1 || '-old'", [tier]);
    await sweepOnce();
    expect(await customer.tier()).toBe(tier);
  });

  test('grants nothing after its payment was refunded, and is not retried without end', async () => {
    const { money, body, addPlan } = await paidWithoutPlan();
    await database.send(refundEvent(money, 99900));
    await addPlan();
    for (let sweep = 0; sweep < 3; sweep++) await sweepOnce();
    expect(await customer.tier()).toBe('free');
    expect(await ledger(body)).toMatchObject({ outcome: 'already', attempts: 2 });
  });
});

describe('an event that names a payment and no order', () => {
  const disputeOf = (id: string) => gatewayEvent('payment.dispute.created', { dispute: { payment_id: id } });

  test.each(['verify', 'capture'] as const)('is applied by the next sweep after a %s stores the id', async (way) => {
    const order = await customer.order('pro');
    const body = disputeOf(order.paymentId);
    expect(await database.send(body)).toBe('unmatched');
    await order[way]();
    await sweepOnce();
    expect(await order.row()).toMatchObject({ dispute_status: 'open' });
    expect(await ledger(body)).toMatchObject({ subject_id: order.paymentId, outcome: 'applied', attempts: 2 });
  });
});
