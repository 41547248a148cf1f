import type pg from 'pg';
import { amount } from '../books/amounts.ts';
import { readRows } from '../books/database.ts';
import type { Value } from './csv.ts';
import type { FileWork } from './file-maker.ts';

type Row = Record<string, string | number | null>;
/** A table: its columns, those of them that are amounts or times, and the query of its rows, in which `$from` and `$until` are times. */
type Export = { name: string; columns: string[]; amounts: string[]; times: string[]; query: string };

const decimals = 'billing.minor_units(x.currency) as decimals';
const inMonth = (column: string) => `${column} >= $from and ${column} < $until`;
/** What revenue counts as received. */
export const received = "p.status = 'captured' and (p.extra_of is null or p.confirmed_at is not null)";

/** What leaves as a table. Payments and refunds are those of the month, and add up to its revenue. */
const exports: Export[] = [
  {
    name: 'payments',
    columns: [
      ...['captured_at', 'payment_id', 'order_id', 'subscription_id', 'user_id', 'email', 'tier', 'price', 'months'],
      ...['currency', 'paid', 'refunded', 'fee_inr', 'fee_tax_inr', 'period_start', 'period_end'],
    ],
    amounts: ['paid', 'refunded'],
    times: ['captured_at', 'period_start', 'period_end'],
    query: `select billing.iso_time(p.captured_at) as captured_at, p.gateway_payment_id as payment_id,
        p.gateway_order_id as order_id, p.gateway_subscription_id as subscription_id, p.user_id, u.email, p.tier,
        coalesce(p.price_key, p.tier) as price, p.duration_months as months, p.currency,
        coalesce(p.paid_amount, p.amount) as paid, p.refunded_amount as refunded, s.fee - s.tax as fee_inr,
        s.tax as fee_tax_inr, billing.iso_time(p.period_start) as period_start, billing.iso_time(p.period_end) as period_end
      from public.payments p
      left join billing.users u on u.user_id = p.user_id
      left join lateral (
        select v.* from billing.standing_lines v where v.entity_id = p.gateway_payment_id
      ) s on s.type = 'payment'
      where ${received} and ${inMonth('p.captured_at')}
      order by p.captured_at, p.id`,
  },
  {
    name: 'refunds',
    columns: ['at', 'kind', 'refund_id', 'payment_id', 'user_id', 'email', 'tier', 'currency', 'amount'],
    amounts: ['amount'],
    times: ['at'],
    query: `select billing.iso_time(l.at) as at, l.kind, l.refund_id, p.gateway_payment_id as payment_id, p.user_id,
        u.email, p.tier, p.currency, l.amount
      from public.payments p
      cross join lateral (
        select f.created_at as at, 'refund' as kind, f.refund_id, f.amount
        from billing.refunds f
        where f.gateway_payment_id = p.gateway_payment_id and f.status = 'processed' and p.refunded_amount > 0
        union all
        select d.at, 'dispute lost', null, d.amount from billing.losses(p) d where p.dispute_status is not null
      ) l
      left join billing.users u on u.user_id = p.user_id
      where ${received} and (p.refunded_amount > 0 or p.dispute_status is not null) and ${inMonth('l.at')}
      order by l.at, p.id`,
  },
  {
    name: 'customers',
    columns: [
      ...['user_id', 'email', 'name', 'signed_up_at', 'tier', 'source', 'until', 'billing', 'next_charge_at'],
      ...['next_charge', 'next_charge_currency', 'last_payment_at', 'currency', 'received'],
    ],
    amounts: ['next_charge', 'received'],
    times: ['signed_up_at', 'until', 'next_charge_at', 'last_payment_at'],
    query: `select c.user_id, c.email, c.name, billing.iso_time(c.signed_up_at) as signed_up_at, c.tier,
        c.source_kind as source, billing.iso_time(c.until) as until, c.billing, c.next_charge ->> 'at' as next_charge_at,
        round((c.next_charge ->> 'amount')::bigint / 10::numeric ^ own.digits, own.digits)::text as next_charge,
        c.next_charge ->> 'currency' as next_charge_currency, billing.iso_time(c.last_payment_at) as last_payment_at,
        paid.currency, paid.amount::bigint as received
      from billing.customers c
      cross join lateral (select billing.minor_units(c.next_charge ->> 'currency') as digits) own
      left join lateral jsonb_each_text(c.lifetime_amounts) paid (currency, amount) on true
      order by c.user_id, paid.currency`,
  },
  {
    name: 'subscriptions',
    columns: [
      ...['user_id', 'email', 'tier', 'status', 'period_start', 'period_end', 'ends_with_period', 'cancelled_at'],
      ...['ended_reason', 'subscription_id', 'price', 'months', 'currency', 'price_amount'],
    ],
    amounts: ['price_amount'],
    times: ['period_start', 'period_end', 'cancelled_at'],
    query: `select s.user_id, u.email, s.tier, s.status, billing.iso_time(s.current_period_start) as period_start,
        billing.iso_time(s.current_period_end) as period_end,
        case when s.cancel_at_period_end then 'yes' else 'no' end as ends_with_period,
        billing.iso_time(s.cancelled_at) as cancelled_at, s.ended_reason, s.gateway_subscription_id as subscription_id,
        coalesce(s.price_key, case when s.price_amount is not null then s.tier end) as price, s.duration_months as months,
        s.currency, s.price_amount
      from public.subscriptions s
      left join billing.users u on u.user_id = s.user_id
      order by s.user_id`,
  },
];

/** Writes the payments and refunds of a month of the seller, and all customers and subscriptions. */
export const exportWork: FileWork = {
  name: 'exports',
  async count(client, month) {
    const counts = exports.map(({ query }) => `(select count(*) from (${inMonthOf(query, month)}) x)`);
    // All customers are counted without what is said of them.
    counts[2] = '(select count(*) from billing.users)';
    const { rows: [counted] } = await client.query<{ total: string }>(`select ${counts.join(' + ')} as total`);
    return Number(counted?.total);
  },
  async write(client, month, files, progress) {
    for (const table of exports) {
      const write = await files.openTable(table.name, table.columns);
      for await (const row of rowsOf(client, inMonthOf(table.query, month))) {
        await write(table.columns.map((column) => valueOf(row, column, table)));
        progress.step();
      }
    }
  },
};

/** The query of a table. */
export function queryOf(name: 'payments' | 'refunds'): string {
  return exports.find((file) => file.name === name)?.query ?? '';
}

function rowsOf(client: pg.Client, query: string): AsyncGenerator<Row> {
  return readRows<Row>(client, `select to_json(r) from (select x.*, ${decimals} from (${query}) x) r`);
}

/** Puts the times of a month into a query. @param month such as 2026-11, which was checked */
export function inMonthOf(query: string, month: string): string {
  const start = (months: number) =>
    `((date '${month}-01' + interval '${months} months')::timestamp at time zone billing.time_zone())`;
  return query.replaceAll('$from', start(0)).replaceAll('$until', start(1));
}

function valueOf(row: Row, column: string, { amounts, times }: Export): Value {
  const value = row[column] ?? null;
  if (typeof value === 'string' && times.includes(column)) return { date: value };
  // The next charge has its own currency: the query wrote its decimals.
  if (typeof value === 'string' && amounts.includes(column)) return { exact: value };
  if (typeof value !== 'number') return value;
  if (column.endsWith('_inr')) return amount(value);
  return amounts.includes(column) ? amount(value, Number(row.decimals)) : value;
}
