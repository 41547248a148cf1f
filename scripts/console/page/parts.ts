/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';

type Content = Node | string;
export type Tone = 'good' | 'bad' | 'wait' | 'quiet';
/** A column of a table: its head, the cell of a row, and whether it is a number. */
export type Column<Row> = { head: string; cell: (row: Row) => Content; isNumber?: boolean };

/** A word with a colour. */
export function badge(text: string, tone: Tone = 'quiet'): HTMLElement {
  return element('span', { className: `badge ${tone}` }, text);
}

/** A part of a page with a heading, and what belongs to the right of it. */
export function section(title: string, content: Content[], ...beside: Content[]): HTMLElement {
  const heading = element('h2', {}, title);
  return element('section', { className: 'panel' }, element('header', {}, heading, ...beside), ...content);
}

/** The head of a page. */
export function head(title: Content, ...beside: Content[]): HTMLElement {
  return element('div', { className: 'head' }, element('h1', {}, title), ...beside);
}

/** What to do where there is nothing to show. */
export function empty(title: string, advice: string): HTMLElement {
  return element('div', { className: 'empty' }, element('strong', {}, title), element('p', {}, advice));
}

/** Names and values. */
export function facts(entries: [name: string, value: Content][], className = 'facts'): HTMLElement {
  const pairs = entries.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  return element('dl', { className }, ...pairs);
}

/** A table. On a phone each row is a block, and each cell has its column's head in front. */
export function table<Row>(label: string, columns: Column<Row>[], rows: Row[]): HTMLTableElement {
  const heads = columns.map(({ head, isNumber }) =>
    element('th', { role: 'columnheader', className: isNumber ? 'number' : '' }, head)
  );
  const body = element('tbody', { role: 'rowgroup' });
  const made = element(
    'table',
    { role: 'table', ariaLabel: label },
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)),
    body,
  );
  addRows(made, columns, rows);
  return made;
}

/** Adds rows at the end of a table. */
export function addRows<Row>(to: HTMLTableElement, columns: Column<Row>[], rows: Row[]): void {
  const made = rows.map((row) => {
    const cells = columns.map(({ head, cell, isNumber }) => {
      const one = element('td', { role: 'cell', className: isNumber ? 'number' : '' }, cell(row));
      one.dataset.head = head;
      return one;
    });
    return element('tr', { role: 'row' }, ...cells);
  });
  to.tBodies[0]?.append(...made);
}

/** A link to another page of the console. */
export function link(href: string, ...content: Content[]): HTMLAnchorElement {
  return element('a', { href }, ...content);
}

/** An id that the gateway or the database made. */
export function code(text: string | null): Node {
  return text === null ? element('span', { className: 'soft' }, '–') : element('code', {}, text);
}

/** A choice between links, of which one is the present one. */
export function tabs(label: string, choices: [text: string, href: string][], present: string): HTMLElement {
  const links = choices.map(([text, href]) =>
    Object.assign(link(href, text), { ariaCurrent: href === present ? 'page' : null })
  );
  return element('nav', { className: 'tabs', ariaLabel: label }, ...links);
}

/** A payload or details, as JSON. The box can be scrolled with the keyboard. */
export function json(value: unknown, label: string): HTMLElement {
  return element('pre', { tabIndex: 0, role: 'region', ariaLabel: label }, JSON.stringify(value, null, 2));
}
