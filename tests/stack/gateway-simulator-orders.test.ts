import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { call, createOrder, KEY_SECRET, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

test('a payment signature is HMAC-SHA256 in lower-case hex: a pinned vector', async () => {
  expect(await signHex('key-secret', 'order_A1b2C3d4E5f6G7|pay_H8i9J0k1L2m3N4'))
    .toBe('9be9fd7862f04da99a2b0739f82105d1650b1aedb32751fcefbf4bf1491cf6ac');
  expect(await signHex('webhook-secret', '{"event":"payment.captured","text":"₹ é"}'))
    .toBe('da23069d10702d272d6eb5033e796dc422e41397b297dec54e49193e87d89dd9');
});

test('an empty secret signs nothing', async () => {
  await expect(signHex('', 'order|payment')).rejects.toThrow();
});

test('POST /v1/orders returns the new order, and GET /v1/orders/:id returns it again', async () => {
  const receipt = crypto.randomUUID();
  const made = await call('POST', '/v1/orders', {
    amount: 49900,
    currency: 'INR',
    receipt,
    notes: { tier: 'pro', n: 1 },
  });
  expect(made.status).toBe(200);
  expect(made.body).toMatchObject({
    id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/),
    entity: 'order',
    amount: 49900,
    amount_paid: 0,
    amount_due: 49900,
    currency: 'INR',
    receipt,
    status: 'created',
    attempts: 0,
    notes: { tier: 'pro', n: 1 },
  });
  expect(Math.abs(made.body.created_at - Date.now() / 1000)).toBeLessThan(5);
  expect((await call('GET', `/v1/orders/${made.body.id}`)).body).toEqual(made.body);
});

test('empty notes are an empty list', async () => {
  expect((await createOrder()).notes).toEqual([]);
  expect((await createOrder({ notes: {} })).notes).toEqual([]);
});

test.each([
  ['no credentials', {}],
  ['another key id', { authorization: `Basic ${btoa(`key_other:${KEY_SECRET}`)}` }],
  ['another key secret', { authorization: `Basic ${btoa('key_local:other')}` }],
  ['an empty secret', { authorization: `Basic ${btoa('key_local:')}` }],
  ['a bearer token', { authorization: `Bearer ${KEY_SECRET}` }],
  ['credentials that are not Base64', { authorization: 'Basic %%%' }],
])('the API with %s → 401 in the gateway’s shape', async (_what, headers) => {
  const { status, body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR' }, { ...headers });
  expect(status).toBe(401);
  expect(body).toEqual({
    error: {
      code: 'BAD_REQUEST_ERROR',
      description: 'Authentication failed',
      field: null,
      source: 'NA',
      step: 'NA',
      reason: 'NA',
      metadata: {},
    },
  });
});

test.each([
  ['amount', { amount: 99 }],
  ['amount', { amount: 499.5 }],
  ['amount', { amount: '49900' }],
  ['amount', { amount: undefined }],
  ['currency', { currency: undefined }],
  ['currency', { currency: 'RUPEE' }],
  ['receipt', { receipt: 'r'.repeat(41) }],
  ['notes', { notes: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, ''])) }],
  ['notes', { notes: { long: 'x'.repeat(257) } }],
  ['notes', { notes: { deep: {} } }],
  ['tier', { tier: 'pro' }],
])('an order with a wrong %s (%j) → 400 that names it', async (field, fields) => {
  const { status, body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', ...fields });
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', field, step: 'payment_initiation', metadata: {} });
});

test('an order at every limit is accepted', async () => {
  const notes = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`n${i}`, 'x'.repeat(256)]));
  const { status } = await call('POST', '/v1/orders', { amount: 100, currency: 'INR', receipt: 'r'.repeat(40), notes });
  expect(status).toBe(200);
});

test('a receipt used before → 400', async () => {
  await createOrder({ receipt: 'once' });
  const { status, body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', receipt: 'once' });
  expect(status).toBe(400);
  expect(body.error.field).toBe('receipt');
});

test.each([
  ['GET', '/v1/orders/order_Unknown0000000'],
  ['GET', '/v1/orders/order_Unknown0000000/payments'],
  ['GET', '/v1/payments/pay_Unknown0000000'],
  ['GET', '/v1/subscriptions/sub_Unknown0000000'],
  ['POST', '/v1/subscriptions/sub_Unknown0000000/cancel'],
])('%s %s → 400, as the gateway answers for an unknown id', async (method, path) => {
  const { status, body } = await call(method, path);
  expect(status).toBe(400);
  expect(body.error.code).toBe('BAD_REQUEST_ERROR');
});
