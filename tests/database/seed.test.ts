import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { markLocal } from '../../scripts/stack/mark-local.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { root } from '../../scripts/stack/root.ts';
import { createUser } from '../helpers/records/records.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

const samples = ['asha@example.com', 'ravi@example.com'];
const supabaseStart = 'super-secret-jwt-token-with-at-least-32-characters-long';

let database: TestDatabase;
let name: string;
let text: string;
beforeAll(async () => {
  database = await createTestDatabase();
  name = new URL(database.url).pathname.slice(1);
  text = await Deno.readTextFile(`${root}/supabase/seed.sql`);
});
afterEach(async () => {
  await database.query(`alter database ${name} reset all`);
  await database.query('delete from auth.users');
});
afterAll(() => database.close());

/** Runs the file on a new connection, which reads the settings of the database. */
async function seed(): Promise<void> {
  const client = await database.connect();
  await client.query(text);
}
const setSetting = (setting: string, value: string) =>
  database.query(`alter database ${name} set "${setting}" = '${value}'`);
const emails = async () =>
  (await database.query('select email from auth.users order by email')).map(({ email }) => email);

describe('seed.sql refuses', () => {
  test('a database that is not marked as local, with what to do', async () => {
    await expect(seed()).rejects.toMatchObject({
      code: 'PS403',
      message: expect.stringMatching(
        /^supabase\/seed\.sql refuses this database: it does not say .* without --include-seed.* --no-seed/,
      ),
    });
    expect(await emails()).toEqual([]);
  });

  test.each([
    ['app.settings.jwt_secret', 'a-secret-of-a-hosted-project-with-32-characters'],
    ['app.settings.jwt_secret', `your-${supabaseStart}`],
    ['app.settings.jwt_secret', ''],
    ['subscriptions.is_local', 'off'],
    ['subscriptions.is_local', ''],
  ])('a database whose %s is "%s"', async (setting, value) => {
    await setSetting(setting, value);
    await expect(seed()).rejects.toMatchObject({ code: 'PS403' });
    expect(await emails()).toEqual([]);
  });

  test.each([['app.settings.jwt_secret', supabaseStart], ['subscriptions.is_local', 'on']])(
    'a database with %s that has other users',
    async (setting, value) => {
      await setSetting(setting, value);
      const user = await createUser(database);
      await expect(seed()).rejects.toMatchObject({
        code: 'PS403',
        message: expect.stringContaining('has users of its own'),
      });
      expect(await emails()).toEqual([user.email]);
    },
  );

  test('in the run of the Supabase CLI, which then fails with the reason', async () => {
    await expect(migrate({ url: database.url, seed: true, log: () => {} }))
      .rejects.toThrow('supabase/seed.sql refuses this database');
    expect(await emails()).toEqual([]);
  });
});

describe('seed.sql adds the sample users', () => {
  test.each([
    ['to a database of `supabase start`', () => setSetting('app.settings.jwt_secret', supabaseStart)],
    ['to a database of `npm start`', () => markLocal(database.url)],
  ])('%s, also when it runs again', async (_where, mark) => {
    await mark();
    await seed();
    expect(await emails()).toEqual(samples);
    await seed();
    expect(await emails()).toEqual(samples);
    const identities = await database.query('select provider_id, user_id::text from auth.identities order by 1');
    expect(identities.map((row) => [row.provider_id, row.user_id])).toEqual([
      ['11111111-1111-4111-8111-111111111111', '11111111-1111-4111-8111-111111111111'],
      ['22222222-2222-4222-8222-222222222222', '22222222-2222-4222-8222-222222222222'],
    ]);
  });

  test('in a session that is marked as local', async () => {
    const client = await database.connect();
    await client.query("set subscriptions.is_local = 'on'");
    await client.query(text);
    expect(await emails()).toEqual(samples);
  });

  test('in the run of the Supabase CLI', async () => {
    await markLocal(database.url);
    await migrate({ url: database.url, seed: true, log: () => {} });
    expect(await emails()).toEqual(samples);
  });
});

test('seed.sql is one statement, so no client continues after a refusal', async () => {
  const client = await database.connect();
  // A prepared statement can contain only one statement.
  await expect(client.query({ name: 'seed', text })).rejects.toMatchObject({ code: 'PS403' });
});
