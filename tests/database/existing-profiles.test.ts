import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { root } from '../../scripts/stack/root.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

/** The profiles of a typical starter: the primary key is `id`, and a trigger of the app inserts the rows. */
const starter = `
create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  username text unique,
  avatar_url text
);
alter table public.profiles enable row level security;
create function public.handle_new_user() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.profiles (id, username) values (new.id, new.email);
  return new;
end
$$;
create trigger on_auth_user_created after insert on auth.users for each row execute function public.handle_new_user();
insert into auth.users (id, email) values ('00000000-0000-4000-8000-000000000001', 'early@example.com')`;

const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
let database: TestDatabase;

beforeAll(async () => {
  const url = new URL(inject('postgresUrl'));
  await withClient(url.href, (server) => server.query(`create database ${name}`));
  url.pathname = `/${name}`;
  await prepareDatabase(url.href);
  database = openDatabase(url.href, {
    // A user without a profile bought.
    findings: { unmailed_payment: 1 },
    close: () => withClient(inject('postgresUrl'), async (server) => void await server.query(`drop database ${name}`)),
  });
  await database.query(starter);
  for (const [file, sql] of await migrations()) {
    await database.query(file.endsWith('_profiles.sql') ? await guideSql() : sql);
  }
});
afterAll(() => database.close());

async function migrations(): Promise<[string, string][]> {
  const folder = `${root}/supabase/migrations`;
  const names = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
  return await Promise.all(
    names.map(async (file): Promise<[string, string]> => [file, await Deno.readTextFile(`${folder}/${file}`)]),
  );
}

/** The migration from the deployment guide. */
async function guideSql(): Promise<string> {
  const guide = await Deno.readTextFile(`${root}/supabase/docs/deployment.md`);
  const [, section = ''] = guide.split('## Existing profiles');
  const [, sql = ''] = /```sql\n(.*?)```/s.exec(section) ?? [];
  expect(sql).toContain('alter table public.profiles');
  return sql;
}

test('existing profiles keep their rows and have the tier free', async () => {
  const rows = await database.query(
    'select id = user_id as linked, username, subscription_tier from public.profiles',
  );
  expect(rows).toEqual([{ linked: true, username: 'early@example.com', subscription_tier: 'free' }]);
});

test('a user who signs up later buys a tier', async () => {
  const id = crypto.randomUUID();
  await database.query('insert into auth.users (id, email) values ($1, $2)', [id, 'late@example.com']);
  await database.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, 'order_late', '{"tier": "pro"}')`,
    [id],
  );
  await database.query(`select public.verify_payment($1, 'order_late', 'pay_late', 'signature')`, [id]);
  const rows = await database.query(
    'select username, subscription_tier from public.profiles where user_id = $1 and id = $1',
    [id],
  );
  expect(rows).toEqual([{ username: 'late@example.com', subscription_tier: 'pro' }]);
});

test('a purchase by a user whose profile was deleted inserts a profile with the tier', async () => {
  const id = crypto.randomUUID();
  await database.query('insert into auth.users (id, email) values ($1, $2)', [id, 'bare@example.com']);
  await database.query('delete from public.profiles where id = $1', [id]);
  await database.query(
    `insert into public.payments (user_id, amount, gateway_order_id) values ($1, 9900, 'order_bare')`,
    [id],
  );
  await database.query(`select public.verify_payment($1, 'order_bare', 'pay_bare', 'signature')`, [id]);
  const rows = await database.query('select username, subscription_tier from public.profiles where id = $1', [id]);
  expect(rows).toEqual([{ username: 'bare', subscription_tier: 'basic' }]);
});
