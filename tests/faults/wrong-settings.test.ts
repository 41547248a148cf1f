import { describe, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
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
  const skewed = useBillingProject(project, { skew: hours * 3600, from: '2028-01-10T12:00:00Z' });

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
  });
});
