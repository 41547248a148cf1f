import { expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { newCustomer } from '../helpers/faults/customer.ts';
import { useProject } from '../helpers/project/use-project.ts';

// Settings have the key of another account, which knows nothing of ours.

const project = useProject({ findings: 'compared elsewhere' });
const billing = useBillingProject(project);

/** Lets days pass with a schedule that runs every twelve hours. */
async function pass(days: number) {
  for (let halves = 0; halves < 2 * days; halves += 1) {
    await billing.moveOn(12);
    await billing.runSchedule();
  }
}

test('for three days, with no webhook: who subscribed meanwhile has the tier and the mail', async () => {
  const customer = await newCustomer(billing);
  const id = await customer.ask('basic');
  await billing.breakApi({ mode: 'status', status: 400 });
  billing.silent.add(id);
  const approved = await customer.approve(id);
  await pass(3);
  await billing.mend();
  await pass(1);
  expect(await customer.read()).toMatchObject({ currentTier: 'basic' });
  expect(await customer.mails()).toContain('payment-success');
  expect(await billing.send(customer.user, 'payments/verify', approved)).toMatchObject({ status: 200 });
  expect(await customer.findings()).toEqual([]);
});

test('for twelve days: a refund of its first day, whose webhook was lost, is read afterwards', async () => {
  const customer = await newCustomer(billing);
  const { body: { order } } = await billing.send(customer.user, 'payments/orders', { tier: 'basic' });
  const paid = Object(await billing.simulate('pay', { order_id: order.id, outcome: 'captured' }));
  await billing.send(customer.user, 'payments/verify', paid);
  await pass(1);
  billing.silent.add(paid.gateway_payment_id);
  await billing.callApi(`/payments/${paid.gateway_payment_id}/refund`);
  await billing.breakApi({ mode: 'status', status: 400 });
  await pass(12);
  await billing.mend();
  await pass(1);
  expect(await customer.read()).toMatchObject({ currentTier: 'free', payments: [{ refunded_amount: 4900 }] });
});
