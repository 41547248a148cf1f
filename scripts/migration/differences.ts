import type pg from 'pg';
import { describeSchema } from '../release/describe-schema.ts';
import { sameAsDeclared } from './as-declared.ts';
import type { Statement } from '../stack/postgres/statements.ts';

/**
 * @returns one line for each difference of schema and installed rows between a database and the one that the statements of
 * the schema files make
 */
export async function differences(
  is: Pick<pg.Client, 'query'>,
  shouldBe: Pick<pg.Client, 'query'>,
  statements: readonly Statement[],
): Promise<string[]> {
  const [before, after] = [await describe(is), await describe(shouldBe)];
  const found = [
    ...[...after.difference(before)].map((line) => ({ place: 'supabase/schemas', line })),
    ...[...before.difference(after)].map((line) => ({ place: 'supabase/migrations', line })),
  ];
  if (found.length === 0) return [];
  const same = await sameAsDeclared(is, shouldBe, statements);
  return found.filter(({ line }) => !same.has(definedIn(line))).map(({ place, line }) => `only in ${place}: ${line}`);
}

/** The name of the function or view whose definition or column a line describes; else empty. */
function definedIn(line: string): string {
  const [, name = ''] = /^(?:view|column|function: CREATE OR REPLACE FUNCTION) ([\w.]+)/.exec(line) ?? [];
  return name;
}

async function describe(client: Pick<pg.Client, 'query'>): Promise<Set<string>> {
  return new Set([...await describeSchema(client), ...await installedRows(client)]);
}

/** The rows that an installation begins with, without ids and times. */
async function installedRows(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string; columns: string }>(`
    select c.oid::regclass::text as name, string_agg(format('%I', a.attname), ', ' order by a.attname) as columns
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace in (select n.oid from pg_namespace n where n.nspname in ('public', 'billing'))
      and c.relkind = 'r'
      and a.attnum > 0
      and not a.attisdropped
      and a.atttypid not in ('uuid'::regtype, 'timestamptz'::regtype)
      and a.attidentity = ''
    group by c.oid`);
  const lines: string[] = [];
  for (const { name, columns } of tables) {
    const { rows } = await client.query(`select ${columns} from ${name}`);
    lines.push(...rows.map((row) => `row in ${name}: ${JSON.stringify(row)}`));
  }
  return lines;
}

/** The first differences, each cut to a line. */
export function firstOf(lines: readonly string[]): string[] {
  const most = 10;
  const others = lines.length > most ? [`… and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most).map((line) => line.replace(/\s+/g, ' ').slice(0, 200)), ...others];
}
