import { afterEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../../scripts/stack/gateway/errors.ts';
import type { BillingProject } from './billing-project.ts';
import { type BilledCustomer, newCustomer } from './customer.ts';
import { type Flow, flows } from './flows.ts';

/** What the gateway does with the call. */
const faults = {
  'answers 503': { mode: 'status', status: 503 },
  'hangs': { mode: 'hang' },
  'does it and closes the connection': { mode: 'close', applied: true },
  'does it and hangs': { mode: 'hang', applied: true },
} as const satisfies Record<string, Partial<Fault>>;
type Name = keyof typeof faults;

/**
 * Lets each chosen call of each flow fail. While it fails, the customer keeps the paid access. The next try works, one
 * subscription bills in the end, and only the findings are left that the flow names.
 */
export function proveFlows(
  billing: BillingProject,
  isChosen: (choice: { name: string; fault: Name; isFirst: boolean }) => boolean,
): void {
  let customer: BilledCustomer | undefined;
  afterEach(async () => {
    await billing.mend();
    await customer?.leave();
    customer = undefined;
  });

  const names = Object.keys(faults) as Name[];
  const cases = Object.entries(flows).flatMap(([name, flow]) =>
    Object.entries(flow.calls).flatMap(([call, steps], index) =>
      names.map((fault) => ({ name, flow, call, steps, fault, isFirst: index === 0 }))
    )
  );
  describe('a flow goes on after a call fails:', () => {
    test.each(cases.filter(isChosen))('$name while the gateway at $call $fault', async ({ flow, steps, fault }) => {
      customer = await newCustomer(billing);
      const parts = { billing, customer, state: {} };
      await flow.prepare(parts);
      for (const step of steps.slice(0, -1)) await billing.breakApi({ ...step, times: 1 });
      await billing.breakApi({ ...steps.at(-1), ...faults[fault] });
      await flow.fail(parts);
      expect(await customer.read()).toMatchObject({ currentTier: flow.during });
      await billing.mend();
      await flow.retry(parts);
      expect(await customer.findings()).toEqual(flow.left ?? []);
      await expectEnd(customer, flow);
    });
  });
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
