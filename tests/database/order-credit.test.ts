import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setCredit } from '../helpers/database/credit.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { disputeEvent, paymentCaptured, refundEvent, type RefundFields } from '../helpers/gateway/events.ts';
import { applyOrderPayments } from '../helpers/gateway/reconciliation.ts';
import { buyTier, type Order, orderTier } from '../helpers/records/orders.ts';
import { mailsTo, paymentOf, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';
import { endAccess, grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(async () => {
  user = await createUser(database);
});
afterEach(async () => {
  await deleteUsers(database);
  await setClock(database, null);
  await setCredit(database, 'on');
  await setEarlyRenewal(database, 'replace');
  await database.query(
    "update public.plans set currency = 'INR', price = case tier when 'basic' then 9900 when 'pro' then 99900 else 199900 end",
  );
});
afterAll(() => database.close());

/** Midnight of a day in January 2026. The month has 31 days. */
const january = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString();
const february = '2026-02-01T00:00:00.000Z';
const at = (time: string) => setClock(database, time);

async function buy(tier: string, time: string, start?: 'now'): Promise<Order> {
  await at(time);
  return await buyTier(service, { user, tier, start });
}
async function order(tier: string, time: string, start: 'now' | 'after_current' | null = 'now'): Promise<Order> {
  await at(time);
  return await orderTier(service, { user, tier, start });
}
async function sweep(time: string): Promise<void> {
  await at(time);
  while ((await database.one('select billing.sweep() as done')).done !== 0);
}
const refund = (bought: Order, amount: number, which?: RefundFields) =>
  deliver(service, refundEvent(paymentOf(bought), amount, which));

/** The sources of the user, oldest first: tier, end, and why the source ended. */
const sources = () =>
  database.query(
    `select kind, tier, billing.iso_time(ends_at) as "end", ended_reason as reason from billing.sources
     where user_id = $1 order by since`,
    [user.id],
  );
const findings = async () =>
  (await database.query('select finding, detail ->> $2 as reason from billing.findings where user_id = $1', [
    user.id,
    'reason',
  ])).filter(({ finding }) => finding !== 'outbox_stuck');

// Basic runs from 1 January to 1 February for 99.00. On 11 January, 21 of its 31 days are left: 67.06.
const unused = 6706;

describe('an order of a dearer tier that starts now', () => {
  test('gets a credit for the unused seconds of the running period, and changes nothing until it is paid', async () => {
    const basic = await buy('basic', january(1));
    const { id, answer } = await order('premium', january(11));
    expect(answer).toMatchObject({
      outcome: 'created',
      amount: 199900 - unused,
      credit: unused,
      starts_at: january(11),
      ends_at: '2027-01-11T00:00:00.000Z',
      running: { tier: 'basic', until: february },
    });
    expect(await readPayment(database, id)).toMatchObject({
      starts: 'now',
      amount: String(199900 - unused),
      credit: String(unused),
      credited_kind: 'payment',
      credited_id: basic.id,
      credited_until: new Date(february),
      credited_amount: '9900',
    });
    expect(await sources()).toEqual([{ kind: 'payment', tier: 'basic', end: february, reason: null }]);
  });

  test.each(['verify', 'webhook'])('paid by %s rules, and the replaced period has ended', async (by) => {
    await buy('basic', january(1));
    const premium = await order('premium', january(11));
    if (by === 'verify') {
      expect(await verifyPurchase(service, premium)).toMatchObject({ outcome: 'applied', tier: 'premium' });
    } else {
      expect(await deliver(service, paymentCaptured({ ...paymentOf(premium), amount: 199900 - unused }))).toBe(
        'applied',
      );
    }
    expect(await sources()).toEqual([
      { kind: 'payment', tier: 'basic', end: february, reason: 'replaced' },
      { kind: 'payment', tier: 'premium', end: '2027-01-11T00:00:00.000Z', reason: null },
    ]);
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await findings()).toEqual([]);
  });

  test('that ends before the replaced period does not give that period back', async () => {
    await database.query("update public.plans set price = 9950, duration_months = 12 where tier = 'basic'");
    await database.query("update public.plans set duration_months = 1 where tier = 'pro'");
    await buy('basic', january(1));
    await buy('pro', january(11), 'now');
    await sweep('2026-02-20T00:00:00Z');
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'pro', status: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
    expect(await findings()).toEqual([]);
    await database.query("update public.plans set duration_months = case tier when 'basic' then 1 else 12 end");
  });

  test('that was made earlier keeps its credit, however late it is captured', async () => {
    await buy('basic', january(1));
    const premium = await order('premium', january(11));
    await at(january(12));
    expect(await deliver(service, paymentCaptured({ ...paymentOf(premium), amount: 199900 - unused }))).toBe('applied');
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'premium', start: january(12) });
  });

  test('of the price of the order without its credit is a mismatch', async () => {
    await buy('basic', january(1));
    const premium = await order('premium', january(11));
    expect(await deliver(service, paymentCaptured({ ...paymentOf(premium), amount: 199900 }))).toBe('mismatch');
    expect(await readTier(database, user.id)).toBe('basic');
  });
});

describe('a refund of the purchase that replaced a period', () => {
  test('before the end of that period gives the period back, and a refund that fails takes it away', async () => {
    await buy('basic', january(1));
    const premium = await buy('premium', january(11), 'now');
    const which = { id: uniqueId('rfnd') };
    await at(january(20));
    await refund(premium, 199900 - unused, which);
    expect(await readSubscription(database, user.id)).toMatchObject({
      tier: 'basic',
      start: january(1),
      end: february,
    });
    expect(await readTier(database, user.id)).toBe('basic');
    await refund(premium, 199900 - unused, { ...which, status: 'failed' });
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await mailsTo(database, user)).not.toContainEqual(expect.stringContaining('subscription-ended'));
  });

  test('after the end of that period ends the access', async () => {
    await buy('basic', january(1));
    const premium = await buy('premium', january(11), 'now');
    await at('2026-03-01T00:00:00Z');
    await refund(premium, 199900 - unused);
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'premium', status: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
    expect(await mailsTo(database, user)).toContainEqual(expect.stringContaining('subscription-ended'));
  });

  test('in part leaves the period replaced', async () => {
    await buy('basic', january(1));
    const premium = await buy('premium', january(11), 'now');
    await refund(premium, 1000);
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'premium' });
    expect((await sources())[0]).toMatchObject({ reason: 'replaced' });
  });

  test('after the user cancelled at once does not give the period back', async () => {
    await buy('basic', january(1));
    const premium = await buy('premium', january(11), 'now');
    await at(january(12));
    expect(await callRpc(service, 'cancel_subscription', user.id, false)).toMatchObject({ outcome: 'cancelled' });
    await refund(premium, 199900 - unused);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await readSubscription(database, user.id)).toMatchObject({ status: 'cancelled' });
  });
});

test.each(['dispute_lost', 'never_captured'])('a replaced period comes back if the purchase is %s', async (reason) => {
  await buy('basic', january(1));
  const premium = await buy('premium', january(11), 'now');
  if (reason === 'dispute_lost') {
    await database.query("update public.payments set dispute_status = 'lost' where id = $1", [premium.id]);
    await endAccess(database, premium.id);
  } else {
    await at(january(17));
    expect(await applyOrderPayments(service, premium, null)).toMatchObject({ ended: true });
  }
  expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'basic', status: 'active', end: february });
  expect(await readTier(database, user.id)).toBe('basic');
});

describe('there is no credit', () => {
  test.each<[string, string, (() => Promise<unknown>)?]>([
    ['without a running period', 'premium'],
    ['for a cheaper tier', 'basic', () => buy('pro', january(1))],
    ['for the same tier', 'basic', () => buy('basic', january(1))],
    ['for a tier of another currency', 'premium', async () => {
      await buy('basic', january(1));
      await database.query("update public.plans set currency = 'USD' where tier = 'premium'");
    }],
    ['in the days of grace', 'premium', () => buy('basic', '2025-12-10T00:00:00Z')],
    ['for a grant', 'premium', async () => {
      await at(january(1));
      await grantTier(database, user.id, 'basic', february, 'thanks');
    }],
    ['for a row written by hand', 'premium', async () => {
      await at(january(1));
      await database.query(
        `insert into public.subscriptions (user_id, tier, plan_id, status, current_period_start, current_period_end)
         select $1, tier, id, 'active', $2, $3 from public.plans where tier = 'basic'`,
        [user.id, january(1), february],
      );
      await database.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [user.id]);
    }],
    ['for a payment whose dispute was lost', 'premium', async () => {
      await deliver(service, disputeEvent('lost', 'lost', paymentOf(await buy('basic', january(1)))));
    }],
    ['with CREDIT=off', 'premium', async () => {
      await buy('basic', january(1));
      await setCredit(database, 'off');
    }],
  ])('%s', async (_, tier, prepare) => {
    await prepare?.();
    const { id, answer } = await order(tier, january(11));
    const { price } = Object(answer.plan);
    expect(answer).toMatchObject({ amount: price, credit: 0, starts_at: january(11) });
    expect(await readPayment(database, id)).toMatchObject({ credit: null, credited_kind: null, credited_id: null });
  });

  test('without start: the answer and the payment are as before, and the old period runs on below', async () => {
    await buy('basic', january(1));
    const { id, answer } = await order('premium', january(11), null);
    expect(Object.keys(answer).sort()).toEqual(
      ['amount', 'currency', 'order_id', 'outcome', 'payment_id', 'plan', 'prefill', 'running'],
    );
    expect(await readPayment(database, id)).toMatchObject({ amount: '199900', starts: null, credit: null });
    await buy('premium', january(11));
    expect(await sources()).toMatchObject([{ tier: 'basic', reason: null }, { tier: 'premium', reason: null }]);
  });
});

describe('the credit', () => {
  test.each([
    ['a millisecond after the purchase is rounded down', '2026-01-01T00:00:00.001Z', 9899],
    ['at the moment of the purchase is all that was paid', january(1), 9900],
    ['in the last second is rounded down to nothing', '2026-01-31T23:59:59.000Z', 0],
    ['in the last hour is some units', '2026-01-31T23:00:00.000Z', 13],
  ])('%s', async (_, time, credit) => {
    await buy('basic', january(1));
    expect((await order('premium', time)).answer).toMatchObject({ credit, amount: 199900 - credit });
  });

  test.each([[9901, 9801], [10000, 9900], [9999, 9899]])(
    'leaves at least 100 of a price of %i to pay',
    async (price, credit) => {
      await buy('basic', january(1));
      await database.query("update public.plans set price = $1 where tier = 'premium'", [price]);
      expect((await order('premium', january(1))).answer).toMatchObject({ credit, amount: price - credit });
    },
  );

  test('is for what was paid: a partial refund is subtracted, a full one leaves none', async () => {
    const basic = await buy('basic', january(1));
    await refund(basic, 3700);
    expect((await order('premium', january(11))).answer).toMatchObject({ credit: Math.floor((6200 * 21) / 31) });
    await refund(basic, 6200);
    expect((await order('premium', january(12))).answer).toMatchObject({ credit: 0, running: null });
  });

  test('of a purchase that was itself credited counts what that credit was paid with', async () => {
    await buy('basic', january(1));
    const pro = await buy('pro', january(1), 'now');
    expect(await readPayment(database, pro.id)).toMatchObject({ amount: '90000', credit: '9900' });
    const premium = await order('premium', january(1));
    expect(premium.answer).toMatchObject({ credit: 99900, amount: 100000 });
    await verifyPurchase(service, premium);
    expect(await sources()).toMatchObject([{ reason: 'replaced' }, { reason: 'replaced' }, { reason: null }]);
    await refund(premium, 100000);
    expect(await readTier(database, user.id)).toBe('pro');
    await refund(pro, 90000);
    expect(await readTier(database, user.id)).toBe('basic');
  });

  test('of a chain of early renewals is for the running payment alone', async () => {
    await setEarlyRenewal(database, 'extend');
    const first = await buy('basic', january(1));
    const second = await buy('basic', january(2));
    const premium = await order('premium', january(11));
    expect(premium.answer).toMatchObject({ credit: unused, running: { until: '2026-03-01T00:00:00.000Z' } });
    expect(await readPayment(database, premium.id)).toMatchObject({ credited_id: first.id });
    await verifyPurchase(service, premium);
    expect(await sources()).toMatchObject([{ reason: 'replaced' }, { reason: null }, { tier: 'premium' }]);
    await refund(premium, 199900 - unused);
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'basic', end: '2026-03-01T00:00:00.000Z' });
    const later = await order('premium', '2026-02-15T00:00:00Z');
    expect(await readPayment(database, later.id)).toMatchObject({ credited_id: second.id, credit: '4950' });
  });

  test('does not shorten a renewal under extend: the same tier now follows what runs', async () => {
    await setEarlyRenewal(database, 'extend');
    await buy('basic', january(1));
    const renewal = await order('basic', january(11));
    expect(renewal.answer).toMatchObject({ credit: 0, starts_at: february, ends_at: '2026-03-01T00:00:00.000Z' });
    expect(await verifyPurchase(service, renewal)).toMatchObject({ valid_until: '2026-03-01T00:00:00.000Z' });
  });
});

describe('an open order', () => {
  test('with the same start and credit is returned for 30 minutes with its own credit', async () => {
    await buy('basic', january(1));
    const first = await order('premium', january(11));
    const again = await order('premium', '2026-01-11T00:29:00Z');
    expect(again.answer).toMatchObject({ outcome: 'existing', payment_id: first.id, credit: unused });
    expect((await order('premium', '2026-01-11T00:30:00Z')).id).not.toBe(first.id);
  });

  test('of another start, of another credited source or without start is not returned', async () => {
    await buy('basic', january(1));
    const ids = [
      (await order('premium', january(11))).id,
      (await order('premium', january(11), 'after_current')).id,
      (await order('premium', january(11), null)).id,
    ];
    await setCredit(database, 'off');
    ids.push((await order('premium', january(11))).id);
    await setCredit(database, 'on');
    await buy('pro', january(11));
    ids.push((await order('premium', january(11))).id);
    expect(new Set(ids).size).toBe(5);
  });

  test('of an idempotency key is a conflict for another start', async () => {
    await at(january(1));
    const create = (start: string | null) => callRpc(service, 'create_order', user.id, 'pro', 'key', null, start);
    const { payment_id } = await create('now');
    await callRpc(service, 'store_order', payment_id, uniqueId('order'));
    expect(await create('after_current')).toEqual({ outcome: 'key_conflict' });
    expect(await create(null)).toEqual({ outcome: 'key_conflict' });
    expect(await create('now')).toMatchObject({ outcome: 'existing', payment_id });
  });
});

describe('the finding unearned_credit', () => {
  test('names the second of two payments with the same credit until it is refunded', async () => {
    await buy('basic', january(1));
    const first = await order('premium', january(11));
    const second = await order('pro', january(11));
    expect(second.answer).toMatchObject({ credit: unused });
    for (const paid of [first, second]) {
      expect(await verifyPurchase(service, paid)).toMatchObject({ outcome: 'applied' });
    }
    expect(await database.query("select subject from billing.findings where finding = 'unearned_credit'"))
      .toEqual([{ subject: second.id }]);
    expect(await findings()).toEqual([{ finding: 'unearned_credit', reason: 'another payment has the same credit' }]);
    await refund(second, 99900 - unused);
    expect(await findings()).toEqual([]);
    expect((await sources())[0]).toMatchObject({ tier: 'basic', reason: 'replaced' });
  });

  test.each<[string, (basic: Order) => Promise<unknown>, string[]]>([
    ['refunded in full', (basic) => refund(basic, 9900), []],
    ['refunded in part', (basic) => refund(basic, 100), []],
    ['lost', (basic) => deliver(service, disputeEvent('lost', 'lost', paymentOf(basic))), ['dispute_lost']],
  ])(
    'names a payment whose credited payment was %s afterwards',
    async (_, lose, others) => {
      const basic = await buy('basic', january(1));
      const premium = await order('premium', january(11));
      await lose(basic);
      expect((await findings()).map(({ finding }) => finding)).toEqual(others);
      expect(await verifyPurchase(service, premium)).toMatchObject({ outcome: 'applied', tier: 'premium' });
      expect(await findings()).toContainEqual({
        finding: 'unearned_credit',
        reason: 'the credited payment was refunded or lost',
      });
      await at('2027-01-11T00:00:01Z');
      expect((await findings()).map(({ finding }) => finding)).toEqual(others);
    },
  );

  test('names a payment that came more than a day after its order, and no other', async () => {
    await buy('basic', january(1));
    const premium = await order('premium', january(11));
    await at(january(13));
    await verifyPurchase(service, premium);
    expect(await findings()).toEqual([
      { finding: 'unearned_credit', reason: 'paid more than a day after the order' },
    ]);
  });
});

test('a purchase of the replaced tier is not paid twice', async () => {
  await buy('pro', january(1));
  await buy('premium', january(11), 'now');
  await buy('pro', january(20));
  expect(await findings()).toEqual([]);
});

test('a deleted user: the payment keeps the credit, and the id of the credited source is erased', async () => {
  await buy('basic', january(1));
  const premium = await buy('premium', january(11), 'now');
  await database.query('delete from auth.users where id = $1', [user.id]);
  expect(await readPayment(database, premium.id)).toMatchObject({
    user_id: null,
    credit: String(unused),
    credited_id: null,
    settle_at: null,
  });
});
