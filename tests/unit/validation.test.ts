import { expect, test } from 'vitest';
import { parseRequest, verifyPaymentRequest } from '../../supabase/functions/api/http/validation.ts';

const request = { gateway_order_id: 'order_1', gateway_payment_id: 'pay_1', gateway_signature: 'abc' };
const parse = (body: unknown) => parseRequest(verifyPaymentRequest, body);
const fields = Object.keys(request);

test('three strings are a valid request', () => {
  expect(parse(request)).toEqual({ ok: true, request });
});

test('unknown fields are left out', () => {
  expect(parse({ ...request, tier: 'premium' })).toEqual({ ok: true, request });
});

test.each(fields)('an empty %s is valid', (field) => {
  expect(parse({ ...request, [field]: '' })).toMatchObject({ ok: true });
});

test.each(fields.flatMap((field) => [
  { field, value: undefined, type: 'undefined' },
  { field, value: null, type: 'null' },
  { field, value: 1, type: 'number' },
  { field, value: false, type: 'boolean' },
  { field, value: ['x'], type: 'array' },
  { field, value: { toString: 'x' }, type: 'object' },
]))('$field of type $type is an error of that field', ({ field, value, type }) => {
  expect(parse({ ...request, [field]: value })).toEqual({
    ok: false,
    details: { formErrors: [], fieldErrors: { [field]: [`Invalid input: expected string, received ${type}`] } },
  });
});

test('every wrong field has its own error', () => {
  const message = ['Invalid input: expected string, received undefined'];
  expect(parse({})).toEqual({
    ok: false,
    details: { formErrors: [], fieldErrors: Object.fromEntries(fields.map((field) => [field, message])) },
  });
});

test.each([[null, 'null'], ['x', 'string'], [5, 'number'], [true, 'boolean'], [[request], 'array']])(
  'the body %j is an error of the form',
  (body, type) => {
    expect(parse(body)).toEqual({
      ok: false,
      details: { formErrors: [`Invalid input: expected object, received ${type}`], fieldErrors: {} },
    });
  },
);
