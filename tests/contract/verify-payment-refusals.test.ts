import { beforeAll, describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { type Checkout, checkout, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// One user makes several purchases.
const project = useProject({ findings: { paid_twice: poolSample.length - 1 } });
const unauthorized = refusal(401, 'Unauthorized');
const notConfigured = refusal(503, 'Payment service not configured');
const badSignature = refusal(400, 'Payment verification failed');
const notFound = refusal(404, 'Payment not found');
const failed = refusal(500, 'Failed to verify payment');
const noSession = 'no-session';

let user: SignedUpUser;
let other: SignedUpUser;
let paid: Checkout;
let othersPaid: Checkout;
beforeAll(async () => {
  [user, other] = [await createCaller(project.database), await createCaller(project.database)];
  paid = await checkout((await createPayment(project.database, { userId: user.id })).orderId);
  // A tier without a plan: the owner would get "Plan not found".
  const meta = { tier: 'no-such-plan' };
  othersPaid = await checkout((await createPayment(project.database, { userId: other.id, meta })).orderId);
});

const missingFields = {
  error: 'Invalid request',
  details: {
    formErrors: [],
    fieldErrors: {
      gateway_order_id: ['Invalid input: expected string, received undefined'],
      gateway_payment_id: ['Invalid input: expected string, received undefined'],
      gateway_signature: ['Invalid input: expected string, received undefined'],
    },
  },
};

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  /** Sends a request that must be refused, and asserts that it writes nothing. */
  async function refused(body: unknown, accessToken = user.accessToken) {
    const before = await readAllRows(project.database);
    const received = await answer(verify(service, accessToken, body));
    expect(await readAllRows(project.database)).toEqual(before);
    return received;
  }

  test('POST /api/payments/verify without a session → 401', async () => {
    expect(await answer(service.request('/api/payments/verify', { method: 'POST', body: JSON.stringify(paid) })))
      .toEqual(unauthorized);
    expect(await refused(paid, noSession)).toEqual(unauthorized);
  });

  test('POST /api/payments/verify without fields → 400 with details of each', async () => {
    expect(await refused({})).toEqual({ status: 400, body: missingFields });
  });

  test('POST /api/payments/verify with a wrong signature → 400', async () => {
    expect(await refused({ ...paid, gateway_signature: '0'.repeat(64) })).toEqual(badSignature);
  });

  test('POST /api/payments/verify with a signature over other ids → 400', async () => {
    expect(await refused({ ...paid, gateway_payment_id: uniqueId('pay') })).toEqual(badSignature);
    expect(await refused({ ...paid, gateway_order_id: uniqueId('order') })).toEqual(badSignature);
    expect(await refused({ ...othersPaid, gateway_signature: paid.gateway_signature })).toEqual(badSignature);
  });

  test('POST /api/payments/verify of a payment that was refunded in full → 400', async () => {
    const refunded = await checkout((await createPayment(project.database, { userId: user.id })).orderId);
    await project.database.query(
      `update public.payments set status = 'captured', gateway_payment_id = $2, refunded_amount = amount
       where gateway_order_id = $1`,
      [refunded.gateway_order_id, refunded.gateway_payment_id],
    );
    expect(await refused(refunded)).toEqual(badSignature);
  });

  test('POST /api/payments/verify with a signature made with the webhook secret → 400', async () => {
    const message = `${paid.gateway_order_id}|${paid.gateway_payment_id}`;
    expect(await refused({ ...paid, gateway_signature: await sign(secrets.GATEWAY_WEBHOOK_SECRET, message) }))
      .toEqual(badSignature);
  });

  test.each([
    ['in upper case', (s: string) => s.toUpperCase()],
    ['of 63 digits', (s: string) => s.slice(1)],
    ['of 65 digits', (s: string) => `${s}0`],
    ['with a line break after it', (s: string) => `${s}\n`],
    ['with garbage after it', (s: string) => `${s}zz`],
    ['with a blank before it', (s: string) => ` ${s}`],
  ])('POST /api/payments/verify with the right signature %s → 400', async (_, change) => {
    expect(await refused({ ...paid, gateway_signature: change(paid.gateway_signature) })).toEqual(badSignature);
  });

  test.each(['gateway_order_id', 'gateway_payment_id', 'gateway_signature'])(
    'POST /api/payments/verify with an empty %s → 400 at the signature',
    async (field) => {
      expect(await refused({ ...paid, [field]: '' })).toEqual(badSignature);
    },
  );

  test('POST /api/payments/verify with an unknown order → 404', async () => {
    expect(await refused(await checkout(uniqueId('order')))).toEqual(notFound);
    expect(await refused(await checkout('', ''))).toEqual(notFound);
  });

  test('POST /api/payments/verify with an order of another user → 404', async () => {
    expect(await refused(othersPaid)).toEqual(notFound);
  });

  test('POST /api/payments/verify with an order of a user who was deleted → 404', async () => {
    const { orderId } = await createPayment(project.database, { userId: user.id });
    await project.database.query('update public.payments set user_id = null where gateway_order_id = $1', [orderId]);
    expect(await refused(await checkout(orderId))).toEqual(notFound);
  });

  test.each(['', '{', '{"gateway_order_id":', 'gateway_order_id=1', '{}{}', 'NaN'])(
    'POST /api/payments/verify with the invalid JSON body %j → 500',
    async (body) => {
      expect(await refused(body)).toEqual(failed);
    },
  );

  test('POST /api/payments/verify when the database refuses → 500', async () => {
    await whileBroken(project.database, 'verify_payment', async () => {
      expect(await refused(paid)).toEqual(failed);
    });
  });

  test('POST /api/payments/verify without a session and with a bad body or signature → 401, before 400', async () => {
    expect(await refused({}, noSession)).toEqual(unauthorized);
    expect(await refused({ ...paid, gateway_signature: 'x' }, noSession)).toEqual(unauthorized);
    expect(await refused(await checkout(uniqueId('order')), noSession)).toEqual(unauthorized);
  });

  test('POST /api/payments/verify without a session and with invalid JSON → 401, before 500', async () => {
    expect(await refused('{', noSession)).toEqual(unauthorized);
  });

  test('POST /api/payments/verify with a missing field and a bad signature → 400 with details, before the signature', async () => {
    const { gateway_payment_id: _, ...incomplete } = paid;
    expect(await refused({ ...incomplete, gateway_signature: 'x' })).toEqual({
      status: 400,
      body: {
        error: 'Invalid request',
        details: {
          formErrors: [],
          fieldErrors: { gateway_payment_id: missingFields.details.fieldErrors.gateway_payment_id },
        },
      },
    });
  });

  test('POST /api/payments/verify with a bad signature for an unknown order or one of another user → 400, before 404', async () => {
    expect(await refused({ ...await checkout(uniqueId('order')), gateway_signature: 'x' })).toEqual(badSignature);
    expect(await refused({ ...othersPaid, gateway_signature: 'x' })).toEqual(badSignature);
  });

  test('POST /api/payments/verify after all refusals, with a valid request → 200', async () => {
    const { orderId } = await createPayment(project.database, { userId: user.id });
    expect((await verify(service, user.accessToken, await checkout(orderId))).status).toBe(200);
  });
});

describe.each(poolSample.flatMap((target) => [
  { target, missing: 'GATEWAY_KEY_ID' },
  { target, missing: 'GATEWAY_KEY_SECRET' },
]))('$target without $missing', ({ target, missing }) => {
  const service = useService(target, project, { [missing]: '' });

  test('POST /api/payments/verify → 503, nothing written', async () => {
    const before = await readAllRows(project.database);
    expect(await answer(verify(service, user.accessToken, paid))).toEqual(notConfigured);
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/payments/verify with a signature made with an empty secret → 503', async () => {
    // WebCrypto refuses empty keys; a key of one zero byte gives the same HMAC.
    const gateway_signature = await sign('\0', `${paid.gateway_order_id}|${paid.gateway_payment_id}`);
    expect(await answer(verify(service, user.accessToken, { ...paid, gateway_signature }))).toEqual(notConfigured);
  });

  test('POST /api/payments/verify without a session → 503, before 401', async () => {
    expect(await answer(verify(service, noSession, paid))).toEqual(notConfigured);
  });

  test('POST /api/payments/verify with a bad body, signature or order → 503, before 400, 404 and 500', async () => {
    for (const body of [{}, '{', { ...paid, gateway_signature: 'x' }, othersPaid, await checkout('order_x')]) {
      expect(await answer(verify(service, user.accessToken, body))).toEqual(notConfigured);
    }
  });
});
