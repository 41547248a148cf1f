import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import type { SubscriptionEvent } from '../helpers/gateway/events.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { type Customer, customerOf } from '../helpers/records/customer.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
let customer: Customer;
beforeEach(async () => {
  customer = await database.customer();
});

const [march, april] = [months(3), months(4)];
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

  test('activated or charged afterwards is cancelled at its cycle’s end', async () => {
    await buy();
    const before = await customer.subscription();
    for (const name of ['charged', 'activated'] as const) expect(await event(name, '03-01', march)).toBe('applied');
    expect(await customer.subscription()).toEqual(before);
    expect(await replaced()).toEqual([customer.gatewayId]);
    expect(await toldOf()).toBe('at cycle end');
  });

  test('activated again after the purchase rules, and late older events do not change it', async () => {
    await buy();
    expect(await event('activated', '03-11', march)).toBe('applied');
    const activated = await customer.subscription();
    expect(activated).toMatchObject({ gateway_subscription_id: customer.gatewayId, status: 'active' });
    for (const name of ['activated', 'cancelled'] as const) expect(await event(name, '03-01', april)).toBe('stale');
    await event('charged', '03-01', april);
    expect(await customer.subscription()).toEqual(activated);
    expect(await toldOf()).toBe('nothing');
  });

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

  test.each(['last', 'first'])('the one activated first is cancelled, when it arrives %s', async (place) => {
    const steps = [() => event('activated', '03-01', march), () => event('activated', '03-02', march, other)];
    for (const step of place === 'first' ? steps : steps.reverse()) expect(await step()).toBe('applied');
    expect(await ruling()).toBe(other.gatewayId);
    expect(await replaced()).toEqual([customer.gatewayId]);
    expect([await toldOf(), await toldOf(other)]).toEqual(['at cycle end', 'nothing']);
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

  test.each(['first', 'last'])(
    'activated in one second, the one that waits is attached, arriving %s',
    async (place) => {
      const waiting = customerOf(database, customer, 'sub_Z');
      const billed = customerOf(database, customer, 'sub_A');
      const steps = [() => event('activated', '03-01', {}, waiting), () => event('activated', '03-01', march, billed)];
      for (const step of place === 'first' ? steps : steps.reverse()) await step();
      expect(await ruling()).toBe('sub_Z');
      expect(await customer.state()).toBe('pro: pro active to 2026-04-01');
    },
  );
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
