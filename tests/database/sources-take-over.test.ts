import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { months, shortTime } from '../helpers/records/time.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

/** A year of pro from 1 January, replaced by a month of basic from 1 March: it ends on 1 April, its grace on the 4th. */
async function replaced(of = customer): Promise<CustomerOrder> {
  const pro = await of.buy('pro', { at: '01-01' });
  await of.buy('basic', { at: '03-01' });
  return pro;
}

const inPro = 'pro: pro active to 2027-01-01';
const inBasic = 'basic: basic active to 2026-04-01';

/** The mails about the end of a period, with its day. */
async function endMails(of = customer): Promise<string[]> {
  const keys = (await of.mails()).map((key) => key.split('/'));
  return keys.filter(([kind]) => kind?.startsWith('subscription-')).map(([kind, , end]) => `${kind} ${shortTime(end)}`);
}
const endPeriod = ({ id }: CustomerOrder, end: string) =>
  database.query('update public.payments set period_end = $2 where id = $1', [id, end]);
const lastChange = () =>
  database.query(
    'select from_tier, to_tier, cause, reference from billing.tier_changes where user_id = $1 order by id desc limit 1',
    [customer.id],
  );

describe('at the end of a period', () => {
  test('a longer replaced period takes over at once, without a mail, and ends after its own grace days, with its mail', async () => {
    await replaced();
    expect(await customer.stateAt('2026-03-31T23:59:59Z')).toBe(inBasic);
    expect(await customer.stateAt('04-01')).toBe(inPro);
    expect(await customer.subscription()).toEqual({
      tier: 'pro',
      status: 'active',
      plan_tier: 'pro',
      gateway_subscription_id: null,
      start: '2026-01-01T00:00:00.000Z',
      end: '2027-01-01T00:00:00.000Z',
    });
    expect(await lastChange()).toEqual([{ from_tier: 'basic', to_tier: 'pro', cause: 'expiry', reference: null }]);
    expect(await endMails()).toEqual([]);
    expect(await customer.stateAt('2027-01-03T23:59:59Z')).toBe(inPro);
    expect(await customer.stateAt('2027-01-04')).toBe('free: pro cancelled to 2027-01-01');
    expect(await endMails()).toEqual(['subscription-ended 2027-01-01']);
  });

  test('also at once where that was the last cycle that the gateway charges', async () => {
    await customer.buy('pro', { at: '01-01' });
    await customer.bill(months(2), 'basic');
    await customer.charge(months(3), 'basic');
    await customer.event('completed', '2026-03-01T00:00:30Z', { planId: 'plan_basic', ...months(3) });
    await database.sweep('2026-03-01T01:00:00Z');
    expect(await customer.state()).toBe(inBasic);
    await database.sweep('04-01');
    expect(await customer.state()).toBe(inPro);
  });

  test('a period whose grace still runs takes over until its grace ends; one that ends within a week is announced', async () => {
    const pro = await replaced();
    await endPeriod(pro, '2026-04-03Z');
    expect(await customer.stateAt('04-05')).toBe('pro: pro active to 2026-04-03');
    expect(await customer.stateAt('2026-04-05T23:59:59Z')).toBe('pro: pro active to 2026-04-03');
    expect(await customer.stateAt('04-06')).toBe('free: pro cancelled to 2026-04-03');
    expect(await endMails()).toEqual(['subscription-ended 2026-04-03']);

    const other = await database.customer();
    await endPeriod(await replaced(other), '2026-04-09Z');
    await other.stateAt('04-05');
    expect(await endMails(other)).toEqual(['subscription-ending 2026-04-09']);
  });

  test.each<[string, string, (pro: CustomerOrder) => Promise<unknown>]>([
    ['was refunded in full', '2026-04-01', (pro) => pro.refund()],
    // Its period ended last, so its end is the end of access, also when the sweep ran late.
    ['is over with its grace', '2026-04-02', (pro) => endPeriod(pro, '2026-04-02Z')],
    ['belongs to another user', '2026-04-01', async (pro) => {
      const { id } = await database.customer();
      await database.query('update public.payments set user_id = $2 where id = $1', [pro.id, id]);
    }],
  ])('a payment that %s does not take over', async (_, end, change) => {
    await change(await replaced());
    expect(await customer.stateAt('2026-04-05T00:00:00.001Z')).toMatch(/^free: (basic|pro) cancelled/);
    expect(await endMails()).toEqual([`subscription-ended ${end}`]);
  });

  test('a payment takes over at the end of a period that the user cancelled, and has no days of grace', async () => {
    await replaced();
    await customer.cancel('at the end');
    expect(await customer.stateAt('2026-04-01T00:00:00.001Z')).toBe(inPro);
    expect(await database.one('select cancel_at_period_end as ends from public.subscriptions')).toEqual({
      ends: false,
    });
    expect(await customer.stateAt('2026-12-31T23:59:59Z')).toBe(inPro);
    expect(await customer.stateAt('2027-01-01T00:00:00.001Z')).toBe('free: pro cancelled to 2027-01-01');
  });

  test('of a row by hand is not the last one where what was bought before runs longer', async () => {
    await database.setPlan('premium', 'duration_months = 2');
    await customer.buy('premium', { at: '01-01' });
    await database.at('01-10');
    await database.query(
      `update public.subscriptions set current_period_end = '2026-02-10Z', tier = 'basic',
         plan_id = (select id from public.plans where tier = 'basic' and lookup_key is null) where user_id = $1`,
      [customer.id],
    );
    for (
      const [time, state] of [
        ['02-09', 'basic active to 2026-02-10'],
        ['02-10', 'premium active to 2026-03-01'],
        ['02-23', 'premium active to 2026-03-01'],
        ['03-04', 'premium cancelled to 2026-03-01'],
        ['03-10', 'premium cancelled to 2026-03-01'],
      ] as const
    ) {
      expect((await customer.stateAt(time)).split(': ')[1]).toBe(state);
    }
    expect(await endMails()).toEqual(['subscription-ending 2026-03-01', 'subscription-ended 2026-03-01']);
  });
});

describe('a grant', () => {
  const grant = (until = '2026-06-01Z') => grantTier(database, customer.id, 'premium', until);
  const revoke = (reference: string) => actAsOwner(database, { action: 'revoke_grant', reference });
  const inGrant = 'premium: premium active to 2026-06-01';
  const reason = async () => (await database.one('select ended_reason as reason from public.subscriptions')).reason;
  beforeEach(() => database.at('01-01'));

  test('rules again after a newer purchase was refunded or ended, until its own end', async () => {
    await grant();
    const pro = await customer.buy('pro');
    expect(await customer.state()).toBe(inPro);
    await pro.refund();
    expect(await customer.state()).toBe(inGrant);
    expect(await reason()).toBeNull();
    await customer.buy('basic', { at: '01-10' });
    expect(await customer.tier()).toBe('basic');
    expect(await customer.stateAt('02-14')).toBe(inGrant);
    expect(await customer.stateAt('06-05')).toBe('free: premium cancelled to 2026-06-01');
    expect(await reason()).toBe('lapsed');
    expect(await customer.findings()).toEqual([]);
  });

  test('in its days of grace is shown at the end of a cycle that is not charged yet, as support reads it', async () => {
    await customer.bill(months(1), 'pro');
    await database.at('01-10');
    await grantTier(database, customer.id, 'premium', '2026-01-31Z');
    const shown = 'select ((billing.find_shown(user_id)).source).tier from public.subscriptions where user_id = $1';
    for (const time of ['01-31', '2026-02-01T00:01:00Z', '2026-02-01T00:59:00Z']) {
      await database.sweep(time);
      expect((await customer.row()).tier).toBe((await database.one(shown, [customer.id])).tier);
    }
  });

  test('that its user cancels at once ends', async () => {
    await grant();
    await customer.cancel('at once');
    expect(await customer.state()).toMatch(/^free: premium cancelled/);
    expect(await customer.stateAt('01-02')).toMatch(/^free/);
  });

  test('that is revoked ends at once, and only once', async () => {
    const reference = await grant();
    await revoke(reference);
    expect(await customer.state()).toMatch(/^free: premium cancelled/);
    expect(await reason()).toBe('revoked');
    expect(await lastChange()).toEqual([{ from_tier: 'premium', to_tier: 'free', cause: 'grant revoked', reference }]);
    await expect(revoke(reference)).rejects.toMatchObject({ code: 'PS409' });
  });

  test('that is revoked below a purchase changes nothing until the purchase is refunded', async () => {
    const reference = await grant();
    const pro = await customer.buy('pro');
    await revoke(reference);
    expect(await customer.state()).toBe(inPro);
    await pro.refund();
    expect(await customer.tier()).toBe('free');
  });
});

describe('a row without an end', () => {
  const writeWithoutEnd = () =>
    database.query(
      "update public.subscriptions set tier = 'premium', current_period_end = null where user_id = $1",
      [customer.id],
    );
  const settle = () => database.query('select billing.settle_access($1, null)', [customer.id]);

  test('that is written by hand over a purchase rules until a later one', async () => {
    await customer.buy('pro', { at: '01-01' });
    await database.at('01-02');
    await writeWithoutEnd();
    await settle();
    expect(await customer.row()).toMatchObject({ tier: 'premium', status: 'active', current_period_end: null });
    await customer.buy('basic', { at: '01-03' });
    expect(await customer.tier()).toBe('basic');
  });

  test('takes over in the days of grace of what came after it', async () => {
    await customer.buy('pro', { at: '01-01' });
    await database.at('01-02');
    await writeWithoutEnd();
    await customer.buy('basic', { at: '01-03' });
    expect(await customer.stateAt('02-02')).toMatch(/^basic/);
    await database.expire('2026-02-03T00:00:01Z');
    expect(await customer.row()).toMatchObject({ tier: 'premium', status: 'active', current_period_end: null });
  });
});

test('a row that is written by hand over a purchase, and the purchase that takes over, are each told to the app', async () => {
  await database.set('events = true');
  await customer.buy('pro', { at: '01-01' });
  await database.at('01-02');
  await customer.moveEnd('01-10');
  await database.expire('01-20');
  const told = await database.query(
    `select o.payload #>> '{data,current_period_end}' as until, o.payload #>> '{data,reason}' as reason from billing.outbox o
     where o.kind = 'subscription.updated' and o.payload #>> '{data,user_id}' = $1 order by o.id`,
    [customer.id],
  );
  expect(told.map(({ until, reason }) => `${shortTime(until)} ${reason}`))
    .toEqual(['2027-01-01 purchase', '2026-01-10 manual', '2027-01-01 lapse']);
  await database.set('events = false');
});
