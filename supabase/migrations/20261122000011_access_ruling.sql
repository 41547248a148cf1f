-- Finds the source of access that rules.

-- Finds the source of access that rules.

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
  'How many gateway subscriptions of a user the gateway bills, is to cancel, and are no sources of access; and when the '
  'newest fact about them arrived.';

-- The ruling source, with what private.settle_access needs beside it.
create type private.ruling as (
  source private.sources,
  is_live boolean,
  is_cut boolean, -- ended by the cancellation of a gateway subscription that attached to it
  billing integer, -- how many gateway subscriptions the gateway still bills
  replaced integer, -- how many of them the gateway is to cancel
  attaching integer -- how many gateway subscriptions are no sources
);

-- The source that rules: the live one with the greatest since; where none is live, the one that ended last.
create function private.find_ruling(
  p_user_id uuid
)
returns private.ruling -- source is null where the user has none
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
      -- A cancellation without a plan of ours ends what the subscription attached to: what was there when it was
      -- activated, or, where no activation is known, when it was cancelled. A purchase since then goes on.
      max(least(m.activated_at, m.cancelled_at)) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cut,
      max(m.cancelled_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is null)
        as bare_cut,
      max(m.activated_at) filter (where m.plan_id is null) as attached,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cut_arrived,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled') as any_cut_arrived
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
  )
  select s, live.is_live, coalesce(cut.is_cut, false), g.billing, g.replaced, g.attaching
  into v_ruling
  from mirrored g
  left join private.manual_subscriptions w on w.user_id = p_user_id
  left join private.sources s on s.user_id = p_user_id
  cross join lateral (
    select
      case s.kind
        when 'manual' then
          case when s.gateway_subscription_id is null then g.any_cut_arrived else g.cut_arrived end >= s.since
        when 'gateway_subscription' then g.cut >= s.since
        else
          coalesce(g.cut >= s.since, false)
          or g.bare_cut >= s.since and (g.attached between s.since and g.bare_cut) is not true
      end as is_cut,
      -- What was written by hand outranks the facts before it, and is outranked by those after it.
      case when w.at is null or s.kind = 'manual' then 1 when s.arrived_at >= w.at then 2 else 0 end as generation
  ) cut
  cross join lateral (
    select
      s.ended_at is null
      and s.lapses_at > v_now
      and cut.is_cut is not true
      and (cut.generation = 0 and w.status = 'cancelled') is not true as is_live
  ) live
  order by
    live.is_live desc,
    cut.generation desc,
    case when live.is_live then s.since else least(s.ended_at, s.lapses_at) end desc,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end
$$;
grant execute on function private.find_ruling(uuid) to service_role;

-- Gateway subscriptions that are no sources of access: without a plan of ours, or before their first cycle.

-- Attaches a gateway subscription that is no source to the source that rules. Contract: "Gateway subscriptions": activated sets status, id and period
-- of the subscription, charged its period alone.
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
    -- Before its first cycle it goes on with what it attaches to, as far as that is paid.
    v_end := coalesce(
      v_attached.period_end,
      case when v_source.ended_reason = 'refunded' then least(v_source.ends_at, v_source.ended_at) else v_source.ends_at end
    );
    if v_attached.cancel_at_period_end or v_source.cancel_at_period_end then
      v_days := 0;
    end if;
    v_lapses_at := case
      when v_end is null then 'infinity'
      -- Before its first cycle nothing more is paid: it is shown as active when it is announced.
      when v_attached.period_end is null
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      -- Without an id it cannot be reconciled.
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
    -- A period that is over is shown when it is announced. It gives and takes no access.
    if p_ruling.is_live and v_attached.arrived_at <= v_now - interval '1 hour'
      or not p_ruling.is_live and v_source.ends_at > v_attached.period_end
    then
      return p_ruling;
    end if;
    v_lapses_at := v_source.lapses_at;
  elsif v_source.ended_at is null and not p_ruling.is_cut then
    -- A charge after the lapse. A charge undoes no other end.
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

-- Gives a user a tier where the profile has another one; a missing profile is made.
create function private.set_tier(
  p_user_id uuid,
  p_tier text, -- null: leave it
  p_email text -- of the user, to name a new profile by
)
returns text -- the name to greet the user by; null where there was no profile
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
