import { beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { answer, fullAnswer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, requestSubscription, verify } from '../helpers/http/requests.ts';
import { everyTarget } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// One renewal for each target while the period runs.
const project = useProject({ findings: { paid_twice: everyTarget.length, unmailed_payment: 2 * everyTarget.length } });
const stoppedAt = '2028-01-31T10:20:30.456Z';
const now = new Date(stoppedAt);

// The last day of January in a leap year: adding days, or months of 30 days, gives another date.
beforeAll(() => setClock(project.database, stoppedAt));

/** The answer to a verified payment. Contract: POST /api/payments/verify. */
function verified(tier: string, validUntil: string): { status: number; body: unknown } {
  const message = 'Payment verified and subscription activated';
  return { status: 200, body: { success: true, message, subscription: { tier, validUntil } } };
}

describe.each(everyTarget)('%s', (target) => {
  const service = useService(target, project);

  test('POST /api/payments/verify of a first purchase → 200; payment captured and linked, subscription active, profile has the tier', async () => {
    const user = await project.signUp();
    const payment = await createPayment(project.database, { userId: user.id, meta: { tier: 'pro' } });
    const body = await checkout(payment.orderId);

    const { headers, ...received } = await fullAnswer(verify(service, user.accessToken, body));
    expect(received).toEqual(verified('pro', '2029-01-31T10:20:30.456Z'));
    expect(headers.get('cache-control')).toBe('private, no-store');

    const subscription = await subscriptionOf(project.database, user.id);
    expect(subscription).toMatchObject({
      plan_id: (await project.database.one("select id from public.plans where tier = 'pro'")).id,
      tier: 'pro',
      status: 'active',
      current_period_start: now,
      current_period_end: new Date('2029-01-31T10:20:30.456Z'),
      cancelled_at: null,
      gateway_subscription_id: null,
    });
    expect(await paymentOfOrder(project.database, payment.orderId)).toMatchObject({
      id: payment.id,
      status: 'captured',
      gateway_payment_id: body.gateway_payment_id,
      gateway_signature: body.gateway_signature,
      subscription_id: subscription?.id,
      meta: { tier: 'pro' },
    });
    expect(await readTier(project.database, user.id)).toBe('pro');
  });

  test('POST /api/payments/verify, then GET /api/subscriptions → the same tier and period', async () => {
    const user = await createCaller(project.database);
    const payment = await createPayment(project.database, { userId: user.id, meta: { tier: 'premium' } });
    await verify(service, user.accessToken, await checkout(payment.orderId));
    expect(await answer(requestSubscription(service, user.accessToken))).toMatchObject({
      status: 200,
      body: {
        subscription: {
          tier: 'premium',
          status: 'active',
          current_period_end: '2029-01-31T10:20:30.456+00:00',
          plan: { tier: 'premium', name: 'Premium' },
        },
        currentTier: 'premium',
        payments: [{ id: payment.id, status: 'captured' }],
      },
    });
  });

  test('POST /api/payments/verify of a user with a cancelled subscription → 200; the same row, active with the new tier', async () => {
    const user = await createCaller(project.database);
    const before = await project.database.one(
      `insert into public.subscriptions
         (user_id, tier, status, cancelled_at, cancel_at_period_end, ended_reason, current_period_start, current_period_end)
       values ($1, 'premium', 'cancelled', '2027-12-01', true, 'cancelled', '2027-06-01', '2028-06-01')
       returning id`,
      [user.id],
    );
    const payment = await createPayment(project.database, { userId: user.id, meta: { tier: 'basic' } });

    expect(await answer(verify(service, user.accessToken, await checkout(payment.orderId))))
      .toEqual(verified('basic', '2028-02-29T10:20:30.456Z'));
    expect(await subscriptionOf(project.database, user.id)).toMatchObject({
      id: before.id,
      plan_id: (await project.database.one("select id from public.plans where tier = 'basic'")).id,
      tier: 'basic',
      status: 'active',
      cancelled_at: null,
      cancel_at_period_end: false,
      ended_reason: null,
      current_period_start: now,
      current_period_end: new Date('2028-02-29T10:20:30.456Z'),
    });
    expect(await paymentOfOrder(project.database, payment.orderId)).toMatchObject({ subscription_id: before.id });
    expect(await readTier(project.database, user.id)).toBe('basic');
  });

  test('POST /api/payments/verify of a user with a running subscription → 200; a new period starts now', async () => {
    const user = await createCaller(project.database);
    for (let i = 0; i < 2; i++) {
      const payment = await createPayment(project.database, { userId: user.id, meta: { tier: 'basic' } });
      expect(await answer(verify(service, user.accessToken, await checkout(payment.orderId))))
        .toEqual(verified('basic', '2028-02-29T10:20:30.456Z'));
    }
  });

  test.each([{}, null])('POST /api/payments/verify of an order whose meta is %j → 200, basic', async (meta) => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id, meta });
    expect(await answer(verify(service, user.accessToken, await checkout(orderId))))
      .toEqual(verified('basic', '2028-02-29T10:20:30.456Z'));
    expect(await readTier(project.database, user.id)).toBe('basic');
  });

  test.each([
    { months: null, validUntil: '2029-01-31T10:20:30.456Z' },
    { months: 0, validUntil: '2029-01-31T10:20:30.456Z' },
    { months: 1, validUntil: '2028-02-29T10:20:30.456Z' },
    { months: 13, validUntil: '2029-02-28T10:20:30.456Z' },
    { months: 25, validUntil: '2030-02-28T10:20:30.456Z' },
  ])('POST /api/payments/verify for a plan of $months months → 200, valid until $validUntil', async (row) => {
    const user = await createCaller(project.database);
    const tier = uniqueId('tier');
    // Not on offer: a paid order is fulfilled all the same.
    await project.database.query(
      'insert into public.plans (tier, name, price, duration_months, is_active) values ($1, $1, 100, $2, false)',
      [tier, row.months],
    );
    const { orderId } = await createPayment(project.database, { userId: user.id, meta: { tier } });
    expect(await answer(verify(service, user.accessToken, await checkout(orderId))))
      .toEqual(verified(tier, row.validUntil));
    expect((await subscriptionOf(project.database, user.id))?.current_period_end).toEqual(new Date(row.validUntil));
  });

  test('POST /api/payments/verify → 200; one success mail', async () => {
    const user = await createCaller(project.database);
    await project.database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [user.id]);
    const { orderId } = await createPayment(project.database, { userId: user.id, amount: 99950 });
    const body = await checkout(orderId);
    expect((await verify(service, user.accessToken, body)).status).toBe(200);
    expect(await queued(project.database, 'payment-success', user.email)).toEqual([{
      to: user.email,
      display_name: 'Asha',
      plan_name: 'Pro',
      amount: 99950,
      currency: 'INR',
      transaction_id: body.gateway_payment_id,
      valid_until: '2029-01-31T10:20:30.456Z',
    }]);
  });

  test.each([null, ''])(
    'POST /api/payments/verify of a user whose display name is %j → 200; the mail has the username',
    async (displayName) => {
      const user = await createCaller(project.database);
      await project.database.query(
        "update public.profiles set display_name = $2, username = 'asha_k' where user_id = $1",
        [user.id, displayName],
      );
      const { orderId } = await createPayment(project.database, { userId: user.id });
      expect((await verify(service, user.accessToken, await checkout(orderId))).status).toBe(200);
      expect(await queued(project.database, 'payment-success', user.email))
        .toMatchObject([{ display_name: 'asha_k' }]);
    },
  );

  test('POST /api/payments/verify of a user without an e-mail address → 200, no mail', async () => {
    const user = await createCaller(project.database);
    await project.database.query('update auth.users set email = null where id = $1', [user.id]);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = await checkout(orderId);
    expect((await verify(service, user.accessToken, body)).status).toBe(200);
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await queued(project.database, 'payment-success', body.gateway_payment_id)).toEqual([]);
  });

  test('POST /api/payments/verify of a user without a profile → 200; profile created with the tier, no mail', async () => {
    const user = await createCaller(project.database);
    await project.database.query('delete from public.profiles where user_id = $1', [user.id]);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    expect(await answer(verify(service, user.accessToken, await checkout(orderId))))
      .toEqual(verified('pro', '2029-01-31T10:20:30.456Z'));
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await queued(project.database, 'payment-success', user.email)).toEqual([]);
  });

  test.each(['with', 'without'])(
    'POST /api/payments/verify of a user %s a profile → 200; one revalidation of the four pages',
    async (profile) => {
      const user = await createCaller(project.database);
      if (profile === 'without') {
        await project.database.query('delete from public.profiles where user_id = $1', [user.id]);
      }
      const { orderId } = await createPayment(project.database, { userId: user.id });
      await project.database.query("delete from billing.outbox where destination = 'revalidation'");
      expect((await verify(service, user.accessToken, await checkout(orderId))).status).toBe(200);
      expect(await queued(project.database, 'revalidation', ''))
        .toEqual([{ paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] }]);
    },
  );

  test('POST /api/payments/verify with unknown fields → 200, they change nothing', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id, meta: { tier: 'basic' } });
    const body = { ...await checkout(orderId), tier: 'premium', user_id: crypto.randomUUID() };
    expect(await answer(verify(service, user.accessToken, body)))
      .toEqual(verified('basic', '2028-02-29T10:20:30.456Z'));
  });

  test('POST /api/payments/verify with a body that starts with a byte-order mark → 200', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = '\uFEFF' + JSON.stringify(await checkout(orderId));
    expect(await answer(verify(service, user.accessToken, body)))
      .toEqual(verified('pro', '2029-01-31T10:20:30.456Z'));
  });
});
