import pg from 'pg';

/** How long the database may take to accept a connection. */
const connectWithinMs = 5000;

type Result = {
  readonly command: string;
  readonly rowCount: number | null;
  readonly columns: string[];
  rows: unknown[][];
};

/** The stack does not run. */
export class NoDatabase extends Error {}

/**
 * Runs SQL as the owner. @returns a table for each statement with rows, a line for each other one
 * @throws NoDatabase, or the error of the server
 */
export async function runStatement(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectWithinMs });
  client.on('error', () => {}); // the query fails, too
  try {
    await client.connect();
  } catch (error) {
    throw new NoDatabase(error instanceof Error ? error.message : String(error));
  }
  try {
    // As text: the server's own form of each value.
    const types = { getTypeParser: () => (text: string) => text };
    const answer = await client.query<unknown[]>({ text: statement, rowMode: 'array', types });
    return [answer].flat().map((result) =>
      resultText({
        command: result.command,
        rowCount: result.rowCount,
        columns: result.fields.map(({ name }) => name),
        rows: result.rows,
      })
    ).join('\n');
  } finally {
    await client.end();
  }
}

/** The server's message, with its detail and hint. */
export function serverText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const more = error instanceof pg.DatabaseError
    ? [error.detail && `DETAIL: ${error.detail}`, error.hint && `HINT: ${error.hint}`]
    : [];
  return [`ERROR: ${error.message}`, ...more.filter((line) => line)].join('\n');
}

function resultText({ command, rowCount, columns, rows }: Result): string {
  if (columns.length === 0) return `${command}${rowCount === null ? '' : ` ${rowCount}`}\n`;
  const cells = [columns, ...rows.map((row) => row.map(cellText))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ').trimEnd());
  const count = `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`;
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('-+-'), ...lines.slice(1), count, ''].join('\n');
}

/** On one line, and without characters that a terminal obeys. Null is empty. */
function cellText(value: unknown): string {
  if (value === null) return '';
  return String(value).replace(/\n/g, '\\n').replace(
    /\p{Cc}/gu,
    (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
