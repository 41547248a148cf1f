import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, type SubscriptionEvent } from '../helpers/gateway/events.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { askChange, type Customer, customerOf } from '../helpers/records/customer.ts';
import { day, months, type Period } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const march = months(3);
const purchasedAt = '2026-03-10T12:00:00.500Z';

/** Delivers an event about a gateway subscription of pro, on 11 March. @returns the outcome */
const event = (
  name: SubscriptionEvent['name'],
  createdAt: string | null,
  fields: Partial<SubscriptionEvent> = {},
  of = customer,
) => of.event(name, '03-11', { planId: 'plan_pro', createdAt: createdAt && day(createdAt), ...fields });

/** How the subscription is cancelled: `at cycle end`, `at once`, `withdrawn` or `nothing`. */
const toldOf = async (of = customer) => (await told(database, of.gatewayId)).replace(/ 2026.*/, '');

/** The gateway subscriptions of the user that another source replaced. */
async function replaced(): Promise<unknown[]> {
  const rows = await database.query(
    `select gateway_subscription_id as id from billing.gateway_subscriptions
     where stops_at is not null and not cancel_at_period_end`,
  );
  return rows.map(({ id }) => id);
}
const ruling = async () => (await customer.subscription())?.gateway_subscription_id;

describe('a gateway subscription from before a purchase', () => {
  const bought = 'pro: pro active to 2027-03-10T12:00:00.500Z';
  const buy = () => customer.buy('pro', { at: purchasedAt });

  test.each<[string, string | null, Partial<SubscriptionEvent>, string]>([
    ['without a known plan', '03-01', { planId: 'plan_unknown', ...march }, 'at cycle end'],
    ['before its first cycle, without a time and a plan', null, { planId: 'plan_unknown' }, 'at once'],
  ])('%s is cancelled by the purchase', async (_, createdAt, fields, cancelled) => {
    const pro = await customer.order('pro', { at: '03-02' });
    expect(await customer.event('activated', '03-02', { createdAt: createdAt && day(createdAt), ...fields })).toBe(
      'unmatched',
    );
    await database.at(purchasedAt);
    await pro.verify();
    expect(await replaced()).toEqual([customer.gatewayId]);
    expect(await toldOf()).toBe(cancelled);
  });

  test.each<[string, string | null, boolean]>([
    ['before the purchase', '2026-03-10T11:59:59Z', true],
    ['in the second of the purchase', '2026-03-10T12:00:00Z', false],
    ['without a time', null, false],
  ])('is cancelled %s (%s): the purchase stays with a known plan, without one %j', async (_, createdAt, stays) => {
    await buy();
    expect(await event('cancelled', createdAt)).toBe('applied');
    expect(await customer.state()).toBe(bought);
    expect(await toldOf()).toBe('nothing');
    await event('cancelled', createdAt, { planId: 'plan_unknown' }, customerOf(database, customer));
    expect(await customer.state()).toBe(stays ? bought : bought.replace('pro: pro active', 'free: pro cancelled'));
  });
});

describe('of two gateway subscriptions', () => {
  let other: Customer;
  beforeEach(() => {
    other = customerOf(database, customer);
  });

  test.each([[false, 'withdrawn', false], [true, 'at cycle end', true]])(
    'the one activated again rules; attempted: %j, its cancellation is %s, it ends: %j',
    async (isAttempted, cancellation, ends) => {
      await event('activated', '03-01', march);
      await event('activated', '03-02', march, other);
      if (isAttempted) await attempt(database, customer.gatewayId);
      expect(await event('activated', '03-03', march)).toBe('applied');
      expect(await ruling()).toBe(customer.gatewayId);
      expect(await database.one('select cancel_at_period_end as ends from public.subscriptions')).toEqual({ ends });
      expect(await replaced()).toEqual([other.gatewayId]);
      expect([await toldOf(), await toldOf(other)]).toEqual([cancellation, 'at cycle end']);
    },
  );

  test.each(['first', 'last'])('activated in one second, the one that waits is attached: %s', async (place) => {
    const waiting = customerOf(database, customer, 'sub_Z');
    const billed = customerOf(database, customer, 'sub_A');
    const steps = [() => event('activated', '03-01', {}, waiting), () => event('activated', '03-01', march, billed)];
    for (const step of place === 'first' ? steps : steps.reverse()) await step();
    expect(await ruling()).toBe('sub_Z');
    expect(await customer.state()).toBe('pro: pro active to 2026-04-01');
  });
});

describe('a gateway subscription of a deleted user', () => {
  test('is cancelled at once when its events had no effect before the deletion', async () => {
    expect(await event('activated', null, { planId: 'plan_unknown', ...march })).toBe('unmatched');
    await database.query('delete from auth.users');
    expect(await toldOf()).toBe('at once');
  });

  test('is not cancelled if the user never existed: another app may use the same gateway account', async () => {
    const stranger = customerOf(database, { id: crypto.randomUUID(), email: null });
    expect(await event('activated', null, march, stranger)).toBe('unmatched');
    expect(await toldOf(stranger)).toBe('nothing');
  });
});

const running = (tier: string, gateway_subscription_id: string | null, period: Period) => (
  { tier, plan_tier: tier, status: 'active', gateway_subscription_id, ...period }
);
const proYear = running('pro', null, months(1, 12));
const endMails = async () => (await customer.mails()).filter((key) => key.startsWith('subscription-ended'));
const accessFindings = async () => (await customer.findings()).filter((row) => !row.startsWith('missed_webhook'));
const { expire } = database;
async function bill(tier: string, cycle: Period): Promise<void> {
  const of = { planId: `plan_${tier}`, ...cycle };
  expect(await customer.event('activated', '02-01', of)).toBe('applied');
  await customer.event('charged', '2026-02-01T00:00:05Z', { ...of, payment: payment() });
}
const payment = () => ({ id: `pay_of_${customer.gatewayId}`, amount: 199900 });

describe('a purchased year of pro, with premium billed by the gateway over it', () => {
  const cancelled = (time: string, planId?: string) =>
    customer.event('cancelled', time, planId === undefined ? {} : { planId });
  async function read(time: string, status: string): Promise<void> {
    await database.at(time);
    await customer.reconcile({ status });
  }
  test.each<[string, () => Promise<unknown>, lapses?: string]>([
    ['cancelled at the gateway, by an event without a plan', () => cancelled('02-10')],
    ['refunded', () => database.send(refundEvent(payment(), payment().amount))],
    ['cancelled by the user for its end', async () => {
      await database.at('02-10');
      await customer.cancel('at the end');
      expect(await customer.state()).toBe('premium: premium active to 2026-03-01');
      await cancelled('03-01', 'plan_premium');
    }, '2027-01-01T00:00:00Z'],
    ['halted and lapsed, and then cancelled', async () => {
      await database.at('2026-03-01T00:00:01Z');
      expect(await customer.tier()).toBe('premium');
      await read('2026-03-01T12:00:00Z', 'halted');
      expect(await customer.tier()).toBe('pro');
      await cancelled('03-05', 'plan_premium');
    }],
    ['read as expired, and later announced as cancelled', async () => {
      await read('03-02', 'expired');
      expect(await customer.subscription()).toEqual(proYear);
      await cancelled('03-05');
    }],
  ])('is pro until its end when premium is %s', async (_, ends, lapses = '2027-01-04T00:00:00Z') => {
    await customer.buy('pro', { at: '01-01' });
    await bill('premium', months(2));
    expect(await customer.state()).toBe('premium: premium active to 2026-03-01');
    await ends();
    expect(await customer.subscription()).toEqual(proYear);
    expect(await customer.tier()).toBe('pro');
    expect(await accessFindings()).toEqual([]);
    expect(await endMails()).toEqual([]);
    // What a cancellation covers has no days of grace.
    expect(await expire(new Date(Date.parse(lapses) - 1).toISOString())).toBe(0);
    expect(await expire(lapses)).toBe(1);
    expect(await customer.tier()).toBe('free');
    expect(await endMails()).toHaveLength(1);
  });
});

test('a write that changes nothing of a subscription does not count as one by hand: what was sold remains, and nothing ranks anew', async () => {
  await customer.bill(months(1), 'basic');
  const before = await customer.row();
  await database.at('01-10');
  await database.query('update public.subscriptions set due_at = due_at where user_id = $1', [customer.id]);
  expect(await customer.row()).toEqual(before);
  expect(await database.query('select from billing.manual_subscriptions')).toEqual([]);
});

test('a row written by hand with a time in the future outranks neither a purchase nor a later activation', async () => {
  await database.at('11-09');
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_end, updated_at)
       values ($1, 'basic', 'active', '2026-12-09', '2027-11-09')`,
    [customer.id],
  );
  await customer.buy('pro', { at: '11-10' });
  expect(await customer.state()).toBe('pro: pro active to 2027-11-10');
  const cycle = { start: day('11-09'), end: day('12-09') };
  await customer.event('activated', '11-11', { planId: 'plan_premium', ...cycle });
  expect(await customer.tier()).toBe('premium');
});

test('one that a row by hand named, and a purchase replaced, goes on once it is activated again', async () => {
  await database.at('03-02');
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_end, gateway_subscription_id)
       values ($1, 'pro', 'active', '2026-04-01', $2)`,
    [customer.id, customer.gatewayId],
  );
  await customer.event('charged', '03-03', { planId: 'plan_pro', ...march });
  await customer.buy('basic', { at: '03-10' });
  expect(await toldOf()).toBe('at cycle end');
  await event('activated', '03-11', march);
  expect([await toldOf(), await customer.tier()]).toEqual(['withdrawn', 'pro']);
});

test('one whose first charge was refunded replaces the older one until the gateway bills it no more', async () => {
  await customer.event('activated', '03-01', { planId: 'plan_premium', ...march });
  const newer = customerOf(database, customer);
  const cycle = { planId: 'plan_basic', start: day('03-04'), end: day('04-04') };
  const payment = { id: `pay_${newer.gatewayId}`, amount: 4900 };
  await newer.event('activated', '03-04', cycle);
  await newer.event('charged', '03-04', { ...cycle, payment });
  await database.at('03-05');
  await database.send(refundEvent(payment, 4900));
  const charged = async () =>
    Object((await database.rpc('get_subscription', customer.id)).billing).gateway_subscription_id;
  expect([await toldOf(), await toldOf(newer), await customer.tier()]).toEqual(['at cycle end', 'nothing', 'premium']);
  expect(await charged()).toBe(newer.gatewayId);
  await newer.event('cancelled', '03-06', { planId: 'plan_basic' });
  expect([await toldOf(), await charged()]).toEqual(['withdrawn', customer.gatewayId]);
});

describe('what runs, known only after a later change was asked for', () => {
  let newer: Customer;
  let change: Customer;
  beforeEach(async () => {
    await customer.bill(march, 'pro');
    await database.at('03-05');
    newer = await askChange(database, customer, 'basic', 'now');
    await database.at('2026-03-05T01:00:00Z');
    change = await askChange(database, customer, 'premium', 'period_end');
    await change.event('authenticated', '2026-03-05T01:10:00Z', { planId: 'plan_premium' });
    const at = { createdAt: day('2026-03-05T00:10:00Z') };
    await newer.event('activated', '2026-03-05T02:00:00Z', {
      planId: 'plan_basic',
      start: day('03-05'),
      end: day('04-05'),
      ...at,
    });
  });

  test('ends with its cycle, so that it is not charged beside the change', async () => {
    expect([await toldOf(newer), await toldOf(change), await customer.tier()]).toEqual([
      'at cycle end',
      'nothing',
      'basic',
    ]);
  });

  test('goes on once the change is cancelled', async () => {
    expect(await toldOf(newer)).toBe('at cycle end');
    await change.event('cancelled', '03-06', { planId: 'plan_premium' });
    expect([await toldOf(newer), await customer.tier()]).toEqual(['withdrawn', 'basic']);
  });
});
