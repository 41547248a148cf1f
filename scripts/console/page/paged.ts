/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Page } from '../paging.ts';
import { read } from './api.ts';
import { addRows, type Column, table } from './parts.ts';

/**
 * A table, newest first, with a button that adds the next older rows.
 * @param path where the older rows are read, with or without a query
 * @param more the text of the button
 */
export function pagedTable<Row>(
  label: string,
  columns: Column<Row>[],
  first: Page<Row>,
  path: string,
  more = 'Older',
): HTMLElement[] {
  const rows = table(label, columns, first.rows);
  return [rows, ...olderButton<Row>(first, path, (next) => addRows(rows, columns, next), more)];
}

/** A button that reads the next older rows, until there are none. */
export function olderButton<Row>(
  first: Page<Row>,
  path: string,
  add: (rows: Row[]) => void,
  more = 'Older',
): HTMLElement[] {
  if (first.older === null) return [];
  let older: string | null = first.older;
  const button = element('button', { type: 'button', className: 'older' }, more);
  const state = element('span', { role: 'status', className: 'soft' });
  button.onclick = async () => {
    button.disabled = true;
    try {
      const cursor = `older=${encodeURIComponent(older ?? '')}`;
      const page = await read<Page<Row>>(path + (path.includes('?') ? '&' : '?') + cursor);
      add(page.rows);
      older = page.older;
      state.textContent = '';
    } catch (error) {
      state.textContent = error instanceof Error ? error.message : String(error);
    }
    button.disabled = false;
    button.hidden = older === null;
  };
  return [element('div', { className: 'foot' }, button, state)];
}
