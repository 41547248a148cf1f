-- Gateway subscriptions that are no sources of access: without a plan of ours, or before their first cycle.
-- Depends on: _find_ruling.

-- Attaches a gateway subscription that is no source to the source that rules. SPEC 6: activated sets status, id and period
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
    -- Paid again after it had lapsed. No other end is undone by a charge.
    p_ruling.is_live := true;
  end if;
  v_source.starts_at := v_attached.period_start;
  v_source.ends_at := v_attached.period_end;
  v_source.lapses_at := v_lapses_at;
  p_ruling.source := v_source;
  return p_ruling;
end
$$;
revoke execute on function private.attach_gateway_subscription(private.ruling) from public;
grant execute on function private.attach_gateway_subscription(private.ruling) to service_role;
