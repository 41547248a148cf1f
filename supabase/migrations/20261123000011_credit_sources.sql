-- The sources of access with purchases that replace or follow another source: the view of all sources, and the choice of the
-- ruling source. Contract: "Start and credit".

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
  coalesce(p.ended_at, replaced.at) as ended_at,
  coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
    as ended_reason,
  p.cancel_at_period_end,
  null::text as gateway_subscription_id
from public.payments p
left join public.plans pl on pl.id = p.plan_id
left join lateral (
  select min(r.since) as at from private.replacements r where r.kind = 'payment' and r.id = p.id::text
) replaced on true
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
    when cancelled.ends_with_change then m.period_end + make_interval(days => grace.days)
    -- The paid time passed while it was paused. The next charge gives access again.
    when m.last_resumed_at >= m.period_end then m.period_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays.
    when m.last_halted_at > m.period_event_at then m.period_end + make_interval(days => grace.days)
    -- A subscription that the gateway bills runs until a reconciliation after its period finds no further cycle.
    when m.checked_at > m.period_end + make_interval(days => greatest(grace.days - 1, 0))
      then m.period_end + make_interval(days => grace.days)
    else 'infinity'
  end,
  coalesce(m.activated_at, m.first_charged_at, m.authenticated_at, m.arrived_at),
  m.arrived_at,
  case
    when cancelled.ends_with_trial or cancelled.ends_with_change then replaced.at
    when m.status = 'cancelled' then m.cancelled_at
    else coalesce(m.ended_at, replaced.at)
  end,
  case
    when m.status = 'cancelled' then 'cancelled'
    when m.paid_until is not null then 'refunded'
    when m.ended_at is null and replaced.at is not null then 'replaced'
    else m.ended_reason
  end,
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
    -- The gateway cancels the subscription at the end of its cycle, a trial two days before its end, and charges the one that
    -- replaces it soon after that end.
    m.status = 'cancelled'
      and m.replaced_by is not null
      and m.ended_at is null
      and (
        m.cancelled_at >= m.period_end - interval '1 day'
        or m.activated_at is null and m.first_charged_at is null
      ) as ends_with_change
) cancelled
-- Only the credited cycle has ended. A later one is a source again.
left join lateral (
  select min(r.since) as at
  from private.replacements r
  where r.kind = 'gateway_subscription'
    and r.id = m.gateway_subscription_id
    and r.user_id = m.user_id
    and r.until = m.period_end
) replaced on true
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
grant select on private.sources to service_role;
comment on view private.sources is
  'All sources of access, also those that have ended. A source runs until ended_at or lapses_at. The running source with '
  'the greatest since rules. lapses_at is ends_at plus the days of grace, or infinity until the gateway was read.';

-- A purchase that begins when another source ends does not rule before.
-- Finds the ruling source: the running source with the greatest since. If no source is running, the one that ended last.
create or replace function private.find_ruling(
  p_user_id uuid
)
returns private.ruling -- source is null: the user has no source
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling;
begin
  with mirrored as materialized (
    select
      count(*) filter (where m.plan_id is null or m.period_end is null) as attaching,
      count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null) as billing,
      -- Before a purchase that begins later, the gateway is to cancel the ruling subscription, too.
      count(*) filter (
        where m.is_replaced
          or exists (select from private.upcoming_payments u where u.user_id = p_user_id)
      ) as replaced,
      -- The cancellation of a gateway subscription without a plan of ours ends the source to which the subscription was
      -- attached. That source began before the activation or, where no activation is known, before the cancellation. A
      -- later purchase continues.
      max(least(m.activated_at, m.cancelled_at))
        filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cancelled_activated,
      max(m.cancelled_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is null)
        as cancelled_unactivated,
      max(m.activated_at) filter (where m.plan_id is null) as attached,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cancellation_arrived,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled') as any_cancellation_arrived
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
  )
  select s, live.is_live, coalesce(rank.is_ended_by_gateway, false), g.billing, g.replaced, g.attaching
  into v_ruling
  from mirrored g
  left join private.manual_subscriptions w on w.user_id = p_user_id
  left join private.sources s on s.user_id = p_user_id
  cross join lateral (
    select
      case s.kind
        when 'manual' then s.since <= case
          when s.gateway_subscription_id is null then g.any_cancellation_arrived
          else g.cancellation_arrived
        end
        when 'gateway_subscription' then g.cancelled_activated >= s.since
        else
          coalesce(g.cancelled_activated >= s.since, false)
          or g.cancelled_unactivated >= s.since and (g.attached between s.since and g.cancelled_unactivated) is not true
      end as is_ended_by_gateway,
      -- A row written by hand ranks above the facts that arrived before it, and below those that arrived after it.
      case when w.at is null or s.kind = 'manual' then 1 when s.arrived_at >= w.at then 2 else 0 end as generation
  ) rank
  cross join lateral (
    select exists (
      select
      from private.upcoming_payments u
      where u.user_id = p_user_id
        and s.kind = 'payment'
        and u.id = s.id
    ) as is_upcoming
  ) start
  cross join lateral (
    select
      s.ended_at is null
      and s.lapses_at > v_now
      and not start.is_upcoming
      and rank.is_ended_by_gateway is not true
      and (rank.generation = 0 and w.status = 'cancelled') is not true as is_live
  ) live
  order by
    live.is_live desc,
    rank.generation desc,
    case when live.is_live then s.since when not start.is_upcoming then least(s.ended_at, s.lapses_at) end desc nulls last,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end
$$;
grant execute on function private.find_ruling(uuid) to service_role;

revoke execute on all functions in schema private from public;
