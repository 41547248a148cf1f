import { expect, test } from 'vitest';
import { blocksOf } from '../helpers/documents.ts';
import { openSession } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';

const database = useDatabase();
const blocks = await blocksOf('sql');
const sampleUser = '22222222-2222-4222-8222-222222222222';
const documents = [...new Set(blocks.map(({ document }) => document))];

/** The block of SQL with these words in a document. */
function printed(document: string, words: string): string {
  const block = blocks.find((block) => block.document === document && block.code.includes(words));
  return block?.code ?? `no block has ${words}`;
}

/** Runs the statements of blocks in one transaction, and undoes them. @returns the block that fails, and why. */
async function failureOf(codes: string[]): Promise<string | undefined> {
  const client = await database.connect();
  await client.query('begin');
  await client.query("insert into auth.users (id, email) values ($1, 'asha@example.com')", [sampleUser]);
  try {
    for (const code of codes) {
      const failure = await client.query(code).then(() => undefined, (error: Error) => `${error.message}\n${code}`);
      if (failure !== undefined) return failure;
    }
  } finally {
    await client.query('rollback');
  }
}

test.each(documents)('each block of SQL of %s runs after those before it, or says why not', async (document) => {
  const codes = blocks.filter((block) => block.document === document && block.mark === undefined);
  expect(await failureOf(codes.map(({ code }) => code))).toBe(undefined);
});

test('a block that fails is found', async () => {
  const wrong = 'select no_such_column from public.plans;';
  expect(await failureOf(['select 1;', wrong])).toBe(`column "no_such_column" does not exist\n${wrong}`);
});

const ownPlan = 'supabase/docs/own-plan.md';

test('the policy of the guide lets premium read reports, and neither basic nor a user without a tier', async () => {
  await database.query(printed(ownPlan, 'create policy'));
  await database.query("insert into public.reports (body) values ('the report')");
  const seen = await Promise.all(['premium', 'basic', null].map(async (tier) => {
    const { id: userId, buy } = await database.customer();
    if (tier) await buy(tier);
    const session = await openSession(database, { role: 'authenticated', userId });
    return (await session.query('select body from public.reports')).rows;
  }));
  expect(seen).toEqual([[{ body: 'the report' }], [], []]);
});

test('the plan of the guide is on offer monthly and yearly, and a user without a tier has one project', async () => {
  await database.query(printed(ownPlan, 'insert into public.plans'));
  const offers = `select coalesce(lookup_key, tier) as lookup_key, billing.sold_months(duration_months) as months
    from public.plans where is_active and tier in ('basic', 'team', 'free') order by 1`;
  expect(await database.query(offers)).toEqual([
    { lookup_key: 'team', months: 1 },
    { lookup_key: 'team_yearly', months: 12 },
  ]);
  const { id: userId } = await database.customer();
  const session = await openSession(database, { role: 'authenticated', userId });
  expect((await session.query("select public.feature_limit('projects') as projects")).rows).toEqual([{
    projects: '1',
  }]);
});
