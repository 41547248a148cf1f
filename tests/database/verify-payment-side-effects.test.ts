import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { countRevalidations, readOutbox, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // An admin sets the tier of every user, tiers are renewed at once, and a replaced gateway subscription is charged
  // again.
  database = await createTestDatabase({
    findings: {
      entitled_not_paid: 2,
      paid_twice: 4,
      tier_mismatch: 1,
      charged_after_replacement: 1,
      unmailed_payment: 1,
    },
  });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

async function buy(userId: string, tier = 'pro', amount = 99900) {
  const payment = await createPayment(database, { userId, amount, meta: { tier } });
  const paymentId = uniqueId('pay');
  const result = await callRpc(service, 'verify_payment', userId, payment.orderId, paymentId, 'signature');
  return { ...payment, paymentId, validUntil: result.valid_until };
}

const cancellation = (id: string) => ({
  key: `cancel-subscription/${id}`,
  kind: 'cancel-subscription',
  payload: { gateway_subscription_id: id, at_cycle_end: true },
});

describe('the success mail', () => {
  test('is one row with all the data of the mail', async () => {
    const user = await createUser(database);
    await database.query("update public.profiles set display_name = 'Asha', username = 'a' where user_id = $1", [
      user.id,
    ]);
    const { id, paymentId, validUntil } = await buy(user.id, 'premium', 199950);
    expect(await readOutbox(database, 'email', user.email)).toEqual([{
      key: `payment-success/${id}`,
      kind: 'payment-success',
      payload: {
        to: user.email,
        display_name: 'Asha',
        plan_name: 'Premium',
        amount: 199950,
        currency: 'INR',
        transaction_id: paymentId,
        valid_until: validUntil,
      },
    }]);
  });

  test.each<[string | null, string | null, string]>([
    ['Asha', 'asha', 'Asha'],
    ['', 'asha', 'asha'],
    [null, 'asha', 'asha'],
    [null, null, ''],
  ])('with display name %j and username %j greets %j', async (displayName, username, expected) => {
    const user = await createUser(database);
    await database.query('update public.profiles set display_name = $2, username = $3 where user_id = $1', [
      user.id,
      displayName,
      username,
    ]);
    await buy(user.id);
    const [mail] = await readOutbox(database, 'email', user.email);
    expect(mail?.payload).toMatchObject({ display_name: expected });
  });

  test.each([null, ''])('is not enqueued for a user with address %j', async (email) => {
    const user = await createUser(database, { email });
    const { id } = await buy(user.id);
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await database.query('select from billing.outbox where key = $1', [`payment-success/${id}`])).toEqual([]);
  });

  test('is not enqueued for a user without a profile, who gets a profile with the tier', async () => {
    const user = await createUser(database);
    await database.query('delete from public.profiles where user_id = $1', [user.id]);
    const before = await countRevalidations(database);
    await buy(user.id);
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await readOutbox(database, 'email', user.email)).toEqual([]);
    expect(await countRevalidations(database)).toBe(before + 1);
  });
});

describe('the cached pages', () => {
  test('are revalidated once per purchase, also for a renewal of the same tier', async () => {
    const user = await createUser(database);
    const before = await countRevalidations(database);
    await buy(user.id);
    expect(await countRevalidations(database)).toBe(before + 1);
    await buy(user.id);
    expect(await countRevalidations(database)).toBe(before + 2);
    const rows = await database.query("select distinct payload from billing.outbox where destination = 'revalidation'");
    expect(rows).toEqual([{ payload: { paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] } }]);
  });

  test('are revalidated once when an admin sets many tiers, and not when a name changes', async () => {
    await createUser(database);
    await createUser(database);
    const before = await countRevalidations(database);
    await database.query("update public.profiles set subscription_tier = 'pro'");
    expect(await countRevalidations(database)).toBe(before + 1);
    await database.query("update public.profiles set display_name = 'X'");
    expect(await countRevalidations(database)).toBe(before + 1);
  });
});

describe('a new purchase', () => {
  test('clears the fields of an earlier cancellation', async () => {
    const user = await createUser(database);
    await buy(user.id);
    await database.query(
      `update public.subscriptions
       set status = 'cancelled', cancelled_at = now(), cancel_at_period_end = true, ended_reason = 'cancelled'
       where user_id = $1`,
      [user.id],
    );
    await buy(user.id, 'premium');
    const row = await database.one(
      `select status, tier, cancelled_at, cancel_at_period_end, ended_reason from public.subscriptions
       where user_id = $1`,
      [user.id],
    );
    expect(row).toEqual({
      status: 'active',
      tier: 'premium',
      cancelled_at: null,
      cancel_at_period_end: false,
      ended_reason: null,
    });
  });

  test('enqueues the cancellation of the attached gateway subscription at the end of its cycle; its later events change no access', async () => {
    const user = await createUser(database);
    await buy(user.id);
    const id = uniqueId('sub');
    const period = { start: '2030-01-01T00:00:00Z', end: '2030-02-01T00:00:00Z' };
    const event = (name: 'activated' | 'charged' | 'cancelled', createdAt: string) =>
      deliver(service, subscriptionEvent({ name, userId: user.id, id, createdAt, ...period, ...paid(name) }));
    const paid = (name: string) => name === 'charged' ? { payment: { id: `pay_${id}` } } : {};
    expect(await event('activated', '2030-01-01T00:00:00Z')).toBe('applied');
    expect(await readSubscription(database, user.id)).toMatchObject({ gateway_subscription_id: id });

    const { validUntil } = await buy(user.id);
    expect(await readOutbox(database, 'gateway', id)).toEqual([cancellation(id)]);
    const bought = await readSubscription(database, user.id);
    expect(bought).toMatchObject({ gateway_subscription_id: null, status: 'active', end: validUntil });

    expect(await event('charged', '2030-01-02T00:00:00Z')).toBe('applied');
    expect(await event('cancelled', '2030-01-03T00:00:00Z')).toBe('applied');
    expect(await event('charged', '2030-01-01T00:00:00Z')).toBe('stale');
    expect(await readSubscription(database, user.id)).toEqual(bought);
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('enqueues the cancellation of each gateway subscription that an app attached by hand, once', async () => {
    const user = await createUser(database);
    await buy(user.id);
    const ids = [uniqueId('sub'), uniqueId('sub')];
    for (const id of ids) {
      await database.query('update public.subscriptions set gateway_subscription_id = $2 where user_id = $1', [
        user.id,
        id,
      ]);
      await buy(user.id);
    }
    for (const id of ids) expect(await readOutbox(database, 'gateway', id)).toEqual([cancellation(id)]);
    expect(await readSubscription(database, user.id)).toMatchObject({ gateway_subscription_id: null });
  });
});
