import { expect, test } from 'vitest';
import { type Entity, useSimulator } from './gateway-simulator-rig.ts';
import { at, startBilling } from './billing-rig.ts';

useSimulator();

const quiet = { deliver: { drop: true } };
const cycle = { current_start: at('2026-02-10T12:00:00Z'), current_end: at('2026-03-10T12:00:00Z') };

/** An active subscription whose next charges fail. */
async function failing(times?: number) {
  const billing = await startBilling();
  const id = await billing.approved();
  expect(await billing.simulate('subscription-fault', { subscription_id: id, charges: 'fail', times }))
    .toEqual({ subscription_id: id, failing_charges: times ?? 'all' });
  return { ...billing, id };
}

test('a charge that fails is tried on the next three days, and then the subscription is halted', async () => {
  const { id, moveTo, read } = await failing();
  expect(await moveTo('2026-02-10T12:00:00Z')).toEqual(['pending 2026-02-10T12:00:00Z']);
  expect(await read(id)).toMatchObject({
    ...cycle,
    status: 'pending',
    auth_attempts: 1,
    paid_count: 1,
    remaining_count: 10,
    charge_at: at('2026-02-11T12:00:00Z'),
  });
  expect(await moveTo('2026-02-11T12:00:00Z')).toEqual(['pending 2026-02-11T12:00:00Z']);
  expect(await moveTo('2026-03-01T00:00:00Z')).toEqual(['pending 2026-02-12T12:00:00Z', 'halted 2026-02-13T12:00:00Z']);
  expect(await read(id)).toMatchObject({ ...cycle, status: 'halted', auth_attempts: 4, paid_count: 1 });
});

test('pending and halted name the failed payment, which has its own event', async () => {
  const { api, moveTo, simulate, webhooks } = await failing();
  await moveTo('2026-02-12T12:00:00Z', quiet);
  await simulate('clock', { shift_seconds: at('2026-02-13T12:00:00Z') - at('2026-01-10T12:00:00Z') });
  const [failed, halted] = await webhooks();
  expect([failed?.event, halted?.event, halted?.contains])
    .toEqual(['payment.failed', 'subscription.halted', ['subscription', 'payment']]);
  const payment = failed?.payload.payment.entity;
  expect(payment).toMatchObject({ status: 'failed', captured: false, amount: 99900, error_reason: 'payment_failed' });
  expect(halted?.payload.payment.entity).toEqual({ ...payment, captured: '0' });
  const { payments } = (await api('GET', '/simulate/state')).body;
  expect(payments.map(({ status }: Entity) => status)).toEqual(['failed', 'failed', 'failed', 'failed', 'captured']);
});

test('a retry that succeeds pays the same cycle, and the next charge is at its end', async () => {
  const { id, moveTo, read } = await failing(2);
  expect(await moveTo('2026-03-10T12:00:00Z')).toEqual([
    'pending 2026-02-10T12:00:00Z',
    'pending 2026-02-11T12:00:00Z',
    'charged 2026-02-12T12:00:00Z',
    'charged 2026-03-10T12:00:00Z',
  ]);
  expect(await read(id)).toMatchObject({ status: 'active', auth_attempts: 0, paid_count: 3, remaining_count: 9 });
});

test('charges: succeed ends the fault', async () => {
  const { id, moveTo, simulate } = await failing();
  await moveTo('2026-02-10T12:00:00Z');
  await simulate('subscription-fault', { subscription_id: id, charges: 'succeed' });
  expect(await moveTo('2026-02-11T12:00:00Z')).toEqual(['charged 2026-02-11T12:00:00Z']);
});

test('a halted subscription is active again after a change of the method, and its unpaid cycles are not charged', async () => {
  const { id, moveTo, read, simulate, webhooks } = await failing();
  expect((await moveTo('2026-04-15T00:00:00Z')).at(-1)).toBe('halted 2026-02-13T12:00:00Z');
  await simulate('update-method', { subscription_id: id });
  const sent = await webhooks();
  expect(sent.map(({ event, contains }) => [event, contains]))
    .toEqual([['subscription.updated', ['subscription']], ['subscription.activated', ['subscription']]]);
  expect(sent[1]?.created_at).toBe(at('2026-04-15T00:00:00Z'));
  const active = await read(id);
  expect(active).toMatchObject({
    status: 'active',
    auth_attempts: 0,
    paid_count: 1,
    current_start: at('2026-04-10T12:00:00Z'),
    current_end: at('2026-05-10T12:00:00Z'),
  });
  expect(sent[1]?.payload.subscription.entity).toEqual(active);
  expect(await moveTo('2026-05-10T12:00:00Z')).toEqual(['charged 2026-05-10T12:00:00Z']);
  expect(await read(id)).toMatchObject({ paid_count: 2, remaining_count: 7 });
});

test('a change of the method pays the open cycle of a pending subscription', async () => {
  const { id, moveTo, read, simulate, webhooks } = await failing();
  await moveTo('2026-02-11T18:00:00Z');
  await simulate('update-method', { subscription_id: id, deliver: { drop: ['payment.authorized', 'order.paid'] } });
  expect((await webhooks()).map(({ event }) => event))
    .toEqual(['subscription.updated', 'payment.captured', 'subscription.charged']);
  expect(await read(id)).toMatchObject({ ...cycle, status: 'active', paid_count: 2, charge_at: cycle.current_end });
});

test('a change of the method of an active subscription only updates it', async () => {
  const { approved, read, simulate, webhooks } = await startBilling();
  const subscription_id = await approved();
  const before = await read(subscription_id);
  await simulate('update-method', { subscription_id, method: 'card' });
  expect((await webhooks()).map(({ event }) => event)).toEqual(['subscription.updated']);
  expect(await read(subscription_id)).toEqual(before);
});

test('a first charge at start_at that fails activates nothing until a retry succeeds', async () => {
  const { approved, moveTo, simulate } = await startBilling();
  const id = await approved({ start_at: at('2026-02-01T00:00:00Z') });
  await simulate('subscription-fault', { subscription_id: id, charges: 'fail', times: 1 });
  expect(await moveTo('2026-03-01T00:00:00Z')).toEqual([
    'pending 2026-02-01T00:00:00Z',
    'activated 2026-02-02T00:00:00Z',
    'charged 2026-02-02T00:00:00Z',
    'charged 2026-03-01T00:00:00Z',
  ]);
});

test('a halted subscription is completed at the end of its last cycle', async () => {
  const { approved, moveTo, simulate } = await startBilling();
  const id = await approved({ total_count: 3 });
  await simulate('subscription-fault', { subscription_id: id, charges: 'fail' });
  expect((await moveTo('2026-12-01T00:00:00Z')).slice(-2))
    .toEqual(['halted 2026-02-13T12:00:00Z', 'completed 2026-04-10T12:00:00Z']);
});

test.each<[string, Entity, string]>([
  ['subscription-fault', { subscription_id: 'sub_Unknown0000000', charges: 'fail' }, 'subscription_id'],
  ['subscription-fault', { subscription_id: 'sub_Unknown0000000', charges: 'sometimes' }, 'charges'],
  ['update-method', { subscription_id: 'sub_Unknown0000000' }, 'subscription_id'],
])('POST /simulate/%s with %j → 400 that names %s', async (control, fields, field) => {
  const { api } = await startBilling();
  const { status, body } = await api('POST', `/simulate/${control}`, fields);
  expect([status, body.error.field]).toEqual([400, field]);
});

test('a change of the method before the approval → 400', async () => {
  const { api, subscribe } = await startBilling();
  const { status } = await api('POST', '/simulate/update-method', { subscription_id: (await subscribe()).id });
  expect(status).toBe(400);
});
