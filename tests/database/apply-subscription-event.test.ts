import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { seconds, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { customerOf } from '../helpers/records/customer.ts';
import { day, shortTime } from '../helpers/records/time.ts';

// All events arrive on 10 January 2026, a few days after their own times, about cycles far in the future.
const now = '2026-01-10T00:00:00Z';
// A subscription is activated for a period that is over: the gateway bills it, and no payment covers the current time.
// Cancellations of attached gateway subscriptions end purchases.
const database = useDatabase({ at: now, findings: { entitled_not_paid: 1, paid_not_entitled: 4 } });
const customer = useCustomer(database);
beforeEach(async () => {
  await database.at(now);
});

const january = { start: day('2126-01-01'), end: day('2126-02-01') };
const february = { start: day('2126-02-01'), end: day('2126-03-01') };
const over = { start: day('2020-01-01'), end: day('2020-02-01') };

const bodyOf = (name: SubscriptionEvent['name'], fields: Partial<SubscriptionEvent> = {}, of = customer) =>
  subscriptionEvent({ name, userId: of.id, id: of.gatewayId, ...fields });
const event = (...body: Parameters<typeof bodyOf>) => database.send(bodyOf(...body));
const created = (date: string) => ({ createdAt: day(date) });

/**
 * `pro: pro active from 2025-12-15 to 2026-12-15, none`: the gateway subscription that is attached is `this`, `none` or
 * `another`. Where it was cancelled, also when.
 */
async function shown(): Promise<string> {
  const { tier, status, gateway_subscription_id: id, cancelled_at: at, ...of } = await customer.row();
  const attached = id === customer.gatewayId ? 'this' : id === null ? 'none' : 'another';
  const period = `from ${shortTime(of.current_period_start)} to ${shortTime(of.current_period_end)}`;
  const text = `${await customer.tier()}: ${tier} ${status} ${period}, ${attached}`;
  return at === null ? text : `${text}, cancelled ${shortTime(at)}`;
}
const cancelled = (text: string) => `${text.replace('pro: pro active', 'free: pro cancelled')}, cancelled 2026-01-10`;

describe('of a gateway subscription of no known plan, for a user who bought pro before,', () => {
  const bought = 'pro: pro active from 2025-12-15 to 2026-12-15, none';
  const inJanuary = 'pro: pro active from 2126-01-01 to 2126-02-01, this';
  const inFebruary = 'pro: pro active from 2126-02-01 to 2126-03-01, this';
  beforeEach(async () => {
    await customer.buy('pro', { at: '2025-12-15' });
    await database.at(now);
    expect(await shown()).toBe(bought);
  });

  test.each<[string, [SubscriptionEvent['name'], Partial<SubscriptionEvent>, string?][], string]>([
    ['activated sets status, id and period', [['activated', january, 'applied']], inJanuary],
    ['activated before the first cycle sets id alone', [['activated', {}, 'applied']], bought.replace('none', 'this')],
    ['charged sets only the period', [['charged', february, 'applied']], inFebruary.replace('this', 'none')],
    ['cancelled ends access, the period stays', [['cancelled', {}, 'applied']], cancelled(bought)],
    ['without created_at each event applies in the order of arrival', [
      ['activated', january, 'applied'],
      ['cancelled', {}, 'applied'],
      ['activated', january, 'applied'],
    ], inJanuary],
    [
      'activated years ago sets status, id and period',
      [['activated', { ...january, ...created('2019-09-10') }]],
      inJanuary,
    ],
    ['with times of years ago each event applies in the order of arrival', [
      ['activated', { ...january, ...created('2019-09-10') }, 'applied'],
      ['cancelled', created('2019-09-11'), 'applied'],
      ['activated', { ...january, ...created('2019-09-12') }, 'applied'],
    ], inJanuary],
    ['an older charge does not shorten the period', [
      ['charged', { ...february, ...created('01-02') }],
      ['charged', { ...january, ...created('01-01') }, 'stale'],
    ], inFebruary.replace('this', 'none')],
    ['a cancellation older than the activation does not cancel', [
      ['activated', { ...january, ...created('01-02') }],
      ['cancelled', created('01-01'), 'stale'],
    ], inJanuary],
    ['a cancellation in the second of an activation wins', [
      ['activated', { ...january, ...created('01-01') }],
      ['cancelled', created('01-01')],
    ], cancelled(inJanuary)],
    ['a cancellation in the second of an activation that arrives after it wins', [
      ['cancelled', created('01-01')],
      ['activated', { ...january, ...created('01-01') }],
    ], cancelled(inJanuary)],
    ['an older activation still sets an empty id', [
      ['cancelled', created('01-03')],
      ['charged', { ...february, ...created('01-02') }],
      ['activated', { ...january, ...created('01-01') }, 'applied'],
    ], cancelled(inFebruary)],
    ['a later activation restores the tier', [
      ['cancelled', created('01-01')],
      ['activated', { ...january, ...created('01-02') }],
    ], inJanuary],
    ['a later activation of a period that is over does not restore the tier', [
      ['cancelled', created('01-01')],
      ['activated', { ...over, ...created('01-02') }, 'applied'],
    ], 'free: pro active from 2020-01-01 to 2020-02-01, this'],
  ])('%s', async (_, events, state) => {
    for (const [name, fields, outcome] of events) {
      const result = await event(name, fields);
      if (outcome) expect(result).toBe(outcome);
    }
    expect(await shown()).toBe(state);
  });

  test('created_at inside the payload counts as well', async () => {
    await event('charged', { ...february, ...created('01-02') });
    const { payload, ...body } = JSON.parse(bodyOf('charged', january));
    payload.created_at = seconds(day('01-01'));
    expect(await database.send(JSON.stringify({ ...body, payload }))).toBe('stale');
  });

  test('charged and cancelled of another one change nothing; its newer activation replaces the attached one', async () => {
    const other = customerOf(database, customer);
    await event('activated', { ...january, ...created('01-01') });
    for (const name of ['charged', 'cancelled'] as const) expect(await event(name, february, other)).toBe('mismatch');
    expect(await shown()).toBe(inJanuary);
    await event('activated', { ...february, ...created('01-02') }, other);
    expect(await shown()).toBe(inFebruary.replace('this', 'another'));
  });

  test('a change to a known plan gives its tier: charged for its first period, or activated after a cancellation', async () => {
    const basic = { planId: 'plan_basic' };
    await event('activated', january);
    expect(await customer.tier()).toBe('pro');
    await event('charged', { ...basic, ...february });
    expect(await customer.tier()).toBe('basic');
    await event('cancelled');
    await event('activated', { ...basic, ...january });
    expect(await customer.subscription()).toMatchObject({ tier: 'basic', plan_tier: 'basic' });
    expect(await customer.tier()).toBe('basic');
  });

  test('charged after the period was over restores the tier, and during it leaves the profile', async () => {
    const write = (assignment: string) =>
      database.query(`update public.${assignment} where user_id = $1`, [customer.id]);
    await write("profiles set subscription_tier = 'set by the app'");
    await event('charged', january);
    expect(await customer.tier()).toBe('set by the app');
    await write("subscriptions set current_period_end = '2020-01-01Z'");
    await write("profiles set subscription_tier = 'free'");
    await event('charged', february);
    expect(await customer.tier()).toBe('pro');
  });

  test('a period at the bounds, 1970 and 9999, is accepted', async () => {
    const fields = { current_start: 0, current_end: 253402300799 };
    expect(await event('charged', { fields })).toBe('applied');
    expect(await shown()).toBe('pro: pro active from 1970-01-01 to 9999-12-31T23:59:59.000Z, none');
  });
});

describe('for a user without a subscription,', () => {
  const premium = { planId: 'plan_premium' };

  test.each(['activated', 'charged'] as const)('%s of a known plan creates one, with the tier', async (name) => {
    expect(await event(name, { ...premium, ...january })).toBe('applied');
    expect(await shown()).toBe('premium: premium active from 2126-01-01 to 2126-02-01, this');
    expect(await customer.subscription()).toMatchObject({ plan_tier: 'premium' });
  });

  test.each(['activated', 'charged'] as const)('%s of an unknown plan changes nothing', async (name) => {
    for (const planId of [{}, { planId: 'plan_unknown' }]) {
      expect(await event(name, { ...planId, ...january })).toBe('unmatched');
    }
    expect(await customer.state()).toBe('free: none');
  });

  test('cancelled still sets the profile to free, without a mail', async () => {
    await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [customer.id]);
    expect(await event('cancelled')).toBe('unmatched');
    expect(await customer.state()).toBe('free: none');
    expect(await customer.mails()).toEqual([]);
  });

  test('events that arrive before their subscription is known are applied when it is created', async () => {
    expect(await event('cancelled', created('01-04'))).toBe('unmatched');
    expect(await event('charged', { ...february, ...created('01-03') })).toBe('unmatched');
    expect(await event('activated', created('01-01'))).toBe('unmatched');
    expect(await event('charged', { ...premium, ...january, ...created('01-02') })).toBe('applied');
    expect(await shown()).toBe('free: premium cancelled from 2126-02-01 to 2126-03-01, this, cancelled 2026-01-10');
    // The mirror stores these facts. The ledger keeps the outcome of each on its arrival.
    const arrivals = 'select from billing.gateway_events where subject_id = $1 and attempts = 1 and outcome = $2';
    expect(await database.query(arrivals, [customer.gatewayId, 'unmatched'])).toHaveLength(3);
  });
});

test('a cancellation that names another plan leaves the plan of the paid cycle', async () => {
  await event('activated', { ...january, planId: 'plan_pro', ...created('01-09') });
  await event('cancelled', { planId: 'plan_premium', createdAt: '2026-01-09T12:00:00Z' });
  expect(await customer.state()).toMatch(/^free: pro cancelled/);
});

test('notes that are edited at the gateway move no subscription to another customer, also not one that was made there', async () => {
  await event('activated', { ...january, planId: 'plan_pro', ...created('01-08') });
  const other = await database.customer();
  const edited = { ...february, planId: 'plan_pro', userId: other.id, ...created('01-09') };
  expect(await event('charged', { ...edited, payment: { id: 'pay_february', amount: 99900 } })).toBe('applied');
  expect(await customer.state()).toBe('pro: pro active to 2126-03-01');
  expect(await database.query('select from public.subscriptions where user_id = $1', [other.id])).toEqual([]);
  expect(await customer.findings()).toContain(`notes_edited ${customer.gatewayId}`);
  await event('updated', { planId: 'plan_pro', ...created('01-10') });
  expect(await customer.findings()).not.toContain(`notes_edited ${customer.gatewayId}`);
});

test('notes that named nobody are corrected: the subscription is of the customer whom they name since', async () => {
  await event('activated', { ...january, planId: 'plan_pro', userId: crypto.randomUUID(), ...created('01-08') });
  expect(await event('charged', { ...february, planId: 'plan_pro', ...created('01-09') })).toBe('applied');
  expect(await customer.state()).toBe('pro: pro active to 2126-03-01');
});

const braced = '{00000000-0000-0000-0000-000000000000}';
test.each([[], undefined, { plan: 'pro' }, { user_id: 7 }, { user_id: '' }, { user_id: 'user_1' }, {
  user_id: braced,
}])('an event whose notes are %j is ignored', async (notes) => {
  for (const name of ['activated', 'charged', 'cancelled'] as const) {
    const outcome = await event(name, { ...february, fields: { notes } });
    expect(outcome, name).toBe('ignored: subscription.entity.notes.user_id');
  }
});
