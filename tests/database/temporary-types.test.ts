import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { poolUrl } from '../helpers/database/pool-role.ts';
import { createTestDatabase, openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { createUser } from '../helpers/records/records.ts';
import { openSupport } from '../helpers/records/support-actions.ts';

// A caller may create a temporary domain that is named like a type of Postgres and calls a function of the caller. A function
// that finds the domain in place of the type runs that function with its own rights.

/** The types that SQL spells as names. Keywords such as integer always mean the type of pg_catalog. */
const types = [
  'bytea',
  'date',
  'json',
  'jsonb',
  'name',
  'oid',
  'regclass',
  'regprocedure',
  'text',
  'timestamptz',
  'uuid',
];

const personalLogin = `support_${crypto.randomUUID().replaceAll('-', '')}`;
let database: TestDatabase;
let pool: TestDatabase;
let userId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openDatabase(poolUrl(database.url), { findings: 'compared elsewhere' });
  userId = (await createUser(database)).id;
  await database.query(`create role ${personalLogin} login in role subscriptions_support`);
});
afterAll(async () => {
  await pool.close();
  await database.query(`drop role ${personalLogin}`);
  await database.close();
});

const callers: readonly [role: string, connect: () => Promise<pg.Client>][] = [
  ['subscriptions_support', () => openSupport(database)],
  ['a personal support login', async () => {
    const client = await database.connect();
    await client.query(`set session authorization ${personalLogin}`);
    return client;
  }],
  ['subscriptions_api', () => pool.connect()],
];

describe.each(callers)('%s with temporary domains', (_role, connect) => {
  let client: pg.Client;
  let calls: number;
  beforeAll(async () => {
    client = await connect();
    calls = 0;
    client.on('notice', ({ message }) => {
      if (message === 'the domain was found') calls += 1;
    });
    await client.query(`
      create function pg_temp.note_call() returns boolean language plpgsql as
      'begin raise warning ''the domain was found''; return true; end';
      ${
      types.map((type) => `create domain pg_temp.${type} as pg_catalog.${type} check (pg_temp.note_call());`).join('')
    }`);
  });

  // A role with objects cannot be dropped.
  afterAll(() => client.query('discard temp'));

  test('finds them in a function without pg_temp at the end of its search_path', async () => {
    await database.query(`
      create function billing.careless() returns boolean language plpgsql set search_path = '' as
      'declare v text; begin v := ''x''; return true; end';
      grant execute on function billing.careless() to public`);
    await client.query('select billing.careless()');
    expect(calls).toBeGreaterThan(0);
    await database.query('drop function billing.careless()');
  });

  test('finds them in none of the functions that it may execute', async () => {
    const functions = await executable(client);
    expect(functions.length).toBeGreaterThan(5);
    for (const { name, parameters } of functions) {
      for (const argument of [nothing, sample]) {
        calls = 0;
        await attempt(client, `select ${name}(${parameters.map(argument).join(', ')})`);
        expect(calls, name).toBe(0);
      }
    }
  });

  test('finds them in no trigger of a table that it may write', async () => {
    const actions = await database.query('select unnest(enum_range(null::billing.support_action)) as action');
    expect(actions.length).toBeGreaterThan(5);
    for (const { action } of actions) {
      calls = 0;
      await attempt(
        client,
        `insert into billing.support_actions (action, email, tier, until, reference, reason)
         select '${action}', u.email, 'pro', now() + interval '1 day', '1', 'x' from billing.users u`,
      );
      expect(calls, String(action)).toBe(0);
    }
  });
});

type Callable = { readonly name: string; readonly parameters: readonly string[] };

async function executable(client: pg.Client): Promise<Callable[]> {
  const { rows } = await client.query<Callable>(`
    select
      p.oid::pg_catalog.regproc::pg_catalog.text as name,
      array(select format_type(type, null) from unnest(p.proargtypes) type) as parameters
    from pg_catalog.pg_proc p
    where p.pronamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname in ('public', 'billing'))
      and p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
      and has_function_privilege(p.oid, 'execute')
    order by p.oid`);
  return rows;
}

function nothing(type: string): string {
  return `null::${qualified(type)}`;
}

/** An argument of the type that is likely to lead into the function. */
function sample(type: string): string {
  const values: Record<string, string> = {
    uuid: `'${userId}'`,
    'uuid[]': `'{${userId}}'`,
    text: "'payments'",
    jsonb: `'{"id": "x"}'`,
    bytea: "'x'",
    regclass: "'public.payments'",
    bigint: '1',
    integer: '1',
    boolean: 'true',
    'timestamp with time zone': "'2026-01-01'",
  };
  return `${values[type] ?? 'null'}::${qualified(type)}`;
}

function qualified(type: string): string {
  return types.includes(type.replace('[]', '')) ? `pg_catalog.${type}` : type;
}

/** Runs a statement that may be refused, and takes back what it did. */
async function attempt(client: pg.Client, statement: string): Promise<void> {
  await client.query('begin');
  await client.query(statement).catch(() => {});
  await client.query('rollback');
}
