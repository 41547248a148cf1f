import { afterEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// One for each target: the user buys again right after a cancellation at the period end.
const project = useProject({ findings: { paid_twice: poolSample.length } });

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);
  afterEach(() => setClock(project.database, null));

  function post(path: string, user: Pick<SignedUpUser, 'accessToken'> | null, body?: unknown) {
    const headers = new Headers(user ? { authorization: `Bearer ${user.accessToken}` } : {});
    return answer(service.request(path, { method: 'POST', headers, body: JSON.stringify(body) ?? null }));
  }
  const cancel = (user: SignedUpUser | null, body: unknown) => post('/api/subscriptions/cancel', user, body);
  const resume = (user: SignedUpUser | null) => post('/api/subscriptions/resume', user);

  async function subscriber(gatewaySubscriptionId: string | null = null): Promise<SignedUpUser> {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    await verify(service, user.accessToken, await checkout(orderId));
    await attach(user, gatewaySubscriptionId);
    return user;
  }

  async function attach({ id }: SignedUpUser, gatewaySubscriptionId: string | null): Promise<void> {
    await project.database.query('update public.subscriptions set gateway_subscription_id = $2 where user_id = $1', [
      id,
      gatewaySubscriptionId,
    ]);
  }

  const cancellation = async (id: string) =>
    (await project.database.query(
      `select payload, attempts, parked_at is not null as parked, next_attempt_at
      from billing.outbox where key = 'cancel-subscription/' || $1::text`,
      [id],
    ))[0];

  test('POST /api/subscriptions/cancel without a session → 401', async () => {
    expect(await cancel(null, { at_period_end: true })).toEqual(refusal(401, 'Unauthorized'));
  });

  test.each([{}, { at_period_end: 'true' }, { at_period_end: null }, []])(
    'POST /api/subscriptions/cancel with %j → 400 with details, nothing written',
    async (body) => {
      const user = await subscriber();
      const before = await readAllRows(project.database);
      expect(await cancel(user, body)).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
      expect(await readAllRows(project.database)).toEqual(before);
    },
  );

  test('POST /api/subscriptions/cancel without a subscription → 404', async () => {
    const user = await createCaller(project.database);
    expect(await cancel(user, { at_period_end: false })).toEqual(refusal(404, 'Subscription not found'));
    expect(await resume(user)).toEqual(refusal(404, 'Subscription not found'));
  });

  test('POST /api/subscriptions/cancel at once → 200; cancelled, profile free, cancellation at the gateway enqueued', async () => {
    const id = uniqueId('sub');
    const user = await subscriber(id);
    const { status, body } = await cancel(user, { at_period_end: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      subscription: { status: 'cancelled', ended_reason: 'cancelled', plan: { tier: 'pro' } },
    });
    expect(await readTier(project.database, user.id)).toBe('free');
    expect((await cancellation(id))?.payload).toEqual({ gateway_subscription_id: id, at_cycle_end: false });
    expect(await cancel(user, { at_period_end: false })).toEqual(refusal(404, 'Subscription not found'));
    expect(await resume(user)).toEqual(refusal(409, 'Cannot be resumed'));
  });

  test('POST /api/subscriptions/cancel at the period end → 200; the tier stays, cancellation at the gateway due 48 hours before', async () => {
    const id = uniqueId('sub');
    await setClock(project.database, '2027-01-10T12:00:00Z');
    const user = await subscriber();
    await setClock(project.database, '2027-01-10T12:00:01Z');
    await attach(user, id);
    const { status, body } = await cancel(user, { at_period_end: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ subscription: { status: 'active', cancel_at_period_end: true, cancelled_at: null } });
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await cancellation(id)).toEqual({
      payload: { gateway_subscription_id: id, at_cycle_end: true },
      attempts: 0,
      parked: false,
      next_attempt_at: new Date('2028-01-08T12:00:00Z'),
    });
  });

  test('POST /api/subscriptions/resume before the gateway has the cancellation → 200; withdrawn, and enqueued again by the next cancel', async () => {
    const id = uniqueId('sub');
    const user = await subscriber(id);
    await cancel(user, { at_period_end: true });
    const { status, body } = await resume(user);
    expect(status).toBe(200);
    expect(body).toMatchObject({ subscription: { status: 'active', cancel_at_period_end: false } });
    expect(await cancellation(id)).toMatchObject({ parked: true });
    expect(await resume(user)).toMatchObject({ status: 200 });

    await cancel(user, { at_period_end: true });
    expect(await cancellation(id)).toMatchObject({ parked: false });
  });

  test('POST /api/subscriptions/resume after the gateway has the cancellation → 409, nothing written', async () => {
    const id = uniqueId('sub');
    const user = await subscriber(id);
    await cancel(user, { at_period_end: true });
    await project.database.query(
      "update billing.outbox set attempts = 1, delivered_at = now() where key = 'cancel-subscription/' || $1::text",
      [id],
    );
    const before = await readAllRows(project.database);
    expect(await resume(user)).toEqual(refusal(409, 'Cannot be resumed'));
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/payments/verify after a cancellation at the period end → 200; the subscription is not cancelled any more', async () => {
    const user = await subscriber();
    await cancel(user, { at_period_end: true });
    const { orderId } = await createPayment(project.database, { userId: user.id });
    await verify(service, user.accessToken, await checkout(orderId));
    expect(await subscriptionOf(project.database, user.id)).toMatchObject({
      status: 'active',
      cancel_at_period_end: false,
    });
  });
});
