import type pg from 'pg';
import { writeLine } from '../stack/process/child.ts';
import type { Months } from './database.ts';
import { openBookFiles } from './files.ts';
import { eachMonth } from './months.ts';
import { showProgress } from './progress.ts';
import { type Group, writeBooks } from './write-books.ts';

type Options = {
  readonly months: Months;
  readonly folder: string;
  readonly close: boolean;
  readonly only: Group | undefined;
};

/** How many problems are printed. */
const shown = 50;

/**
 * Closes the months, if asked, and writes their files from one snapshot of the database. Prints the files on stdout, the
 * problems on stderr. @returns the exit code: 0 written, 3 written with problems, 1 nothing written
 */
export async function runBooks(client: pg.Client, { months, folder, close, only }: Options): Promise<number> {
  if (close) {
    for (const month of eachMonth(months)) await client.query('select billing.close_month($1)', [month]);
  }
  await client.query('begin transaction isolation level repeatable read read only');
  const total = await countRows(client, months);
  if (total === 0) {
    writeLine('Nothing was written: there are no documents and no settlements.');
    return 1;
  }
  const files = await openBookFiles(folder);
  const progress = showProgress(total);
  let names: string[];
  try {
    await writeBooks(client, months, files, { only, progress });
    names = await files.finish();
  } catch (error) {
    await files.discard();
    throw error;
  }
  progress.end();
  for (const name of names) Deno.stdout.writeSync(new TextEncoder().encode(`${folder}/${name}\n`));
  return await printProblems(client, months) ? 3 : 0;
}

/** How many steps the files of the months take. */
export async function countRows(client: pg.Client, { from, month }: Months): Promise<number> {
  const { rows: [counted] } = await client.query<{ total: string }>(
    `select (select count(*) from public.receipts r where r.tax_period between $1 and $2)
       + (select coalesce(sum(b.lines + 1), 0) from billing.bank_lines b
          where b.settled_on >= $1 and b.settled_on < $2::date + interval '1 month') as total`,
    [from, month],
  );
  return Number(counted?.total);
}

type Problem = { problem: string; about: string | null; detail: string; total: string };

/** @returns whether there are any */
async function printProblems(client: pg.Client, { from, month }: Months): Promise<boolean> {
  const { rows } = await client.query<Problem>(
    `select p.problem, coalesce(p.document_number, p.payment_id::text) as about, p.detail, count(*) over () as total
     from billing.book_problems p where p.month between $1 and $2 order by p.problem, p.document_number, p.payment_id, p.detail
     limit ${shown}`,
    [from, month],
  );
  const total = Number(rows[0]?.total ?? 0);
  for (const { problem, about, detail } of rows) writeLine([problem, about, detail].filter((part) => part).join('  '));
  if (total > shown) writeLine(`and ${total - shown} more: select * from billing.book_problems`);
  if (total > 0) writeLine(`Problems: ${total}. Look at them before the return is filed.`);
  return total > 0;
}
