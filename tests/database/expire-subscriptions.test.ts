import { afterEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, type RefundFields, seconds } from '../helpers/gateway/events.ts';
import { customerOf } from '../helpers/records/customer.ts';
import { insertSubscriptions } from '../helpers/records/records.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';
import { day, months, type Period } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

/** A month of basic on 1 January: the period ends on 1 February, its grace on the 4th. */
const buy = (of = customer) => of.buy('basic', { at: '01-01' });

const { expire } = database;
async function tierAt(time: string): Promise<unknown> {
  await expire(time);
  return await customer.tier();
}
const change = async (fields: string) => {
  await database.at('01-02');
  await database.query(`update public.subscriptions set ${fields} where user_id = $1`, [customer.id]);
};
/** The moment before a day. */
const before = (date: string) => new Date(Number(new Date(day(date))) - 1).toISOString();
const lapsed = 'free: basic cancelled to 2026-02-01';
const afterGrace = '2026-02-04T00:00:00Z';

describe('access', () => {
  test('ends after the grace days: status, time, reason, profile, and one change of tier', async () => {
    const { paymentId } = await buy();
    expect(await expire('2026-02-01T00:00:01Z')).toBe(0);
    expect(await expire(before('02-04'))).toBe(0);
    expect(await customer.tier()).toBe('basic');
    expect(await expire(afterGrace)).toBe(1);
    expect(await expire(afterGrace)).toBe(0);
    expect(await customer.state()).toBe(lapsed);
    expect(await customer.row()).toMatchObject({
      ended_reason: 'lapsed',
      cancelled_at: new Date('2026-02-01T00:00:00Z'),
    });
    const history = 'select from_tier, to_tier, cause, reference from billing.tier_changes order by id';
    expect(await database.query(history)).toEqual([
      { from_tier: 'free', to_tier: 'basic', cause: 'payment', reference: paymentId },
      { from_tier: 'basic', to_tier: 'free', cause: 'expiry', reference: null },
    ]);
  });

  test.each<[string, string, () => Promise<unknown>]>([
    ['of a plan without grace days ends with the period', '02-01', () => database.setPlan('basic', 'grace_days = 0')],
    ['has the grace days of its plan', '02-11', () => database.setPlan('basic', 'grace_days = 10')],
    ['without a plan has three grace days', '02-04', () => change('plan_id = null')],
    ['cancelled for the end of its period has no grace', '02-01', () => change('cancel_at_period_end = true')],
  ])('%s: %s', async (_, last, prepare) => {
    await buy();
    await prepare();
    expect(await expire(before(last))).toBe(0);
    expect(await expire(last)).toBe(1);
  });

  test.each([
    ['billed by the gateway', "gateway_subscription_id = 'sub_billed'"],
    ['cancelled already', "status = 'cancelled', ended_reason = 'refunded'"],
    ['without an end', 'current_period_end = null'],
  ])('that is %s does not change', async (_, fields) => {
    await buy();
    await change(fields);
    const { due_at: _due, ...row } = await customer.row();
    expect(await expire('2027-01-01')).toBe(0);
    expect(await customer.row()).toMatchObject(row);
    expect(await customer.tier()).toBe('basic');
  });

  test('ends at once when its plan’s days of grace become fewer, and not before they are over when they become more', async () => {
    await buy();
    await database.sweep('02-02');
    await database.setPlan('basic', 'grace_days = 10');
    await database.sweep('02-10');
    expect(await customer.tier()).toBe('basic');
    await database.setPlan('basic', 'grace_days = 1');
    await database.sweep();
    expect(await customer.state()).toBe(lapsed);
  });

  test('that lapsed runs again where its plan’s days of grace become more and are not over', async () => {
    await buy();
    await database.sweep('02-06');
    expect(await customer.state()).toBe(lapsed);
    await database.setPlan('basic', 'grace_days = 5');
    await database.sweep();
    expect(await customer.state()).toBe(lapsed);
    await database.setPlan('basic', 'grace_days = 10');
    await database.sweep();
    expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
    await database.sweep('02-11');
    expect(await customer.state()).toBe(lapsed);
  });

  test('that the gateway renews is looked at once a period, and the renewal writes no column of an index', async () => {
    const cycles = [months(1), months(2), months(3)] as const;
    await customer.event('activated', '01-01', { planId: 'plan_basic', ...cycles[0] });
    await customer.charge(cycles[0], 'basic');
    await database.sweep('01-02');
    const before = await customer.row();
    expect(before.due_at).toEqual(new Date('2026-02-01T01:00:00Z'));
    await customer.charge(cycles[1], 'basic');
    const after = await customer.row();
    const written = Object.keys(after).filter((name) => String(after[name]) !== String(before[name]));
    expect(written).toContain('current_period_end');
    const indexed = await database.query(
      `select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
       where i.indrelid = 'public.subscriptions'::regclass`,
    );
    expect(indexed.filter(({ name }) => written.includes(String(name)))).toEqual([]);
    await database.sweep('02-02');
    expect((await customer.row()).due_at).toEqual(new Date('2026-03-01T01:00:00Z'));
    await database.sweep('03-04');
    expect(await customer.state()).toBe('basic: basic active to 2026-03-01');
  });

  test.each(['completed', 'paused'] as const)('that is %s right after a charge ends with its cycle', async (status) => {
    await customer.event('activated', '01-01', { planId: 'plan_basic', ...months(1) });
    for (const cycle of [months(1), months(2)]) await customer.charge(cycle, 'basic');
    await customer.event(status, '2026-02-01T00:00:30Z', { planId: 'plan_basic', ...months(2) });
    await database.sweep('2026-02-01T01:00:00Z');
    // That end is announced.
    expect((await customer.row()).due_at).toEqual(new Date(day('02-22')));
    for (const time of ['02-22', '03-01']) await database.sweep(time);
    const mails = (await customer.mails()).filter((mail) => mail.startsWith('subscription-en'));
    expect(mails.map((mail) => mail.split('/')[0])).toEqual(['subscription-ending', 'subscription-ended']);
    expect(await customer.state()).toBe('free: basic cancelled to 2026-03-01');
  });

  test('that nothing gives any more is noted before its end, not left for ever', async () => {
    await database.at('01-01');
    await insertSubscriptions(database, 1, "timestamptz '2026-02-01'");
    await database.query('delete from billing.manual_subscriptions');
    await database.query('update public.subscriptions set revision = 1, due_at = billing.clock()');
    await database.sweep();
    expect(await database.query("select detail from billing.marks where kind = 'settle_failure'")).toEqual([
      { detail: 'PS500' },
    ]);
    expect(await database.query('select from public.subscriptions where due_at is null')).toEqual([]);
  });

  test('ends in batches of 50: 125 take three, the earliest end first', async () => {
    await insertSubscriptions(database, 125, "timestamptz '2026-01-01' + make_interval(secs => n)");
    expect(await expire('02-01')).toBe(50);
    const left = await database.one(
      `select count(*) filter (where status = 'active')::int as count, min(current_period_end)
         filter (where status = 'active') > max(current_period_end) filter (where status <> 'active') as are_later
       from public.subscriptions`,
    );
    expect(left).toEqual({ count: 75, are_later: true });
    expect([await expire('02-01'), await expire('02-01'), await expire('02-01')]).toEqual([50, 25, 0]);
    const others = "select from public.profiles where subscription_tier <> 'free' and user_id <> $1";
    expect(await database.query(others, [customer.id])).toEqual([]);
  });
});

test.each([
  ['restores access after a lapse', 'lapsed', '04-01', 'active', null],
  ['restores access for the days of grace that are left', 'lapsed', '2026-02-26T00:00:01Z', 'active', null],
  ['restores nothing if its days of grace are over', 'lapsed', '02-26', 'cancelled', 'lapsed'],
  ['restores nothing after a refund', 'refunded', '04-01', 'cancelled', 'refunded'],
  ['restores nothing after a cancellation', 'cancelled', '04-01', 'cancelled', 'cancelled'],
  ['restores nothing after an end without a reason', null, '04-01', 'cancelled', null],
])('subscription.charged after the end %s', async (_, ended, end, status, ended_reason) => {
  await buy();
  await expire('03-01');
  if (ended !== 'lapsed') await database.query('update public.subscriptions set ended_reason = $1', [ended]);
  expect(await customer.event('charged', '03-01', { start: day('02-01'), end: day(end) })).toBe('applied');
  expect(await customer.row()).toMatchObject({ status, ended_reason });
  expect(await customer.tier()).toBe(status === 'active' ? 'basic' : 'free');
});

describe('a full refund', () => {
  const bill = async () => {
    await customer.bill(months(1), 'pro');
  };
  const refundCycle = (status: RefundFields['status'] = 'processed') => {
    const id = `pay_2026-01_${customer.gatewayId}`;
    return database.send(refundEvent({ id }, 99900, { id: `rfnd_of_${id}`, status, createdAt: afterGrace }));
  };
  const saysOfEnd = () =>
    database.one(
      `select c.why, s.ended_reason, s.cancelled_at, billing.shown_grace_end(s) as access_ends_at
       from billing.customers c join public.subscriptions s using (user_id) where c.user_id = $1`,
      [customer.id],
    );

  test.each<[string, string, () => Promise<() => Promise<unknown>>]>([
    ['a purchase that lapsed', 'lapsed', async () => {
      const basic = await buy();
      await expire(afterGrace);
      return () => basic.refund(4900, { createdAt: afterGrace });
    }],
    ['a subscription that lapsed', 'lapsed', async () => {
      await bill();
      await customer.event('halted', '02-01', { planId: 'plan_pro', ...months(2) });
      await expire(afterGrace);
      return refundCycle;
    }],
    ['what was cancelled at once', 'cancelled', async () => {
      await bill();
      await customer.cancel('at once');
      return refundCycle;
    }],
  ])('of %s has a mail of its own, and access ended as before: %s', async (_, reason, end) => {
    const refund = await end();
    const before = await saysOfEnd();
    expect(before).toMatchObject({ ended_reason: reason });
    expect(await refund()).toBe('applied');
    expect(await saysOfEnd()).toEqual(before);
    expect(await customer.mails()).toContainEqual(expect.stringMatching(/^payment-refunded/));
  });

  test('of a subscription that ended leaves it shown, above one that it had replaced', async () => {
    const basic = customerOf(database, customer);
    for (const name of ['activated', 'charged'] as const) {
      await basic.event(name, '01-01', { planId: 'plan_basic', ...months(1) });
    }
    const cycle = { start: day('01-10'), end: day('02-10') };
    for (const name of ['activated', 'charged'] as const) {
      const payment = { id: `pay_2026-01_${customer.gatewayId}`, amount: 99900 };
      await customer.event(name, '01-10', { planId: 'plan_pro', ...cycle, payment });
    }
    await basic.event('cancelled', '02-01', { planId: 'plan_basic', ...months(1) });
    await customer.cancel('at the end');
    await customer.event('cancelled', '02-10', { planId: 'plan_pro', ...cycle });
    await expire('02-11');
    const before = await saysOfEnd();
    expect(before).toMatchObject({ why: expect.stringContaining('pro'), cancelled_at: new Date(cycle.end) });
    expect(await refundCycle()).toBe('applied');
    expect(await saysOfEnd()).toEqual(before);
    expect(await customer.row()).toMatchObject({ tier: 'pro' });
  });

  describe('of another purchase says nothing of the end that is shown:', () => {
    /** A year of pro, for which a month of premium got credit: that lapsed. */
    const replace = async () => {
      await database.setPlan('premium', 'duration_months = 1');
      const pro = await customer.buy('pro', { at: '01-01' });
      const premium = await customer.buy('premium', { at: '01-05', start: 'now' });
      await expire('03-01');
      return { pro, premium };
    };

    test('of one that was replaced long before', async () => {
      const { pro } = await replace();
      const before = await saysOfEnd();
      expect(before).toMatchObject({ ended_reason: 'lapsed', why: expect.stringContaining('premium') });
      await pro.refund();
      expect(await saysOfEnd()).toEqual(before);
    });

    test('of one that had not begun', async () => {
      await database.at('01-01');
      const grant = await grantTier(database, customer.id, 'premium', day('07-01'));
      const basic = await customer.buy('basic', { at: '01-05', start: 'after_current' });
      await actAsOwner(database, { action: 'revoke_grant', reference: String(grant), reason: 'by mistake' });
      const before = await saysOfEnd();
      expect(before).toMatchObject({ ended_reason: 'revoked' });
      await database.at('03-01');
      await basic.refund();
      expect(await saysOfEnd()).toEqual(before);
    });

    test('also where that one is the last that ended then: its own reason is shown', async () => {
      const { pro, premium } = await replace();
      await pro.refund();
      await premium.refund();
      expect(await customer.row()).toMatchObject({ tier: 'pro', ended_reason: 'refunded' });
    });
  });

  test('that ended access is the reason also after a cancellation, until the refund fails', async () => {
    await bill();
    await refundCycle();
    const before = await saysOfEnd();
    expect(before).toMatchObject({ ended_reason: 'refunded' });
    await database.at('01-02');
    await customer.cancel('at once');
    await customer.event('cancelled', '01-02', { planId: 'plan_pro', ...months(1) });
    expect(await saysOfEnd()).toEqual(before);
    await refundCycle('failed');
    expect(await saysOfEnd()).toMatchObject({ ended_reason: 'cancelled' });
  });
});

test('what the gateway bills and the customer cancelled for its end shows that reason, before the gateway says so', async () => {
  await customer.bill(months(1), 'pro');
  await database.at('01-10');
  await customer.cancel('at the end');
  await database.sweep('2026-02-01T01:00:00Z');
  await database.at('2026-02-01T01:00:00Z');
  await customer.reconcile({ status: 'active', paid_count: 1, current_end: seconds('2026-02-01T00:00:00Z') });
  await database.sweep();
  const shown = { status: 'cancelled', ended_reason: 'cancelled', cancelled_at: new Date('2026-02-01Z') };
  expect(await customer.row()).toMatchObject(shown);
  await customer.event('cancelled', '02-02', { planId: 'plan_pro', ...months(1) });
  expect(await customer.row()).toMatchObject(shown);
});

describe('an attached gateway subscription, whose plan is no plan of ours,', () => {
  const cycle = { start: day('01-02'), end: day('02-02') };

  /** Attaches a subscription of this id to a purchase of basic for January. */
  async function attach(period: Partial<Period> = cycle, id: string | null = customer.gatewayId, planId?: string) {
    await buy();
    await customer.event('activated', '01-02', { id, createdAt: null, ...period, ...(planId && { planId }) });
    const end = period.end ? '2026-02-02' : '2026-02-01';
    expect(await customer.subscription()).toMatchObject({ gateway_subscription_id: id });
    expect(await customer.state()).toBe(`basic: basic active to ${end}`);
  }

  test.each([['ends after the grace days', '02-05'], ['that the user cancelled for its end has none', '02-02']])(
    '%s, after its reconciliation',
    async (_, end) => {
      await attach();
      if (end === '02-02') await customer.cancel('at the end');
      expect(await tierAt(`2026-${end}T00:00:00.001Z`)).toBe('basic');
      await database.at(`2026-${end}T00:00:11Z`);
      const period = { current_start: seconds(cycle.start), current_end: seconds(cycle.end) };
      await customer.reconcile({ status: 'completed', ...period });
      expect(await tierAt(`2026-${end}T00:00:12Z`)).toBe('free');
      expect(await customer.findings()).toEqual([]);
    },
  );

  test('whose events have no id cannot be reconciled and ends after the grace days', async () => {
    await attach(cycle, null);
    expect(await tierAt(before('02-05'))).toBe('basic');
    expect(await tierAt('02-05')).toBe('free');
    expect(await customer.findings()).toEqual([]);
  });

  test('with a charged cycle that is shorter than the purchase ends with the purchase, as the mail shows', async () => {
    await buy();
    await customer.event('charged', '01-02', { start: day('01-02'), end: day('01-20'), createdAt: null });
    expect(await tierAt('01-24')).toBe('basic');
    expect(await tierAt(afterGrace)).toBe('free');
    const ends = "select payload ->> 'ends_at' as at from billing.outbox where kind = 'subscription-ended'";
    expect(await database.query(ends)).toEqual([{ at: '2026-02-01T00:00:00.000Z' }]);
  });

  test.each(['plan_basic', 'plan_unknown'])('before its first cycle (%s) ends with the purchase', async (planId) => {
    await attach({}, customer.gatewayId, planId);
    expect(await tierAt(before('02-04'))).toBe('basic');
    expect(await tierAt(afterGrace)).toBe('free');
    expect(await customer.findings()).toEqual([]);
  });
});

describe('a user whose expiry fails', () => {
  /** A trigger of the app that raises an error for the profile of the customer. */
  async function refuse(sqlstate: string): Promise<void> {
    await database.query(`
      create or replace function public.refuse_user() returns trigger language plpgsql as $$
      begin
        if new.user_id = '${customer.id}' then raise exception 'refused' using errcode = '${sqlstate}'; end if;
        return new;
      end $$;
      create or replace trigger refuse_user before update on public.profiles
      for each row execute function public.refuse_user()`);
  }
  const allow = () => database.query('drop function if exists public.refuse_user cascade');
  afterEach(async () => {
    await allow();
    await database.query('truncate billing.marks');
  });

  test.each(['P0001', '23514', '55P03'])('with %s stops no other expiry', async (sqlstate) => {
    const others = [await database.customer(), await database.customer()];
    for (const one of [others[0], customer, others[1]]) await buy(one);
    await refuse(sqlstate);
    expect(await expire('02-05')).toBe(3);
    await allow();
    for (const other of others) expect(await other.state()).toBe(lapsed);
    expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
    expect(await customer.findings()).toContain(`expiry_failed ${customer.id}`);
    expect(await database.query("select key, detail, at from billing.marks where kind = 'settle_failure'"))
      .toEqual([{ key: customer.id, detail: sqlstate, at: new Date('2026-02-05T00:00:00Z') }]);
  });

  test('with a deadlock is no failure of its own: the next run takes the batch again', async () => {
    await buy();
    await refuse('40P01');
    await expect(expire('02-05')).rejects.toThrow('refused');
    expect(await database.query("select key from billing.marks where kind = 'settle_failure'")).toEqual([]);
    await allow();
    expect(await expire('02-05')).toBe(1);
    expect(await customer.state()).toBe(lapsed);
  });

  test('is tried again after an hour, and ended after the cause is fixed', async () => {
    await buy();
    await refuse('P0001');
    const looked = [];
    for (const time of ['00:00:00', '00:59:59', '01:00:00']) looked.push(await expire(`2026-02-05T${time}Z`));
    await allow();
    for (const time of ['01:59:59', '02:00:00']) looked.push(await expire(`2026-02-05T${time}Z`));
    expect(looked).toEqual([1, 0, 1, 0, 1]);
    expect(await customer.state()).toBe(lapsed);
    expect(await customer.findings()).toEqual([]);
  });
});

test('a purchase keeps the days of grace after which it ended, whatever is cancelled later', async () => {
  await buy();
  await expire(afterGrace);
  await customer.charge({ start: day('03-01'), end: day('04-01') }, 'pro');
  await database.at('03-10');
  await customer.cancel('at the end');
  expect(
    await database.query("select lapses_at from billing.sources where kind = 'payment' and user_id = $1", [
      customer.id,
    ]),
  ).toContainEqual({ lapses_at: new Date(afterGrace) });
});
