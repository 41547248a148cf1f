import { expect, test } from 'vitest';
import { arrived, call, createOrder, pay, received, simulate, until, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

const quiet = { deliver: { drop: true } };
const payment = async (id: string) => (await call('GET', `/v1/payments/${id}`)).body;
const paid = async (outcome = 'captured'): Promise<string> =>
  (await pay(await createOrder(), { outcome, ...quiet })).body.gateway_payment_id;
const refundEvents = () =>
  received.map(({ event, body }) => {
    const { contains, payload } = JSON.parse(body);
    const { amount, status } = payload.refund.entity;
    const { amount_refunded, refund_status, status: payment_status } = payload.payment.entity;
    return [event, contains.join('+'), amount, status, amount_refunded, refund_status, payment_status];
  });

test('partial refunds add up to a full refund, and each event contains refund and payment', async () => {
  const payment_id = await paid();
  const { refund } = await simulate('refund', { payment_id, amount: 20000, notes: { reason: 'late', n: 1 } });
  expect(refund).toMatchObject({
    id: expect.stringMatching(/^rfnd_[A-Za-z0-9]{14}$/),
    entity: 'refund',
    payment_id,
    amount: 20000,
    currency: 'INR',
    status: 'processed',
    notes: { reason: 'late', n: 1 },
  });
  expect(await payment(payment_id))
    .toMatchObject({ status: 'captured', captured: true, amount_refunded: 20000, refund_status: 'partial' });
  const rest = await simulate('refund', { payment_id });
  expect(rest.payment).toEqual(await payment(payment_id));
  expect(rest.payment)
    .toMatchObject({ status: 'refunded', captured: true, amount_refunded: 49900, refund_status: 'full' });
  await until(() => received.length === 4);
  expect(refundEvents()).toEqual([
    ['refund.created', 'refund+payment', 20000, 'pending', 20000, 'partial', 'captured'],
    ['refund.processed', 'refund+payment', 20000, 'processed', 20000, 'partial', 'captured'],
    ['refund.created', 'refund+payment', 29900, 'pending', 49900, 'full', 'refunded'],
    ['refund.processed', 'refund+payment', 29900, 'processed', 49900, 'full', 'refunded'],
  ]);
  expect(received.slice(2).map(({ eventId }) => eventId)).toEqual(rest.event_ids);
  expect(JSON.parse(received[2]?.body ?? '').payload.refund.entity.notes).toEqual([]);
});

test('the payment counts a pending refund until it fails', async () => {
  const payment_id = await paid();
  const first = (await simulate('refund', { payment_id, amount: 100, event: 'created' })).refund.id;
  const second = (await simulate('refund', { payment_id, event: 'created' })).refund.id;
  expect(await payment(payment_id)).toMatchObject({ status: 'refunded', amount_refunded: 49900 });
  await simulate('refund', { refund_id: second, event: 'failed' });
  expect(await payment(payment_id)).toMatchObject({
    status: 'captured',
    amount_refunded: 100,
    refund_status: 'partial',
  });
  await simulate('refund', { refund_id: first, event: 'speed_changed' });
  await simulate('refund', { refund_id: first, event: 'failed' });
  expect(await payment(payment_id)).toMatchObject({ status: 'captured', amount_refunded: 0, refund_status: null });
  await simulate('refund', { payment_id, event: 'failed' });
  expect(await payment(payment_id)).toMatchObject({ status: 'captured', amount_refunded: 0, refund_status: null });
  await until(() => received.length === 7);
  expect(received.map(({ event, entity }) => [event, entity.status])).toEqual([
    ['refund.created', 'pending'],
    ['refund.created', 'pending'],
    ['refund.failed', 'failed'],
    ['refund.speed_changed', 'pending'],
    ['refund.failed', 'failed'],
    ['refund.created', 'pending'],
    ['refund.failed', 'failed'],
  ]);
});

test('a payment that was never captured is refunded only in full', async () => {
  const payment_id = await paid('authorized');
  expect((await call('POST', '/simulate/refund', { payment_id, amount: 100 })).status).toBe(400);
  await simulate('refund', { payment_id, ...quiet });
  expect(await payment(payment_id)).toMatchObject({ status: 'refunded', captured: false, amount_refunded: 49900 });
});

test('impossible refunds → 400 that names the field, nothing changes', async () => {
  const refuse = async (fields: Record<string, unknown>, field: string) => {
    const { status, body } = await call('POST', '/simulate/refund', fields);
    expect([status, body.error.field], JSON.stringify(fields)).toEqual([400, field]);
  };
  const payment_id = await paid();
  await refuse({}, 'payment_id');
  await refuse({ payment_id, refund_id: 'rfnd_Unknown0000000' }, 'payment_id');
  await refuse({ payment_id: 'pay_Unknown0000000' }, 'payment_id');
  await refuse({ refund_id: 'rfnd_Unknown0000000' }, 'refund_id');
  await refuse({ payment_id, amount: 49901 }, 'amount');
  await refuse({ payment_id, amount: 0 }, 'amount');
  await refuse({ payment_id, event: 'speed_changed' }, 'event');
  await refuse({ payment_id: await paid('failed') }, 'payment_id');
  expect(await payment(payment_id)).toMatchObject({ status: 'captured', amount_refunded: 0, refund_status: null });
  const { refund } = await simulate('refund', { payment_id, ...quiet });
  await refuse({ payment_id }, 'payment_id');
  await refuse({ refund_id: refund.id, event: 'processed' }, 'event');
});

/** Makes a refund or changes its status, and waits for its events. */
async function refundAndWait(fields: Record<string, unknown>) {
  const { refund, event_ids } = await simulate('refund', fields);
  await arrived(event_ids);
  return refund;
}

test('pending refunds add up; each is processed or fails on its own, and the payment follows', async () => {
  const payment_id = await paid();
  const first = await refundAndWait({ payment_id, amount: 10000, event: 'created' });
  const second = await refundAndWait({ payment_id, amount: 20000, event: 'created' });
  const third = await refundAndWait({ payment_id, amount: 19900, event: 'created' });
  await refundAndWait({ refund_id: second.id, event: 'failed' });
  await refundAndWait({ refund_id: third.id, event: 'processed' });
  await refundAndWait({ refund_id: first.id, event: 'processed' });
  expect(refundEvents()).toEqual([
    ['refund.created', 'refund+payment', 10000, 'pending', 10000, 'partial', 'captured'],
    ['refund.created', 'refund+payment', 20000, 'pending', 30000, 'partial', 'captured'],
    ['refund.created', 'refund+payment', 19900, 'pending', 49900, 'full', 'refunded'],
    ['refund.failed', 'refund+payment', 20000, 'failed', 29900, 'partial', 'captured'],
    ['refund.processed', 'refund+payment', 19900, 'processed', 29900, 'partial', 'captured'],
    ['refund.processed', 'refund+payment', 10000, 'processed', 29900, 'partial', 'captured'],
  ]);
});

test('a refund can fail after it was processed; the payment no longer counts it and can be refunded again', async () => {
  const payment_id = await paid();
  const { id: refund_id } = await refundAndWait({ payment_id });
  await refundAndWait({ refund_id, event: 'failed' });
  await refundAndWait({ payment_id, amount: 100 });
  expect(refundEvents()).toEqual([
    ['refund.created', 'refund+payment', 49900, 'pending', 49900, 'full', 'refunded'],
    ['refund.processed', 'refund+payment', 49900, 'processed', 49900, 'full', 'refunded'],
    ['refund.failed', 'refund+payment', 49900, 'failed', 0, null, 'captured'],
    ['refund.created', 'refund+payment', 100, 'pending', 100, 'partial', 'captured'],
    ['refund.processed', 'refund+payment', 100, 'processed', 100, 'partial', 'captured'],
  ]);
});

test.each(['created', 'processed', 'failed'])('a refund that failed does not become %s → 400', async (event) => {
  const payment_id = await paid();
  const { refund } = await simulate('refund', { payment_id, event: 'failed', ...quiet });
  const { status, body } = await call('POST', '/simulate/refund', { refund_id: refund.id, event });
  expect([status, body.error.field]).toEqual([400, 'event']);
  expect(await payment(payment_id)).toMatchObject({ status: 'captured', amount_refunded: 0, refund_status: null });
});

test.each([
  ['more than the payment', 0, 49901, 'The refund amount provided is greater than amount captured'],
  [
    'more than pending refunds leave',
    30000,
    19901,
    'The total refund amount is greater than the refund payment amount',
  ],
  ['a payment whose whole amount is pending', 49900, 100, 'The payment has been fully refunded already'],
])('a refund of %s → 400 with the gateway’s description', async (_, pending, amount, description) => {
  const payment_id = await paid();
  if (pending > 0) await simulate('refund', { payment_id, amount: pending, event: 'created', ...quiet });
  const { status, body } = await call('POST', '/simulate/refund', { payment_id, amount });
  expect([status, body.error.code, body.error.description]).toEqual([400, 'BAD_REQUEST_ERROR', description]);
  expect(await payment(payment_id)).toMatchObject({ amount_refunded: pending });
});

test('a dispute is opened, reviewed and lost, and each event contains payment and dispute', async () => {
  const payment_id = await paid();
  const { dispute } = await simulate('dispute', { payment_id, event: 'created', amount: 39000 });
  expect(dispute).toMatchObject({
    id: expect.stringMatching(/^disp_[A-Za-z0-9]{14}$/),
    entity: 'dispute',
    payment_id,
    amount: 39000,
    amount_deducted: 0,
    status: 'open',
    phase: 'chargeback',
  });
  for (const event of ['action_required', 'under_review', 'lost']) await simulate('dispute', { payment_id, event });
  await until(() => received.length === 4);
  expect(received.map(({ event, entity, body }) => {
    const { contains, payload } = JSON.parse(body);
    const { id, status, amount_deducted } = payload.dispute.entity;
    return [event, contains, entity.id, id, status, amount_deducted];
  })).toEqual([
    ['payment.dispute.created', ['payment', 'dispute'], payment_id, dispute.id, 'open', 0],
    ['payment.dispute.action_required', ['payment', 'dispute'], payment_id, dispute.id, 'open', 0],
    ['payment.dispute.under_review', ['payment', 'dispute'], payment_id, dispute.id, 'under_review', 0],
    ['payment.dispute.lost', ['payment', 'dispute'], payment_id, dispute.id, 'lost', 39000],
  ]);
});

test('a second dispute of a payment has a new id, and later events are about it', async () => {
  const payment_id = await paid();
  const first = (await simulate('dispute', { payment_id, event: 'created', ...quiet })).dispute;
  const won = (await simulate('dispute', { payment_id, event: 'won', ...quiet })).dispute;
  expect(won).toEqual({ ...first, status: 'won' });
  const second = (await simulate('dispute', { payment_id, event: 'created', ...quiet })).dispute;
  const closed = (await simulate('dispute', { payment_id, event: 'closed', ...quiet })).dispute;
  expect(second.id).not.toBe(first.id);
  expect(closed).toEqual({ ...second, status: 'closed' });
});

test('an event of a dispute that was never opened → 400', async () => {
  const { status, body } = await call('POST', '/simulate/dispute', { payment_id: await paid(), event: 'won' });
  expect([status, body.error.field]).toEqual([400, 'event']);
});
