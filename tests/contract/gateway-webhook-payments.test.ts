import { describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { declined, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { answer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, paymentOfOrder, queued, readRowsBesidesLedger } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Captures without an amount grant nothing. Contract: Closed browser.
const project = useProject({ findings: { captured_not_fulfilled: 2 * restSample.length } });
const received = { status: 200, body: { received: true } };
const { error_code, error_description, error_reason } = declined;
const failure = { error_code, error_description, error_reason };

describe.each(restSample)('%s', (target) => {
  const service = useService(target, project);

  /** A payment of a new user. With `paymentId` the gateway's payment id is stored already. */
  async function newPayment({ paymentId, ...rest }: { paymentId?: string; meta?: unknown; amount?: number } = {}) {
    const user = await createCaller(project.database);
    const { id, orderId } = await createPayment(project.database, { userId: user.id, ...rest });
    if (paymentId) {
      await project.database.query('update public.payments set gateway_payment_id = $2 where id = $1', [id, paymentId]);
    }
    return { user, id, orderId };
  }

  async function deliverWithoutEffect(event: string, outcome: string): Promise<void> {
    const before = await readRowsBesidesLedger(project.database);
    expect(await answer(postWebhook(service, event))).toEqual(received);
    expect(await readRowsBesidesLedger(project.database)).toEqual(before);
    expect(await ledgerRow(project.database, event)).toMatchObject({ outcome });
  }

  test.each(['created', 'failed'])(
    'POST /api/webhooks/gateway with payment.captured of a known payment id, without an amount → 200; %s becomes captured',
    async (status) => {
      const paymentId = uniqueId('pay');
      const { id, orderId } = await newPayment({ paymentId });
      await project.database.query('update public.payments set status = $2 where id = $1', [id, status]);
      const before = await paymentOfOrder(project.database, orderId);
      await setClock(project.database, '2027-02-03T04:05:06Z');
      expect(await answer(postWebhook(service, paymentCaptured({ id: paymentId, amount: null })))).toEqual(received);
      await setClock(project.database, null);
      expect(await paymentOfOrder(project.database, orderId)).toMatchObject({
        ...before,
        status: 'captured',
        captured_at: new Date('2027-02-03T04:05:06Z'),
        confirmed_at: new Date('2027-02-03T04:05:06Z'),
      });
    },
  );

  test('POST /api/webhooks/gateway with payment.captured after verify → 200; confirmed, nothing else changed', async () => {
    const { user, orderId } = await newPayment();
    const body = await checkout(orderId);
    await verify(service, user.accessToken, body);
    const before = await paymentOfOrder(project.database, orderId);
    const payment = { id: body.gateway_payment_id, order_id: orderId };
    expect(await answer(postWebhook(service, paymentCaptured(payment)))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId)).toEqual({ ...before, confirmed_at: expect.any(Date) });
    await deliverWithoutEffect(paymentCaptured(payment), 'already');
  });

  test('POST /api/webhooks/gateway with payment.captured of an unknown payment → 200, unmatched', async () => {
    await deliverWithoutEffect(paymentCaptured(), 'unmatched');
  });

  test('POST /api/webhooks/gateway with payment.failed → 200; failed, with the three error fields in meta and the tier kept', async () => {
    const { orderId } = await newPayment({ meta: { tier: 'premium', coupon: 'X' } });
    const before = await paymentOfOrder(project.database, orderId);
    expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId })))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId))
      .toEqual({ ...before, status: 'failed', meta: failure, tier: 'premium' });
  });

  test('POST /api/webhooks/gateway with payment.failed without reasons → 200, absent fields are null', async () => {
    const { orderId } = await newPayment();
    const event = paymentFailed({
      order_id: orderId,
      error_code: undefined,
      error_description: '',
      error_reason: null,
    });
    expect(await answer(postWebhook(service, event))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId))
      .toMatchObject({ status: 'failed', meta: { error_code: null, error_description: '', error_reason: null } });
  });

  test('POST /api/webhooks/gateway with payment.failed → 200; one failure mail with the ordered tier', async () => {
    const { user, orderId } = await newPayment({ meta: { tier: 'premium' }, amount: 199900 });
    await project.database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [user.id]);
    expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId })))).toEqual(received);
    expect(await queued(project.database, 'payment-failed', user.email)).toEqual([{
      to: user.email,
      display_name: 'Asha',
      tier: 'premium',
      amount: 199900,
      currency: 'INR',
      reason: failure.error_description,
    }]);
  });

  test('POST /api/webhooks/gateway with payment.failed of an order without a tier → 200; the mail names basic', async () => {
    const { user, orderId } = await newPayment({ meta: {} });
    await project.database.query(
      "update public.profiles set display_name = '', username = 'asha_k' where user_id = $1",
      [user.id],
    );
    expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId })))).toEqual(received);
    expect(await queued(project.database, 'payment-failed', user.email))
      .toMatchObject([{ tier: 'basic', display_name: 'asha_k' }]);
  });

  test('POST /api/webhooks/gateway with payment.failed of two attempts → 200; the tier kept, one mail for each attempt', async () => {
    const { user, orderId } = await newPayment({ meta: { tier: 'premium' } });
    for (const error_code of ['BAD_REQUEST_ERROR', 'GATEWAY_ERROR']) {
      expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId, error_code })))).toEqual(received);
    }
    expect(await paymentOfOrder(project.database, orderId))
      .toMatchObject({ status: 'failed', tier: 'premium', meta: { ...failure, error_code: 'GATEWAY_ERROR' } });
    expect(await queued(project.database, 'payment-failed', user.email))
      .toMatchObject([{ tier: 'premium' }, { tier: 'premium' }]);
  });

  test('POST /api/webhooks/gateway with payment.failed of a user without a profile → 200; failed, no mail', async () => {
    const { user, orderId } = await newPayment();
    await project.database.query('delete from public.profiles where user_id = $1', [user.id]);
    expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId })))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed' });
    expect(await queued(project.database, 'payment-failed', user.email)).toEqual([]);
  });

  test('POST /api/webhooks/gateway with payment.failed of a user without an address → 200; failed, no mail', async () => {
    const { user, orderId } = await newPayment({ amount: 471_147_114_711 });
    await project.database.query('update auth.users set email = null where id = $1', [user.id]);
    expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId })))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed' });
    expect(await queued(project.database, 'payment-failed', '471147114711')).toEqual([]);
  });

  test('POST /api/webhooks/gateway with payment.failed of a deleted user → 200; failed, no mail', async () => {
    const { user, orderId } = await newPayment({ amount: 4712 });
    await project.database.query('delete from auth.users where id = $1', [user.id]);
    expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId })))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed', user_id: null });
    expect(await queued(project.database, 'payment-failed', '4712')).toEqual([]);
  });

  test('POST /api/webhooks/gateway with payment.failed of an unknown order → 200, unmatched', async () => {
    await deliverWithoutEffect(paymentFailed({ order_id: uniqueId('order') }), 'unmatched');
  });

  test('POST /api/webhooks/gateway with payment.failed and order_id null → 200; a payment without an order id is unchanged', async () => {
    const { id } = await newPayment();
    await project.database.query('update public.payments set gateway_order_id = null where id = $1', [id]);
    await deliverWithoutEffect(paymentFailed({ order_id: null }), 'ignored: payment.entity.order_id');
  });

  test('POST /api/webhooks/gateway with payment.failed after payment.captured → 200, only the ledger is written', async () => {
    const paymentId = uniqueId('pay');
    const { orderId } = await newPayment({ paymentId });
    await postWebhook(service, paymentCaptured({ id: paymentId }));
    await deliverWithoutEffect(paymentFailed({ id: paymentId, order_id: orderId }), 'stale');
    await deliverWithoutEffect(paymentFailed({ order_id: orderId }), 'stale');
  });
});
