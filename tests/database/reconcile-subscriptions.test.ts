import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { type Fields, seconds } from '../helpers/gateway/events.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { customerOf } from '../helpers/records/customer.ts';
import { insertSubscriptions } from '../helpers/records/records.ts';
import { months, type Period } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const [january, february, march, april] = [months(1), months(2), months(3), months(4)];

const customer = useCustomer(database);
// Its subscription is paid for January.
beforeEach(async () => {
  expect(await customer.event('activated', '01-01', { planId: 'plan_pro', ...january })).toBe('applied');
});

const claimAll = () => database.rpc('claim_subscriptions_to_reconcile');
const claim = async () => (await claimAll()).subscriptions;
const claimedAt = async (time: string) => {
  await database.at(time);
  return Object(await claim()).length;
};
/** Applies the gateway's answer about a cycle; null: it does not know the subscription. @returns whether it changed something */
async function apply(status: string | null, { start, end }: Period = january, fields: Fields = {}, of = customer) {
  const cycle = { current_start: seconds(start), current_end: seconds(end), plan_id: 'plan_pro', notes: [] };
  return (await of.reconcile(status === null ? null : { status, ...cycle, ...fields })).applied;
}
const { expire } = database;
const state = () => customer.state();

describe('a gateway subscription is reconciled', () => {
  test('from a day before its period ends, every six hours; again after its lease of five minutes expired', async () => {
    expect(await claimedAt('2026-01-30T23:59:59Z')).toBe(0);
    await database.at('01-31');
    const { id } = await database.one('select id from billing.gateway_subscriptions');
    expect(await claim()).toEqual([{ id, gateway_subscription_id: customer.gatewayId }]);
    await apply('active');
    const counts = [];
    for (const time of ['05:59:59', '06:00:00', '06:04:59', '06:05:00']) {
      counts.push(await claimedAt(`2026-01-31T${time}Z`));
    }
    expect(counts).toEqual([0, 1, 0, 1]);
  });

  test.each([
    ['its period', { status: 'active', paid_count: 1 }, 'pro: pro active to 2026-02-01'],
    ['that it has ended', { status: 'cancelled', ended_at: seconds('2026-01-02T00:00:00Z') }, 'free: pro cancelled'],
  ])('at once where a row by hand names it without an end: %s is read', async (_, { status, ...fields }, access) => {
    const imported = await database.customer();
    await database.at('01-02');
    await database.query(
      `insert into public.subscriptions (user_id, tier, plan_id, status, gateway_subscription_id)
       select $1, 'pro', p.id, 'active', $2 from public.plans p where p.tier = 'pro' and p.lookup_key is null`,
      [imported.id, imported.gatewayId],
    );
    expect(await claim()).toMatchObject([{ gateway_subscription_id: imported.gatewayId }]);
    expect(await apply(status, january, fields, imported)).toBe(true);
    const { tier, status: stored, current_period_end: end } = await imported.row();
    const until = end instanceof Date ? ` to ${end.toISOString().slice(0, 10)}` : '';
    expect(`${await imported.tier()}: ${tier} ${stored}${until}`).toBe(access);
  });

  test('not after the gateway cancelled it, and not if the gateway bills nothing', async () => {
    await customer.event('cancelled', '01-01');
    await (await database.customer()).buy('basic');
    expect(await claimedAt('02-01')).toBe(0);
  });

  test('also if its user is inserted after it was due', async () => {
    await database.query('delete from billing.gateway_subscriptions');
    const late = customerOf(database, { id: crypto.randomUUID(), email: 'asha@example.com' });
    await late.event('activated', '01-01', { planId: 'plan_pro', ...january });
    expect(await claimedAt('2026-01-31T06:00:00Z')).toBe(0);
    await database.query('insert into auth.users (id, email) values ($1, $2)', [late.id, late.email]);
    expect(await late.tier()).toBe('pro');
    await database.at('2026-02-01T06:00:00Z');
    expect(await claim()).toMatchObject([{ gateway_subscription_id: late.gatewayId }]);
  });

  test('in claims of 20 that count up to 200 renewed ones as settled', async () => {
    await insertSubscriptions(database, 230, "timestamptz '2026-02-01'");
    await database.query(
      `insert into billing.gateway_subscriptions
         (user_id, gateway_subscription_id, status, period_start, period_end, next_check_at, arrived_at)
       select user_id, 'sub_' || n, 'active', '2026-01-01Z',
         case when n > 200 then '2026-01-02Z' else '2026-03-01Z' end::timestamptz,
         timestamptz '2025-12-01' + make_interval(secs => n), '2026-01-01Z'
       from (select user_id, row_number() over () as n from public.subscriptions
             where gateway_subscription_id is null) s`,
    );
    expect(await claimAll()).toEqual({ settled: 200, subscriptions: [] });
    expect([Object(await claim()).length, Object(await claim()).length]).toEqual([20, 10]);
    expect(await claimAll()).toEqual({ settled: 0, subscriptions: [] });
  });
});

describe('a gateway subscription that did not get its charge is read', () => {
  const dueAt = async (time: string) => {
    await database.at(time);
    await database.query('update billing.gateway_subscriptions set next_check_at = billing.clock()');
  };
  const nextCheck = async () =>
    (await database.one('select next_check_at from billing.gateway_subscriptions')).next_check_at;

  test.each(['pending', 'halted', 'paused'])('while it is %s, after 17 days once a day', async (status) => {
    for (const time of ['2026-02-17T22:00:00Z', '2026-02-18T04:00:00Z', '2026-02-19T04:00:00Z']) {
      await dueAt(time);
      expect(await claim(), time).toHaveLength(1);
      await apply(status);
    }
    await dueAt('2026-02-19T12:00:00Z');
    expect(await claimAll()).toEqual({ settled: 1, subscriptions: [] });
    expect(await nextCheck()).toEqual(new Date('2026-02-20T04:00:00Z'));
    expect(await claimedAt('2026-02-20T04:00:00Z')).toBe(1);
  });

  test('while it is halted, also with a period that has not ended; not after it is complete', async () => {
    await apply('halted');
    await dueAt('01-01');
    expect(await claim()).toHaveLength(1);
    await database.at('2026-02-18T04:00:00Z');
    await apply('completed');
    await dueAt('2026-02-18T04:00:00Z');
    expect(await claimAll()).toEqual({ settled: 1, subscriptions: [] });
    expect(await nextCheck()).toBeNull();
  });
});

describe('an answer of the gateway', () => {
  test('with a new charge renews the period, once, and raises an alert if no webhook announced it', async () => {
    await database.at('02-01');
    expect(await apply('active', february)).toBe(true);
    expect(await customer.subscription()).toMatchObject({ start: february.start, end: february.end });
    expect(await state()).toBe('pro: pro active to 2026-03-01');
    expect(await alertsAbout(database, customer.gatewayId)).toEqual(['missed_webhook']);
    expect(await apply('active', february)).toBe(false);
    await customer.event('updated', '02-02');
  });

  test.each([
    ['active', false, 'pro'],
    ['pending', true, 'pro'],
    ['halted', true, 'pro'],
    ['completed', true, 'free'],
    ['paused', true, 'free'],
    ['cancelled', true, 'free'],
    ['expired', true, 'free'],
  ])('with the status %s and no new period changes something: %s, and leaves the tier %s', async (status, is, tier) => {
    await database.at('02-01');
    expect(await apply(status)).toBe(is);
    expect(await customer.tier()).toBe(tier);
    expect(await apply(status)).toBe(false);
  });

  test('that is active after a failed charge is no charge of that cycle without another paid cycle', async () => {
    await customer.charge(january, 'pro', { fields: { paid_count: 1 } });
    await database.at('02-02');
    await apply('pending', february, { paid_count: 1 });
    await apply('active', february, { paid_count: 1 });
    expect(await state()).toBe('pro: pro active to 2026-02-01');
    expect(await apply('active', february, { paid_count: 2 })).toBe(true);
    expect(await state()).toBe('pro: pro active to 2026-03-01');
  });

  test.each(['active', 'completed'])('that is %s pays a cycle of which a failed charge was known', async (status) => {
    const buyer = await database.customer();
    await buyer.buy('basic', { at: '01-01' });
    await buyer.event('pending', '02-01', { planId: 'plan_pro' });
    await database.at('02-02');
    expect(await apply(status, february, { paid_count: 1 }, buyer)).toBe(true);
    expect(await alertsAbout(database, buyer.gatewayId)).toEqual(['missed_webhook']);
    expect(await buyer.sources()).toContain('gateway_subscription pro to 2026-03-01');
  });

  test('that is active after a halt pays an unknown cycle only when more cycles are paid', async () => {
    const other = customerOf(database, customer);
    await other.event('halted', '02-01', { planId: 'plan_basic', fields: { paid_count: null } });
    await database.at('02-02');
    for (const [paid_count, tier] of [[1, 'pro'], [2, 'basic']]) {
      await apply('active', february, { paid_count, plan_id: 'plan_basic' }, other);
      expect(await customer.tier()).toBe(tier);
    }
  });

  test('pays a cycle after a halt that alone is known: the halt told how many were paid', async () => {
    const other = customerOf(database, customer);
    await other.event('halted', '02-01', { planId: 'plan_basic', fields: { paid_count: 1 } });
    await database.at('02-02');
    await apply('active', february, { paid_count: 2, plan_id: 'plan_basic' }, other);
    expect(await other.sources()).toContain('gateway_subscription basic to 2026-03-01');
  });

  test.each(['webhook', 'answer'])(
    'of a new card is no charge where a lost one came before the halt, told by %s',
    async (by) => {
      await customer.charge(january, 'pro', { fields: { paid_count: 1 } });
      if (by === 'webhook') await customer.event('halted', '03-04', { planId: 'plan_pro', fields: { paid_count: 2 } });
      await database.at('03-05');
      if (by === 'answer') await apply('halted', march, { paid_count: 2 });
      await apply('active', march, { paid_count: 2 });
      expect(await customer.sources()).toEqual(['gateway_subscription pro to 2026-02-01']);
      await apply('active', march, { paid_count: 3 });
      expect(await state()).toBe('pro: pro active to 2026-04-01');
    },
  );

  test.each([[[]], [['pending']]])('after cycles that webhooks paid is no charge of the next: %j', async (before) => {
    for (const cycle of [january, february]) await customer.charge(cycle, 'pro');
    await apply('active', february, { paid_count: 2 });
    await database.at('03-02');
    for (const status of [...before, 'active']) await apply(status, march, { paid_count: 2 });
    expect(await state()).toBe('pro: pro active to 2026-03-01');
  });

  test('without the number of paid cycles gives no unpaid access after a halt, until a charge is known', async () => {
    await customer.event('halted', '02-04', { planId: 'plan_pro' });
    await database.at('02-05');
    for (const status of ['pending', 'paused', 'active']) await apply(status, february);
    expect(await customer.tier()).toBe('free');
    await customer.charge(march, 'pro');
    await database.at('04-01');
    expect(await apply('active', april)).toBe(true);
    expect(await state()).toBe('pro: pro active to 2026-05-01');
  });

  test.each(['active', 'pending', 'halted'])(
    'that is %s, read before the newest charge, is read again',
    async (status) => {
      await customer.charge(january, 'pro', { fields: { paid_count: 1 } });
      await customer.charge(february, 'pro', { fields: { paid_count: 2, charge_at: seconds(february.end) } });
      const before = await database.query('select * from billing.gateway_subscriptions');
      await database.at('2026-02-01T00:00:05Z');
      expect(await apply(status, january, { paid_count: 1, charge_at: seconds(january.end) })).toBe(false);
      expect(await database.query('select * from billing.gateway_subscriptions')).toEqual(before);
    },
  );

  test('that is pending renews the cycle before the one that failed', async () => {
    await database.at('03-01');
    expect(await apply('pending', march, { paid_count: 2 })).toBe(true);
    expect(await customer.subscription()).toMatchObject({ start: february.start, end: february.end });
    expect(await customer.tier()).toBe('pro');
  });
});

describe('expiry ends a subscription that the gateway bills', () => {
  test('never before a reconciliation, however long the period is over', async () => {
    expect(await expire('2027-01-01')).toBe(0);
    expect(await customer.tier()).toBe('pro');
  });

  test.each(['halted', 'pending', null])('after its grace days when the gateway answered %s', async (status) => {
    await claimedAt('2026-02-03T20:00:00Z');
    await apply(status);
    expect(await expire('2026-02-03T23:59:59Z')).toBe(0);
    expect(await expire('02-04')).toBe(1);
    expect(await customer.tier()).toBe('free');
  });

  test.each([
    ['from before the end of the period', '2026-01-31T12:00:00Z', '2026-02-01T12:00:00Z'],
    ['older than a day', '02-02', '02-10'],
  ])('not by an answer %s', async (_, answered, at) => {
    expect(await claimedAt(answered)).toBe(1);
    await apply('pending');
    expect(await expire(at)).toBe(0);
    expect(await customer.tier()).toBe('pro');
  });
});
