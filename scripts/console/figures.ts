import { inMonthOf, queryOf, received } from './exports.ts';

/** A line of what a figure of revenue is made of. `amount`: minor units. */
export type FigureLine = {
  at: string;
  user_id: string | null;
  email: string | null;
  tier: string | null;
  /** The gateway's id of the payment or the refund. */
  reference: string | null;
  amount: number;
};

const payments = `select captured_at as at, user_id, email, tier, payment_id as reference, paid as amount
  from (${queryOf('payments')}) x where currency = $1`;
const refunds = `select at, user_id, email, tier, coalesce(refund_id, payment_id) as reference, amount
  from (${queryOf('refunds')}) x where currency = $1`;
/** The first payment of each customer in the month. */
const payers = (isNew: boolean) =>
  `select distinct on (x.user_id) x.* from (${payments}) x
  where x.user_id is not null and ${isNew ? 'not ' : ''}exists (
    select from public.payments p
    where p.user_id = x.user_id and p.currency = $1 and ${received} and p.captured_at < $from
  )
  order by x.user_id, x.at`;
const runsAtEnd = (end: string) => `(${end} >= $until or $until > billing.clock() and ${end} > billing.clock())`;
const line = 'billing.iso_time(p.starts_at) as at, p.user_id, u.email, p.tier, null as reference';
/**
 * The customers with paid time at the end of the month, or now. Of the periods that run then the one that began last counts
 * for the recurring revenue.
 */
const active = `select ${line}, p.monthly_amount as amount
  from (
    select distinct on (p.user_id) p.*
    from billing.paid_periods p
    where p.currency = $1 and p.starts_at < $until and ${runsAtEnd('p.ends_at')}
    order by p.user_id, p.starts_at desc, p.ends_at desc
  ) p
  left join billing.users u on u.user_id = p.user_id`;
/** The customers whose paid time ended in the month without a new one in it. */
const lapsed = `select distinct on (p.user_id) ${line.replace('starts_at', 'ends_at')}, p.monthly_amount as amount
  from billing.paid_periods p
  left join billing.users u on u.user_id = p.user_id
  where p.currency = $1 and p.ends_at >= $from and p.ends_at < $until and p.ends_at <= billing.clock()
    and not exists (
      select from billing.paid_periods q
      where q.user_id = p.user_id and q.currency = $1 and q.starts_at < $until and q.ends_at > p.ends_at
    )
  order by p.user_id, p.ends_at desc`;

/** What each figure is made of: as many lines, or lines of as much. */
const figures = new Map([
  ['gross', payments],
  ['refunded', refunds],
  ['net', `${payments} union all select at, user_id, email, tier, reference, -amount from (${refunds}) x`],
  ['new', payers(true)],
  ['renewed', payers(false)],
  ['active', active],
  ['mrr', active],
  ['lapsed', lapsed],
]);

/** @param month such as 2026-11, which was checked @returns a query with the currency as `$1`; undefined: no such figure */
export function figureQuery(figure: string, month: string): string | undefined {
  const query = figures.get(figure);
  return query && inMonthOf(query, month);
}
