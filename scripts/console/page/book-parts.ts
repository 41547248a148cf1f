/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { BankLine } from '../../books/bank-lines.ts';
import { placeText } from '../../books/states.ts';
import type { BookLine, BookPaper } from '../book-rows.ts';
import type { Page } from '../paging.ts';
import { read } from './api.ts';
import { differenceOf, rupees } from './books.ts';
import { words } from './format.ts';
import { monthName } from './months.ts';
import { pagedTable } from './paged.ts';
import { code, type Column, empty, facts, head, link, section } from './parts.ts';
import type { Show } from './view.ts';
import { day } from './zone.ts';

const documentColumns: Column<BookPaper>[] = [
  { head: 'Number', cell: numberOf },
  { head: 'Date', cell: ({ document_date }) => day(document_date) },
  { head: 'Buyer', cell: buyerOf },
  { head: 'Place', cell: ({ place_of_supply }) => placeText(place_of_supply) || '–' },
  { head: 'Total', cell: ({ sign, total, currency }) => money(sign * total, currency), isNumber: true },
  { head: 'Taxable', cell: ({ sign, taxable }) => taxable === null ? '–' : rupees(sign * taxable), isNumber: true },
  { head: 'Tax', cell: ({ sign, taxable, tax }) => taxable === null ? '–' : rupees(sign * tax), isNumber: true },
  { head: 'Payment', cell: ({ gateway_payment_id: payment }) => payment === null ? '–' : code(payment) },
];

/** The documents that a figure of the month consists of, newest first. */
export const showDocuments: Show = async (url, _id, signal) => {
  const { month, section: key } = Object.fromEntries(url.searchParams);
  const path = `/books/${month}/documents?section=${encodeURIComponent(key ?? '')}`;
  const first = await read<Page<BookPaper> & { title: string }>(path, signal);
  const content = first.rows.length === 0
    ? [empty('No document', 'Nothing of this month is here.')]
    : pagedTable('Documents', documentColumns, first, path);
  const back = link(`/books?month=${month}`, `Books of ${monthName(month ?? '', 'long')}`);
  return { title: first.title, content: [head(first.title, back), element('div', { className: 'panel' }, ...content)] };
};

function numberOf({ document_number, against }: BookPaper): Node {
  const made = element('span', { className: 'stack' }, code(document_number));
  if (against !== null) made.append(element('span', { className: 'soft' }, `of ${against}`));
  return made;
}

function buyerOf({ buyer, gstin, user_id }: BookPaper): Node {
  const name = buyer ?? 'no name';
  const made = element('span', { className: 'stack' }, user_id === null ? name : link(`/customers/${user_id}`, name));
  if (gstin !== null) made.append(element('span', { className: 'soft' }, gstin));
  return made;
}

const lineColumns: Column<BookLine>[] = [
  { head: 'Gateway id', cell: ({ entity_id }) => code(entity_id) },
  { head: 'Kind', cell: ({ type }) => words(type) },
  { head: 'Document', cell: documentOf },
  { head: 'Amount', cell: ({ amount }) => rupees(amount), isNumber: true },
  { head: 'Fee', cell: ({ fee }) => rupees(fee), isNumber: true },
  { head: 'GST on fee', cell: ({ tax }) => rupees(tax), isNumber: true },
  { head: 'To the bank', cell: ({ credit, debit }) => rupees(credit - debit), isNumber: true },
];

/** What a line of the bank statement consists of. */
export const showSettlement: Show = async (_url, id, signal) => {
  const path = `/settlements/${encodeURIComponent(id)}`;
  const { line, lines } = await read<{ line: BankLine; lines: Page<BookLine> }>(path, signal);
  const others = line.adjustments - line.transfers + line.other;
  const sums = facts([
    ['Payments', rupees(line.payments)],
    ['Fees with GST', rupees(-line.fees - line.gst_on_fees - line.settlement_fees)],
    ['Refunds', rupees(-line.refunds)],
    ['Others', rupees(others)],
    ['To the bank', rupees(line.amount)],
    ['Difference', differenceOf(line)],
  ], 'tiles');
  const month = line.settled_on.slice(0, 7);
  const content = lines.rows.length === 0
    ? [empty('No line yet', 'The gateway reports them some hours after the settlement.')]
    : pagedTable('Lines', lineColumns, lines, `${path}/lines`, 'More');
  const title = `Bank, ${day(line.settled_on)}`;
  const about = element('p', { className: 'lead row' }, 'UTR', code(line.utr), 'settlement', code(id));
  const back = link(`/books?month=${month}`, `Books of ${monthName(month, 'long')}`);
  return { title, content: [head(title, back), about, sums, section('Lines', content)] };
};

function documentOf({ document_number, user_id }: BookLine): Node | string {
  if (document_number === 'other_apps') return 'of another app';
  if (user_id === null) return code(document_number);
  return link(`/customers/${user_id}`, document_number ?? 'the customer');
}
