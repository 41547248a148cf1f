import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { blocksOf } from '../helpers/documents.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';

// What tiers may do: public.has_feature, feature_limit, has_tier_at_least and current_tiers.
const database = useDatabase({ isEmptied: true, findings: 'compared elsewhere' });
const customer = useCustomer(database);
/** Has more of pro by a grant than its customers. */
const stranger = useCustomer(database);
beforeEach(async () => {
  const set = (tier: string, entitlements: unknown) =>
    database.setPlan(tier, `entitlements = '${JSON.stringify(entitlements)}'`);
  await set('basic', { projects: 3, reports: false });
  await set('pro', { projects: 10, reports: true, exports: false, seats: 0, calls: null });
  await set('premium', { projects: null });
  await database.at('01-01');
  await grant({ projects: 99, secret: true }, stranger);
});

async function ask(call: string, { id } = customer): Promise<unknown> {
  const session = await openSession(database, { role: 'authenticated', userId: id });
  return (await session.query(`select ${call} as answer`)).rows[0].answer;
}
const grant = (entitlements: unknown, of = customer, tier = 'pro') =>
  actAsOwner(database, { action: 'grant', email: of.id, tier, until: '2026-03-01Z', entitlements });
const setTier = (tier: string | null) =>
  database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [customer.id, tier]);
const insertFree = () =>
  database.query(
    `insert into public.plans (tier, name, price, is_active, entitlements) values ('free', 'Free', 0, false, '{"projects": 1}')`,
  );

test.each([
  ['reports', true, null],
  ['exports', false, '0'],
  ['projects', true, '10'],
  ['seats', false, '0'],
  ['calls', true, null],
  ['unknown', false, '0'],
  [null, false, '0'],
])('a customer of pro has the feature %s: %j, and of it %j', async (feature, has, limit) => {
  await customer.buy('pro');
  const parameter = feature === null ? 'null' : `'${feature}'`;
  expect(await ask(`public.has_feature(${parameter})`)).toBe(has);
  expect(await ask(`public.feature_limit(${parameter})`)).toBe(limit);
});

const all = ['free', 'basic', 'pro', 'premium', 'gold'];

test.each<[string, string, string | null, string[], () => Promise<unknown>]>([
  ['without a profile', 'free', '1', ['free'], async () => {
    await insertFree();
    await database.query('delete from public.profiles where user_id = $1', [customer.id]);
  }],
  ['of free, which has no plan', 'free', '0', ['free'], () => Promise.resolve()],
  ['of free, which has one', 'free', '1', ['free'], insertFree],
  ['of basic', 'basic', '3', ['free', 'basic'], () => customer.buy('basic')],
  ['of pro', 'pro', '10', ['free', 'basic', 'pro'], () => customer.buy('pro')],
  ['of premium', 'premium', null, ['free', 'basic', 'pro', 'premium'], () => customer.buy('premium')],
  ['of pro, of a lower rank than basic', 'pro', '10', ['free', 'pro'], async () => {
    await database.setPlan('pro', 'rank = 1');
    await customer.buy('pro');
  }],
  ['of a plan off sale', 'pro', '10', ['free', 'basic', 'pro'], async () => {
    await customer.buy('pro');
    await database.setPlan('pro', 'is_active = false');
  }],
  ['in the days of grace', 'basic', '3', ['free', 'basic'], async () => {
    await customer.buy('basic');
    await database.sweep('02-02');
  }],
  ['whose period ended', 'free', '1', ['free'], async () => {
    await insertFree();
    await customer.buy('basic');
    await database.sweep('02-05');
  }],
  ['of a tier without a plan', 'gold', '0', ['free', 'gold'], () => setTier('gold')],
  ['of a grant with entitlements of its own', 'pro', '25', ['free', 'basic', 'pro'], () => grant({ projects: 25 })],
  ['of a grant over a purchase', 'pro', '25', ['free', 'basic', 'pro'], async () => {
    await customer.buy('premium');
    await grant({ projects: 25 });
  }],
  ['of a purchase over a grant', 'pro', '10', ['free', 'basic', 'pro'], async () => {
    await grant({ projects: 25 });
    await customer.buy('pro', { at: '01-02' });
  }],
  ['of a grant that ended', 'free', '0', ['free'], async () => {
    await grant({ projects: 25 });
    await database.sweep('03-05');
  }],
  ['of a grant, whose tier an admin edited', 'basic', '3', ['free', 'basic'], async () => {
    await grant({ projects: 25 });
    await setTier('basic');
  }],
  ['of a row that was written by hand', 'pro', '7', ['free', 'basic', 'pro'], async () => {
    await database.query(
      `insert into public.subscriptions (user_id, tier, status, entitlements) values ($1, 'pro', 'active', '{"projects": 7}')`,
      [customer.id],
    );
    await setTier('pro');
  }],
])('a user %s: is %s, has %j projects, and at least these tiers: %j', async (_, tier, limit, tiers, prepare) => {
  await prepare();
  expect(await ask('public.current_tier()')).toBe(tier);
  expect(await ask(`public.feature_limit('projects')`)).toBe(limit);
  expect(await ask(`public.has_feature('projects')`)).toBe(limit !== '0');
  const calls = [...all, null].map((each) => `public.has_tier_at_least(${each === null ? 'null' : `'${each}'`})`);
  expect(await ask(`array[${calls.join(', ')}]`)).toEqual([...all, null].map((each) => tiers.includes(String(each))));
  expect((await ask('public.current_tiers()') as string[]).toSorted()).toEqual(tiers.toSorted());
  const { entitlements, currentTier } = Object(await database.rpc('get_subscription', customer.id));
  expect([currentTier, String(entitlements.projects ?? (limit === null ? null : 0))]).toEqual([tier, String(limit)]);
});

test('an edit of the plan acts at once', async () => {
  await customer.buy('pro');
  for (const [value, expected] of [[12, '12'], [null, null], [false, '0']]) {
    await database.setPlan('pro', `entitlements = '${JSON.stringify({ projects: value })}'`);
    expect(await ask("public.feature_limit('projects')")).toBe(expected);
  }
  await database.setPlan('pro', `entitlements = '{"projects": 2.0}'`);
  expect([await ask("public.has_feature('projects')"), await ask("public.feature_limit('projects')")]).toEqual([
    true,
    '2',
  ]);
});

describe('only one’s own', () => {
  test('values are read: not those of another customer of the tier, nor those without a session', async () => {
    await customer.buy('pro');
    expect(await ask("public.feature_limit('projects')")).toBe('10');
    expect(await ask("public.has_feature('secret')")).toBe(false);
    expect(await ask("public.has_feature('secret')", stranger)).toBe(true);
    const anonymous = await openSession(database, { role: 'anon' });
    const { rows } = await anonymous.query(
      `select public.has_feature('reports') as has, public.feature_limit('projects') as most,
         public.has_tier_at_least('free') as free`,
    );
    expect(rows).toEqual([{ has: false, most: '0', free: false }]);
  });

  test('access is read through these functions alone', async () => {
    for (const call of ['billing.own_access()', `billing.find_entitlements('${customer.id}', 'pro')`]) {
      await expect(ask(call)).rejects.toMatchObject({ code: '42501' });
    }
  });
});

describe('refused', () => {
  const wrong = [['text', '10'], ['list', [1]], ['part', 1.5], ['negative', -1], ['huge', 2 ** 53], [
    'object',
    {},
  ]] as const;
  const writes: Record<string, (entitlements: string) => Promise<unknown>> = {
    'of a plan': (value) => database.setPlan('pro', `entitlements = '${value}'`),
    'of a grant': (value) => grant(JSON.parse(value)),
    'of a subscription': (value) =>
      database.query(
        "insert into public.subscriptions (user_id, tier, status, entitlements) values ($1, 'pro', 'active', $2)",
        [customer.id, value],
      ),
  };

  test.each(Object.entries(writes))('is each other value or key %s, and what is no object', async (_, write) => {
    const values = wrong.map(([key, value]) => JSON.stringify({ fine: 1, [key]: value }));
    const keys = ['', 'Reports', 'two words', 'k'.repeat(65)].map((key) => JSON.stringify({ [key]: true }));
    for (const value of [...values, ...keys, '[]', '1', '"text"']) {
      await expect(write(value), value).rejects.toMatchObject({ code: '23514' });
    }
    await write(JSON.stringify({ most: 2 ** 53 - 1, ['a-z_0.9'.padEnd(64, 'k')]: false }));
  });

  test('are entitlements of another action than a grant', async () => {
    const note = { action: 'note', email: customer.id, entitlements: { projects: 25 } } as const;
    await expect(actAsOwner(database, note)).rejects.toMatchObject({ code: '23514' });
  });
});

describe('in a policy of a table of 100,000 rows', () => {
  const of = (condition: string) => `create policy "Readers" on public.reports for select using (${condition})`;
  beforeAll(() =>
    database.query(`
      create table public.reports as
        select n, (array['premium', 'basic', 'pro'])[n % 3 + 1] as required_tier from generate_series(1, 100000) n;
      alter table public.reports enable row level security;
      grant select on public.reports to anon, authenticated`)
  );
  afterEach(() =>
    database.query(`do $$ declare v_name name; begin
      for v_name in select policyname from pg_policies where tablename = 'reports' loop
        execute format('drop policy %I on public.reports', v_name);
      end loop; end $$`)
  );

  const readers = async () => {
    const other = await database.customer();
    await other.buy('basic');
    await customer.buy('pro');
    return {
      pro: await openSession(database, { role: 'authenticated', userId: customer.id }),
      basic: await openSession(database, { role: 'authenticated', userId: other.id }),
      anon: await openSession(database, { role: 'anon' }),
    };
  };

  test.each([
    ['has_feature', 'as the README prints it', { pro: 100_000, basic: 0, anon: 0 }, printedPolicy],
    [
      'has_tier_at_least',
      'with a tier',
      { pro: 100_000, basic: 0, anon: 0 },
      () => of("(select public.has_tier_at_least('pro'))"),
    ],
    [
      'current_tiers',
      'as the guide prints it for a column',
      { pro: 66_667, basic: 33_334, anon: 0 },
      printedColumnPolicy,
    ],
    [
      'feature_limit',
      'with a column',
      { pro: 10, basic: 3, anon: 0 },
      () => of("n <= (select public.feature_limit('projects'))"),
    ],
  ])('%s, %s, is evaluated once in a statement, and who may read which rows: %j', async (name, _, read, policy) => {
    await database.query(await policy());
    const sessions = await readers();
    for (const person of ['pro', 'basic', 'anon'] as const) {
      const { nodes, calls } = await explain(sessions[person], 'select n from public.reports');
      const ofTable = nodes.filter((node) => node['Relation Name'] === 'reports');
      expect(ofTable.map((node) => node['Actual Rows']), person).toEqual([read[person]]);
      const initPlans = nodes.filter((node) => node['Parent Relationship'] === 'InitPlan');
      expect(initPlans.map((node) => node['Actual Loops']), person).toEqual([1]);
      expect(calls, person).toMatchObject({ [`public.${name}`]: 1, 'billing.own_access': 1 });
    }
  });

  test('a policy that asks for each row costs less than ten times the read of the access alone', async () => {
    await database.query(`
      create function public.reads_access() returns boolean language plpgsql stable security definer as
      'begin return exists (select from billing.access a where a.user_id = auth.uid()); end'`);
    const session = (await readers()).pro;
    const timeOf = async (condition: string) => {
      await database.query(of(condition));
      const times = [];
      for (let count = 0; count < 6; count += 1) {
        const startedAt = performance.now();
        const { rows } = await session.query('select count(*)::int as rows from public.reports where n <= 2000');
        times.push(performance.now() - startedAt);
        expect(rows).toEqual([{ rows: condition.includes('required_tier') ? 1334 : 2000 }]);
      }
      await database.query('drop policy "Readers" on public.reports');
      return Math.min(...times);
    };
    const alone = await timeOf('public.reads_access()');
    // Four times. With a function in SQL in between, which is planned for each row, it is 22 times.
    expect(await timeOf('public.has_tier_at_least(required_tier)')).toBeLessThan(10 * alone);
    await database.query('drop function public.reads_access');
  });

  test('without the subselect each function is called for each row', async () => {
    await database.query(of("public.has_feature('reports')"));
    const { nodes, calls } = await explain((await readers()).pro, 'select n from public.reports limit 20');
    expect(nodes.map((node) => node['Parent Relationship'])).not.toContain('InitPlan');
    expect(calls).toMatchObject({ 'public.has_feature': 20, 'billing.own_access': 20 });
  });
});

/** The policy that the README prints. */
/** The condition of the guide for a column with tiers. */
async function printedColumnPolicy(): Promise<string> {
  const guide = (await blocksOf('sql')).filter(({ document }) => document.endsWith('own-plan.md'));
  const [, condition = ''] = /using \((.*current_tiers.*)\)$/m.exec(guide.map(({ code }) => code).join('\n')) ?? [];
  return `create policy "Readers" on public.reports for select using (${condition})`;
}

async function printedPolicy(): Promise<string> {
  const blocks = await blocksOf('sql');
  return blocks.find(({ document }) => document === 'README.md')?.code ?? '';
}

type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] };
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Runs a statement as the person of the session. @returns the nodes of its plan, and how often it called each function */
async function explain(session: pg.Client, statement: string) {
  const { rows: [{ role }] } = await session.query('select current_user as role');
  const before = await countCalls();
  // Only a superuser may count.
  await session.query("reset role; set track_functions = 'all'");
  await session.query(`set role ${role}`);
  const { rows: [row] } = await session.query(`explain (analyze, timing off, format json) ${statement}`);
  await session.query('reset role; reset track_functions; select pg_stat_force_next_flush()');
  await session.query(`set role ${role}`);
  const calls = Object.entries(await countCalls()).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  return { nodes: nodesOf(row['QUERY PLAN'][0].Plan), calls: Object.fromEntries(calls) };
}

async function countCalls(): Promise<Record<string, number>> {
  const rows = await database.query(
    "select schemaname || '.' || funcname as name, calls::int from pg_stat_user_functions",
  );
  return Object.fromEntries(rows.map(({ name, calls }) => [name, Number(calls)]));
}
