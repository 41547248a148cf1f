import pg from 'pg';
import { root } from '../stack/root.ts';

/** Where amounts are formatted: mails, the client with pages that import it, the simulator's pages. */
const files = [
  'supabase/functions/api/outbox/format.ts',
  'supabase/client/subscriptions.ts',
  'scripts/stack/http/money.js',
];

/** Writes the decimals of currencies into each of those files. */
export async function generateMinorUnits(databaseUrl: string): Promise<void> {
  for (const { path, fresh } of await withMinorUnits(databaseUrl)) await Deno.writeTextFile(`${root}/${path}`, fresh);
}

/**
 * Reads which currencies have not two decimals from `billing.minor_units` of a migrated database.
 * @returns the text of each of those files, as it is and as it has to be
 */
export async function withMinorUnits(databaseUrl: string): Promise<{ path: string; text: string; fresh: string }[]> {
  const lists = await exceptions(databaseUrl);
  return await Promise.all(files.map(async (path) => {
    const text = await Deno.readTextFile(`${root}/${path}`);
    const fresh = text
      .replace(/(?<=^const NO_DECIMALS = )'.*'/m, `'${lists.get(0)}'`)
      .replace(/(?<=^const THREE_DECIMALS = )'.*'/m, `'${lists.get(3)}'`);
    return { path, text, fresh };
  }));
}

/** The codes by their number of decimals, without those that have two. */
async function exceptions(connectionString: string): Promise<Map<number, string>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ decimals: number; codes: string }>(`
      with letters as (select chr(code) as letter from generate_series(65, 90) code),
      currencies as (select a.letter || b.letter || c.letter as code from letters a, letters b, letters c)
      select billing.minor_units(code) as decimals, string_agg(code, ' ' order by code) as codes
      from currencies
      where billing.minor_units(code) <> 2
      group by 1
      order by 1`);
    const lists = new Map(rows.map(({ decimals, codes }) => [decimals, codes]));
    if ([...lists.keys()].join() !== '0,3') throw new Error(`decimals without a list: ${[...lists.keys()].join()}`);
    return lists;
  } finally {
    await client.end();
  }
}
