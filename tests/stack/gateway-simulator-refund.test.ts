import { expect, test } from 'vitest';
import { AUTHORIZATION, NOW, until, useSimulator } from './gateway-simulator-rig.ts';
import { call, type Entity, paid, quiet, read, simulate, webhooks } from './simulate.ts';

useSimulator();

/** A payment: `captured 20000 partial`. */
async function paymentOf(id: string): Promise<string> {
  const { status, amount_refunded, refund_status } = await read(`payments/${id}`);
  return `${status} ${amount_refunded} ${refund_status}`;
}
/** The webhooks of refunds: `created 20000 pending: captured 20000 partial`. */
const refundEvents = async () =>
  (await webhooks()).map(({ event, contains, payload: { refund: { entity: refund }, payment: { entity } } }) => {
    expect([event, contains]).toEqual([expect.stringMatching(/^refund\./), ['refund', 'payment']]);
    const payment = `${entity.status} ${entity.amount_refunded} ${entity.refund_status}`;
    return `${event.slice('refund.'.length)} ${refund.amount} ${refund.status}: ${payment}`;
  });
/** Makes a refund, or moves one. @returns its id and its webhooks */
async function refunded(fields: Entity): Promise<[id: string, sent: string[]]> {
  const { refund } = await simulate('refund', fields);
  return [refund.id, await refundEvents()];
}

test('partial refunds add up to a full one, and the API lists each with its status, newest first', async () => {
  const payment_id = await paid();
  const first = await simulate('refund', { payment_id, amount: 20000, notes: { reason: 'late', n: 1 } });
  expect(first.refund).toEqual({
    ...{ id: expect.stringMatching(/^rfnd_[A-Za-z0-9]{14}$/), entity: 'refund', payment_id, amount: 20000 },
    ...{ currency: 'INR', notes: { reason: 'late', n: 1 }, receipt: null, acquirer_data: { arn: null } },
    ...{ created_at: NOW, batch_id: null, status: 'processed', speed_processed: 'normal', speed_requested: 'normal' },
  });
  // Each webhook is delivered on its own: those of the second refund could arrive before the last of the first.
  expect(await refundEvents()).toEqual([
    'created 20000 pending: captured 20000 partial',
    'processed 20000 processed: captured 20000 partial',
  ]);
  const rest = await simulate('refund', { payment_id });
  expect([rest.refund.notes, rest.payment]).toEqual([[], await read(`payments/${payment_id}`)]);
  expect(await refundEvents()).toEqual([
    'created 29900 pending: refunded 49900 full',
    'processed 29900 processed: refunded 49900 full',
  ]);
  expect(await read(`payments/${payment_id}/refunds`))
    .toEqual({ entity: 'collection', count: 2, items: [rest.refund, first.refund] });
});

test('POST /v1/payments/:id/refund makes one refund for a key, also when it is asked for again', async () => {
  const payment_id = await paid();
  const ask = (body: unknown, key = 'refund-0001') =>
    call('POST', `/v1/payments/${payment_id}/refund`, body, {
      authorization: AUTHORIZATION,
      'x-refund-idempotency': key,
    });
  const half = { amount: 20000, speed: 'normal', receipt: 'half' };
  const first = await ask(half);
  const made = { entity: 'refund', payment_id, amount: 20000, receipt: 'half', status: 'pending' };
  expect(first).toMatchObject({ status: 200, body: made });
  const processed = async () => (await refundEvents()).includes('processed 20000 processed: captured 20000 partial');
  await until(processed);
  expect((await ask(half)).body).toEqual({ ...first.body, status: 'processed' });
  expect(await paymentOf(payment_id)).toBe('captured 20000 partial');
  for (
    const [body, key] of [
      [{ ...half, amount: 20001 }, 'refund-0001'],
      [half, 'short'],
      [{ amount: 0 }, 'refund-0002'],
      [{ amount: 29901 }, 'refund-0003'],
    ] as const
  ) {
    expect(await ask(body, key)).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST_ERROR' } } });
  }
  const { body: rest } = await ask({}, 'refund-0004');
  expect(rest).toMatchObject({ amount: 29900, receipt: null });
  // A control that comes first decides.
  await simulate('refund', { refund_id: rest.id, event: 'failed' });
  await simulate('due', {});
  expect(await read(`payments/${payment_id}/refunds`)).toMatchObject({ items: [{ status: 'failed' }, {}] });
  await ask({}, 'refund-0005');
  expect(await paymentOf(payment_id)).toBe('refunded 49900 full');
});

test('pending refunds add up; each is processed or fails on its own, and the payment follows', async () => {
  const payment_id = await paid();
  const [first] = await refunded({ payment_id, amount: 10000, event: 'created' });
  const [second] = await refunded({ payment_id, amount: 20000, event: 'created' });
  const [third, all] = await refunded({ payment_id, amount: 19900, event: 'created' });
  expect(all).toEqual(['created 19900 pending: refunded 49900 full']);
  const steps = [[second, 'failed'], [third, 'processed'], [first, 'speed_changed'], [first, 'processed']];
  for (const [refund_id, event] of steps) await simulate('refund', { refund_id, event });
  expect(await refundEvents()).toEqual([
    'failed 20000 failed: captured 29900 partial',
    'processed 19900 processed: captured 29900 partial',
    'speed_changed 10000 pending: captured 29900 partial',
    'processed 10000 processed: captured 29900 partial',
  ]);
});

test('a refund can fail after it was processed; the payment no longer counts it and can be refunded again', async () => {
  const payment_id = await paid();
  const [refund_id] = await refunded({ payment_id });
  expect(await refunded({ refund_id, event: 'failed' })).toEqual([refund_id, [
    'failed 49900 failed: captured 0 null',
  ]]);
  expect((await refunded({ payment_id, amount: 100 }))[1].at(-1))
    .toBe('processed 100 processed: captured 100 partial');
  expect((await refunded({ payment_id, amount: 200, event: 'failed' }))[1]).toEqual([
    'created 200 pending: captured 300 partial',
    'failed 200 failed: captured 100 partial',
  ]);
});

test('a refund of more than is left, or of nothing → 400, nothing changes', async () => {
  const payment_id = await paid();
  await simulate('refund', { payment_id, amount: 30000, event: 'created', ...quiet });
  for (const amount of [49901, 19901, 0]) {
    expect((await simulate('refund', { payment_id, amount })).error.field).toBe('amount');
  }
  expect([await paymentOf(payment_id), await webhooks()]).toEqual(['captured 30000 partial', []]);
});

test('a payment is refunded only while something is left, and one that was not captured only in full', async () => {
  const described = async (payment_id: string) => (await simulate('refund', { payment_id })).error.description;
  expect(await described(await paid('failed'))).toBe('The payment status should be captured for action to be taken');
  const payment_id = await paid();
  await simulate('refund', { payment_id, event: 'created', ...quiet });
  expect(await described(payment_id)).toBe('The payment has been fully refunded already');
  const authorized = await paid('authorized');
  expect((await simulate('refund', { payment_id: authorized, amount: 100 })).error.field).toBe('payment_id');
  expect((await simulate('refund', { payment_id: authorized, ...quiet })).payment)
    .toMatchObject({ status: 'refunded', captured: false });
});

test('a dispute is opened, reviewed and lost; events are about the newest one of the payment', async () => {
  const payment_id = await paid();
  const dispute = async (event: string, fields: Entity = {}) =>
    await simulate('dispute', { payment_id, event, ...fields });
  expect((await dispute('won')).error.field).toBe('event');
  const { dispute: opened } = await dispute('created', { amount: 39000 });
  expect(opened).toMatchObject({
    ...{ id: expect.stringMatching(/^disp_[A-Za-z0-9]{14}$/), entity: 'dispute', payment_id, amount: 39000 },
    ...{ amount_deducted: 0, status: 'open', phase: 'chargeback', respond_by: NOW + 7 * 24 * 3600 },
  });
  for (const event of ['action_required', 'under_review', 'lost']) await dispute(event);
  expect(
    (await webhooks()).map(({ event, payload: { dispute: { entity } } }) =>
      `${event} ${entity.status} ${entity.amount_deducted}`
    ),
  ).toEqual([
    'payment.dispute.created open 0',
    'payment.dispute.action_required open 0',
    'payment.dispute.under_review under_review 0',
    'payment.dispute.lost lost 39000',
  ]);
  const { dispute: second } = await dispute('created', quiet);
  expect((await dispute('closed', quiet)).dispute).toEqual({ ...second, status: 'closed' });
});

test('a dispute is named by its id, changes its phase after a decision, and is lost for a part', async () => {
  const payment_id = await paid();
  const dispute = async (dispute_id: string, event: string, fields: Entity = {}) =>
    (await simulate('dispute', { payment_id, dispute_id, event, ...fields, ...quiet })).dispute;
  const [first, second] = ['disp_retrieval', 'disp_chargeback'];
  expect(await dispute(first, 'created', { phase: 'retrieval' })).toMatchObject({ id: first, phase: 'retrieval' });
  expect(await dispute(second, 'created', { amount: 9000 })).toMatchObject({ id: second, phase: 'chargeback' });
  expect(await dispute(first, 'closed')).toMatchObject({ id: first, phase: 'retrieval', status: 'closed' });
  expect(await dispute(second, 'won')).toMatchObject({ amount_deducted: 0, status: 'won' });
  const phase = 'pre_arbitration';
  expect(await dispute(second, 'created', { phase })).toMatchObject({ phase, amount: 9000, status: 'open' });
  expect(await dispute(second, 'lost', { amount_deducted: 7000 }))
    .toMatchObject({ phase, amount: 9000, amount_deducted: 7000, status: 'lost' });
});
