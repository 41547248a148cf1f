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
-- Periods that touch or overlap are one run, so that a renewal is neither an end nor a start. Of those that overlap, the one
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
    from public.payments p
    where p.user_id > p_after and p.user_id <= p_until and p.status = 'captured'
    union all
    select p.*
    from public.payments p
    where p.user_id is null and p.id > p_after and p.id <= p_until and p.status = 'captured'
  ),
  lines as (
    select
      left(coalesce(c.user_id, c.id)::text, 3) as bucket, c.currency, c.user_id, c.captured_at as at,
      coalesce(c.paid_amount, c.amount) as gross, 0 as refunded
    from captured c
    where c.extra_of is null or c.confirmed_at is not null
    union all
    select left(coalesce(c.user_id, c.id)::text, 3), c.currency, null, f.created_at, 0, f.amount
    from captured c
    join billing.refunds f on f.gateway_payment_id = c.gateway_payment_id
    where c.refunded_amount > 0 and f.status = 'processed' and (c.extra_of is null or c.confirmed_at is not null)
    union all
    select left(coalesce(c.user_id, c.id)::text, 3), c.currency, null, l.at, 0, l.amount
    from captured c
    cross join lateral billing.losses(c) l
    where c.dispute_status is not null and (c.extra_of is null or c.confirmed_at is not null)
  ),
  received as (
    select
      g.bucket, g.currency, g.month, sum(g.gross) as gross, sum(g.refunded) as refunded,
      count(g.user_id) filter (where g.month = g.first_month) as new_customers,
      count(g.user_id) filter (where g.month > g.first_month) as renewed_customers
    from (
      select
        l.bucket, l.currency, l.user_id, date_trunc('month', l.at at time zone v_zone) as month, sum(l.gross) as gross,
        sum(l.refunded) as refunded,
        min(date_trunc('month', l.at at time zone v_zone)) over (partition by l.user_id, l.currency) as first_month
      from lines l
      group by l.bucket, l.currency, l.user_id, 4
    ) g
    group by g.bucket, g.currency, g.month
  ),
  moved as (
    select
      left(p.user_id::text, 3) as bucket, p.kind, p.name, date_trunc('month', e.at at time zone v_zone) as month,
      sum(e.active) as active, sum(e.lapsed) as lapsed, sum(e.amount) as mrr
    from (
      select
        p.user_id, d.kind, d.name, p.starts_at, p.ends_at, p.monthly_amount,
        max(p.ends_at) over (w rows unbounded preceding) as reaches,
        (p.starts_at <= max(p.ends_at) over (w rows between unbounded preceding and 1 preceding)) is not true as is_first,
        lead(p.starts_at) over w as next_at
      from billing.paid_periods p
      cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
      where p.user_id > p_after and p.user_id <= p_until and d.name is not null
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
          (date_trunc('month', p.next_at, v_zone) is distinct from date_trunc('month', p.reaches, v_zone))::integer,
          0
        )
      union all
      -- After its end those count again that began earlier and end later, as after the refund of an upgrade.
      select e.at, 0, 0, e.amount
      from (
        select
          o.monthly_amount, o.ends_at,
          max(o.ends_at) over (order by o.starts_at desc, o.ends_at desc rows between unbounded preceding and 1 preceding) as covered
        from billing.paid_periods o
        where p.ends_at < p.reaches
          and (p.next_at > p.ends_at) is not false
          and o.user_id = p.user_id
          and case p.kind when 'tier' then o.tier else o.currency end = p.name
          and (o.starts_at, o.ends_at) <= (p.starts_at, p.ends_at)
      ) o
      cross join lateral (values (o.covered, o.monthly_amount), (least(o.ends_at, p.next_at), -o.monthly_amount)) e (at, amount)
      where o.ends_at > o.covered and (p.next_at > o.covered) is not false
    ) e (at, active, lapsed, amount)
    where e.at <= (select billing.clock())
    group by 1, 2, 3, 4
  )
  select
    x.bucket, x.kind, x.name, x.month::date, sum(x.gross)::bigint, sum(x.refunded)::bigint, sum(x.new_customers)::bigint,
    sum(x.renewed_customers)::bigint, sum(x.lapsed)::bigint, sum(x.active)::bigint, sum(x.mrr)::bigint
  from (
    select
      r.bucket, 'currency' as kind, r.currency as name, r.month, r.gross, r.refunded, r.new_customers, r.renewed_customers,
      0 as lapsed, 0 as active, 0 as mrr
    from received r
    union all
    select m.bucket, m.kind, m.name, m.month, 0, 0, 0, 0, m.lapsed, m.active, m.mrr from moved m
  ) x
  group by x.bucket, x.kind, x.name, x.month
  order by x.bucket, x.kind, x.name, x.month;
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

create view billing.revenue_monthly with (security_invoker = true) as
select
  r.*,
  round(
    100.0 * r.lapsed_customers / nullif(lag(r.active_customers) over (partition by r.currency order by r.month), 0), 1
  )::float8 as churn_percent
from (
  select
    m.month::date as month,
    c.currency,
    coalesce(s.gross, 0) as gross,
    coalesce(s.refunded, 0) as refunded,
    coalesce(s.gross - s.refunded, 0) as net,
    coalesce(s.new_customers, 0) as new_customers,
    coalesce(s.renewed_customers, 0) as renewed_customers,
    coalesce(s.lapsed_customers, 0) as lapsed_customers,
    coalesce(sum(s.active) over running, 0)::bigint as active_customers,
    coalesce(sum(s.mrr) over running, 0)::bigint as mrr
  from (
    select s.name as currency, min(s.month) as first_month
    from billing.revenue_sums s
    where s.bucket = '' and s.kind = 'currency' and (s.gross, s.refunded, s.new_customers) <> (0, 0, 0)
    group by s.name
  ) c
  cross join lateral generate_series(
    c.first_month::timestamp, date_trunc('month', (select billing.clock() at time zone billing.time_zone())), interval '1 month'
  ) m (month)
  left join billing.revenue_sums s on (s.bucket, s.kind, s.name, s.month) = ('', 'currency', c.currency, m.month::date)
  window running as (partition by c.currency order by m.month)
) r;
comment on view billing.revenue_monthly is
  'Revenue and customers by month (of the seller''s time zone) and currency, in minor units, as of the last pass: '
  'billing.service_state. Deleted users count in the amounts, not as customers.';
comment on column billing.revenue_monthly.refunded is 'What was refunded or lost in a dispute, of payments of any month.';
comment on column billing.revenue_monthly.lapsed_customers is 'Customers whose paid time ended in it without a new one.';
comment on column billing.revenue_monthly.mrr is 'Monthly recurring revenue then: the prices divided by their months.';
comment on column billing.revenue_monthly.churn_percent is
  'lapsed_customers in percent of the active customers of the month before. Null: there were none.';

create view billing.active_monthly with (security_invoker = true) as
select m.month::date as month, t.tier, coalesce(sum(v.active) over (partition by t.tier order by m.month), 0)::bigint as active_customers
from (
  select s.name as tier, min(s.month) as first_month
  from billing.revenue_sums s
  where s.bucket = '' and s.kind = 'tier'
  group by s.name
) t
cross join lateral generate_series(
  t.first_month::timestamp, date_trunc('month', (select billing.clock() at time zone billing.time_zone())), interval '1 month'
) m (month)
left join billing.revenue_sums v on v.bucket = '' and v.kind = 'tier' and v.name = t.tier and v.month = m.month::date;
comment on view billing.active_monthly is 'Customers with paid time at each month''s end, by tier, as of the last pass.';
