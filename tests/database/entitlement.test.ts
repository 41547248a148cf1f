import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('truncate auth.users, public.payments, billing.outbox, billing.gateway_events cascade');
});
afterAll(() => database.close());

const findings = () => readFindings(database);
const names = async () => (await findings()).map(([name]) => name);
const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters);

async function buy(order: { user?: Purchase['user']; tier?: string } = {}) {
  const purchase = await placeOrder(database, order);
  expect(await verifyPurchase(service, purchase)).toMatchObject({ outcome: 'applied' });
  return purchase;
}

describe('paid_not_entitled', () => {
  const end = (userId: string) =>
    write(
      "update public.subscriptions set status = 'cancelled', ended_reason = 'lapsed', cancelled_at = now() where user_id = $1",
      userId,
    );

  test('lists a payment whose period runs without a subscription, until it is refunded', async () => {
    const order = await buy();
    await write('delete from public.subscriptions where user_id = $1', order.user.id);
    expect(await findings()).toEqual([['paid_not_entitled', order.id]]);
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await findings()).toEqual([]);
  });

  test('lists a payment whose subscription lapsed, but not one whose user cancelled', async () => {
    const [lapsed, cancelled] = [await buy(), await buy()];
    await end(lapsed.user.id);
    await write("update public.profiles set subscription_tier = 'free' where user_id = $1", lapsed.user.id);
    await callRpc(service, 'cancel_subscription', cancelled.user.id, false);
    expect(await findings()).toEqual([['paid_not_entitled', lapsed.id]]);
  });

  test('lists a payment made after a cancellation', async () => {
    const { user } = await buy({ tier: 'premium' });
    await callRpc(service, 'cancel_subscription', user.id, false);
    const later = await buy({ user });
    const before =
      "update public.subscriptions set status = 'cancelled', ended_reason = 'cancelled', cancelled_at = $2";
    await write(`${before} where user_id = $1`, user.id, '2026-01-01T00:00:00Z');
    await write("update public.profiles set subscription_tier = 'free' where user_id = $1", user.id);
    expect(await findings()).toContainEqual(['paid_not_entitled', later.id]);
  });

  test('lists no payment whose period is over, and none of a deleted user', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    await buy({ tier: 'basic' });
    await setClock(database, '2026-02-05T00:00:00Z');
    await write('select billing.expire_subscriptions()');
    await write('delete from auth.users where id = $1', (await buy()).user.id);
    expect(await names()).not.toContain('paid_not_entitled');
  });
});

describe('entitled_not_paid', () => {
  const insertByHand = "insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')";
  const setTier = 'update public.profiles set subscription_tier = $2 where user_id = $1';

  test('lists a tier that was written by hand, until it is granted', async () => {
    const { id } = await createUser(database);
    await write(setTier, id, 'pro');
    expect(await findings()).toEqual([['entitled_not_paid', id, 'nothing pays for it']]);
    await grantTier(database, id, 'pro', '2126-01-01', 'thanks');
    expect(await findings()).toEqual([]);
  });

  test('lists an active subscription that was written by hand, until the gateway bills it', async () => {
    const { id } = await createUser(database);
    await write(insertByHand, id);
    await write(setTier, id, 'pro');
    expect(await findings()).toEqual([['entitled_not_paid', id, 'nothing pays for it']]);
    await write("update public.subscriptions set gateway_subscription_id = 'sub_1' where user_id = $1", id);
    expect(await findings()).toEqual([]);
  });

  test('lists a tier other than the one that was paid or granted', async () => {
    const { user } = await buy();
    await write("update public.subscriptions set tier = 'premium' where user_id = $1", user.id);
    await write(setTier, user.id, 'premium');
    const { id } = await createUser(database);
    await grantTier(database, id, 'pro', '2126-01-01', 'thanks');
    await write("update public.subscriptions set tier = 'premium' where user_id = $1", id);
    await write(setTier, id, 'premium');
    expect(await names()).toEqual(['entitled_not_paid', 'entitled_not_paid']);
  });

  test.each([
    ['2026-02-04T00:59:00Z', null, 0],
    ['2026-02-04T01:01:00Z', null, 1],
    ['2026-02-05T00:59:00Z', 'sub_1', 0],
    ['2026-02-05T01:01:00Z', 'sub_1', 1],
  ])(
    'at %s of a period that ended with January, three days of grace, gateway subscription %s: %i',
    async (at, id, count) => {
      await setClock(database, '2026-01-01T00:00:00Z');
      const { user } = await buy({ tier: 'basic' });
      await write('update public.subscriptions set gateway_subscription_id = $2 where user_id = $1', user.id, id);
      await setClock(database, at);
      expect(await database.query('select reason from billing.entitled_not_paid')).toEqual(
        Array.from({ length: count }, () => ({ reason: 'its period is over' })),
      );
      // The schedule ends periods that the gateway does not bill.
      await write('select billing.expire_subscriptions()');
      await write('update billing.outbox set delivered_at = billing.clock()');
      expect(await names()).toEqual(count === 1 && id !== null ? ['entitled_not_paid'] : []);
    },
  );
});

describe('tier_mismatch', () => {
  test.each<[string, string | null]>([['active', 'free'], ['active', null], ['active', 'premium'], [
    'cancelled',
    'pro',
  ]])(
    'lists a subscription that is %s with the tier %s',
    async (status, tier) => {
      const { user } = await buy();
      await write('update public.subscriptions set status = $2 where user_id = $1', user.id, status);
      await write('update public.profiles set subscription_tier = $2 where user_id = $1', user.id, tier);
      expect(await database.query('select user_id from billing.tier_mismatch')).toEqual([{ user_id: user.id }]);
    },
  );

  test('does not list a subscription that was activated for a period that is over, with the tier free', async () => {
    const { user } = await buy();
    await write("update public.profiles set subscription_tier = 'free' where user_id = $1", user.id);
    await write(
      "update public.subscriptions set current_period_end = now() - interval '1 day' where user_id = $1",
      user.id,
    );
    expect(await database.query('select from billing.tier_mismatch')).toEqual([]);
  });

  test('lists an active subscription without a profile, but no ended subscription with the tier null or free', async () => {
    const { user } = await buy();
    await write('delete from public.profiles where user_id = $1', user.id);
    for (const tier of [null, 'free']) {
      const { id } = (await buy()).user;
      await callRpc(service, 'cancel_subscription', id, false);
      await write('update public.profiles set subscription_tier = $2 where user_id = $1', id, tier);
    }
    expect(await findings()).toEqual([['tier_mismatch', user.id]]);
  });
});
