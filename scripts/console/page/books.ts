/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { BankLine } from '../../books/bank-lines.ts';
import type { BookMonths, Books, BookSums } from '../book-rows.ts';
import { bookSections, bookSums } from '../book-sections.ts';
import { read } from './api.ts';
import { fileLink, filePanel } from './files.ts';
import { problemPanel } from './book-problems.ts';
import { closeButton } from './close-month.ts';
import { time } from './format.ts';
import { monthName } from './months.ts';
import { badge, code, type Column, empty, facts, head, link, section, table } from './parts.ts';
import type { Show } from './view.ts';
import { day } from './zone.ts';

/** A month of the books: what is declared, what the bank got, and what to look at before it is closed. */
export const showBooks: Show = async (url, _id, signal) => {
  const wanted = url.searchParams.get('month');
  const books = await read<Books>(`/books${wanted ? `?month=${encodeURIComponent(wanted)}` : ''}`, signal);
  const { month, known, state, sections, sums, bank, problems } = books;
  const files = await filePanel('books', month, signal);
  const name = monthName(month, 'long');
  const content = [
    head('Books', chooser(month, known), ...closeButton(books)),
    element('p', { className: 'lead' }, ...standing(books)),
    cards(books),
    ...problems.length === 0 ? [] : [problemPanel(month, problems)],
    state.seller_gstin === null
      ? empty('No return', 'The setting seller_gstin is empty: documents have no GST.')
      : section('GSTR-1', [
        sections.length === 0
          ? empty(`Nothing to declare in ${name}`, 'The return of this month is nil.')
          : table('Sections of the return', sectionColumns(month, files.made), rowsOf([...sections, ...sums])),
      ]),
    Object.assign(
      section('Bank', [
        bank.length === 0
          ? empty(
            `No settlement in ${name}`,
            'The gateway has sent nothing to the bank, or its settlements are not read yet.',
          )
          : table('Bank lines', bankColumns, bank),
      ]),
      { id: 'bank' },
    ),
    files.panel,
  ];
  return { title: `Books, ${name}`, content };
};

/** Whether the month is closed, by whom, or what it waits for. */
function standing({ month, known, state }: Books): (string | Node)[] {
  if (state.closed_at !== null) return ['Closed on ', time(state.closed_at), ` by ${state.closed_by}.`];
  if (month > known.over) return ['This month is not over in India: its figures grow.'];
  return ['Open: a credit note or a correction still changes the figures.'];
}

function chooser(month: string, { first, today }: BookMonths): HTMLElement {
  const months: string[] = [];
  const [begin, end] = [first < month ? first : month, today > month ? today : month];
  for (let one = end; one >= begin; one = monthBefore(one)) months.push(one);
  const field = element(
    'select',
    { id: 'month', ariaLabel: 'Month' },
    ...months.map((one) => element('option', { value: one, selected: one === month }, monthName(one, 'long'))),
  );
  field.onchange = () => {
    history.pushState(null, '', `/books?month=${field.value}`);
    dispatchEvent(new Event('console:changed'));
  };
  return field;
}

function monthBefore(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 2, 1)).toISOString().slice(0, 7);
}

function cards({ month, state: { summary, seller_gstin }, problems }: Books): HTMLElement {
  const { '3.1(a)': inside, '3.1(b)': abroad } = summary.gstr3b;
  const sum = (head: keyof typeof inside) => inside[head] + abroad[head];
  const to = (key: string, text: string) => link(`/books/documents?month=${month}&section=${key}`, text);
  const taxed: [string, Node][] = [
    ['Taxable', to('taxed', rupees(sum('taxable')))],
    ['Tax', to('taxed', rupees(sum('igst') + sum('cgst') + sum('sgst')))],
  ];
  const found = [...new Map(problems.map(({ problem, total }) => [problem, total])).values()]
    .reduce((all, total) => all + total, 0);
  return facts([
    [seller_gstin === null ? 'Receipts' : 'Invoices', to('invoices', count(summary.invoices))],
    ['Credit notes', to('notes', count(summary.credit_notes))],
    ...seller_gstin === null ? [] : taxed,
    [`Bank (${count(summary.bank.settlements)})`, link('#bank', rupees(summary.bank.amount))],
    ['Problems', found === 0 ? 'none' : link('#problems', count(found))],
  ], 'tiles');
}

type Row = BookSums & { title: string; file: string | null };

function rowsOf(sums: BookSums[]): Row[] {
  const titles = new Map([...bookSections, ...bookSums].map((one) => [one.key, one]));
  return sums.flatMap((row) => {
    const { title, file } = titles.get(row.key) ?? { title: row.key, file: null };
    return row.documents === 0 ? [] : [{ ...row, title, file }];
  });
}

const sectionColumns = (month: string, made: ReadonlySet<string>): Column<Row>[] => [
  { head: 'Section', cell: ({ key, title }) => link(`/books/documents?month=${month}&section=${key}`, title) },
  { head: 'Documents', cell: ({ documents }) => count(documents), isNumber: true },
  { head: 'Taxable', cell: ({ taxable }) => rupees(taxable), isNumber: true },
  { head: 'Tax', cell: ({ tax }) => rupees(tax), isNumber: true },
  { head: 'File', cell: ({ file }) => file === null ? '–' : fileLink(month, file, made) },
];

const bankColumns: Column<BankLine>[] = [
  {
    head: 'Day',
    cell: ({ settlement_id, settled_on }) => link(`/books/settlements/${settlement_id}`, day(settled_on)),
  },
  { head: 'UTR', cell: ({ utr }) => code(utr) },
  { head: 'Payments', cell: ({ payments }) => rupees(payments), isNumber: true },
  { head: 'Fees', cell: (line) => rupees(line.fees + line.gst_on_fees + line.settlement_fees), isNumber: true },
  { head: 'Refunds', cell: ({ refunds }) => rupees(refunds), isNumber: true },
  {
    head: 'Others',
    cell: ({ adjustments, transfers, other }) => rupees(adjustments - transfers + other),
    isNumber: true,
  },
  { head: 'To the bank', cell: ({ amount }) => rupees(amount), isNumber: true },
  { head: 'Difference', cell: differenceOf, isNumber: true },
];

/** What the lines do not explain, or that the bank got nothing. */
export function differenceOf({ difference, status }: BankLine): Node | string {
  if (status !== 'processed') return badge(status, status === 'failed' ? 'bad' : 'wait');
  return difference === 0 ? rupees(0) : badge(rupees(difference), 'bad');
}

/** Paise as rupees. */
export const rupees = (paise: number): string => money(paise, 'INR');

const count = (number: number) => number.toLocaleString('en-IN');
