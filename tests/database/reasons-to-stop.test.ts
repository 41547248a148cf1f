import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent, refundEvent } from '../helpers/gateway/events.ts';
import { told } from '../helpers/gateway/told.ts';
import { askChange, type Customer, customerOf, prices, subscribe } from '../helpers/records/customer.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { endAccess } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

// What of two things that the gateway may charge stops the other one, and what takes that back.
const database = useDatabase({ isEmptied: true, findings: 'compared elsewhere' });
const customer = useCustomer(database);
beforeEach(() => database.at('01-01'));

const longCycle = { start: months(1).start, end: '2027-02-01T00:00:00.000Z' };
const fromTenth = { start: day('01-10'), end: day('02-10') };
const atItsEnd = 'at cycle end 2027-01-30';

const toldOf = (of: Customer = customer) => told(database, of.gatewayId);
const anotherOf = () => customerOf(database, customer, uniqueId('sub'));

/** Lets the customer's row, by hand, name the gateway subscription of thirteen months of basic. */
async function nameByHand(of: Customer): Promise<void> {
  await database.query(
    `insert into public.subscriptions as s
       (user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id)
     select $1, p.id, p.tier, 'active', $2, $3, $4 from public.plans p where p.tier = 'basic' and p.lookup_key is null
     on conflict (user_id) do update set gateway_subscription_id = excluded.gateway_subscription_id`,
    [customer.id, longCycle.start, longCycle.end, of.gatewayId],
  );
  await database.query('select billing.settle_access($1, null)', [customer.id]);
}
/** Asks for a change to pro, and authorises it on 6 January. */
async function changeToPro(when: 'now' | 'period_end', payment: string | null = null): Promise<Customer> {
  const change = await askChange(database, customer, 'pro', when, { payment });
  await change.event('authenticated', '01-06', { planId: 'plan_pro' });
  return change;
}

describe('a change', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['a new card', () => customer.event('activated', '01-20', { planId: 'plan_basic', ...longCycle })],
    ['a row by hand', async () => {
      await database.at('01-20');
      await nameByHand(customer);
    }],
  ])('that was paid now no longer stops what was billed before, once that is taken up by %s', async (_, act) => {
    await customer.bill(longCycle, 'basic');
    const order = await customer.order('pro', { at: '01-06', start: 'now' });
    await changeToPro('now', order.id);
    await order.verify();
    expect(await toldOf()).toBe(atItsEnd);
    await act();
    expect(await toldOf()).toBe('withdrawn');
  });

  test.each(['activated', 'charged'] as const)(
    'starts, also where the first event of what it follows is that it was %s since',
    async (name) => {
      const basic = await subscribe(database, customer, 'basic');
      await nameByHand(basic);
      await database.at('01-05');
      const change = await changeToPro('period_end');
      const payment = { id: uniqueId('pay'), amount: 4900 };
      await basic.event(name, '01-12', { planId: 'plan_basic', ...longCycle, payment });
      expect(await toldOf(change)).toBe('nothing');
    },
  );
});

test.each(['a start', 'a change'])('%s that waits goes on beside what began in the dashboard since', async (what) => {
  await customer.bill(months(1), 'basic');
  await database.at('01-05');
  const waiting = what === 'a change' ? await changeToPro('period_end') : await subscribe(database, customer, 'pro');
  await waiting.event('authenticated', '01-06', { planId: 'plan_pro' });
  await anotherOf().bill(fromTenth, 'premium');
  expect(await toldOf(waiting)).toBe('nothing');
});

test.each<[string, string, () => Promise<unknown>]>([
  ['a purchase', 'at cycle end 2026-01-30', () => customer.buy('pro', { at: '01-10' })],
  ['a subscription of pro', 'nothing', () => customer.bill(fromTenth, 'pro')],
  ['a subscription of basic', 'nothing', () => customer.bill(fromTenth, 'basic')],
])('what is known by a charge without a plan of ours is told, after %s: %s', async (_, stop, act) => {
  const other = anotherOf();
  await other.charge(months(1), 'of_another_app');
  await act();
  expect(await toldOf(other)).toBe(stop);
});

describe.each(['basic', 'pro'])('premium is replaced by %s', (tier) => {
  beforeEach(() => customer.bill(longCycle, 'premium'));

  test('for good, where of two cycles only the refunded payment is known', async () => {
    const newer = anotherOf();
    await newer.event('activated', '02-01', { planId: `plan_${tier}`, ...months(2) });
    await newer.charge(months(3), tier);
    const payment = { id: `pay_2026-03_${newer.gatewayId}`, amount: prices[tier] ?? 0 };
    await database.send(refundEvent(payment, payment.amount));
    await newer.event('cancelled', '03-06', { planId: `plan_${tier}` });
    expect(await toldOf()).toBe(atItsEnd);
  });

  test('until support ends it after a dispute that was lost in part', async () => {
    const bought = await customer.buy(tier, { at: '02-01' });
    await database.send(disputeEvent('lost', 'lost', paymentOf(bought), { amount_deducted: 1000 }));
    expect(await toldOf()).toBe(atItsEnd);
    await endAccess(database, bought.id);
    expect(await toldOf()).toBe('withdrawn');
  });
});

test.each(['captured', 'verified'])(
  'a second cancellation covers the mandate of an order that is %s after it',
  async (how) => {
    await customer.bill(longCycle, 'basic');
    await database.at('01-02');
    await customer.cancel('at the end');
    const order = await customer.order('pro', { at: '01-06', start: 'now' });
    const mandate = await changeToPro('now', order.id);
    // It was not paid within five days.
    await customer.event('updated', '01-12', { planId: 'plan_basic' });
    expect(await toldOf(mandate)).toBe('at cycle end 2026-01-12');
    await customer.cancel('at the end');
    await database.at('01-13');
    if (how === 'captured') await order.capture();
    else await order.verify();
    expect([await customer.tier(), await toldOf(mandate)]).toEqual(['pro', 'at cycle end 2027-01-04']);
  },
);
