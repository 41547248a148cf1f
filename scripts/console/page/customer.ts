/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { Page } from '../paging.ts';
import type { BilledPrice, Customer, Finding, IssuedDocument, Payment, Period, TimelineEntry } from '../rows.ts';
import { read } from './api.ts';
import { actionButton } from './dialog.ts';
import { groups } from './findings.ts';
import { amounts, monthsText, time, words } from './format.ts';
import { olderButton, pagedTable } from './paged.ts';
import { badge, code, type Column, empty, facts, head, link, section, type Tone } from './parts.ts';
import { periodPanel } from './periods.ts';
import type { Show } from './view.ts';

type Answer = {
  customer: Customer;
  billed: BilledPrice | null;
  findings: Finding[];
  periods: Period[];
  payments: Page<Payment>;
  timeline: Page<TimelineEntry>;
  documents: Page<IssuedDocument>;
};

const tones: Record<string, Tone> = { captured: 'good', failed: 'bad', created: 'quiet' };
const columnsFor = (id: string, who: string): Column<Payment>[] => [
  { head: 'When', cell: ({ at }) => time(at) },
  { head: 'Tier', cell: sold },
  { head: 'Amount', cell: ({ amount, currency }) => amount === null ? '–' : money(amount, currency), isNumber: true },
  { head: 'Status', cell: status },
  { head: 'Attempts', cell: attemptsOf },
  { head: 'Order, payment', cell: ids },
  { head: 'Refund', cell: (payment) => refundButton(payment, id, who) },
];

const documentColumns = (email: string, who: string): Column<IssuedDocument>[] => [
  { head: 'Date', cell: ({ issued_at }) => time(issued_at, '–', 'day') },
  { head: 'Number', cell: ({ document_number }) => code(document_number) },
  { head: 'Kind', cell: ({ title }) => title },
  { head: 'Total', cell: ({ total, currency }) => money(total, currency), isNumber: true },
  { head: 'Payment', cell: ({ gateway_payment_id: payment }) => payment === null ? '–' : code(payment) },
  {
    head: 'Reissue',
    cell: ({ document_number: reference, can_be_reissued: can }) =>
      can ? actionButton({ action: 'reissue', email, reference }, who) : '',
  },
];

/** One customer: the tier and why, the periods, the payments, and everything that happened. */
export const showCustomer: Show = async (_url, id, signal) => {
  const path = `/customers/${id}`;
  const { customer, billed, findings, periods, payments, timeline, documents } = await read<Answer>(path, signal);
  const who = customer.email ?? customer.name ?? id;
  const aside = element(
    'aside',
    { className: 'panel', ariaLabel: 'About the customer' },
    about(customer, billed),
    actions(id, who),
  );
  const paid = payments.rows.length === 0
    ? [empty('No payment', 'Orders of this customer appear here as soon as one is created.')]
    : pagedTable('Payments', columnsFor(id, who), payments, `${path}/payments`);
  const main = element(
    'div',
    { className: 'stack' },
    ...groups(findings),
    periodPanel(periods, id, who),
    section('Payments', paid),
    ...documents.rows.length === 0
      ? []
      : [section('Receipts', pagedTable('Receipts', documentColumns(id, who), documents, `${path}/documents`))],
    section('Timeline', timelineOf(timeline, `${path}/timeline`)),
  );
  return { title: who, content: [title(customer), element('div', { className: 'columns' }, main, aside)] };
};

function title(customer: Customer): HTMLElement {
  const { name, email, tier, why, user_id } = customer;
  const what = element(
    'p',
    { id: 'why', className: 'lead' },
    badge(tier, tier === 'free' ? 'quiet' : 'good'),
    ` ${why ?? ''}`,
  );
  return element('div', {}, head(name ?? email ?? user_id), what);
}

function about(customer: Customer, billed: BilledPrice | null): HTMLElement {
  const {
    email,
    until,
    billing,
    next_charge,
    last_payment_at,
    lifetime_amounts,
    open_findings,
    signed_up_at,
    user_id,
  } = customer;
  return facts([
    ['E-mail', email ?? 'none'],
    ['Until', time(until, billing === null ? '–' : 'no end')],
    ['Billing', billing === null ? 'nothing runs' : words(billing)],
    ...billed === null ? [] : [billedFact(billed)],
    ['Next charge', next_charge === null ? 'none' : chargeOf(next_charge)],
    ['Received', amounts(lifetime_amounts, 'nothing')],
    ['Last payment', time(last_payment_at, 'none')],
    ['Open findings', open_findings === 0 ? 'none' : badge(String(open_findings), 'bad')],
    ['Signed up', time(signed_up_at)],
    ['User id', code(user_id)],
  ]);
}

function chargeOf({ at, amount, currency }: NonNullable<Customer['next_charge']>): Node {
  return element('span', { className: 'stack' }, money(amount, currency), time(at));
}

function billedFact({ lookup_key, amount, currency, months }: BilledPrice): [string, string] {
  return ['Billed price', `${money(amount, currency)} for ${monthsText(months)} (${lookup_key})`];
}

function actions(user_id: string, who: string): HTMLElement {
  const names = ['grant', 'cancel', 'resume', 'reconcile_now', 'note'] as const;
  return element(
    'div',
    { className: 'actions' },
    ...names.map((action) => actionButton({ action, email: user_id }, who)),
  );
}

function sold({ tier, price_key, months }: Payment): Node {
  const price = [price_key !== tier && price_key, months && monthsText(months)].filter(Boolean).join(', ');
  return element('span', { className: 'stack' }, tier ?? '–', element('span', { className: 'soft' }, price));
}

function status({ status, refunded_amount, currency, disputes }: Payment): Node {
  const made = element('span', { className: 'row tight' }, badge(status, tones[status] ?? 'wait'));
  if (refunded_amount) made.append(badge(`refunded ${money(refunded_amount, currency)}`, 'wait'));
  for (const { id, phase, amount, status } of disputes ?? []) {
    const told = [id, phase?.replaceAll('_', ' '), amount === null ? '' : money(amount, currency)];
    made.append(
      badge(`dispute ${status}`, 'bad'),
      element('span', { className: 'soft' }, told.filter(Boolean).join(', ')),
    );
  }
  return made;
}

function attemptsOf({ attempts, last_error }: Payment): Node | string {
  const count = String(attempts ?? '–');
  return last_error
    ? element('span', { className: 'stack' }, count, element('span', { className: 'soft' }, last_error))
    : count;
}

function ids({ gateway_order_id, gateway_payment_id }: Payment): Node {
  const given = [gateway_order_id, gateway_payment_id].filter((id) => id !== null);
  return element('span', { className: 'stack' }, ...given.map(code));
}

function refundButton(payment: Payment, email: string, who: string): Node | string {
  const { gateway_payment_id: reference, refundable_amount } = payment;
  return refundable_amount > 0 ? actionButton({ action: 'refund', email, reference }, who, undefined, payment) : '';
}

function timelineOf(first: Page<TimelineEntry>, path: string): HTMLElement[] {
  const list = element('ol', { className: 'timeline' }, ...first.rows.map(entry));
  return [list, ...olderButton<TimelineEntry>(first, path, (rows) => list.append(...rows.map(entry)))];
}

function entry({ at, what, reference, detail, link: address }: TimelineEntry): HTMLElement {
  const line = element('div', { className: 'row' }, element('strong', {}, words(what)), time(at));
  if (what === 'mail') line.append(link(`/messages/${reference}`, 'Show the mail'));
  else if (reference !== null) line.append(code(reference));
  // A link of the database leads out of the console.
  if (address?.startsWith('https://')) {
    line.append(element('a', { href: address, target: '_blank', rel: 'noreferrer' }, 'At the gateway'));
  }
  return element('li', { className: what }, line, element('p', {}, detail));
}
