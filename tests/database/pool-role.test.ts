import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCaller } from '../helpers/http/caller.ts';
import { poolUrl } from '../helpers/database/pool-role.ts';
import { createTestDatabase, openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let pool: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openDatabase(poolUrl(database.url), { findings: 'compared elsewhere' });
});
afterAll(async () => {
  await pool.close();
  await database.close();
});

describe('the role of a direct connection', () => {
  test('acts as service_role from its first statement, each limited to 4 s', async () => {
    expect(
      await pool.one(
        "select current_user::text, session_user::text, current_setting('statement_timeout') as statement_timeout",
      ),
    ).toEqual({ current_user: 'service_role', session_user: 'subscriptions_api', statement_timeout: '4s' });
  });

  test("calls the service's functions and reads every row", async () => {
    const { id } = await createCaller(database);
    expect(await pool.one('select public.get_subscription($1) as answer', [id]))
      .toEqual({ answer: { subscription: null, currentTier: 'free', payments: [], billing: null } });
    expect(await pool.query('select user_id from public.profiles where user_id = $1', [id])).toEqual([{ user_id: id }]);
  });

  test.each([
    'create table public.mine ()',
    'alter table public.payments disable row level security',
    'create role another',
    'set role postgres',
    'set role authenticated',
    'set session authorization postgres',
  ])('is refused: %s', async (statement) => {
    await expect(pool.query(statement)).rejects.toMatchObject({ code: '42501' });
  });

  test('has no rights after it resets the role service_role', async () => {
    const client = await pool.connect();
    await client.query('set role none');
    for (const statement of ['select public.get_health()', 'select from public.payments', 'select from auth.users']) {
      await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
    }
    const { rows } = await client.query(
      'select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit from pg_roles where rolname = session_user',
    );
    expect(rows).toEqual([
      { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, rolinherit: false },
    ]);
  });
});
