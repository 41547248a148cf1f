import type pg from 'pg';

/** Statements in an order in which they succeed, and those that fail in every order, with the error of each. */
export type Applied = { readonly applied: string[]; readonly failed: readonly { sql: string; error: string }[] };

/** Applies statements, and again those that need a later one, until no more of them succeed. */
export async function applyInOrder(client: Pick<pg.Client, 'query'>, statements: readonly string[]): Promise<Applied> {
  const applied: string[] = [];
  let waiting = statements.map((sql) => ({ sql, error: '' }));
  while (waiting.length > 0) {
    const failed: typeof waiting = [];
    for (const { sql } of waiting) {
      try {
        await client.query(sql);
        applied.push(sql);
      } catch (error) {
        failed.push({ sql, error: error instanceof Error ? error.message : String(error) });
      }
    }
    if (failed.length === waiting.length) return { applied, failed };
    waiting = failed;
  }
  return { applied, failed: [] };
}
