import { beforeAll, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

// The gateway debits each further cycle 36 hours before it begins. Cycles have 28 to 31 days.
const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));
beforeAll(() => billing.simulate('debit', { hours_before: 36 }));

const read = async (user: SignedUpUser) => (await billing.send(user, 'subscriptions')).body;
const atGateway = async (user: SignedUpUser) => (await billing.atGateway(user))[0];
/** The findings about a customer, without those about mails: none is sent here. */
const findingsOf = async ({ id }: SignedUpUser) =>
  (await billing.database.query(
    "select f.finding from billing.findings f where f.user_id = $1 and f.finding <> 'outbox_stuck'",
    [id],
  )).map((row) => row.finding);

/** A customer whose first cycle ends in so many hours, after each part of the schedule ran. */
async function endsIn(hours: number): Promise<SignedUpUser> {
  const user = await billing.newUser();
  await billing.approve(await billing.subscribe(user));
  await moveTo(user, hours);
  return user;
}

/** Moves on to so many hours before the end of the current cycle of the customer. */
async function moveTo(user: SignedUpUser, hours: number): Promise<void> {
  const { current_end = 0 } = await atGateway(user) ?? {};
  const { now } = await billing.database.one('select extract(epoch from billing.clock())::integer as now');
  await billing.moveOn((current_end - Number(now)) / 3600 - hours);
  await billing.runSchedule();
}

const cancel = async (user: SignedUpUser) => {
  expect(await billing.send(user, 'subscriptions/cancel', { at_period_end: true })).toMatchObject({ status: 200 });
  await billing.runSchedule();
};

test('a cycle that is charged before it begins renews access without a gap', async () => {
  const user = await endsIn(37);
  const { subscription } = await read(user);
  await moveTo(user, 35);
  expect(await atGateway(user)).toMatchObject({ paid_count: 2 });
  expect(await read(user)).toMatchObject({ currentTier: 'basic', subscription: { status: 'active' } });
  expect(Date.parse((await read(user)).subscription.current_period_end)).toBeGreaterThan(
    Date.parse(subscription.current_period_end),
  );
  await moveTo(user, 24 * 10);
  expect(await read(user)).toMatchObject({ currentTier: 'basic', billing: { status: 'active' } });
  expect(await findingsOf(user)).toEqual([]);
});

test.each(sampleOf([24 * 10, 49, 40], 1))(
  'a cancellation %i hours before the end of the cycle prevents its charge',
  async (hours) => {
    const user = await endsIn(hours);
    await cancel(user);
    await moveTo(user, 47);
    await moveTo(user, 35);
    expect(await read(user)).toMatchObject({ currentTier: 'basic' });
    await moveTo(user, -1);
    expect(await atGateway(user)).toMatchObject({ status: 'cancelled', paid_count: 1 });
    expect(await read(user)).toMatchObject({ currentTier: 'free', subscription: { ended_reason: 'cancelled' } });
    expect(await findingsOf(user)).toEqual([]);
  },
);

test('a cancellation 30 hours before the end of the cycle is for the end of the cycle that was charged already', async () => {
  const user = await endsIn(30);
  await cancel(user);
  const { subscription } = await read(user);
  expect(subscription).toMatchObject({ cancel_at_period_end: true });
  expect(Date.parse(subscription.current_period_end) / 1000).toBe((await atGateway(user))?.current_end);
  await moveTo(user, 47);
  await moveTo(user, -1);
  expect(await atGateway(user)).toMatchObject({ status: 'cancelled', paid_count: 2 });
  expect(await read(user)).toMatchObject({ currentTier: 'free', subscription: { ended_reason: 'cancelled' } });
  expect(await findingsOf(user)).toEqual([]);
});

test('a cancellation that reaches the gateway only after the debit: the charge is a finding, and no further one follows', async () => {
  const user = await endsIn(24 * 10);
  await cancel(user);
  await billing.breakApi({ method: 'POST', path: '/v1/subscriptions/:id/cancel' });
  await moveTo(user, 47);
  await moveTo(user, 35);
  expect(await atGateway(user)).toMatchObject({ paid_count: 2 });
  expect(await findingsOf(user)).toEqual(['charged_after_cancellation']);
  await billing.mend();
  await billing.moveOn(1);
  await billing.runSchedule();
  await moveTo(user, -1);
  expect(await atGateway(user)).toMatchObject({ status: 'cancelled', paid_count: 2 });
  expect(await read(user)).toMatchObject({ currentTier: 'free' });
});

test('without webhooks reconciliation shows the early charge at the end of the cycle at the latest', async () => {
  const user = await billing.newUser();
  const id = await billing.subscribe(user);
  billing.silent.add(id);
  await billing.approve(id);
  await billing.moveOn(1);
  await billing.runSchedule();
  await moveTo(user, 37);
  await billing.moveOn(15);
  await billing.runSchedule();
  await billing.moveOn(23);
  await billing.runSchedule();
  expect(await read(user)).toMatchObject({ currentTier: 'basic', subscription: { status: 'active' } });
  expect(Date.parse((await read(user)).subscription.current_period_end) / 1000).toBe(
    (await atGateway(user))?.current_end,
  );
});
