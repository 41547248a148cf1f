import { beforeAll, describe, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

describe('without any webhook reconciliation alone shows', () => {
  type Subscriber = BilledCustomer & { readonly id: string };
  /** Two customers with the same life. The webhooks about the second are all lost. */
  let customers: [loud: Subscriber, silent: Subscriber];
  const both = async (act: (customer: Subscriber) => Promise<unknown>) => {
    for (const customer of customers) await act(customer);
  };
  const begin = async () => {
    const asked = async () => {
      const customer = await newCustomer(billing);
      return { ...customer, id: await customer.ask('basic') };
    };
    customers = [await asked(), await asked()];
    billing.silent.add(customers[1].id);
    await both(({ approve, id }) => approve(id));
  };
  const callApi = (name: string) => both(({ id }) => billing.callApi(`/subscriptions/${id}/${name}`));

  /** What a customer sees, without ids and without the start, which only a webhook can tell for a trial. */
  async function stateOf({ read }: BilledCustomer) {
    const { currentTier, subscription, billing: billed } = await read();
    const { status, current_period_end: until, ended_reason: reason, cancel_at_period_end: ends } = subscription;
    const shown = `${currentTier} ${status}${reason ? ` ${reason}` : ''}${ends && !reason ? ', ends' : ''}`;
    const next = billed && { status: billed.status, next: billed.next_charge_at, attention: billed.payment_attention };
    return { shown: `${shown}; billed ${billed?.status ?? 'no more'}`, until, next };
  }

  /** Lets days pass, runs the schedule on each of the last four, and compares both. @returns what both show */
  async function after(days: number): Promise<string> {
    const [loud, silent] = customers;
    for (const step of days > 4 ? [days - 3, 1, 1, 1] : Array<number>(days).fill(1)) await loud.later(step * 24);
    const state = await stateOf(loud);
    expect(await stateOf(silent)).toEqual(state);
    return state.shown;
  }

  test.skipIf(isLong)('a renewal, failed charges, a halt, a new method, and the end of the period', async () => {
    await begin();
    expect(await after(1)).toBe('basic active; billed active');
    expect(await after(32)).toBe('basic active; billed active');
    await both(({ id }) => billing.simulate('subscription-fault', { subscription_id: id, charges: 'fail' }));
    expect(await after(27)).toBe('basic active; billed pending');
    expect(await after(4)).toBe('free cancelled lapsed; billed halted');
    await both(({ id }) => billing.simulate('update-method', { subscription_id: id }));
    expect(await after(2)).toBe('free cancelled lapsed; billed active');
    expect(await after(31)).toBe('basic active; billed active');
    await both(({ cancel }) => cancel(true));
    // The gateway is told 48 hours before the end of the cycle.
    expect(await after(20)).toBe('basic active, ends; billed active');
    expect(await after(4)).toBe('free cancelled cancelled; billed no more');
  });

  test.runIf(isLong)('a pause, a resumption, and a cancellation at the gateway', async () => {
    await begin();
    expect(await after(1)).toBe('basic active; billed active');
    await callApi('pause');
    expect(await after(31)).toBe('free cancelled lapsed; billed paused');
    await callApi('resume');
    expect(await after(5)).toBe('free cancelled lapsed; billed active');
    expect(await after(27)).toBe('basic active; billed active');
    await callApi('cancel');
    expect(await after(31)).toBe('free cancelled cancelled; billed no more');
  });
});

describe.skipIf(isLong)('where the gateway debits each further cycle 36 hours before it begins', () => {
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
  const periodEnd = async ({ read }: BilledCustomer) =>
    Date.parse((await read()).subscription.current_period_end) / 1000;
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
});
