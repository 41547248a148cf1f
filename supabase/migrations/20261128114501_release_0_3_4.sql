-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Returns what the mail about a cancellation says of the user's access, as it is settled.
create or replace function billing.cancellation_terms(
  p_user_id uuid,
  p_at_period_end boolean,
  p_had_access boolean -- before the cancellation
)
returns jsonb -- {access_ends_at, is_ended, resume_until}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_after public.subscriptions;
  v_ends_at timestamptz; -- null: access does not end with what was cancelled
  v_resume_until timestamptz; -- null: it cannot be resumed
begin
  select * into v_after from public.subscriptions s where s.user_id = p_user_id;
  if p_had_access then
    v_ends_at := case
      when v_after.status = 'cancelled' then coalesce(billing.shown_grace_end(v_after), v_after.cancelled_at)
      when not exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.ended_at is null
          and (s.ends_at is null or coalesce(nullif(s.lapses_at, 'infinity'), s.ends_at) > v_after.current_period_end)
      ) then least(v_after.current_period_end, (
        -- A row that was extended by hand ends with the subscription that it names.
        select coalesce(m.paid_until, m.period_end)
        from billing.gateway_subscriptions m
        where (m.user_id, m.gateway_subscription_id) = (p_user_id, v_after.gateway_subscription_id) and m.arrived_at is not null
      ))
    end;
  end if;
  if p_at_period_end then
    v_resume_until := least(
      case when v_after.status = 'active' then v_after.current_period_end end,
      -- Then the gateway is told.
      (
        select min(s.stops_at) - interval '48 hours'
        from billing.stoppable s
        where s.user_id = p_user_id
          and s.is_open
          and s.is_wish
          -- What stops also without the cancellation is not resumed, nor what waits for its authorisation.
          and s.authorised_at is not null
          and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
      )
    );
  end if;
  return jsonb_build_object(
    'access_ends_at', billing.iso_time(v_ends_at),
    'is_ended', v_after.status is distinct from 'active',
    'resume_until', case when v_resume_until > billing.clock() then billing.iso_time(v_resume_until) end
  );
end $$;

-- Contract: POST /api/subscriptions/resume.
create or replace function public.resume_subscription(p_user_id uuid)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish_id bigint;
begin
  perform billing.begin_request('resumption', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status is distinct from 'active' and not exists (
    select from billing.stoppable s where s.user_id = p_user_id and s.is_open and s.is_wish
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  -- No dispatcher claims them until the commit.
  perform
  from billing.outbox o
  where o.key in (
    select 'cancel-subscription/' || s.gateway_subscription_id
    from billing.stoppable s
    where s.user_id = p_user_id and s.stops_at is not null
  )
  order by o.key
  for update;
  -- All that the customer cancelled goes on, or nothing.
  if exists (
    select from billing.stoppable s
    where s.user_id = p_user_id
      and case
        when s.is_open then s.stops_at is not null
        -- The gateway has confirmed what the customer cancelled last.
        else s.is_wish and (s.subscription).cancelled_arrived_at >= (
          select w.at from billing.ends_wished w where w.user_id = p_user_id
        )
      end
      -- A change or renewal that was never authorised holds back nothing that runs. The event of its cancellation authorises none.
      and (
        v_subscription.status is distinct from 'active'
        or s.authorised_at is not null
          and (s.is_open or num_nonnulls(
            (s.subscription).authenticated_at, (s.subscription).first_activated_at,
            (s.subscription).first_charged_at, (s.subscription).written_at
          ) > 0)
      )
      and billing.is_stop_sent(s.gateway_subscription_id)
      and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;
  with withdrawn as (
    update billing.wishes w
    set withdrawn_at = greatest(billing.clock(), w.at)
    where w.user_id = p_user_id and w.at_period_end and w.withdrawn_at is null
    returning w.id
  )
  select max(w.id) into v_wish_id from withdrawn w;
  if v_wish_id is not null or v_subscription.cancel_at_period_end then
    perform billing.withdraw_mails(array(
      select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    ));
    perform billing.mark_sources(p_user_id, false);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(
      p_user_id, v_email, 'subscription-resumed', coalesce(v_wish_id::text, v_subscription.id || '/' || v_subscription.revision)
    );
  end if;
  return jsonb_build_object('outcome', 'resumed', 'subscription', billing.subscription_answer(p_user_id));
end $$;

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one run, so that a renewal is neither an end nor a start. Of those that overlap, the one
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

revoke execute on all functions in schema billing from public;
