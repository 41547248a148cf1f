import { describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { checkout, fullAnswer, returnCheckout, returnForm, send } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

// A payment is captured without a plan.
const project = useProject({ findings: { captured_not_fulfilled: 1 } });
const { database, newBuyer, newUser, unchanged } = project;
const appUrl = 'https://app.example/shop';
const service = useService(restThenPool, project, { APP_URL: `${appUrl}/` });
const rotated = useService('in process over the pool', project, {
  GATEWAY_KEY_SECRET: 'a-new-secret',
  GATEWAY_KEY_SECRET_PREVIOUS: secrets.GATEWAY_KEY_SECRET,
  GATEWAY_RETURN_FIELDS: 'order,payment,hmac',
  APP_URL: appUrl,
});

const ownPage = useService('in process over the pool', project, {
  APP_URL: appUrl,
  DASHBOARD_PATH: '/account?tab=plan',
});

/** The answer that sends the browser to the app. */
const sentTo = (payment: string, orderId?: string) => ({
  status: 303,
  body: null,
  location: `${appUrl}/dashboard?payment=${payment}${orderId === undefined ? '' : `&order=${orderId}`}`,
});
async function redirected(response: Promise<Response>) {
  const { status, body, headers } = await fullAnswer(response);
  return { status, body, location: headers.get('location') };
}
const returned = (form: Parameters<typeof returnCheckout>[1], headers?: Record<string, string>) =>
  redirected(returnCheckout(service, form, headers));
const tier = (userId: string) => readTier(database, userId);

describe('a paid checkout', () => {
  test('POST /api/payments/return with the session of another user → 303 paid; the owner has the tier', async () => {
    const [{ id, email, orderId, paid }, other] = [await newBuyer(), await newUser()];
    const session = { authorization: `Bearer ${other.accessToken}` };
    const type = { 'content-type': 'Application/X-WWW-Form-URLEncoded;charset=utf-16' };
    const { headers, ...received } = await fullAnswer(returnCheckout(service, paid, { ...session, ...type }));
    expect(received).toEqual({ status: 303, body: null });
    expect(headers.get('location')).toBe(sentTo('paid', orderId).location);
    expect(headers.get('cache-control')).toBe('private, no-store');
    for (const name of ['content-type', 'set-cookie']) expect(headers.get(name)).toBeNull();

    expect([await tier(id), await tier(other.id)]).toEqual(['pro', 'free']);
    const { gateway_payment_id, gateway_signature } = paid;
    expect(await paymentOfOrder(database, orderId))
      .toMatchObject({ status: 'captured', gateway_payment_id, gateway_signature, verified_at: expect.any(Date) });
    expect(await queued(database, 'payment-success', email)).toHaveLength(1);
  });

  test('POST /api/payments/return with 16 KiB → 303 paid; a byte more → 303 failed; over 1 MiB → 413', async () => {
    const { id, orderId, paid } = await newBuyer();
    const padded = (size: number) => `${returnForm(paid)}&filler=`.padEnd(size, 'x');
    expect(await returned(padded(16 * 1024 + 1))).toEqual(sentTo('failed'));
    expect((await returnCheckout(service, padded(1024 * 1024 + 1))).status).toBe(413);
    expect(await tier(id)).toBe('free');
    expect(await returned(padded(16 * 1024))).toEqual(sentTo('paid', orderId));
  });
});

describe('failed, and nothing is written', () => {
  test.each<[string, (form: string) => string]>([
    ['a wrong signature', (form) => form.replace(/signature=\w{4}/, 'signature=0000')],
    ['another payment', (form) => form.replace(/payment_id=\w+/, 'payment_id=pay_another')],
    ['no signature', (form) => form.replace(/&razorpay_signature=\w+/, '')],
    ['the payment twice', (form) => `razorpay_payment_id=pay_another&${form}`],
    ['the neutral names', (form) => form.replaceAll('razorpay', 'gateway')],
    ['a byte of null in the payment', (form) => form.replace('payment_id=pay', 'payment_id=%00pay')],
    ['invalid percent encoding', (form) => form.replace('payment_id=pay', 'payment_id=%E0%A4%Apay')],
  ])('POST /api/payments/return with %s → 303 failed', async (_, change) => {
    const { orderId, paid } = await newBuyer();
    const received = await unchanged(() => returned(change(returnForm(paid))));
    expect([sentTo('failed'), sentTo('failed', orderId)]).toContainEqual(received);
  });

  test('POST /api/payments/return with a body that is no such form → 303 failed', async () => {
    const { paid } = await newBuyer();
    const types = ['application/json', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencodedx', ''];
    await unchanged(async () => {
      for (const type of types) expect(await returned(paid, { 'content-type': type })).toEqual(sentTo('failed'));
      for (const body of ['', new Uint8Array([0xff, 0xfe, 0x3d, 0x26]), '&'.repeat(10_000)]) {
        expect(await returned(body)).toEqual(sentTo('failed'));
      }
    });
  });

  test.each<[string, Record<string, string>, string?]>([
    ['of an order', { 'error[metadata]': '{"payment_id":"pay_1","order_id":"order_1"}' }, 'order_1'],
    ['with metadata that are no JSON', { 'error[metadata]': '{' }],
    ['with an order that is no text', { 'error[metadata]': '{"order_id":["order_1"]}' }],
    ['with another parameter in its order', { 'error[metadata]': '{"order_id":"x&payment=paid"}' }],
    ['with a long order', { 'error[metadata]': JSON.stringify({ order_id: 'x'.repeat(65) }) }],
  ])('POST /api/payments/return of a failed attempt %s → 303 failed', async (_, metadata, order) => {
    const error = { 'error[code]': 'BAD_REQUEST_ERROR', 'error[description]': '<script>alert(1)</script>' };
    const form = String(new URLSearchParams({ ...error, 'error[reason]': 'payment_failed', ...metadata }));
    expect(await unchanged(() => returned(form))).toEqual(sentTo('failed', order));
  });

  test('POST /api/payments/return that names another address → 303 to the app', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'origin': 'https://evil.example' };
    const body = 'return_url=https://evil.example&APP_URL=https://evil.example';
    const path = 'POST /api/payments/return?redirect=https://evil.example&payment=paid';
    expect(await redirected(send(service, path, { headers, body }))).toEqual(sentTo('failed'));
  });

  test('POST /api/payments/return of a payment that was refunded in full → 303 failed', async () => {
    const { id, paymentId, orderId, paid } = await newBuyer();
    await database.query(
      "update public.payments set status = 'captured', refunded_amount = amount, gateway_payment_id = $2 where id = $1",
      [paymentId, paid.gateway_payment_id],
    );
    expect(await returned(paid)).toEqual(sentTo('failed', orderId));
    expect(await tier(id)).toBe('free');
  });
});

describe('pending', () => {
  test('POST /api/payments/return of an unknown order → 303 pending, nothing is written; of one that is no id → without it', async () => {
    const orderId = uniqueId('order');
    await unchanged(async () => {
      expect(await returned(await checkout(orderId))).toEqual(sentTo('pending', orderId));
      expect(await returned(await checkout('<b>"&payment=paid'))).toEqual(sentTo('pending'));
    });
  });

  test('POST /api/payments/return for a tier without a plan → 303 pending; captured', async () => {
    const { orderId, paid } = await newBuyer({ meta: { tier: uniqueId('tier') } });
    expect(await returned(paid)).toEqual(sentTo('pending', orderId));
    expect(await paymentOfOrder(database, orderId)).toMatchObject({ status: 'captured', fulfilled_at: null });
  });

  test('POST /api/payments/return when the database refuses → 303 pending, a fault in the log; then paid', async () => {
    const { orderId, paid } = await newBuyer();
    await whileBroken(database, 'verify_returned_payment', async () => {
      expect(await returned(paid)).toEqual(sentTo('pending', orderId));
    });
    expect(service.output.some((line) => line.includes('"fault"') && line.includes('verify_returned_payment'))).toBe(
      true,
    );
    expect(await returned(paid)).toEqual(sentTo('paid', orderId));
  });
});

test('POST /api/payments/return with other field names and the previous secret → 303 paid', async () => {
  const { id, orderId, paid } = await newBuyer();
  const payment = uniqueId('pay');
  const hmac = await sign(secrets.GATEWAY_KEY_SECRET, `${orderId}|${payment}`);
  expect(await redirected(returnCheckout(rotated, paid))).toEqual(sentTo('failed'));
  const form = String(new URLSearchParams({ order: orderId, payment, hmac }));
  expect(await redirected(returnCheckout(rotated, form))).toEqual(sentTo('paid', orderId));
  expect(await tier(id)).toBe('pro');
});

test('POST /api/payments/return of an app with a page of its own → 303 to that page', async () => {
  const { orderId, paid } = await newBuyer();
  const { location } = await redirected(returnCheckout(ownPage, paid));
  expect(location).toBe(`${appUrl}/account?tab=plan&payment=paid&order=${orderId}`);
});

test('no id, signature or text of a form is in the log', () => {
  for (const text of ['order_', 'pay_', 'evil', 'script', 'razorpay']) {
    expect(service.output.join('\n')).not.toContain(text);
  }
});
