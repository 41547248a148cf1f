import { expect, test } from 'vitest';
import { call, type Entity, events, received, simulate, until, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

const USER = '1d9f6c1e-52c5-4e9b-8b39-0c8a4b4b7a10';
const DAYS_30 = 30 * 24 * 60 * 60;
const quiet = { deliver: { drop: true } };
const read = async (id: string) => (await call('GET', `/v1/subscriptions/${id}`)).body;
const started = async (fields: Record<string, unknown> = {}): Promise<Entity & { id: string; current_end: number }> =>
  (await simulate('subscription', { event: 'charged', user_id: USER, ...quiet, ...fields })).subscription;

test('a renewal starts the next period with a new payment, and with payment_events sends the events of the payment', async () => {
  const { id: subscription_id, current_end } = await started({ plan_id: 'plan_Pro00000000001' });
  const { subscription } = await simulate('cycle', { subscription_id, amount: 99900, payment_events: true });
  expect(await read(subscription_id)).toEqual(subscription);
  expect(subscription).toMatchObject({
    status: 'active',
    plan_id: 'plan_Pro00000000001',
    current_start: current_end,
    current_end: current_end + DAYS_30,
    paid_count: 2,
    remaining_count: 10,
    notes: { user_id: USER },
  });
  await until(() => received.length === 4);
  expect(events()).toEqual(['payment.authorized', 'payment.captured', 'order.paid', 'subscription.charged']);
  const { payment } = JSON.parse(received[3]?.body ?? '').payload;
  expect(payment.entity).toMatchObject({
    amount: 99900,
    captured: '1',
    description: 'Recurring Payment via Subscription',
  });
  expect(received.slice(0, 3).map(({ entity }) => entity.id)).toEqual(Array(3).fill(payment.entity.id));
});

test.each(['pending', 'halted', 'completed', 'paused', 'cancelled'])(
  'a subscription that became %s without a webhook has that status in the API',
  async (event) => {
    const { id: subscription_id } = await started();
    await simulate('subscription', { event, subscription_id, ...quiet });
    expect(await read(subscription_id)).toMatchObject({ id: subscription_id, status: event, notes: { user_id: USER } });
    expect(received).toEqual([]);
  },
);

test('a failed charge starts the new cycle unpaid, and a later successful charge pays it', async () => {
  const { id: subscription_id, current_end } = await started();
  const period = { current_start: current_end, current_end: current_end + DAYS_30 };
  const failed = (await simulate('cycle', { subscription_id, outcome: 'pending' })).subscription;
  expect(failed).toMatchObject({ status: 'pending', auth_attempts: 1, paid_count: 1, ...period });
  const again = (await simulate('subscription', { event: 'pending', subscription_id })).subscription;
  expect(again).toMatchObject({ status: 'pending', auth_attempts: 2, ...period });
  const halted = (await simulate('subscription', { event: 'halted', subscription_id })).subscription;
  expect(halted).toMatchObject({ status: 'halted', auth_attempts: 4, paid_count: 1, ...period });
  const charged = (await simulate('subscription', { event: 'charged', subscription_id })).subscription;
  expect(charged).toMatchObject({ status: 'active', auth_attempts: 0, paid_count: 2, ...period });
  const next = (await simulate('cycle', { subscription_id })).subscription;
  expect(next).toMatchObject({ current_start: period.current_end, paid_count: 3 });
  await until(() => received.length === 5);
  expect(events()).toEqual([
    'subscription.pending',
    'subscription.pending',
    'subscription.halted',
    'subscription.charged',
    'subscription.charged',
  ]);
});

test('a cancellation at the end of the cycle takes effect then, with a webhook', async () => {
  const { id: subscription_id, current_end } = await started();
  const before = await read(subscription_id);
  await call('POST', `/v1/subscriptions/${subscription_id}/cancel`, { cancel_at_cycle_end: 1 });
  expect(await read(subscription_id)).toEqual(before);
  expect((await call('GET', '/simulate/state')).body.ending_with_their_cycle).toContain(subscription_id);
  expect(received).toEqual([]);
  const { subscription } = await simulate('cycle', { subscription_id, created_at: current_end });
  expect(subscription).toMatchObject({
    status: 'cancelled',
    ended_at: current_end,
    charge_at: null,
    current_end,
    paid_count: 1,
  });
  await until(() => received.length === 1);
  expect(received[0]).toMatchObject({ event: 'subscription.cancelled', entity: subscription });
  expect((await call('GET', '/simulate/state')).body.ending_with_their_cycle).not.toContain(subscription_id);
  const over = await call('POST', '/simulate/cycle', { subscription_id });
  expect([over.status, over.body.error.field]).toEqual([400, 'subscription_id']);
});

test('after its last cycle a subscription is completed, with the last payment in the event', async () => {
  const { id: subscription_id } = await started({ total_count: 2 });
  const last = (await simulate('cycle', { subscription_id, ...quiet })).subscription;
  expect(last).toMatchObject({ status: 'active', paid_count: 2, remaining_count: 0 });
  const { subscription } = await simulate('cycle', { subscription_id });
  expect(subscription).toMatchObject({
    status: 'completed',
    paid_count: 2,
    charge_at: null,
    current_end: last.current_end,
  });
  await until(() => received.length === 1);
  const { event, contains, payload } = JSON.parse(received[0]?.body ?? '');
  expect([event, contains]).toEqual(['subscription.completed', ['subscription', 'payment']]);
  expect(payload.payment.entity).toMatchObject({ status: 'captured', captured: '1' });
  expect((await call('POST', `/v1/subscriptions/${subscription_id}/cancel`, {})).status).toBe(400);
});

test('notes of a subscription may contain numbers beside the user, and are an empty list when empty', async () => {
  const noted = await started({ notes: { seats: 3 } });
  expect(noted.notes).toEqual({ seats: 3, user_id: USER });
  expect((await read(noted.id)).notes).toEqual({ seats: 3, user_id: USER });
  expect((await started({ user_id: null })).notes).toEqual([]);
});

test.each([
  [{}, 'subscription_id'],
  [{ subscription_id: 'sub_Unknown0000000' }, 'subscription_id'],
  [{ subscription_id: 'sub_Unknown0000000', outcome: 'activated' }, 'outcome'],
])('POST /simulate/cycle with %j → 400 that names %s', async (fields, field) => {
  const { status, body } = await call('POST', '/simulate/cycle', { ...fields });
  expect([status, body.error.field]).toEqual([400, field]);
});
