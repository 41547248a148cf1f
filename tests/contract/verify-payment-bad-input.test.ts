import { beforeAll, describe, expect, test } from 'vitest';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { type Checkout, checkout, requestSubscription, verify } from '../helpers/http/requests.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// One user makes several purchases.
const project = useProject({ findings: { paid_twice: 3 * restSample.length - 1 } });
const fields = ['gateway_order_id', 'gateway_payment_id', 'gateway_signature'] as const;
const notFound = refusal(404, 'Payment not found');
const failed = refusal(500, 'Failed to verify payment');
const nested = '['.repeat(200_000) + ']'.repeat(200_000);

let accessToken: string;
let userId: string;
let paid: Checkout;
beforeAll(async () => {
  ({ id: userId, accessToken } = await createCaller(project.database));
  paid = await checkout((await createPayment(project.database, { userId })).orderId);
});

function invalid(details: { formErrors: string[]; fieldErrors: Record<string, string[]> }) {
  return { status: 400, body: { error: 'Invalid request', details } };
}

describe.each(restSample)('%s', (target) => {
  const service = useService(target, project);

  /** Sends a body that must be refused. Asserts that it writes nothing and that the service still answers. */
  async function refused(body: unknown) {
    const before = await readAllRows(project.database);
    const received = await answer(verify(service, accessToken, body));
    expect(await readAllRows(project.database)).toEqual(before);
    expect((await answer(requestSubscription(service, accessToken))).status).toBe(200);
    return received;
  }

  test.each(fields.flatMap((field) => [
    { field, json: 'null', type: 'null' },
    { field, json: '0', type: 'number' },
    { field, json: '1e200000', type: 'Infinity' },
    { field, json: 'true', type: 'boolean' },
    { field, json: '[]', type: 'array' },
    { field, json: '["order_1"]', type: 'array' },
    { field, json: '{}', type: 'object' },
    { field, json: '{"toString":"order_1"}', type: 'object' },
  ]))('POST /api/payments/verify with $field $json → 400 with details', async ({ field, json, type }) => {
    const body = JSON.stringify({ ...paid, [field]: '?' }).replace('"?"', json);
    expect(await refused(body)).toEqual(
      invalid({ formErrors: [], fieldErrors: { [field]: [`Invalid input: expected string, received ${type}`] } }),
    );
  });

  test.each(fields)('POST /api/payments/verify with 200,000 brackets in %s → 400 with details', async (field) => {
    const body = JSON.stringify({ ...paid, [field]: '?' }).replace('"?"', nested);
    expect(await refused(body)).toEqual(
      invalid({ formErrors: [], fieldErrors: { [field]: ['Invalid input: expected string, received array'] } }),
    );
  });

  test.each([
    ['null', 'null'],
    ['5', 'number'],
    ['false', 'boolean'],
    ['"gateway_order_id"', 'string'],
    ['[]', 'array'],
    ['[{"gateway_order_id":"a"}]', 'array'],
  ])('POST /api/payments/verify with the body %s → 400 with details', async (body, type) => {
    expect(await refused(body)).toEqual(
      invalid({ formErrors: [`Invalid input: expected object, received ${type}`], fieldErrors: {} }),
    );
  });

  test('POST /api/payments/verify with 200,000 brackets → 400; unclosed → 500', async () => {
    expect(await refused(nested)).toEqual(
      invalid({ formErrors: ['Invalid input: expected object, received array'], fieldErrors: {} }),
    );
    expect(await refused('['.repeat(200_000))).toEqual(failed);
  });

  test('POST /api/payments/verify with a body of 5 MB → 413', async () => {
    expect(await refused({ ...paid, filler: 'x'.repeat(5_000_000) })).toEqual(refusal(413, 'Payload too large'));
  });

  test('POST /api/payments/verify with a body that is not UTF-8 → 500', async () => {
    expect(await refused(new Uint8Array([0xff, 0xfe, 0x00, 0x7b]))).toEqual(failed);
  });

  test('POST /api/payments/verify with the fields under __proto__ → 400 with details', async () => {
    const { status, body } = await refused(`{"__proto__":${JSON.stringify(paid)},"constructor":1}`);
    expect({ status, body }).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
  });

  test.each([
    ['NUL', '\u0000'],
    ['a lone high surrogate', '\uD800'],
    ['a lone low surrogate', '\uDC00'],
  ])('POST /api/payments/verify with %s in an id and a valid signature → 404', async (_, text) => {
    const { gateway_order_id: orderId } = paid;
    for (const id of [orderId + text, text + orderId, text]) {
      expect(await refused(await checkout(id))).toEqual(notFound);
    }
    expect(await refused(await checkout(orderId, `pay_${text}`))).toEqual(notFound);
  });

  test.each([
    ["' or 1=1 --"],
    ['%'],
    ['*'],
    ['null'],
    ['\\u0000'],
    ['\uFFFD'],
    ['order_😀'],
    ['order_\r\nx: y'],
    ['x'.repeat(500_000)],
  ])('POST /api/payments/verify with an unusual order id and a valid signature → 404 (%#)', async (id) => {
    expect(await refused(await checkout(id))).toEqual(notFound);
  });

  test('POST /api/payments/verify with ids that give the same message only without the separator → 400', async () => {
    const { gateway_order_id, gateway_payment_id, gateway_signature } = paid;
    expect(await refused({ gateway_order_id, gateway_payment_id: `|${gateway_payment_id}`, gateway_signature }))
      .toEqual(refusal(400, 'Payment verification failed'));
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'nonsense'])(
    'POST /api/payments/verify with JSON as %s → 200',
    async (type) => {
      const { orderId } = await createPayment(project.database, { userId });
      const response = service.request('/api/payments/verify', {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': type },
        body: JSON.stringify(await checkout(orderId, uniqueId('pay'))),
      });
      expect((await answer(response)).status).toBe(200);
    },
  );
});
