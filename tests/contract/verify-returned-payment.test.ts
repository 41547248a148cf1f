import { describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, orderPlan, returnCheckout, returnForm, verify } from '../helpers/http/requests.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readAllRows, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// For each target one payment is captured without a plan, and one with two payments.
const project = useProject({ findings: { captured_not_fulfilled: restSample.length, paid_twice: restSample.length } });
const appUrl = 'https://app.example/shop';
const path = '/api/payments/return';
const none = { events: [] };

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

describe.each(restSample)('%s', (target) => {
  const shop = useShop(target, project, { APP_URL: `${appUrl}/` });

  test('POST /api/payments/return of a paid checkout without a session → 303 paid; the owner has the tier', async () => {
    const user = await createCaller(project.database);
    const { order } = await orderPlan(shop, user.accessToken);
    const paid = await shop.pay(order.id, 'captured', none);
    const { headers, ...received } = await fullAnswer(returnCheckout(shop, paid));
    expect(received).toEqual({ status: 303, body: null });
    expect(headers.get('location')).toBe(sentTo('paid', order.id).location);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(headers.get('content-type')).toBeNull();
    expect(headers.get('set-cookie')).toBeNull();

    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await paymentOfOrder(project.database, order.id)).toMatchObject({
      status: 'captured',
      gateway_payment_id: paid.gateway_payment_id,
      gateway_signature: paid.gateway_signature,
      verified_at: expect.any(Date),
    });
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
    expect(shop.rpcs.filter((rpc) => rpc.startsWith('verify'))).toEqual(['verify_returned_payment']);
  });

  test('POST /api/payments/return with the session of another user → 303 paid; the tier is the owner’s', async () => {
    const [owner, other] = [await createCaller(project.database), await createCaller(project.database)];
    const { orderId } = await createPayment(project.database, { userId: owner.id });
    const headers = { authorization: `Bearer ${other.accessToken}` };
    expect(await redirected(returnCheckout(shop, await checkout(orderId), headers))).toEqual(sentTo('paid', orderId));
    expect(await readTier(project.database, owner.id)).toBe('pro');
    expect(await readTier(project.database, other.id)).toBe('free');
  });

  test('POST /api/payments/return again, and verify before or after it → paid and 200; one period, one mail', async () => {
    const user = await createCaller(project.database);
    const orders = [await orderPlan(shop, user.accessToken, 'pro'), await orderPlan(shop, user.accessToken, 'basic')];
    for (const [index, { order }] of orders.entries()) {
      const paid = await shop.pay(order.id, 'captured', none);
      const steps = [
        async () => expect(await redirected(returnCheckout(shop, paid))).toEqual(sentTo('paid', order.id)),
        async () => expect((await verify(shop, user.accessToken, paid)).status).toBe(200),
      ];
      for (const step of index === 0 ? steps : steps.toReversed()) await step();
      const before = await subscriptionOf(project.database, user.id);
      expect(await redirected(returnCheckout(shop, paid))).toEqual(sentTo('paid', order.id));
      expect(await subscriptionOf(project.database, user.id)).toEqual(before);
    }
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(2);
  });

  test.each(['before', 'after'])(
    'POST /api/payments/return with the webhooks %s it → 303 paid; one period, one mail',
    async (when) => {
      const user = await createCaller(project.database);
      const { order } = await orderPlan(shop, user.accessToken);
      const paid = await shop.pay(order.id, 'captured', when === 'before' ? {} : none);
      if (when === 'before') await shop.deliveries(order.id, 3);
      expect(await redirected(returnCheckout(shop, paid))).toEqual(sentTo('paid', order.id));
      const { current_period_end: end } = await subscriptionOf(project.database, user.id) ?? {};
      if (when === 'after') {
        const entity = {
          id: paid.gateway_payment_id,
          order_id: order.id,
          amount: 99900,
          currency: 'INR',
          status: 'captured',
        };
        await shop.deliver(JSON.stringify({ event: 'payment.captured', payload: { payment: { entity } } }));
      }
      await expect.poll(async () => (await paymentOfOrder(project.database, order.id)).confirmed_at).not.toBeNull();
      expect(await subscriptionOf(project.database, user.id)).toMatchObject({ tier: 'pro', current_period_end: end });
      expect(await paymentOfOrder(project.database, order.id)).toMatchObject({ verified_at: expect.any(Date) });
      expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
    },
  );

  test.each<[string, (form: string) => string]>([
    ['a wrong signature', (form) => form.replace(/signature=\w{4}/, 'signature=0000')],
    [
      'an upper-case signature',
      (form) => form.replace(/signature=(\w+)/, (_, hex) => `signature=${hex.toUpperCase()}`),
    ],
    ['another payment', (form) => form.replace(/payment_id=\w+/, 'payment_id=pay_another')],
    ['no signature', (form) => form.replace(/&razorpay_signature=\w+/, '')],
    ['an empty signature', (form) => form.replace(/signature=\w+/, 'signature=')],
    ['the signature twice', (form) => `${form}&razorpay_signature=${'0'.repeat(64)}`],
    ['the same signature twice', (form) => `${form}&${/razorpay_signature=\w+/.exec(form)}`],
    ['the payment twice', (form) => `razorpay_payment_id=pay_another&${form}`],
    ['array names', (form) => form.replaceAll('=', '[]=')],
    ['the neutral names', (form) => form.replaceAll('razorpay', 'gateway')],
    ['a byte of null in the payment', (form) => form.replace('payment_id=pay', 'payment_id=%00pay')],
    ['a lone surrogate in the payment', (form) => form.replace('payment_id=pay', 'payment_id=%ED%A0%80pay')],
    ['invalid percent encoding', (form) => form.replace('payment_id=pay', 'payment_id=%E0%A4%Apay')],
  ])('POST /api/payments/return with %s → 303 failed, nothing is written', async (_, change) => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    const before = await readAllRows(project.database);
    const changed = change(returnForm(await checkout(orderId)));
    const { status, location } = await redirected(returnCheckout(shop, changed));
    expect(status).toBe(303);
    expect([sentTo('failed').location, sentTo('failed', orderId).location]).toContain(location);
    expect(await readAllRows(project.database)).toEqual(before);
    expect(shop.rpcs).not.toContain('verify_returned_payment');
  });

  test.each<[string, string | Uint8Array, Record<string, string>]>([
    ['an empty body', '', {}],
    ['bytes that are no UTF-8', new Uint8Array([0xff, 0xfe, 0x3d, 0x26]), {}],
    ['zero bytes', new Uint8Array(1000), {}],
    ['only separators', '&'.repeat(10_000), {}],
    ['ten thousand fields', 'a=b&'.repeat(4000), {}],
  ])('POST /api/payments/return with %s → 303 failed', async (_, body, headers) => {
    expect(await redirected(returnCheckout(shop, body, headers))).toEqual(sentTo('failed'));
  });

  test.each([
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencodedx',
    '',
  ])(
    'POST /api/payments/return with a valid form as %j → 303 failed, nothing is written',
    async (type) => {
      const { id: userId } = await createCaller(project.database);
      const { orderId } = await createPayment(project.database, { userId });
      const form = await checkout(orderId);
      expect(await redirected(returnCheckout(shop, form, { 'content-type': type }))).toEqual(sentTo('failed'));
      expect(await readTier(project.database, userId)).toBe('free');
    },
  );

  test.each([
    'application/x-www-form-urlencoded; charset=UTF-8',
    'Application/X-WWW-Form-URLEncoded;charset=utf-16',
    'application/x-www-form-urlencoded; charset=nonsense',
  ])(
    'POST /api/payments/return with the content type %s → 303 paid, read as UTF-8',
    async (type) => {
      const { id: userId } = await createCaller(project.database);
      const { orderId } = await createPayment(project.database, { userId });
      expect(await redirected(returnCheckout(shop, await checkout(orderId), { 'content-type': type })))
        .toEqual(sentTo('paid', orderId));
    },
  );

  test('POST /api/payments/return with 16 KiB → 303 paid; a byte more → 303 failed; over 1 MiB → 413', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    const form = returnForm(await checkout(orderId));
    const padded = (size: number) => `${form}&filler=`.padEnd(size, 'x');
    expect(await redirected(returnCheckout(shop, padded(16 * 1024 + 1)))).toEqual(sentTo('failed'));
    const inChunks = new Request('http://127.0.0.1', { method: 'POST', body: padded(16 * 1024 + 1) }).body;
    // fetch requires `duplex` for a streamed body, which has no content-length.
    const init = Object.assign({ method: 'POST', body: inChunks, redirect: 'manual' as const }, { duplex: 'half' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await redirected(shop.request(path, { ...init, headers }))).toEqual(sentTo('failed'));
    expect(await answer(returnCheckout(shop, padded(1024 * 1024 + 1)))).toEqual(refusal(413, 'Payload too large'));
    expect(await readTier(project.database, userId)).toBe('free');
    expect(await redirected(returnCheckout(shop, padded(16 * 1024)))).toEqual(sentTo('paid', orderId));
  });

  test.each<[string, Record<string, string>, string | undefined]>([
    ['of an order', { 'error[metadata]': '{"payment_id":"pay_1","order_id":"order_1"}' }, 'order_1'],
    ['without metadata', {}, undefined],
    ['with metadata that are no JSON', { 'error[metadata]': '{' }, undefined],
    ['with null', { 'error[metadata]': 'null' }, undefined],
    ['with an order that is no text', { 'error[metadata]': '{"order_id":["order_1"]}' }, undefined],
    ['with an address as its order', { 'error[metadata]': '{"order_id":"https://evil.example"}' }, undefined],
    ['with another parameter in its order', { 'error[metadata]': '{"order_id":"x&payment=paid"}' }, undefined],
    ['with a line break in its order', { 'error[metadata]': '{"order_id":"x\\r\\nset-cookie: a=b"}' }, undefined],
    ['with a long order', { 'error[metadata]': JSON.stringify({ order_id: 'x'.repeat(65) }) }, undefined],
  ])('POST /api/payments/return of a failed attempt %s → 303 failed, nothing is written', async (_, fields, order) => {
    const before = await readAllRows(project.database);
    const form = new URLSearchParams({
      'error[code]': 'BAD_REQUEST_ERROR',
      'error[description]': '<script>alert(1)</script>',
      'error[reason]': 'payment_failed',
      ...fields,
    });
    expect(await redirected(returnCheckout(shop, String(form)))).toEqual(sentTo('failed', order));
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test.each(['?redirect=https://evil.example', '?next=//evil.example&payment=paid'])(
    'POST /api/payments/return%s → 303 to the app',
    async (query) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'origin': 'https://evil.example' };
      const body = 'return_url=https://evil.example&APP_URL=https://evil.example';
      expect(await redirected(shop.request(path + query, { method: 'POST', headers, body, redirect: 'manual' })))
        .toEqual(sentTo('failed'));
    },
  );

  test('POST /api/payments/return of an unknown order → 303 pending, nothing is written', async () => {
    const orderId = uniqueId('order');
    const before = await readAllRows(project.database);
    expect(await redirected(returnCheckout(shop, await checkout(orderId)))).toEqual(sentTo('pending', orderId));
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/payments/return with a signed order that is no id → 303 pending without it', async () => {
    const form = await checkout('<b>"&payment=paid');
    expect(await redirected(returnCheckout(shop, form))).toEqual(sentTo('pending'));
  });

  test('POST /api/payments/return for a tier without a plan → 303 pending; captured', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId, meta: { tier: uniqueId('tier') } });
    expect(await redirected(returnCheckout(shop, await checkout(orderId)))).toEqual(sentTo('pending', orderId));
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'captured', fulfilled_at: null });
  });

  test('POST /api/payments/return of a payment that was refunded in full → 303 failed', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    await project.database.query(
      "update public.payments set status = 'captured', refunded_amount = amount, gateway_payment_id = $2 where gateway_order_id = $1",
      [orderId, `pay_of_${orderId}`],
    );
    expect(await redirected(returnCheckout(shop, await checkout(orderId, `pay_of_${orderId}`))))
      .toEqual(sentTo('failed', orderId));
    expect(await readTier(project.database, userId)).toBe('free');
  });

  test('POST /api/payments/return of a second payment on an order → 303 paid', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    for (let time = 0; time < 2; time += 1) {
      expect(await redirected(returnCheckout(shop, await checkout(orderId)))).toEqual(sentTo('paid', orderId));
    }
  });

  test('POST /api/payments/return after its user was deleted → 303 pending', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    await project.database.query('delete from auth.users where id = $1', [userId]);
    expect(await redirected(returnCheckout(shop, await checkout(orderId)))).toEqual(sentTo('pending', orderId));
  });

  test('POST /api/payments/return when the database refuses → 303 pending, a fault in the log', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    await whileBroken(project.database, 'verify_returned_payment', async () => {
      expect(await redirected(returnCheckout(shop, await checkout(orderId)))).toEqual(sentTo('pending', orderId));
    });
    expect(shop.output.some((line) => line.includes('"fault"') && line.includes('verify_returned_payment'))).toBe(true);
    expect(await redirected(returnCheckout(shop, await checkout(orderId)))).toEqual(sentTo('paid', orderId));
  });

  test('GET /api/payments/return → 405 with allow', async () => {
    const { headers, ...received } = await fullAnswer(shop.request(path));
    expect(received).toEqual(refusal(405, 'Method not allowed'));
    expect(headers.get('allow')).toBe('POST');
  });

  test('no id, signature or text of a form is in the log', () => {
    for (const text of ['order_', 'pay_', 'evil', 'script', 'razorpay']) {
      expect(shop.output.join('\n')).not.toContain(text);
    }
  });
});

describe.each(restSample)('%s with other settings', (target) => {
  const unconfigured = useService(target, project, { GATEWAY_KEY_SECRET: '', APP_URL: appUrl });
  const withoutApp = useService(target, project);
  const rotated = useService(target, project, {
    GATEWAY_KEY_SECRET: 'a-new-secret',
    GATEWAY_KEY_SECRET_PREVIOUS: secrets.GATEWAY_KEY_SECRET,
    GATEWAY_RETURN_FIELDS: 'order,payment,hmac',
    APP_URL: appUrl,
  });

  test('POST /api/payments/return without a secret, or without APP_URL → 503', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    for (const service of [unconfigured, withoutApp]) {
      expect(await answer(returnCheckout(service, await checkout(orderId))))
        .toEqual(refusal(503, 'Payment service not configured'));
    }
    expect(await readTier(project.database, userId)).toBe('free');
  });

  test('POST /api/payments/return with other field names and the previous secret → 303 paid', async () => {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    const payment = uniqueId('pay');
    const hmac = await sign(secrets.GATEWAY_KEY_SECRET, `${orderId}|${payment}`);
    expect(await redirected(returnCheckout(rotated, await checkout(orderId)))).toEqual(sentTo('failed'));
    const form = String(new URLSearchParams({ order: orderId, payment, hmac }));
    expect(await redirected(returnCheckout(rotated, form))).toEqual(sentTo('paid', orderId));
    expect(await readTier(project.database, userId)).toBe('pro');
  });
});
