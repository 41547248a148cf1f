import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import {
  ledgerRow,
  paymentOfOrder,
  queued,
  readAllRows,
  readRowsExcept,
  readTier,
  subscriptionOf,
} from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// One order for each target is paid twice.
const project = useProject({ findings: { paid_twice: poolSample.length } });

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  test('POST /api/payments/verify again → 200 with the same period, nothing written', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = await checkout(orderId);
    const first = await answer(verify(service, user.accessToken, body));
    expect(first.status).toBe(200);
    const before = await readAllRows(project.database);
    expect(await answer(verify(service, user.accessToken, body))).toEqual(first);
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/payments/verify of an older payment again → 200 with the period of that payment', async () => {
    const user = await createCaller(project.database);
    const older = await createPayment(project.database, { userId: user.id, meta: { tier: 'basic' } });
    const newer = await createPayment(project.database, { userId: user.id, meta: { tier: 'premium' } });
    const body = await checkout(older.orderId);
    await setClock(project.database, '2027-05-31T08:00:00Z');
    const first = await answer(verify(service, user.accessToken, body));
    await setClock(project.database, '2027-06-01T08:00:00Z');
    await verify(service, user.accessToken, await checkout(newer.orderId));
    const before = await readAllRows(project.database);

    expect(await answer(verify(service, user.accessToken, body))).toEqual(first);
    expect(first.body).toMatchObject({ subscription: { tier: 'basic', validUntil: '2027-06-30T08:00:00.000Z' } });
    expect(await readAllRows(project.database)).toEqual(before);
    expect(await readTier(project.database, user.id)).toBe('premium');
    await setClock(project.database, null);
  });

  test('POST /api/payments/verify with another payment on a fulfilled order → 200; stored as an extra payment, nothing else changed', async () => {
    const user = await createCaller(project.database);
    const { id, orderId } = await createPayment(project.database, { userId: user.id });
    const first = await answer(verify(service, user.accessToken, await checkout(orderId)));
    const rows = async () => [
      await readRowsExcept(project.database, ['public.payments']),
      await project.database.query('select * from public.payments where extra_of is null order by id'),
    ];
    const before = await rows();
    const second = await checkout(orderId);

    expect(await answer(verify(service, user.accessToken, second))).toEqual(first);
    expect(await rows()).toEqual(before);
    expect(await project.database.query('select gateway_payment_id from public.payments where extra_of = $1', [id]))
      .toEqual([{ gateway_payment_id: second.gateway_payment_id }]);
  });

  test('POST /api/payments/verify after a failed attempt → 200 with the ordered tier, not basic', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id, meta: { tier: 'premium' } });
    expect((await postWebhook(service, paymentFailed({ order_id: orderId }))).status).toBe(200);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed' });

    expect(await answer(verify(service, user.accessToken, await checkout(orderId))))
      .toMatchObject({ status: 200, body: { subscription: { tier: 'premium' } } });
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'captured', tier: 'premium' });
    expect(await readTier(project.database, user.id)).toBe('premium');
  });

  test('POST /api/webhooks/gateway with payment.failed after the order was verified → 200, only the ledger is written', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = await checkout(orderId);
    await verify(service, user.accessToken, body);
    const { 'billing.gateway_events': _, ...before } = await readAllRows(project.database);

    for (const attempt of [uniqueId('pay'), body.gateway_payment_id]) {
      const event = paymentFailed({ order_id: orderId, id: attempt });
      expect(await answer(postWebhook(service, event))).toEqual({ status: 200, body: { received: true } });
      expect(await ledgerRow(project.database, event)).toMatchObject({ outcome: 'stale' });
    }
    const { 'billing.gateway_events': __, ...after } = await readAllRows(project.database);
    expect(after).toEqual(before);
  });

  test('POST /api/payments/verify without a plan for the tier → 500, captured; after the plan is created → 200', async () => {
    const user = await createCaller(project.database);
    const tier = uniqueId('tier');
    const { orderId } = await createPayment(project.database, { userId: user.id, meta: { tier } });
    const body = await checkout(orderId);

    for (let i = 0; i < 2; i++) {
      expect(await answer(verify(service, user.accessToken, body))).toEqual(refusal(500, 'Plan not found'));
      expect(await paymentOfOrder(project.database, orderId)).toMatchObject({
        status: 'captured',
        gateway_payment_id: body.gateway_payment_id,
        gateway_signature: body.gateway_signature,
        subscription_id: null,
      });
      expect(await subscriptionOf(project.database, user.id)).toBeUndefined();
      expect(await readTier(project.database, user.id)).toBe('free');
      expect(await queued(project.database, 'payment-success', user.email)).toEqual([]);
    }

    await project.database.query('insert into public.plans (tier, name, price) values ($1, $1, 100)', [tier]);
    expect(await answer(verify(service, user.accessToken, body)))
      .toMatchObject({ status: 200, body: { subscription: { tier } } });
    const subscription = await subscriptionOf(project.database, user.id);
    expect(subscription).toMatchObject({ tier, status: 'active' });
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ subscription_id: subscription?.id });
    expect(await readTier(project.database, user.id)).toBe(tier);
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
  });

  test('POST /api/payments/verify with the payment of another order → 500, nothing written', async () => {
    const user = await createCaller(project.database);
    const [one, other] = [
      await createPayment(project.database, { userId: user.id }),
      await createPayment(project.database, { userId: user.id }),
    ];
    const paid = await checkout(one.orderId);
    await verify(service, user.accessToken, paid);
    const before = await readAllRows(project.database);
    expect(await answer(verify(service, user.accessToken, await checkout(other.orderId, paid.gateway_payment_id))))
      .toEqual(refusal(500, 'Failed to verify payment'));
    expect(await readAllRows(project.database)).toEqual(before);
  });
});

describe.each(poolSample)('%s, early renewals extend', (target) => {
  const service = useService(target, project);
  beforeAll(() => setEarlyRenewal(project.database, 'extend'));
  afterAll(() => setEarlyRenewal(project.database, 'replace'));

  test('POST /api/payments/verify of a renewal of the same tier → 200; added to the running period', async () => {
    const user = await createCaller(project.database);
    await setClock(project.database, '2027-05-15T08:00:00Z');
    for (const validUntil of ['2027-06-15T08:00:00.000Z', '2027-07-15T08:00:00.000Z']) {
      const { orderId } = await createPayment(project.database, { userId: user.id, meta: { tier: 'basic' } });
      expect(await answer(verify(service, user.accessToken, await checkout(orderId))))
        .toMatchObject({ status: 200, body: { subscription: { tier: 'basic', validUntil } } });
    }
    await setClock(project.database, null);
  });
});
