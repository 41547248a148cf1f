import { beforeEach, expect, test } from 'vitest';
import { call, events, received, simulate, until, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

beforeEach(() => call('DELETE', '/simulate/fault'));

const quiet = { deliver: { drop: true } };
const cancelPath = '/v1/subscriptions/:id/cancel';
const started = async (): Promise<string> =>
  (await simulate('subscription', { event: 'charged', ...quiet })).subscription.id;
const cancel = (id: string) => call('POST', cancelPath.replace(':id', id), { cancel_at_cycle_end: 1 });
const chargedPayment = () => {
  const { event, payload } = JSON.parse(received.at(-1)?.body ?? '{}');
  expect(event).toBe('subscription.charged');
  return payload.payment.entity;
};

test('a cancel call refused once with 503 changes nothing: the next cycle is charged, and the second call ends it', async () => {
  const subscription_id = await started();
  await simulate('fault', { mode: 'status', status: 503, method: 'POST', path: cancelPath, times: 1 });
  expect((await call('GET', `/v1/subscriptions/${subscription_id}`)).status).toBe(200);
  expect((await cancel(subscription_id)).status).toBe(503);
  expect((await simulate('cycle', { subscription_id })).subscription).toMatchObject({
    status: 'active',
    paid_count: 2,
  });
  await until(() => received.length === 1);
  expect((await cancel(subscription_id)).status).toBe(200);
  expect((await simulate('cycle', { subscription_id })).subscription)
    .toMatchObject({ status: 'cancelled', paid_count: 2 });
  await until(() => received.length === 2);
  expect(events()).toEqual(['subscription.charged', 'subscription.cancelled']);
});

test('a cancel call whose answer is lost has its effect: the next cycle is not charged', async () => {
  const subscription_id = await started();
  await simulate('fault', { mode: 'status', status: 503, method: 'POST', path: cancelPath, times: 1, applied: true });
  expect((await cancel(subscription_id)).status).toBe(503);
  expect((await simulate('cycle', { subscription_id })).subscription)
    .toMatchObject({ status: 'cancelled', paid_count: 1 });
  await until(() => received.length === 1);
  expect(events()).toEqual(['subscription.cancelled']);
});

test('a fault of the cancel call of one subscription does not affect another one', async () => {
  const [first, second] = [await started(), await started()];
  await simulate('fault', { mode: 'status', status: 503, path: cancelPath.replace(':id', first), times: 1 });
  expect((await cancel(second)).status).toBe(200);
  expect((await cancel(first)).status).toBe(503);
});

test('subscription.charged contains the captured payment of the cycle, which has its own order', async () => {
  const subscription_id = await started();
  await simulate('cycle', { subscription_id, amount: 99900, created_at: 1_900_000_000 });
  await until(() => received.length === 1);
  const entity = chargedPayment();
  expect(entity).toMatchObject({
    id: expect.stringMatching(/^pay_[A-Za-z0-9]{14}$/),
    amount: 99900,
    currency: 'INR',
    status: 'captured',
    captured: '1',
    order_id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/),
    invoice_id: expect.stringMatching(/^inv_[A-Za-z0-9]{14}$/),
    created_at: 1_900_000_000,
  });
  expect((await call('GET', `/v1/payments/${entity.id}`)).body).toEqual({ ...entity, captured: true });
  expect((await call('GET', `/v1/orders/${entity.order_id}`)).body)
    .toMatchObject({ status: 'paid', amount_paid: 99900, created_at: 1_900_000_000 });
});

test('a cycle that is not charged has no payment in its event', async () => {
  const subscription_id = await started();
  await simulate('cycle', { subscription_id, outcome: 'pending' });
  await until(() => received.length === 1);
  const { event, contains } = JSON.parse(received[0]?.body ?? '');
  expect([event, contains]).toEqual(['subscription.pending', ['subscription']]);
});

test('a refund by the payment id of a cycle refunds only that cycle', async () => {
  const subscription_id = await started();
  await simulate('cycle', { subscription_id });
  await until(() => received.length === 1);
  const { id: kept } = chargedPayment();
  await simulate('cycle', { subscription_id });
  await until(() => received.length === 2);
  const { id: payment_id } = chargedPayment();

  const { refund } = await simulate('refund', { payment_id });
  await until(() => received.length === 4);
  expect(events().slice(2)).toEqual(['refund.created', 'refund.processed']);
  expect(refund).toMatchObject({ payment_id, amount: 49900, status: 'processed' });
  expect((await call('GET', `/v1/payments/${payment_id}/refunds`)).body.items).toEqual([refund]);
  expect((await call('GET', `/v1/payments/${payment_id}`)).body).toMatchObject({ status: 'refunded' });
  expect((await call('GET', `/v1/payments/${kept}/refunds`)).body.items).toEqual([]);
  expect((await call('GET', `/v1/payments/${kept}`)).body).toMatchObject({ status: 'captured', amount_refunded: 0 });
});

test('a refund of more than the charge of a cycle → 400', async () => {
  await simulate('cycle', { subscription_id: await started() });
  await until(() => received.length === 1);
  const { id: payment_id } = chargedPayment();
  const { status, body } = await call('POST', '/simulate/refund', { payment_id, amount: 49901 });
  expect([status, body.error.field]).toEqual([400, 'amount']);
  expect((await call('GET', `/v1/payments/${payment_id}/refunds`)).body.count).toBe(0);
});
