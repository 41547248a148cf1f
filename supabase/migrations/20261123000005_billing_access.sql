-- The end of access by the states of gateway subscriptions. Contract: "Gateway subscriptions".

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
            m.gateway_status in ('paused', 'completed', 'cancelled') and m.replaced_by is null
            or m.last_resumed_at >= m.period_end
          ) as has_ended,
        is_source
          and (
            m.gateway_status in ('paused', 'completed', 'cancelled')
            or m.last_resumed_at >= m.period_end
            or m.last_halted_at > m.period_event_at
          ) as is_unpaid
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
