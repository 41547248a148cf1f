import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';

// What tiers may do: public.has_feature, feature_limit and has_tier_at_least.
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
  beforeAll(() =>
    database.query(`
      create table public.documents as select n from generate_series(1, 100000) n;
      alter table public.documents enable row level security;
      grant select on public.documents to anon, authenticated;
      create policy "Readers" on public.documents for select to anon, authenticated
      using ((select public.has_feature('reports')))`)
  );

  test('is evaluated once, and without the feature or without a session no row is read', async () => {
    await customer.buy('pro');
    const other = await database.customer();
    await other.buy('basic');
    for (
      const [session, count] of [
        [await openSession(database, { role: 'authenticated', userId: customer.id }), '100000'],
        [await openSession(database, { role: 'authenticated', userId: other.id }), '0'],
        [await openSession(database, { role: 'anon' }), '0'],
      ] as const
    ) {
      expect((await session.query('select count(*) from public.documents')).rows).toEqual([{ count }]);
      const { rows } = await session.query('explain (analyze, timing off) select count(*) from public.documents');
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/InitPlan 1\n +-> +Result [^\n]*loops=1\)/);
    }
  });
});
