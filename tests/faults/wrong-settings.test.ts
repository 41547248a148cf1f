import { describe, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { setClock } from '../helpers/database/clock.ts';
import { newCustomer } from '../helpers/faults/customer.ts';
import { useProject } from '../helpers/project/use-project.ts';

// What a mistake in the settings delays goes on once it is mended.

const project = useProject({ findings: 'compared elsewhere' });
const billing = useBillingProject(project);

/** Lets days pass with a schedule that runs every twelve hours. */
async function pass(days: number) {
  for (let halves = 0; halves < 2 * days; halves += 1) {
    await billing.moveOn(12);
    await billing.runSchedule();
  }
}

test.each([
  [401, 'a key that the gateway refuses', 'due'],
  [400, 'the key of another account', 'parked'],
])(
  '%i for three days, %s: a cancellation is a finding, and is told once the key is right',
  async (status, _, state) => {
    const [cancelled, deleted] = [await newCustomer(billing), await newCustomer(billing)];
    const customers = [cancelled, deleted];
    for (const customer of customers) await customer.start('basic');
    await billing.runSchedule();
    await billing.moveOn(1);
    await billing.breakApi({ mode: 'status', status });
    await cancelled.cancel(false);
    await billing.database.query('delete from auth.users where id = $1', [deleted.user.id]);
    await pass(3);
    const stuck = `select state from billing.outbox_stuck where key like 'cancel-subscription/%'`;
    expect(await billing.database.query(stuck)).toEqual([{ state }, { state }]);

    await billing.mend();
    await pass(1);
    for (const { user } of customers) {
      expect(await billing.atGateway(user)).toMatchObject([{ status: 'cancelled', paid_count: 1 }]);
    }
    expect(await billing.database.query(stuck)).toEqual([]);
  },
);

describe.each([[25, 'behind'], [-25, 'ahead of']])('our clock %i hours off, %s the gateway', (hours) => {
  // Another function on the same database would tell its own gateway of this one's cancellations.
  const own = useProject({ findings: 'compared elsewhere' });
  const skewed = useBillingProject(own, { skew: hours * 3600, from: '2028-01-10T12:00:00Z' });

  test('subscribed, charged once a month, cancelled for the end: the tier is there until then', async () => {
    const customer = await newCustomer(skewed);
    const id = await customer.ask('basic');
    expect(await skewed.send(customer.user, 'payments/verify', await customer.approve(id))).toMatchObject({
      status: 200,
    });
    await customer.passCycle();
    expect(await customer.read()).toMatchObject({ currentTier: 'basic' });
    expect(await skewed.atGateway(customer.user)).toMatchObject([{ status: 'active', paid_count: 2 }]);
    await customer.cancel(true);
    await customer.passCycle();
    expect(await customer.read()).toMatchObject({ currentTier: 'free', subscription: { status: 'cancelled' } });
    expect(await skewed.atGateway(customer.user)).toMatchObject([{ status: 'cancelled', paid_count: 2 }]);
    expect(await customer.findings()).toEqual([]);
    const found = "select finding, subject from billing.findings where finding like 'clock%'";
    expect(await own.database.query(found)).toEqual([
      { finding: hours > 0 ? 'clock_behind' : 'clock_ahead', subject: 'database' },
    ]);
  });

  test.runIf(hours > 0)('a trial of a day, which is over at the gateway, lasts a day from the request', async () => {
    await own.database.query("update public.plans set trial_days = 1 where tier = 'pro'");
    const customer = await newCustomer(skewed);
    await customer.start('pro');
    expect(await customer.read()).toMatchObject({ currentTier: 'pro' });
    expect(await skewed.atGateway(customer.user)).toMatchObject([{ status: 'authenticated', paid_count: 0 }]);
    await customer.later(23);
    expect(await customer.read()).toMatchObject({ currentTier: 'pro' });
    expect(await skewed.atGateway(customer.user)).toMatchObject([{ paid_count: 0 }]);
    await customer.later(2);
    expect(await customer.read()).toMatchObject({ currentTier: 'pro' });
    expect(await skewed.atGateway(customer.user)).toMatchObject([{ status: 'active', paid_count: 1 }]);
    expect(await customer.findings()).toEqual([]);
  });
});

test('our clock 25 hours ahead, and set right: what is bought next rules and goes on, also after a cancellation', async () => {
  const [bought, billed, cancelled] = [
    await newCustomer(billing),
    await newCustomer(billing),
    await newCustomer(billing),
  ];
  await setClock(project.database, new Date((billing.now() + 25 * 3600) * 1000).toISOString());
  const { body: { order } } = await billing.send(bought.user, 'payments/orders', { tier: 'basic' });
  const paid = await billing.simulate('pay', { order_id: order.id, outcome: 'captured' });
  expect(await billing.send(bought.user, 'payments/verify', paid)).toMatchObject({ status: 200 });
  await billed.start('basic');
  await cancelled.start('basic');
  await billing.moveOn(1);
  await cancelled.cancel(false);
  const customers = [bought, billed, cancelled];
  for (const customer of customers) await customer.approve(await customer.ask('pro'));
  await pass(33);
  for (const customer of customers) {
    expect(await customer.read()).toMatchObject({ currentTier: 'pro' });
    expect((await billing.atGateway(customer.user)).at(-1)).toMatchObject({
      plan_id: 'plan_pro',
      status: 'active',
      paid_count: 2,
    });
    expect(await customer.billed()).toHaveLength(1);
    expect(await customer.findings()).toEqual([]);
  }
});
