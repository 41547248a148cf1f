import { expect, test } from 'vitest';
import { call, createOrder, pay, simulate, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

const quiet = { deliver: { drop: true } };
const list = (id: string) => call('GET', `/v1/payments/${id}/refunds`);
const paid = async (): Promise<string> => (await pay(await createOrder(), quiet)).body.gateway_payment_id;
const refund = async (fields: Record<string, unknown>) => (await simulate('refund', { ...fields, ...quiet })).refund;

test('GET /v1/payments/:id/refunds lists each refund with its current status, newest first', async () => {
  const payment_id = await paid();
  const pending = await refund({ payment_id, amount: 100, event: 'created' });
  const processed = await refund({ payment_id, amount: 200 });
  const failed = await refund({ payment_id, amount: 300, event: 'failed' });
  const { status, body } = await list(payment_id);
  expect(status).toBe(200);
  expect(body).toEqual({ entity: 'collection', count: 3, items: [failed, processed, pending] });
  expect(body.items[2]).toEqual({
    id: expect.stringMatching(/^rfnd_[A-Za-z0-9]{14}$/),
    entity: 'refund',
    amount: 100,
    currency: 'INR',
    payment_id,
    notes: [],
    receipt: null,
    acquirer_data: { arn: null },
    created_at: expect.any(Number),
    batch_id: null,
    status: 'pending',
    speed_processed: 'normal',
    speed_requested: 'normal',
  });

  const settled = await refund({ refund_id: pending.id, event: 'processed' });
  expect((await list(payment_id)).body.items).toEqual([failed, processed, settled]);
  expect(settled).toEqual({ ...pending, status: 'processed' });
});

test('GET /v1/payments/:id/refunds of a payment without a refund → an empty collection', async () => {
  await refund({ payment_id: await paid() });
  expect((await list(await paid())).body).toEqual({ entity: 'collection', count: 0, items: [] });
});

test('GET /v1/payments/:id/refunds of an unknown payment → 400', async () => {
  const { status, body } = await list('pay_Unknown0000000');
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', description: 'The id provided does not exist' });
});

test('GET /v1/payments/:id/refunds without the key → 401', async () => {
  const { status } = await call('GET', `/v1/payments/${await paid()}/refunds`, undefined, {});
  expect(status).toBe(401);
});
