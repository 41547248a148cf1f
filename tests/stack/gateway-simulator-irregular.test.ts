import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import {
  call,
  createOrder,
  type Entity,
  pay,
  received,
  simulate,
  until,
  useSimulator,
  WEBHOOK_SECRET,
} from './gateway-simulator-rig.ts';

useSimulator();

/** Sends one webhook of a payment with this irregularity, and returns it parsed. */
async function sent(irregular: Record<string, unknown>, event = 'payment.captured', fields: Entity = {}) {
  const outcome = event === 'payment.failed' ? 'failed' : 'captured';
  const order = await createOrder();
  const { body: paid } = await pay(order, { outcome, irregular, deliver: { events: [event] }, ...fields });
  await until(() => received.length === 1);
  const [{ body = '', signature = null } = {}] = received;
  expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
  const payment = (await call('GET', `/v1/payments/${paid.gateway_payment_id}`)).body;
  return { body, envelope: JSON.parse(body), payment };
}

test('created_at can be missing', async () => {
  const { envelope } = await sent({ created_at: 'missing' });
  expect(Object.keys(envelope)).toEqual(['entity', 'account_id', 'event', 'contains', 'payload']);
  expect(Object.keys(envelope.payload)).toEqual(['payment']);
});

test('created_at can be inside payload', async () => {
  const { envelope } = await sent({ created_at: 'in_payload' });
  expect(envelope.created_at).toBeUndefined();
  expect(Math.abs(envelope.payload.created_at - Date.now() / 1000)).toBeLessThan(5);
});

test('contains can be incomplete', async () => {
  const { envelope } = await sent({ contains: 'incomplete' }, 'order.paid');
  expect(envelope.contains).toEqual(['payment']);
  expect(Object.keys(envelope.payload)).toEqual(['payment', 'order']);
});

test.each(['1', '0', true, false])('captured can be %j in the webhook, and is true in the API', async (captured) => {
  const { envelope, payment } = await sent({ captured });
  expect(envelope.payload.payment.entity).toEqual({ ...payment, captured });
  expect(payment.captured).toBe(true);
});

test.each([null, '', 'Late word from the bank.'])('error_description of a capture can be %j', async (text) => {
  const { envelope, payment } = await sent({ error_description: text });
  expect(envelope.payload.payment.entity).toEqual({ ...payment, error_description: text });
});

test.each([null, '', 'Out of funds.'])('error_description of a failure can be %j, in API and webhook', async (text) => {
  const { envelope, payment } = await sent({}, 'payment.failed', { error_description: text });
  expect(envelope.payload.payment.entity).toEqual(payment);
  expect(payment.error_description).toBe(text);
});

test('payment.failed can have no order_id', async () => {
  const { envelope, payment } = await sent({ order_id: null }, 'payment.failed');
  expect(envelope.payload.payment.entity).toEqual({ ...payment, order_id: null });
});

test('the order of keys can differ, with the same values', async () => {
  const sorted = await sent({ key_order: 'sorted' });
  const keys = Object.keys(sorted.envelope.payload.payment.entity);
  expect(keys).toEqual(keys.toSorted());
  expect(Object.keys(sorted.envelope)[0]).toBe('account_id');
  expect(sorted.envelope.payload.payment.entity).toEqual(sorted.payment);
  received.length = 0;
  const reversed = await sent({ key_order: 'reversed' });
  expect(Object.keys(reversed.envelope)[0]).toBe('created_at');
  expect(Object.keys(reversed.envelope.payload.payment.entity)).toEqual(Object.keys(reversed.payment).reverse());
});

test('notes keep numbers as numbers, and empty notes are an empty list', async () => {
  const { envelope } = await sent({}, 'payment.captured', { notes: { seats: 3, of: 'us' } });
  expect(envelope.payload.payment.entity.notes).toEqual({ seats: 3, of: 'us' });
  received.length = 0;
  expect((await sent({}, 'order.paid')).envelope.payload).toMatchObject({
    payment: { entity: { notes: [] } },
    order: { entity: { notes: [] } },
  });
});

test('refunds, disputes and subscriptions can be irregular in the same ways', async () => {
  const { body: paid } = await pay(await createOrder(), { deliver: { drop: true } });
  const payment_id = paid.gateway_payment_id;
  const irregular = { created_at: 'missing', contains: 'incomplete', captured: '1' };
  await simulate('refund', { payment_id, irregular, deliver: { events: ['refund.processed'] } });
  await simulate('dispute', { payment_id, event: 'created', irregular });
  await simulate('subscription', { event: 'charged', irregular });
  await until(() => received.length === 3);
  expect(received.map(({ body }) => {
    const { event, contains, payload, created_at } = JSON.parse(body);
    return [event, contains, Object.keys(payload), payload.payment.entity.captured, created_at];
  })).toEqual([
    ['refund.processed', ['refund'], ['refund', 'payment'], '1', undefined],
    ['payment.dispute.created', ['payment'], ['payment', 'dispute'], '1', undefined],
    ['subscription.charged', ['subscription'], ['subscription', 'payment'], '1', undefined],
  ]);
});

test('an unknown irregularity → 400', async () => {
  const { status, body } = await pay(await createOrder(), { irregular: { created_at: 'late' } });
  expect([status, body.error.field]).toEqual([400, 'irregular.created_at']);
});
