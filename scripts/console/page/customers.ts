/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Customer } from '../rows.ts';
import { read } from './api.ts';
import { amounts, time } from './format.ts';
import { badge, type Column, empty, head, link, section, table } from './parts.ts';
import type { Show } from './view.ts';

const columns: Column<Customer>[] = [
  { head: 'Customer', cell: (customer) => link(`/customers/${customer.user_id}`, nameOf(customer)) },
  { head: 'Tier', cell: ({ tier }) => badge(tier, tier === 'free' ? 'quiet' : 'good') },
  { head: 'Until', cell: ({ until }) => time(until, '–', 'day') },
  { head: 'Billing', cell: ({ billing }) => billing ?? '–' },
  { head: 'Last payment', cell: ({ last_payment_at }) => time(last_payment_at, 'none', 'day') },
  { head: 'Received', cell: ({ lifetime_amounts }) => amounts(lifetime_amounts), isNumber: true },
  { head: 'Findings', cell: ({ open_findings }) => findings(open_findings), isNumber: true },
];

/** The customers that a search finds. */
export const showCustomers: Show = async (url, _id, signal) => {
  const query = url.searchParams.get('q')?.trim() ?? '';
  const found = await read<Customer[]>(`/customers?q=${encodeURIComponent(query)}`, signal);
  const content = found.length > 0
    ? section(query === '' ? 'Newest' : `Found ${found.length}`, [table('Customers', columns, found)])
    : query === ''
    ? empty(
      'Search for a customer',
      'Type an e-mail address, a name, an order id or a payment id above. Press / to start.',
    )
    : empty(
      `Nothing found for “${query}”`,
      'Try the beginning of the e-mail address, or the whole id from the receipt.',
    );
  return { title: 'Customers', content: [head('Customers'), content] };
};

/** The name of a customer, and the e-mail address below it. */
function nameOf({ email, name, user_id }: Customer): HTMLElement {
  const title = element('strong', {}, name ?? email ?? user_id);
  return element('span', { className: 'stack' }, title, element('span', { className: 'soft' }, email ?? 'no e-mail'));
}

function findings(count: number): Node | string {
  return count === 0 ? '–' : badge(String(count), 'bad');
}
