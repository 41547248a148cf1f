import { beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { answer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, readTier, subscriptionOf } from '../helpers/records/read-records.ts';

// Subscription rows written by hand. Findings are compared while their periods run.
const project = useProject({
  findings: { entitled_not_paid: 3 * restSample.length },
  at: '2026-10-01T00:00:00Z',
});
// Ten days after the events, while their period runs.
beforeAll(() => setClock(project.database, '2026-10-01T00:00:00Z'));
const cycle = { start: '2026-09-21T14:13:20Z', end: '2026-10-21T14:13:20Z' };
const nextCycle = { start: cycle.end, end: '2026-11-20T14:13:20Z' };
const [earlier, later] = ['2026-09-21T14:14:00Z', '2026-09-21T14:15:00Z'];

/** An event of a gateway subscription in its first cycle, unless stated otherwise. */
const event = (name: SubscriptionEvent['name'], userId: string, fields: Partial<SubscriptionEvent>) =>
  subscriptionEvent({ name, userId, planId: 'plan_unknown', ...cycle, ...fields });

/** Events of a user's subscription arrive in the written order. `createdAt` is the time at the gateway. */
describe.each(restSample)('%s', (target) => {
  const service = useService(target, project);

  async function subscriber(): Promise<string> {
    const { id } = await createCaller(project.database);
    await project.database.query(
      `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
       values ($1, 'pro', 'active', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')`,
      [id],
    );
    return id;
  }

  async function deliverAll(...events: string[]): Promise<unknown[]> {
    const outcomes = [];
    for (const event of events) {
      expect(await answer(postWebhook(service, event))).toEqual({ status: 200, body: { received: true } });
      outcomes.push((await ledgerRow(project.database, event))?.outcome);
    }
    return outcomes;
  }

  test('POST /api/webhooks/gateway with an older charge after a newer one → 200, stale, the newer period stays', async () => {
    const userId = await subscriber();
    expect(
      await deliverAll(
        event('charged', userId, { id: 'sub_Charged', createdAt: later, ...nextCycle }),
        event('charged', userId, { id: 'sub_Charged', createdAt: earlier }),
      ),
    ).toEqual(['applied', 'stale']);
    expect(await subscriptionOf(project.database, userId)).toMatchObject({
      current_period_end: new Date(nextCycle.end),
    });
  });

  test('POST /api/webhooks/gateway with an older activation after a cancellation → 200; still cancelled', async () => {
    const userId = await subscriber();
    await deliverAll(
      event('cancelled', userId, { id: 'sub_Late', createdAt: later }),
      event('activated', userId, { id: 'sub_Late', createdAt: earlier }),
    );
    expect(await subscriptionOf(project.database, userId)).toMatchObject({
      status: 'cancelled',
      cancelled_at: expect.any(Date),
      // Each field goes by the newest event that set it, and no other event set id and period.
      gateway_subscription_id: 'sub_Late',
      current_period_end: new Date(cycle.end),
    });
    expect(await readTier(project.database, userId)).toBe('free');
  });

  test('POST /api/webhooks/gateway with an older cancellation after an activation → 200, stale, active stays', async () => {
    const userId = await subscriber();
    await project.database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [userId]);
    expect(
      await deliverAll(
        event('activated', userId, { id: 'sub_A', createdAt: later }),
        event('cancelled', userId, { id: 'sub_A', createdAt: earlier }),
      ),
    ).toEqual(['applied', 'stale']);
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ status: 'active', cancelled_at: null });
    expect(await readTier(project.database, userId)).toBe('pro');
  });

  test.each(
    [
      ['first', ['cancelled', 'activated']],
      ['last', ['activated', 'cancelled']],
    ] as const,
  )(
    'POST /api/webhooks/gateway with activated and cancelled of the same second, cancelled %s → 200; cancelled',
    async (_, names) => {
      const userId = await subscriber();
      await deliverAll(...names.map((name) => event(name, userId, { id: 'sub_Tie', createdAt: later })));
      expect(await subscriptionOf(project.database, userId)).toMatchObject({ status: 'cancelled' });
      expect(await readTier(project.database, userId)).toBe('free');
    },
  );

  test('POST /api/webhooks/gateway with an older activation of another id → 200; the id of the newest activation', async () => {
    const userId = await subscriber();
    await deliverAll(
      event('activated', userId, { id: 'sub_Newer', createdAt: later }),
      event('activated', userId, { id: 'sub_Older', createdAt: earlier }),
    );
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ gateway_subscription_id: 'sub_Newer' });
  });

  test('POST /api/webhooks/gateway with an event without created_at → 200, applied, period_event_at unchanged', async () => {
    const userId = await subscriber();
    expect(
      await deliverAll(
        event('charged', userId, { id: 'sub_Clock', createdAt: later }),
        event('charged', userId, { id: 'sub_Clock', createdAt: null, ...nextCycle }),
      ),
    ).toEqual(['applied', 'applied']);
    expect(await subscriptionOf(project.database, userId)).toMatchObject({
      current_period_end: new Date(nextCycle.end),
    });
    expect(
      await project.database.one('select period_event_at from billing.gateway_subscriptions where user_id = $1', [
        userId,
      ]),
    ).toEqual({ period_event_at: new Date(later) });
  });

  test('POST /api/webhooks/gateway with created_at inside the payload → 200; it orders the event', async () => {
    const userId = await subscriber();
    expect(
      await deliverAll(
        event('charged', userId, { id: 'sub_Inside', createdAt: later, ...nextCycle }),
        event('charged', userId, { id: 'sub_Inside', createdAt: earlier, irregular: { created_at: 'in_payload' } }),
      ),
    ).toEqual(['applied', 'stale']);
  });
});
