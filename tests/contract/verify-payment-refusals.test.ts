import { beforeAll, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { refusal } from '../helpers/http/answer.ts';
import { type Buyer, createBuyer } from '../helpers/http/caller.ts';
import { call, checkout, verify } from '../helpers/http/requests.ts';
import { withoutWriting } from '../helpers/http/without-writing.ts';
import { restThenPool } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const service = useService(restThenPool, project);
const unauthorized = refusal(401, 'Unauthorized');
const badSignature = refusal(400, 'Payment verification failed');
const notFound = refusal(404, 'Payment not found');
const failed = refusal(500, 'Failed to verify payment');
const noSession = { accessToken: 'no-session' };
const fields = ['gateway_order_id', 'gateway_payment_id', 'gateway_signature'] as const;
const nested = '['.repeat(200_000) + ']'.repeat(200_000);

let buyer: Buyer;
let paid: Buyer['paid'];
let othersPaid: Buyer['paid'];
beforeAll(async () => {
  buyer = await createBuyer(project.database);
  ({ paid } = buyer);
  // A tier without a plan: the owner would get "Plan not found".
  othersPaid = (await createBuyer(project.database, { meta: { tier: 'no-such-plan' } })).paid;
});

/** Sends bodies that must be refused alike, and asserts that this writes nothing. */
async function refused(expected: unknown, bodies: unknown[], user: { accessToken: string } = buyer): Promise<void> {
  await withoutWriting(project.database, async () => {
    for (const body of bodies) {
      const received = await call(service, 'POST /api/payments/verify', { user, body });
      expect({ sent: body, received }).toEqual({ sent: body, received: expected });
    }
  });
}
const invalid = (fieldErrors: Record<string, string[]>, formErrors: string[] = []) => ({
  status: 400,
  body: { error: 'Invalid request', details: { formErrors, fieldErrors } },
});
const noString = (type: string) => [`Invalid input: expected string, received ${type}`];

test('POST /api/payments/verify without a session → 401, before 400, 404 and 500', async () => {
  const signedBadly = { ...paid, gateway_signature: 'x' };
  await refused(unauthorized, [paid, {}, signedBadly, await checkout(uniqueId('order')), '{'], noSession);
  expect(await call(service, 'POST /api/payments/verify', { body: paid })).toEqual(unauthorized);
});

test('POST /api/payments/verify with missing fields → 400 with details of each, before the signature', async () => {
  const missing = Object.fromEntries(fields.map((field) => [field, noString('undefined')]));
  await refused(invalid(missing), [{}, { gateway_order: 1 }, `{"__proto__":${JSON.stringify(paid)},"constructor":1}`]);
  const { gateway_payment_id: _, ...incomplete } = { ...paid, gateway_signature: 'x' };
  await refused(invalid({ gateway_payment_id: noString('undefined') }), [incomplete]);
});

test.each(fields)('POST /api/payments/verify with a %s that is no string → 400 with details', async (field) => {
  const values = [
    ['null', 'null'],
    ['0', 'number'],
    ['1e200000', 'Infinity'],
    ['true', 'boolean'],
    ['["order_1"]', 'array'],
    ['{"toString":"order_1"}', 'object'],
    [nested, 'array'],
  ] as const;
  for (const [json, type] of values) {
    const body = JSON.stringify({ ...paid, [field]: '?' }).replace('"?"', json);
    await refused(invalid({ [field]: noString(type) }), [body]);
  }
});

test.each([
  ['null', 'null'],
  ['5', 'number'],
  ['false', 'boolean'],
  ['"gateway_order_id"', 'string'],
  ['[{"gateway_order_id":"a"}]', 'array'],
])('POST /api/payments/verify with the body %s → 400 with details', async (body, type) => {
  await refused(invalid({}, [`Invalid input: expected object, received ${type}`]), [body]);
});

test('POST /api/payments/verify with a body that is no JSON, or when the database refuses → 500', async () => {
  const notUtf8 = new Uint8Array([0xff, 0xfe, 0x00, 0x7b]);
  const bodies = ['', '{', '{"gateway_order_id":', 'gateway_order_id=1', '{}{}', 'NaN', '['.repeat(200_000), notUtf8];
  await refused(failed, bodies);
  await whileBroken(project.database, 'verify_payment', () => refused(failed, [paid]));
});

test.each<[string, () => Promise<string> | string]>([
  ['of another secret', () => sign(secrets.GATEWAY_WEBHOOK_SECRET, `${buyer.orderId}|${paid.gateway_payment_id}`)],
  ['of zeros', () => '0'.repeat(64)],
  ['in upper case', () => paid.gateway_signature.toUpperCase()],
  ['of 63 digits', () => paid.gateway_signature.slice(1)],
  ['of 65 digits', () => `${paid.gateway_signature}0`],
  ['with a line break after it', () => `${paid.gateway_signature}\n`],
])('POST /api/payments/verify with a signature %s → 400', async (_, signature) => {
  await refused(badSignature, [{ ...paid, gateway_signature: await signature() }]);
});

test('POST /api/payments/verify with a signature of other ids, or an empty field → 400, before 404', async () => {
  await refused(badSignature, [
    { ...paid, gateway_payment_id: uniqueId('pay') },
    { ...paid, gateway_order_id: uniqueId('order') },
    { ...othersPaid, gateway_signature: paid.gateway_signature },
    { ...await checkout(uniqueId('order')), gateway_signature: 'x' },
    { ...othersPaid, gateway_signature: 'x' },
    // The same message only without the separator.
    { ...paid, gateway_payment_id: `|${paid.gateway_payment_id}` },
    ...fields.map((field) => ({ ...paid, [field]: '' })),
  ]);
});

test('POST /api/payments/verify with an order of another user, of a deleted one or of none → 404', async () => {
  const gone = await createBuyer(project.database, { user: buyer.user });
  await project.database.query('update public.payments set user_id = null where id = $1', [gone.paymentId]);
  await refused(notFound, [othersPaid, gone.paid, await checkout(uniqueId('order')), await checkout('', '')]);
});

test('POST /api/payments/verify with an odd order id and a valid signature → 404', async () => {
  const { orderId } = buyer;
  const odd = ['\u0000', '\uD800', '\uDC00'].flatMap((text) => [orderId + text, text + orderId, text]);
  const ids = [...odd, "' or 1=1 --", '%', '*', 'null', '\\u0000', '\uFFFD', 'order_😀', 'order_\r\nx: y'];
  await refused(notFound, await Promise.all([...ids, 'x'.repeat(500_000)].map((id) => checkout(id))));
  await refused(notFound, [await checkout(orderId, 'pay_\u0000'), await checkout(orderId, 'pay_\uD800')]);
});

test('POST /api/payments/verify of a payment that was refunded in full → 400', async () => {
  const refunded = await createBuyer(project.database, { user: buyer.user });
  await project.database.query(
    `update public.payments set status = 'captured', gateway_payment_id = $2, refunded_amount = amount where id = $1`,
    [refunded.paymentId, refunded.paid.gateway_payment_id],
  );
  await refused(badSignature, [refunded.paid]);
});

test('POST /api/payments/verify after all refusals → 200; the payment of another order → 500, nothing written', async () => {
  expect((await verify(service, buyer.accessToken, paid)).status).toBe(200);
  const { orderId } = await createBuyer(project.database, { user: buyer.user });
  await refused(failed, [await checkout(orderId, paid.gateway_payment_id)]);
});
