import { expect } from 'vitest';
import type { TestDatabase } from './test-database.ts';

const [first, middle, last] = [
  '00000000-0000-0000-0000-000000000000',
  '7fffffff-ffff-ffff-ffff-ffffffffffff',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];

/** Sums the revenue up in two ranges, as the sweep does in many. */
export async function sumUp(database: Pick<TestDatabase, 'query'>): Promise<void> {
  await database.query('select billing.sum_hours()');
  for (const range of [[first, middle], [middle, last]]) {
    await database.query('select billing.sum_customers($1, $2)', range);
  }
}

/** Expects that the sums, which were changed range by range, are those of all payments at once. */
export async function expectExactSums(database: Pick<TestDatabase, 'query'>): Promise<void> {
  await sumUp(database);
  const columns = ['gross', 'refunded', 'new_customers', 'renewed_customers', 'lapsed_customers', 'active', 'mrr'];
  const sums = columns.map((column) => `sum(${column})::text as ${column}`).join(', ');
  const kept = await database.query(
    `select kind, name, month, ${sums} from billing.revenue_sums where bucket = '' group by 1, 2, 3
     having (${columns.map((column) => `sum(${column})`).join(', ')}) <> (${columns.map(() => 0).join(', ')})
     order by 1, 2, 3`,
  );
  const all = await database.query(
    `select kind, name, month, ${sums} from billing.revenue_of($1, $2) group by 1, 2, 3
     having (${columns.map((column) => `sum(${column})`).join(', ')}) <> (${columns.map(() => 0).join(', ')})
     order by 1, 2, 3`,
    [first, last],
  );
  expect(kept).toEqual(all);
}
