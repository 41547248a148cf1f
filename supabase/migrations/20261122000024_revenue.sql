-- Revenue by month. Reports: they read all payments. Operations: "Revenue".

create view billing.periods with (security_invoker = true) as
select
  u.user_id, line.kind, line.source_id, line.tier, line.starts_at, line.ends_at, line.ended_at,
  coalesce(
    (line.kind, line.source_id) = (live.kind, live.id) and line.starts_at < live.ends_at and line.ends_at >= live.ends_at,
    false
  ) as is_ruling
from billing.users u
cross join lateral (select billing.find_ruling(u.user_id) as ruling offset 0) found
left join lateral (select ((found.ruling).source).* where (found.ruling).is_live) live on true
cross join lateral (
  select
    s.kind, s.id as source_id, s.tier,
    case
      when s.kind = 'payment' then (select p.period_start from public.payments p where p.id = s.id::uuid)
      else s.starts_at
    end as starts_at,
    s.ends_at, s.ended_at
  from billing.sources s
  where s.user_id = u.user_id
    and (
      s.kind <> 'gateway_subscription'
      -- A trial, or a first cycle that was announced by its activation alone.
      or not exists (
        select from public.payments c
        where (c.user_id, c.gateway_subscription_id) = (s.user_id, s.id) and c.period_end = s.ends_at
      )
    )
  union all
  select
    'gateway_subscription', c.gateway_subscription_id, s.tier, c.period_start, c.period_end,
    case
      when bool_and(billing.is_refunded(c.amount, c.refunded_amount)) then least(c.period_end, max(f.created_at))
      when max(s.ended_at) < c.period_end then greatest(max(s.ended_at), c.period_start)
    end
  from public.payments c
  left join billing.sources s
    on s.user_id = c.user_id
    and s.kind = 'gateway_subscription'
    and s.id = c.gateway_subscription_id
  left join billing.refunds f on f.gateway_payment_id = c.gateway_payment_id and f.status = 'processed'
  where c.user_id = u.user_id and c.gateway_subscription_id is not null
  group by c.gateway_subscription_id, s.tier, c.period_start, c.period_end
) line;
comment on view billing.periods is
  'The paid, granted and written periods of each customer, and the cycles; overlaps included. Filter it by user_id.';
comment on column billing.periods.kind is 'payment, gateway_subscription, grant or manual (a row written by hand).';
comment on column billing.periods.ends_at is 'End of the period, without the days of grace. Null: no end.';
comment on column billing.periods.ended_at is 'When its access ended early, such as by a refund in full. Null: it did not.';

create view billing.paid_periods with (security_invoker = true) as
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
    case
      when p.gateway_subscription_id is not null and billing.is_refunded(p.amount, p.refunded_amount) then p.period_start
      else least(
        p.period_end, p.ended_at, m.ended_at,
        case when m.status = 'cancelled' and not m.cancel_at_period_end then m.cancelled_at end,
        (
          select min(r.since)
          from billing.replacements r
          where r.user_id = p.user_id
            and r.id = coalesce(p.gateway_subscription_id, p.id::text)
            and (p.gateway_subscription_id is null or r.until = p.period_end)
        )
      )
    end as ends_at,
    extract(epoch from p.period_end - p.period_start)::float8 / 86400 as days
  from public.payments p
  left join billing.gateway_subscriptions m using (user_id, gateway_subscription_id)
  where p.fulfilled_at is not null or p.gateway_subscription_id is not null
) period
where period.ends_at > period.starts_at
  and period.starts_at <= (select billing.clock())
  and period.days > 0
  and period.user_id is not null;
comment on view billing.paid_periods is 'The paid periods that have begun, until they ended, and their price for a month.';
comment on column billing.paid_periods.monthly_amount is 'The price for a month, minor units. A credit counts as paid.';

-- What changes with each paid period, by month and currency and by month and tier: at its start, at its end, and at the end of
-- its run. Periods that touch or overlap are one run, so that a renewal is neither an end nor a start. Of those that overlap,
-- the one that began last counts for the recurring revenue.
create view billing.paid_moves with (security_invoker = true) as
select
  p.kind, p.name, date_trunc('month', e.at at time zone 'UTC') as month, sum(e.active) as active, sum(e.lapsed) as lapsed,
  sum(e.amount) as mrr
from (
  select
    d.kind, d.name, p.starts_at, p.ends_at, p.monthly_amount,
    max(p.ends_at) over (w rows unbounded preceding) as reaches,
    (p.starts_at <= max(p.ends_at) over (w rows between unbounded preceding and 1 preceding)) is not true as is_first,
    lead(p.starts_at) over w as next_at
  from billing.paid_periods p
  cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
  where d.name is not null
  window w as (partition by p.user_id, d.kind, d.name order by p.starts_at, p.ends_at)
) p
cross join lateral (
  values
    (p.starts_at, p.is_first::integer, 0, p.monthly_amount),
    (least(p.ends_at, p.next_at), 0, 0, -p.monthly_amount),
    (
      case when (p.next_at > p.reaches) is not false then p.reaches end,
      -1,
      -- A customer who begins again in the month of the end has not lapsed.
      (date_trunc('month', p.next_at, 'UTC') is distinct from date_trunc('month', p.reaches, 'UTC'))::integer,
      0
    )
) e (at, active, lapsed, amount)
where e.at <= (select billing.clock())
group by 1, 2, 3;
comment on view billing.paid_moves is 'How customers and recurring revenue changed in each month, by currency and by tier.';

create view billing.revenue_monthly with (security_invoker = true) as
with monthly as (
  select
    g.currency, g.month, sum(g.gross)::bigint as gross, sum(g.refunded)::bigint as refunded,
    count(g.user_id) filter (where g.month = g.first_month) as new_customers,
    count(g.user_id) filter (where g.month > g.first_month) as renewed_customers
  from (
    select
      l.currency, l.user_id, l.month, sum(l.gross) as gross, sum(l.refunded) as refunded,
      min(l.month) over (partition by l.user_id, l.currency) as first_month
    from (
      select
        r.currency, r.user_id, date_trunc('month', r.received_at at time zone 'UTC') as month, r.amount as gross,
        0 as refunded
      from billing.receipts r
      union all
      select r.currency, null, date_trunc('month', f.created_at at time zone 'UTC'), 0, f.amount
      from billing.refunds f
      join billing.receipts r on r.gateway_payment_id = f.gateway_payment_id
      where f.status = 'processed'
      union all
      select
        p.currency, null, date_trunc('month', coalesce(p.dispute_event_at, p.captured_at) at time zone 'UTC'), 0,
        greatest(p.amount - p.refunded_amount, 0)
      from public.payments p
      where p.dispute_status = 'lost' and p.status = 'captured'
    ) l
    group by l.currency, l.user_id, l.month
  ) g
  group by g.currency, g.month
),
months as (
  select c.currency, m.month
  from (select r.currency, min(r.month) as first_month from monthly r group by r.currency) c
  cross join lateral generate_series(
    c.first_month, date_trunc('month', (select billing.clock()) at time zone 'UTC'), interval '1 month'
  ) m (month)
)
select
  m.month::date as month,
  m.currency,
  coalesce(r.gross, 0) as gross,
  coalesce(r.refunded, 0) as refunded,
  coalesce(r.gross - r.refunded, 0) as net,
  coalesce(r.new_customers, 0) as new_customers,
  coalesce(r.renewed_customers, 0) as renewed_customers,
  coalesce(v.lapsed, 0)::bigint as lapsed_customers,
  coalesce(sum(v.active) over running, 0)::bigint as active_customers,
  coalesce(sum(v.mrr) over running, 0)::bigint as mrr
from months m
left join monthly r on r.currency = m.currency and r.month = m.month
left join billing.paid_moves v on v.kind = 'currency' and v.name = m.currency and v.month = m.month
window running as (partition by m.currency order by m.month);
comment on view billing.revenue_monthly is
  'Revenue and customers by month (UTC) and currency, in minor units. A report: it reads all payments. Deleted users count '
  'in the amounts, not as customers.';
comment on column billing.revenue_monthly.refunded is 'What was refunded or lost in a dispute, of payments of any month.';
comment on column billing.revenue_monthly.lapsed_customers is 'Customers whose paid time ended in it without a new one.';
comment on column billing.revenue_monthly.mrr is 'Monthly recurring revenue then: the prices divided by their months.';

create view billing.active_monthly with (security_invoker = true) as
with moved as (select v.name as tier, v.month, v.active from billing.paid_moves v where v.kind = 'tier')
select m.month::date as month, t.tier,
  coalesce(sum(v.active) over (partition by t.tier order by m.month), 0)::bigint as active_customers
from (select v.tier, min(v.month) as first_month from moved v group by v.tier) t
cross join lateral generate_series(
  t.first_month, date_trunc('month', (select billing.clock()) at time zone 'UTC'), interval '1 month'
) m (month)
left join moved v on v.tier = t.tier and v.month = m.month;
comment on view billing.active_monthly is 'Customers with paid time at each month''s end, by tier. Reads all payments.';
