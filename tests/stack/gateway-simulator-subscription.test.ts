import { expect, test } from 'vitest';
import { call, events, received, until, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

const USER = '7f3c1f0e-9a4b-4c55-8f0a-2d6f1f0b9c11';
const subscribe = (fields: Record<string, unknown>) => call('POST', '/simulate/subscription', fields);

test('an activation creates a subscription with a period, and its event has the user in the notes', async () => {
  const { status, body } = await subscribe({ event: 'activated', user_id: USER, plan_id: 'plan_Pro00000000001' });
  expect(status).toBe(200);
  await until(() => received.length === 1);
  expect(received[0]).toMatchObject({
    event: 'subscription.activated',
    eventId: body.event_ids[0],
    entity: {
      id: expect.stringMatching(/^sub_[A-Za-z0-9]{14}$/),
      entity: 'subscription',
      plan_id: 'plan_Pro00000000001',
      status: 'active',
      notes: { user_id: USER },
    },
  });
  const { current_start, current_end } = body.subscription;
  expect(current_end - current_start).toBe(30 * 24 * 60 * 60);
  expect((await call('GET', `/v1/subscriptions/${body.subscription.id}`)).body).toEqual(body.subscription);
});

test('the first charge keeps the period, the second starts the next one, and each event has its payment', async () => {
  const subscription_id = (await subscribe({ event: 'activated', user_id: USER })).body.subscription.id;
  const first = (await subscribe({ event: 'charged', subscription_id })).body.subscription;
  const second = (await subscribe({ event: 'charged', subscription_id })).body.subscription;
  expect(second).toMatchObject({ current_start: first.current_end, paid_count: 2, notes: { user_id: USER } });
  await until(() => received.length === 3);
  const envelope = JSON.parse(received[2]?.body ?? '');
  expect(envelope.contains).toEqual(['subscription', 'payment']);
  const payment = envelope.payload.payment.entity;
  expect(payment.captured).toBe('1');
  expect((await call('GET', `/v1/payments/${payment.id}`)).body).toEqual({ ...payment, captured: true });
});

test('the times of an event are the requested ones, including null and absent', async () => {
  await subscribe({
    event: 'charged',
    current_start: 1_700_000_000,
    current_end: 1_702_592_000,
    created_at: 1_700_000_005,
  });
  await subscribe({ event: 'activated', current_start: null, current_end: null });
  await subscribe({ event: 'authenticated' });
  await until(() => received.length === 3);
  expect(received.map(({ entity }) => [entity.current_start, entity.current_end, entity.notes])).toEqual(
    [[1_700_000_000, 1_702_592_000, []], [null, null, []], [null, null, []]],
  );
  expect(JSON.parse(received[0]?.body ?? '').created_at).toBe(1_700_000_005);
});

test.each([
  ['authenticated', 'authenticated'],
  ['pending', 'pending'],
  ['halted', 'halted'],
  ['paused', 'paused'],
  ['resumed', 'active'],
  ['completed', 'completed'],
  ['updated', 'active'],
])('subscription.%s sets the status %s', async (event, status) => {
  const subscription_id = (await subscribe({ event: 'activated' })).body.subscription.id;
  const { body } = await subscribe({ event, subscription_id });
  expect(body.subscription.status).toBe(status);
  await until(() => events().includes(`subscription.${event}`));
});

test('POST /v1/subscriptions/:id/cancel cancels at once and for good, with a webhook', async () => {
  const subscription_id = (await subscribe({ event: 'activated', user_id: USER })).body.subscription.id;
  const path = `/v1/subscriptions/${subscription_id}`;
  const { status, body } = await call('POST', `${path}/cancel`, { cancel_at_cycle_end: 0 });
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: subscription_id, status: 'cancelled', charge_at: null, notes: { user_id: USER } });
  await until(() => received.length === 2);
  expect(received[1]).toMatchObject({ event: 'subscription.cancelled', entity: body });
  expect((await call('POST', `${path}/cancel`, {})).status).toBe(400);
  const late = (await subscribe({ event: 'activated', subscription_id, created_at: body.ended_at - 60 })).body;
  expect(late.subscription.status).toBe('active');
  expect((await call('GET', path)).body).toEqual(body);
});

test('a cancellation at the end of the cycle changes neither the entity nor sends a webhook', async () => {
  const { subscription } = (await subscribe({ event: 'activated' })).body;
  await until(() => received.length === 1);
  const { status, body } = await call('POST', `/v1/subscriptions/${subscription.id}/cancel`, {
    cancel_at_cycle_end: 1,
  });
  expect(status).toBe(200);
  expect(body).toEqual(subscription);
  expect(received).toHaveLength(1);
});
