-- Revenue by month, summed up in passes over all customers. Operations: "Revenue".

create view billing.periods with (security_invoker = true) as
select
  u.user_id, line.kind, line.source_id, line.tier, line.starts_at, line.ends_at, line.ended_at,
  coalesce(
    (line.kind, line.source_id) = (live.kind, live.id) and line.starts_at < live.ends_at and line.ends_at >= live.ends_at,
    false
  ) as is_ruling
from billing.users u
cross join lateral (select billing.find_shown(u.user_id) as ruling offset 0) found
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
      when bool_and(billing.is_refunded(c)) then least(c.period_end, max(f.created_at))
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
      -- Until then the customer had it, as with an order.
      when p.gateway_subscription_id is not null and billing.is_refunded(p) then least(p.period_end, (
        select max(f.created_at)
        from billing.refunds f
        where f.gateway_payment_id = p.gateway_payment_id and f.status = 'processed'
      ))
      else least(
        p.period_end, p.ended_at, m.ended_at,
        case when m.status = 'cancelled' and not m.cancel_at_period_end then m.cancelled_at end,
        replaced.at
      )
    end as ends_at,
    -- By the clock of the seller: an hour less in spring makes no month shorter than four weeks.
    extract(epoch from p.period_end at time zone (select billing.time_zone()) - p.period_start at time zone (select billing.time_zone()))::float8
      / 86400 as days
  from public.payments p
  left join billing.gateway_subscriptions m using (user_id, gateway_subscription_id)
  left join lateral (
    select min(r.since) as at
    from billing.replacements r
    where r.user_id = p.user_id
      and r.id = coalesce(p.gateway_subscription_id, p.id::text)
      and (p.gateway_subscription_id is null or r.until = p.period_end)
  ) replaced on true
  where p.fulfilled_at is not null or p.gateway_subscription_id is not null
) period
where period.ends_at > period.starts_at
  and period.starts_at <= (select billing.clock())
  and period.days > 0
  and period.user_id is not null;
comment on view billing.paid_periods is 'The paid periods that have begun, until they ended, and their price for a month.';
comment on column billing.paid_periods.monthly_amount is 'The price for a month, minor units. A credit counts as paid.';

create table billing.revenue_sums (
  bucket text, -- the first three digits of the customers' ids; empty: all
  kind text,
  name text,
  month date,
  gross bigint not null,
  refunded bigint not null,
  new_customers bigint not null,
  renewed_customers bigint not null,
  lapsed_customers bigint not null,
  active bigint not null,
  mrr bigint not null,
  primary key (bucket, kind, name, month)
);
alter table billing.revenue_sums enable row level security;
comment on table billing.revenue_sums is 'What happened in each month, by currency and by tier, as the passes summed it up.';
comment on column billing.revenue_sums.kind is 'currency, or tier: of tiers only the customers are counted.';
comment on column billing.revenue_sums.active is 'How their number changed in the month; mrr likewise.';

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one span, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
create function billing.revenue_of(p_after uuid, p_until uuid)
returns setof billing.revenue_sums language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_zone constant text := billing.time_zone();
begin
  return query
  with captured as materialized (
    select p.*
    from (
      select p.* from public.payments p where p.user_id > p_after and p.user_id <= p_until
      union all
      select p.* from public.payments p where p.user_id is null and p.id > p_after and p.id <= p_until
    ) p
    where p.status = 'captured' and (p.extra_of is null or p.confirmed_at is not null)
  ),
  periods as materialized (
    select p.user_id, d.kind, d.name, p.monthly_amount, tstzrange(p.starts_at, p.ends_at) as period
    from billing.paid_periods p
    cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
    where p.user_id > p_after and p.user_id <= p_until and d.name is not null
  ),
  spans as (
    select p.user_id, p.kind, p.name, unnest(range_agg(p.period)) as span, 1 as active, 0 as mrr
    from periods p
    group by p.user_id, p.kind, p.name
    union all
    select
      p.user_id, p.kind, p.name, unnest(p.period::tstzmultirange - coalesce(range_agg(p.period) over newer, '{}')), 0,
      p.monthly_amount
    from periods p
    window newer as (
      partition by p.user_id, p.kind, p.name order by p.period desc rows between unbounded preceding and 1 preceding
    )
  ),
  events as (
    select
      left(coalesce(c.user_id, c.id)::text, 3) as bucket, 'currency' as kind, c.currency as name, l.at, l.payer_id, l.gross,
      l.refunded, 0 as lapsed, 0 as active, 0 as mrr
    from captured c
    cross join lateral (
      select c.captured_at as at, c.user_id as payer_id, coalesce(c.paid_amount, c.amount) as gross, 0 as refunded
      union all
      select f.created_at, null, 0, f.amount
      from billing.refunds f
      where f.gateway_payment_id = c.gateway_payment_id and c.refunded_amount > 0 and f.status = 'processed'
      union all
      select d.at, null, 0, d.amount from billing.losses(c) d where c.dispute_status is not null
    ) l
    union all
    select
      left(s.user_id::text, 3), s.kind, s.name, e.at, null, 0, 0,
      -- A customer who begins again in the month of the end has not lapsed.
      case
        when e.sign < 0 and date_trunc('month', s.next_at, v_zone) is distinct from date_trunc('month', e.at, v_zone)
          then s.active
        else 0
      end,
      e.sign * s.active, e.sign * s.mrr
    from (
      select s.*, lead(lower(s.span)) over (partition by s.user_id, s.kind, s.name, s.active order by s.span) as next_at
      from spans s
    ) s
    cross join lateral (values (lower(s.span), 1), (upper(s.span), -1)) e (at, sign)
    where e.at <= (select billing.clock())
  )
  select
    e.bucket, e.kind, e.name, e.month::date, sum(e.gross)::bigint, sum(e.refunded)::bigint,
    count(distinct e.payer_id) filter (where e.month = e.first_month),
    count(distinct e.payer_id) filter (where e.month > e.first_month), sum(e.lapsed), sum(e.active), sum(e.mrr)::bigint
  from (
    select m.*, min(m.month) over (partition by m.payer_id, m.name) as first_month
    from (select e.*, date_trunc('month', e.at at time zone v_zone) as month from events e) m
  ) e
  group by e.bucket, e.kind, e.name, e.month
  order by e.bucket, e.kind, e.name, e.month;
end $$;

-- Replaces the sums of the customers of a range, and adds the difference to the sums of all: a late capture, a refund of an
-- old payment and a deleted user need no rule of their own.
create function billing.sum_customers(p_after uuid, p_until uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  -- The range begins after this bucket. The first one has no bucket before it.
  v_after constant text := case when p_after = '00000000-0000-0000-0000-000000000000' then '' else left(p_after::text, 3) end;
  v_until constant text := left(p_until::text, 3);
  v_old billing.revenue_sums[];
  v_new constant billing.revenue_sums[] := array(select n from billing.revenue_of(p_after, p_until) n);
begin
  v_old := array(
    select s
    from billing.revenue_sums s
    where s.bucket > v_after and s.bucket <= v_until
    order by s.bucket, s.kind, s.name, s.month
  );
  if v_old = v_new then return; end if;
  delete from billing.revenue_sums s
  using unnest(v_old) o
  where (s.bucket, s.kind, s.name, s.month) = (o.bucket, o.kind, o.name, o.month);
  insert into billing.revenue_sums select * from unnest(v_new);
  insert into billing.revenue_sums as s
  select
    '', x.kind, x.name, x.month, sum(x.sign * x.gross), sum(x.sign * x.refunded), sum(x.sign * x.new_customers),
    sum(x.sign * x.renewed_customers), sum(x.sign * x.lapsed_customers), sum(x.sign * x.active), sum(x.sign * x.mrr)
  from (
    select 1 as sign, n.* from unnest(v_new) n
    union all
    select -1, o.* from unnest(v_old) o
  ) x
  group by x.kind, x.name, x.month
  on conflict (bucket, kind, name, month) do update
  set gross = s.gross + excluded.gross,
    refunded = s.refunded + excluded.refunded,
    new_customers = s.new_customers + excluded.new_customers,
    renewed_customers = s.renewed_customers + excluded.renewed_customers,
    lapsed_customers = s.lapsed_customers + excluded.lapsed_customers,
    active = s.active + excluded.active,
    mrr = s.mrr + excluded.mrr;
end $$;

create view billing.monthly_sums with (security_invoker = true) as
select
  k.kind, k.name, m.month::date as month,
  coalesce(s.gross, 0) as gross,
  coalesce(s.refunded, 0) as refunded,
  coalesce(s.new_customers, 0) as new_customers,
  coalesce(s.renewed_customers, 0) as renewed_customers,
  coalesce(s.lapsed_customers, 0) as lapsed_customers,
  coalesce(sum(s.active) over running, 0)::bigint as active_customers,
  coalesce(sum(s.mrr) over running, 0)::bigint as mrr
from (
  select s.kind, s.name, min(s.month) as first_month
  from billing.revenue_sums s
  where s.bucket = '' and (s.kind = 'tier' or (s.gross, s.refunded, s.new_customers) <> (0, 0, 0))
  group by s.kind, s.name
) k
cross join lateral generate_series(
  k.first_month::timestamp, date_trunc('month', (select billing.clock() at time zone billing.time_zone())), interval '1 month'
) m (month)
left join billing.revenue_sums s on (s.bucket, s.kind, s.name, s.month) = ('', k.kind, k.name, m.month::date)
window running as (partition by k.kind, k.name order by m.month);
comment on view billing.monthly_sums is 'Each month since the first one of a currency or tier, and how many were active at its end.';

create view billing.revenue_monthly with (security_invoker = true) as
select
  s.month, s.name as currency, s.gross, s.refunded, s.gross - s.refunded as net, s.new_customers, s.renewed_customers,
  s.lapsed_customers, s.active_customers, s.mrr,
  round(
    100.0 * s.lapsed_customers / nullif(lag(s.active_customers) over (partition by s.name order by s.month), 0), 1
  )::float8 as churn_percent
from billing.monthly_sums s
where s.kind = 'currency';
comment on view billing.revenue_monthly is
  'Revenue and customers by month (of the seller''s time zone) and currency, in minor units, as of the last pass: '
  'billing.service_state. Deleted users count in the amounts, not as customers.';
comment on column billing.revenue_monthly.refunded is 'What was refunded or lost in a dispute, of payments of any month.';
comment on column billing.revenue_monthly.lapsed_customers is 'Customers whose paid time ended in it without a new one.';
comment on column billing.revenue_monthly.mrr is 'Monthly recurring revenue then: the prices divided by their months.';
comment on column billing.revenue_monthly.churn_percent is
  'lapsed_customers in percent of the active customers of the month before. Null: there were none.';

create view billing.active_monthly with (security_invoker = true) as
select s.month, s.name as tier, s.active_customers from billing.monthly_sums s where s.kind = 'tier';
comment on view billing.active_monthly is 'Customers with paid time at each month''s end, by tier, as of the last pass.';
