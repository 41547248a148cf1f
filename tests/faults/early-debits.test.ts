import { beforeAll, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

// The gateway debits each further cycle 36 hours before it begins.
beforeAll(() => billing.simulate('debit', { hours_before: 36 }));

/** A customer whose first cycle ends in so many hours. Cycles have 28 to 31 days. */
async function endsIn(hours: number): Promise<BilledCustomer> {
  const customer = await newCustomer(billing);
  await customer.start('basic');
  await toEnd(customer, hours);
  return customer;
}
const atGateway = async ({ user }: BilledCustomer) => (await billing.atGateway(user))[0] ?? expect.fail();
/** Moves on to so many hours before the end of the current cycle. */
const toEnd = async (customer: BilledCustomer, hours: number) =>
  await customer.later(((await atGateway(customer)).current_end - billing.now()) / 3600 - hours);
const periodEnd = async ({ read }: BilledCustomer) => Date.parse((await read()).subscription.current_period_end) / 1000;
const expectCancelled = async (customer: BilledCustomer, paid: number) => {
  expect(await atGateway(customer)).toMatchObject({ status: 'cancelled', paid_count: paid });
  expect(await customer.read()).toMatchObject({ currentTier: 'free', subscription: { ended_reason: 'cancelled' } });
  expect(await customer.findings()).toEqual([]);
};
const cancel = async (customer: BilledCustomer) => {
  await customer.cancel(true);
  await billing.runSchedule();
};

test('a cancellation 49 hours before the end prevents its charge', async () => {
  const customer = await endsIn(49);
  await cancel(customer);
  for (const left of [47, 35]) await toEnd(customer, left);
  expect(await customer.read()).toMatchObject({ currentTier: 'basic' });
  await toEnd(customer, -1);
  await expectCancelled(customer, 1);
});

test('a cycle that is charged before it begins renews access without a gap, and is the last one after a cancellation then', async () => {
  const customer = await endsIn(37);
  const before = await periodEnd(customer);
  await toEnd(customer, 30);
  expect(await atGateway(customer)).toMatchObject({ paid_count: 2 });
  expect(await customer.read()).toMatchObject({ currentTier: 'basic', subscription: { status: 'active' } });
  expect(await periodEnd(customer)).toBeGreaterThan(before);
  await cancel(customer);
  expect((await customer.read()).subscription).toMatchObject({ cancel_at_period_end: true });
  expect(await periodEnd(customer)).toBe((await atGateway(customer)).current_end);
  for (const left of [47, -1]) await toEnd(customer, left);
  await expectCancelled(customer, 2);
});

test('a cancellation after a charge of the next cycle failed prevents its next try, and what is paid remains', async () => {
  const customer = await endsIn(37);
  await billing.simulate('subscription-fault', {
    subscription_id: (await atGateway(customer)).id,
    charges: 'fail',
    times: 1,
  });
  await toEnd(customer, 30);
  const end = await periodEnd(customer);
  expect(await atGateway(customer)).toMatchObject({ status: 'pending', paid_count: 1 });
  await cancel(customer);
  expect(await atGateway(customer)).toMatchObject({ status: 'cancelled', paid_count: 1 });
  expect(await customer.read()).toMatchObject({
    currentTier: 'basic',
    subscription: { status: 'active', cancel_at_period_end: true },
  });
  expect(await periodEnd(customer)).toBe(end);
  await customer.later(29);
  expect(await customer.read()).toMatchObject({ currentTier: 'basic' });
  await customer.later(2);
  await expectCancelled(customer, 1);
});
