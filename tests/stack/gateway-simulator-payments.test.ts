import { describe, expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { KEY_SECRET, NOW, useSimulator, WEBHOOK_SECRET } from './gateway-simulator-rig.ts';
import { createOrder, type Entity, events, pay, read, simulate, webhooks } from './simulate.ts';

useSimulator();

/** An order: `paid 49900 of 49900, 1 attempts`. */
async function orderOf({ id }: { id: string }): Promise<string> {
  const { status, amount, amount_paid, amount_due, attempts } = await read(`orders/${id}`);
  expect(amount_paid + amount_due).toBe(amount);
  return `${status} ${amount_paid} of ${amount}, ${attempts} attempts`;
}
const statuses = async ({ id }: { id: string }) =>
  (await read(`orders/${id}/payments`)).items.map(({ status }: Entity) => status);

test('a signature is HMAC-SHA256 in lower-case hex: pinned vectors; an empty secret signs nothing', async () => {
  expect(await signHex('key-secret', 'order_A1b2C3d4E5f6G7|pay_H8i9J0k1L2m3N4'))
    .toBe('9be9fd7862f04da99a2b0739f82105d1650b1aedb32751fcefbf4bf1491cf6ac');
  expect(await signHex('webhook-secret', '{"event":"payment.captured","text":"₹ é"}'))
    .toBe('da23069d10702d272d6eb5033e796dc422e41397b297dec54e49193e87d89dd9');
  expect(() => signHex('', 'order|payment')).toThrow();
});

test('POST /v1/orders creates an order, which GET reads; empty notes are an empty list', async () => {
  const fields = { amount: 49900, currency: 'INR', receipt: 'r'.repeat(40), notes: { tier: 'pro', n: 1 } };
  const order = await createOrder(fields);
  expect(order).toMatchObject({
    ...{ ...fields, id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/), entity: 'order', status: 'created' },
    ...{ attempts: 0, amount_paid: 0, amount_due: 49900, created_at: NOW },
  });
  expect(await read(`orders/${order.id}`)).toEqual(order);
  expect([(await createOrder()).notes, (await createOrder({ notes: {} })).notes]).toEqual([[], []]);
  expect((await createOrder({ receipt: fields.receipt })).error.field).toBe('receipt');
});

describe('POST /simulate/pay', () => {
  test('captured: the order is paid, the answer is signed, and each webhook has the state at its time', async () => {
    const order = await createOrder({ notes: { tier: 'pro' } });
    const answer = await pay(order, { notes: { seats: 3, of: 'us' } });
    const id = answer.gateway_payment_id;
    expect(answer).toEqual({
      gateway_order_id: order.id,
      gateway_payment_id: expect.stringMatching(/^pay_[A-Za-z0-9]{14}$/),
      gateway_signature: await signHex(KEY_SECRET, `${order.id}|${id}`),
    });
    const paidOrder = { ...order, status: 'paid', attempts: 1, amount_paid: 49900, amount_due: 0 };
    expect(await read(`orders/${order.id}`)).toEqual(paidOrder);
    const payment = await read(`payments/${id}`);
    expect(payment).toMatchObject({
      ...{ entity: 'payment', order_id: order.id, amount: 49900, currency: 'INR', notes: { seats: 3, of: 'us' } },
      ...{ status: 'captured', captured: true, error_code: null, created_at: NOW },
    });
    expect(await read(`orders/${order.id}/payments`)).toEqual({ entity: 'collection', count: 1, items: [payment] });

    const sent = await webhooks();
    expect(new Set(sent.map(({ eventId }) => eventId)).size).toBe(3);
    for (const { body, signature, contains, payload, created_at, entity } of sent) {
      expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
      expect([entity, created_at, contains]).toEqual(['event', NOW, Object.keys(payload)]);
    }
    const authorized = expect.objectContaining({ id, status: 'authorized', captured: false });
    expect(sent.map(({ event, payload }) => [event, payload])).toEqual([
      ['payment.authorized', { payment: { entity: authorized } }],
      ['payment.captured', { payment: { entity: payment } }],
      ['order.paid', { payment: { entity: payment }, order: { entity: paidOrder } }],
    ]);
  });

  test('failed: the answer has the error and no signature, and the order takes further attempts', async () => {
    const order = await createOrder();
    const failed = await pay(order, { outcome: 'failed', error_description: 'Out of funds.' });
    expect(failed.gateway_signature).toBeNull();
    expect(failed.error).toEqual({
      ...{ code: 'BAD_REQUEST_ERROR', description: 'Out of funds.', reason: 'payment_failed', source: 'customer' },
      step: 'payment_authentication',
      metadata: { order_id: order.id, payment_id: failed.gateway_payment_id },
    });
    const [{ event, payload }] = await webhooks();
    expect([event, payload.payment.entity]).toEqual(['payment.failed', {
      ...await read(`payments/${failed.gateway_payment_id}`),
      ...{ status: 'failed', error_description: 'Out of funds.', error_reason: 'payment_failed' },
    }]);
    await pay(order);
    await pay(order, { outcome: 'failed' });
    expect(await orderOf(order)).toBe('paid 49900 of 49900, 3 attempts');
    expect(await statuses(order)).toEqual(['failed', 'captured', 'failed']);
  });

  test('authorized is signed, created is not and has no webhook; the order stays unpaid', async () => {
    const order = await createOrder();
    const authorized = await pay(order, { outcome: 'authorized' });
    const signature = await signHex(KEY_SECRET, `${order.id}|${authorized.gateway_payment_id}`);
    const { gateway_signature } = await pay(order, { outcome: 'created' });
    expect([authorized.gateway_signature, gateway_signature]).toEqual([signature, null]);
    expect([await events(), await statuses(order)]).toEqual([['payment.authorized'], ['created', 'authorized']]);
    expect(await orderOf(order)).toBe('attempted 0 of 49900, 2 attempts');
  });

  test('captured twice at the same time: one is refused', async () => {
    const order = await createOrder();
    const answers = await Promise.all([pay(order), pay(order)]);
    expect(answers.map(({ error }) => error?.reason).sort()).toEqual(['order_already_paid', undefined]);
    expect(await statuses(order)).toEqual(['captured']);
  });
});

describe('POST /simulate/payment', () => {
  test('a failed payment becomes authorized and captured, each with a webhook of its time', async () => {
    const order = await createOrder();
    const { gateway_payment_id: payment_id } = await pay(order, { outcome: 'failed', created_at: NOW - 9 });
    expect(await simulate('payment', { payment_id, to: 'authorized' })).toMatchObject({
      gateway_payment_id: payment_id,
      gateway_signature: await signHex(KEY_SECRET, `${order.id}|${payment_id}`),
    });
    await simulate('payment', { payment_id, to: 'captured', created_at: NOW + 9 });
    expect([await orderOf(order), await statuses(order)]).toEqual(['paid 49900 of 49900, 1 attempts', ['captured']]);
    expect(
      (await webhooks()).map((
        { event, created_at, payload },
      ) => [event, created_at - NOW, payload.payment.entity.status]),
    ).toEqual([
      ['payment.failed', -9, 'failed'],
      ['payment.authorized', 0, 'authorized'],
      ['payment.captured', 9, 'captured'],
      ['order.paid', 9, 'captured'],
    ]);
  });

  test('a late payment of a paid order is captured only with although_paid', async () => {
    const order = await createOrder();
    const { gateway_payment_id: payment_id } = await pay(order, { outcome: 'failed' });
    await pay(order);
    const refused = await simulate('payment', { payment_id, to: 'captured' });
    expect([refused.error.reason, await statuses(order)]).toEqual(['order_already_paid', ['captured', 'failed']]);
    await simulate('payment', { payment_id, to: 'captured', although_paid: true });
    expect(await statuses(order)).toEqual(['captured', 'captured']);
  });
});

describe('an irregular webhook', () => {
  /** The only webhook of a payment, and the payment in the API. */
  async function sent(irregular: Entity, event = 'payment.captured') {
    const made = await pay(await createOrder(), { outcome: 'captured', irregular, deliver: { events: [event] } });
    const [{ body, signature }] = await webhooks();
    expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
    return { envelope: JSON.parse(body), payment: await read(`payments/${made.gateway_payment_id}`) };
  }

  test('has created_at nowhere or in payload, contains is incomplete, keys are in another order', async () => {
    const { envelope: missing } = await sent({ created_at: 'missing' });
    expect(Object.keys(missing)).toEqual(['entity', 'account_id', 'event', 'contains', 'payload']);
    const { envelope: inside } = await sent({ created_at: 'in_payload' });
    expect([inside.created_at, inside.payload.created_at]).toEqual([undefined, NOW]);
    const { envelope: { contains, payload } } = await sent({ contains: 'incomplete' }, 'order.paid');
    expect([contains, Object.keys(payload)]).toEqual([['payment'], ['payment', 'order']]);
    const { envelope: sorted } = await sent({ key_order: 'sorted' });
    expect(Object.keys(sorted)).toEqual(Object.keys(sorted).toSorted());
  });

  test.each([{ captured: '1' }, { error_description: '' }])('can have %j, which the API has not', async (irregular) => {
    const { envelope, payment } = await sent(irregular);
    expect(envelope.payload.payment.entity).toEqual({ ...payment, ...irregular });
    expect(payment.captured).toBe(true);
  });
});
