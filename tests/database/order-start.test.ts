import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { buyTier, type Order, orderTier } from '../helpers/records/orders.ts';
import { mailsTo, paymentOf, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import {
  readCancellation,
  readOutbox,
  readPayment,
  readSubscription,
  readTier,
} from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1");
});
beforeEach(async () => {
  user = await createUser(database);
});
afterEach(async () => {
  await deleteUsers(database);
  await database.query('truncate billing.marks');
  await setEarlyRenewal(database, 'replace');
});
afterAll(() => database.close());

/** Midnight of a day of 2026, such as `day(2)` for 2 January and `day(1, 2)` for 1 February. */
const day = (number: number, month = 1) => new Date(Date.UTC(2026, month - 1, number)).toISOString();
const at = (time: string) => setClock(database, time);

async function buy(tier: string, time: string, start: 'now' | 'after_current' | null = null): Promise<Order> {
  await at(time);
  return await buyTier(service, { user, tier, start });
}
async function sweep(time: string): Promise<void> {
  await at(time);
  while ((await database.one('select billing.sweep() as done')).done !== 0);
}
const row = () => readSubscription(database, user.id);
const tier = () => readTier(database, user.id);
const period = async ({ id }: Order) => {
  const { period_start, period_end } = await readPayment(database, id);
  return [period_start, period_end].map((time) => time instanceof Date ? time.toISOString() : time);
};
const findings = async () =>
  (await database.query("select finding from billing.findings where user_id = $1 and finding <> 'outbox_stuck'", [
    user.id,
  ]))
    .map(({ finding }) => finding);
const endings = async () => (await mailsTo(database, user)).filter((key) => String(key).startsWith('subscription-'));

describe('an order that starts after the current period', () => {
  test('answers that period, costs its price, and is fulfilled for it', async () => {
    await buy('pro', day(1));
    await at(day(10));
    const order = await orderTier(service, { user, tier: 'premium', start: 'after_current' });
    expect(order.answer).toMatchObject({
      amount: 199900,
      credit: 0,
      starts_at: day(1, 2),
      ends_at: day(1, 3),
      running: { tier: 'pro', until: day(1, 2) },
    });
    expect(await verifyPurchase(service, order)).toEqual({
      outcome: 'applied',
      tier: 'premium',
      valid_until: day(1, 3),
    });
    expect(await period(order)).toEqual([day(1, 2), day(1, 3)]);
    const [mail] = (await readOutbox(database, 'email', user.email)).filter(({ key }) =>
      key === `payment-success/${order.id}`
    );
    expect(mail?.payload).toMatchObject({ valid_until: day(1, 3) });
    expect(await callRpc(service, 'verify_payment', user.id, order.orderId, order.paymentId, 'signature'))
      .toMatchObject({ outcome: 'already_applied', valid_until: day(1, 3) });
  });

  test.each(['verify', 'webhook'])('by %s does not rule before its start, and rules from then on', async (by) => {
    await buy('premium', day(1));
    await at(day(10));
    const order = await orderTier(service, { user, tier: 'pro', start: 'after_current' });
    if (by === 'verify') await verifyPurchase(service, order);
    else await deliver(service, paymentCaptured({ ...paymentOf(order), amount: 99900 }));
    for (const time of [day(10), '2026-01-31T23:59:59Z']) {
      await sweep(time);
      expect([await tier(), (await row())?.tier]).toEqual(['premium', 'premium']);
      expect(await findings()).toEqual([]);
    }
    // The first period has days of grace.
    await sweep(day(1, 2));
    expect(await row()).toMatchObject({ tier: 'pro', status: 'active', start: day(1, 2), end: day(1, 3) });
    expect(await tier()).toBe('pro');
    expect(await findings()).toEqual([]);
    await sweep('2026-03-05T00:00:00Z');
    expect(await tier()).toBe('free');
  });

  test('sends no mail when the first period ends, and the usual ones when the second ends', async () => {
    await buy('premium', day(1));
    await buy('pro', day(10), 'after_current');
    for (const time of [day(26), day(1, 2), day(10, 2)]) await sweep(time);
    expect(await endings()).toEqual([]);
    await sweep(day(25, 2));
    expect(await endings()).toEqual([expect.stringMatching(/^subscription-ending\/.*\/2026-03-01T/)]);
    await sweep('2026-03-05T00:00:00Z');
    expect(await endings()).toHaveLength(2);
  });

  test('starts now where nothing runs', async () => {
    await at(day(10));
    const order = await orderTier(service, { user, tier: 'pro', start: 'after_current' });
    expect(order.answer).toMatchObject({ running: null, starts_at: day(10), ends_at: day(10, 2) });
    expect(await verifyPurchase(service, order)).toMatchObject({ valid_until: day(10, 2) });
    expect(await row()).toMatchObject({ tier: 'pro', start: day(10) });
    expect(await tier()).toBe('pro');
  });

  test('starts now in the days of grace of what ended', async () => {
    await buy('premium', day(1));
    await buy('pro', day(2, 2), 'after_current');
    expect(await row()).toMatchObject({ tier: 'pro', start: day(2, 2), end: day(2, 3) });
  });

  test('starts after the latest end of all that runs, and is extended by the next one of its tier', async () => {
    await buy('basic', day(1));
    await buy('pro', day(15));
    const first = await buy('premium', day(16), 'after_current');
    const second = await buy('premium', day(17), 'after_current');
    expect([await period(first), await period(second)]).toEqual([[day(15, 2), day(15, 3)], [day(15, 3), day(15, 4)]]);
    await sweep('2026-02-14T23:59:59Z');
    expect(await row()).toMatchObject({ tier: 'pro', end: day(15, 2) });
    await sweep(day(15, 2));
    expect(await row()).toMatchObject({ tier: 'premium', start: day(15, 2), end: day(15, 4) });
    expect(await findings()).toEqual([]);
  });

  test('of a purchase that does not begin, because it is refunded, begins in its place', async () => {
    await buy('pro', day(1));
    const first = await buy('premium', day(10), 'after_current');
    const second = await buy('premium', day(11), 'after_current');
    await deliver(service, refundEvent(paymentOf(first), 199900));
    expect(await period(second)).toEqual([day(1, 2), day(1, 3)]);
    await sweep('2026-01-31T23:59:59Z');
    expect(await tier()).toBe('pro');
    await sweep(day(1, 2));
    expect(await row()).toMatchObject({ tier: 'premium', start: day(1, 2), end: day(1, 3) });
  });

  test('starts after a source of another tier that rules later, although its own tier ran before', async () => {
    await buy('pro', day(1));
    await buy('premium', day(20));
    await buy('pro', day(21));
    const next = await buy('pro', day(22), 'after_current');
    expect(await period(next)).toEqual([day(21, 2), day(21, 3)]);
    await buy('premium', day(23));
    const last = await buy('premium', day(24), 'after_current');
    expect(await period(last)).toEqual([day(21, 3), day(21, 4)]);
    expect(await row()).toMatchObject({ tier: 'premium', end: day(23, 2) });
  });

  test('of an older order that is captured after a newer purchase rules from its start', async () => {
    await buy('premium', day(1));
    await at(day(5));
    const order = await orderTier(service, { user, tier: 'pro', start: 'after_current' });
    await buy('premium', day(10));
    await at(day(11));
    await deliver(service, paymentCaptured({ ...paymentOf(order), amount: 99900 }));
    expect(await period(order)).toEqual([day(10, 2), day(10, 3)]);
    expect(await tier()).toBe('premium');
    await sweep(day(10, 2));
    expect(await tier()).toBe('pro');
    await database.query("delete from public.payments where user_id = $1 and tier = 'premium'", [user.id]);
  });

  test('starts after a grant that rules, and a grant below a purchase does not delay it', async () => {
    await at(day(1));
    await grantTier(database, user.id, 'premium', day(1, 4), 'thanks');
    const afterGrant = await buy('pro', day(2), 'after_current');
    expect(await period(afterGrant)).toEqual([day(1, 4), day(1, 5)]);
    expect(await tier()).toBe('premium');

    user = await createUser(database);
    await at(day(1));
    await grantTier(database, user.id, 'premium', day(1, 4), 'thanks');
    await buy('basic', day(2));
    expect(await period(await buy('pro', day(3), 'after_current'))).toEqual([day(2, 2), day(2, 3)]);
  });

  test('starts after a row that was written by hand', async () => {
    await at(day(1));
    await database.query(
      `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
       values ($1, 'pro', 'active', $2, $3)`,
      [user.id, day(1), day(1, 2)],
    );
    await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [user.id]);
    const order = await buy('premium', day(2), 'after_current');
    expect(await period(order)).toEqual([day(1, 2), day(1, 3)]);
    await sweep(day(1, 2));
    expect(await tier()).toBe('premium');
  });
});

describe('what a purchase follows', () => {
  test('is refunded: the purchase keeps its time, and no finding reports the gap', async () => {
    const pro = await buy('pro', day(1));
    await buy('premium', day(10), 'after_current');
    await at(day(20));
    await deliver(service, refundEvent(paymentOf(pro), 99900));
    expect(await row()).toMatchObject({ tier: 'pro', status: 'cancelled', end: day(1, 2) });
    expect(await tier()).toBe('free');
    expect(await findings()).toEqual([]);
    await sweep(day(1, 2));
    expect(await row()).toMatchObject({ tier: 'premium', status: 'active', start: day(1, 2) });
    expect(await tier()).toBe('premium');
  });

  test('is cancelled for the end of its period: the purchase follows at once', async () => {
    await buy('pro', day(1));
    await buy('premium', day(10), 'after_current');
    await callRpc(service, 'cancel_subscription', user.id, true);
    await sweep(day(1, 2));
    expect(await row()).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await endings()).toEqual([]);
  });

  test('is cancelled at once: the purchase ends, too', async () => {
    await buy('pro', day(1));
    await buy('premium', day(10), 'after_current');
    await callRpc(service, 'cancel_subscription', user.id, false);
    await sweep(day(2, 2));
    expect(await tier()).toBe('free');
    expect(await row()).toMatchObject({ status: 'cancelled' });
  });

  test('gets no successor if the purchase is refunded before its start', async () => {
    await buy('pro', day(1));
    const premium = await buy('premium', day(10), 'after_current');
    await deliver(service, refundEvent(paymentOf(premium), 199900));
    await sweep(day(2, 2));
    expect(await row()).toMatchObject({ tier: 'pro', status: 'active' });
    await sweep(day(5, 2));
    expect(await tier()).toBe('free');
  });

  test('is replaced by a newer purchase: that one rules until its own end', async () => {
    await buy('pro', day(1));
    const premium = await buy('premium', day(10), 'after_current');
    await buy('basic', day(20));
    await sweep(day(2, 2));
    expect(await tier()).toBe('basic');
    await sweep(day(24, 2));
    expect(await tier()).toBe('premium');
    expect(await period(premium)).toEqual([day(1, 2), day(1, 3)]);
  });
});

describe('the running tier', () => {
  test.each([['replace', 'after_current'], ['extend', 'after_current'], ['extend', 'now'], ['extend', null]] as const)(
    'under %s with the start %s extends its period',
    async (setting, start) => {
      await setEarlyRenewal(database, setting);
      await buy('pro', day(1));
      const next = await buy('pro', day(10), start);
      expect(await period(next)).toEqual([day(1, 2), day(1, 3)]);
      expect(await row()).toMatchObject({ start: day(1), end: day(1, 3) });
      expect(await findings()).toEqual([]);
    },
  );

  test('is extended once it runs, and its start does not move', async () => {
    await setEarlyRenewal(database, 'extend');
    await buy('premium', day(1));
    const next = await buy('pro', day(10), 'after_current');
    await sweep(day(1, 2));
    const renewal = await buy('pro', day(10, 2));
    expect([await period(next), await period(renewal)]).toEqual([[day(1, 2), day(1, 3)], [day(1, 3), day(1, 4)]]);
    expect(await row()).toMatchObject({ tier: 'pro', start: day(1, 2), end: day(1, 4) });
  });

  test('is extended after a longer period of another tier, which takes over in between', async () => {
    await setEarlyRenewal(database, 'extend');
    await database.query("update public.plans set duration_months = 3 where tier = 'basic'");
    await buy('basic', day(3));
    await database.query("update public.plans set duration_months = 1 where tier = 'basic'");
    await buy('pro', day(4));
    const renewal = await buy('pro', day(5));
    expect(await period(renewal)).toEqual([day(3, 4), day(3, 5)]);
    await sweep(day(8, 2));
    expect(await tier()).toBe('basic');
    await sweep(day(3, 4));
    expect(await row()).toMatchObject({ tier: 'pro', end: day(3, 5) });
  });
});

describe('after a subscription that the gateway bills', () => {
  let id: string;
  beforeEach(() => {
    id = uniqueId('sub');
  });
  const event = (name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent> = {}) =>
    at(time).then(() =>
      deliver(
        service,
        subscriptionEvent({ name, userId: user.id, id, planId: 'plan_pro', createdAt: time, ...fields }),
      )
    );
  const cycle = { start: day(1), end: day(1, 2) };
  async function bill() {
    await event('activated', day(1), cycle);
    await event('charged', day(1), { ...cycle, payment: { id: `pay_of_${id}`, amount: 99900 } });
  }

  test('a purchase starts with the end of the cycle, and the gateway is told to stop before the next one', async () => {
    await bill();
    const premium = await buy('premium', day(10), 'after_current');
    expect(await period(premium)).toEqual([day(1, 2), day(1, 3)]);
    expect(await row()).toMatchObject({ tier: 'pro', gateway_subscription_id: id });
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(
      await database.one("select next_attempt_at from billing.outbox where key = 'cancel-subscription/' || $1", [id]),
    )
      .toEqual({ next_attempt_at: new Date(day(30)) });
    await sweep(day(1, 2));
    expect(await row()).toMatchObject({ tier: 'premium', gateway_subscription_id: null });
    expect(await event('cancelled', '2026-02-01T00:00:05Z')).toBe('applied');
    expect(await tier()).toBe('premium');
    expect(await findings()).toEqual([]);
  });

  test('a refund of the purchase withdraws the cancellation', async () => {
    await bill();
    const premium = await buy('premium', day(10), 'after_current');
    await deliver(service, refundEvent(paymentOf(premium), 199900));
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'withdrawn' });
    await event('charged', day(1, 2), {
      start: day(1, 2),
      end: day(1, 3),
      payment: { id: uniqueId('pay'), amount: 99900 },
    });
    expect(await row()).toMatchObject({ tier: 'pro', gateway_subscription_id: id, end: day(1, 3) });
    expect(await findings()).toEqual([]);
  });

  test('a cancellation by the user that is withdrawn does not let the gateway bill again', async () => {
    await bill();
    await buy('premium', day(10), 'after_current');
    expect(await callRpc(service, 'cancel_subscription', user.id, true)).toMatchObject({ outcome: 'cancelled' });
    expect(await callRpc(service, 'resume_subscription', user.id)).toMatchObject({ outcome: 'resumed' });
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
  });

  test('a cycle that is billed all the same is a finding, and the purchase rules from its start', async () => {
    await bill();
    await buy('premium', day(10), 'after_current');
    await event('charged', '2026-01-31T12:00:00Z', {
      start: day(1, 2),
      end: day(1, 3),
      payment: { id: uniqueId('pay'), amount: 99900 },
    });
    await sweep(day(1, 2));
    expect(await tier()).toBe('premium');
    expect(await findings()).toEqual(['charged_after_replacement']);
  });
});

describe('the job start_purchases', () => {
  test('settles each purchase once', async () => {
    await buy('pro', day(1));
    const premium = await buy('premium', day(10), 'after_current');
    await at(day(1, 2));
    const run = async () => (await database.one('select billing.start_purchases() as n')).n;
    expect([await run(), await run()]).toEqual([1, 0]);
    expect(await readPayment(database, premium.id)).toMatchObject({ settle_at: null });
  });

  test('skips a user whose profile cannot be written, and retries after an hour', async () => {
    await buy('pro', day(1));
    await buy('premium', day(10), 'after_current');
    await database.query(`
      create function public.refuse() returns trigger language plpgsql as
        $$ begin raise exception 'refused' using errcode = 'P0001'; end $$;
      create trigger refuse before update on public.profiles for each row execute function public.refuse()`);
    await at(day(1, 2));
    const run = async () => (await database.one('select billing.start_purchases() as n')).n;
    expect([await run(), await run()]).toEqual([0, 0]);
    await database.query('drop function public.refuse cascade');
    await at('2026-02-01T00:30:00Z');
    expect(await run()).toBe(0);
    await at('2026-02-01T01:00:01Z');
    expect(await run()).toBe(1);
    expect(await tier()).toBe('premium');
  });
});
