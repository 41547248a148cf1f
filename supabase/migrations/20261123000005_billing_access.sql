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
          and m.gateway_status in ('paused', 'completed', 'cancelled')
          and m.replaced_by is null as has_ended,
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

-- Claims gateway subscriptions whose period ends within a day, under a lease of five minutes. Each is reconciled every six
-- hours until it is renewed or cancelled. API: service_role only.
create or replace function public.claim_subscriptions_to_reconcile()
returns jsonb -- {subscriptions: [{id, gateway_subscription_id}]}: at most 20; id: of the user's subscription row
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subscriptions jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.gateway_status, m.period_end, m.checked_at, m.arrived_at,
      coalesce(p.grace_days, 3) as grace_days
    from private.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
    order by m.next_check_at
    limit 1000
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- A cancelled subscription has ended, and one without an id cannot be read.
        when d.status = 'cancelled' or d.gateway_subscription_id = '' then 'never'
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then 'tomorrow' else 'never' end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.period_end + make_interval(days => d.grace_days + 14)
          -- The customer may pay or resume months later, and the gateway then charges the next cycle.
          and coalesce(d.gateway_status, 'unknown') not in ('active', 'pending', 'halted', 'paused')
          then 'never'
        -- The subscription was renewed. A charge does not change next_check_at, so that it writes no index.
        when d.period_end > v_now + interval '1 day' then 'later'
        else 'now'
      end as turn
    from due d
  ),
  asked as (
    select p.* from planned p where p.turn = 'now' order by p.period_end limit 20
  ),
  leased as (
    update private.gateway_subscriptions m
    set next_check_at = case
        when p.turn = 'tomorrow' then v_now + interval '1 day'
        when p.turn = 'later' then p.period_end - interval '1 day'
        when p.turn = 'now' then v_now + interval '5 minutes'
      end
    from planned p
    where m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
      and (
        p.turn <> 'now'
        or exists (
          select
          from asked a
          where a.user_id = p.user_id
            and a.gateway_subscription_id = p.gateway_subscription_id
        )
      )
    returning p.id, m.gateway_subscription_id, p.turn
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_subscriptions
  from leased l
  where l.turn = 'now';
  return jsonb_build_object('subscriptions', v_subscriptions);
end
$$;

revoke execute on all functions in schema private from public;
