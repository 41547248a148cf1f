import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { poolUrl } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';
import { createPayment, createUser } from '../helpers/records/records.ts';
import { disputeEvent, paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';

// A lost dispute, so that there is something to attend to.
const database = useDatabase({ findings: { dispute_lost: 1 } });

// Roles belong to the whole server, which the test files share.
const personalLogin = `support_${crypto.randomUUID().replaceAll('-', '')}`;
let support: pg.Client;
let pool: TestDatabase;
let userId: string;
beforeAll(async () => {
  support = await openSupport(database);
  pool = openDatabase(poolUrl(database.url), { findings: 'compared elsewhere' });
  const asha = await createUser(database, { email: 'asha@example.com' });
  userId = asha.id;
  const order = await createPayment(database, { userId, orderId: 'order_sample' });
  const money = { id: 'pay_sample', order_id: order.orderId };
  await database.send(paymentCaptured(money));
  await database.send(refundEvent(money, 100));
  await database.send(disputeEvent('lost', 'lost', money, { amount: 100 }));
  await act(support, { action: 'grant', email: asha.email, tier: 'premium', until: '2126-01-01Z' });
  await database.query('select billing.run_passes()');
  // By the documented statements.
  const guide = await Deno.readTextFile(`${root}/supabase/docs/operations.md`);
  const [, statements = ''] = /```sql\n(create role support_asha .*?)```/s.exec(guide) ?? [];
  await database.query(statements.replaceAll('support_asha', personalLogin).replace('<password>', 'pw'));
  // Of the app, below the functions of this schema.
  await database.query('create table public.diaries (body text)');
});
afterAll(async () => {
  await pool.close();
  await database.query(`drop role ${personalLogin}`);
});

const openPersonal = async () => {
  const client = await database.connect();
  await client.query(`set session authorization ${personalLogin}`);
  return client;
};

describe('support', () => {
  // What the console and Studio show.
  test.each([
    ...['active_monthly', 'customer_payments', 'customers', 'findings', 'messages', 'periods', 'revenue_monthly'],
    ...['service_state', 'timeline', 'users', 'webhooks'],
  ])('reads billing.%s, which has a comment', async (view) => {
    expect((await support.query(`select * from billing.${view}`)).rows).not.toEqual([]);
    const comment = 'select obj_description($1::regclass) is not null as has_comment';
    expect(await database.one(comment, [`billing.${view}`])).toEqual({ has_comment: true });
  });

  test('writes nothing but support actions, and the functions that it may execute write nothing', async () => {
    const rows = await database.query(
      `select format('%s %s.%s', lower(privilege), n.nspname, c.relname) as "right"
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       cross join unnest(array['INSERT', 'UPDATE', 'REFERENCES']) privilege
       where n.nspname in ('public', 'billing', 'auth', 'extensions')
         and c.relkind in ('r', 'p', 'v', 'm', 'f')
         and (
           has_any_column_privilege('subscriptions_support', c.oid, privilege)
           or has_table_privilege('subscriptions_support', c.oid, 'DELETE, TRUNCATE, TRIGGER, MAINTAIN')
         )
       union all
       select p.oid::regprocedure::text from pg_proc p
       where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
         and has_function_privilege('subscriptions_support', p.oid, 'execute')
         and p.provolatile = 'v'`,
    );
    expect(rows).toEqual([{ right: 'insert billing.support_actions' }]);
  });

  test('has the rights of the owner only in the view of all users, and in functions that return none of their secrets', async () => {
    const [owned] = await database.query(
      `select
         (
           select jsonb_agg(p.proname order by p.proname) from pg_proc p
           where p.prosecdef and p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
             and has_function_privilege('subscriptions_support', p.oid, 'execute')
         ) as functions,
         (
           select jsonb_agg(c.relname) from pg_class c
           where c.relkind = 'v' and c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace)
             and not coalesce(c.reloptions @> '{security_invoker=true}', false)
         ) as views`,
    );
    expect(owned).toEqual({
      // The clock is one on a test server only.
      functions: [
        ...[
          'applied_version',
          'clock',
          'find_user',
          'missing_parts',
          'own_access',
          'schedule_faults',
          'tiers_on_offer',
        ],
      ],
      views: ['users'],
    });
  });

  test('reads no table but those of payments and schema billing', async () => {
    const rows = await database.query(
      `select array_agg(distinct n.nspname || case n.nspname when 'public' then '.' || c.relname else '' end) as readable
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       where n.nspname not in ('pg_catalog', 'information_schema')
         and c.relkind in ('r', 'p', 'v', 'm', 'f')
         and has_any_column_privilege($1::name, c.oid, 'SELECT')`,
      [personalLogin],
    );
    expect(rows).toEqual([{
      readable: [
        'billing',
        ...['billing_details', 'payments', 'plans', 'profiles', 'receipts', 'subscriptions'].map((name) =>
          `public.${name}`
        ),
      ],
    }]);
  });

  test.each([
    "insert into billing.support_actions (action, reference, reason, actor) values ('note', 'x', 'x', 'another')",
    'select from auth.users',
    'select from auth.identities',
    'select from billing.deleted_users',
    'select from billing.function_calls',
    'select public.get_subscription(gen_random_uuid())',
    'create table public.t ()',
    'create table billing.t ()',
    'select from public.diaries',
    'set role service_role',
    'update billing.settings set support_grant_days = null',
    "update public.plans set entitlements = '{}'",
    "update public.profiles set subscription_tier = 'pro'",
    "update billing.support_actions set reason = 'another'",
    'delete from billing.support_actions',
    'truncate billing.support_actions',
    'alter table billing.support_actions disable trigger note_actor',
    'drop trigger keep_support_action on billing.support_actions',
    'set session_replication_role = replica',
    "select billing.replay_event('x')",
    "insert into billing.outbox (destination, kind, key, payload) values ('email', 'x', 'x', '{}')",
    "insert into billing.gateway_events (body_sha256, event, outcome) values ('x', 'payment.captured', 'applied')",
  ])('and a login of a person are refused %s', async (sql) => {
    for (const client of [support, await openPersonal()]) {
      await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
  });

  test('by a login of a person may become no other role, and has the documented limits, which it can raise', async () => {
    const roles = await database.query(
      "select rolname::text as name from pg_roles where pg_has_role($1::name, oid, 'member') and rolname <> $1",
      [personalLogin],
    );
    expect(roles).toEqual([{ name: 'subscriptions_support' }]);
    const url = Object.assign(new URL(database.url), { username: personalLogin, password: 'pw' });
    await withClient(url.href, async (client) => {
      for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
        expect((await client.query(`show ${name}`)).rows).toEqual([{ [name]: '1min' }]);
        await client.query(`set ${name} = 0`);
      }
    });
  });

  test('by a login of a person finds all users, and the trail names the login, also after it switches its role', async () => {
    const asha = await openPersonal();
    const { email } = await createUser(database);
    for (const sql of ['select from billing.customers where email = $1', 'select from billing.search_customers($1)']) {
      expect((await asha.query(sql, [email])).rows, sql).toHaveLength(1);
    }
    await asha.query('set role subscriptions_support');
    expect(await act(asha, { action: 'note', email })).toMatchObject({ actor: personalLogin });
  });
});

describe('under the limits of the settings', () => {
  const grant = (client: pg.Client, tier: string, until: string, entitlements: object | null = null) =>
    act(client, { action: 'grant', email: 'asha@example.com', tier, until, entitlements, reason: 'thanks' });
  const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
  const refused = (name: string) => ({ code: 'PS403', message: expect.stringContaining(`setting ${name}`) });
  beforeEach(() => database.query("update billing.settings set support_grant_days = 30, support_grant_tier = 'pro'"));

  test.each([['of the role', () => Promise.resolve(support)], ['of a person', openPersonal]])(
    'a login %s grants no longer, higher or otherwise more, whatever role it switches to',
    async (_, connect) => {
      const client = await connect();
      await client.query('set role subscriptions_support');
      await client.query(`set request.jwt.claims = '{"role": "postgres"}'`);
      await expect(grant(client, 'pro', days(31))).rejects.toMatchObject(refused('support_grant_days'));
      await expect(grant(client, 'premium', days(29))).rejects.toMatchObject(refused('support_grant_tier'));
      await expect(grant(client, 'pro', days(29), { projects: 99 })).rejects.toMatchObject(
        refused('support_grant_tier'),
      );
      expect(await grant(client, 'pro', days(29))).toMatchObject({ tier: 'pro' });
      expect(await grant(client, 'basic', days(29))).toMatchObject({ tier: 'basic' });
      await database.query("update billing.grants set ended_at = now(), ended_reason = 'revoked'");
    },
  );

  test('a login of a person refunds no more than the setting of one payment, and nothing of another customer', async () => {
    await database.query('update billing.settings set support_refund_amount = 5000');
    const asha = await openPersonal();
    await asha.query('set role subscriptions_support');
    const refund = (amount: number, email: string | null = 'asha@example.com') =>
      act(asha, { action: 'refund', email, reference: 'order_sample', amount, reason: 'asked for it' });
    await expect(refund(5001)).rejects.toMatchObject(refused('support_refund_amount'));
    const { email } = await createUser(database);
    await expect(refund(5000, email)).rejects.toMatchObject({ code: 'PS404' });
    expect(await refund(3000)).toMatchObject({ amount: '3000', user_id: userId });
    await expect(refund(2001)).rejects.toMatchObject(refused('support_refund_amount'));
    expect(await refund(2000)).toMatchObject({ amount: '2000' });
    await expect(refund(100)).rejects.toMatchObject(refused('support_refund_amount'));
    await database.query("delete from billing.outbox where kind = 'refund'");
  });

  test('the owner grants more, and a tier without a plan allows none', async () => {
    const owner = await database.connect();
    expect(await grant(owner, 'premium', days(400), { projects: 99 })).toMatchObject({ tier: 'premium' });
    await database.query("update billing.settings set support_grant_tier = 'gone'");
    await expect(grant(support, 'basic', days(1))).rejects.toMatchObject(refused('support_grant_tier'));
  });
});

test.each([
  'revoke select on billing.outbox from subscriptions_support',
  'revoke insert (reason) on billing.support_actions from subscriptions_support',
  'drop policy "Support acts" on billing.support_actions',
])('what a restore loses is a finding, until it is set up again: %s', async (loss) => {
  const found = () => database.query("select subject from billing.findings where finding = 'missing_part'");
  await database.query(loss);
  expect(await found()).toEqual([{ subject: 'role subscriptions_support' }]);
  expect(await database.one('select billing.set_up() as missing')).toEqual({ missing: 0 });
  expect(await found()).toEqual([]);
});

describe('the snippets', () => {
  const folder = `${root}/supabase/snippets`;
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

  test.each(files)(
    '%s asks a question, has one example value, and one statement that answers support',
    async (file) => {
      const [head, ...lines] = (await Deno.readTextFile(`${folder}/${file}`)).split('\n');
      const statement = lines.join('\n').trim();
      expect(head).toMatch(/^-- [A-Z].*\?$/);
      expect(statement).toMatch(/^[^;]*;$/);
      expect(statement.replace("'hex'", '').match(/'[^']*'/g)).toHaveLength(1);
      expect((await support.query(statement)).rows).not.toEqual([]);
    },
  );
});

// A caller may create a temporary domain that is named like a type of Postgres and calls a function of the caller. A function
// that finds the domain in place of the type runs that function with its own rights.
describe.each<[string, () => Promise<pg.Client>]>([
  ['subscriptions_support', () => openSupport(database)],
  ['a personal support login', openPersonal],
  ['subscriptions_api', () => pool.connect()],
])('%s with temporary domains', (_role, connect) => {
  /** The types that SQL spells as names. Keywords such as integer always mean the type of pg_catalog. */
  const types = 'bytea date json jsonb name oid regclass regprocedure text timestamptz uuid'.split(' ');
  /** Arguments that are likely to lead into a function. */
  const samples = (): Record<string, string> => ({
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
  });
  const qualified = (type: string) => types.includes(type.replace('[]', '')) ? `pg_catalog.${type}` : type;

  let client: pg.Client;
  let calls: number;
  beforeAll(async () => {
    client = await connect();
    client.on('notice', ({ message }) => {
      if (message === 'the domain was found') calls += 1;
    });
    await client.query(`
      create function pg_temp.note_call() returns boolean language plpgsql as
      'begin raise warning ''the domain was found''; return true; end'`);
    for (const type of types) {
      await client.query(`create domain pg_temp.${type} as pg_catalog.${type} check (pg_temp.note_call())`);
    }
  });
  // A role with objects cannot be dropped.
  afterAll(() => client.query('discard temp'));

  /** Runs a statement that may be refused, and takes back what it did. @returns how often a domain was found */
  async function found(statement: string): Promise<number> {
    calls = 0;
    await client.query('begin');
    await client.query(statement).catch(() => {});
    await client.query('rollback');
    return calls;
  }

  test('finds them in a function without pg_temp at the end of its search_path', async () => {
    await database.query(`
      create function billing.careless() returns boolean language plpgsql set search_path = '' as
      'declare v text; begin v := ''x''; return true; end';
      grant execute on function billing.careless() to public`);
    expect(await found('select billing.careless()')).toBeGreaterThan(0);
    await database.query('drop function billing.careless()');
  });

  test('finds them in none of the functions that it may execute', async () => {
    const { rows } = await client.query(`
      select
        p.oid::pg_catalog.regproc::pg_catalog.text as name,
        array(select format_type(type, null) from unnest(p.proargtypes) type) as parameters
      from pg_catalog.pg_proc p
      where p.pronamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname in ('public', 'billing'))
        and p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
        and has_function_privilege(p.oid, 'execute')
      order by p.oid`);
    expect(rows.length).toBeGreaterThan(5);
    for (const { name, parameters } of rows as { name: string; parameters: string[] }[]) {
      for (const values of [{}, samples()] as Record<string, string>[]) {
        const list = parameters.map((type) => `${values[type] ?? 'null'}::${qualified(type)}`);
        expect(await found(`select ${name}(${list.join(', ')})`), name).toBe(0);
      }
    }
  });

  test('finds them in no trigger of a table that it may write', async () => {
    const actions = await database.query('select unnest(enum_range(null::billing.support_action)) as action');
    expect(actions.length).toBeGreaterThan(5);
    for (const { action } of actions) {
      const insertion = `insert into billing.support_actions (action, email, tier, until, reference, reason)
        select '${action}', u.email, 'pro', now() + interval '1 day', '1', 'x' from billing.users u`;
      expect(await found(insertion), String(action)).toBe(0);
    }
  });
});
