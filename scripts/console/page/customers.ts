/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { FoundCustomer } from '../rows.ts';
import { read } from './api.ts';
import { badge, type Column, empty, head, link, section, table } from './parts.ts';
import type { Show } from './view.ts';

const columns: Column<FoundCustomer>[] = [
  { head: 'Customer', cell: nameOf },
  { head: 'Tier', cell: ({ tier }) => badge(tier, tier === 'free' ? 'quiet' : 'good') },
  { head: 'Found by', cell: ({ found_by }) => element('span', { className: 'soft' }, found_by) },
];

/** The customers that a search finds. */
export const showCustomers: Show = async (url, _id, signal) => {
  const query = url.searchParams.get('q')?.trim() ?? '';
  const found = await read<FoundCustomer[]>(`/customers?q=${encodeURIComponent(query)}`, signal);
  const content = found.length > 0
    ? section(found.length === 1 ? 'One customer' : `${found.length} customers, the best match first`, [
      table('Customers', columns, found),
    ])
    : query === ''
    ? empty(
      'Search for a customer',
      'Type an e-mail address, a name, an order or payment id above. The key / starts it.',
    )
    : empty(`Nothing found for “${query}”`, 'Try the beginning of the e-mail address, or the whole id of a receipt.');
  return { title: 'Customers', content: [head('Customers'), content] };
};

/** The name of a customer, and the e-mail address below it. */
function nameOf({ user_id, name, email }: FoundCustomer): HTMLElement {
  const title = link(`/customers/${user_id}`, name ?? email ?? user_id);
  return element('span', { className: 'stack' }, title, element('span', { className: 'soft' }, email ?? 'no e-mail'));
}
