import { expect, inject, test } from 'vitest';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase } from '../helpers/database/test-database.ts';

test('the migration inserts profiles for the existing users of the project', async () => {
  const server = inject('postgresUrl');
  const name = `existing_${crypto.randomUUID().replaceAll('-', '')}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  await withClient(server, (client) => client.query(`create database ${name}`));
  const database = openDatabase(url.href, {
    close: () => withClient(server, async (client) => void await client.query(`drop database ${name} with (force)`)),
  });
  await prepareDatabase(url.href);
  await database.query(
    "insert into auth.users (id, email) values (gen_random_uuid(), 'asha@example.com'), (gen_random_uuid(), null)",
  );
  await migrate({ url: url.href, seed: false, log: () => {} });

  expect(
    await database.query(
      `select u.email, p.username, p.subscription_tier, (select count(*)::int from private.outbox) as side_effects
       from auth.users u left join public.profiles p on p.user_id = u.id
       order by u.email`,
    ),
  ).toEqual([
    { email: 'asha@example.com', username: 'asha', subscription_tier: 'free', side_effects: 0 },
    { email: null, username: 'user', subscription_tier: 'free', side_effects: 0 },
  ]);
  await database.close();
});
