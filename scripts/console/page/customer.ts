/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { Page } from '../paging.ts';
import type { Commitment, Customer, Finding, IssuedDocument, Payment, Period, TimelineEntry } from '../rows.ts';
import { read } from './api.ts';
import { actionButton } from './dialog.ts';
import { groups } from './findings.ts';
import { amounts, monthsText, time, words } from './format.ts';
import { now } from './clock.ts';
import { pagedTable } from './paged.ts';
import { badge, code, type Column, empty, facts, head, section } from './parts.ts';
import { paymentColumns } from './payments.ts';
import { periodPanel } from './periods.ts';
import { timelinePanel } from './timeline.ts';
import type { Show } from './view.ts';
import { day } from './zone.ts';

type Answer = {
  customer: Customer;
  commitments: Commitment[];
  findings: Finding[];
  periods: Period[];
  payments: Page<Payment>;
  timeline: Page<TimelineEntry>;
  documents: Page<IssuedDocument>;
  keptDays: number | null;
};

const documentColumns = (email: string, who: string): Column<IssuedDocument>[] => [
  { head: 'Date', cell: ({ document_date }) => day(document_date) },
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
  const answer = await read<Answer>(path, signal);
  const { customer, commitments, findings, periods, payments, timeline, documents, keptDays } = answer;
  const who = customer.email ?? customer.name ?? id;
  const aside = element(
    'aside',
    { className: 'panel', ariaLabel: 'About the customer' },
    about(customer, commitments),
    actions(id, who),
  );
  const paid = payments.rows.length === 0
    ? [empty('No payment', 'Orders of this customer appear here as soon as one is created.')]
    : pagedTable('Payments', paymentColumns(id, who), payments, `${path}/payments`);
  const main = element(
    'div',
    { className: 'stack' },
    ...groups(findings),
    periodPanel(periods, commitments, id, who),
    section('Payments', paid),
    ...documents.rows.length === 0
      ? []
      : [section('Receipts', pagedTable('Receipts', documentColumns(id, who), documents, `${path}/documents`))],
    timelinePanel(timeline, `${path}/timeline`, keptDays),
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

function about(customer: Customer, commitments: Commitment[]): HTMLElement {
  const { email, next_charge, last_payment_at, lifetime_amounts, open_findings, signed_up_at, user_id } = customer;
  return facts([
    ['E-mail', email ?? 'none'],
    ['Until', untilOf(customer)],
    ['Billing', billingOf(customer)],
    ['Next charge', next_charge === null ? 'none' : chargeOf(next_charge, commitments)],
    ['Received', amounts(lifetime_amounts, 'nothing')],
    ['Last payment', time(last_payment_at, 'none')],
    ['Open findings', open_findings === 0 ? 'none' : badge(String(open_findings), 'bad')],
    ['Signed up', time(signed_up_at)],
    ['User id', code(user_id)],
  ]);
}

/** The end of what gives the tier. One that is over says what goes on. */
function untilOf({ tier, source_kind, until, grace_until }: Customer): Node {
  if (source_kind === null || tier === 'free') return time(null);
  if (until === null || Date.parse(until) > now()) return time(until, 'no end');
  const goesOn = grace_until === null
    ? ['over, the next charge is awaited']
    : ['over, in the days of grace until ', time(grace_until)];
  return element('span', { className: 'stack' }, time(until), element('span', { className: 'soft' }, ...goesOn));
}

function billingOf({ tier, billing }: Customer): string {
  if (billing === null) return 'nothing runs';
  return tier === 'free' && billing === 'billed' ? 'begins with the first charge' : words(billing);
}

/** The next charge, and what it is for. */
function chargeOf({ at, amount, currency }: NonNullable<Customer['next_charge']>, commitments: Commitment[]): Node {
  const next = commitments.find(({ charge_at, ...of }) => charge_at !== null && of.amount === amount);
  const what = next?.months ? ` for ${monthsText(next.months)} (${next.lookup_key})` : '';
  return element('span', { className: 'stack' }, money(amount, currency) + what, time(at));
}

function actions(user_id: string, who: string): HTMLElement {
  const names = ['grant', 'cancel', 'resume', 'reconcile_now', 'note'] as const;
  return element(
    'div',
    { className: 'actions' },
    ...names.map((action) => actionButton({ action, email: user_id }, who)),
  );
}
