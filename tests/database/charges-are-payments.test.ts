import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import {
  disputeEvent,
  type Fields,
  paymentCaptured,
  refundEvent,
  seconds,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ at: '2126-01-01T00:00:00Z' });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(async () => {
  await setClock(database, null);
  await database.query(
    `truncate auth.users, public.payments, billing.outbox, billing.gateway_events, billing.refunds, billing.marks,
       billing.gateway_subscriptions, billing.deleted_users cascade`,
  );
});
afterAll(() => database.close());

const at = (day: string) => setClock(database, `2126-${day}T00:00:00Z`);
const january = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const february = { start: '2126-02-01T00:00:00Z', end: '2126-03-01T00:00:00Z' };

/** A gateway subscription of basic, whose first cycle begins on 1 January and is not charged yet. */
async function subscriber(user?: { id: string }) {
  await at('01-01');
  const { id: userId } = user ?? await createUser(database);
  const id = uniqueId('sub');
  const send = (event: Pick<SubscriptionEvent, 'name'> & Partial<SubscriptionEvent>) =>
    deliver(service, subscriptionEvent({ userId, id, planId: 'plan_basic', createdAt: january.start, ...event }));
  /** Charges a cycle. @returns the id of its payment */
  const charge = async (
    cycle = january,
    { id: payment = uniqueId('pay'), ...fields }: Fields & { id?: string } = {},
  ) => {
    const charged = { id: payment, amount: 9900, ...fields };
    await send({ name: 'charged', ...cycle, createdAt: cycle.start, payment: charged });
    return payment;
  };
  await send({ name: 'activated', ...january });
  return { userId, id, send, charge };
}

async function payments(userId: string): Promise<unknown> {
  return (await callRpc(service, 'get_subscription', userId))['payments'];
}

/** The user's findings, as `finding subject`. Mails are not sent here and left out. */
async function findings(userId: string): Promise<string[]> {
  const rows = await database.query(
    "select finding, subject from billing.findings where user_id = $1 and finding <> 'outbox_stuck' order by 1, 2",
    [userId],
  );
  return rows.map(({ finding, subject }) => `${finding} ${subject}`);
}

const lose = (id: string) => deliver(service, disputeEvent('lost', 'lost', { id }));

/** Orders a plan with the credit for the time that is left, and pays. */
async function upgrade(userId: string, tier: string) {
  const order: Row = await callRpc(service, 'create_order', userId, tier, null, 'key_1', 'now');
  const [orderId, paymentId] = [uniqueId('order'), uniqueId('pay')];
  await callRpc(service, 'store_order', order['payment_id'], orderId);
  await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'sig');
  await deliver(service, paymentCaptured({ id: paymentId, order_id: orderId, amount: order['amount'] }));
  return { credit: Number(order['credit']), id: String(order['payment_id']), paymentId };
}

describe('a charge', () => {
  test('is a payment of the customer, newest first, as it was charged', async () => {
    const { userId, id, charge } = await subscriber();
    const first = await charge();
    await at('02-01');
    const second = await charge(february, { amount: 1234, currency: 'JPY' });
    expect(await payments(userId)).toMatchObject([{
      gateway_payment_id: second,
      user_id: userId,
      amount: 1234,
      currency: 'JPY',
      status: 'captured',
      tier: 'basic',
      gateway_order_id: null,
      gateway_subscription_id: id,
      fulfilled_at: null,
      period_start: '2126-02-01T00:00:00+00:00',
      period_end: '2126-03-01T00:00:00+00:00',
      refunded_amount: 0,
    }, { gateway_payment_id: first, currency: 'INR' }]);
  });

  test('is no order: no reconciliation, no finding, no source, no mail is about it', async () => {
    const { userId, charge } = await subscriber();
    const id = await charge();
    expect(await deliver(service, paymentCaptured({ id, amount: 9900 }))).toBe('already');
    await at('01-20');
    expect(await callRpc(service, 'claim_payments_to_reconcile')).toEqual({ settled: 0, payments: [] });
    expect(await findings(userId)).toEqual([]);
    expect(await database.query("select from billing.sources where user_id = $1 and kind = 'payment'", [userId]))
      .toEqual([]);
  });

  test('without a payment changes the period alone', async () => {
    const { userId, send } = await subscriber();
    await send({ name: 'charged', ...february, createdAt: february.start });
    expect(await payments(userId)).toEqual([]);
    expect(await database.one('select current_period_end from public.subscriptions where user_id = $1', [userId]))
      .toEqual({ current_period_end: new Date(february.end) });
  });

  test('whose payment id another row has does not fail', async () => {
    const { userId, charge } = await subscriber();
    const { userId: otherId, charge: chargeOther } = await subscriber();
    const id = await charge();
    await chargeOther(january, { id });
    expect(await payments(userId)).toHaveLength(1);
    expect(await readTier(database, otherId)).toBe('basic');
    expect(await database.query("select from billing.gateway_events where outcome like 'failed%'")).toEqual([]);
  });

  test('that arrives before its user waits, is refunded, and is adopted when the user signs up', async () => {
    const user = { ...await createUser(database) };
    await database.query('delete from auth.users where id = $1', [user.id]);
    await database.query('delete from billing.deleted_users');
    const { charge } = await subscriber(user);
    const id = await charge();
    await deliver(service, refundEvent({ id }, 100));
    expect(await database.one('select user_id, tier, refunded_amount from public.payments')).toEqual({
      user_id: null,
      tier: 'basic',
      refunded_amount: '100',
    });
    await database.query('insert into auth.users (id, email) values ($1, $2)', [user.id, user.email]);
    expect(await payments(user.id)).toMatchObject([{ gateway_payment_id: id, refunded_amount: 100 }]);
    expect(await readTier(database, user.id)).toBe('basic');
  });

  test('of a plan that exists later gets its tier', async () => {
    const { userId, send } = await subscriber();
    const id = uniqueId('sub');
    await send({
      name: 'charged',
      id,
      planId: 'plan_later',
      ...january,
      payment: { id: uniqueId('pay'), amount: 500 },
    });
    expect(await payments(userId)).toMatchObject([{ tier: null, gateway_subscription_id: id }]);
    await database.query("update public.plans set gateway_plan_id = 'plan_later' where tier = 'pro'");
    await database.query('select billing.settle_waiting_subscriptions()');
    await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
    expect(await payments(userId)).toMatchObject([{ tier: 'pro' }]);
  });
});

test('a refund of a cycle that only reconciliation found ends access with the cycle before', async () => {
  const { userId, id, charge } = await subscriber();
  await charge();
  await at('02-01');
  const subscription = await database.one('select id from public.subscriptions where user_id = $1', [userId]);
  const cycle = { current_start: seconds(february.start), current_end: seconds(february.end) };
  const entity = { id, plan_id: 'plan_basic', status: 'active', paid_count: 2, ...cycle };
  const read = () => callRpc(service, 'apply_gateway_subscription', subscription['id'], id, JSON.stringify(entity));
  expect(await read()).toEqual({ applied: true, lacks_payment: true });
  const paymentId = uniqueId('pay');
  const invoices = [
    { id: 'inv_3', payment_id: null, status: 'issued', amount: 9900, currency: 'INR' },
    {
      id: 'inv_2',
      payment_id: paymentId,
      status: 'paid',
      amount: 9900,
      currency: 'INR',
      billing_start: cycle.current_start,
      billing_end: cycle.current_end,
      paid_at: cycle.current_start,
    },
  ];
  const apply = () => callRpc(service, 'apply_invoices', id, JSON.stringify(invoices));
  expect(await apply()).toEqual({ applied: 1 });
  expect(await apply()).toEqual({ applied: 0 });
  expect(await read()).toEqual({ applied: false, lacks_payment: false });
  expect(await payments(userId)).toMatchObject([{ gateway_payment_id: paymentId, amount: 9900 }, {}]);
  expect(await readTier(database, userId)).toBe('basic');
  await at('02-02');
  expect(await deliver(service, refundEvent({ id: paymentId }, 9900))).toBe('applied');
  expect(await readTier(database, userId)).toBe('free');
  expect(
    await database.one('select current_period_end, ended_reason from public.subscriptions where user_id = $1', [
      userId,
    ]),
  ).toEqual({ current_period_end: new Date(february.start), ended_reason: 'refunded' });
});

describe('a lost dispute', () => {
  test('before a purchase leaves no credit', async () => {
    const { userId, charge } = await subscriber();
    const id = await charge();
    expect(await lose(id)).toBe('applied');
    await at('01-10');
    expect((await upgrade(userId, 'pro')).credit).toBe(0);
    const later = await upgrade(userId, 'premium');
    expect(later.credit).toBeGreaterThan(0);
  });

  test('of a payment before a purchase leaves no credit', async () => {
    const { id: userId } = await createUser(database);
    await at('01-01');
    const { paymentId } = await upgrade(userId, 'basic');
    await lose(paymentId);
    await at('01-10');
    expect((await upgrade(userId, 'pro')).credit).toBe(0);
  });

  test.each(['cycle', 'payment'])(
    'after the credit of a %s stays a finding while a purchase lives on it',
    async (kind) => {
      const { userId, charge } = await subscriber(await createUser(database));
      if (kind === 'payment') {
        await database.query(
          'truncate billing.gateway_subscriptions, public.subscriptions cascade',
        );
      }
      const source = kind === 'payment' ? (await upgrade(userId, 'basic')).paymentId : await charge();
      await at('01-10');
      const { credit, id, paymentId } = await upgrade(userId, 'pro');
      expect(credit).toBeGreaterThan(0);
      await lose(source);
      const subject = kind === 'payment' ? expect.stringMatching(/^dispute_lost /) : `dispute_lost ${source}`;
      expect(await findings(userId)).toEqual([subject, `unearned_credit ${id}`]);
      if (kind === 'payment') {
        await database.query(
          "insert into billing.support_actions (action, reference, reason) values ('end_access', $1, 'lost')",
          [source],
        );
        expect(await findings(userId)).toEqual([subject, `unearned_credit ${id}`]);
      }
      // A purchase on top of the purchase lives on the lost money, too.
      const top = await upgrade(userId, 'premium');
      await database.query('update public.payments set period_end = billing.clock() where id = $1', [id]);
      expect(await findings(userId)).toEqual(expect.arrayContaining([subject, `unearned_credit ${id}`]));
      for (const { paymentId: refunded } of [top, { paymentId }]) {
        const { amount } = await database.one('select amount from public.payments where gateway_payment_id = $1', [
          refunded,
        ]);
        await deliver(service, refundEvent({ id: refunded }, Number(amount)));
      }
      expect(await findings(userId)).not.toContain(`unearned_credit ${id}`);
    },
  );
});

test('a cycle that is charged twice is a finding until one charge is refunded, and one of them is credited', async () => {
  const { userId, charge } = await subscriber();
  const first = await charge();
  const second = await charge(january);
  const later = [first, second].toSorted()[1];
  expect(await findings(userId)).toEqual([`charged_twice ${later}`]);
  const preview: Row = await callRpc(service, 'preview_change', userId, 'pro', 'now');
  expect(preview['change']).toMatchObject({ credit: 9900 });
  await deliver(service, refundEvent({ id: first }, 9900));
  expect(await findings(userId)).toEqual([]);
  expect(await readTier(database, userId)).toBe('basic');
  expect(await callRpc(service, 'preview_change', userId, 'pro', 'now')).toMatchObject({ change: { credit: 9900 } });
});

test('a charge in another currency than the plan’s is a finding, and gives no credit', async () => {
  const { userId, charge } = await subscriber();
  const id = await charge(january, { amount: 20000, currency: 'JPY' });
  expect(await findings(userId)).toEqual([`mismatch ${id}`]);
  expect(await callRpc(service, 'preview_change', userId, 'pro', 'now')).toMatchObject({ change: { credit: 0 } });
  const { lifetime_amounts } = await database.one('select lifetime_amounts from billing.customers where user_id = $1', [
    userId,
  ]);
  expect(lifetime_amounts).toEqual({ JPY: 20000 });
});
