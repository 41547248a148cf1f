import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { answer, call, checkout, fullAnswer, refusal, verify } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newBuyer, unchanged } = project;

const service = useService(restThenPool, project, { GATEWAY_KEY_SECRET_PREVIOUS: 'old-key-secret' });
const now = '2028-01-31T10:20:30.456Z';
const inAYear = '2029-01-31T10:20:30.456Z';
beforeEach(() => setClock(database, now));

/** The answer to a verified payment. Contract: POST /api/payments/verify. */
function verified(tier: string, validUntil: string): { status: number; body: unknown } {
  const message = 'Payment verified and subscription activated';
  return { status: 200, body: { success: true, message, subscription: { tier, validUntil } } };
}
const paymentOf = ({ orderId }: Buyer) => paymentOfOrder(database, orderId);
const successMails = ({ email }: Buyer) => queued(database, 'payment-success', email);

describe('a purchase', () => {
  // All that is written, months and tiers: database/verify-payment. What the caller says about them is ignored.
  test('POST /api/payments/verify of a first purchase → 200; captured and linked, subscription, tier, one mail', async () => {
    const buyer = await newBuyer({ amount: 99950 });
    const body = { ...buyer.paid, tier: 'premium', user_id: crypto.randomUUID() };
    const { headers, ...received } = await fullAnswer(verify(service, buyer.accessToken, body));
    expect(received).toEqual(verified('pro', inAYear));
    expect(headers.get('cache-control')).toBe('private, no-store');

    const { gateway_payment_id, gateway_signature } = buyer.paid;
    const subscription = await subscriptionOf(database, buyer.id);
    const linked = { id: buyer.paymentId, subscription_id: subscription?.id, meta: { tier: 'pro' } };
    expect(await paymentOf(buyer))
      .toMatchObject({ ...linked, status: 'captured', gateway_payment_id, gateway_signature });
    expect(await readTier(database, buyer.id)).toBe('pro');
    const mail = { to: buyer.email, plan_name: 'Pro', amount: 99950, currency: 'INR', valid_until: inAYear };
    expect(await successMails(buyer)).toMatchObject([{ ...mail, transaction_id: gateway_payment_id }]);
    expect(await call(service, 'GET /api/subscriptions', { user: buyer })).toMatchObject({
      status: 200,
      body: {
        subscription: { status: 'active', current_period_end: inAYear.replace('Z', '+00:00'), plan: { tier: 'pro' } },
        currentTier: 'pro',
        payments: [{ id: buyer.paymentId, status: 'captured' }],
      },
    });
  });

  test('POST /api/payments/verify again → 200 with the same period, nothing written', async () => {
    const { accessToken, paid } = await newBuyer();
    const first = await answer(verify(service, accessToken, paid));
    expect(first).toEqual(verified('pro', inAYear));
    await setClock(database, '2028-02-01T00:00:00Z');
    await unchanged(async () => expect(await answer(verify(service, accessToken, paid))).toEqual(first));
  });
});

describe('plans, secrets and bodies', () => {
  const buy = ({ accessToken, paid }: Buyer, fields: Record<string, unknown> = {}) =>
    answer(verify(service, accessToken, { ...paid, ...fields }));

  test('POST /api/payments/verify without a plan for the tier → 500, captured; after the plan is created → 200', async () => {
    const tier = uniqueId('tier');
    const buyer = await newBuyer({ meta: { tier } });
    for (const _ of [1, 2]) {
      expect(await buy(buyer)).toEqual(refusal(500, 'Plan not found'));
      expect(await paymentOf(buyer)).toMatchObject({ status: 'captured', subscription_id: null });
      expect(await readTier(database, buyer.id)).toBe('free');
      expect(await successMails(buyer)).toEqual([]);
    }
    await database.query('insert into public.plans (tier, name, price) values ($1, $1, 100)', [tier]);
    expect(await buy(buyer)).toEqual(verified(tier, inAYear));
    expect(await readTier(database, buyer.id)).toBe(tier);
    expect(await successMails(buyer)).toHaveLength(1);
  });

  test.each([['GATEWAY_KEY_SECRET', 200], ['old-key-secret', 200], ['older-key-secret', 400]])(
    'POST /api/payments/verify signed with %s while the secret rotates → %i',
    async (name, status) => {
      const buyer = await newBuyer();
      const message = `${buyer.orderId}|${buyer.paid.gateway_payment_id}`;
      const secret = name === 'GATEWAY_KEY_SECRET' ? secrets.GATEWAY_KEY_SECRET : name;
      expect(await buy(buyer, { gateway_signature: await sign(secret, message) })).toMatchObject({ status });
    },
  );

  test('POST /api/payments/verify with a byte-order mark and JSON as another type → 200', async () => {
    const { user, paid } = await newBuyer();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `\uFEFF${JSON.stringify(paid)}`;
    expect(await call(service, 'POST /api/payments/verify', { user, body, headers })).toEqual(verified('pro', inAYear));
  });
});

describe('refusals', () => {
  const unauthorized = refusal(401, 'Unauthorized');
  const badSignature = refusal(400, 'Payment verification failed');
  const notFound = refusal(404, 'Payment not found');
  const failed = refusal(500, 'Failed to verify payment');
  const fields = ['gateway_order_id', 'gateway_payment_id', 'gateway_signature'] as const;
  const nested = '['.repeat(200_000) + ']'.repeat(200_000);

  let buyer: Buyer;
  let paid: Buyer['paid'];
  let othersPaid: Buyer['paid'];
  beforeAll(async () => {
    buyer = await newBuyer();
    ({ paid } = buyer);
    // A tier without a plan: the owner would get "Plan not found".
    othersPaid = (await newBuyer({ meta: { tier: 'no-such-plan' } })).paid;
  });

  /** Sends bodies that must be refused alike, and asserts that this writes nothing. */
  async function refused(expected: unknown, bodies: unknown[], user: { accessToken: string } = buyer): Promise<void> {
    await unchanged(async () => {
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
    await refused(unauthorized, [paid, {}, signedBadly, await checkout(uniqueId('order')), '{'], {
      accessToken: 'no-session',
    });
  });

  test('POST /api/payments/verify with missing fields, or a body that is no object → 400 with details, before the signature', async () => {
    const missing = Object.fromEntries(fields.map((field) => [field, noString('undefined')]));
    await refused(invalid(missing), [{}, `{"__proto__":${JSON.stringify(paid)},"constructor":1}`]);
    const { gateway_payment_id: _, ...incomplete } = { ...paid, gateway_signature: 'x' };
    await refused(invalid({ gateway_payment_id: noString('undefined') }), [incomplete]);
    for (const [body, type] of [['null', 'null'], ['"gateway_order_id"', 'string'], ['[{}]', 'array']] as const) {
      await refused(invalid({}, [`Invalid input: expected object, received ${type}`]), [body]);
    }
  });

  test.each(fields)('POST /api/payments/verify with a %s that is no string → 400 with details', async (field) => {
    for (const [json, type] of [['null', 'null'], ['1e200000', 'Infinity'], [nested, 'array']] as const) {
      const body = JSON.stringify({ ...paid, [field]: '?' }).replace('"?"', json);
      await refused(invalid({ [field]: noString(type) }), [body]);
    }
  });

  test('POST /api/payments/verify with a body that is no JSON, or when the database refuses → 500', async () => {
    const notUtf8 = new Uint8Array([0xff, 0xfe, 0x00, 0x7b]);
    await refused(failed, ['', '{', 'gateway_order_id=1', '{}{}', '['.repeat(200_000), notUtf8]);
    await whileBroken(database, 'verify_payment', () => refused(failed, [paid]));
  });

  // All forms that are refused: unit/signature.
  test('POST /api/payments/verify with a signature of another secret or form → 400', async () => {
    const { gateway_signature } = paid;
    const other = await sign(secrets.GATEWAY_WEBHOOK_SECRET, `${buyer.orderId}|${paid.gateway_payment_id}`);
    const forms = [other, gateway_signature.toUpperCase(), gateway_signature.slice(1), `${gateway_signature}\n`];
    await refused(badSignature, forms.map((gateway_signature) => ({ ...paid, gateway_signature })));
  });

  test('POST /api/payments/verify with a signature of other ids, or an empty field → 400, before 404', async () => {
    await refused(badSignature, [
      { ...paid, gateway_payment_id: uniqueId('pay') },
      { ...paid, gateway_order_id: uniqueId('order') },
      { ...othersPaid, gateway_signature: paid.gateway_signature },
      // The same message only without the separator.
      { ...paid, gateway_payment_id: `|${paid.gateway_payment_id}` },
      ...fields.map((field) => ({ ...paid, [field]: '' })),
    ]);
  });

  test('POST /api/payments/verify with an order of another user, of a deleted one or of none → 404', async () => {
    const gone = await newBuyer({ user: buyer.user });
    await database.query('update public.payments set user_id = null where id = $1', [gone.paymentId]);
    await refused(notFound, [othersPaid, gone.paid, await checkout(uniqueId('order')), await checkout('', '')]);
  });

  test('POST /api/payments/verify with an odd order id and a valid signature → 404', async () => {
    const { orderId } = buyer;
    const ids = [
      `${orderId}\0`,
      `${orderId}\uD800`,
      `\uDC00${orderId}`,
      "' or 1=1 --",
      '%',
      '\uFFFD',
      'x'.repeat(500_000),
    ];
    await refused(notFound, await Promise.all(ids.map((id) => checkout(id))));
    await refused(notFound, [await checkout(orderId, 'pay_\0'), await checkout(orderId, 'pay_\uD800')]);
  });

  test('POST /api/payments/verify of a payment that was refunded in full → 400', async () => {
    const refunded = await newBuyer({ user: buyer.user });
    await database.query(
      `update public.payments set status = 'captured', gateway_payment_id = $2, refunded_amount = amount where id = $1`,
      [refunded.paymentId, refunded.paid.gateway_payment_id],
    );
    await refused(badSignature, [refunded.paid]);
  });

  test('POST /api/payments/verify after all refusals → 200; the payment of another order → 500, nothing written', async () => {
    expect((await verify(service, buyer.accessToken, paid)).status).toBe(200);
    const { orderId } = await newBuyer({ user: buyer.user });
    await refused(failed, [await checkout(orderId, paid.gateway_payment_id)]);
  });
});
