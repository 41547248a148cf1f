import { expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

/** A user and the user's subscription at the gateway. */
type Customer = { user: SignedUpUser; id: string };

/** Two customers with the same life. The webhooks about one of them are all lost. */
async function two(): Promise<{ loud: Customer; silent: Customer }> {
  const [loud, silent] = await Promise.all([0, 1].map(async () => {
    const user = await billing.newUser();
    return { user, id: await billing.subscribe(user) };
  }));
  if (loud === undefined || silent === undefined) throw new Error('no customers');
  billing.silent.add(silent.id);
  return { loud, silent };
}

/** What a customer sees, without ids and without the start, which only a webhook can tell for a trial. */
async function stateOf({ user }: Customer) {
  const { currentTier, subscription, billing: billed } = (await billing.send(user, 'subscriptions')).body;
  return {
    currentTier,
    status: subscription?.status ?? null,
    until: subscription?.current_period_end,
    reason: subscription?.ended_reason ?? null,
    ends: subscription?.cancel_at_period_end ?? null,
    billed: billed && { status: billed.status, next: billed.next_charge_at, attention: billed.payment_attention },
  };
}

/** Lets days pass, runs the schedule on each of the last four, and compares both customers. */
async function compareAfter(days: number, { loud, silent }: Record<'loud' | 'silent', Customer>) {
  for (const step of days > 4 ? [days - 3, 1, 1, 1] : Array<number>(days).fill(1)) {
    await billing.moveOn(step * 24);
    await billing.runSchedule();
  }
  const [one, other] = [await stateOf(loud), await stateOf(silent)];
  expect(other).toEqual(one);
  return one;
}

/** Does the same for both customers. */
async function both(customers: Record<'loud' | 'silent', Customer>, act: (customer: Customer) => Promise<unknown>) {
  for (const customer of Object.values(customers)) await act(customer);
}

test('without any webhook reconciliation alone shows a renewal, failed charges, a halt, and a new method', async () => {
  const customers = await two();
  await both(customers, ({ id }) => billing.approve(id));
  expect(await compareAfter(1, customers)).toMatchObject({ currentTier: 'basic', billed: { status: 'active' } });
  expect(await compareAfter(32, customers)).toMatchObject({ currentTier: 'basic', billed: { status: 'active' } });
  await both(
    customers,
    ({ id: subscription_id }) => billing.simulate('subscription-fault', { subscription_id, charges: 'fail' }),
  );
  expect(await compareAfter(27, customers)).toMatchObject({
    currentTier: 'basic',
    billed: { status: 'pending', attention: true },
  });
  expect(await compareAfter(4, customers)).toMatchObject({ currentTier: 'free', billed: { status: 'halted' } });
  await both(customers, ({ id: subscription_id }) => billing.simulate('update-method', { subscription_id }));
  expect(await compareAfter(2, customers)).toMatchObject({ currentTier: 'free', billed: { status: 'active' } });
  expect(await compareAfter(31, customers)).toMatchObject({ currentTier: 'basic', status: 'active' });
  await both(customers, ({ user }) => billing.send(user, 'subscriptions/cancel', { at_period_end: true }));
  // The gateway is told 48 hours before the end of the cycle.
  expect(await compareAfter(20, customers)).toMatchObject({ currentTier: 'basic', ends: true });
  expect(await compareAfter(4, customers)).toMatchObject({ currentTier: 'free', reason: 'cancelled', billed: null });
});

test.runIf(isLong)(
  'without any webhook reconciliation alone shows a pause, a resumption, and a cancellation at the gateway',
  async () => {
    const customers = await two();
    await both(customers, ({ id }) => billing.approve(id));
    expect(await compareAfter(1, customers)).toMatchObject({ currentTier: 'basic' });
    await both(customers, ({ id }) => billing.callApi(`/subscriptions/${id}/pause`));
    expect(await compareAfter(31, customers)).toMatchObject({ currentTier: 'free', billed: { status: 'paused' } });
    await both(customers, ({ id }) => billing.callApi(`/subscriptions/${id}/resume`));
    expect(await compareAfter(5, customers)).toMatchObject({ currentTier: 'free', billed: { status: 'active' } });
    expect(await compareAfter(27, customers)).toMatchObject({ currentTier: 'basic', status: 'active' });
    await both(customers, ({ id }) => billing.callApi(`/subscriptions/${id}/cancel`));
    expect(await compareAfter(31, customers)).toMatchObject({ currentTier: 'free', reason: 'cancelled', billed: null });
  },
);

test.runIf(isLong)(
  'without any webhook reconciliation alone shows a trial, its first charge, and the last agreed cycle',
  async () => {
    await billing.database.query("update public.plans set trial_days = 7, billing_cycles = 1 where tier = 'basic'");
    const customers = await two();
    await billing.database.query("update public.plans set trial_days = 0, billing_cycles = null where tier = 'basic'");
    await both(customers, ({ id }) => billing.approve(id));
    expect(await compareAfter(1, customers)).toMatchObject({
      currentTier: 'basic',
      billed: { status: 'authenticated' },
    });
    expect(await compareAfter(8, customers)).toMatchObject({ currentTier: 'basic', billed: { status: 'active' } });
    expect(await compareAfter(32, customers)).toMatchObject({ currentTier: 'free', reason: 'lapsed', billed: null });
  },
);
