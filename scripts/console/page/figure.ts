/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { FigureLine } from '../figures.ts';
import type { Page } from '../paging.ts';
import { read } from './api.ts';
import { time } from './format.ts';
import { monthName } from './months.ts';
import { pagedTable } from './paged.ts';
import { code, type Column, empty, head, link } from './parts.ts';
import type { Show } from './view.ts';

type Answer = Page<FigureLine> & { sums: { lines: number; amount: number } };

/** The figures that are opened, and what a line of each is. */
const figures: Record<string, string> = {
  gross: 'Payments captured',
  refunded: 'Refunds and lost disputes',
  net: 'Payments, refunds and lost disputes',
  new: 'Customers who paid for the first time',
  renewed: 'Customers who paid again',
  active: 'Customers with paid time at the end',
  mrr: 'Monthly recurring revenue, by customer',
  lapsed: 'Customers whose paid time ended',
};

/** A link from a figure of a month to what it is made of. */
export function figureLink(month: string, figure: string, currency: string, text: string): HTMLAnchorElement {
  const made = link(`/revenue/${month.slice(0, 7)}?of=${figure}&currency=${currency}`, text);
  made.ariaLabel = `${text}: ${figures[figure]} in ${monthName(month, 'long')}`;
  return made;
}

/** What a figure of a month is made of, as it is now. */
export const showFigure: Show = async (url, month, signal) => {
  const figure = url.searchParams.get('of') ?? '';
  const currency = url.searchParams.get('currency') ?? '';
  const path = `/revenue/${month}/lines?of=${encodeURIComponent(figure)}&currency=${encodeURIComponent(currency)}`;
  const first = await read<Answer>(path, signal);
  const title = `${figures[figure]}, ${monthName(month, 'long')}`;
  const { lines, amount } = first.sums;
  const what = figures[figure]?.startsWith('Customers') ? 'customer' : 'line';
  const counted = `${lines.toLocaleString('en')} ${lines === 1 ? what : `${what}s`}`;
  const count = `${what === 'line' ? `${counted}, ${money(amount, currency)}` : counted}, as it is now.`;
  const columns: Column<FigureLine>[] = [
    { head: 'When', cell: ({ at }) => time(at) },
    { head: 'Customer', cell: customerOf },
    { head: 'Tier', cell: ({ tier }) => tier ?? '–' },
    { head: 'At the gateway', cell: ({ reference }) => code(reference) },
    { head: 'Amount', cell: (line) => money(line.amount, currency), isNumber: true },
  ];
  const table = lines === 0
    ? [empty('None', 'The figure is as old as the last pass over all customers; this list is of now.')]
    : pagedTable(title, columns, first, path);
  const back = link(`/revenue?currency=${currency}`, 'Revenue');
  const content = [head(title, back), element('p', { className: 'lead' }, count)];
  return { title, content: [...content, element('div', { className: 'panel' }, ...table)] };
};

function customerOf({ user_id, email }: FigureLine): Node | string {
  return user_id === null ? 'deleted' : link(`/customers/${user_id}`, email ?? user_id);
}
