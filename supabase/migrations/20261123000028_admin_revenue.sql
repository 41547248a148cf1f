-- Revenue by month. Reports: they read all payments. Operations: "Revenue".

create view private.paid_periods
with (security_invoker = true)
as
select period.user_id, period.tier, period.currency, period.starts_at, period.ends_at,
  -- A period shorter than four weeks counts by its days.
  round(
    period.price / case
      when period.days < 28 then period.days / 30.4375
      else greatest(1, round(period.days / 30.4375))
    end
  )::bigint as monthly_amount
from (
  select
    p.user_id, p.tier, p.currency, p.amount + coalesce(p.credit, 0) as price, p.period_start as starts_at,
    least(p.period_end, p.ended_at, replaced.at) as ends_at,
    extract(epoch from p.period_end - p.period_start)::float8 / 86400 as days
  from public.payments p
  left join (
    select r.id, min(r.since) as at
    from private.replacements r
    where r.kind = 'payment'
    group by r.id
  ) replaced on replaced.id = p.id::text
  where p.fulfilled_at is not null
  union all
  select
    c.user_id, pl.tier, coalesce(pl.currency, (select min(shop.currency) from public.plans shop), 'INR'), c.amount,
    c.period_start,
    case
      when c.amount > 0 and c.refunded_amount >= c.amount then c.period_start
      else least(
        c.period_end, m.ended_at, case when m.status = 'cancelled' and not m.cancel_at_period_end then m.cancelled_at end,
        replaced.at
      )
    end,
    extract(epoch from c.period_end - c.period_start)::float8 / 86400
  from private.gateway_charges c
  left join private.gateway_subscriptions m
    on m.user_id = c.user_id
    and m.gateway_subscription_id = c.gateway_subscription_id
  left join public.plans pl on pl.id = m.plan_id
  left join (
    select r.id, r.user_id, r.until, min(r.since) as at
    from private.replacements r
    where r.kind = 'gateway_subscription'
    group by r.id, r.user_id, r.until
  ) replaced
    on replaced.id = c.gateway_subscription_id
    and replaced.user_id = c.user_id
    and replaced.until = c.period_end
  where c.amount is not null
) period
where period.ends_at > period.starts_at
  and period.starts_at <= (select private.clock())
  and period.days > 0
  and period.user_id is not null;
comment on view private.paid_periods is
  'The periods for which was paid and that have begun, each until it ended, and their price for a month.';
comment on column private.paid_periods.user_id is 'The customer.';
comment on column private.paid_periods.tier is 'The tier of the period. Null: a cycle without a plan of ours.';
comment on column private.paid_periods.currency is 'The currency of the price.';
comment on column private.paid_periods.starts_at is 'Start of the period.';
comment on column private.paid_periods.ends_at is 'End of the period, or when it ended before, such as by a refund.';
comment on column private.paid_periods.monthly_amount is
  'The price of the period divided by its months, minor currency units. A credit counts as paid.';

create view private.revenue_monthly
with (security_invoker = true)
as
with received as (
  select
    r.currency,
    r.month,
    sum(r.gross) as gross,
    count(r.user_id) filter (where r.month = r.first_month) as new_customers,
    count(r.user_id) filter (where r.month > r.first_month) as renewed_customers
  from (
    select
      g.currency, g.month, g.user_id, g.gross,
      min(g.month) over (partition by g.user_id, g.currency) as first_month
    from (
      select r.currency, date_trunc('month', r.received_at at time zone 'UTC') as month, r.user_id, sum(r.amount) as gross
      from private.receipts r
      group by 1, 2, 3
    ) g
  ) r
  group by r.currency, r.month
),
returned as (
  select r.currency, date_trunc('month', f.created_at at time zone 'UTC') as month, sum(f.amount) as refunded
  from private.refunds f
  join private.receipts r on r.gateway_payment_id = f.gateway_payment_id
  where f.status = 'processed'
  group by 1, 2
),
-- Periods that touch or overlap are one run, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
periods as (
  select
    p.currency, p.user_id, p.starts_at, p.ends_at, p.monthly_amount,
    max(p.ends_at) over (w rows unbounded preceding) as reaches,
    (p.starts_at <= max(p.ends_at) over (w rows between unbounded preceding and 1 preceding)) is not true as is_first,
    lead(p.starts_at) over w as next_at
  from private.paid_periods p
  window w as (partition by p.user_id, p.currency order by p.starts_at, p.ends_at)
),
-- What changes with each period, by month: at its start, at its end, and at the end of its run. A customer is lapsed who does
-- not begin again in the month of the end.
moved as (
  select e.currency, date_trunc('month', e.at at time zone 'UTC') as month, sum(e.active) as active,
    sum(e.lapsed) as lapsed_customers, sum(e.amount) as mrr
  from periods p
  cross join lateral (
    values
      (p.currency, p.starts_at, p.is_first::integer, 0, p.monthly_amount),
      (p.currency, least(p.ends_at, p.next_at), 0, 0, -p.monthly_amount),
      (
        p.currency,
        case when (p.next_at > p.reaches) is not false then p.reaches end,
        -1,
        case
          when date_trunc('month', p.next_at at time zone 'UTC') = date_trunc('month', p.reaches at time zone 'UTC') then 0
          else 1
        end,
        0
      )
  ) e (currency, at, active, lapsed, amount)
  where e.at <= (select private.clock())
  group by 1, 2
),
months as (
  select c.currency, m.month
  from (select r.currency, min(r.month) as first_month from received r group by r.currency) c
  cross join lateral generate_series(
    c.first_month, date_trunc('month', (select private.clock()) at time zone 'UTC'), interval '1 month'
  ) m (month)
)
select
  m.month::date as month,
  m.currency,
  coalesce(r.gross, 0)::bigint as gross,
  coalesce(f.refunded, 0)::bigint as refunded,
  (coalesce(r.gross, 0) - coalesce(f.refunded, 0))::bigint as net,
  coalesce(r.new_customers, 0) as new_customers,
  coalesce(r.renewed_customers, 0) as renewed_customers,
  coalesce(v.lapsed_customers, 0)::bigint as lapsed_customers,
  coalesce(sum(v.active) over running, 0)::bigint as active_customers,
  coalesce(sum(v.mrr) over running, 0)::bigint as mrr
from months m
left join received r on r.currency = m.currency and r.month = m.month
left join returned f on f.currency = m.currency and f.month = m.month
left join moved v on v.currency = m.currency and v.month = m.month
window running as (partition by m.currency order by m.month);
comment on view private.revenue_monthly is
  'Revenue and customers by month and currency, from the first payment to the present month. A report: it reads all '
  'payments. Deleted users count in the amounts, not as customers.';
comment on column private.revenue_monthly.month is 'The first day of the month. Months begin at midnight UTC.';
comment on column private.revenue_monthly.currency is 'The currency of the amounts, which are in minor units.';
comment on column private.revenue_monthly.gross is 'What was captured or charged in the month.';
comment on column private.revenue_monthly.refunded is 'What was refunded in the month, of payments of any month.';
comment on column private.revenue_monthly.net is 'gross minus refunded.';
comment on column private.revenue_monthly.new_customers is 'Customers whose first payment was in the month.';
comment on column private.revenue_monthly.renewed_customers is 'Customers who paid in the month and in an earlier one.';
comment on column private.revenue_monthly.lapsed_customers is
  'Customers whose paid time ended in the month and did not begin again in it.';
comment on column private.revenue_monthly.active_customers is 'Customers with paid time at the month''s end, or now.';
comment on column private.revenue_monthly.mrr is
  'Monthly recurring revenue at the month''s end, or now: the price of each running period divided by its months.';

create view private.active_monthly
with (security_invoker = true)
as
with periods as (
  select
    p.tier, p.starts_at,
    max(p.ends_at) over (w rows unbounded preceding) as reaches,
    (p.starts_at <= max(p.ends_at) over (w rows between unbounded preceding and 1 preceding)) is not true as is_first,
    lead(p.starts_at) over w as next_at
  from private.paid_periods p
  where p.tier is not null
  window w as (partition by p.user_id, p.tier order by p.starts_at, p.ends_at)
),
moved as (
  select e.tier, date_trunc('month', e.at at time zone 'UTC') as month, sum(e.delta) as delta
  from (
    select p.tier, p.starts_at as at, 1 as delta from periods p where p.is_first
    union all
    select p.tier, p.reaches, -1
    from periods p
    where (p.next_at > p.reaches) is not false
      and p.reaches <= (select private.clock())
  ) e
  group by 1, 2
),
months as (
  select t.tier, m.month
  from (select v.tier, min(v.month) as first_month from moved v group by v.tier) t
  cross join lateral generate_series(
    t.first_month, date_trunc('month', (select private.clock()) at time zone 'UTC'), interval '1 month'
  ) m (month)
)
select m.month::date as month, m.tier,
  coalesce(sum(v.delta) over (partition by m.tier order by m.month), 0)::bigint as active_customers
from months m
left join moved v on v.tier = m.tier and v.month = m.month;
comment on view private.active_monthly is
  'Customers with paid time at the end of each month, by tier. A report: it reads all payments.';
comment on column private.active_monthly.month is 'The first day of the month. Months begin at midnight UTC.';
comment on column private.active_monthly.tier is 'The tier that was paid for.';
comment on column private.active_monthly.active_customers is
  'Customers whose paid time of the tier ran at the month''s end, or runs now. Who has paid for two tiers counts in both.';

revoke execute on all functions in schema private from public;
