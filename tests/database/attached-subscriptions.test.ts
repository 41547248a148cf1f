import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { askChange, customerOf, prices } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { day, months } from '../helpers/records/time.ts';

// A gateway subscription without a plan of ours shows its period on what rules. What that source has of its own remains.
const database = useDatabase({ isEmptied: true, findings: 'compared elsewhere' });
const customer = useCustomer(database);
beforeEach(async () => {
  await database.set("credit = 'off'");
  await database.at('01-01');
});

const unknown = { planId: 'plan_of_another_app' };
const toFebruary = { start: day('01-10'), end: day('02-10') };
const toApril = { start: day('01-10'), end: day('04-10') };

describe.each(['pro', 'premium'])('a purchased year of %s', (tier) => {
  const bought = `${tier}: ${tier} active to 2027-01-01`;
  beforeEach(() => customer.buy(tier));

  test('goes on after what was attached is complete, also where another one was cancelled meanwhile', async () => {
    await customer.event('activated', '01-10', { ...unknown, ...toFebruary });
    await customerOf(database, customer, uniqueId('sub')).event('cancelled', '01-20', unknown);
    await customer.event('completed', '02-05', unknown);
    expect(await customer.stateAt('03-01')).toBe(bought);
  });

  test('that is cancelled at once ends, although what is attached is not cancelled yet', async () => {
    await customer.event('activated', '01-10', { ...unknown, ...toFebruary });
    expect(await customer.state()).toBe(`${tier}: ${tier} active to 2026-02-10`);
    await database.at('01-15');
    await customer.cancel('at once');
    expect(await customer.tier()).toBe('free');
  });

  test('that was cancelled for its end has no days of grace after what is attached since', async () => {
    await customer.cancel('at the end');
    await customer.event('activated', '2026-12-10', { ...unknown, start: day('2026-12-10'), end: day('2027-01-10') });
    await customer.event('completed', '2026-12-20', unknown);
    expect(await customer.stateAt('2027-01-09')).toBe(`${tier}: ${tier} active to 2027-01-10`);
    expect(await customer.stateAt('2027-01-10T01:00:00Z')).toBe(`free: ${tier} cancelled to 2027-01-10`);
  });

  test('that the gateway ended does not run again by a charge of something else', async () => {
    await customer.event('cancelled', '01-10', unknown);
    expect(await customer.tier()).toBe('free');
    await customerOf(database, customer, uniqueId('sub')).charge(
      { start: day('01-20'), end: day('02-20') },
      'of_another_app',
    );
    expect(await customer.tier()).toBe('free');
  });
});

test.each(['basic', 'pro'])(
  'a row by hand of %s shows no period of another subscription than it names',
  async (tier) => {
    await database.query(
      `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
     select $1, p.id, p.tier, 'active', $2, $3 from public.plans p where p.tier = $4 and p.lookup_key is null`,
      [customer.id, months(1).end, customer.gatewayId, tier],
    );
    await customerOf(database, customer, uniqueId('sub')).charge(toApril, 'of_another_app');
    expect(await customer.state()).toBe(`${tier}: ${tier} active to 2026-02-01`);
  },
);

test.each(['basic', 'pro'])(
  'a change to premium that is debited early rules at once where %s ends before',
  async (tier) => {
    const payment = { id: uniqueId('pay'), amount: prices[tier] ?? 0 };
    await customer.bill(months(1), tier, { payment });
    const change = await askChange(database, customer, 'premium', 'period_end');
    await change.event('authenticated', '01-02', { planId: 'plan_premium' });
    for (const name of ['activated', 'charged'] as const) {
      const first = { id: 'pay_first', amount: prices.premium ?? 0 };
      await change.event(name, '01-31', { planId: 'plan_premium', ...months(2), payment: first });
    }
    await database.at('2026-01-31T06:00:00Z');
    expect(await customer.tier()).toBe(tier);
    await database.send(refundEvent(payment, payment.amount));
    expect(await customer.state()).toBe('premium: premium active to 2026-03-01');
  },
);

test('of a row by hand that was made shorter, and what runs after it, the later end is shown', async () => {
  await customer.buy('basic');
  await database.at('01-05');
  await customer.moveEnd('01-20');
  expect(await customer.stateAt('01-25')).toBe('basic: basic active to 2026-02-01');
  expect(await customer.stateAt('02-10')).toBe('free: basic cancelled to 2026-02-01');
});

test('what the gateway has cancelled stays cancelled when its cycle is refunded', async () => {
  const payment = { id: uniqueId('pay'), amount: 4900 };
  await customer.bill(months(1), 'basic', { payment });
  await customer.event('cancelled', '01-10', { planId: 'plan_basic' });
  await database.at('01-20');
  await database.send(refundEvent(payment, payment.amount));
  expect(await customer.row()).toMatchObject({ status: 'cancelled', ended_reason: 'cancelled' });
});

test('a row by hand that is cancelled without a time has one once it is settled', async () => {
  await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'basic', 'cancelled')", [
    customer.id,
  ]);
  await database.at('01-02');
  await database.query('select billing.settle_access($1, null)', [customer.id]);
  expect((await customer.row()).cancelled_at).not.toBeNull();
});
