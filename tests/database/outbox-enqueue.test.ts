import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCallStandIns, dropCallStandIns, recordedCalls } from '../helpers/database/call-stand-ins.ts';
import { listen, type Listener } from '../helpers/database/notifications.ts';
import { scansOf, watchPlans } from '../helpers/database/query-plans.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { claim, enqueue, fail } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { readAllRows } from '../helpers/records/read-records.ts';

const database = useDatabase({ isEmptied: true });
let listener: Listener;
const customer = useCustomer(database);
beforeAll(async () => {
  listener = await listen(database, 'outbox');
});
beforeEach(() => emptyOutbox(database));

const kinds = async () =>
  (await database.query('select kind from billing.outbox order by kind')).map(({ kind }) => kind);
const setTier = 'update public.profiles set subscription_tier = $2 where user_id = $1';
const calls = async () => (await recordedCalls(database)).length;

describe('a side effect', () => {
  test.each<[string, string[], (order: CustomerOrder) => Promise<unknown>]>([
    ['a purchase', ['payment-success', 'revalidation'], async (order) => (await order.verify()).outcome],
    ['a failed attempt', ['payment-failed'], (order) => database.send(paymentFailed(paymentOf(order)))],
  ])('of %s commits or rolls back with it', async (_, expected, act) => {
    const order = await customer.order('pro');
    const before = await readAllRows(database);
    for (const end of ['rollback', 'commit']) {
      await database.service.query('begin');
      expect(await act(order)).toBe('applied');
      expect(await kinds()).toEqual([]);
      await database.service.query(end);
      expect(await kinds()).toEqual(end === 'commit' ? expected : []);
      if (end === 'rollback') expect(await readAllRows(database)).toEqual(before);
    }
  });

  test('of a fact is one row, the first, also if that is delivered or parked', async () => {
    await database.query(`select billing.enqueue('fact', 'email', 'payment-success', '{"to": "first"}')`);
    for (const change of ['key = key', 'delivered_at = now()', 'delivered_at = null, parked_at = now()']) {
      await database.query(`update billing.outbox set ${change}`);
      await database.query(`select billing.enqueue('fact', 'email', 'payment-success', '{"to": "second"}')`);
      expect(await database.query('select payload from billing.outbox')).toEqual([{ payload: { to: 'first' } }]);
    }
  });
});

describe('the revalidation of cached pages', () => {
  test('is one row with the four pages', async () => {
    await database.query(setTier, [customer.id, 'pro']);
    const payload = { paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] };
    expect(await database.query('select destination, kind, payload from billing.outbox')).toEqual([
      { destination: 'revalidation', kind: 'revalidation', payload },
    ]);
  });

  const write = (column: string, value: string) => `update public.profiles set ${column} = '${value}'`;
  test.each([
    ['a write of the same tier', 1, write('subscription_tier', 'free')],
    ['a new profile', 1, 'insert into auth.users (id) values (gen_random_uuid())'],
    ['an update of a name', 0, write('display_name', 'Asha')],
    ['a transaction with several', 1, [1, 2, 3].map((n) => write('subscription_tier', `tier ${n}`)).join(';')],
    ['an update of every profile', 1, write('subscription_tier', 'pro')],
  ])('after %s is %i row', async (_, rows, sql) => {
    await database.customer();
    await emptyOutbox(database);
    await database.query(sql);
    expect(await kinds()).toEqual(Array(rows).fill('revalidation'));
  });

  test('follows insert and update by a role of the app that has rights only on profiles', async () => {
    const other = await database.customer();
    await database.query('delete from public.profiles where user_id = $1', [other.id]);
    await emptyOutbox(database);
    const app = await database.connect();
    await app.query(`
      begin; -- roles belong to the whole server: this one is rolled back with its transaction
      create role app_backend bypassrls;
      grant usage on schema public to app_backend;
      grant select, insert, update on public.profiles to app_backend;
      set local role app_backend;
      update public.profiles set subscription_tier = 'pro' where user_id = '${customer.id}';
      insert into public.profiles (user_id, subscription_tier, created_at) values ('${other.id}', 'basic', now())`);
    await app.query('set local role postgres');
    const { rows } = await app.query('select kind from billing.outbox');
    await app.query('rollback');
    expect(rows).toEqual([{ kind: 'revalidation' }]);
  });
});

describe('the dispatcher is notified', () => {
  test('by an update, after its commit', async () => {
    const admin = await database.connect();
    const before = await listener.count();
    await admin.query('begin');
    await admin.query(setTier, [customer.id, 'pro']);
    expect(await listener.count()).toBe(before);
    await admin.query('commit');
    expect(await listener.count()).toBe(before + 1);
  });

  test('by an update after a purchase on the same connection, not by the purchase or an event', async () => {
    const before = await listener.count();
    await customer.buy('pro');
    expect(await customer.event('activated', '01-01', { planId: 'plan_pro' })).toBe('applied');
    expect(await listener.count()).toBe(before);
    await database.service.query(setTier, [customer.id, 'premium']);
    expect(await listener.count()).toBe(before + 1);
  });

  test('by a requeue, not by one of an unknown row', async () => {
    const id = await enqueue(database, 'email');
    await fail(database.service, (await claim(database.service, 'email')).token, [id], { final: true });
    const before = await listener.count();
    for (const each of [id, -1]) await database.query('select billing.requeue($1)', [each]);
    expect(await listener.count()).toBe(before + 1);
  });
});

describe('with pg_net and Vault the dispatcher is called', () => {
  beforeEach(async () => {
    await createCallStandIns(database);
    return () => dropCallStandIns(database);
  });
  const set = (tier: string, of = customer) => database.query(setTier, [of.id, tier]);

  test('with the internal key after an update by a role of the app', async () => {
    await database.service.query(setTier, [customer.id, 'pro']);
    expect(await recordedCalls(database)).toEqual([{
      url: 'http://functions.test/functions/v1/api/internal/outbox',
      body: {},
      headers: { 'content-type': 'application/json', prefer: 'respond-async', 'x-internal-key': 'k' },
      timeout_milliseconds: 5000,
    }]);
  });

  test('once for ten updates in one transaction or while a call is queued, and again for the next', async () => {
    const before = await listener.count();
    await database.query(`do $$
      begin
        for n in 1..10 loop
          update public.profiles set subscription_tier = 'tier ' || n where user_id = '${customer.id}';
          perform billing.enqueue('fact-' || n, 'gateway', 'kind', '{}');
        end loop;
      end $$`);
    expect(await listener.count()).toBe(before + 1);
    await set('basic');
    expect(await calls()).toBe(1);
    await set('pro');
    expect(await calls()).toBe(2);
  });

  test('by the next update after a rollback to a savepoint', async () => {
    const admin = await database.connect();
    await admin.query('begin; savepoint attempt');
    await admin.query(setTier, [customer.id, 'pro']);
    await admin.query('rollback to attempt');
    expect(await calls()).toBe(0);
    await admin.query(setTier, [customer.id, 'premium']);
    await admin.query('commit');
    expect(await calls()).toBe(1);
  });

  test('while a long transaction waits, and again when it commits', async () => {
    const other = await database.customer();
    const before = await calls();
    const admin = await database.connect();
    await admin.query('begin');
    await admin.query(setTier, [customer.id, 'pro']);
    await set('pro', other);
    expect(await calls()).toBe(before + 1);
    await admin.query('commit');
    expect(await calls()).toBe(before + 2);
  });

  test('neither by a purchase nor without entries in Vault', async () => {
    await customer.buy('pro');
    expect(await calls()).toBe(0);
    await createCallStandIns(database, { vault: 'empty' });
    await set('premium');
    await database.query('select billing.sweep()');
    expect([await calls(), await customer.tier()]).toEqual([0, 'premium']);
  });

  test.each([{ net: 'raises' }, { vault: 'raises' }] as const)(
    'in vain where %j, and sign-up, purchase, update, requeue and sweep succeed',
    async (broken) => {
      await createCallStandIns(database, broken);
      await expect(database.query('select net.http_post(decrypted_secret) from vault.decrypted_secrets')).rejects
        .toMatchObject({ code: '22012' });
      const user = await database.customer();
      expect(await user.tier()).toBe('free');
      await emptyOutbox(database);
      await user.buy('pro');
      const before = await listener.count();
      await set('premium', user);
      expect(await user.tier()).toBe('premium');
      expect(await kinds()).toEqual(['payment-success', 'revalidation', 'revalidation']);
      const { token, ids } = await claim(database.service, 'email');
      await fail(database.service, token, ids, { final: true });
      expect(await database.one('select billing.requeue($1) as requeued', [ids[0]])).toEqual({ requeued: true });
      await database.query('select billing.sweep()');
      // The update, the failure (which changes the due time), the requeue and the sweep.
      expect(await listener.count()).toBe(before + 4);
    },
  );
});

test('a withdrawal reads none of the mails that wait, with statistics from before an outage', async () => {
  await database.query(
    `insert into billing.outbox (key, destination, kind, payload, delivered_at)
     select 'delivered/' || n, 'email', 'payment-success', '{}', now() from generate_series(1, 6000) n`,
  );
  await database.query('analyze billing.outbox');
  await database.query(
    `insert into billing.outbox (key, destination, kind, payload)
     select 'waiting/' || n, 'email', 'payment-success', '{}' from generate_series(1, 6000) n`,
  );
  const plan = await (await watchPlans(database)).of("select billing.withdraw_mails('{a, b}')");
  expect(scansOf('outbox', plan).join(), plan).toContain('outbox_key_key');
  expect(plan).not.toMatch(/outbox_pending_idx|Rows Removed by Filter: \d{2}/);
  await emptyOutbox(database);
});
