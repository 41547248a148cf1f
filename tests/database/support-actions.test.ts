import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readAllRows, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { act, openSupport, type SupportAction } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client, support: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  support = await openSupport(database);
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

const until = '2126-01-01T00:00:00Z';

async function buy(user?: Purchase['user']): Promise<Purchase> {
  const order = await placeOrder(database, user ? { user } : {});
  await verifyPurchase(service, order);
  return order;
}

/** Expects that an action is refused and that nothing was written. */
async function refused(action: SupportAction, code: string, message: RegExp): Promise<void> {
  const before = await readAllRows(database);
  await expect(act(support, action)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(await readAllRows(database)).toEqual(before);
}

describe('grant', () => {
  test('gives the tier, and the row says what it did, for whom, who did it and when', async () => {
    const user = await createUser(database);
    await setClock(database, '2026-01-01T00:00:00Z');
    const row = await act(support, { action: 'grant', email: user.email, tier: 'premium', until });
    expect(row).toMatchObject({
      email: user.email,
      user_id: user.id,
      actor: 'subscriptions_support',
      actor_email: null,
      created_at: new Date('2026-01-01T00:00:00Z'),
      reason: 'the customer asked for it',
      result: `Grant ${row.reference} gives premium until 1 Jan 2126.`,
    });
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await database.one('select id::text, reason from billing.grants where user_id = $1', [user.id])).toEqual({
      id: row.reference,
      reason: 'the customer asked for it',
    });
  });

  test('takes an address in any case, and an id', async () => {
    const user = await createUser(database);
    const action = { action: 'grant', tier: 'basic' };
    await act(support, { ...action, email: ` ${user.email?.toUpperCase()} `, until: '2100-01-01Z' });
    expect(await act(support, { ...action, email: user.id, until: '2101-01-01Z' })).toMatchObject({
      email: user.email,
    });
  });

  test('by two admins at once grants once', async () => {
    const user = await createUser(database);
    const action = { action: 'grant', email: user.email, tier: 'pro', until };
    const [one, other] = [await openSupport(database), await openSupport(database)];
    await one.query('begin');
    await act(one, action);
    const second = act(other, action);
    second.catch(() => {});
    await waitUntilBlocked(database, other);
    await one.query('commit');
    await expect(second).rejects.toMatchObject({ code: 'PS409', message: expect.stringContaining('already') });
    expect(await database.query('select from billing.grants where user_id = $1', [user.id])).toHaveLength(1);
    expect(await database.query('select from billing.support_actions where user_id = $1', [user.id])).toHaveLength(1);
  });

  test.each<[string, Partial<SupportAction>, string, RegExp]>([
    ['without a reason', { reason: ' ' }, 'PS400', /needs a reason/],
    ['without a customer', { email: null }, 'PS400', /needs email/],
    ['to an unknown customer', { email: 'unknown@example.com' }, 'PS404', /unknown@example.com/],
    ['of an unknown tier', { tier: 'gold' }, 'PS400', /"gold" is no tier/],
    ['until a time in the past', { until: '2020-01-01Z' }, 'PS400', /in the future/],
  ])('%s is refused and writes nothing', async (_, change, code, message) => {
    const { email } = await createUser(database);
    await refused({ action: 'grant', email, tier: 'pro', until, ...change }, code, message);
  });
});

describe('revoke_grant', () => {
  test('ends the only grant that runs, and the one of its reference', async () => {
    const user = await createUser(database);
    const grant = { action: 'grant', email: user.email, until };
    await act(support, { ...grant, tier: 'premium' });
    await act(support, { action: 'revoke_grant', email: user.email });
    expect(await readTier(database, user.id)).toBe('free');
    const { reference } = await act(support, { ...grant, tier: 'pro' });
    await act(support, { ...grant, tier: 'premium' });
    await refused({ action: 'revoke_grant', email: user.email }, 'PS400', /2 grants/);
    expect(await act(support, { action: 'revoke_grant', reference })).toMatchObject({ email: user.email });
    await refused({ action: 'revoke_grant', reference }, 'PS409', /ended before/);
  });

  test('of an unknown grant, or of one of another customer, is refused', async () => {
    const [user, other] = [await createUser(database), await createUser(database)];
    const { reference } = await act(support, { action: 'grant', email: other.email, tier: 'pro', until });
    await refused({ action: 'revoke_grant', reference: '0' }, 'PS404', /no such grant/);
    await refused({ action: 'revoke_grant', reference, email: user.email }, 'PS404', /no such grant/);
  });
});

describe('end_access', () => {
  test.each(['paymentId', 'orderId', 'id'] as const)('ends a payment by its %s, once', async (key) => {
    const order = await buy();
    const action = { action: 'end_access', reference: order[key] };
    expect(await act(support, action)).toMatchObject({ email: order.user.email, user_id: order.user.id });
    expect(await readTier(database, order.user.id)).toBe('free');
    await refused(action, 'PS409', /ended before/);
  });

  test('of an unknown payment, or of one of another customer, is refused', async () => {
    const [order, { email }] = [await buy(), await createUser(database)];
    await refused({ action: 'end_access', reference: uniqueId('pay') }, 'PS404', /no payment/);
    await refused({ action: 'end_access', reference: order.paymentId, email }, 'PS404', /no payment/);
  });
});

describe('reconcile_now', () => {
  const due = async ({ id }: Purchase) =>
    (await database.one('select next_reconcile_at <= billing.clock() as due from public.payments where id = $1', [id]))
      .due;

  test('makes all open orders of the customer due, or one', async () => {
    const user = await createUser(database);
    const [one, other] = [await placeOrder(database, { user }), await placeOrder(database, { user })];
    await act(support, { action: 'reconcile_now', reference: one.orderId });
    expect([await due(one), await due(other)]).toEqual([true, false]);
    const { result } = await act(support, { action: 'reconcile_now', email: user.email });
    expect(result).toBe('Orders to read: 2. Subscriptions to read: 0.');
    expect(await due(other)).toBe(true);
  });

  test('without an open order or a subscription is refused', async () => {
    const { email } = await createUser(database);
    await refused({ action: 'reconcile_now', email }, 'PS404', /nothing to reconcile/);
    await refused({ action: 'reconcile_now' }, 'PS400', /needs email or reference/);
  });
});

describe('the trail', () => {
  test('is never changed or deleted, also not by its owner or the service', async () => {
    const { email } = await createUser(database);
    await act(support, { action: 'note', email });
    for (const sql of ["update billing.support_actions set reason = 'x'", 'delete from billing.support_actions']) {
      for (const session of [support, service]) {
        await expect(session.query(sql), sql).rejects.toMatchObject({ code: '42501' });
      }
      await expect(database.query(sql), sql).rejects.toMatchObject({ code: 'PS409' });
    }
    await expect(database.query('truncate billing.support_actions')).rejects.toMatchObject({ code: 'PS409' });
  });

  test('outlives its user, without address, id and reason from 90 days after the deletion', async () => {
    const user = await createUser(database);
    await setClock(database, '2026-01-01T00:00:00Z');
    const { id } = await act(support, { action: 'note', email: user.email, reason: 'Called about her card' });
    await database.query('delete from auth.users where id = $1', [user.id]);
    const kept = () =>
      database.one('select email, user_id, reason, result from billing.support_actions where id = $1', [id]);
    await setClock(database, '2026-03-31T00:00:00Z');
    await database.query('select billing.erase_deleted_users()');
    expect(await kept()).toMatchObject({ email: user.email, user_id: user.id, reason: 'Called about her card' });
    await setClock(database, '2026-04-02T00:00:00Z');
    await database.query('select billing.erase_deleted_users()');
    expect(await kept()).toEqual({ email: null, user_id: null, reason: 'erased with the user', result: 'Noted.' });
  });

  test('names the admin of a JWT, but not by the claims of a direct connection of support', async () => {
    const { email } = await createUser(database);
    const claims = `select set_config('request.jwt.claims', '{"email": "admin@example.com"}', false)`;
    const [api, direct] = [await database.connect(), await openSupport(database)];
    await api.query(claims);
    await direct.query(claims);
    expect(await act(api, { action: 'note', email })).toMatchObject({ actor_email: 'admin@example.com' });
    expect(await act(direct, { action: 'note', email })).toMatchObject({ actor_email: null });
  });

  test('takes no actor, time or result from the caller', async () => {
    const { rows } = await (await database.connect()).query(
      `insert into billing.support_actions (action, reference, reason, actor, created_at, result)
       values ('note', 'webhooks', 'seen', 'another', '2020-01-01', 'all done') returning actor, created_at, result`,
    );
    expect(rows).toEqual([{ actor: 'postgres', created_at: expect.any(Date), result: 'Noted.' }]);
    expect(rows[0].created_at.getFullYear()).toBeGreaterThan(2020);
  });
});
