-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.sum_hours();

drop view billing.service_state;

comment on table billing.received_by_hour is null;

DROP TABLE "billing"."received_by_hour";

-- The last job of the sweep.
create or replace function billing.run_passes()
returns integer -- 0: the next sweep goes on
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.run_pass('findings', interval '0.4 seconds');
  perform billing.run_pass('revenue', interval '0.3 seconds');
  if exists (select from public.receipts) or exists (select from billing.settlements) then
    perform billing.run_pass('books', interval '0.3 seconds');
  end if;
  return 0;
end $$;

create view billing.service_state with (security_invoker = true) as
select
  (select max(e.received_at) from billing.gateway_events e where e.deliveries > 0) as last_webhook_at,
  -- By billing.clock(), as all else.
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'sweep') as last_sweep_at,
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'reconciliation')
    as last_reconciliation_at,
  (
    select min(o.queued_at)
    from billing.outbox o
    where o.destination in ('email', 'notice')
      and o.delivered_at is null
      and o.parked_at is null
      and o.queued_at <= billing.clock()
  ) as oldest_undelivered_mail_at,
  (select p.complete_as_of from billing.passes p where p.name = 'findings') as findings_as_of,
  (select p.complete_as_of from billing.passes p where p.name = 'revenue') as revenue_as_of,
  (select case when s.completed_at is not null then to_jsonb(s) end from billing.statement s) as statement,
  (select m.detail::integer from billing.marks m where m.kind = 'kept_days' and m.key = 'outbox') as messages_kept_days,
  (
    select count(*) from billing.received r where r.received_at >= date_trunc('day', billing.clock(), billing.time_zone())
  ) as payments_today,
  (
    select coalesce(jsonb_object_agg(today.currency, today.amount), '{}')
    from (
      select r.currency, sum(r.amount) as amount
      from billing.received r
      where r.received_at >= date_trunc('day', billing.clock(), billing.time_zone())
      group by r.currency
    ) today
  ) as revenue_today;

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one span, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
create or replace function billing.revenue_of(p_after uuid, p_until uuid)
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

comment on column billing.service_state.messages_kept_days is 'How long delivered messages are kept. Null: not known yet.';

comment on view billing.service_state is 'The state of the service in one row. Days are those of the seller''s time zone.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

revoke execute on all functions in schema billing from public;
