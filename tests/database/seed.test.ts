import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { markLocal } from '../../scripts/stack/mark-local.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { root } from '../../scripts/stack/root.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { createUser } from '../helpers/records/records.ts';

const samples = ['asha@example.com', 'ravi@example.com'];
const supabaseStart = 'super-secret-jwt-token-with-at-least-32-characters-long';
const database = useDatabase();

let name: string;
let text: string;
beforeAll(async () => {
  name = new URL(database.url).pathname.slice(1);
  text = await Deno.readTextFile(`${root}/supabase/seed.sql`);
});
afterEach(() => database.query(`alter database ${name} reset all; delete from auth.users`));

/** Runs the file on a new connection, which reads the settings of the database. @returns its warnings */
async function seed(): Promise<string[]> {
  const client = await database.connect();
  const warnings: string[] = [];
  client.on('notice', ({ message = '' }) => warnings.push(message));
  await client.query(text);
  return warnings;
}
const setSetting = (setting: string, value: string) =>
  database.query(`alter database ${name} set "${setting}" = '${value}'`);
const emails = async () =>
  (await database.query('select email from auth.users order by email')).map(({ email }) => email);

describe('seed.sql warns and adds no users', () => {
  test.each([
    ['app.settings.jwt_secret', `your-${supabaseStart}`],
    ['app.settings.jwt_secret', ''],
    ['subscriptions.is_local', 'off'],
    ['subscriptions.is_local', ''],
  ])('to a database whose %s is "%s", as on a preview branch; the Supabase CLI succeeds', async (...setting) => {
    expect(await seed(), 'without any setting').toHaveLength(1);
    await setSetting(...setting);
    expect(await seed()).toEqual([expect.stringContaining('it does not say that it is local')]);
    await migrate({ url: database.url, seed: true, log: () => {} });
    expect(await emails()).toEqual([]);
  });

  test.each([['app.settings.jwt_secret', supabaseStart], ['subscriptions.is_local', 'on']])(
    'to a database with %s that has other users',
    async (setting, value) => {
      await setSetting(setting, value);
      const user = await createUser(database);
      expect(await seed()).toEqual([expect.stringContaining('it has users of its own')]);
      expect(await emails()).toEqual([user.email]);
    },
  );
});

describe('seed.sql adds the sample users, and prices and entitlements of the sample plans', () => {
  test.each([
    ['supabase start', () => setSetting('app.settings.jwt_secret', supabaseStart)],
    ['npm start', () => markLocal(database.url)],
  ])('to a database of `%s`, also when it runs again', async (_where, mark) => {
    await mark();
    for (let time = 0; time < 2; time += 1) expect(await seed()).toEqual([]);
    expect(await emails()).toEqual(samples);
    const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
    const identities = 'select provider_id, user_id::text from auth.identities order by 1';
    expect(await database.query(identities)).toEqual(ids.map((id) => ({ provider_id: id, user_id: id })));
    const offers = `select o.lookup_key || ' ' || o.price || ' ' || o.duration_months as offer, p.entitlements
      from public.plans o join public.plans p on p.tier = o.tier and p.lookup_key is null
      where o.lookup_key is not null order by p.rank`;
    expect(await database.query(offers)).toEqual([
      { offer: 'basic_yearly 49000 12', entitlements: { projects: 3 } },
      { offer: 'pro_monthly 9900 1', entitlements: { projects: 25, analytics: true, priority_support: true } },
      {
        offer: 'premium_monthly 19900 1',
        entitlements: { projects: null, analytics: true, priority_support: true },
      },
    ]);
  });
});
