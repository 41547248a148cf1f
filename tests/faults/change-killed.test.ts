import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { newCustomer } from '../helpers/faults/customer.ts';
import { expectEnd, offerPlans } from '../helpers/faults/prove-flows.ts';
import { refusal } from '../helpers/http/answer.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));
beforeAll(() => offerPlans(billing));
afterEach(() => billing.mend());

async function kill(): Promise<void> {
  Deno.kill(billing.edgeFunction.pid() ?? NaN, 'SIGKILL');
  await billing.edgeFunction.start();
  await billing.edgeFunction.ready();
  await billing.mend();
}

describe.each(sampleOf(['/v1/orders', '/v1/subscriptions'], 1))(
  'a change of plan whose function is killed after POST %s took effect, before it stored the answer',
  (path) => {
    test('leaves the paid access; the next change is made, and it alone bills', async () => {
      const customer = await newCustomer(billing);
      await customer.start('basic');
      await billing.moveOn(24 * 5);
      await billing.breakApi({ method: 'POST', path, mode: 'hang', applied: true, times: 1 });
      const lost = customer.change('pro', 'now').catch(() => 'no answer');
      await billing.broken();
      await kill();
      expect(await lost).toBe('no answer');
      expect((await customer.read()).currentTier).toBe('basic');
      // Another request may still be waiting for the gateway.
      expect(await customer.change('pro', 'now')).toMatchObject({ status: 409 });
      await billing.moveOn(0.01);
      await customer.complete(await customer.change('pro', 'now'));
      expect((await customer.read()).currentTier).toBe('pro');
      expect(await customer.findings()).toEqual([]);
      await expectEnd(customer, { end: { tier: 'pro', billed: 1 }, cycles: 2 });
    });
  },
);

test('a change that is undone while the gateway makes its subscription: that one never bills', async () => {
  const customer = await newCustomer(billing);
  await customer.start('pro');
  await billing.moveOn(24 * 5);
  const hanging = { method: 'POST', path: '/v1/subscriptions', mode: 'hang', applied: true, times: 1 } as const;
  await billing.breakApi(hanging);
  const changed = customer.change('basic', 'period_end');
  await billing.broken();
  expect(await customer.cancel(true)).toMatchObject({ status: 200 });
  expect(await billing.send(customer.user, 'subscriptions/resume', {})).toMatchObject({ status: 200 });
  expect(await changed).toEqual(refusal(502, 'Payment gateway unavailable'));
  await expectEnd(customer, { end: { tier: 'pro', billed: 1 } });
  expect((await billing.atGateway(customer.user)).map(({ status }) => status)).toEqual(['active', 'expired']);
});
