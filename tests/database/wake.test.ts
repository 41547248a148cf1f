import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCallStandIns, dropCallStandIns, recordedCalls } from '../helpers/database/call-stand-ins.ts';
import { listen, type Listener } from '../helpers/database/notifications.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { claim, enqueue, fail } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let listener: Listener;
beforeAll(async () => {
  // Tiers are written by hand. The cancellation of an attached gateway subscription ends a purchase whose period runs.
  database = await createTestDatabase({
    findings: { entitled_not_paid: 10, tier_mismatch: 3, paid_not_entitled: 1, unmailed_payment: 5 },
  });
  service = await openSession(database, { role: 'service_role' });
  listener = await listen(database, 'outbox');
});
beforeEach(() => emptyOutbox(database));
afterAll(async () => {
  await dropCallStandIns(database);
  await database.close();
});

const update = 'update public.profiles set subscription_tier = $2 where user_id = $1';

async function verify(userId: string) {
  const { orderId } = await createPayment(database, { userId });
  return await callRpc(service, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
}

describe('NOTIFY', () => {
  test('an update by an admin notifies after its commit and not before', async () => {
    const { id } = await createUser(database);
    const admin = await database.connect();
    const before = await listener.count();
    await admin.query('begin');
    await admin.query(update, [id, 'pro']);
    expect(await listener.count()).toBe(before);
    await admin.query('commit');
    expect(await listener.count()).toBe(before + 1);
  });

  test('an update by an admin that is rolled back does not notify', async () => {
    const { id } = await createUser(database);
    const admin = await database.connect();
    const before = await listener.count();
    await admin.query('begin');
    await admin.query(update, [id, 'pro']);
    await admin.query('rollback');
    expect(await listener.count()).toBe(before);
  });

  test('verify_payment and apply_gateway_event do not notify', async () => {
    const { id: userId } = await createUser(database);
    const before = await listener.count();
    expect(await verify(userId)).toMatchObject({ outcome: 'applied' });
    expect(await deliver(service, subscriptionEvent({ name: 'cancelled', userId }))).toBe('applied');
    expect(await readTier(database, userId)).toBe('free');
    expect(await listener.count()).toBe(before);
  });

  test('an update after a purchase on the same connection notifies', async () => {
    const { id } = await createUser(database);
    const before = await listener.count();
    await verify(id);
    await service.query(update, [id, 'premium']);
    expect(await listener.count()).toBe(before + 1);
  });

  test('a requeue notifies, one of an unknown row does not', async () => {
    const id = await enqueue(database, 'email');
    const { token } = await claim(service, 'email');
    await fail(service, token, [id], { final: true });
    const before = await listener.count();
    await database.query('select billing.requeue($1)', [id]);
    expect(await listener.count()).toBe(before + 1);
    await database.query('select billing.requeue(-1)');
    expect(await listener.count()).toBe(before + 1);
  });
});

test('an update succeeds when the call of the dispatcher fails', async () => {
  const { id } = await createUser(database);
  const admin = await database.connect();
  await admin.query('begin');
  await admin.query('drop function billing.call_function(text)');
  await expect(admin.query(update, [id, 'pro'])).resolves.toMatchObject({ rowCount: 1 });
  await admin.query('rollback');
});

describe('with pg_net and Vault', () => {
  test('an update by an admin calls the dispatcher with the internal key', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    await database.query(update, [id, 'pro']);
    expect(await recordedCalls(database)).toEqual([{
      url: 'http://functions.test/functions/v1/api/internal/outbox',
      body: {},
      headers: { 'content-type': 'application/json', prefer: 'respond-async', 'x-internal-key': 'k' },
      timeout_milliseconds: 5000,
    }]);
  });

  test('a role of the app needs no rights on them', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    await service.query(update, [id, 'pro']);
    expect(await recordedCalls(database)).toHaveLength(1);
  });

  test('ten updates in one transaction call once, the next update calls again', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    const before = await listener.count();
    await database.query(`do $$
      begin
        for n in 1..10 loop
          update public.profiles set subscription_tier = 'tier ' || n where user_id = '${id}';
          perform billing.enqueue('fact-' || n, 'gateway', 'kind', '{}');
        end loop;
      end $$`);
    expect(await recordedCalls(database)).toHaveLength(1);
    expect(await listener.count()).toBe(before + 1);
    await database.query(update, [id, 'pro']);
    expect(await recordedCalls(database)).toHaveLength(2);
  });

  test('an update that is rolled back does not prevent the next call', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    const admin = await database.connect();
    await admin.query('begin');
    await admin.query(update, [id, 'pro']);
    await admin.query('rollback');
    expect(await recordedCalls(database)).toEqual([]);
    await database.query(update, [id, 'premium']);
    expect(await recordedCalls(database)).toHaveLength(1);
  });

  test('an update in a savepoint that is rolled back does not prevent the call of the next update', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    const admin = await database.connect();
    await admin.query('begin');
    await admin.query('savepoint attempt');
    await admin.query(update, [id, 'pro']);
    await admin.query('rollback to attempt');
    await admin.query(update, [id, 'premium']);
    await admin.query('commit');
    expect(await recordedCalls(database)).toHaveLength(1);
  });

  test('a long transaction does not prevent the call of another, and calls when it commits', async () => {
    const [one, other] = [await createUser(database), await createUser(database)];
    await createCallStandIns(database);
    const admin = await database.connect();
    await admin.query('begin');
    await admin.query(update, [one.id, 'pro']);
    await database.query(update, [other.id, 'pro']);
    expect(await recordedCalls(database)).toHaveLength(1);
    await admin.query('commit');
    expect(await recordedCalls(database)).toHaveLength(2);
  });

  test('while a committed call is queued no other is added', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    for (const tier of ['pro', 'premium', 'basic']) await database.query(update, [id, tier]);
    expect(await recordedCalls(database)).toHaveLength(1);
  });

  test('verify_payment does not call the dispatcher', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database);
    await verify(id);
    expect(await recordedCalls(database)).toEqual([]);
  });

  test('without entries in Vault there is no call', async () => {
    const { id } = await createUser(database);
    await createCallStandIns(database, { vault: 'empty' });
    await database.query(update, [id, 'pro']);
    await database.query('select billing.sweep()');
    expect(await recordedCalls(database)).toEqual([]);
    expect(await readTier(database, id)).toBe('pro');
  });
});

describe.each([
  { net: 'raises', vault: 'filled' } as const,
  { net: 'records', vault: 'raises' } as const,
])('when net.http_post $net and Vault $vault', (broken) => {
  test('a verify, an update by an admin, a requeue and the sweep succeed', async () => {
    const { id } = await createUser(database);
    await emptyOutbox(database);
    await createCallStandIns(database, broken);
    await expect(database.query('select net.http_post(decrypted_secret) from vault.decrypted_secrets')).rejects
      .toMatchObject({ code: '22012' });

    expect(await verify(id)).toMatchObject({ outcome: 'applied' });
    const before = await listener.count();
    await database.query(update, [id, 'premium']);
    expect(await readTier(database, id)).toBe('premium');
    expect(await listener.count()).toBe(before + 1);
    const { rows } = await service.query('select count(*)::int from billing.outbox');
    expect(rows).toEqual([{ count: 3 }]); // the mail, and a revalidation for the purchase and one for the update

    const { token, ids } = await claim(service, 'email');
    await fail(service, token, ids, { final: true });
    expect(await database.one('select billing.requeue($1) as requeued', [ids[0]])).toEqual({ requeued: true });
    await database.query('select billing.sweep()');
    // The update, the failure (which changes the due time), the requeue and the sweep.
    expect(await listener.count()).toBe(before + 4);
  });

  test('a user who signs up gets a profile', async () => {
    await createCallStandIns(database, broken);
    const { id } = await createUser(database);
    expect(await readTier(database, id)).toBe('free');
  });
});
