import { beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
const insertSubscription = (tier: string, status: string, { id } = customer) => {
  const insertion = 'insert into public.subscriptions (user_id, tier, status) values ($1, $2, $3)';
  return database.query(insertion, [id, tier, status]);
};

test('get_subscription writes times as ISO 8601 in UTC for any time zone and date style of the session', async () => {
  await customer.buy('pro', { at: '2026-01-01T00:00:00.123Z' });
  const session = await openSession(database, { role: 'service_role' });
  await session.query("set timezone = 'Asia/Kolkata'; set datestyle = 'SQL, DMY'");
  const { rows } = await session.query('select public.get_subscription($1) as answer', [customer.id]);
  const { subscription, payments: [payment] } = rows[0].answer;
  const [from, to] = ['2026-01-01T00:00:00.123+00:00', '2027-01-01T00:00:00.123+00:00'];
  expect(subscription).toMatchObject({ current_period_start: from, current_period_end: to });
  expect(payment).toMatchObject({ created_at: from, captured_at: from, period_end: to });
});

describe('list_plans_for_user', () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  const later = (days: number) => database.at(new Date(start + days * 86_400_000).toISOString());
  beforeEach(() => later(0));

  /** The scenario of each plan on offer, the lowest price first: `basic downgrade, pro current`. */
  async function scenarios({ id } = customer): Promise<string> {
    const { plans } = await database.rpc('list_plans_for_user', id);
    return Object.values(Object(plans)).map((plan) => `${Object(plan).tier} ${Object(plan).scenario}`).join(', ');
  }
  const nothing = 'basic buy, pro buy, premium buy';
  const ofPro = (scenario: string) => `basic downgrade, pro ${scenario}, premium upgrade`;
  const insertPlan = (...plan: [tier: string, price: number, currency: string]) =>
    database.query('insert into public.plans (tier, name, price, currency) values ($1, $1, $2, $3)', plan);

  test('has all to buy for a user without a subscription, an unknown one, and one who cancelled', async () => {
    const cancelled = await database.customer();
    await cancelled.buy('pro');
    await cancelled.cancel('at once');
    for (const user of [customer, { ...customer, id: crypto.randomUUID() }, cancelled]) {
      expect(await scenarios(user)).toBe(nothing);
    }
  });

  test('has all others to buy where the running tier has no plan, and compares across currencies', async () => {
    await insertPlan('dollar', 500, 'USD');
    await customer.buy('dollar');
    expect(await scenarios()).toBe('dollar current, basic downgrade, pro downgrade, premium downgrade');
    const other = await database.customer();
    await insertSubscription('secret', 'active', other);
    expect(await scenarios(other)).toBe(`dollar buy, ${nothing}`);
  });

  test('compares with the running plan also off sale, and with that of the tier where the subscription names none, without an end', async () => {
    await insertSubscription('pro', 'active');
    expect(await scenarios()).toBe(ofPro('current'));
    await database.set("early_renewal = 'extend'");
    expect(await scenarios()).toBe(ofPro('current'));
    await database.setPlan('pro', 'is_active = false');
    expect(await scenarios()).toBe('basic downgrade, premium upgrade');
  });

  test.each<[string, Record<string, string>, (() => Promise<unknown>)?]>([
    ['until its last seven days, then to renew, also in the days of grace', {
      '357.99': 'current',
      '358': 'renew',
      '366': 'renew',
    }],
    [
      'as without it after a cancellation for the end of its period',
      { '0': 'current', '360': 'renew' },
      () => customer.cancel('at the end'),
    ],
    ['never where a renewal extends it', { '0': 'renew' }, () => database.set("early_renewal = 'extend'")],
  ])('has the running tier current %s: after days %j', async (_, days, prepare) => {
    await customer.buy('pro');
    await prepare?.();
    for (const [number, scenario] of Object.entries(days)) {
      await later(Number(number));
      expect(`${number}: ${await scenarios()}`).toBe(`${number}: ${ofPro(scenario)}`);
    }
    await later(369);
    await database.expire();
    expect(await scenarios()).toBe(nothing);
  });

  test.each(['replace', 'extend'])('has it current under %s while the gateway renews it', async (setting) => {
    await database.set(`early_renewal = '${setting}'`);
    await customer.bill(months(1), 'pro');
    await later(30);
    expect(await scenarios()).toBe(ofPro('current'));
    await customer.cancel('at the end');
    expect(await scenarios()).toBe(ofPro('renew'));
  });
});
