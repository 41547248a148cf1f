import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { expectEnd, proveFlows } from '../helpers/faults/prove-flows.ts';
import { refusal } from '../helpers/http/answer.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

// The first call of some flows, and one fault. The long suite has every call of every flow with every fault.
const some = [
  'the verification of a subscription',
  'the reconciliation of a renewal',
  'a cancellation at the end of the period',
  'a change now, with a credit',
  'a change that the customer undoes',
  'two pages that are both authorised',
];
proveFlows(
  billing,
  ({ name, fault, isFirst }) => some.includes(name) && isFirst && fault === 'does it and closes the connection',
);

let customer: BilledCustomer;
beforeEach(async () => {
  customer = await newCustomer(billing);
});
afterEach(() => customer.leave());

const requests: [request: string, path: string, before: string, after: string, cycles: number][] = [
  ['a subscription', '/v1/subscriptions', 'free', 'basic', 1],
  ['a change of plan', '/v1/orders', 'basic', 'pro', 2],
  ['a change of plan', '/v1/subscriptions', 'basic', 'pro', 2],
];

describe('a function that is killed before it stores what the gateway made', () => {
  test.each(sampleOf(requests, 0, 1))(
    'for %s at POST %s: the customer keeps %s, and the next request makes %s, which alone bills',
    async (request, path, before, after, cycles) => {
      const isChange = request === 'a change of plan';
      const tryIt = () =>
        isChange ? customer.change('pro', 'now') : billing.send(customer.user, 'subscriptions', { tier: 'basic' });
      if (isChange) {
        await customer.start('basic');
        await billing.moveOn(24 * 5);
      }
      await billing.breakApi({ method: 'POST', path, mode: 'hang', applied: true, times: 1 });
      const lost = tryIt().catch(() => 'no answer');
      await billing.broken();
      await billing.kill();
      expect(await lost).toBe('no answer');
      expect((await customer.read()).currentTier).toBe(before);
      // Another request may still be waiting for the gateway.
      expect(await tryIt()).toMatchObject({ status: 409 });
      await billing.moveOn(0.01);
      if (isChange) await customer.complete(await customer.change('pro', 'now'));
      else await customer.start('basic');
      expect((await customer.read()).currentTier).toBe(after);
      expect(await customer.findings()).toEqual([]);
      await expectEnd(customer, { end: { tier: after, billed: 1 }, cycles });
      const left = 'select from billing.subscription_orders where user_id = $1 and gateway_subscription_id is null';
      expect(await billing.database.query(left, [customer.user.id])).toEqual([]);
    },
  );
});

test('a change that is undone while the gateway makes its subscription: that one never bills', async () => {
  await customer.start('pro');
  await billing.moveOn(24 * 5);
  await billing.breakApi({ method: 'POST', path: '/v1/subscriptions', mode: 'hang', applied: true, times: 1 });
  const changed = customer.change('basic', 'period_end');
  await billing.broken();
  await customer.cancel(true);
  expect(await billing.send(customer.user, 'subscriptions/resume', {})).toMatchObject({ status: 200 });
  expect(await changed).toEqual(refusal(502, 'Payment gateway unavailable'));
  await expectEnd(customer, { end: { tier: 'pro', billed: 1 } });
  expect((await billing.atGateway(customer.user)).map(({ status }) => status)).toEqual(['active', 'expired']);
});

describe('a subscription whose answer of the gateway was lost, and a second one', () => {
  /** Authorises both, one hour after the other. @returns their ids in that order */
  async function authoriseBoth(isLostFirst: boolean): Promise<string[]> {
    await billing.breakApi({ method: 'POST', path: '/v1/subscriptions', applied: true, times: 1 });
    await billing.send(customer.user, 'subscriptions', { tier: 'basic' });
    const second = await customer.ask('basic');
    const lost = (await billing.atGateway(customer.user))[0]?.id ?? '';
    const ids = isLostFirst ? [lost, second] : [second, lost];
    for (const id of ids) {
      await customer.approve(id);
      await billing.moveOn(1);
    }
    return ids;
  }
  /** The subscriptions at the gateway: `sub_1 active, paid 2`. */
  const atGateway = async () =>
    (await billing.atGateway(customer.user)).map(({ id, status, paid_count: paid }) => `${id} ${status}, paid ${paid}`);

  // The older of two charged subscriptions ends with its cycle. Its charge is a finding until the refund.
  test.each(sampleOf([false, true], 1))(
    'are both authorised, the lost one first: %j: both are charged once, one goes on, the other is a finding',
    async (isLostFirst) => {
      const ids = await authoriseBoth(isLostFirst);
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
      await customer.later((end - billing.now()) / 3600 - 47);
      await customer.later(72);
      const other = ids.find((id) => id !== ended);
      expect((await atGateway()).sort()).toEqual([`${ended} cancelled, paid 1`, `${other} active, paid 2`].sort());
      expect((await customer.read()).currentTier).toBe('basic');
      expect(await customer.findings()).toEqual([]);
    },
  );

  test('are trials and both authorised: the lost one is never charged', async () => {
    await billing.database.query("update public.plans set trial_days = 7 where tier = 'basic'");
    const [lost, second] = await authoriseBoth(true);
    await billing.runSchedule();
    await customer.later(7 * 24);
    expect((await atGateway()).sort()).toEqual([`${lost} cancelled, paid 0`, `${second} active, paid 1`].sort());
    expect((await customer.read()).currentTier).toBe('basic');
    await billing.database.query("update public.plans set trial_days = 0 where tier = 'basic'");
  });
});
