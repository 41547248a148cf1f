import { describe, expect, test } from 'vitest';
import { readFindings } from '../helpers/database/findings.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

// What `billing.findings` lists about access and payments.
const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const findings = async () =>
  (await readFindings(database)).filter(([kind]) => kind !== 'outbox_stuck' && kind !== 'untold_stop').map((finding) =>
    finding.join(' ')
  );
const writeSubscription = (assignment: string, { id } = customer) =>
  database.query(`update public.subscriptions set ${assignment} where user_id = $1`, [id]);
const writeTier = (tier: string | null, { id } = customer) =>
  database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [id, tier]);
const grant = () => grantTier(database, customer.id, 'pro', '2126-01-01', 'thanks');

describe('paid_not_entitled', () => {
  test('lists a payment whose period runs without a subscription, until it is refunded', async () => {
    const order = await customer.buy('pro');
    await database.query('delete from public.subscriptions');
    expect(await findings()).toEqual([`paid_not_entitled ${order.id}`]);
    await order.refund();
    expect(await findings()).toEqual([]);
  });

  test('lists a payment whose subscription lapsed, but not one whose user cancelled', async () => {
    const lapsed = await customer.buy('pro');
    await writeSubscription("status = 'cancelled', ended_reason = 'lapsed', cancelled_at = now()");
    await writeTier('free');
    const other = await database.customer();
    await other.buy('pro');
    await other.cancel('at once');
    expect(await findings()).toEqual([`paid_not_entitled ${lapsed.id}`]);
  });

  test('lists a payment made after a cancellation', async () => {
    await customer.buy('premium');
    await customer.cancel('at once');
    const later = await customer.buy('pro');
    await writeSubscription("status = 'cancelled', ended_reason = 'cancelled', cancelled_at = '2026-01-01Z'");
    await writeTier('free');
    expect(await findings()).toContainEqual(`paid_not_entitled ${later.id}`);
  });
});

describe('entitled_not_paid', () => {
  test('lists a tier that was written by hand, until it is granted', async () => {
    await writeTier('pro');
    expect(await findings()).toEqual([`entitled_not_paid ${customer.id} nothing pays for it`]);
    await grant();
    expect(await findings()).toEqual([]);
  });

  test('lists an active subscription that was written by hand, until the gateway bills it', async () => {
    const insertion = "insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')";
    await database.query(insertion, [customer.id]);
    await writeTier('pro');
    expect(await findings()).toEqual([`entitled_not_paid ${customer.id} nothing pays for it`]);
    await writeSubscription("gateway_subscription_id = 'sub_1'");
    expect(await findings()).toEqual([]);
  });

  test.each([['paid', () => customer.buy('pro')], ['granted', grant]] as const)(
    'lists a tier other than the one that was %s',
    async (_, get) => {
      await get();
      await writeSubscription("tier = 'premium'");
      await writeTier('premium');
      expect(await findings()).toEqual([expect.stringMatching(`^entitled_not_paid ${customer.id}`)]);
    },
  );

  test.each([
    ['2026-02-04T00:59:00Z', null, 0],
    ['2026-02-04T01:01:00Z', null, 1],
    ['2026-02-05T00:59:00Z', 'sub_1', 0],
    ['2026-02-05T01:01:00Z', 'sub_1', 1],
  ])('at %s a period that ended with January, gateway subscription %s: %i', async (at, id, count) => {
    await customer.buy('basic', { at: '01-01' });
    if (id !== null) await writeSubscription(`gateway_subscription_id = '${id}'`);
    await database.at(at);
    const reasons = await database.query('select reason from billing.entitled_not_paid');
    expect(reasons).toEqual(Array(count).fill({ reason: 'its period is over' }));
    // The schedule ends periods that the gateway does not bill.
    await database.expire();
    const over = `entitled_not_paid ${customer.id} its period is over`;
    expect(await findings()).toEqual(count === 1 && id !== null ? [over] : []);
  });
});

test.each([
  ['active', []],
  ['halted', ['the gateway does not bill it']],
  ['missing', ['the gateway does not bill it']],
])('a row by hand without an end, whose subscription is %s when it is read: %j', async (status, reasons) => {
  await database.at('01-01');
  await database.query(
    `insert into public.subscriptions (user_id, tier, plan_id, status, gateway_subscription_id)
     select $1, 'pro', p.id, 'active', 'sub_by_hand' from public.plans p where p.tier = 'pro' and p.lookup_key is null`,
    [customer.id],
  );
  const { id } = await database.one('select id from billing.gateway_subscriptions');
  const entity = { status, plan_id: 'plan_before', current_start: null, current_end: null };
  await database.rpc('apply_gateway_subscription', id, status === 'missing' ? null : JSON.stringify(entity));
  await database.at('01-02');
  const found = await database.query('select reason from billing.entitled_not_paid where user_id = $1', [customer.id]);
  expect(found.map(({ reason }) => reason)).toEqual(reasons);
});

describe('tier_mismatch', () => {
  const mismatches = async () =>
    (await database.query('select user_id from billing.tier_mismatch')).map((r) => r.user_id);

  test('lists a subscription whose status does not go with the tier', async () => {
    await customer.buy('pro');
    for (const [status, tier] of [['active', null], ['active', 'premium'], ['cancelled', 'pro']] as const) {
      await writeSubscription(`status = '${status}'`);
      await writeTier(tier);
      expect(await mismatches()).toEqual([customer.id]);
    }
  });

  test('lists an active subscription without a profile, but no ended subscription with the tier null or free', async () => {
    await customer.buy('pro');
    await database.query('delete from public.profiles where user_id = $1', [customer.id]);
    for (const tier of [null, 'free']) {
      const ended = await database.customer();
      await ended.buy('pro');
      await ended.cancel('at once');
      await writeTier(tier, ended);
    }
    expect(await findings()).toEqual([`tier_mismatch ${customer.id}`]);
  });
});

describe('paid_twice', () => {
  test.each(['verify', 'capture'] as const)('lists a renewal by %s that replaced paid time, once', async (way) => {
    await customer.buy('pro');
    const renewal = await customer.order('pro');
    await renewal[way]();
    expect(await findings()).toEqual([`paid_twice ${renewal.paymentId} another payment for the same time`]);
    await renewal.refund();
    expect(await findings()).toEqual([]);
  });

  test.each([['pro', 'basic'], ['basic', 'pro']])(
    'lists what was ordered in another tab before %s was paid: %s, until it is refunded',
    async (first, second) => {
      const [one, two] = [await customer.order(first), await customer.order(second)];
      for (const each of [one, two]) await each.verify();
      expect(await findings()).toEqual([
        `paid_twice ${two.paymentId} ordered before another purchase for the same time was paid`,
      ]);
      await two.refund();
      expect(await findings()).toEqual([]);
      expect(await customer.tier()).toBe(first);
      await customer.buy(second);
      expect(await findings()).toEqual([]);
    },
  );

  test('lists a purchase that was ordered before a subscription of another tier was charged', async () => {
    await database.at('01-01');
    const order = await customer.order('premium');
    await customer.event('activated', '01-02', { planId: 'plan_pro', ...months(1) });
    await database.at('01-03');
    await order.verify();
    expect(await findings()).toEqual([
      `paid_twice ${order.paymentId} ordered before another purchase for the same time was paid`,
    ]);
  });

  test('lists no second payment that was verified and not captured within five days', async () => {
    const order = await customer.buy('pro', { at: '01-01' });
    await customer.again(order).capture();
    await database.at('2026-01-05T23:59:59Z');
    expect(await findings()).toEqual([`paid_twice ${order.paymentId} a further payment on the order`]);
    await database.at('01-06');
    expect(await findings()).toEqual([]);
  });

  test.each([['after', '2026-01-01T01:00:00Z'], ['before', '2025-12-31']])(
    'lists an order that is captured under a gateway subscription only if that was activated after the order: %s it',
    async (when, time) => {
      const year = { planId: 'plan_premium', start: '2026-01-01T00:00:00Z', end: '2026-12-31T00:00:00Z' };
      if (when === 'before') await customer.event('activated', time, year);
      const basic = await customer.order('basic', { at: '01-01' });
      if (when === 'after') await customer.event('activated', time, year);
      await database.at('01-02');
      expect(await basic.capture()).toBe('applied');
      const listed = when === 'after' ? [`paid_twice ${basic.paymentId} captured after a newer purchase`] : [];
      expect(await findings()).toEqual(listed);
      await customer.event('activated', '01-03', year);
      expect(await findings()).toEqual(listed);
    },
  );

  test('lists an older order that only a webhook captured after a dearer purchase, until it is verified, and then rules', async () => {
    const basic = await customer.order('basic', { at: '01-01' });
    await customer.buy('premium', { at: '01-02' });
    await database.at('01-03');
    expect(await basic.capture()).toBe('applied');
    expect(await customer.state()).toBe('premium: premium active to 2027-01-02');
    expect(await findings()).toEqual([`paid_twice ${basic.paymentId} captured after a newer purchase`]);

    await database.at('01-04');
    const valid_until = '2026-02-03T00:00:00.000Z';
    expect(await basic.verify()).toEqual({ outcome: 'already_applied', tier: 'basic', valid_until });
    expect(await customer.state()).toBe('basic: basic active to 2026-02-03');
    expect(await findings()).toEqual([
      `paid_twice ${basic.paymentId} ordered before another purchase for the same time was paid`,
    ]);
    expect(await customer.mails()).toHaveLength(2);
    await database.sweep('2026-02-06T00:00:00.001Z');
    expect(await customer.state()).toBe('premium: premium active to 2027-01-02');
  });

  test('lists no purchase beside a trial, which nothing was paid for', async () => {
    await database.query(
      `insert into billing.gateway_subscriptions
         (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, asked_at, expires_at, starts_at, is_trial)
       select $1, tier, id, gateway_plan_id, billing.price_of(p), $2, '2026-01-01Z', '2026-01-02Z', '2026-01-15Z', true
       from public.plans p where tier = 'pro' and lookup_key is null`,
      [customer.id, customer.gatewayId],
    );
    await database.at('01-01');
    await customer.event('authenticated', '01-01', { planId: 'plan_pro' });
    expect(await customer.state()).toBe('pro: pro active to 2026-01-15');
    await customer.buy('pro', { at: '01-03' });
    expect(await findings()).toEqual([]);
    await customer.charge({ start: '2026-01-15T00:00:00Z', end: '2026-02-15T00:00:00Z' }, 'pro');
    expect(await findings()).toContainEqual(
      expect.stringMatching(/^paid_twice \S+ the gateway bills the same time$/),
    );
  });

  test.each(['is refunded', 'runs alone'])('lists a purchase of the tier that is billed, until it %s', async (end) => {
    const order = await customer.buy('pro', { at: '01-01' });
    await customer.event('activated', '02-01', { planId: 'plan_pro', ...months(2) });
    expect(await customer.state()).toBe('pro: pro active to 2026-03-01');
    expect(await findings()).toEqual([`paid_twice ${order.paymentId} the gateway bills the same time`]);
    if (end === 'is refunded') await order.refund();
    else {
      await customer.event('cancelled', '03-01', { planId: 'plan_pro' });
      expect(await customer.state()).toBe('pro: pro active to 2027-01-01');
    }
    expect(await findings()).toEqual([]);
  });
});
