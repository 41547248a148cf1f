import { beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { answer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, queued, readRowsExcept, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Subscription rows written by hand. Findings are compared while their periods run.
const project = useProject({
  findings: { entitled_not_paid: 3 * poolSample.length, tier_mismatch: 2 * poolSample.length },
  at: '2026-10-01T00:00:00Z',
});
// Ten days after the events, while their period runs.
beforeEach(() => setClock(project.database, '2026-10-01T00:00:00Z'));
const cycle = { start: '2026-09-21T14:13:20Z', end: '2026-10-21T14:13:20Z' };
const [start, end] = [new Date(cycle.start), new Date(cycle.end)];
const createdAt = '2026-09-21T14:15:00Z';

/** An event of a new gateway subscription in that cycle, unless stated otherwise. */
const event = (name: SubscriptionEvent['name'], fields: Partial<SubscriptionEvent> & { userId: string }) =>
  subscriptionEvent({ name, id: uniqueId('sub'), planId: 'plan_unknown', ...cycle, createdAt, ...fields });

const received = { status: 200, body: { received: true } };

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  /** Every row but those that each event of a gateway subscription writes: ledger and mirror. */
  const readRows = () =>
    readRowsExcept(project.database, [
      'billing.gateway_events',
      'billing.unsettled_events',
      'billing.gateway_subscriptions',
      'public.payments',
    ]);

  async function applied(body: string): Promise<void> {
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'applied' });
  }

  async function withoutEffect(body: string, outcome: string): Promise<void> {
    const before = await readRows();
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await readRows()).toEqual(before);
    expect(await ledgerRow(project.database, body)).toMatchObject({ outcome });
  }

  /** A user with a subscription. `columns` are additional SQL assignments. */
  async function subscriber(columns = "status = 'active'") {
    const user = await createCaller(project.database);
    await project.database.query(
      `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
       values ($1, 'pro', 'active', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')`,
      [user.id],
    );
    await project.database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [user.id]);
    await project.database.query(`update public.subscriptions set ${columns} where user_id = $1`, [user.id]);
    return { ...user, userId: user.id, before: await subscriptionOf(project.database, user.id) };
  }

  test('POST /api/webhooks/gateway with subscription.activated → 200; active, id and period of the gateway', async () => {
    const { userId, before } = await subscriber("status = 'cancelled', cancelled_at = '2026-01-05'");
    await applied(event('activated', { userId, id: 'sub_New' }));
    expect(await subscriptionOf(project.database, userId)).toEqual({
      ...before,
      status: 'active',
      cancelled_at: null,
      gateway_subscription_id: 'sub_New',
      current_period_start: start,
      current_period_end: end,
      revision: '1',
    });
  });

  test('POST /api/webhooks/gateway with subscription.charged → 200; only the period changes', async () => {
    const { userId, before } = await subscriber();
    await applied(event('charged', { userId }));
    expect(await subscriptionOf(project.database, userId)).toEqual({
      ...before,
      current_period_start: start,
      current_period_end: end,
      revision: '1',
    });
    expect(await readTier(project.database, userId)).toBe('pro');
  });

  test('POST /api/webhooks/gateway with subscription.charged of a cancelled subscription → 200; still cancelled', async () => {
    const { userId } = await subscriber("status = 'cancelled', cancelled_at = '2026-01-05'");
    await applied(event('charged', { userId }));
    expect(await subscriptionOf(project.database, userId)).toMatchObject({
      status: 'cancelled',
      cancelled_at: expect.any(Date),
      current_period_end: end,
    });
  });

  test('POST /api/webhooks/gateway with subscription.cancelled → 200; cancelled at that time, profile free', async () => {
    const { userId, before } = await subscriber();
    await setClock(project.database, '2026-10-01T02:03:04Z');
    await applied(event('cancelled', { userId }));
    expect(await subscriptionOf(project.database, userId)).toEqual({
      ...before,
      status: 'cancelled',
      cancelled_at: new Date('2026-10-01T02:03:04Z'),
      ended_reason: 'cancelled',
      revision: '1',
    });
    expect(await readTier(project.database, userId)).toBe('free');
  });

  test('POST /api/webhooks/gateway with subscription.cancelled for a user without a subscription → 200; profile free', async () => {
    const { id: userId } = await createCaller(project.database);
    await project.database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [userId]);
    expect(await answer(postWebhook(service, event('cancelled', { userId })))).toEqual(received);
    expect(await readTier(project.database, userId)).toBe('free');
    expect(await subscriptionOf(project.database, userId)).toBeUndefined();
  });

  test('POST /api/webhooks/gateway with subscription.activated before the first cycle → 200; only status and id change', async () => {
    const { userId, before } = await subscriber("status = 'cancelled'");
    await applied(event('activated', { userId, id: 'sub_Later', start: null, end: null }));
    expect(await subscriptionOf(project.database, userId)).toMatchObject({
      status: 'active',
      gateway_subscription_id: 'sub_Later',
      current_period_start: before?.current_period_start,
      current_period_end: before?.current_period_end,
    });
  });

  test('POST /api/webhooks/gateway with subscription.activated of a cancelled subscription whose period runs → 200; profile has the tier', async () => {
    const { userId } = await subscriber("status = 'cancelled'");
    await project.database.query("update public.profiles set subscription_tier = 'free' where user_id = $1", [userId]);
    await applied(event('activated', { userId }));
    expect(await readTier(project.database, userId)).toBe('pro');
  });

  test('POST /api/webhooks/gateway with subscription.activated of a cancelled subscription whose period is over → 200; profile free', async () => {
    const { userId } = await subscriber("status = 'cancelled'");
    await project.database.query("update public.profiles set subscription_tier = 'free' where user_id = $1", [userId]);
    await setClock(project.database, '2026-10-22T00:00:00Z');
    await applied(event('activated', { userId }));
    expect(await readTier(project.database, userId)).toBe('free');
  });

  test.each(['activated', 'charged'] as const)(
    'POST /api/webhooks/gateway with subscription.%s for a user without a subscription → 200; created if the plan is known, else unmatched',
    async (name) => {
      const { id: userId } = await createCaller(project.database);
      const [plan, gatewayId] = [uniqueId('plan'), uniqueId('sub')];
      await withoutEffect(event(name, { userId, id: gatewayId, planId: plan }), 'unmatched');

      const tier = uniqueId('tier');
      const { id } = await project.database.one(
        'insert into public.plans (tier, name, price, gateway_plan_id) values ($1, $1, 100, $2) returning id',
        [tier, plan],
      );
      await applied(event(name, { userId, id: gatewayId, planId: plan, createdAt: '2026-09-21T14:15:01Z' }));
      expect(await subscriptionOf(project.database, userId)).toMatchObject({
        plan_id: id,
        tier,
        status: 'active',
        gateway_subscription_id: gatewayId,
        current_period_start: start,
        current_period_end: end,
      });
      expect(await readTier(project.database, userId)).toBe(tier);
    },
  );

  test.each(['activated', 'charged', 'cancelled'] as const)(
    'POST /api/webhooks/gateway with subscription.%s for an unknown user → 200, unmatched',
    async (name) => {
      await withoutEffect(event(name, { userId: crypto.randomUUID() }), 'unmatched');
    },
  );

  test.each(['charged', 'cancelled'] as const)(
    'POST /api/webhooks/gateway with subscription.%s of another gateway subscription → 200, no effect',
    async (name) => {
      const { userId } = await subscriber("gateway_subscription_id = 'sub_Mine'");
      await withoutEffect(event(name, { userId, id: 'sub_Other' }), 'mismatch');
      await applied(event(name, { userId, id: 'sub_Mine' }));
    },
  );

  test('POST /api/payments/verify while a gateway subscription runs → 200; replaced, and its older events change nothing', async () => {
    const id = uniqueId('sub');
    const { userId, accessToken } = await subscriber(`gateway_subscription_id = '${id}'`);
    await applied(event('activated', { userId, id }));
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ current_period_end: end });
    await setClock(project.database, '2026-10-01T00:00:01Z');
    const { orderId } = await createPayment(project.database, { userId });
    expect((await verify(service, accessToken, await checkout(orderId))).status).toBe(200);
    const bought = await subscriptionOf(project.database, userId);
    expect(bought).toMatchObject({
      status: 'active',
      gateway_subscription_id: null,
      current_period_end: new Date('2027-10-01T00:00:01Z'),
    });
    expect(await queued(project.database, 'cancel-subscription', id))
      .toEqual([{ gateway_subscription_id: id, at_cycle_end: true }]);
    for (const name of ['charged', 'cancelled', 'activated'] as const) {
      expect(await answer(postWebhook(service, event(name, { userId, id })))).toEqual(received);
      expect(await subscriptionOf(project.database, userId)).toEqual(bought);
      expect(await readTier(project.database, userId)).toBe('pro');
    }
  });
});
