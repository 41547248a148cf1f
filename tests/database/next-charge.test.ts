import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { seconds } from '../helpers/gateway/events.ts';
import { askChange, customerOf, subscribe } from '../helpers/records/customer.ts';
import { day, months } from '../helpers/records/time.ts';

// What runs, and is not charged again: the last cycle that was agreed, and what the gateway has paused. And what is charged again
// after its period.

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
const planId = 'plan_basic';

beforeEach(async () => {
  await database.setPlan('basic', 'duration_months = 1');
  await customer.event('activated', '01-01', { planId, ...months(1) });
});

const last = () => customer.charge(months(1), 'basic', { fields: { remaining_count: 0, paid_count: 1 } });
const pause = async () => {
  await customer.charge(months(1), 'basic');
  await customer.event('paused', '01-10', { planId, ...months(1) });
};
const scenario = async (tier = 'basic') => {
  const { plans } = Object(await database.rpc('list_plans_for_user', customer.id));
  return plans.find((plan: { tier: string }) => plan.tier === tier).scenario;
};
const order = async () => (await database.rpc('create_subscription', customer.id, 'basic')).outcome;
const ends = async () => (await customer.mails()).filter((mail) => mail.startsWith('subscription-ending'));
const billing = async () => Object(await database.rpc('get_subscription', customer.id)).billing;
/** Asks for a tier at the end of the period, authorised at once. */
async function changeAtEnd(tier: string) {
  const next = customerOf(database, customer);
  const made = await database.rpc('create_change', customer.id, tier, 'period_end');
  await database.rpc('store_subscription', made.id, next.gatewayId, 'https://gateway.example/s/1');
  await next.event('authenticated', '01-11', { planId: `plan_${tier}`, ...months(2) });
}

describe.each([['the last cycle', last], ['a paused subscription', pause]] as const)('%s', (_, stop) => {
  beforeEach(stop);

  test('may be renewed in its last days, and subscribed to again', async () => {
    await database.at('01-20');
    expect(await scenario()).toBe('current');
    await database.at('01-26');
    expect(await scenario()).toBe('renew');
    expect(await order()).toBe('created');
  });

  test('has its end announced once, seven days before it', async () => {
    await database.sweep('2026-01-24T23:59:59Z');
    expect(await ends()).toEqual([]);
    for (const time of ['01-25', '01-26', '02-01']) await database.sweep(time);
    expect(await ends()).toHaveLength(1);
  });

  test('is not renewed by a change that is undone', async () => {
    await database.at('01-11');
    await changeAtEnd('pro');
    expect(await database.rpc('preview_change', customer.id, 'basic', 'period_end')).toMatchObject({
      outcome: 'undo',
      change: { renews: false, next_charge: null },
    });
  });
});

test('the end of a subscription whose first cycle is its last is announced', async () => {
  const other = await database.customer();
  await other.charge(months(1), 'basic', { fields: { remaining_count: 0, paid_count: 1 } });
  for (const time of ['01-25', '01-26']) await database.sweep(time);
  expect((await other.mails()).filter((mail) => mail.startsWith('subscription-ending'))).toHaveLength(1);
});

test('the end of what was completed right after its last charge is announced', async () => {
  for (const cycle of [months(1), months(2)]) await customer.charge(cycle, 'basic');
  await customer.event('completed', '2026-02-01T00:01:00Z', { planId, ...months(2) });
  for (const time of ['2026-02-01T01:00:00Z', '02-22']) await database.sweep(time);
  expect(await ends()).toHaveLength(1);
});

test('access waits for the charge that only the end of the subscription tells', async () => {
  const asked = await subscribe(database, await database.customer(), 'basic');
  await asked.event('activated', '01-01', { planId, ...months(1) });
  await asked.event('completed', '01-20', { planId, ...months(1), fields: { paid_count: 1 } });
  await database.sweep('2026-02-01T01:00:00Z');
  expect(await asked.state()).toBe('basic: basic active to 2026-02-01');
});

test('a cycle that is followed by a charge goes on: it is current, and its end is not announced', async () => {
  await customer.charge(months(1), 'basic');
  for (const time of ['01-25', '01-31']) await database.sweep(time);
  expect([await scenario(), await order(), await ends()]).toEqual(['current', 'already_subscribed', []]);
});

describe('in the days of grace', () => {
  beforeEach(async () => {
    await customer.charge(months(1), 'basic');
    await customer.event('pending', '02-01', { planId, ...months(2) });
    await database.at('02-02');
  });

  test('a change now costs the whole price, and one at the end has nothing to wait for', async () => {
    expect(await scenario('pro')).toBe('upgrade');
    expect(await database.rpc('preview_change', customer.id, 'pro', 'now')).toMatchObject({
      ...{ outcome: 'change', order_start: null, is_billed: true },
      change: { amount_due: 99_900, credit: 0, starts_at: '2026-02-02T00:00:00.000Z', renews: true },
    });
    expect(await database.rpc('preview_change', customer.id, 'basic', 'now')).toMatchObject({
      outcome: 'already_subscribed',
    });
    expect(await database.rpc('preview_change', customer.id, 'pro', 'period_end')).toMatchObject({
      outcome: 'subscription_not_found',
    });
  });

  test('a cancellation asks for no other card, also before the gateway knows of it', async () => {
    expect(await billing()).toMatchObject({ status: 'pending', payment_attention: true });
    await customer.cancel('at the end');
    expect(await billing()).toMatchObject({ status: 'pending', payment_attention: false, next_charge_at: null });
  });
});

describe('while a charge is due and not known yet, nothing is sold twice', () => {
  const outcomes = async () =>
    await Promise.all(
      ['pro', 'premium'].map(async (tier) => (await database.rpc('preview_change', customer.id, tier, 'now')).outcome),
    );
  async function change(when: 'now' | 'period_end', chargedAt: string, payment: string | null = null) {
    const next = await askChange(database, customer, 'pro', when, { payment });
    await next.event('authenticated', '01-10', { planId: 'plan_pro', fields: { charge_at: seconds(day(chargedAt)) } });
  }
  beforeEach(async () => {
    await database.setPlan('pro', 'duration_months = 1');
    await customer.charge(months(1), 'basic');
    await database.at('01-10');
  });

  test('of a subscription', async () => {
    await database.at('2026-02-01T01:00:00Z');
    expect([await scenario(), await outcomes()]).toEqual(['current', [
      'subscription_not_found',
      'subscription_not_found',
    ]]);
  });

  test('of the change that follows it', async () => {
    await change('period_end', '02-01');
    await database.at('2026-02-01T01:00:00Z');
    expect([await scenario('pro'), await outcomes()]).toEqual(['current', [
      'subscription_not_found',
      'subscription_not_found',
    ]]);
  });

  test('of the renewal of a purchase', async () => {
    const order = await customer.order('pro');
    await change('now', '02-10', order.id);
    await order.verify();
    expect(await customer.state()).toBe('pro: pro active to 2026-02-10');
    await database.at('2026-02-10T01:00:00Z');
    expect([await scenario('pro'), await outcomes()]).toEqual(['current', [
      'subscription_not_found',
      'subscription_not_found',
    ]]);
  });
});

describe('what lapsed while it was paused', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['the customer cancels it', () => customer.cancel('at the end')],
    ['the seller cancels it at the gateway', () => Promise.resolve()],
  ])('was not renewed, also where %s since', async (_, cancel) => {
    await pause();
    await database.sweep('2026-02-01T00:00:01Z');
    const lapsed = await customer.row();
    expect(lapsed).toMatchObject({ status: 'cancelled', ended_reason: 'lapsed' });
    await database.at('02-02');
    await cancel();
    await customer.event('cancelled', '02-02', { planId, ...months(1) });
    await database.sweep('02-10');
    expect(await customer.row()).toMatchObject({ ended_reason: 'lapsed', cancelled_at: lapsed.cancelled_at });
  });

  test('is cancelled where it was resumed before', async () => {
    await pause();
    await customer.event('resumed', '01-20', { planId, ...months(1) });
    await customer.event('cancelled', '02-02', { planId, ...months(1) });
    expect(await customer.row()).toMatchObject({ ended_reason: 'cancelled', cancelled_at: new Date(day('02-02')) });
  });
});
