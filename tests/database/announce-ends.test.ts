import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { readOutbox } from '../helpers/records/read-records.ts';
import { insertSubscriptions } from '../helpers/records/records.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

/** A month of basic, bought on 1 January: the period ends on 1 February. */
const buy = (of = customer) => of.buy('basic', { at: '01-01' });

const notices = () => readOutbox(database, 'notice', customer.email);
const ends = async (kind: 'subscription-ending' | 'subscription-ended') =>
  (await notices()).filter((mail) => mail.kind === kind).map(({ payload }) => String(Object(payload).ends_at));

test('the mails about a row that was written by hand, without its plan, name the plan of its tier', async () => {
  await database.at('01-01');
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_end) values ($1, 'basic', 'active', '2026-02-01')`,
    [customer.id],
  );
  await database.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [customer.id]);
  for (const time of ['01-26', '03-01']) await database.sweep(time);
  expect((await notices()).map(({ kind, payload }) => [kind, Object(payload).plan_name])).toEqual([
    ['subscription-ending', 'Basic'],
    ['subscription-ended', 'Basic'],
  ]);
});

describe('the mail subscription-ending', () => {
  /** @returns the number of periods that were looked at */
  async function announce(time = '01-25'): Promise<unknown> {
    await database.at(time);
    return (await database.one('select billing.settle_due() as checked')).checked;
  }
  const change = async (fields: string) => {
    await database.at('01-02');
    await database.query(`update public.subscriptions set ${fields}`);
  };
  const february = '2026-02-01T00:00:00.000Z';

  test('is enqueued seven days before the paid period ends, once, with the data of that moment', async () => {
    await buy();
    await database.query("update public.profiles set display_name = 'Asha'");
    const { id } = await database.one('select id from public.subscriptions');
    expect(await announce('2026-01-24T23:59:59.999Z')).toBe(0);
    expect(await notices()).toEqual([]);
    await database.set("early_renewal = 'extend'");
    expect(await announce('01-25')).toBe(1);
    await database.set("early_renewal = 'replace'");
    expect(await announce('01-25')).toBe(0);
    expect(await announce('01-28')).toBe(0);
    const kind = 'subscription-ending';
    const data = { display_name: 'Asha', plan_name: 'Basic', ends_at: february, early_renewal: 'extend' };
    const payload = { to: customer.email, ...data };
    expect(await notices()).toEqual([{ key: `${kind}/${id}/${february}`, kind, payload }]);
  });

  test.each([
    ['the tier', true, false],
    ['the price', "lookup_key = 'basic_yearly'", undefined],
  ])(
    'of what is off sale (%s) does not invite to buy it again, where the whole plan is',
    async (_what, where, isOnSale) => {
      await buy();
      await database.query(`update public.plans set is_active = false where tier = 'basic' and ${where}`);
      await announce();
      expect((await notices()).map(({ payload }) => Object(payload).is_on_sale)).toEqual([isOnSale]);
    },
  );

  test.each([['2026-01-31T23:59:59Z', 1], ['02-01', 0]])('late, at %s, is enqueued: %i', async (time, count) => {
    await buy();
    await announce(time);
    expect(await notices()).toHaveLength(count);
  });

  test('after a renewal is enqueued again for the next period', async () => {
    await buy();
    await announce();
    await database.set("early_renewal = 'extend'");
    await customer.buy('basic');
    await announce('2026-02-21T23:59:59Z');
    expect(await ends('subscription-ending')).toEqual([february]);
    expect(await announce('02-22')).toBe(1);
    expect(await ends('subscription-ending')).toEqual([february, '2026-03-01T00:00:00.000Z']);
  });

  test.each([
    ['whose subscription the gateway renews', "gateway_subscription_id = 'sub_1'", 0],
    ['whose subscription the gateway ends', "gateway_subscription_id = 'sub_1', cancel_at_period_end = true", 1],
    ['who cancelled for the period’s end', 'cancel_at_period_end = true', 1],
    ['whose period was shorter than the notice', "current_period_start = '2026-01-25T00:00:00.001Z'", 0],
    ['whose period was as long as the notice', "current_period_start = '2026-01-25'", 1],
    ['whose period has no beginning', 'current_period_start = null', 1],
    ['whose subscription was cancelled', "status = 'cancelled'", 0],
  ])('a user %s (%s) gets this number of mails: %i', async (_, fields, count) => {
    await buy();
    await change(fields);
    await announce('2026-01-25T00:00:01Z');
    expect(await notices()).toHaveLength(count);
  });

  test('for a tier without a plan shows the tier as the plan’s name', async () => {
    await buy();
    await change("plan_id = null, tier = 'Team 5'");
    await announce();
    expect(await notices()).toMatchObject([{ payload: { plan_name: 'Team 5' } }]);
  });

  test('of many periods is enqueued in batches, and of each once', async () => {
    await insertSubscriptions(database, 125, "timestamptz '2026-01-31' + make_interval(secs => n / 100)");
    expect([await announce(), await announce(), await announce(), await announce()]).toEqual([50, 50, 25, 0]);
    expect(await database.one("select count(*)::int from billing.outbox where kind = 'subscription-ending'"))
      .toEqual({ count: 125 });
  });
});

describe('the mail subscription-ended', () => {
  const ended = () => ends('subscription-ended');
  const tenth = '2026-01-10T00:00:00.000Z';
  const cancelled = (time: string, planId?: string) => customer.event('cancelled', time, { ...(planId && { planId }) });
  const pro = { planId: 'plan_pro' };

  test.each<[string, () => Promise<unknown>]>([
    ['the gateway cancels', async () => {
      await customer.event('activated', '01-01', { ...months(1), ...pro });
      for (const time of ['01-10', '01-11']) await cancelled(time, 'plan_pro');
    }],
    ['the gateway cancels a subscription of an unknown plan', async () => {
      await customer.buy('pro', { at: '2025-12-31' });
      await customer.event('activated', '01-01', months(1));
      await cancelled('01-10');
    }],
    ['the payment is refunded in full', async () => {
      const order = await buy();
      await database.at('01-10');
      await order.refund();
    }],
  ])('is enqueued once when %s', async (_, end) => {
    await end();
    expect([await customer.tier(), await ended()]).toEqual(['free', [tenth]]);
    await database.sweep('03-01');
    expect(await ended()).toEqual([tenth]);
  });

  test('is not enqueued when the user cancels at once, which has a mail of its own', async () => {
    await buy();
    await database.at('01-10');
    await customer.cancel('at once');
    await cancelled('2026-01-10T00:00:05Z');
    await database.sweep('03-01');
    expect([await customer.tier(), await ended()]).toEqual(['free', []]);
  });

  test('is enqueued for each end of access', async () => {
    await customer.event('activated', '01-01', { ...months(1), ...pro });
    await cancelled('01-10', 'plan_pro');
    await customer.event('activated', '01-11', { ...months(1), ...pro });
    expect(await customer.tier()).toBe('pro');
    await cancelled('01-12', 'plan_pro');
    expect(await ended()).toEqual([tenth, '2026-01-12T00:00:00.000Z']);
  });

  test('is enqueued when the period lapses, once, with the key, recipient and data of that moment', async () => {
    await buy();
    await database.query("update public.profiles set display_name = 'Asha'");
    await database.sweep('2026-02-03T23:59:59Z');
    expect(await ended()).toEqual([]);
    await database.sweep('02-04');
    await database.sweep('2026-02-04T02:00:00Z');
    const { id } = await database.one('select id from public.subscriptions');
    const [kind, ends_at] = ['subscription-ended', '2026-02-01T00:00:00.000Z'];
    expect((await notices()).filter((mail) => mail.kind === kind)).toEqual([{
      key: `${kind}/${id}/${ends_at}`,
      kind,
      payload: {
        to: customer.email,
        display_name: 'Asha',
        plan_name: 'Basic',
        ends_at,
        access_ended_at: '2026-02-04T00:00:00.000Z',
      },
    }]);
  });

  test('is not enqueued when another source takes over: after a cancellation, a refund and a lapse, nor the other mail', async () => {
    await customer.buy('premium', { at: '2025-12-01' });
    await customer.event('activated', '01-01', { ...months(1), ...pro });
    await cancelled('01-10', 'plan_pro');
    await (await customer.buy('pro', { at: '01-11' })).refund();
    await customer.buy('basic', { at: '01-12' });
    for (const time of ['02-05', '2026-02-15T00:00:00.001Z']) await database.sweep(time);
    expect(await customer.tier()).toBe('premium');
    expect(await notices()).toEqual([]);
  });
});

test.each([
  ['without a profile', 'delete from public.profiles'],
  ['without an address', 'update auth.users set email = null'],
  ['with an empty address', "update auth.users set email = ''"],
])('a user %s gets neither mail', async (_, statement) => {
  await buy();
  await database.query(statement);
  await database.sweep('01-25');
  await database.sweep('03-01');
  expect(await customer.subscription()).toMatchObject({ status: 'cancelled' });
  expect(await database.query("select key from billing.outbox where kind like 'subscription-%'")).toEqual([]);
});
