/** The most rows of one answer. */
export const PAGE_ROWS = 100;

/** One page of a list, newest first. `older` is the cursor of the next page; null: this is the last one. */
export type Page<Row> = { rows: Row[]; older: string | null };

/**
 * Cuts a page from rows that were read with one row more than it shows.
 * @param keyOf the columns that order the list
 */
export function pageOf<Row>(rows: Row[], keyOf: (row: Row) => (string | number)[]): Page<Row> {
  const shown = rows.slice(0, PAGE_ROWS);
  const last = shown.at(-1);
  return { rows: shown, older: rows.length > PAGE_ROWS && last !== undefined ? JSON.stringify(keyOf(last)) : null };
}

/** @returns the columns of a cursor; of none, or of a wrong one, as many nulls. */
export function readCursor(cursor: string | undefined, columns: number): (string | null)[] {
  try {
    const key: unknown = JSON.parse(cursor ?? '');
    if (Array.isArray(key) && key.length === columns) return key.map(String);
  } catch {
    // no cursor
  }
  return Array(columns).fill(null);
}
