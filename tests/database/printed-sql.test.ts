import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { openSession } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';

const database = useDatabase();

/** The block of SQL with these words in a document. */
async function printed(document: string, words: string): Promise<string> {
  const blocks = (await Deno.readTextFile(`${root}/${document}`)).matchAll(/```sql\n([^`]*)```/g);
  return [...blocks].map(([, sql = '']) => sql).find((sql) => sql.includes(words)) ?? `no block has ${words}`;
}

test('the policy of the README lets premium read reports, and neither basic nor a user without a tier', async () => {
  await database.query(await printed('README.md', 'create policy'));
  await database.query("insert into public.reports (body) values ('the report')");
  const seen = await Promise.all(['premium', 'basic', null].map(async (tier) => {
    const { id: userId, buy } = await database.customer();
    if (tier) await buy(tier);
    const session = await openSession(database, { role: 'authenticated', userId });
    return (await session.query('select body from public.reports')).rows;
  }));
  expect(seen).toEqual([[{ body: 'the report' }], [], []]);
});

test('the plans of the deployment guide are on offer monthly and yearly, and a user without a tier has one project', async () => {
  await database.query(await printed('supabase/docs/deployment.md', 'insert into public.plans'));
  const offers = `select coalesce(lookup_key, tier) as lookup_key, billing.sold_months(duration_months) as months
    from public.plans where is_active and tier in ('pro', 'team', 'free') order by tier, 2`;
  expect(await database.query(offers)).toEqual([
    { lookup_key: 'pro', months: 1 },
    { lookup_key: 'pro_yearly', months: 12 },
    { lookup_key: 'team', months: 1 },
  ]);
  const { id: userId } = await database.customer();
  const session = await openSession(database, { role: 'authenticated', userId });
  expect((await session.query("select public.feature_limit('projects') as projects")).rows).toEqual([{
    projects: '1',
  }]);
});
