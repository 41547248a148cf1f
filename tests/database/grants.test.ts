import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser } from '../helpers/records/records.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

const at = (day: string) => setClock(database, `${day}T00:00:00Z`);
const expire = () => database.query('select billing.expire_subscriptions()');

const grant = (userId: string, tier: string, until: string) => grantTier(database, userId, tier, until);
const revoke = (reference: string) => actAsOwner(database, { action: 'revoke_grant', reference });

async function buy(user: Purchase['user'], tier = 'pro'): Promise<Purchase> {
  const order = await placeOrder(database, { user, tier });
  await verifyPurchase(service, order);
  return order;
}

const endOf = (userId: string) =>
  database.one('select status, ended_reason from public.subscriptions where user_id = $1', [userId]);

describe('a grant', () => {
  test('rules again after a newer purchase was refunded', async () => {
    const user = await createUser(database);
    await grant(user.id, 'premium', '2126-06-01Z');
    const order = await buy(user);
    expect(await readTier(database, user.id)).toBe('pro');
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await readSubscription(database, user.id)).toMatchObject({
      tier: 'premium',
      status: 'active',
      end: '2126-06-01T00:00:00.000Z',
    });
    expect(await endOf(user.id)).toEqual({ status: 'active', ended_reason: null });
    expect(await readTier(database, user.id)).toBe('premium');
  });

  test('rules again after the end of a newer purchase, until its own end', async () => {
    const user = await createUser(database);
    await at('2024-01-01');
    await grant(user.id, 'premium', '2024-06-01Z');
    await at('2024-01-10');
    await buy(user, 'basic');
    expect(await readTier(database, user.id)).toBe('basic');
    await at('2024-02-14');
    await expire();
    expect(await readSubscription(database, user.id)).toMatchObject({
      tier: 'premium',
      status: 'active',
      end: '2024-06-01T00:00:00.000Z',
    });
    await at('2024-06-05');
    await expire();
    expect(await endOf(user.id)).toEqual({ status: 'cancelled', ended_reason: 'lapsed' });
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('rules over an older order that only a webhook captured, until the customer verifies it', async () => {
    const order = await placeOrder(database);
    await grant(order.user.id, 'premium', '2126-06-01Z');
    expect(await deliver(service, paymentCaptured(paymentOf(order)))).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe('premium');
    await verifyPurchase(service, order);
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('that its user cancels for its end has no days of grace, and can be resumed', async () => {
    const user = await createUser(database);
    await at('2024-01-01');
    await grant(user.id, 'premium', '2024-06-01Z');
    expect(await callRpc(service, 'cancel_subscription', user.id, true)).toMatchObject({ outcome: 'cancelled' });
    expect(await callRpc(service, 'resume_subscription', user.id)).toMatchObject({ outcome: 'resumed' });
    await at('2024-06-03');
    await expire();
    expect(await readTier(database, user.id)).toBe('premium');
    await callRpc(service, 'cancel_subscription', user.id, true);
    await expire();
    expect(await readTier(database, user.id)).toBe('free');
  });
});

describe('revoke_grant', () => {
  test('ends a grant at once, and only once', async () => {
    const user = await createUser(database);
    const id = await grant(user.id, 'premium', '2126-06-01Z');
    await revoke(id);
    expect(await endOf(user.id)).toEqual({ status: 'cancelled', ended_reason: 'revoked' });
    expect(await readTier(database, user.id)).toBe('free');
    expect(
      await database.query(
        'select to_tier, cause, reference from billing.tier_changes where user_id = $1 order by id desc limit 1',
        [user.id],
      ),
    ).toEqual([{ to_tier: 'free', cause: 'grant revoked', reference: id }]);
    await expect(revoke(id)).rejects.toMatchObject({ code: 'PS409' });
  });

  test('lets a purchase below the grant rule', async () => {
    const user = await createUser(database);
    await buy(user);
    await revoke(await grant(user.id, 'premium', '2126-06-01Z'));
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'pro', status: 'active' });
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('of a grant below a purchase changes nothing until the purchase is refunded', async () => {
    const user = await createUser(database);
    const id = await grant(user.id, 'premium', '2126-06-01Z');
    const order = await buy(user);
    const before = await readSubscription(database, user.id);
    await revoke(id);
    expect(await readSubscription(database, user.id)).toEqual(before);
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await readTier(database, user.id)).toBe('free');
  });
});
