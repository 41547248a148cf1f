import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../scripts/stack/gateway/errors.ts';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { type Flow, flows } from '../helpers/faults/flows.ts';
import { isLong } from '../helpers/project/suite.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));
let customer: BilledCustomer;
beforeEach(async () => {
  customer = await newCustomer(billing);
});
afterEach(async () => {
  await billing.mend();
  await customer.leave();
});

/** Passes the ends of the cycles: one subscription is billed at most, and the customer has what is paid. */
async function expectEnd({ end, cycles = 1 }: Pick<Flow, 'end' | 'cycles'>): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) await customer.passCycle();
  expect((await customer.billed()).map(({ status }) => status)).toEqual(Array(end.billed).fill('active'));
  expect((await customer.read()).currentTier).toBe(end.tier);
  expect(await customer.findings()).toEqual([]);
}

/** What the gateway does with a call. */
type Failure = { readonly does: string; readonly fault: Partial<Fault> };
const losesAnswer: Failure = { does: 'does it and closes the connection', fault: { mode: 'close', applied: true } };
const refuses: Failure = { does: 'answers 503', fault: { mode: 'status', status: 503 } };
const hangs: Failure = { does: 'does it and hangs', fault: { mode: 'hang', applied: true } };

// The answer to each call is lost. The first call of a flow is also refused, and one hangs until the timeout.
const cases = Object.entries(flows).flatMap(([name, flow]) =>
  Object.entries(flow.calls).flatMap(([call, steps], index) => {
    const others = name === 'a new subscription' ? [refuses, hangs] : [refuses];
    return [losesAnswer, ...(index === 0 ? others : [])].map((failure) => ({ name, flow, call, steps, ...failure }));
  })
);
// The long suite runs the others.
const usual: Record<string, string> = {
  'the verification of a subscription': 'its payment',
  'a refund of half of a cycle': 'the refund',
  'a change now, with a credit': 'the new subscription',
  'a change that the customer undoes': 'the cancellation',
  'two pages that are both authorised': 'the reading of the second, before it is cancelled',
};
const chosen = cases.filter(({ name, call, does }) => isLong !== (usual[name] === call && does === losesAnswer.does));

test.each(chosen)('$name goes on after the gateway at $call $does', async ({ flow, steps, fault }) => {
  const parts = { billing, customer, state: {} };
  await flow.prepare(parts);
  for (const step of steps.slice(0, -1)) await billing.breakApi({ ...step, times: 1 });
  await billing.breakApi({ ...steps.at(-1), ...fault });
  await flow.fail(parts);
  expect(await customer.read()).toMatchObject({ currentTier: flow.during });
  await billing.mend();
  await flow.retry(parts);
  expect(await customer.findings()).toEqual(flow.left ?? []);
  await expectEnd(flow);
});

describe.skipIf(isLong)('a subscription that the gateway made, and whose answer is not stored', () => {
  test('of a function that is killed: the next request makes another one, which alone bills', async () => {
    await billing.breakApi({ method: 'POST', path: '/v1/subscriptions', mode: 'hang', applied: true, times: 1 });
    const lost = billing.send(customer.user, 'subscriptions', { tier: 'basic' }).catch(() => 'no answer');
    await billing.broken();
    await billing.kill();
    expect(await lost).toBe('no answer');
    expect((await customer.read()).currentTier).toBe('free');
    // Another request may still be waiting for the gateway.
    expect(await billing.send(customer.user, 'subscriptions', { tier: 'basic' })).toMatchObject({ status: 409 });
    await billing.moveOn(0.01);
    await customer.start('basic');
    await expectEnd({ end: { tier: 'basic', billed: 1 } });
    const left = 'select from billing.gateway_subscriptions where user_id = $1 and gateway_subscription_id is null';
    expect(await billing.database.query(left, [customer.user.id])).toEqual([]);
  });

  test('and a second one are both authorised and charged once: one goes on, the other is a finding and ends', async () => {
    await billing.breakApi({ method: 'POST', path: '/v1/subscriptions', applied: true, times: 1 });
    await billing.send(customer.user, 'subscriptions', { tier: 'basic' });
    const second = await customer.ask('basic');
    const lost = (await billing.atGateway(customer.user))[0]?.id ?? '';
    for (const id of [lost, second]) {
      await customer.approve(id);
      await billing.moveOn(1);
    }
    await billing.runSchedule();
    const found = await billing.database.query(
      `select finding, detail ->> 'gateway_subscription_id' as id, subject from billing.findings
       where user_id = $1 and finding <> 'outbox_stuck'`,
      [customer.user.id],
    );
    expect(found).toEqual([
      { finding: 'charged_twice', id: expect.any(String), subject: expect.stringMatching(/^pay_/) },
    ]);
    const ended = String(found[0]?.id);
    const { current_end: end = 0 } = (await billing.atGateway(customer.user)).find(({ id }) => id === ended) ?? {};
    // The older of two charged subscriptions ends with its cycle. Its charge is a finding until the refund.
    await customer.later((end - billing.now()) / 3600 - 47);
    await customer.later(72);
    const other = ended === lost ? second : lost;
    const atGateway = (await billing.atGateway(customer.user)).map((
      { id, status, paid_count },
    ) => [id, status, paid_count]);
    expect(atGateway.sort()).toEqual([[ended, 'cancelled', 1], [other, 'active', 2]].sort());
    expect((await customer.read()).currentTier).toBe('basic');
    expect(await customer.findings()).toEqual([]);
  });
});
