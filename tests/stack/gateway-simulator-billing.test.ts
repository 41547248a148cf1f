import { expect, test } from 'vitest';
import { useSimulator } from './gateway-simulator-rig.ts';
import { at, startBilling } from './billing-rig.ts';

useSimulator();

test('the clock charges the next cycle when the current one ends, not a second earlier', async () => {
  const { api, approved, moveTo, read, simulate, webhooks } = await startBilling();
  const id = await approved();
  expect(await moveTo('2026-02-10T11:59:59Z')).toEqual([]);
  expect(await moveTo('2026-02-10T12:00:00Z', { settle: false })).toEqual([]);
  expect((await simulate('due', {})).event_ids).toHaveLength(4);
  const sent = await webhooks();
  expect(sent.map(({ event }) => event))
    .toEqual(['payment.authorized', 'payment.captured', 'order.paid', 'subscription.charged']);
  const renewed = await read(id);
  expect(renewed).toMatchObject({
    status: 'active',
    current_start: at('2026-02-10T12:00:00Z'),
    current_end: at('2026-03-10T12:00:00Z'),
    charge_at: at('2026-03-10T12:00:00Z'),
    paid_count: 2,
    remaining_count: 10,
  });
  const { subscription, payment } = sent[3]?.payload ?? {};
  expect(subscription.entity).toEqual(renewed);
  expect((await api('GET', `/v1/payments/${payment.entity.id}`)).body)
    .toEqual({ ...payment.entity, captured: true, created_at: at('2026-02-10T12:00:00Z') });
  expect((await simulate('due', {})).event_ids).toEqual([]);
});

test('a jump over several cycles charges each at its own time, and keeps the day of the month', async () => {
  const { approved, moveTo, read } = await startBilling('2026-01-31T08:00:00Z');
  const id = await approved();
  expect(await moveTo('2026-05-01T00:00:00Z')).toEqual([
    'charged 2026-02-28T08:00:00Z',
    'charged 2026-03-31T08:00:00Z',
    'charged 2026-04-30T08:00:00Z',
  ]);
  expect(await read(id)).toMatchObject({ current_end: at('2026-05-31T08:00:00Z'), paid_count: 4 });
});

test('two subscriptions are charged in the order of their times', async () => {
  const { approved, moveTo, simulate } = await startBilling();
  await simulate('plan', { id: 'plan_Weekly00000001', period: 'weekly', interval: 2 });
  await approved();
  await approved({ plan_id: 'plan_Weekly00000001' });
  expect(await moveTo('2026-02-21T12:00:00Z')).toEqual([
    'charged 2026-01-24T12:00:00Z',
    'charged 2026-02-07T12:00:00Z',
    'charged 2026-02-10T12:00:00Z',
    'charged 2026-02-21T12:00:00Z',
  ]);
});

test('after the last cycle the subscription is completed, and nothing is charged later', async () => {
  const { approved, moveTo, read } = await startBilling();
  const id = await approved({ total_count: 2 });
  expect(await moveTo('2026-12-01T00:00:00Z')).toEqual([
    'charged 2026-02-10T12:00:00Z',
    'completed 2026-03-10T12:00:00Z',
  ]);
  expect(await read(id)).toMatchObject({
    status: 'completed',
    ended_at: at('2026-03-10T12:00:00Z'),
    charge_at: null,
    paid_count: 2,
    remaining_count: 0,
  });
  expect(await moveTo('2027-12-01T00:00:00Z')).toEqual([]);
});

test('a cancellation at the end of the cycle takes effect then instead of a charge', async () => {
  const { api, approved, moveTo, read } = await startBilling();
  const id = await approved();
  expect((await api('POST', `/v1/subscriptions/${id}/cancel`, { cancel_at_cycle_end: 1 })).status).toBe(200);
  expect(await moveTo('2026-12-01T00:00:00Z')).toEqual(['cancelled 2026-02-10T12:00:00Z']);
  expect(await read(id)).toMatchObject({ status: 'cancelled', paid_count: 1, ended_at: at('2026-02-10T12:00:00Z') });
});

test('a cancellation at the end of the cycle before the first cycle → 400', async () => {
  const { api, approved } = await startBilling();
  const id = await approved({ start_at: at('2026-03-01T00:00:00Z') });
  const { status, body } = await api('POST', `/v1/subscriptions/${id}/cancel`, { cancel_at_cycle_end: 1 });
  expect([status, body.error.field]).toEqual([400, 'cancel_at_cycle_end']);
  expect((await api('POST', `/v1/subscriptions/${id}/cancel`, { cancel_at_cycle_end: 0 })).body.status).toBe(
    'cancelled',
  );
});

test('a subscription that is not authorised until expire_by expires, without a webhook', async () => {
  const { api, moveTo, read, simulate, subscribe } = await startBilling();
  const { id } = await subscribe({ expire_by: at('2026-01-12T00:00:00Z') });
  await moveTo('2026-01-11T23:59:59Z');
  expect(await read(id)).toMatchObject({ status: 'created' });
  expect(await moveTo('2026-01-12T00:00:00Z')).toEqual([]);
  expect(await read(id)).toMatchObject({ status: 'expired', paid_count: 0 });
  const approval = await simulate('authorise', { subscription_id: id, outcome: 'approved' });
  expect(approval.error.description).toBe('A subscription that is expired can not be authorised.');
  expect((await api('POST', `/v1/subscriptions/${id}/cancel`)).status).toBe(400);
});

test('an authorised subscription does not expire', async () => {
  const { approved, moveTo, read } = await startBilling();
  const id = await approved({ expire_by: at('2026-01-12T00:00:00Z') });
  await moveTo('2026-01-13T00:00:00Z');
  expect(await read(id)).toMatchObject({ status: 'active' });
});

test('a moved clock can drop the webhooks of renewals, so that only the API shows them', async () => {
  const { approved, moveTo, read } = await startBilling();
  const id = await approved();
  expect(await moveTo('2026-02-11T00:00:00Z', { deliver: { drop: true } })).toEqual([]);
  expect(await read(id)).toMatchObject({ paid_count: 2 });
});

test('a clock that is moved back charges no cycle twice', async () => {
  const { approved, moveTo, read } = await startBilling();
  const id = await approved();
  await moveTo('2026-02-10T12:00:00Z');
  expect(await moveTo('2026-01-10T12:00:00Z')).toEqual([]);
  expect(await moveTo('2026-02-11T12:00:00Z')).toEqual([]);
  expect(await read(id)).toMatchObject({ paid_count: 2 });
});

test('a new price of the plan holds from the next charge on', async () => {
  const { approved, moveTo, simulate, api } = await startBilling();
  await approved();
  await simulate('plan', { id: 'plan_Pro00000000001', amount: 120000 });
  await moveTo('2026-02-10T12:00:00Z');
  const { payments } = (await api('GET', '/simulate/state')).body;
  expect(payments.map(({ amount }: { amount: number }) => amount)).toEqual([120000, 99900]);
});

test('while the simulator runs, it charges without a control', async () => {
  let now = at('2026-01-10T12:00:00Z');
  const { approved, read } = await startBilling(undefined, () => now * 1000);
  const id = await approved();
  now = at('2026-02-10T12:00:00Z');
  await expect.poll(async () => (await read(id)).paid_count, { timeout: 10_000 }).toBe(2);
});

test('a subscription that a control created is charged by /simulate/cycle only', async () => {
  const { moveTo, simulate } = await startBilling();
  const drop = { deliver: { drop: true } };
  const { subscription } = await simulate('subscription', { event: 'charged', ...drop });
  expect(await moveTo('2026-12-01T00:00:00Z')).toEqual([]);
  expect((await simulate('cycle', { subscription_id: subscription.id, ...drop })).subscription.paid_count).toBe(2);
});

test('/simulate/cycle charges the next cycle of a subscription early, and the clock goes on from there', async () => {
  const { approved, moveTo, simulate } = await startBilling();
  const subscription_id = await approved();
  const { subscription } = await simulate('cycle', { subscription_id, deliver: { drop: true } });
  expect(subscription).toMatchObject({ current_end: at('2026-03-10T12:00:00Z'), paid_count: 2 });
  expect(await moveTo('2026-03-10T12:00:00Z')).toEqual(['charged 2026-03-10T12:00:00Z']);
});

test('after POST /simulate/debit a further cycle is charged before it begins, unless its cancellation came before', async () => {
  const { api, approved, moveTo, simulate } = await startBilling();
  expect((await api('POST', '/simulate/debit', { hours_before: 37 })).status).toBe(400);
  await simulate('debit', { hours_before: 36 });
  const [charged, cancelled] = [await approved(), await approved()];
  expect(await moveTo('2026-02-08T23:59:59Z')).toEqual([]);
  await api('POST', `/v1/subscriptions/${cancelled}/cancel`, { cancel_at_cycle_end: 1 });
  expect(await moveTo('2026-02-09T00:00:00Z')).toEqual(['charged 2026-02-09T00:00:00Z']);
  const { body } = await api('GET', `/v1/subscriptions/${charged}`);
  expect(body).toMatchObject({
    current_start: at('2026-02-10T12:00:00Z'),
    current_end: at('2026-03-10T12:00:00Z'),
    paid_count: 2,
  });
  await api('POST', `/v1/subscriptions/${charged}/cancel`, { cancel_at_cycle_end: 1 });
  expect(await moveTo('2026-03-10T12:00:00Z')).toEqual([
    'cancelled 2026-02-10T12:00:00Z',
    'cancelled 2026-03-10T12:00:00Z',
  ]);
});
