import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../scripts/stack/gateway/errors.ts';
import type { BillingProject } from './billing-project.ts';
import { type BilledCustomer, newCustomer } from './customer.ts';
import { type Flow, flows } from './flows.ts';

/** What the gateway does with the call. */
export const faults = {
  'answers 503': { mode: 'status', status: 503 },
  'hangs': { mode: 'hang' },
  'does it and closes the connection': { mode: 'close', applied: true },
  'does it and hangs': { mode: 'hang', applied: true },
} as const satisfies Record<string, Partial<Fault>>;

/**
 * Lets each chosen call of each flow fail. While it fails, the customer keeps the paid access. The next try works, one
 * subscription bills in the end, and only the findings are left that the flow names.
 */
export function proveFlows(
  billing: BillingProject,
  isChosen: (choice: { fault: keyof typeof faults; isFirst: boolean }) => boolean,
): void {
  let customer: BilledCustomer | undefined;
  beforeAll(() => offerPlans(billing));
  afterEach(async () => {
    await billing.mend();
    await customer?.leave();
  });

  describe.each(Object.entries(flows))('%s', (_, flow) => {
    const cases = Object.entries(flow.calls).flatMap(([call, steps], index) =>
      Object.entries(faults).map(([name, fault]) => ({ call, steps, name, fault, isFirst: index === 0 }))
    );
    const chosen = cases.filter(({ name, isFirst }) => isChosen({ fault: name as keyof typeof faults, isFirst }));
    if (chosen.length === 0) return;
    test.each(chosen)('while the gateway at $call $name', async ({ steps, fault }) => {
      customer = await newCustomer(billing);
      await prove(billing, customer, flow, [...steps.slice(0, -1), { ...steps.at(-1), ...fault }]);
    });
  });
}

/** Offers basic and pro by the month, at the gateway, too. */
export async function offerPlans(billing: BillingProject): Promise<void> {
  const plans = await billing.database.query(
    `update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1
     where tier in ('basic', 'pro')
     returning gateway_plan_id as id, price::integer as amount`,
  );
  for (const plan of plans) await billing.simulate('plan', { ...plan, period: 'monthly', interval: 1 });
}

async function prove(
  billing: BillingProject,
  customer: BilledCustomer,
  flow: Flow,
  steps: readonly Partial<Fault>[],
): Promise<void> {
  const parts = { billing, customer, state: {} };
  await flow.prepare(parts);
  for (const [index, step] of steps.entries()) {
    await billing.breakApi(index < steps.length - 1 ? { ...step, times: 1 } : step);
  }
  await flow.fail(parts);
  expect(await customer.read()).toMatchObject({ currentTier: flow.during });
  await billing.mend();
  await flow.retry(parts);
  expect(await customer.findings()).toEqual(flow.left ?? []);
  await expectEnd(customer, flow);
}

/** Passes the ends of the cycles: one subscription is billed at most, and the customer has what is paid. */
export async function expectEnd(
  customer: BilledCustomer,
  { end, cycles = 1 }: Pick<Flow, 'end' | 'cycles'>,
): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) await customer.passCycle();
  const billed = await customer.billed();
  expect(billed.map(({ status }) => status)).toEqual(Array(end.billed).fill('active'));
  expect((await customer.read()).currentTier).toBe(end.tier);
  expect(await customer.findings()).toEqual(end.findings ?? []);
}
