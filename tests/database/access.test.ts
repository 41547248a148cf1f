import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { poolUrl } from '../helpers/database/pool-role.ts';
import { openSession } from '../helpers/database/session.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { useDatabase } from '../helpers/database/use-database.ts';

const database = useDatabase();
const denied = { code: '42501' };

let [ownerId, strangerId] = ['', ''];
let owner: pg.Client, stranger: pg.Client, anonymous: pg.Client;
let clients: pg.Client[];
beforeAll(async () => {
  const customer = await database.customer();
  [ownerId, strangerId] = [customer.id, (await database.customer()).id];
  owner = await openSession(database, { role: 'authenticated', userId: ownerId });
  stranger = await openSession(database, { role: 'authenticated', userId: strangerId });
  anonymous = await openSession(database, { role: 'anon' });
  clients = [owner, anonymous];
  await customer.buy('pro');
  await database.query("insert into public.plans (tier, name, price, is_active) values ('retired', 'Off', 1, false)");
});

/** The users whose profiles, subscriptions and payments a session sees, or the code of the refusal. */
const seenBy = (session: pg.Client) =>
  Promise.all(['profiles', 'subscriptions', 'payments'].map(async (table) => {
    const rows = session.query(`select user_id from public.${table}`);
    return await rows.then(({ rows }) => rows.map((row) => row.user_id), ({ code }) => code);
  }));

describe('reading', () => {
  test('the owner sees only the own profile, subscription and payment, a stranger none of them', async () => {
    expect(await seenBy(owner)).toEqual([[ownerId], [ownerId], [ownerId]]);
    expect(await seenBy(stranger)).toEqual([[strangerId], [], []]);
  });

  test('a signed-in caller without a user id sees nothing, and an anonymous one is refused', async () => {
    expect(await seenBy(await openSession(database, { role: 'authenticated', userId: '' }))).toEqual([[], [], []]);
    expect(await seenBy(anonymous)).toEqual(Array(3).fill(denied.code));
  });

  test('anonymous and signed-in callers see the plans on offer, not a retired one', async () => {
    for (const client of clients) {
      const { rows } = await client.query('select tier from public.plans order by price');
      expect(rows.map(({ tier }) => tier)).toEqual(['basic', 'pro', 'premium']);
    }
  });
});

describe('writing', () => {
  test('the owner changes the own display name and username, a stranger none of them', async () => {
    const names = 'update public.profiles set display_name = $2, username = $2 where user_id = $1';
    expect((await owner.query(names, [ownerId, 'asha'])).rowCount).toBe(1);
    expect((await stranger.query(names, [ownerId, 'x'])).rowCount).toBe(0);
    expect((await stranger.query("update public.profiles set display_name = 'x'")).rowCount).toBe(1);
    const row = await database.one('select display_name, username from public.profiles where user_id = $1', [ownerId]);
    expect(row).toEqual({ display_name: 'asha', username: 'asha' });
  });

  test.each([
    ...['subscription_tier', 'user_id', 'created_at'].map((column) => `update public.profiles set ${column} = default`),
    "update public.profiles set display_name = 'X', subscription_tier = 'premium'",
    'update public.plans set tier = tier',
    'update public.subscriptions set tier = tier',
    'update public.payments set amount = amount',
    'insert into public.payments default values',
    'delete from public.subscriptions',
    'truncate public.payments cascade',
    'create table public.t ()',
    'select from billing.outbox',
    'select from auth.users',
  ])('clients are refused %s', async (sql) => {
    for (const client of clients) await expect(client.query(sql)).rejects.toMatchObject(denied);
  });
});

test.each([['current_tier()', 'pro'], ["has_tier('pro')", true], ["has_tier('basic')", false]])(
  'only signed-in callers can call %s: a customer of pro gets %j',
  async (call, answer) => {
    expect((await owner.query(`select public.${call} as answer`)).rows).toEqual([{ answer }]);
    await expect(anonymous.query(`select public.${call}`)).rejects.toMatchObject(denied);
  },
);

describe('the role of a direct connection', () => {
  let pool: TestDatabase;
  beforeAll(() => {
    pool = openDatabase(poolUrl(database.url), { findings: 'compared elsewhere' });
  });
  afterAll(() => pool.close());

  test('acts as service_role from its first statement, each limited to 4 s', async () => {
    expect(
      await pool.one("select current_user::text, session_user::text, current_setting('statement_timeout') as timeout"),
    ).toEqual({ current_user: 'service_role', session_user: 'subscriptions_api', timeout: '4s' });
  });

  test("calls the service's functions and reads every row", async () => {
    expect(await pool.one('select public.get_subscription($1) as answer', [strangerId]))
      .toEqual({ answer: { subscription: null, currentTier: 'free', entitlements: {}, payments: [], billing: null } });
    expect(await pool.query('select from public.profiles')).toHaveLength(2);
  });

  test.each([
    'create table public.mine ()',
    'set role postgres',
    'set role authenticated',
    'set session authorization postgres',
    'set role none; select public.get_health()',
    'set role none; select from public.payments',
  ])('is refused: %s', async (statement) => {
    const client = await pool.connect();
    await expect(client.query(statement)).rejects.toMatchObject(denied);
    await client.end();
  });

  test('has no attribute of an owner, and inherits no right', async () => {
    const attributes = 'rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit';
    const row = await pool.one(`select ${attributes} from pg_roles where rolname = session_user`);
    expect(Object.values(row)).toEqual([false, false, false, false, false]);
  });
});
