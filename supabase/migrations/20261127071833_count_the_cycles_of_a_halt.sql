-- Made by npm run migration. Renames and data are written by hand.

-- Merges the status of an event, with the time of the next charge and the page of the gateway, if no newer one is known. A
-- halt and a resumption are kept with their times.
create or replace function billing.merge_gateway_status(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_entity jsonb, -- the subscription
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  -- Of two events in the same second the later one in this list wins.
  v_statuses constant text[] := array[
    'created', 'authenticated', 'pending', 'halted', 'paused', 'active', 'completed', 'expired', 'cancelled'
  ];
  v_status text := case
    when p_event in ('subscription.activated', 'subscription.charged', 'subscription.resumed') then 'active'
    when p_event = 'subscription.updated' then billing.json_text(p_entity -> 'status')
    else substr(p_event, length('subscription.') + 1)
  end;
  v_charge_at constant timestamptz := billing.next_charge_at(p_entity);
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
begin
  if p_event = 'subscription.halted' then
    p_subscription.first_halted_at := least(v_before.first_halted_at, v_at);
    p_subscription.last_halted_at := greatest(v_before.last_halted_at, v_at);
    -- A cycle that is paid after the halt makes this number grow.
    p_subscription.paid_count := greatest(v_before.paid_count, billing.json_integer(p_entity -> 'paid_count'));
  elsif p_event = 'subscription.resumed' then
    p_subscription.last_resumed_at := greatest(v_before.last_resumed_at, v_at);
  end if;
  if p_event in ('subscription.cancelled', 'subscription.completed')
    and billing.json_integer(p_entity -> 'paid_count') > v_before.paid_count
  then
    -- Its last charge is known by this number only.
    p_subscription.paid_count := billing.json_integer(p_entity -> 'paid_count');
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  elsif p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused') then
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  end if;
  p_subscription.short_url := greatest(v_before.short_url, billing.page_url(p_entity));
  if v_status = any (v_statuses)
    and (p_created_at, array_position(v_statuses, v_status), coalesce(v_charge_at, '-infinity')) > (
      v_before.gateway_status_event_at,
      coalesce(array_position(v_statuses, v_before.gateway_status), 0),
      coalesce(v_before.charge_at, '-infinity')
    ) is not false
  then
    p_subscription.gateway_status := v_status;
    p_subscription.charge_at := v_charge_at;
    p_subscription.gateway_status_event_at := coalesce(p_created_at, v_before.gateway_status_event_at);
  end if;
  return p_subscription;
end $$;

-- Returns whether the gateway charged a cycle with a payment that it did not name yet.
create or replace function billing.lacks_payment(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_subscription.gateway_subscription_id <> ''
    and (
      p_subscription.period_end is not null
      and coalesce(p_subscription.activated_at, p_subscription.first_charged_at) is not null
      and not exists (
        select from public.payments c
        where c.gateway_subscription_id = p_subscription.gateway_subscription_id
          and c.period_end = p_subscription.period_end
      )
      or billing.unnamed_cycles(p_subscription) > 0
    );
end $$;

-- Access may lapse now that the gateway was asked: the sweep looks at it again.
create function billing.look_again(p_user_id uuid)
returns void language sql set search_path = pg_catalog, pg_temp as $$
  update public.subscriptions s
  set due_at = billing.clock()
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end < billing.clock() and s.due_at > billing.clock()
$$;

-- Applies the gateway's answer about a subscription of the mirror, as the events would that it stands for. The caller holds
-- the lock on the user.
create or replace function billing.apply_subscription_read(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_entity jsonb, -- the subscription at the gateway; null: the gateway has no such subscription
  p_is_missed boolean -- an alert is due if no webhook announced it
)
returns jsonb -- {applied, lacks_payment}: whether it changed anything; whether apply_invoices is to name the payment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_mirrored billing.gateway_subscriptions;
  v_entity jsonb := p_entity;
  v_status constant text := billing.json_text(v_entity -> 'status');
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_paid_count constant bigint := billing.json_integer(p_entity -> 'paid_count');
  v_second constant bigint := extract(epoch from v_now);
  v_event text;
  v_applied boolean;
begin
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where (m.user_id, m.gateway_subscription_id) = (p_user_id, p_gateway_subscription_id)
  for update;
  if not found then return jsonb_build_object('applied', false, 'lacks_payment', false); end if;
  -- The user is known, so the notes in the answer are not used.
  v_entity := v_entity
    || jsonb_build_object('id', p_gateway_subscription_id, 'notes', jsonb_build_object('user_id', p_user_id));
  select e.event, e.entity into v_event, v_entity from billing.missed_event(v_mirrored, v_entity) e;
  select coalesce(bool_or(billing.apply_answer(
    concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, a.mark), a.event,
    jsonb_build_object('subscription', jsonb_build_object('entity', a.entity)), a.at,
    case when p_is_missed then coalesce(v_mirrored.period_end - interval '1 day', 'infinity') end
  )), false)
  into v_applied
  from (
    values
      -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
      (case when v_event = 'subscription.charged' then v_entity ->> 'current_end' end, v_event, v_entity,
        v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end,
        v_event is not null),
      (v_second::text, case v_status when 'active' then 'subscription.updated' else 'subscription.' || v_status end,
        p_entity || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes'), to_jsonb(v_second),
        v_status is distinct from v_mirrored.gateway_status
          and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
          and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused')))
  ) a (mark, event, entity, at, is_due)
  where a.is_due;

  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    next_check_at = case
      when m.status = 'cancelled' or m.gateway_status = 'completed'
        then case when billing.unnamed_cycles(m) > 0 then v_now + interval '6 hours' end
      -- The customer may pay or resume months later. Until then nothing changes by itself.
      when v_status in ('halted', 'paused') and m.period_end < v_now - interval '14 days' then v_now + interval '1 day'
      else v_now + interval '6 hours'
    end,
    -- So a later cycle that passes unpaid is not taken for a paid one.
    paid_count = case
      when v_status in ('active', 'completed', 'pending', 'halted') then greatest(m.paid_count, v_paid_count)
      else m.paid_count
    end,
    gateway_status = coalesce(v_status, 'unknown'),
    gateway_status_event_at = v_now,
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where (m.user_id, m.gateway_subscription_id) = (p_user_id, p_gateway_subscription_id)
  returning m.* into v_mirrored;
  perform billing.look_again(p_user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

-- One that was not authorised in time is cancelled, so that it never bills. API: service_role only.
create or replace function public.apply_subscription_order(
  p_id uuid,
  p_entity text default null -- the subscription as the gateway has it, JSON; null: the gateway does not know it
)
returns jsonb -- {applied, lacks_payment}: as apply_gateway_subscription
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_status constant text := billing.json_text(v_entity -> 'status');
  v_order billing.subscription_orders;
  v_applied boolean := false;
begin
  select * into v_order from billing.subscription_orders o where o.id = p_id;
  perform billing.begin_request('reconciliation', v_order.gateway_subscription_id);
  perform billing.lock_user(v_order.user_id);
  select * into v_order from billing.subscription_orders o where o.id = p_id for update;
  if not found then return jsonb_build_object('applied', false, 'lacks_payment', false); end if;

  if v_order.expires_at <= v_now and coalesce(v_status, 'unknown') in ('created', 'expired', 'unknown') then
    if v_status = 'created' then perform billing.plan(v_order.user_id); end if;
    perform billing.forget_subscription_order(p_id);
    return jsonb_build_object('applied', v_status is not distinct from 'created', 'lacks_payment', false);
  end if;
  v_applied := billing.apply_order_state(v_order, v_entity, null, true);
  update billing.gateway_subscriptions m
  set checked_at = billing.clock()
  where (m.user_id, m.gateway_subscription_id) = (v_order.user_id, v_order.gateway_subscription_id);
  perform billing.look_again(v_order.user_id);
  -- It may renew a payment that never came.
  if v_status = 'authenticated' and v_order.payment_id is not null and v_order.stops_at is null then
    perform billing.plan(v_order.user_id);
    v_applied := v_applied
      or exists (select from billing.subscription_orders o where o.id = p_id and o.stops_at is not null);
  end if;

  update billing.subscription_orders o
  set next_check_at = case
      when coalesce(v_status, 'created') = 'created' then least(o.expires_at, v_now + interval '1 hour')
      when v_status = 'authenticated' and o.payment_id is not null and o.starts_at > v_now then v_now + interval '1 day'
      -- Authorised: the first charge follows, or its next try.
      when v_status in ('authenticated', 'pending', 'halted') and coalesce(o.starts_at, o.created_at) > v_now - interval '30 days'
        then greatest(o.starts_at, v_now + interval '1 hour')
    end
  where o.id = p_id;
  return jsonb_build_object('applied', v_applied, 'lacks_payment', exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (v_order.user_id, v_order.gateway_subscription_id)
      and billing.lacks_payment(m)
  ));
end $$;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."look_again"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."look_again"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
