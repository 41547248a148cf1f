import { beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { type Buyer, createBuyer } from '../helpers/http/caller.ts';
import { call, checkout, verify } from '../helpers/http/requests.ts';
import { ledger, withoutWriting } from '../helpers/http/without-writing.ts';
import { poolThenRest, targets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();

// The last day of January in a leap year: adding days, or months of 30 days, gives another date.
const now = '2028-01-31T10:20:30.456Z';
const [inAMonth, inAYear] = ['2028-02-29T10:20:30.456Z', '2029-01-31T10:20:30.456Z'];
beforeEach(() => setClock(project.database, now));

/** The answer to a verified payment. Contract: POST /api/payments/verify. */
function verified(tier: string, validUntil: string): { status: number; body: unknown } {
  const message = 'Payment verified and subscription activated';
  return { status: 200, body: { success: true, message, subscription: { tier, validUntil } } };
}
const paymentOf = ({ orderId }: Buyer) => paymentOfOrder(project.database, orderId);
const successMails = ({ email }: Buyer) => queued(project.database, 'payment-success', email);
const newBuyer = (payment: Parameters<typeof createBuyer>[1] = {}) => createBuyer(project.database, payment);

describe.each(targets)('%s', (target) => {
  const service = useService(target, project);

  test('POST /api/payments/verify of a first purchase → 200; captured and linked, subscription, tier, one mail, refreshed pages', async () => {
    const buyer = await newBuyer({ amount: 99950 });
    await project.database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [buyer.id]);
    await project.database.query("delete from billing.outbox where destination = 'revalidation'");
    const { headers, ...received } = await fullAnswer(verify(service, buyer.accessToken, buyer.paid));
    expect(received).toEqual(verified('pro', inAYear));
    expect(headers.get('cache-control')).toBe('private, no-store');

    const subscription = await subscriptionOf(project.database, buyer.id);
    expect(subscription).toMatchObject({
      plan_id: (await project.database.one("select id from public.plans where tier = 'pro'")).id,
      tier: 'pro',
      status: 'active',
      current_period_start: new Date(now),
      current_period_end: new Date(inAYear),
      cancelled_at: null,
      gateway_subscription_id: null,
    });
    const { gateway_payment_id, gateway_signature } = buyer.paid;
    const linked = { id: buyer.paymentId, subscription_id: subscription?.id, meta: { tier: 'pro' } };
    expect(await paymentOf(buyer)).toMatchObject({
      ...linked,
      status: 'captured',
      gateway_payment_id,
      gateway_signature,
    });
    expect(await readTier(project.database, buyer.id)).toBe('pro');
    expect(await successMails(buyer)).toEqual([{
      to: buyer.email,
      display_name: 'Asha',
      plan_name: 'Pro',
      amount: 99950,
      currency: 'INR',
      transaction_id: gateway_payment_id,
      valid_until: inAYear,
    }]);
    expect(await queued(project.database, 'revalidation', ''))
      .toEqual([{ paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] }]);

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
    await setClock(project.database, '2028-02-01T00:00:00Z');
    await withoutWriting(project.database, async () => {
      expect(await answer(verify(service, accessToken, paid))).toEqual(first);
    });
  });
});

describe('one target', () => {
  const service = useService(poolThenRest, project, { GATEWAY_KEY_SECRET_PREVIOUS: 'old-key-secret' });
  const buy = ({ accessToken, paid }: Buyer, fields: Record<string, unknown> = {}) =>
    answer(verify(service, accessToken, { ...paid, ...fields }));

  // All months and tiers: database/verify-payment.
  test.each([
    ['basic', {}, inAMonth],
    ['basic', null, inAMonth],
    ['of 0 months', { tier: 'of 0 months' }, inAYear],
    ['of 13 months', { tier: 'of 13 months' }, '2029-02-28T10:20:30.456Z'],
  ])(
    'POST /api/payments/verify → 200 with the tier %s, of an order whose meta is %j, until %s',
    async (tier, meta, until) => {
      // Not on offer: a paid order is fulfilled all the same.
      await project.database.query(
        `insert into public.plans (tier, name, price, duration_months, is_active)
       select $1, $1, 100, $2, false where $2::integer is not null on conflict do nothing`,
        [tier, /\d+/.exec(tier)?.[0] ?? null],
      );
      const buyer = await newBuyer({ meta });
      expect(await buy(buyer, { tier: 'premium', user_id: crypto.randomUUID() })).toEqual(verified(tier, until));
      expect((await subscriptionOf(project.database, buyer.id))?.current_period_end).toEqual(new Date(until));
      expect(await readTier(project.database, buyer.id)).toBe(tier);
    },
  );

  test('POST /api/payments/verify with another payment on a fulfilled order → 200; an extra payment, nothing else changed', async () => {
    const buyer = await newBuyer();
    const first = await buy(buyer);
    const second = await checkout(buyer.orderId);
    await withoutWriting(project.database, async () => expect(await buy(buyer, second)).toEqual(first), [
      'public.payments',
    ]);
    const extra = 'select gateway_payment_id as id from public.payments where extra_of = $1';
    expect(await project.database.query(extra, [buyer.paymentId])).toEqual([{ id: second.gateway_payment_id }]);
    expect(await paymentOf(buyer)).toMatchObject({ gateway_payment_id: buyer.paid.gateway_payment_id });
  });

  test('POST /api/payments/verify after a failed attempt → 200 with the ordered tier; a later payment.failed changes nothing', async () => {
    const buyer = await newBuyer({ meta: { tier: 'premium' } });
    const fail = async (id: string) =>
      expect((await postWebhook(service, paymentFailed({ order_id: buyer.orderId, id }))).status).toBe(200);
    await fail(uniqueId('pay'));
    expect(await paymentOf(buyer)).toMatchObject({ status: 'failed' });
    expect(await buy(buyer)).toEqual(verified('premium', inAYear));
    expect(await paymentOf(buyer)).toMatchObject({ status: 'captured', tier: 'premium' });
    await withoutWriting(project.database, async () => {
      for (const id of [uniqueId('pay'), buyer.paid.gateway_payment_id]) await fail(id);
    }, ledger);
  });

  test('POST /api/payments/verify without a plan for the tier → 500, captured; after the plan is created → 200', async () => {
    const tier = uniqueId('tier');
    const buyer = await newBuyer({ meta: { tier } });
    const { gateway_payment_id, gateway_signature } = buyer.paid;
    for (const _ of [1, 2]) {
      expect(await buy(buyer)).toEqual(refusal(500, 'Plan not found'));
      expect(await paymentOf(buyer))
        .toMatchObject({ status: 'captured', gateway_payment_id, gateway_signature, subscription_id: null });
      expect(await subscriptionOf(project.database, buyer.id)).toBeUndefined();
      expect(await readTier(project.database, buyer.id)).toBe('free');
      expect(await successMails(buyer)).toEqual([]);
    }
    await project.database.query('insert into public.plans (tier, name, price) values ($1, $1, 100)', [tier]);
    expect(await buy(buyer)).toEqual(verified(tier, inAYear));
    expect(await readTier(project.database, buyer.id)).toBe(tier);
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

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'nonsense'])(
    'POST /api/payments/verify with a byte-order mark and JSON as %s → 200',
    async (type) => {
      const { user, paid } = await newBuyer();
      const body = `\uFEFF${JSON.stringify(paid)}`;
      expect(await call(service, 'POST /api/payments/verify', { user, body, headers: { 'content-type': type } }))
        .toEqual(verified('pro', inAYear));
    },
  );
});
