import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { readOutbox } from '../helpers/records/read-records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { day, shortTime } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
beforeEach(async () => {
  await database.query('update public.plans set duration_months = 1');
});
const customer = useCustomer(database);

const later = { start: 'after_current' } as const;
const buyLater = (tier: string, at: string): Promise<CustomerOrder> => customer.buy(tier, { at, ...later });
/** A tier that runs from 1 January, and another one that is bought on 10 January for the time after it. */
async function buyTwo(first: string, second: string): Promise<[CustomerOrder, CustomerOrder]> {
  return [await customer.buy(first, { at: '01-01' }), await buyLater(second, '01-10')];
}
/** Profile and subscription, with the start of the shown period. */
async function shown(): Promise<string> {
  const start = shortTime((await customer.subscription())?.start);
  return (await customer.state()).replace(' to ', ` ${start} to `);
}
const endings = async () => (await customer.mails()).filter((key) => key.startsWith('subscription-'));

test.each(['basic', 'pro'])(
  'a purchase of %s for later follows what is paid, not an older gift that ends later',
  async (tier) => {
    await database.at('2025-12-20');
    await grantTier(database, customer.id, 'premium', '2026-04-01Z');
    await customer.buy('pro', { at: '01-01' });
    const order = await buyLater(tier, '01-10');
    expect(await order.period()).toBe('2026-02-01 to 2026-03-01');
  },
);

test.each(['basic', 'pro'])(
  'a purchase of %s for later extends its own tier, and not before what rules ends',
  async (tier) => {
    await database.set("credit = 'off'");
    await database.setPlan(tier, 'duration_months = 12');
    await customer.buy(tier, { at: '01-01' });
    await customer.buy('premium', { at: '01-05' });
    const order = await buyLater(tier, '01-10');
    expect(await order.period()).toBe('2027-01-01 to 2028-01-01');
    expect(await customer.state()).toBe('premium: premium active to 2026-02-05');
  },
);

test.each(['basic', 'pro'])('two purchases of %s for later are shown as one period', async (tier) => {
  await customer.buy('premium', { at: '01-01' });
  await buyLater(tier, '01-10');
  await buyLater(tier, '01-11');
  await database.sweep('02-01');
  expect(await shown()).toBe(`${tier}: ${tier} active 2026-02-01 to 2026-04-01`);
});

test.each(['basic', 'pro'])('a purchase of %s extends the period of what is attached to it, at once', async (tier) => {
  await database.set("early_renewal = 'extend'");
  await customer.buy(tier, { at: '01-01' });
  const cycle = { start: day('01-10'), end: day('04-01') };
  await customer.event('activated', '01-10', { planId: 'plan_of_another_app', ...cycle });
  const again = await customer.buy(tier, { at: '01-20' });
  expect(await again.period()).toBe('2026-04-01 to 2026-05-01');
  expect(await customer.state()).toBe(`${tier}: ${tier} active to 2026-05-01`);
});

describe('an order that starts after the current period', () => {
  test('answers that period, costs its price, and is fulfilled for it', async () => {
    await customer.buy('pro', { at: '01-01' });
    const order = await customer.order('premium', { at: '01-10', ...later });
    const [starts_at, ends_at] = ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'];
    const running = { tier: 'pro', until: starts_at };
    expect(order.answer).toMatchObject({ amount: 199900, credit: 0, starts_at, ends_at, running });
    const answer = { tier: 'premium', valid_until: ends_at };
    expect(await order.verify()).toEqual({ outcome: 'applied', ...answer });
    expect(await order.period()).toBe('2026-02-01 to 2026-03-01');
    const mails = await readOutbox(database, 'email', customer.email);
    expect(mails.find(({ key }) => key === `payment-success/${order.id}`)?.payload)
      .toMatchObject({ starts_at, valid_until: ends_at });
    expect(await order.verify()).toEqual({ outcome: 'already_applied', ...answer });
  });

  test('of the tier that runs is active, its mail says', async () => {
    const [, second] = await buyTwo('pro', 'pro');
    const mails = await readOutbox(database, 'email', customer.email);
    expect(mails.find(({ key }) => key === `payment-success/${second.id}`)?.payload).not.toHaveProperty('starts_at');
  });

  test.each(['verify', 'capture'] as const)('paid by %s does not rule before its start', async (way) => {
    await customer.buy('premium', { at: '01-01' });
    await (await customer.order('pro', { at: '01-10', ...later }))[way]();
    const states = {
      '01-10': 'premium: premium active 2026-01-01 to 2026-02-01',
      '2026-01-31T23:59:59Z': 'premium: premium active 2026-01-01 to 2026-02-01',
      // The first period has days of grace.
      '02-01': 'pro: pro active 2026-02-01 to 2026-03-01',
      '03-05': 'free: pro cancelled 2026-02-01 to 2026-03-01',
    };
    for (const [time, state] of Object.entries(states)) {
      await database.sweep(time);
      expect(await shown()).toBe(state);
      expect(await customer.findings()).toEqual([]);
    }
  });

  test('sends no mail when the first period ends, and the usual ones when the second ends', async () => {
    await buyTwo('premium', 'pro');
    for (const time of ['01-26', '02-01', '02-10']) await database.sweep(time);
    expect(await endings()).toEqual([]);
    await database.sweep('02-25');
    expect(await endings()).toEqual([expect.stringMatching(/^subscription-ending\/.*\/2026-03-01T/)]);
    await database.sweep('03-05');
    expect(await endings()).toHaveLength(2);
  });

  test.each<[string, string, string, (() => Promise<unknown>)?]>([
    ['now where nothing runs', 'premium', '2026-02-02 to 2026-03-02'],
    [
      'now in the days of grace of what ended',
      'premium',
      '2026-02-02 to 2026-03-02',
      () => customer.buy('pro', { at: '01-01' }),
    ],
    [
      'after a grant that rules',
      'pro',
      '2026-04-01 to 2026-05-01',
      () => grantTier(database, customer.id, 'pro', '2026-04-01Z'),
    ],
    ['after a row that was written by hand', 'pro', '2026-02-20 to 2026-03-20', async () => {
      await database.query(
        `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
         values ($1, 'pro', 'active', '2026-01-01Z', '2026-02-20Z')`,
        [customer.id],
      );
      await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [customer.id]);
    }],
  ])('starts %s: %s rules, and premium is for %s', async (_, running, period, prepare) => {
    await database.at('01-01');
    await prepare?.();
    const order = await buyLater('premium', '02-02');
    expect(shortTime(order.answer.starts_at)).toBe(period.split(' ')[0]);
    expect(await order.period()).toBe(period);
    expect(await customer.tier()).toBe(running);
    await database.sweep(period.slice(5, 10));
    expect(await shown()).toBe(`premium: premium active ${period}`);
  });
});

describe('what a purchase follows', () => {
  const purchase = 'premium: premium active to 2026-03-01';

  type Change = (first: CustomerOrder, next: CustomerOrder) => Promise<unknown>;
  test.each<[string, Change, Record<string, string>, string[]]>([
    ['may be refunded: the purchase keeps its time, and no finding reports the gap', (pro) => pro.refund(), {
      '01-20': 'free: pro cancelled to 2026-02-01',
      '02-01': purchase,
    }, ['subscription-ended']],
    ['may be cancelled for its end: the purchase follows at once', () => customer.cancel('at the end'), {
      '02-02': purchase,
    }, ['subscription-cancelled']],
    ['may be cancelled at once: the purchase does not begin', () => customer.cancel('at once'), {
      '02-02': 'free: pro cancelled to 2026-02-01',
    }, ['subscription-cancelled']],
    ['gets no successor if the purchase is refunded before its start', (_, premium) => premium.refund(), {
      '02-02': 'pro: pro active to 2026-02-01',
      '02-05': 'free: pro cancelled to 2026-02-01',
    }, ['subscription-ended']],
    ['may be replaced by a newer purchase, until that ends', () => customer.buy('basic'), {
      '02-02': 'basic: basic active to 2026-02-20',
      '02-24': purchase,
    }, ['subscription-ending']],
  ])('%s', async (_, change, states, mails) => {
    const orders = await buyTwo('pro', 'premium');
    await database.at('01-20');
    await change(...orders);
    for (const [time, state] of Object.entries(states)) {
      await database.sweep(time);
      expect(await customer.state()).toBe(state);
      expect(await customer.findings()).toEqual([]);
    }
    expect((await endings()).map((key) => key.split('/')[0])).toEqual(mails);
  });
});

describe('the start', () => {
  const run = async () => (await database.one('select billing.settle_due() as n')).n;

  test('is settled once, at its time, also where nothing gives access before', async () => {
    const [pro] = await buyTwo('pro', 'premium');
    await database.at('01-20');
    await pro.refund();
    await run();
    expect(await customer.row()).toMatchObject({ status: 'cancelled', due_at: new Date('2026-02-01Z') });
    await database.at('2026-01-31T23:59:59Z');
    expect(await run()).toBe(0);
    await database.at('02-01');
    expect([await run(), await run()]).toEqual([1, 0]);
    expect(await customer.state()).toBe('premium: premium active to 2026-03-01');
  });
});
