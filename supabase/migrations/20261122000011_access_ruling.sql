-- Finds the ruling source of access, attaches gateway subscriptions that are no sources, and writes the profile's tier.

create view private.mirrored
with (security_invoker = true)
as
select
  m.user_id,
  count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null)::integer as billing,
  count(*) filter (where m.is_replaced)::integer as replaced,
  count(*) filter (where m.plan_id is null or m.period_end is null)::integer as attaching,
  max(m.arrived_at) as newest_at
from private.gateway_subscriptions m
group by m.user_id;
grant select on private.mirrored to service_role;
comment on view private.mirrored is
  'For each user the number of gateway subscriptions that the gateway still bills (billing), that it is to cancel '
  '(replaced) and that are no sources of access (attaching), and when their newest fact arrived.';

-- The ruling source, with the user's numbers of gateway subscriptions for private.settle_access.
create type private.ruling as (
  source private.sources,
  is_live boolean,
  is_ended_by_gateway boolean, -- ended by the cancellation of a gateway subscription that was attached to it
  billing integer, -- gateway subscriptions that the gateway still bills
  replaced integer, -- gateway subscriptions that the gateway is to cancel
  attaching integer -- gateway subscriptions that are no sources
);

-- Finds the ruling source: the running source with the greatest since. If no source is running, the one that ended last.
create function private.find_ruling(
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
      count(*) filter (where m.is_replaced) as replaced,
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
    select
      s.ended_at is null
      and s.lapses_at > v_now
      and rank.is_ended_by_gateway is not true
      and (rank.generation = 0 and w.status = 'cancelled') is not true as is_live
  ) live
  order by
    live.is_live desc,
    rank.generation desc,
    case when live.is_live then s.since else least(s.ended_at, s.lapses_at) end desc,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end
$$;
grant execute on function private.find_ruling(uuid) to service_role;

-- Attaches a gateway subscription that is no source to the ruling source. Such a subscription has no plan of ours, or its
-- first cycle has not begun. subscription.activated sets the status, the id and the period, subscription.charged sets the
-- period alone. Contract: "Gateway subscriptions".
create function private.attach_gateway_subscription(
  p_ruling private.ruling
)
returns private.ruling
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources := p_ruling.source;
  v_grace constant integer := coalesce((select p.grace_days from public.plans p where p.id = (p_ruling.source).plan_id), 3);
  v_attached private.gateway_subscriptions;
  v_days integer := v_grace;
  v_end timestamptz;
  v_lapses_at timestamptz;
begin
  select * into v_attached
  from private.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and (m.plan_id is null or m.period_end is null)
    and case when v_source.kind = 'manual' then m.arrived_at else m.activated_at end >= v_source.since
    and m.activated_at is not null
  order by m.activated_at desc, m.gateway_subscription_id desc
  limit 1;
  if found then
    -- Before its first cycle the subscription has no period: the paid period of the source continues.
    v_end := coalesce(
      v_attached.period_end,
      case when v_source.ended_reason = 'refunded' then least(v_source.ends_at, v_source.ended_at) else v_source.ends_at end
    );
    if v_attached.cancel_at_period_end or v_source.cancel_at_period_end then
      v_days := 0;
    end if;
    v_lapses_at := case
      when v_end is null then 'infinity'
      -- Before its first cycle no further time is paid. The row is active for an hour after the activation arrived.
      when v_attached.period_end is null
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      -- A subscription without an id cannot be reconciled.
      when v_attached.gateway_subscription_id = ''
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      when v_attached.checked_at > v_end + make_interval(days => greatest(v_days - 1, 0))
        then v_end + make_interval(days => v_days)
      else 'infinity'
    end;
    if v_attached.status = 'active' and v_attached.ended_at is null and v_lapses_at > v_now then
      p_ruling.is_live := true;
    elsif p_ruling.is_live then
      return p_ruling;
    end if;
    v_source.gateway_subscription_id := nullif(v_attached.gateway_subscription_id, '');
    v_source.cancel_at_period_end := v_source.cancel_at_period_end or v_attached.cancel_at_period_end;
    if v_attached.period_end is not null then
      v_source.starts_at := v_attached.period_start;
    end if;
    v_source.ends_at := v_end;
    v_source.lapses_at := v_lapses_at;
    p_ruling.source := v_source;
    return p_ruling;
  end if;

  if v_source.kind = 'gateway_subscription' then
    return p_ruling;
  end if;
  select * into v_attached
  from private.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and m.plan_id is null
    and m.activated_at is null
    and m.period_end is not null
    and (v_source.gateway_subscription_id is null or v_source.gateway_subscription_id = m.gateway_subscription_id)
    and case when v_source.kind = 'manual' then m.arrived_at else m.first_charged_at end >= v_source.since
  order by m.first_charged_at desc, m.gateway_subscription_id desc
  limit 1;
  if not found then
    return p_ruling;
  end if;
  v_lapses_at := v_attached.period_end + make_interval(days => v_grace);
  if v_lapses_at <= v_now then
    -- The charged period is over. The row shows that period, but access does not change: a running source shows it for an
    -- hour after the charge arrived, an ended source shows it unless its own period ended later.
    if p_ruling.is_live and v_attached.arrived_at <= v_now - interval '1 hour'
      or not p_ruling.is_live and v_source.ends_at > v_attached.period_end
    then
      return p_ruling;
    end if;
    v_lapses_at := v_source.lapses_at;
  elsif v_source.ended_at is null and not p_ruling.is_ended_by_gateway then
    -- A charge makes a lapsed source run again, but not a source that ended for another reason.
    p_ruling.is_live := true;
  end if;
  v_source.starts_at := v_attached.period_start;
  v_source.ends_at := v_attached.period_end;
  v_source.lapses_at := v_lapses_at;
  p_ruling.source := v_source;
  return p_ruling;
end
$$;
grant execute on function private.attach_gateway_subscription(private.ruling) to service_role;

-- Writes a tier to the user's profile where it differs, and creates a missing profile.
create function private.set_tier(
  p_user_id uuid,
  p_tier text, -- null: writes nothing
  p_email text -- of the user, for the username of a new profile
)
returns text -- the name for the greeting of a mail; null: the user had no profile
language plpgsql
set search_path = ''
as $$
declare
  v_known_tier text;
  v_display_name text;
begin
  select p.subscription_tier, coalesce(nullif(p.display_name, ''), p.username, '')
  into v_known_tier, v_display_name
  from public.profiles p
  where p.user_id = p_user_id;
  if p_tier is null or v_known_tier = p_tier then
    return v_display_name;
  end if;
  if v_display_name is null then
    insert into public.profiles (user_id, subscription_tier, username)
    values (p_user_id, p_tier, private.default_username(p_email))
    on conflict (user_id) do update set subscription_tier = excluded.subscription_tier;
  else
    update public.profiles p set subscription_tier = p_tier where p.user_id = p_user_id;
  end if;
  return v_display_name;
end
$$;
grant execute on function private.set_tier(uuid, text, text) to service_role;
