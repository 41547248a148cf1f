import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPayment, createUser } from '../helpers/records/records.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

const denied = { code: '42501' };
const tables = ['plans', 'profiles', 'subscriptions', 'payments'] as const;

let database: TestDatabase;
let ownerId: string;
let owner: pg.Client, stranger: pg.Client, anonymous: pg.Client, service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  ownerId = (await createUser(database)).id;
  const strangerId = (await createUser(database)).id;
  owner = await openSession(database, { role: 'authenticated', userId: ownerId });
  stranger = await openSession(database, { role: 'authenticated', userId: strangerId });
  anonymous = await openSession(database, { role: 'anon' });
  service = await openSession(database, { role: 'service_role' });

  const { orderId } = await createPayment(database, { userId: ownerId });
  await callRpc(service, 'verify_payment', ownerId, orderId, 'pay_owner', 'signature');
  await database.query(
    "insert into public.plans (tier, name, price, is_active) values ('retired', 'Retired', 1, false)",
  );
});
afterAll(() => database.close());

async function count(client: pg.Client, table: string): Promise<number> {
  return (await client.query(`select from public.${table}`)).rows.length;
}

describe('reading', () => {
  test('the owner sees only their own profile, subscription and payment', async () => {
    for (const table of ['profiles', 'subscriptions', 'payments']) {
      const { rows } = await owner.query(`select user_id from public.${table}`);
      expect(rows, table).toEqual([{ user_id: ownerId }]);
    }
  });

  test('a stranger sees no subscription, no payment and no profile of the owner', async () => {
    expect(await count(stranger, 'subscriptions')).toBe(0);
    expect(await count(stranger, 'payments')).toBe(0);
    const { rows } = await stranger.query('select from public.profiles where user_id = $1', [ownerId]);
    expect(rows).toEqual([]);
  });

  test('an anonymous caller is refused profiles, subscriptions and payments', async () => {
    for (const table of ['profiles', 'subscriptions', 'payments']) {
      await expect(count(anonymous, table), table).rejects.toMatchObject(denied);
    }
  });

  test('anonymous and signed-in callers see the plans on offer, not a retired one', async () => {
    for (const client of [anonymous, stranger]) {
      const { rows } = await client.query('select tier from public.plans order by price');
      expect(rows).toEqual([{ tier: 'basic' }, { tier: 'pro' }, { tier: 'premium' }]);
    }
  });

  test('a signed-in caller without a user id sees no rows', async () => {
    const withoutUser = await openSession(database, { role: 'authenticated', userId: '' });
    for (const table of ['profiles', 'subscriptions', 'payments']) {
      expect(await count(withoutUser, table), table).toBe(0);
    }
  });
});

describe('writing', () => {
  test('the owner updates their own display name and username', async () => {
    const { rowCount } = await owner.query("update public.profiles set display_name = 'Asha', username = 'asha'");
    expect(rowCount).toBe(1);
    const row = await database.one('select display_name, username from public.profiles where user_id = $1', [ownerId]);
    expect(row).toEqual({ display_name: 'Asha', username: 'asha' });
  });

  test('a stranger’s update of another profile changes no row', async () => {
    const { rowCount } = await stranger.query("update public.profiles set display_name = 'X' where user_id = $1", [
      ownerId,
    ]);
    expect(rowCount).toBe(0);
  });

  test.each(['subscription_tier', 'user_id', 'created_at'])(
    'the owner is refused an update of the profile’s %s',
    async (column) => {
      await expect(owner.query(`update public.profiles set ${column} = default`)).rejects.toMatchObject(denied);
    },
  );

  test('the owner is refused a tier in an update that also sets a name', async () => {
    const sql = "update public.profiles set display_name = 'X', subscription_tier = 'premium'";
    await expect(owner.query(sql)).rejects.toMatchObject(denied);
  });

  test.each(['plans', 'subscriptions', 'payments'])('clients are refused updates of %s', async (table) => {
    const column = table === 'payments' ? 'amount' : 'tier';
    for (const client of [anonymous, owner]) {
      await expect(client.query(`update public.${table} set ${column} = ${column}`)).rejects.toMatchObject(denied);
    }
  });

  test.each(tables)('clients are refused insert, delete and truncate of %s', async (table) => {
    for (const client of [anonymous, owner]) {
      for (const sql of ['insert into public.% default values', 'delete from public.%', 'truncate public.% cascade']) {
        await expect(client.query(sql.replace('%', table)), sql).rejects.toMatchObject(denied);
      }
    }
  });

  test.each(tables)('the service is refused delete and truncate of %s', async (table) => {
    for (const sql of [`delete from public.${table}`, `truncate public.${table} cascade`]) {
      await expect(service.query(sql), sql).rejects.toMatchObject(denied);
    }
  });

  test('clients cannot create a table or a function', async () => {
    for (const client of [anonymous, owner]) {
      await expect(client.query('create table public.t ()')).rejects.toMatchObject(denied);
      await expect(client.query('create function public.f() returns int language sql return 1')).rejects.toMatchObject(
        denied,
      );
    }
  });
});

describe('what the API does not expose', () => {
  const inside = [
    'select from billing.outbox',
    'select from billing.gateway_events',
    'select from billing.refunds',
    "select billing.announce_access(gen_random_uuid(), null, 'pro', null, null, null)",
    'select billing.clock()',
    'select billing.find_user(gen_random_uuid(), true)',
  ];

  test.each(inside)('clients are refused %s', async (sql) => {
    for (const client of [anonymous, owner]) await expect(client.query(sql)).rejects.toMatchObject(denied);
  });

  test('no role of the API can read auth.users', async () => {
    for (const client of [anonymous, owner, service]) {
      await expect(client.query('select from auth.users')).rejects.toMatchObject(denied);
    }
  });
});

describe('the RPCs', () => {
  const calls = [
    `select public.get_subscription(gen_random_uuid())`,
    `select public.verify_payment(gen_random_uuid(), 'order', 'pay', 'signature')`,
    `select public.apply_gateway_event(repeat('0', 64), null, '{}')`,
    `select public.get_health()`,
  ];

  test.each(calls)('only the service can call %s', async (sql) => {
    for (const client of [anonymous, owner]) await expect(client.query(sql)).rejects.toMatchObject(denied);
    await expect(service.query(sql)).resolves.toMatchObject({ rowCount: 1 });
  });

  test('only signed-in callers can call current_tier() and has_tier()', async () => {
    for (const sql of ['select public.current_tier()', "select public.has_tier('pro')"]) {
      await expect(owner.query(sql)).resolves.toMatchObject({ rowCount: 1 });
      await expect(anonymous.query(sql)).rejects.toMatchObject(denied);
    }
  });
});
