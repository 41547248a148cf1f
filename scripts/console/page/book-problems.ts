/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { BookProblem } from '../book-rows.ts';
import { words } from './format.ts';
import { code, link, section } from './parts.ts';

/** What to do about each problem of `billing.book_problems`. */
const advice: Readonly<Record<string, string>> = {
  state_missing:
    'Ask the customer for the state, then reissue the invoice on the customer’s page; of a deleted customer, ask the accountant.',
  buyer_incomplete:
    'Ask the customer for name and address, then reissue the invoice on the customer’s page; of a deleted customer, ask the accountant.',
  rupees_missing:
    'Look the payment up at the gateway: its value in rupees is in its settlement. The accountant adds it to the return.',
  export_paid_in_rupees: 'Ask the accountant: IGST is due, unless the customer pays in foreign exchange.',
  sac_missing: 'Set billing.settings.sac, then reissue the invoice.',
  tax_missing: 'Set billing.settings.tax_rate, then reissue the invoice.',
  einvoice_needed: 'Make the e-invoice at the portal: without its number this is no invoice.',
  seller_differs: 'The accountant takes the document out of the return: it belongs to that of its own GSTIN.',
  note_too_late: 'Nothing can be done here: tell the accountant that the tax stays due.',
  note_of_failed_refund:
    'Refund the payment again: the note stands for that, too. Or ask the accountant for a debit note.',
  note_of_won_dispute: 'Ask the accountant for a debit note: the money is back, and the note stands.',
  note_above_dispute: 'Ask the accountant for a debit note: the dispute took less than the note.',
  document_waiting: 'Look at Today: the sweep issues documents each minute. The month cannot be closed before.',
  settlement_incomplete: 'Wait for the lines of the gateway, or compare the settlement with its dashboard.',
  settlement_difference: 'Compare the lines of the settlement with the dashboard of the gateway.',
  payment_unsettled: 'Look the payment up at the gateway: nothing has settled it for ten days.',
};

/** The problems by their kind, each with what to do. */
export function problemPanel(month: string, problems: BookProblem[]): HTMLElement {
  const csv = element('a', {
    href: `/api/books/${month}/problems.csv`,
    download: `${month}-problems.csv`,
    className: 'button',
  }, 'Download CSV');
  const kinds = Object.entries(Object.groupBy(problems, ({ problem }) => problem));
  const parts = kinds.flatMap(([kind, rows = []]) => {
    const total = rows[0]?.total ?? 0;
    const more = total > rows.length
      ? [element('li', { className: 'soft' }, `and ${total - rows.length} more, in the CSV file`)]
      : [];
    return [
      element('h3', {}, words(kind), element('span', { className: 'count' }, String(total))),
      element('p', { className: 'advice' }, advice[kind] ?? rows[0]?.detail ?? ''),
      element('ul', { className: 'findings' }, ...rows.map(one), ...more),
    ];
  });
  return Object.assign(section('Problems', parts, csv), { id: 'problems' });
}

function one({ problem, document_number, detail, user_id, email, payment_id }: BookProblem): HTMLElement {
  const line = element('div', { className: 'row' });
  if (document_number !== null) line.append(code(document_number));
  if (problem.startsWith('settlement_')) line.append(link(`/books/settlements/${detail}`, detail));
  else line.append(element('span', { className: 'soft' }, detail));
  if (user_id !== null) line.append(link(`/customers/${user_id}`, email ?? 'the customer'));
  else if (payment_id !== null && document_number === null) line.append(code(payment_id));
  return element('li', {}, line);
}
