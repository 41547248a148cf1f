import { afterEach, expect, test, vi } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { refusal } from '../helpers/http/answer.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));
const unavailable = refusal(502, 'Payment gateway unavailable');
const creation = { method: 'POST', path: '/v1/subscriptions', times: 1 } as const;

afterEach(() => billing.mend());

const statuses = async (user: SignedUpUser) => (await billing.atGateway(user)).map(({ status }) => status);
const tierOf = async (user: SignedUpUser) => (await billing.send(user, 'subscriptions')).body.currentTier;

test.each(sampleOf(
  [
    ['answers 503', { mode: 'status', status: 503 }],
    ['answers 400', { mode: 'status', status: 400 }],
    ['closes the connection', { mode: 'close' }],
    ['does it and closes the connection', { mode: 'close', applied: true }],
    ['does it and hangs', { mode: 'hang', applied: true }],
    ['does it and answers 503', { mode: 'status', status: 503, applied: true }],
    ['does it and answers no JSON', { mode: 'garbage', applied: true }],
  ] as const,
  0,
  3,
))('POST /api/subscriptions while the gateway %s → 502; the next one alone is billed', async (_, fault) => {
  const user = await billing.newUser();
  await billing.breakApi({ ...creation, ...fault });
  expect(await billing.send(user, 'subscriptions', { tier: 'basic' })).toEqual(unavailable);
  const id = await billing.subscribe(user);
  await billing.approve(id);
  await billing.moveOn(25);
  await billing.runSchedule();
  expect(await statuses(user)).toEqual('applied' in fault ? ['expired', 'active'] : ['active']);
  expect(await tierOf(user)).toBe('basic');
});

test('a function that is killed before it stores the subscription: the next request makes one, and the first one expires', async () => {
  const user = await billing.newUser();
  await billing.breakApi({ ...creation, mode: 'hang', applied: true });
  const lost = billing.send(user, 'subscriptions', { tier: 'basic' }).catch(() => 'no answer');
  await vi.waitFor(async () => expect(await statuses(user)).toEqual(['created']), { timeout: 30_000, interval: 10 });
  Deno.kill(billing.edgeFunction.pid() ?? NaN, 'SIGKILL');
  expect(await lost).toBe('no answer');
  await billing.edgeFunction.start();
  await billing.edgeFunction.ready();
  await billing.mend();

  expect(await billing.send(user, 'subscriptions', { tier: 'basic' })).toEqual(
    refusal(409, 'Subscription is being created'),
  );
  await billing.moveOn(0.01);
  const id = await billing.subscribe(user);
  expect(await billing.subscribe(user)).toBe(id);
  await billing.approve(id);
  await billing.moveOn(25);
  await billing.runSchedule();
  expect(await statuses(user)).toEqual(['expired', 'active']);
  const left = await billing.database.query(
    'select from billing.subscription_orders where user_id = $1 and gateway_subscription_id is null',
    [user.id],
  );
  expect(left).toEqual([]);
});

/** A subscription whose answer of the gateway was lost, and a second one; the ids in the order in which both are authorised. */
async function authoriseBoth(user: SignedUpUser, first: 'second' | 'lost'): Promise<string[]> {
  await billing.breakApi({ ...creation, mode: 'close', applied: true });
  await billing.send(user, 'subscriptions', { tier: 'basic' });
  const second = await billing.subscribe(user);
  const lost = (await billing.atGateway(user))[0]?.id ?? '';
  const order = first === 'lost' ? [lost, second] : [second, lost];
  for (const id of order) {
    await billing.approve(id);
    await billing.moveOn(1);
  }
  return order;
}

test.each(sampleOf<['second' | 'lost', string]>([['second', 'lost'], ['lost', 'second']], 1))(
  'after the %s one the %s one is authorised, too: both are charged once, one goes on, the other is a finding',
  async (first) => {
    const user = await billing.newUser();
    await authoriseBoth(user, first);
    await expectOneBilled(user);
  },
);

test('after a lost trial the second one is authorised, too: the lost one is never charged', async () => {
  await billing.database.query("update public.plans set trial_days = 7 where tier = 'basic'");
  const user = await billing.newUser();
  const [lost, second] = await authoriseBoth(user, 'lost');
  await billing.runSchedule();
  await billing.moveOn(7 * 24);
  await billing.runSchedule();
  const all = await billing.atGateway(user);
  expect(all.map(({ id, status, paid_count }) => [id, status, paid_count]).toSorted()).toEqual(
    [[lost, 'cancelled', 0], [second, 'active', 1]].toSorted(),
  );
  expect(await tierOf(user)).toBe('basic');
  await billing.database.query("update public.plans set trial_days = 0 where tier = 'basic'");
});

/** The older of two charged subscriptions ends with its cycle. Its charge is a finding until the refund. */
async function expectOneBilled(user: SignedUpUser): Promise<void> {
  await billing.runSchedule();
  const findings = () =>
    billing.database.query(
      `select f.finding, f.detail ->> 'gateway_subscription_id' as id, f.subject from billing.findings f
       where f.user_id = $1 and f.finding <> 'outbox_stuck'`,
      [user.id],
    );
  const found = await findings();
  expect(found).toMatchObject([{ finding: 'charged_twice' }]);
  const { id, subject } = Object(found[0]);
  const { now } = await billing.database.one('select extract(epoch from billing.clock())::integer as now');
  const { current_end: end = 0 } = (await billing.atGateway(user)).find((one) => one.id === id) ?? {};
  await billing.moveOn((end - Number(now)) / 3600 - 47);
  await billing.runSchedule();
  await billing.moveOn(72);
  await billing.runSchedule();
  const all = await billing.atGateway(user);
  expect(all.find((one) => one.id === id)).toMatchObject({ status: 'cancelled', paid_count: 1 });
  expect(all.filter((one) => one.id !== id)).toMatchObject([{ status: 'active', paid_count: 2 }]);
  expect(await tierOf(user)).toBe('basic');
  expect(subject).toMatch(/^pay_/);
  expect(await findings()).toEqual([]);
}
