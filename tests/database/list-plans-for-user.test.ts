import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser, deleteUsers } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
const start = Date.parse('2026-01-01T00:00:00Z');
const day = 86_400;
const later = (seconds: number) => setClock(database, new Date(start + seconds * 1000).toISOString());
beforeEach(() => later(0));
afterEach(async () => {
  await deleteUsers(database);
  await database.query("delete from public.plans where tier not in ('basic', 'pro', 'premium')");
  await database.query('update public.plans set is_active = true');
  await setEarlyRenewal(database, 'replace');
});
afterAll(() => database.close());

/** The scenario of each plan for a user. */
async function scenarios(userId: string): Promise<Record<string, unknown>> {
  const { plans } = await callRpc(service, 'list_plans_for_user', userId);
  return Object.fromEntries(Object.values(Object(plans)).map((plan) => [Object(plan).tier, Object(plan).scenario]));
}

/** A user who bought a tier at the start. */
async function customer(tier = 'pro'): Promise<string> {
  const order = await placeOrder(database, { tier });
  await verifyPurchase(service, order);
  return order.user.id;
}

/** A user whose subscription to pro the gateway bills, until 1 February. */
async function subscriber(): Promise<string> {
  const { id: userId } = await createUser(database);
  for (const name of ['activated', 'charged'] as const) {
    const event = { name, userId, id: `sub_${userId}`, planId: 'plan_pro', createdAt: '2026-01-01T00:00:00Z' };
    await deliver(service, subscriptionEvent({ ...event, start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' }));
  }
  return userId;
}

const nothing = { basic: 'buy', pro: 'buy', premium: 'buy' };
const ofPro = (scenario: string) => ({ basic: 'downgrade', pro: scenario, premium: 'upgrade' });

test('the plans are those of list_plans, each with a scenario', async () => {
  const { id } = await createUser(database);
  const listed = Object.values(Object((await callRpc(service, 'list_plans')).plans));
  expect(await callRpc(service, 'list_plans_for_user', id))
    .toEqual({ plans: listed.map((plan) => ({ ...Object(plan), scenario: 'buy' })) });
});

test('without plans on offer the list is empty', async () => {
  await database.query('update public.plans set is_active = false');
  expect(await callRpc(service, 'list_plans_for_user', await customer())).toEqual({ plans: [] });
});

describe('every plan is to buy', () => {
  test('for a user without a subscription, an unknown one, and one whose subscription was cancelled', async () => {
    const cancelled = await customer();
    await callRpc(service, 'cancel_subscription', cancelled, false);
    for (const id of [(await createUser(database)).id, crypto.randomUUID(), cancelled]) {
      expect(await scenarios(id)).toEqual(nothing);
    }
  });

  test('where the running tier, which is current, has no plan or one in another currency', async () => {
    await database.query(
      "insert into public.plans (tier, name, price, currency) values ('dollar', 'Dollar', 500, 'USD')",
    );
    expect(await scenarios(await customer('dollar'))).toEqual({ ...nothing, dollar: 'current' });
    const { id } = await createUser(database);
    await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'secret', 'active')", [
      id,
    ]);
    expect(await scenarios(id)).toEqual({ ...nothing, dollar: 'buy' });
  });
});

describe('another tier is', () => {
  test('an upgrade where it costs as much or more, a downgrade where it costs less', async () => {
    await database.query("insert into public.plans (tier, name, price) values ('same', 'Same', 99900)");
    expect(await scenarios(await customer())).toEqual({ ...ofPro('current'), same: 'upgrade' });
    expect(await scenarios(await customer('basic'))).toMatchObject({
      basic: 'current',
      pro: 'upgrade',
      premium: 'upgrade',
    });
    expect(await scenarios(await customer('premium'))).toMatchObject({ basic: 'downgrade', pro: 'downgrade' });
  });

  test('compared with the running plan also when that is not on offer any more', async () => {
    const id = await customer();
    await database.query("update public.plans set is_active = false where tier = 'pro'");
    expect(await scenarios(id)).toEqual({ basic: 'downgrade', premium: 'upgrade' });
  });

  test('compared with the plan of the tier where the subscription names no plan', async () => {
    const { id } = await createUser(database);
    await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')", [id]);
    expect(await scenarios(id)).toEqual(ofPro('current'));
  });
});

describe('the running tier is', () => {
  test('current until its last seven days, then to renew, also in the days of grace', async () => {
    const id = await customer();
    for (
      const [seconds, scenario] of [
        [358 * day - 1, 'current'],
        [358 * day, 'renew'],
        [365 * day, 'renew'],
        [366 * day, 'renew'],
      ] as const
    ) {
      await later(seconds);
      expect({ seconds, ...await scenarios(id) }).toEqual({ seconds, ...ofPro(scenario) });
    }
    await later(369 * day);
    await database.query('select billing.expire_subscriptions()');
    expect(await scenarios(id)).toEqual(nothing);
  });

  test('to renew at any time where a renewal extends it', async () => {
    const id = await customer();
    await setEarlyRenewal(database, 'extend');
    expect(await scenarios(id)).toEqual(ofPro('renew'));
  });

  test('to renew after a cancellation for the end of its period, as without one', async () => {
    const id = await customer();
    await callRpc(service, 'cancel_subscription', id, true);
    expect(await scenarios(id)).toEqual(ofPro('current'));
    await later(360 * day);
    expect(await scenarios(id)).toEqual(ofPro('renew'));
  });

  test('current where it has no end, also where a renewal would extend it', async () => {
    const { id } = await createUser(database);
    await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')", [id]);
    await setEarlyRenewal(database, 'extend');
    expect(await scenarios(id)).toEqual(ofPro('current'));
  });

  test.each(['replace', 'extend'] as const)(
    'current under %s for as long as the gateway renews it; after its cancellation to renew',
    async (setting) => {
      await setEarlyRenewal(database, setting);
      const id = await subscriber();
      await later(30 * day);
      expect(await scenarios(id)).toEqual(ofPro('current'));
      await callRpc(service, 'cancel_subscription', id, true);
      expect(await scenarios(id)).toEqual(ofPro('renew'));
    },
  );
});
