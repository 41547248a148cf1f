import { describe, expect, test } from 'vitest';
import { openRacers } from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { type Customer, customerOf, subscribe } from '../helpers/records/customer.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { day, months, type Period } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const january = months(1);
const planId = 'plan_pro';
const cancel = () => customer.cancel('at the end');
const resume = () => database.rpc('resume_subscription', customer.id);
const toldOf = (of = customer) => told(database, of.gatewayId);
const inTwoDays = 'at cycle end 2026-01-30';

const buy = () => customer.buy('basic', { at: '01-01' });

async function bill(cycle: Period = january, of = customer): Promise<void> {
  await of.event('activated', cycle.start, { planId, ...cycle });
}

describe('a cancellation at the period’s end', () => {
  test('that is repeated at the end writes nothing, and access ends with the period', async () => {
    await buy();
    await database.at('2026-01-31T23:30:00Z');
    expect(await cancel()).toMatchObject({ outcome: 'cancelled' });
    const cancelled = await readAllRows(database);
    await database.at('2026-01-31T23:59:59Z');
    expect(await cancel()).toMatchObject({ outcome: 'cancelled' });
    expect(await readAllRows(database)).toEqual(cancelled);
    await database.sweep();
    expect(await customer.tier()).toBe('basic');
    await database.sweep('02-01');
    expect(await customer.state()).toBe('free: basic cancelled to 2026-02-01');
    expect(await cancel()).toMatchObject({ outcome: 'subscription_not_found' });
  });

  test('that is repeated covers what was bought since', async () => {
    await buy();
    await cancel();
    await customer.buy('pro', { at: '01-02', start: 'after_current' });
    await cancel();
    await database.sweep('2027-02-01');
    expect(await customer.state()).toBe('free: pro cancelled to 2027-02-01');
  });

  test('that is repeated covers what was granted since: no days of grace follow it', async () => {
    await buy();
    await cancel();
    await database.at('01-02');
    await grantTier(database, customer.id, 'premium', day('02-20'));
    await cancel();
    expect(await customer.stateAt('2026-02-19T23:59:00Z')).toBe('premium: premium active to 2026-02-20');
    expect(await customer.stateAt('2026-02-20T00:01:00Z')).toBe('free: premium cancelled to 2026-02-20');
  });

  test('and its resumption move no period end, however often they alternate; repeated, a resumption writes nothing', async () => {
    await buy();
    const { revision: _revision, updated_at: _updatedAt, ...before } = await customer.row();
    for (const time of ['01-02', '01-03', '01-04']) {
      await database.at(time);
      await cancel();
      await resume();
    }
    expect(await customer.row()).toMatchObject(before);
    const resumed = await readAllRows(database);
    await database.at('01-11');
    await resume();
    expect(await readAllRows(database)).toEqual(resumed);
  });

  test('is due at the gateway 48 hours before, also after a purchase replaced the subscription and was refunded', async () => {
    await bill();
    await cancel();
    expect(await toldOf()).toBe(inTwoDays);
    const premium = await customer.buy('premium', { at: '01-20' });
    expect(await toldOf()).toBe(inTwoDays);
    await database.at('01-21');
    await premium.refund();
    expect(await customer.row()).toMatchObject({
      gateway_subscription_id: customer.gatewayId,
      cancel_at_period_end: true,
    });
    expect(await toldOf()).toBe(inTwoDays);
  });

  test.each<[string, (other: Customer) => Promise<unknown>]>([
    ['a subscription that is activated after the end', async (other) => {
      await customer.event('cancelled', '02-01', { planId });
      await bill(months(2), other);
    }],
    ['one that is activated before the end', (other) => bill({ start: day('01-20'), end: day('02-20') }, other)],
    ['a purchase', () => customer.buy('pro', { at: '01-20' })],
  ])('of one gateway subscription does not apply to %s', async (_, follow) => {
    await bill();
    await cancel();
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: true });
    await follow(customerOf(database, customer));
    const followed = await customer.row();
    expect(followed).toMatchObject({ status: 'active', tier: 'pro', cancel_at_period_end: false, ended_reason: null });
    expect(followed.gateway_subscription_id).not.toBe(customer.gatewayId);
  });
});

describe('a cancellation at the period’s end covers', () => {
  const next = async () => Object((await database.rpc('get_subscription', customer.id)).billing).next_charge_at;

  test('a subscription below a grant; a resumption withdraws that, unless the gateway has it', async () => {
    await bill();
    await database.at('01-02');
    await grantTier(database, customer.id, 'premium', day('01-20'));
    expect(await customer.tier()).toBe('premium');
    await cancel();
    expect(await toldOf()).toBe(inTwoDays);
    expect(await next()).toBeNull();
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect(await toldOf()).toBe('withdrawn');
    await cancel();
    await database.sweep('01-25');
    expect(await customer.state()).toBe('pro: pro active to 2026-02-01');
    expect(await toldOf()).toBe(inTwoDays);
    await attempt(database, customer.gatewayId);
    expect(await resume()).toEqual({ outcome: 'cannot_be_resumed' });
    expect(await toldOf()).toBe(inTwoDays);
    await customer.event('cancelled', '01-30', { planId });
    expect(await resume()).toEqual({ outcome: 'cannot_be_resumed' });
  });

  test('a charge that fails below a grant: it cannot be resumed after the gateway confirmed that, a later purchase can', async () => {
    await bill();
    await grantTier(database, customer.id, 'premium', day('03-20'));
    await customer.event('pending', '2026-02-01T01:00:00Z', { planId });
    await cancel();
    await attempt(database, customer.gatewayId);
    await customer.event('cancelled', '2026-02-01T02:00:00Z', { planId });
    expect(await resume()).toEqual({ outcome: 'cannot_be_resumed' });
    await customer.buy('basic', { at: '02-02' });
    await cancel();
    expect(await resume()).toMatchObject({ outcome: 'resumed', subscription: { cancel_at_period_end: false } });
  });

  test.each([
    ['a grant', () => grantTier(database, customer.id, 'premium', day('01-20'))],
    ['a later, shorter purchase', () => customer.buy('premium', { at: '01-02' })],
  ])('a purchase below %s: no days of grace follow it', async (_, give) => {
    await database.query("update public.plans set duration_months = 1 where tier = 'premium'");
    await customer.buy('pro', { at: '2026-01-01' });
    await database.query("update public.payments set period_end = '2026-03-01Z'");
    await database.at('01-02');
    await give();
    expect(await customer.tier()).toBe('premium');
    await cancel();
    expect(await customer.stateAt('2026-02-28T23:00:00Z')).toBe('pro: pro active to 2026-03-01');
    expect(await customer.stateAt('2026-03-01T00:01:00Z')).toBe('free: pro cancelled to 2026-03-01');
    await database.query("update public.plans set duration_months = 12 where tier = 'premium'");
  });

  test('a subscription below a row that was written by hand', async () => {
    await bill();
    await database.at('01-02');
    const row = "tier = 'premium', gateway_subscription_id = null, current_period_end = '2026-01-20Z'";
    await database.query(`update public.subscriptions set ${row}`);
    await cancel();
    expect(await toldOf()).toBe(inTwoDays);
  });

  test('a page that is open, and nothing that the customer starts later', async () => {
    await bill();
    const open = async (time: string) => {
      await database.at(time);
      return await subscribe(database, customer, 'premium');
    };
    const before = await open('2026-01-02T10:00:00Z');
    await database.at('2026-01-02T10:01:00Z');
    await cancel();
    expect(await toldOf(before)).toMatch(/2026-01-02T10:01:00.000Z$/);
    const after = await open('2026-01-02T10:02:00Z');
    await after.event('activated', '2026-01-02T10:03:00Z', { planId: 'plan_premium', ...january });
    expect(await toldOf(after)).toBe('nothing');
  });
});

describe('a cancellation at once', () => {
  test('ends every source, and is final at the gateway', async () => {
    await customer.buy('premium', { at: '2025-12-01' });
    await bill();
    await database.at('01-10');
    await grantTier(database, customer.id, 'premium', '2027-01-01Z');
    expect(await customer.tier()).toBe('premium');

    await customer.cancel('at once');
    expect(await customer.state()).toMatch(/^free: premium cancelled/);
    expect(await toldOf()).toBe('at once 2026-01-10');
    const ended = await customer.row();
    expect(ended).toMatchObject({ ended_reason: 'cancelled' });
    await customer.event('cancelled', '01-10', { planId, createdAt: '2026-01-10T00:00:05Z' });
    await database.sweep();
    expect(await customer.row()).toEqual(ended);
    expect(await customer.tier()).toBe('free');
    expect(await customer.findings()).toEqual([]);
  });

  test('shows what it ended, and nothing below or after that, also once the gateway has cancelled', async () => {
    const below = customerOf(database, customer, uniqueId('sub'));
    await below.event('activated', '01-01', { planId: 'plan_basic', ...january });
    await bill({ start: '2026-01-02', end: '2026-02-02' });
    await customer.buy('premium', { at: '01-05', start: 'after_current' });
    await database.at('01-10');
    await customer.cancel('at once');
    const ended = await customer.row();
    expect(await customer.state()).toBe('free: pro cancelled to 2026-02-02');
    await customer.event('cancelled', '01-10', { planId, createdAt: '2026-01-10T00:00:05Z' });
    await below.event('cancelled', '01-12', { planId: 'plan_basic' });
    await database.sweep();
    expect(await customer.row()).toEqual(ended);
  });

  test.each(['activated', 'charged'] as const)('also ends what was %s before and is known later', async (name) => {
    await buy();
    await database.at('01-10');
    await customer.cancel('at once');
    await customer.event(name, '2026-01-10T00:00:05Z', { planId, createdAt: day('01-09'), ...january });
    expect(await customer.tier()).toBe('free');
    await customer.charge(months(2), 'pro');
    expect(await customer.state()).toBe('pro: pro active to 2026-03-01');
  });

  test.each(['authenticated', 'activated'] as const)('covers nothing that is %s later', async (name) => {
    await bill();
    await database.at('01-10');
    await customer.cancel('at once');
    const later = customerOf(database, customer);
    await later.event(name, '01-20', { planId });
    await later.event('activated', '02-01', { planId, ...months(2) });
    await later.charge(months(2), 'pro');
    expect(await toldOf(later)).toBe('nothing');
    await database.sweep('02-20');
    expect([await toldOf(later), await customer.state()]).toEqual(['nothing', 'pro: pro active to 2026-03-01']);
    await cancel();
    expect(await customer.findings()).toEqual([]);
  });

  test('is sent although a message for the end of the cycle is under way', async () => {
    const claim = async () => Object(await database.rpc('claim_outbox', 'gateway'));
    const gateway_subscription_id = customer.gatewayId;
    await bill();
    await cancel();
    await database.at('01-30');
    const { token, rows: [message] } = await claim();
    expect(message.payload).toEqual({ gateway_subscription_id, at_cycle_end: true });
    await customer.cancel('at once');
    expect(await database.rpc('complete_outbox', token, String(message.id))).toEqual({ completed: 0 });
    expect((await claim()).rows).toMatchObject([{ payload: { gateway_subscription_id, at_cycle_end: false } }]);
  });
});

describe.each([['at once', false], ['at the end', true]] as const)(
  'a cancellation %s whose transaction began before',
  (_, atEnd) => {
    const acts = {
      async 'a first cycle'() {
        const [start, end] = [0, 30].map((days) =>
          new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, '')
        );
        const of = { userId: customer.id, id: customer.gatewayId, planId, createdAt: start!, start: start!, end: end! };
        await database.send(subscriptionEvent({ name: 'activated', ...of }));
        const payment = { id: uniqueId('pay'), amount: 99900 };
        await database.send(subscriptionEvent({ name: 'charged', ...of, payment, fields: { paid_count: 1 } }));
      },
      async 'a request'() {
        const { id } = await database.rpc('create_subscription', customer.id, 'pro');
        await database.rpc('store_subscription', id, customer.gatewayId, 'https://gateway.example/s/1');
      },
      async 'a request that the gateway has not answered'() {
        await customer.buy('basic');
        const { id } = await database.rpc('create_subscription', customer.id, 'pro');
        return () => database.rpc('store_subscription', id, customer.gatewayId, 'https://gateway.example/s/1');
      },
    };
    test.each(Object.entries(acts))('%s, and got the lock after it, covers it', async (_, act) => {
      await database.at(null);
      const [cancelling] = await openRacers(database, 1);
      await cancelling!.query('begin');
      await cancelling!.query('select now()');
      const later = await act();
      expect(await callRpc(cancelling!, 'cancel_subscription', customer.id, atEnd)).toMatchObject({
        outcome: 'cancelled',
      });
      await cancelling!.query('commit');
      await later?.();
      expect(await toldOf()).toMatch(/^at (once|cycle end)/);
      expect(await customer.findings()).toEqual([]);
    });
  },
);
