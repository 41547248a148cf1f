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

test('for three days: what was subscribed and cancelled meanwhile is stopped afterwards', async () => {
  const customer = await newCustomer(billing);
  const id = await customer.ask('basic');
  await billing.breakApi({ mode: 'status', status: 400 });
  billing.silent.add(id);
  await customer.approve(id);
  await pass(2);
  await customer.cancel(false);
  await pass(1);
  await billing.mend();
  await pass(1);
  expect(await billing.atGateway(customer.user)).toMatchObject([{ status: 'cancelled' }]);
  expect(await customer.read()).toMatchObject({ currentTier: 'free' });
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

test.each([400, 401])(
  '%i for three days: a refund waits, is a finding, and is made once when it is queued again',
  async (status) => {
    const customer = await newCustomer(billing);
    const { body: { order } } = await billing.send(customer.user, 'payments/orders', { tier: 'basic' });
    const paid = Object(await billing.simulate('pay', { order_id: order.id, outcome: 'captured' }));
    await billing.send(customer.user, 'payments/verify', paid);
    await pass(1);
    const act = (action: string, reference: string) =>
      billing.database.query('insert into billing.support_actions (action, reference, reason) values ($1, $2, $3)', [
        ...[action, reference, 'asked for'],
      ]);
    await billing.breakApi({ mode: 'status', status });
    await act('refund', paid.gateway_payment_id);
    await pass(3);
    const stuck = `select subject, detail ->> 'id' as id, detail ->> 'state' as state from billing.findings
    where finding = 'outbox_stuck' and subject like 'refund-%'`;
    const found = await billing.database.query(stuck);
    expect(found).toMatchObject([{ state: 'parked' }]);
    await billing.mend();
    await act('requeue_mail', String(found[0]?.id));
    await pass(1);
    await expect(act('requeue_mail', String(found[0]?.id))).rejects.toThrow('was delivered');
    expect((await billing.readApi(`/payments/${paid.gateway_payment_id}/refunds`)).items).toHaveLength(1);
    expect(await customer.read()).toMatchObject({ currentTier: 'free', payments: [{ refunded_amount: 4900 }] });
    expect(await billing.database.query(stuck)).toEqual([]);
  },
);
