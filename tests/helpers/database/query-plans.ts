import type { TestDatabase } from './test-database.ts';

/** Reads the query plans of statements. */
export type Plans = Awaited<ReturnType<typeof watchPlans>>;

/** How the plans read the table: its scans, also those of its indexes below a bitmap scan; not the node that writes it. */
export function scansOf(table: string, plans: string): string[] {
  const scan = '(?:Seq|Index|Index Only|Bitmap Heap|Tid) Scan(?: Backward)?';
  const read = new RegExp(`${scan}(?: using \\w+)? on ${table}\\b|Bitmap Index Scan on ${table}_\\w+`, 'g');
  return [...new Set([...plans.matchAll(read)].map(([text]) => text))].sort();
}

/** Records the plans of the statements inside functions, which EXPLAIN of the call does not show, with auto_explain. */
export async function watchPlans(database: TestDatabase, more: Record<string, string> = {}) {
  const client = await database.connect();
  const plans: string[] = [];
  client.on('notice', ({ message }) => {
    plans.push(message ?? '');
  });
  await client.query("load 'auto_explain'");
  for (
    const [name, value] of Object.entries({
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_nested_statements': 'on',
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_level': 'notice',
      ...more,
    })
  ) await client.query('select set_config($1, $2, false)', [name, value]);

  return {
    /** Runs a statement. @returns its plans and those of the functions that it calls, as EXPLAIN ANALYZE writes them */
    async of(statement: string, parameters?: unknown[]) {
      plans.length = 0;
      await client.query(statement, parameters);
      return plans.join('\n');
    },
  };
}
