import { beforeAll, describe, expect, test } from 'vitest';
import {
  period,
  subscriptionActivated,
  subscriptionCancelled,
  subscriptionCharged,
} from '../fixtures/gateway/subscription-events.ts';
import { answer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { setClock } from '../helpers/database/clock.ts';
import { deliver } from '../helpers/http/requests.ts';
import { ledgerRow, subscriptionOf, tierOf } from '../helpers/records/rows.ts';
import { targets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

// Subscription rows written by hand. Findings are compared while their periods run.
const project = useProject({
  findings: { entitled_not_paid: 3 * targets.length },
  at: '2026-10-01T00:00:00Z',
});
// Ten days after the events, while their period runs.
beforeAll(() => setClock(project.database, '2026-10-01T00:00:00Z'));
const noon = 1_790_000_100;
const nextPeriod = { current_start: period.current_end, current_end: period.current_end + 2_592_000 };
const nextEnd = new Date(nextPeriod.current_end * 1000);

/** Events of a user's subscription arrive in the written order. `createdAt` is the time at the gateway. */
describe.each(targets)('%s', (target) => {
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

  async function deliverAll(...events: unknown[]): Promise<unknown[]> {
    const outcomes = [];
    for (const event of events) {
      expect(await answer(deliver(service, event))).toEqual({ status: 200, body: { received: true } });
      outcomes.push((await ledgerRow(project.database, event))?.outcome);
    }
    return outcomes;
  }

  test('POST /api/webhooks/gateway with an older charge after a newer one → 200, stale, the newer period stays', async () => {
    const userId = await subscriber();
    expect(
      await deliverAll(
        subscriptionCharged({ userId, id: 'sub_Charged', createdAt: noon, fields: nextPeriod }),
        subscriptionCharged({ userId, id: 'sub_Charged', createdAt: noon - 60 }),
      ),
    ).toEqual(['applied', 'stale']);
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ current_period_end: nextEnd });
  });

  test('POST /api/webhooks/gateway with an older activation after a cancellation → 200; still cancelled', async () => {
    const userId = await subscriber();
    await deliverAll(
      subscriptionCancelled({ userId, id: 'sub_Late', createdAt: noon }),
      subscriptionActivated({ userId, id: 'sub_Late', createdAt: noon - 60 }),
    );
    expect(await subscriptionOf(project.database, userId)).toMatchObject({
      status: 'cancelled',
      cancelled_at: expect.any(Date),
      // Each field goes by the newest event that set it, and no other event set id and period.
      gateway_subscription_id: 'sub_Late',
      current_period_end: period.end,
    });
    expect(await tierOf(project.database, userId)).toBe('free');
  });

  test('POST /api/webhooks/gateway with an older cancellation after an activation → 200, stale, active stays', async () => {
    const userId = await subscriber();
    await project.database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [userId]);
    expect(
      await deliverAll(
        subscriptionActivated({ userId, id: 'sub_A', createdAt: noon }),
        subscriptionCancelled({ userId, id: 'sub_A', createdAt: noon - 60 }),
      ),
    ).toEqual(['applied', 'stale']);
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ status: 'active', cancelled_at: null });
    expect(await tierOf(project.database, userId)).toBe('pro');
  });

  test.each([
    ['first', [subscriptionCancelled, subscriptionActivated]],
    ['last', [subscriptionActivated, subscriptionCancelled]],
  ])(
    'POST /api/webhooks/gateway with activated and cancelled of the same second, cancelled %s → 200; cancelled',
    async (
      _,
      builders,
    ) => {
      const userId = await subscriber();
      await deliverAll(...builders.map((build) => build({ userId, id: 'sub_Tie', createdAt: noon })));
      expect(await subscriptionOf(project.database, userId)).toMatchObject({ status: 'cancelled' });
      expect(await tierOf(project.database, userId)).toBe('free');
    },
  );

  test('POST /api/webhooks/gateway with an older activation of another id → 200; the id of the newest activation', async () => {
    const userId = await subscriber();
    await deliverAll(
      subscriptionActivated({ userId, id: 'sub_Newer', createdAt: noon }),
      subscriptionActivated({ userId, id: 'sub_Older', createdAt: noon - 60 }),
    );
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ gateway_subscription_id: 'sub_Newer' });
  });

  test('POST /api/webhooks/gateway with an event without created_at → 200, applied, period_event_at unchanged', async () => {
    const userId = await subscriber();
    expect(
      await deliverAll(
        subscriptionCharged({ userId, id: 'sub_Clock', createdAt: noon }),
        subscriptionCharged({ userId, id: 'sub_Clock', createdAt: null, fields: nextPeriod }),
      ),
    ).toEqual(['applied', 'applied']);
    expect(await subscriptionOf(project.database, userId)).toMatchObject({ current_period_end: nextEnd });
    expect(
      await project.database.one('select period_event_at from private.gateway_subscriptions where user_id = $1', [
        userId,
      ]),
    ).toEqual({ period_event_at: new Date(noon * 1000) });
  });

  test('POST /api/webhooks/gateway with created_at inside the payload → 200; it orders the event', async () => {
    const userId = await subscriber();
    const { created_at: _, ...older } = subscriptionCharged({ userId, id: 'sub_Inside' });
    expect(
      await deliverAll(
        subscriptionCharged({ userId, id: 'sub_Inside', createdAt: noon, fields: nextPeriod }),
        { ...older, payload: { ...older.payload, created_at: noon - 60 } },
      ),
    ).toEqual(['applied', 'stale']);
  });
});
