-- The sources of access with the states of gateway subscriptions, and what follows from them. Contract: "Gateway
-- subscriptions".

create or replace view private.sources
with (security_invoker = true)
as
select
  p.user_id,
  'payment' as kind,
  p.id::text as id,
  p.plan_id,
  p.tier,
  coalesce(p.chain_start, p.period_start) as starts_at,
  p.period_end as ends_at,
  p.period_end + make_interval(days => case when p.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end)
    as lapses_at,
  -- An import by the app may leave since empty.
  coalesce(p.since, p.fulfilled_at) as since,
  greatest(p.fulfilled_at, p.verified_at) as arrived_at,
  p.ended_at,
  p.ended_reason,
  p.cancel_at_period_end,
  null::text as gateway_subscription_id
from public.payments p
left join public.plans pl on pl.id = p.plan_id
where p.fulfilled_at is not null
union all
select
  m.user_id,
  'gateway_subscription',
  m.gateway_subscription_id,
  m.plan_id,
  pl.tier,
  least(m.period_start, m.paid_until),
  coalesce(m.paid_until, m.period_end),
  case
    -- A refunded cycle ends at once.
    when m.paid_until is not null then m.paid_until
    -- No charge follows: no days of grace.
    when m.gateway_status in ('paused', 'completed') or cancelled.ends_with_trial then m.period_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays.
    when m.last_halted_at > m.period_event_at or cancelled.ends_with_change
      then m.period_end + make_interval(days => grace.days)
    -- A subscription that the gateway bills runs until a reconciliation after its period finds no further cycle.
    when m.checked_at > m.period_end + make_interval(days => greatest(grace.days - 1, 0))
      then m.period_end + make_interval(days => grace.days)
    else 'infinity'
  end,
  coalesce(m.activated_at, m.first_charged_at, m.authenticated_at, m.arrived_at),
  m.arrived_at,
  case
    when cancelled.ends_with_trial or cancelled.ends_with_change then null
    when m.status = 'cancelled' then m.cancelled_at
    else m.ended_at
  end,
  case when m.status = 'cancelled' then 'cancelled' when m.paid_until is not null then 'refunded' else m.ended_reason end,
  m.cancel_at_period_end,
  nullif(m.gateway_subscription_id, '')
from private.gateway_subscriptions m
join public.plans pl on pl.id = m.plan_id
cross join lateral (select case when m.cancel_at_period_end then 0 else pl.grace_days end as days) grace
cross join lateral (
  select
    -- A cancellation for the end of a trial is sent before that end, and the gateway cancels at once.
    m.status = 'cancelled'
      and m.cancel_at_period_end
      and m.ended_at is null
      and m.activated_at is null
      and m.first_charged_at is null as ends_with_trial,
    -- The gateway cancels the subscription at the end of its cycle, and charges the one that replaces it soon after.
    m.status = 'cancelled'
      and m.replaced_by is not null
      and m.ended_at is null
      and m.cancelled_at >= m.period_end - interval '1 day' as ends_with_change
) cancelled
where m.period_end is not null
union all
select
  g.user_id,
  'grant',
  g.id::text,
  pl.id,
  g.tier,
  g.at,
  g.until,
  g.until + make_interval(days => case when g.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end),
  g.at,
  g.at,
  g.ended_at,
  g.ended_reason,
  g.cancel_at_period_end,
  null
from private.grants g
left join public.plans pl on pl.tier = g.tier
union all
select
  w.user_id,
  'manual',
  w.user_id::text,
  w.plan_id,
  w.tier,
  w.period_start,
  w.period_end,
  case
    when w.gateway_subscription_id is not null
      and (m.checked_at > w.period_end + make_interval(days => greatest(grace.days - 1, 0))) is not true
      then 'infinity'
    else coalesce(w.period_end + make_interval(days => grace.days), 'infinity')
  end,
  w.at,
  w.at,
  case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
  case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
  w.cancel_at_period_end,
  w.gateway_subscription_id
from private.manual_subscriptions w
left join public.plans pl on pl.id = w.plan_id
cross join lateral (
  select case when w.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end as days
) grace
left join private.gateway_subscriptions m
  on m.user_id = w.user_id
  and m.gateway_subscription_id = w.gateway_subscription_id
-- Skips rows whose gateway subscription is itself a source with newer facts.
where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true;

-- Locks a batch of users whose subscription lapsed. Skips users that are locked: the next run takes them. The batch is
-- small, because a request of one of these users waits for the whole batch.
create or replace function private.lock_lapsed_subscriptions()
returns uuid[] -- the ids of the users; null: none
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_users uuid[];
begin
  with lapsed as materialized (
    select s.id, s.user_id
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    left join public.plans p on p.id = s.plan_id
    left join private.gateway_subscriptions m
      on m.user_id = s.user_id
      and m.gateway_subscription_id = s.gateway_subscription_id
    cross join lateral (
      select case when s.cancel_at_period_end then 0 else coalesce(p.grace_days, 3) end as days
    ) grace
    cross join lateral (
      -- As in private.sources. A row that was written by hand since then counts instead.
      select
        is_source
          and (
            m.gateway_status in ('paused', 'completed')
            -- After a change of plan there are days of grace until the first charge.
            or m.gateway_status = 'cancelled' and m.replaced_by is null
          ) as has_ended,
        is_source
          and (m.gateway_status in ('paused', 'completed', 'cancelled') or m.last_halted_at > m.period_event_at) as is_unpaid
      from (
        select m.plan_id is not null and not exists (
          select
          from private.manual_subscriptions w
          where w.user_id = s.user_id
            and w.at > m.arrived_at
        ) as is_source
      ) kind
    ) said
    where s.status = 'active'
      and s.current_period_end < v_now
      -- A refunded cycle and a subscription that is not charged again have no days of grace.
      and (
        m.paid_until is not null
        or said.has_ended
        or s.current_period_end + make_interval(days => grace.days) < v_now
      )
      -- A subscription that the gateway bills ends only after a reconciliation that found no further cycle.
      and (
        s.gateway_subscription_id is null
        -- Before its first cycle there is no period to reconcile.
        or m.user_id is not null and m.period_end is null
        or m.paid_until <= v_now
        or said.is_unpaid
        or m.checked_at > s.current_period_end + make_interval(days => greatest(grace.days - 1, 0))
      )
      and not exists (
        select
        from private.settle_failures f
        where f.user_id = s.user_id
          and f.failed_at > v_now - interval '1 hour'
      )
    order by s.current_period_end
    limit 100
    for no key update of u skip locked
  ),
  held as materialized (
    select s.user_id
    from public.subscriptions s
    join lapsed l on l.id = s.id
    for no key update of s skip locked
  ),
  profiled as materialized (
    select p.user_id
    from public.profiles p
    join held h on h.user_id = p.user_id
    for no key update of p skip locked
  )
  select array_agg(h.user_id)
  into v_users
  from held h
  where exists (select from profiled p where p.user_id = h.user_id)
    -- The user has no profile. A scalar subquery, because for "not exists" the planner may hash all profiles.
    or (select p.user_id from public.profiles p where p.user_id = h.user_id) is null;
  return v_users;
end
$$;

revoke execute on all functions in schema private from public;
