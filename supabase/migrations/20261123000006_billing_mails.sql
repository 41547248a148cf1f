-- The mails about gateway subscriptions. Contract: "E-mails".

-- Returns when a user's access ends unless a gateway subscription is charged again. Only the ruling source ends access, and
-- only if no other running source ends later. Another gateway subscription ends with its cycle if it is not renewed.
create function private.access_end(
  p_subscription private.gateway_subscriptions
)
returns timestamptz -- null: access does not depend on the subscription, or its end is not known
language plpgsql
stable
set search_path = ''
as $$
declare
  v_source constant private.sources := (private.find_ruling(p_subscription.user_id)).source;
  v_end timestamptz := v_source.lapses_at;
begin
  if v_end = 'infinity' then
    -- A reconciliation confirms the end.
    v_end := v_source.ends_at + make_interval(days => case
      when v_source.cancel_at_period_end then 0
      else (select p.grace_days from public.plans p where p.id = v_source.plan_id)
    end);
  end if;
  if v_source.kind <> 'gateway_subscription'
    or v_source.id <> p_subscription.gateway_subscription_id
    or exists (
      select
      from private.sources s
      left join private.gateway_subscriptions m
        on s.kind = 'gateway_subscription'
        and m.user_id = s.user_id
        and m.gateway_subscription_id = s.id
      left join public.plans p on p.id = s.plan_id
      where s.user_id = p_subscription.user_id
        and (s.kind, s.id) <> (v_source.kind, v_source.id)
        and s.ended_at is null
        and s.lapses_at > v_end
        and (
          s.lapses_at < 'infinity'
          or (m.is_replaced or m.cancel_at_period_end or m.gateway_status = 'pending') is not true
          or s.ends_at + make_interval(days => case when s.cancel_at_period_end then 0 else p.grace_days end) > v_end
        )
    )
  then
    return null;
  end if;
  return v_end;
end
$$;
grant execute on function private.access_end(private.gateway_subscriptions) to service_role;

-- Enqueues the mail about an event of a gateway subscription with a plan of ours: a charge that failed, that was made, or
-- that was the last. The caller has settled the user's access.
create function private.announce_billing(
  p_event text,
  p_subscription private.gateway_subscriptions, -- after the event
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- of the cycle, if the event has it
  p_period_end timestamptz, -- of the charged cycle
  p_email text -- of the user
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  v_status constant text := substr(p_event, length('subscription.') + 1);
  v_payment_id text;
  v_kind text;
  v_key text;
  v_payload jsonb;
begin
  if p_subscription.plan_id is null or p_email = '' then
    return;
  end if;
  if v_status in ('pending', 'halted', 'completed')
    and p_subscription.gateway_status = v_status
    -- Without a paid cycle there is no access that ends.
    and p_subscription.period_end is not null
  then
    v_kind := case v_status when 'pending' then 'payment-pending' else 'subscription-' || v_status end;
    -- One mail for each cycle that was not charged.
    v_key := concat_ws('/', v_kind, v_id, case
      when v_status <> 'completed' then private.iso_time(p_subscription.period_end)
    end);
    v_payload := jsonb_build_object(
      'access_ends_at', private.iso_time(private.access_end(p_subscription)),
      'manage_url', p_subscription.short_url,
      'ends_at', private.iso_time(p_subscription.period_end)
    );
  elsif v_status = 'charged' then
    v_payment_id := private.json_text(p_payment -> 'id');
    -- Other subscriptions of the gateway account have the gateway's own mails.
    if v_payment_id is null or not exists (
      select
      from private.subscription_orders o
      where o.gateway_subscription_id = v_id
        and o.user_id = p_subscription.user_id
    ) then
      return;
    end if;
    v_kind := case
      when coalesce(private.json_integer(p_entity -> 'paid_count'), 1) <= 1 then 'payment-success'
      else 'subscription-renewed'
    end;
    v_key := concat_ws('/', v_kind, v_payment_id);
    v_payload := jsonb_build_object(
      'amount', private.json_integer(p_payment -> 'amount'),
      'currency', private.json_text(p_payment -> 'currency'),
      'transaction_id', v_payment_id,
      'valid_until', private.iso_time(p_period_end),
      'next_charge_at', case
        when not p_subscription.cancel_at_period_end and not p_subscription.is_replaced
          then private.iso_time(private.json_time(p_entity -> 'charge_at'))
      end
    );
  else
    return;
  end if;
  insert into private.outbox (key, destination, kind, payload)
  select
    v_key,
    case v_kind when 'payment-success' then 'email' else 'notice' end,
    v_kind,
    v_payload || jsonb_build_object(
      'to', p_email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', pl.name
    )
  from public.profiles p
  join public.plans pl on pl.id = p_subscription.plan_id
  where p.user_id = p_subscription.user_id
  on conflict (key) do nothing;
end
$$;
grant execute on function
  private.announce_billing(text, private.gateway_subscriptions, jsonb, jsonb, timestamptz, text) to service_role;

-- Enqueues a mail for each of the subscriptions whose access ends soon, if its user has an address and a profile. Each end
-- of a period gets one mail.
create or replace function private.announce_subscription_ends(
  p_subscription_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_notice constant interval := private.end_notice();
  v_early_renewal constant text := private.early_renewal();
  v_ending uuid[];
begin
  select array_agg(s.id)
  into v_ending
  from public.subscriptions s
  where s.id = any (p_subscription_ids)
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + v_notice
    -- No mail if the gateway renews the subscription.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= v_notice)
    -- No mail if a subscription is authorised that the gateway charges from then on.
    and not exists (
      select
      from private.gateway_subscriptions m
      where m.user_id = s.user_id
        and m.gateway_status = 'authenticated'
        and not m.is_replaced
        and m.charge_at <= s.current_period_end + interval '1 day'
    )
    -- No mail if another source takes over.
    and not exists (
      select
      from private.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    );
  -- An insert without rows would still fire the trigger that wakes the dispatcher.
  if v_ending is null then
    return;
  end if;
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select
    format('subscription-ending/%s/%s', s.id, period.ends_at),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', period.ends_at,
      'early_renewal', v_early_renewal
    ),
    -- Same as the defaults, which would call the clock three times for each row.
    v_now,
    v_now,
    v_now
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join public.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  cross join lateral (select private.iso_time(s.current_period_end) as ends_at offset 0) period
  where s.id = any (v_ending)
    and u.email <> ''
  on conflict (key) do nothing;
end
$$;

revoke execute on all functions in schema private from public;
