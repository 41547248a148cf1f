import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { seconds, type SubscriptionEvent } from '../helpers/gateway/events.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { askChange, type Customer, customerOf } from '../helpers/records/customer.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

// Reconciliation learns what no webhook announced, unless a test that ran later delivers one.
const database = useDatabase({ isEmptied: true, findings: { missed_webhook: 'any' } });
/** A customer whose events are about the subscription that is changed. */
let customer: Customer;
beforeEach(async () => {
  customer = await database.customer();
});

type Name = SubscriptionEvent['name'];
const [june, july] = [months(6), months(7)];
const tooLate = { outcome: 'too_late', possible_from: '2026-07-01T00:00:00.000Z' };

/** Charges the customer for June, 99.00, and sets the clock to 10 June. */
async function bill(tier = 'pro'): Promise<void> {
  await customer.event('activated', '06-01', { planId: `plan_${tier}`, ...june });
  await customer.charge(june, tier);
  await database.at('06-10');
}
const preview = (tier: string, when: string) => database.rpc('preview_change', customer.id, tier, when);
const create = (tier: string, when: string, paymentId: string | null = null) =>
  database.rpc('create_change', customer.id, tier, when, paymentId);

/** Makes the new subscription of a change, as the route does. */
const change = (tier: string, when: string, payment: string | null = null) =>
  askChange(database, customer, tier, when, { payment });
const authorise = (next: Customer, tier: string, chargeAt: string, time = '2026-06-10T00:01:00Z') =>
  next.event('authenticated', time, { planId: `plan_${tier}`, fields: { charge_at: seconds(day(chargeAt)) } });

/** On 10 June, a change from pro to basic for the end of June, which is authorised. */
async function downgrade(): Promise<Customer> {
  await bill();
  const next = await change('basic', 'period_end');
  await authorise(next, 'basic', '07-01');
  return next;
}

const toldOf = (of = customer) => told(database, of.gatewayId);
const beforeJuly = 'at cycle end 2026-06-29';
const cancel = () => customer.cancel('at the end');
const resume = () => database.rpc('resume_subscription', customer.id);
const billing = async () => Object((await database.rpc('get_subscription', customer.id)).billing);
const queued = (kind: string) => database.query('select key, payload from billing.outbox where kind = $1', [kind]);
async function tierAt(time: string): Promise<unknown> {
  await database.at(time);
  await database.query('select billing.settle_due()');
  return await customer.tier();
}

test.each<[string, () => Promise<unknown>]>([
  ['waits for its end', async () => {
    await bill('basic');
    await customer.buy('premium', { at: '06-11', start: 'after_current' });
  }],
  ['outlasts it', async () => {
    await customer.buy('premium', { at: '05-01' });
    await bill('basic');
  }],
])('a purchase that %s is not charged by a change once more', async (_, prepare) => {
  await prepare();
  expect(await preview('premium', 'period_end')).toEqual({ outcome: 'already_subscribed' });
  expect(await create('premium', 'period_end')).toEqual({ outcome: 'already_subscribed' });
  const { plans } = await database.rpc('list_plans_for_user', customer.id);
  const scenarios = (plans as { tier: string; scenario: string }[]).map(({ tier, scenario }) => `${tier} ${scenario}`);
  expect(scenarios).toEqual(
    ['free downgrade', 'basic current', 'pro upgrade', 'premium scheduled'].slice(-scenarios.length),
  );
  // It is another tier, and the customer's own choice.
  expect(await preview('pro', 'period_end')).toMatchObject({ outcome: 'change' });
});

describe('a change at the end of the period', () => {
  test('leaves no gap before the first charge, also if another event arrives after the gateway was told', async () => {
    await downgrade();
    await database.at('06-29');
    await attempt(database, customer.gatewayId);
    await customer.event('updated', '2026-06-29T00:01:00Z', { planId: 'plan_pro', fields: { status: 'active' } });
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: false });
    await customer.event('cancelled', '2026-07-01T00:00:01Z', { planId: 'plan_pro' });
    expect(await customer.tier()).toBe('pro');
  });

  test('keeps the tier until then, and gives the new one without a gap', async () => {
    await bill();
    const next = await change('basic', 'period_end');
    expect(await toldOf()).toBe('nothing');
    await authorise(next, 'basic', '07-01');
    expect([await toldOf(), await toldOf(next)]).toEqual([beforeJuly, 'nothing']);
    const billed = { gateway_subscription_id: next.gatewayId, next_charge_at: '2026-07-01T00:00:00+00:00' };
    expect(await billing()).toMatchObject(billed);
    await customer.event('cancelled', '2026-07-01T00:00:01Z', { planId: 'plan_pro' });
    expect(await tierAt('2026-07-01T00:00:01Z')).toBe('pro');
    expect(await tierAt('07-02')).toBe('pro');
    for (const name of ['charged', 'activated'] as const) {
      await next.event(name, '07-02', { planId: 'plan_basic', ...july });
    }
    expect(await customer.state()).toBe('basic: basic active to 2026-08-01');
    expect(await queued('subscription-ended')).toEqual([]);
  });

  test('is told at once where an early debit failed before the gateway was told: what is paid remains', async () => {
    await downgrade();
    await customer.event('pending', '2026-06-29T13:00:00Z', { planId: 'plan_pro' });
    expect(await toldOf()).toBe('at once 2026-06-29T13:00:00.000Z');
    await attempt(database, customer.gatewayId);
    await customer.event('cancelled', '2026-06-29T13:01:00Z', { planId: 'plan_pro' });
    expect(await tierAt('2026-06-30T23:59:59Z')).toBe('pro');
  });

  describe('that follows a cancellation', () => {
    let next: Customer;
    beforeEach(async () => {
      await bill();
      await cancel();
      await database.at('06-11');
      next = await change('basic', 'period_end');
      expect(await customer.row()).toMatchObject({ cancel_at_period_end: true });
      await authorise(next, 'basic', '07-01', '2026-06-11T00:01:00Z');
    });

    test('leaves no gap before the first charge', async () => {
      expect([await toldOf(), await toldOf(next)]).toEqual([beforeJuly, 'nothing']);
      await database.at('06-29');
      await attempt(database, customer.gatewayId);
      await next.event('pending', '2026-07-01T00:00:10Z', { planId: 'plan_basic' });
      await customer.event('cancelled', '2026-07-01T00:00:20Z', { planId: 'plan_pro' });
      expect(await tierAt('2026-07-03T23:59:59Z')).toBe('pro');
      expect(await queued('subscription-ended')).toEqual([]);
      expect(await tierAt('2026-07-04T00:00:01Z')).toBe('free');
    });

    test('replaces it, until the change is undone', async () => {
      expect(await customer.row()).toMatchObject({ cancel_at_period_end: false });
      expect(await create('pro', 'period_end')).toEqual({ outcome: 'undone' });
      expect(await customer.row()).toMatchObject({ cancel_at_period_end: true });
      expect([await toldOf(), await toldOf(next)]).toEqual([beforeJuly, expect.stringMatching(/^at cycle end/)]);
    });
  });

  test('is undone together with one that was asked for before it and never authorised', async () => {
    await bill();
    await change('premium', 'period_end');
    await database.at('2026-06-10T01:00:00Z');
    const next = await change('basic', 'period_end');
    await authorise(next, 'basic', '07-01', '2026-06-10T01:01:00Z');
    expect(await create('pro', 'period_end')).toEqual({ outcome: 'undone' });
    expect(await toldOf()).toBe('withdrawn');
    expect(await queued('change-undone')).toHaveLength(1);
  });

  test('that starts, and was read after the customer bought something else, is older than that', async () => {
    const next = await downgrade();
    const premium = customerOf(database, customer);
    await premium.event('authenticated', '2026-07-01T00:00:20Z', { planId: 'plan_premium' });
    // The clock of the gateway is ten minutes ahead.
    const cycle = { ...july, createdAt: '2026-07-01T00:10:00Z' };
    for (const each of [{ of: premium, tier: 'premium' }, { of: next, tier: 'basic' }]) {
      const planId = `plan_${each.tier}`;
      await each.of.event('activated', '2026-07-01T00:00:40Z', { ...cycle, planId });
      await each.of.event('charged', '2026-07-01T00:00:40Z', { ...cycle, planId, payment: { id: `pay_${each.tier}` } });
    }
    expect(await customer.state()).toBe('premium: premium active to 2026-08-01');
    expect([await toldOf(premium), await toldOf(next)]).toEqual(['nothing', 'at cycle end 2026-07-30']);
  });

  test('is refused to a tier off sale, and too late to cancel the next debit, with the time when it is possible', async () => {
    await bill();
    await database.setPlan('premium', 'is_active = false');
    expect(await preview('premium', 'period_end')).toEqual({ outcome: 'plan_not_found' });
    await database.at('2026-06-27T15:00:00Z');
    expect((await preview('basic', 'period_end')).change).toMatchObject({ starts_at: '2026-07-01T00:00:00.000Z' });
    await database.at('06-28');
    expect(await preview('basic', 'period_end')).toEqual(tooLate);
    expect(await create('basic', 'period_end')).toEqual(tooLate);
    expect(await preview('basic', 'now')).toMatchObject({ outcome: 'change' });
  });

  test.each([
    ['change back', 'at cycle end 2026-06-10T00:01:00.000Z'],
    ['cancellation at the gateway', 'nothing'],
  ])('is undone by a %s: the gateway is told about the new subscription: %s', async (by, toldOfNew) => {
    const next = await downgrade();
    for (const when of ['now', 'period_end']) {
      const undone = { change: { amount_due: 0, credit: 0, starts_at: '2026-07-01T00:00:00.000Z' } };
      expect(await preview('pro', when)).toMatchObject(undone);
    }
    if (by === 'change back') expect(await create('pro', 'period_end')).toEqual({ outcome: 'undone' });
    else await next.event('cancelled', '06-12', { planId: 'plan_basic' });
    expect([await toldOf(), await toldOf(next)]).toEqual(['withdrawn', toldOfNew]);
    const nextCharge = { at: '2026-07-01T00:00:00.000Z', amount: 99900, currency: 'INR' };
    expect(await queued('change-undone')).toMatchObject([{ payload: { plan_name: 'Pro', next_charge: nextCharge } }]);
    expect(await customer.state()).toBe('pro: pro active to 2026-07-01');
    await customer.charge(july, 'pro');
    expect(await customer.state()).toBe('pro: pro active to 2026-08-01');
  });

  test('remains where an answer from before its authorisation is applied after the time for that', async () => {
    await bill();
    const next = await change('basic', 'period_end');
    await authorise(next, 'basic', '07-01', '2026-06-10T23:59:59Z');
    await database.at('2026-06-11T00:00:01Z');
    const read = JSON.stringify({ id: next.gatewayId, status: 'created', paid_count: 0 });
    expect(await database.rpc('apply_gateway_subscription', next.asked.id, read)).toEqual({
      applied: false,
      lacks_payment: false,
    });
    await next.event('updated', '06-12', { planId: 'plan_basic', fields: { status: 'authenticated' } });
    expect([await toldOf(), await toldOf(next)]).toEqual([beforeJuly, 'nothing']);
  });

  test.each([['preview', preview], ['request', create]])(
    'cannot be undone once the gateway has cancelled what it replaces, which would not go on: %s',
    async (_, ask) => {
      await downgrade();
      await customer.event('cancelled', '06-12', { planId: 'plan_pro' });
      expect(await ask('pro', 'period_end')).toEqual(tooLate);
      expect((await billing()).next).toMatchObject({ tier: 'basic', undo_until: null });
      expect(await queued('change-undone')).toEqual([]);
    },
  );

  test('that is undone is cancelled once the gateway knows it again, under the key of its account', async () => {
    const next = await downgrade();
    expect(await create('pro', 'period_end')).toEqual({ outcome: 'undone' });
    const { token, rows: [{ id }] } = Object(await database.rpc('claim_outbox', 'gateway'));
    await database.rpc('confirm_stop', id, false, null, null);
    await database.rpc('fail_outbox', token, String(id), 'the gateway has no such subscription', true, null);
    expect(await toldOf(next)).toBe('withdrawn');
    const m = await database.one('select id from billing.gateway_subscriptions where gateway_subscription_id = $1', [
      next.gatewayId,
    ]);
    await database.rpc('apply_gateway_subscription', m.id, JSON.stringify({ status: 'authenticated', paid_count: 0 }));
    expect(await toldOf(next)).toMatch(/2026-06-10/);
  });

  test('is cancelled and resumed together with what runs', async () => {
    const next = await downgrade();
    await cancel();
    expect([await toldOf(), await toldOf(next)]).toEqual([beforeJuly, expect.stringMatching(/^at cycle end/)]);
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect([await toldOf(), await toldOf(next)]).toEqual([beforeJuly, 'withdrawn']);
  });

  test('that nobody authorised is cancelled at once, and what runs can be resumed until the gateway is told', async () => {
    await bill();
    const next = await change('basic', 'period_end');
    await cancel();
    await attempt(database, next.gatewayId);
    await next.event('cancelled', '2026-06-10T00:01:00Z', { planId: 'plan_basic' });
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect([await toldOf(), await customer.row()]).toEqual([
      'withdrawn',
      expect.objectContaining({ cancel_at_period_end: false }),
    ]);
  });

  test.each([true, false])(
    'that was undone and is charged all the same replaces nothing: that charge is the finding (activated first: %j)',
    async (isActivated) => {
      const next = await downgrade();
      expect(await create('pro', 'period_end')).toMatchObject({ outcome: 'undone' });
      // The gateway was not reached for two days, and debits early.
      const early = { planId: 'plan_basic', ...july, createdAt: '2026-06-29T12:00:00Z' };
      if (isActivated) await next.event('activated', early.createdAt, early);
      await next.charge(july, 'basic', early);
      expect(await toldOf()).toBe('withdrawn');
      await customer.charge(july, 'pro');
      expect(await customer.tier()).toBe('pro');
      expect(await customer.findings()).toEqual([
        expect.stringMatching(`^charged_after_cancellation .*${next.gatewayId}`),
      ]);
    },
  );

  test.each<[string, () => Promise<unknown>]>([
    ['a gift', () => grantTier(database, customer.id, 'premium', day('08-01'))],
    ['a row by hand', () =>
      database.query(
        `update public.subscriptions set tier = 'premium', current_period_end = '2026-08-01Z', gateway_subscription_id = null,
           plan_id = (select id from public.plans where tier = 'premium' and lookup_key is null) where user_id = $1`,
        [customer.id],
      )],
  ])('that is debited early under %s rules from its start, and not before', async (_, give) => {
    await bill();
    await give();
    await database.at('06-11');
    const next = await change('basic', 'period_end');
    await authorise(next, 'basic', '07-01', '2026-06-11T00:01:00Z');
    const payment = { id: `pay_${next.gatewayId}`, amount: 4900 };
    await next.event('charged', '2026-06-30T12:00:00Z', { planId: 'plan_basic', ...july, payment });
    await tierAt('2026-06-30T23:59:59Z');
    expect(await customer.row()).toMatchObject({ tier: 'premium' });
    expect(await tierAt('07-01')).toBe('basic');
    const changes = 'select cause, reference from billing.tier_changes where user_id = $1 order by id desc limit 1';
    expect(await database.query(changes, [customer.id])).toEqual([{
      cause: 'start of a period',
      reference: next.gatewayId,
    }]);
  });

  describe('that waits is read', () => {
    /** Reads the new subscription if it is due, with this status. @returns how many were due */
    async function read(time: string, status = 'authenticated'): Promise<number> {
      await database.at(time);
      const orders: { id: string }[] = Object(await database.rpc('claim_subscriptions_to_reconcile')).subscriptions;
      for (const { id } of orders) {
        await database.rpc('apply_gateway_subscription', id, JSON.stringify({ status, ended_at: seconds(time) }));
      }
      return orders.length;
    }

    test('once a day: one that the gateway ended without a webhook is not shown', async () => {
      await downgrade();
      expect(await read('2026-06-11T00:00:00Z')).toBe(1);
      expect(await read('2026-06-11T23:59:59Z')).toBe(0);
      expect((await billing()).next).toMatchObject({ tier: 'basic' });
      expect(await read('2026-06-12T00:00:00Z', 'cancelled')).toBe(1);
      expect((await billing()).next).toBeNull();
    });

    test('an hour before the gateway is told to stop the old one, which then goes on', async () => {
      const next = await downgrade();
      await read('2026-06-28T22:00:00Z');
      expect(await toldOf()).toBe(beforeJuly);
      expect(await read('2026-06-28T23:00:00Z', 'cancelled')).toBe(1);
      expect([await toldOf(), await toldOf(next)]).toEqual(['withdrawn', 'nothing']);
    });
  });

  test('gives way to a purchase that follows it', async () => {
    const next = await downgrade();
    await customer.buy('premium', { at: '06-12' });
    expect(await customer.tier()).toBe('premium');
    expect(await toldOf(next)).toMatch(/^at cycle end/);
    expect((await billing()).next).toBeNull();
  });

  test('and gives way to a purchase that begins then is not shown as the next one, until that is refunded', async () => {
    await downgrade();
    const shown = async () => {
      const { why } = await database.one('select why from billing.customers');
      const { plans } = Object(await database.rpc('list_plans_for_user', customer.id));
      const { scenario } = plans.find(({ tier }: { tier: string }) => tier === 'basic');
      return [Object((await billing()).next).tier, /Then (\w+) begins/.exec(String(why))?.[1], scenario];
    };
    expect(await shown()).toEqual(['basic', 'basic', 'scheduled']);
    const premium = await customer.buy('premium', { at: '06-12', start: 'after_current' });
    expect(await customer.tier()).toBe('pro');
    expect(await shown()).toEqual([undefined, undefined, 'downgrade']);
    await premium.refund();
    expect(await shown()).toEqual(['basic', 'basic', 'scheduled']);
  });
});

// From basic to pro on 16 June: half of June is credited, and a year of pro begins, so that the renewal is on 16 June 2027.
describe('a change now, with a credit', () => {
  const renewalDay = '2027-06-16';
  const beforeRenewal = 'at cycle end 2027-06-14';

  /** Orders the upgrade and makes its renewal, which is not authorised. */
  async function order() {
    await bill('basic');
    const pro = await customer.order('pro', { at: '06-16', start: 'now' });
    return { pro, renewal: await change('pro', 'now', pro.id) };
  }
  async function upgrade() {
    const { pro, renewal } = await order();
    await authorise(renewal, 'pro', renewalDay, '06-16');
    await pro.verify();
    return { pro, renewal };
  }
  const event = (of: Customer, name: Name, time: string, fields: Partial<SubscriptionEvent> = {}) =>
    of.event(name, time, { planId: 'plan_pro', ...fields });

  test('ends the old cycle when the order is paid, and the new subscription goes on after the period that was paid', async () => {
    const { pro, renewal } = await order();
    await authorise(renewal, 'pro', renewalDay, '06-16');
    expect(await customer.tier()).toBe('basic');
    await pro.verify();
    expect(await customer.state()).toBe('pro: pro active to 2027-06-16');
    expect([await toldOf(), await toldOf(renewal)]).toEqual([beforeJuly, 'nothing']);
    const next = { gateway_subscription_id: renewal.gatewayId, next_charge_at: '2027-06-16T00:00:00+00:00' };
    expect(await billing()).toMatchObject(next);
    expect(await database.one('select billing from billing.customers')).toEqual({ billing: 'billed' });
    await customer.event('cancelled', '07-01', { planId: 'plan_basic' });
    expect(await customer.tier()).toBe('pro');
    await event(renewal, 'activated', renewalDay, { start: day(renewalDay), end: day('2027-07-16') });
    expect(await customer.state()).toBe('pro: pro active to 2027-07-16');
  });

  test.each(['premium', 'basic'])(
    'is the newest act although its renewal was authorised before %s was bought',
    async (tier) => {
      const { pro, renewal } = await order();
      await authorise(renewal, 'pro', renewalDay, '06-16');
      await database.at('2026-06-16T00:05:00Z');
      await (await customer.order(tier, { at: '2026-06-16T00:05:00Z' })).verify();
      await database.query("update public.payments set period_end = '2028-01-01' where fulfilled_at is not null");
      await database.at('2026-06-16T00:10:00Z');
      await pro.verify();
      expect(await customer.tier()).toBe('pro');
      await event(renewal, 'activated', renewalDay, { start: day(renewalDay), end: day('2027-07-16') });
      expect(await customer.state()).toBe('pro: pro active to 2027-07-16');
    },
  );

  test('is not withdrawn by an older request for the end of the period that is authorised later', async () => {
    await bill('basic');
    const atEnd = await change('premium', 'period_end');
    const pro = await customer.order('pro', { at: '06-16', start: 'now' });
    const renewal = await change('pro', 'now', pro.id);
    await authorise(atEnd, 'premium', '07-01', '2026-06-16T00:01:00Z');
    expect(await toldOf(renewal)).toBe('nothing');
    await pro.verify();
    await authorise(renewal, 'pro', renewalDay, '2026-06-16T00:03:00Z');
    expect([await toldOf(atEnd), await toldOf(renewal)]).toEqual([expect.stringMatching(/^at cycle end/), 'nothing']);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a refund of the old cycle was asked for', () => {
      const reference = `pay_2026-06_${customer.gatewayId}`;
      return actAsOwner(database, { action: 'refund', reference, reason: 'by mistake' });
    }],
    ['the setting changed', () => database.set("credit = 'off'")],
  ])('is renewed after the ordered time, also where no credit is left when it is made: %s', async (_, act) => {
    await bill('basic');
    const pro = await customer.order('pro', { at: '06-16', start: 'now' });
    expect(pro.amount).toBeLessThan(99900);
    await act();
    expect(await create('pro', 'now', pro.id)).toMatchObject({
      outcome: 'created',
      start_at: seconds(day(renewalDay)),
    });
  });

  test.each(['capture', 'verify'] as const)(
    'whose order is paid three days later (%s) ends after the renewal would begin, so that is stopped',
    async (how) => {
      const { pro, renewal } = await order();
      await authorise(renewal, 'pro', renewalDay, '06-16');
      await database.at('06-19');
      await pro[how]();
      expect(await customer.state()).toBe('pro: pro active to 2027-06-19');
      expect(await toldOf(renewal)).toMatch(/^at cycle end/);
      expect(await preview('pro', 'period_end')).toMatchObject({ change: { starts_at: '2027-06-19T00:00:00.000Z' } });
    },
  );

  test.each(['authenticated', 'created'])(
    'of a user who was deleted since: a read of the renewal, %s, takes back no stop',
    async (status) => {
      const { renewal } = await upgrade();
      await database.at('06-20');
      await database.query('delete from auth.users where id = $1', [customer.id]);
      const atOnce = ['at once 2026-06-20', 'at once 2026-06-20'];
      expect([await toldOf(), await toldOf(renewal)]).toEqual(atOnce);
      const { id } = await database.one(
        'select id from billing.gateway_subscriptions where gateway_subscription_id = $1',
        [
          renewal.gatewayId,
        ],
      );
      await database.rpc('apply_gateway_subscription', id, JSON.stringify({ status }));
      await database.query('select billing.plan($1)', [customer.id]);
      expect([await toldOf(), await toldOf(renewal)]).toEqual(atOnce);
    },
  );

  test('that is cancelled for the end of the period, also below a grant: the renewal is cancelled, unless resumed', async () => {
    const { renewal } = await upgrade();
    await grantTier(database, customer.id, 'premium', day('06-20'));
    await cancel();
    expect([await toldOf(), await toldOf(renewal)]).toEqual([beforeJuly, beforeRenewal]);
    expect((await billing()).next_charge_at).toBeNull();
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    // The purchase replaced the old one.
    expect([await toldOf(), await toldOf(renewal)]).toEqual([beforeJuly, 'withdrawn']);
    const history = await database.query(
      `select what || ': ' || detail as text from billing.timeline
       where what in ('cancelled', 'resumed', 'change') order by at, rank, what`,
    );
    expect(history.map(({ text }) => text)).toEqual([
      'change: To pro from 16 Jun 2027.',
      'cancelled: By the customer, for the end of the period.',
      'resumed: By the customer.',
    ]);
  });

  test('whose renewal nobody authorised is resumed after the gateway was told to stop that, as any purchase', async () => {
    const { pro, renewal } = await order();
    await pro.verify();
    await cancel();
    await attempt(database, renewal.gatewayId);
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: false });
    // What was told is final: authorised by then, it ends before its start.
    await authorise(renewal, 'pro', renewalDay, '06-17');
    expect(await toldOf(renewal)).toMatch(/^at cycle end/);
  });

  test('whose renewal the gateway was told to stop cannot be resumed, but made again', async () => {
    const { renewal } = await upgrade();
    await cancel();
    await attempt(database, renewal.gatewayId);
    expect(await resume()).toEqual({ outcome: 'cannot_be_resumed' });
    expect(await toldOf(renewal)).toBe(beforeRenewal);
    expect((await billing()).next_charge_at).toBeNull();
    const terms = { order_start: null, is_billed: true, change: { starts_at: '2027-06-16T00:00:00.000Z' } };
    expect(await preview('pro', 'period_end')).toMatchObject({ outcome: 'change', ...terms });
    await database.at('06-17');
    const again = await change('pro', 'period_end');
    await authorise(again, 'pro', renewalDay, '2026-06-17T00:01:00Z');
    expect(await toldOf(again)).toBe('nothing');
    expect(await billing()).toMatchObject({ gateway_subscription_id: again.gatewayId });
  });

  test('whose order is never paid or refunded: the old one goes on, the new one is cancelled before it starts', async () => {
    const reconcile = async (time: string) => {
      await database.at(time);
      const [claimed] = Object((await database.rpc('claim_subscriptions_to_reconcile')).subscriptions);
      await database.rpc('apply_gateway_subscription', claimed.id, JSON.stringify({ status: 'authenticated' }));
    };
    const { renewal } = await order();
    await authorise(renewal, 'pro', renewalDay, '06-16');
    await reconcile('06-17');
    expect(await toldOf(renewal)).toBe('nothing');
    await reconcile('06-22');
    expect([await toldOf(), await toldOf(renewal)]).toEqual(['nothing', 'at cycle end 2026-06-22']);
    expect(await customer.state()).toBe('basic: basic active to 2026-07-01');

    customer = await database.customer();
    const paid = await upgrade();
    await paid.pro.refund();
    expect(await customer.state()).toBe('basic: basic active to 2026-07-01');
    await reconcile('06-22');
    expect(await toldOf(paid.renewal)).toMatch(/^at cycle end/);
  });

  test.each([[true, 'at cycle end'], [false, 'at once']])(
    'whose purchase is lost in a dispute: the renewal, authorised: %j, is stopped %s',
    async (isAuthorised, how) => {
      const { pro, renewal } = await order();
      if (isAuthorised) await authorise(renewal, 'pro', renewalDay, '06-16');
      await pro.verify();
      await database.at('06-20');
      await pro.dispute('lost');
      expect(await toldOf(renewal)).toBe(`${how} 2026-06-20`);
    },
  );

  describe('of a renewal that waits for its first charge, reconciliation learns', () => {
    const failed = '2027-06-16T02:00:00Z';

    /** Applies the gateway's answer about it, and returns when it is asked again. */
    async function learn({ gatewayId }: Customer, time: string, fields: Record<string, unknown>): Promise<unknown> {
      await database.at(time);
      const about = 'from billing.gateway_subscriptions where gateway_subscription_id = $1';
      const { id } = await database.one(`select id ${about}`, [gatewayId]);
      const answer = { gateway_subscription_id: gatewayId, plan_id: 'plan_pro', ...fields };
      await database.rpc('apply_gateway_subscription', id, JSON.stringify(answer));
      return (await database.one(`select next_check_at as at ${about}`, [gatewayId])).at;
    }

    test('a failed charge, sends its mail, and asks again', async () => {
      const { renewal } = await upgrade();
      const answer = { status: 'pending', paid_count: 0, charge_at: seconds(day('2027-06-17')) };
      expect(await learn(renewal, failed, answer)).toEqual(new Date('2027-06-16T03:00:00Z'));
      expect(await billing()).toMatchObject({ gateway_subscription_id: renewal.gatewayId, status: 'pending' });
      expect(await queued('payment-pending')).toHaveLength(1);
      expect(await toldOf(renewal)).toBe('nothing');
    });

    test('a failed charge after it was told to stop at the end of a cycle: it is stopped at once', async () => {
      const { renewal } = await upgrade();
      await cancel();
      await database.query(
        "update billing.outbox set attempts = 1, told_at = now(), delivered_at = now() where kind like 'cancel%'",
      );
      await learn(renewal, failed, { status: 'pending', paid_count: 0 });
      expect(await toldOf(renewal)).toBe('at once 2027-06-16T02:00:00.000Z');
    });
  });
});
