/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { ActiveMonth, RevenueMonth } from '../revenue-rows.ts';
import { read } from './api.ts';
import { barChart } from './bar-chart.ts';
import { figureLink } from './figure.ts';
import { filePanel } from './files.ts';
import { time } from './format.ts';
import { type Column, empty, facts, head, section, table, tabs } from './parts.ts';
import { lastMonths, monthName, valuesOf } from './months.ts';
import type { Show } from './view.ts';

type Answer = { revenue: RevenueMonth[]; active: ActiveMonth[]; asOf: string | null };

/** Twelve months of money and customers, in one currency. */
export const showRevenue: Show = async (url, _id, signal) => {
  const { revenue, active, asOf } = await read<Answer>('/revenue', signal);
  const currencies = [...new Set(revenue.map(({ currency }) => currency))].toSorted();
  const currency = currencies.find((one) => one === url.searchParams.get('currency')) ?? currencies[0];
  if (currency === undefined) {
    const none = empty('No revenue yet', 'The first captured payment fills this page with its month.');
    return { title: 'Revenue', content: [head('Revenue'), none] };
  }
  const rows = revenue.filter((row) => row.currency === currency);
  const months = lastMonths([...rows, ...active].map(({ month }) => month));
  const wanted = url.searchParams.get('month');
  const month = months.find((one) => one === wanted) ?? months.at(-1) ?? '';
  const files = await filePanel('revenue', month, signal, monthField(months, month, currency));
  const address = `/revenue?currency=${currency}`;
  const choice = currencies.length < 2
    ? []
    : [tabs('Currency', currencies.map((one) => [one, `/revenue?currency=${one}`]), address)];
  const csv = element('a', {
    href: `/api/revenue.csv?currency=${currency}`,
    download: 'revenue.csv',
    className: 'button',
  });
  csv.append('Download CSV');
  const figures = element('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Figures' });
  figures.append(table('Month by month', columnsOf(currency), rows.toReversed()));
  const content = [
    head('Revenue', ...choice, csv),
    element('p', { className: 'lead' }, ...age(asOf)),
    summary(rows.at(-1), currency),
    element('div', { className: 'plots' }, ...plots(rows, active, months, currency)),
    section('Month by month', [figures]),
    files.panel,
  ];
  return { title: 'Revenue', content };
};

/** Chooses the month of the tables. */
function monthField(months: string[], month: string, currency: string): HTMLSelectElement {
  const field = element(
    'select',
    { id: 'month', ariaLabel: 'Month' },
    ...months.toReversed().map((one) => (
      element('option', { value: one, selected: one === month }, monthName(one, 'long'))
    )),
  );
  field.onchange = () => {
    history.pushState(null, '', `/revenue?currency=${currency}&month=${field.value}`);
    dispatchEvent(new Event('console:changed'));
  };
  return field;
}

/** The figures are summed up in passes over all customers. */
function age(asOf: string | null): (string | Node)[] {
  return asOf === null
    ? ['The first pass over all customers runs: the figures are not complete yet.']
    : ['As of ', time(asOf), '.'];
}

function summary(newest: RevenueMonth | undefined, currency: string): HTMLElement {
  const { month = '', net = 0, mrr = 0, active_customers = 0, new_customers = 0, lapsed_customers = 0 } = newest ?? {};
  const churn = newest?.churn_percent ?? null;
  const open = (figure: string, text: string) => figureLink(month, figure, currency, text);
  const newAndLapsed = [open('new', String(new_customers)), ', ', open('lapsed', String(lapsed_customers))];
  return facts([
    [`Net in ${monthName(month, 'long')}`, open('net', money(net, currency))],
    ['Monthly recurring', open('mrr', money(mrr, currency))],
    ['Active customers', open('active', String(active_customers))],
    ['New, lapsed', element('span', {}, ...newAndLapsed)],
    ['Churn', churn === null ? '–' : open('lapsed', percent(churn))],
  ], 'tiles');
}

function plots(rows: RevenueMonth[], active: ActiveMonth[], months: string[], currency: string): HTMLElement[] {
  const places = months.map((month) => monthName(month, 'short'));
  const tiers = [...new Set(active.map(({ tier }) => tier))].toSorted();
  const byTier = tiers.map((name) => ({
    name,
    values: valuesOf(active.filter(({ tier }) => tier === name), months, ({ active_customers }) => active_customers),
  }));
  const whole = (value: number) => Math.abs(value).toLocaleString('en');
  const compact = (value: number) => money(value, currency).replace(/[.,]00$/, '');
  return [
    section('Net by month', [barChart({
      label: `Net revenue by month in ${currency}; the table below has the numbers.`,
      places,
      series: [{ name: 'net', values: valuesOf(rows, months, ({ net }) => net) }],
      format: compact,
    })]),
    section('Active customers by tier', [barChart({
      label: 'Active customers at the end of each month, by tier.',
      places,
      series: byTier,
      format: whole,
    })]),
    section('New against lapsed', [barChart({
      label: 'New customers of each month above the line, lapsed ones below it; the table below has the numbers.',
      places,
      series: [
        { name: 'new', values: valuesOf(rows, months, ({ new_customers }) => new_customers) },
        { name: 'lapsed', values: valuesOf(rows, months, ({ lapsed_customers }) => -lapsed_customers) },
      ],
      format: whole,
    })]),
  ];
}

const percent = (value: number) => `${value} %`;

function columnsOf(currency: string): Column<RevenueMonth>[] {
  const opened = (head: string, of: (row: RevenueMonth) => number, format: (value: number) => string) => (
    {
      head,
      cell: (row: RevenueMonth) => figureLink(row.month, head.toLowerCase(), currency, format(of(row))),
      isNumber: true,
    }
  );
  const amount = (head: string, of: (row: RevenueMonth) => number) =>
    opened(head, of, (value) => money(value, currency));
  const count = (head: string, of: (row: RevenueMonth) => number) => opened(head, of, String);
  return [
    { head: 'Month', cell: ({ month }) => monthName(month, 'long') },
    amount('Gross', ({ gross }) => gross),
    amount('Refunded', ({ refunded }) => refunded),
    amount('Net', ({ net }) => net),
    amount('MRR', ({ mrr }) => mrr),
    count('New', ({ new_customers }) => new_customers),
    count('Renewed', ({ renewed_customers }) => renewed_customers),
    count('Lapsed', ({ lapsed_customers }) => lapsed_customers),
    count('Active', ({ active_customers }) => active_customers),
    {
      head: 'Churn',
      cell: ({ month, churn_percent: churn }) =>
        churn === null ? '–' : figureLink(month, 'lapsed', currency, percent(churn)),
      isNumber: true,
    },
  ];
}
