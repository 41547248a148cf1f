import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  // One tier is written by hand.
  database = await createTestDatabase({ findings: { entitled_not_paid: 1 } });
});
afterAll(() => database.close());

describe('a sign-up', () => {
  test('inserts a free profile, named by the local part of the address', async () => {
    const local = uniqueId('asha');
    const { id } = await createUser(database, { email: `${local}@example.com` });
    const row = await database.one(
      'select username, display_name, subscription_tier from public.profiles where user_id = $1',
      [id],
    );
    expect(row).toEqual({ username: local, display_name: null, subscription_tier: 'free' });
  });

  test.each<[string, string | null, string]>([
    ['without an address', null, 'user'],
    ['with an empty address', '', 'user'],
    ['with an address that has no local part', '@example.com', 'user'],
    ['with a local part of 61 characters', `${'x'.repeat(61)}@example.com`, 'x'.repeat(60)],
    ['with 61 characters of four bytes each', `${'🙂'.repeat(61)}@example.com`, '🙂'.repeat(60)],
  ])('%s', async (_, email, expected) => {
    const { id } = await createUser(database, { email });
    const { username } = await database.one('select username from public.profiles where user_id = $1', [id]);
    expect(username).toBe(expected);
  });

  test.each<[string, unknown, string | null]>([
    ['full_name before name and display_name', { full_name: 'Asha Rao', name: 'asha', display_name: 'A' }, 'Asha Rao'],
    ['name before display_name', { name: 'asha', display_name: 'A' }, 'asha'],
    ['display_name', { display_name: ' A ' }, 'A'],
    ['the first that is not blank', { full_name: ' ', name: '', display_name: 'A' }, 'A'],
    ['the first that is a text', { full_name: { first: 'Asha' }, name: 7, display_name: 'A' }, 'A'],
    ['at most 200 characters', { full_name: '🙂'.repeat(201) }, '🙂'.repeat(200)],
    ['no name', { avatar_url: 'https://app.example/a.png' }, null],
    ['no object', ['Asha'], null],
    ['null', null, null],
  ])('with metadata, from which the display name is %s', async (_, metadata, expected) => {
    const id = crypto.randomUUID();
    await database.query('insert into auth.users (id, raw_user_meta_data) values ($1, $2)', [
      id,
      JSON.stringify(metadata),
    ]);
    expect(await database.one('select display_name, username from public.profiles where user_id = $1', [id]))
      .toEqual({ display_name: expected, username: 'user' });
  });

  test('of a second user with the same local part gets the same name', async () => {
    const local = uniqueId('twin');
    const first = await createUser(database, { email: `${local}@example.com` });
    const second = await createUser(database, { email: `${local}@example.org` });
    const rows = await database.query('select username from public.profiles where user_id in ($1, $2)', [
      first.id,
      second.id,
    ]);
    expect(rows).toEqual([{ username: local }, { username: local }]);
  });
});

describe('a sign-up succeeds without a profile', () => {
  const faults: [string, string, string][] = [
    [
      'when a constraint of the app refuses the profile',
      "alter table public.profiles add constraint broken check (username <> 'user') not valid",
      'alter table public.profiles drop constraint broken',
    ],
    [
      'when profiles has another column that is not null',
      'alter table public.profiles add column broken int not null default null',
      'alter table public.profiles drop column broken',
    ],
    [
      'when the view of the profiles does not exist',
      'alter view billing.profiles rename to renamed',
      'alter view billing.renamed rename to profiles',
    ],
    [
      'when the outbox does not exist',
      'alter table billing.outbox rename to renamed',
      'alter table billing.renamed rename to outbox',
    ],
  ];

  test.each(faults)('%s', async (_, breakIt, repairIt) => {
    await database.query('delete from auth.users');
    await database.query(breakIt);
    try {
      const { id } = await createUser(database, { email: null });
      expect(await database.query('select id from auth.users')).toEqual([{ id }]);
    } finally {
      await database.query(repairIt);
    }
    expect(await database.query('select from public.profiles')).toEqual([]);
  });
});

describe('the tier in the app’s own policies', () => {
  async function tierOf(userId: string) {
    const session = await openSession(database, { role: 'authenticated', userId });
    const { rows } = await session.query(
      `select public.current_tier() as tier, public.has_tier('pro') as pro, public.has_tier('free') as free,
         public.has_tier(null) as unknown`,
    );
    return rows[0];
  }

  test('of a new user is free', async () => {
    const { id } = await createUser(database);
    expect(await tierOf(id)).toEqual({ tier: 'free', pro: false, free: true, unknown: null });
  });

  test('of a user with the tier pro in the profile is pro, and of another is free', async () => {
    const [payer, other] = [await createUser(database), await createUser(database)];
    await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [payer.id]);
    expect(await tierOf(payer.id)).toEqual({ tier: 'pro', pro: true, free: false, unknown: null });
    expect(await tierOf(other.id)).toEqual({ tier: 'free', pro: false, free: true, unknown: null });
  });

  test('of a profile without a tier, and of a user without a profile, is free', async () => {
    const [empty, none] = [await createUser(database), await createUser(database)];
    await database.query('update public.profiles set subscription_tier = null where user_id = $1', [empty.id]);
    await database.query('delete from public.profiles where user_id = $1', [none.id]);
    expect((await tierOf(empty.id)).tier).toBe('free');
    expect((await tierOf(none.id)).tier).toBe('free');
    expect(await readTier(database, none.id)).toBeUndefined();
  });
});
