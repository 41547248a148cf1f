import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent } from '../helpers/gateway/events.ts';
import { told } from '../helpers/gateway/told.ts';
import { type Customer, customerOf, prices, subscribe } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { months, type Period } from '../helpers/records/time.ts';

// What the gateway may charge is cancelled, whether or not anything gives access; what was newer stays newer.
const database = useDatabase({
  isEmptied: true,
  findings: { entitled_not_paid: 'any', charged_after_replacement: 'any', paid_twice: 'any' },
});
const customer = useCustomer(database);
beforeEach(() => database.at('01-01'));

const toldOf = (of: Customer = customer) => told(database, of.gatewayId);
const cancel = (when: 'at once' | 'at the end' = 'at the end') => customer.cancel(when);
const anotherOf = () => customerOf(database, customer, uniqueId('sub'));

/** A subscription that is asked for here at a time, and not authorised yet. */
async function ask(tier: string, time: string): Promise<Customer> {
  await database.at(time);
  return await subscribe(database, customer, tier);
}

/** A row that the app's import writes: it names a subscription that was not asked for here. */
async function importRow(of: Customer, tier: string, time: string, cycle: Period): Promise<void> {
  await database.at(time);
  await database.query(
    `insert into public.subscriptions
       (user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id)
     select $1, p.id, p.tier, 'active', $3, $4, $5 from public.plans p where p.tier = $2`,
    [of.id, tier, cycle.start, cycle.end, of.gatewayId],
  );
}

describe('what can be charged while nothing gives access is cancelled', () => {
  test('before its first charge succeeds, and without a plan of ours; nothing is paid yet', async () => {
    await customer.event('authenticated', '01-01', { planId: 'plan_basic' });
    await customer.event('pending', '01-02', { planId: 'plan_basic' });
    const other = anotherOf();
    await other.event('authenticated', '01-02', { planId: 'plan_of_another_app' });
    expect(await customer.subscription()).toBeNull();
    expect(await cancel()).toMatchObject({ outcome: 'cancelled', subscription: null });
    expect([await toldOf(), await toldOf(other)]).toEqual(['at once 2026-01-02', 'at once 2026-01-02']);
    expect(await cancel('at once')).toMatchObject({ outcome: 'cancelled' });
    expect(await cancel('at once')).toMatchObject({ outcome: 'subscription_not_found' });
  });

  test('when it was asked for and is not authorised yet; authorised later it stays cancelled', async () => {
    const asked = await ask('basic', '01-01');
    await database.at('2026-01-01T00:10:00Z');
    expect(await cancel()).toMatchObject({ outcome: 'cancelled', subscription: null });
    expect(await toldOf(asked)).toBe('at cycle end 2026-01-01T00:10:00.000Z');
    await asked.event('authenticated', '2026-01-01T00:20:00Z', { planId: 'plan_basic' });
    expect(await toldOf(asked)).toMatch(/^at cycle end/);
    await database.at('2026-01-01T00:30:00Z');
    expect(await database.rpc('resume_subscription', customer.id)).toMatchObject({ outcome: 'resumed' });
    expect(await toldOf(asked)).toBe('withdrawn');
  });

  test('and where nothing can be charged it is not found', async () => {
    expect(await cancel()).toEqual({ outcome: 'subscription_not_found' });
    expect(await database.rpc('resume_subscription', customer.id)).toEqual({ outcome: 'subscription_not_found' });
    await customer.bill(months(1), 'basic');
    await customer.event('cancelled', '01-15', { planId: 'plan_basic' });
    expect(await cancel()).toEqual({ outcome: 'subscription_not_found' });
    expect(await database.rpc('resume_subscription', customer.id)).toEqual({ outcome: 'cannot_be_resumed' });
  });
});

describe('of an imported subscriber', () => {
  beforeEach(() => importRow(customer, 'basic', '01-05', months(1)));

  test.each(
    [
      ['updated', 'at cycle end 2026-01-30'],
      // The next try would charge, also before the end in the row.
      ['pending', 'at once 2026-01-11'],
      ['resumed', 'at cycle end 2026-01-30'],
      ['charged', 'at cycle end 2026-02-27'],
    ] as const,
  )(
    'a cancellation still covers the subscription after %s',
    async (name, told) => {
      await database.at('01-10');
      await cancel();
      expect(await toldOf()).toBe('at cycle end 2026-01-30');
      const cycle = name === 'charged' ? months(2) : {};
      await customer.event(name, '01-11', { planId: 'plan_basic', ...cycle });
      expect(await toldOf()).toBe(told);
    },
  );

  test.each(['subscription', 'purchase'])('a newer %s replaces it, and its later charge does not rule', async (how) => {
    const newer = anotherOf();
    if (how === 'purchase') await customer.buy('premium', { at: '01-10' });
    else await newer.bill({ start: '2026-01-10T00:00:00Z', end: '2027-01-10T00:00:00Z' }, 'premium');
    expect(await customer.tier()).toBe('premium');
    expect(await toldOf()).toBe('at cycle end 2026-01-30');
    await customer.charge(months(2), 'basic', { fields: { paid_count: 7 } });
    expect(await customer.tier()).toBe('premium');
    expect(await toldOf(newer)).toBe('nothing');
    expect((await customer.findings()).map((finding) => finding.split(' ')[0])).toContain('charged_after_replacement');
  });
});

describe('what is newer replaces what is older for good', () => {
  const year = { start: months(1).start, end: '2027-01-01T00:00:00.000Z' };

  test('not when it was refunded in full, or lost in a dispute', async () => {
    await customer.bill(year, 'premium');
    const refunded = await customer.buy('basic', { at: '02-01' });
    await refunded.refund();
    expect(await toldOf()).toBe('withdrawn');
    const lost = await customer.buy('basic', { at: '03-01' });
    expect(await toldOf()).toBe('at cycle end 2026-12-30');
    await lost.dispute('lost');
    await database.sweep('03-02');
    await customer.event('updated', '03-03', { planId: 'plan_premium' });
    expect(await toldOf()).toBe('withdrawn');
  });

  test.each(['basic', 'pro'] as const)(
    'a subscription to %s whose only charge was lost in a dispute: not once the gateway bills it no more',
    async (tier) => {
      await customer.bill(year, 'premium');
      const newer = anotherOf();
      await newer.bill(months(2), tier);
      expect(await toldOf()).toBe('at cycle end 2026-12-30');
      const payment = { id: `pay_2026-02_${newer.gatewayId}`, amount: prices[tier] };
      const lost = { amount: prices[tier], amount_deducted: prices[tier] };
      await database.send(disputeEvent('lost', 'lost', payment, lost, { createdAt: '2026-02-10T00:00:00Z' }));
      expect(await toldOf()).toBe('at cycle end 2026-12-30');
      await newer.event('cancelled', '02-11', { planId: `plan_${tier}` });
      expect(await toldOf()).toBe('withdrawn');
    },
  );
});

describe('with the clock of the gateway ten minutes', () => {
  test.each([['basic', 'premium'], ['premium', 'basic']])(
    'behind, after a purchase of %s a subscription to %s that is asked for later is newer',
    async (bought, tier) => {
      const at = (minute: number) => new Date(Date.UTC(2026, 0, 10, 12, minute)).toISOString();
      await customer.buy(bought, { at: at(0) });
      const next = await ask(tier, at(1));
      const cycle = { start: at(-8), end: '2026-02-10T00:00:00Z' };
      await next.event('activated', at(2), { planId: `plan_${tier}`, ...cycle, createdAt: at(-8) });
      const payment = { id: uniqueId('pay'), amount: prices[tier] };
      await next.event('charged', at(2), { planId: `plan_${tier}`, ...cycle, createdAt: at(-8), payment });
      expect([await customer.tier(), await toldOf(next)]).toEqual([tier, 'nothing']);
    },
  );

  test.each(
    [['behind', -10, 'at once'], ['behind', -10, 'at the end'], ['ahead', 10, 'at once'], [
      'ahead',
      10,
      'at the end',
    ]] as const,
  )(
    '%s (%i), what is asked for after a cancellation goes on: %s',
    async (_name, minutes, when) => {
      const at = (minute: number) => new Date(Date.UTC(2026, 0, 10, 12, minute)).toISOString();
      await customer.bill(months(1), 'basic');
      await database.at(at(0));
      await cancel(when);
      const next = await ask('premium', at(1));
      const cycle = { start: at(2 + minutes), end: '2027-01-10T00:00:00Z' };
      await next.event('authenticated', at(2), { planId: 'plan_premium', createdAt: at(2 + minutes) });
      await next.event('activated', at(2), { planId: 'plan_premium', ...cycle, createdAt: at(2 + minutes) });
      await next.event('charged', at(2), {
        planId: 'plan_premium',
        ...cycle,
        createdAt: at(2 + minutes),
        payment: { id: uniqueId('pay'), amount: 199900 },
      });
      expect([await customer.tier(), await toldOf(next)]).toEqual(['premium', 'nothing']);
      expect(await toldOf()).toMatch(/^at (once|cycle end)/);
    },
  );
});
