-- Reconciliation with all states of gateway subscriptions. Contract: POST /api/internal/reconcile, "Reconciliation".

-- Applies the gateway's answer about a subscription. API: service_role only.
create or replace function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null -- the subscription at the gateway, JSON; null: the gateway has no such subscription
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_user_id uuid;
  v_mirrored private.gateway_subscriptions;
  v_entity jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_now constant timestamptz := date_trunc('second', private.clock());
  v_start constant timestamptz := private.json_time(v_entity -> 'current_start');
  v_end constant timestamptz := private.json_time(v_entity -> 'current_end');
  v_paid_count constant bigint := private.json_integer(v_entity -> 'paid_count');
  v_event text;
  v_applied boolean := false;
begin
  perform private.begin_request('reconciliation', p_gateway_subscription_id);
  select s.user_id into v_user_id from public.subscriptions s where s.id = p_subscription_id;
  perform private.lock_user(v_user_id);
  select * into v_mirrored
  from private.gateway_subscriptions m
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  for update;
  if not found then
    return jsonb_build_object('applied', false);
  end if;
  -- The user is known, so the notes in the answer are not used.
  v_entity := v_entity || jsonb_build_object(
    'id', p_gateway_subscription_id,
    'notes', jsonb_build_object('user_id', v_user_id)
  );
  -- The current cycle may be unpaid. The number of paid cycles tells. Without any charge the first activation counts as one.
  -- After a halt an answer without that number says nothing about payment.
  if v_status in ('active', 'completed', 'pending', 'paused')
    and coalesce(
      v_paid_count <= coalesce(v_mirrored.paid_count, (v_mirrored.first_period_end is not null)::integer),
      v_mirrored.last_halted_at > v_mirrored.period_event_at
    )
  then
    v_event := null;
  elsif v_status in ('active', 'completed') and v_end > v_mirrored.period_end
    -- Charged, and paused since.
    or v_status = 'paused' and v_start = v_mirrored.period_end
  then
    v_event := 'subscription.charged';
  elsif v_status = 'pending' and v_start > v_mirrored.period_end then
    -- The charge that failed is for the cycle that begins now. The one before it was paid.
    v_event := 'subscription.charged';
    v_entity := v_entity || jsonb_build_object(
      'current_start', extract(epoch from v_mirrored.period_end)::bigint,
      'current_end', v_entity -> 'current_start'
    );
  elsif v_status in ('cancelled', 'expired') and v_mirrored.status is distinct from 'cancelled' then
    v_event := 'subscription.cancelled';
  end if;

  if v_event is not null then
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, case
        when v_event = 'subscription.charged' then v_entity ->> 'current_end'
      end),
      jsonb_build_object(
        'event', v_event,
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
        'created_at', v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end
      ),
      v_mirrored.period_end - interval '1 day'
    );
  end if;
  if v_status is distinct from v_mirrored.gateway_status
    and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
    and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused'))
  then
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, extract(epoch from v_now)::bigint),
      jsonb_build_object(
        'event', case v_status when 'active' then 'subscription.updated' else 'subscription.' || v_status end,
        'payload', jsonb_build_object('subscription', jsonb_build_object(
          'entity', p_entity::jsonb || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes')
        )),
        'created_at', extract(epoch from v_now)::bigint
      ),
      v_mirrored.period_end - interval '1 day'
    ) or v_applied;
  end if;

  update private.gateway_subscriptions m
  set checked_at = private.clock(),
    next_check_at = case
      when m.status = 'cancelled' or m.gateway_status = 'completed' then null
      -- The customer may pay or resume months later. Until then nothing changes by itself.
      when v_status in ('halted', 'paused') and m.period_end < v_now - interval '14 days' then v_now + interval '1 day'
      else v_now + interval '6 hours'
    end,
    -- So a later cycle that passes unpaid is not taken for a paid one.
    paid_count = case
      when v_status in ('active', 'completed', 'pending') then greatest(m.paid_count, v_paid_count)
      else m.paid_count
    end,
    gateway_status = coalesce(v_status, 'unknown'),
    gateway_status_event_at = v_now,
    charge_at = case when v_status is null then m.charge_at else private.json_time(v_entity -> 'charge_at') end
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
  return jsonb_build_object('applied', v_applied);
end
$$;

-- Applies the gateway's state of a subscription that a user asked for, as its events would: authorised, or activated with
-- the first charge.
create function private.apply_order_state(
  p_order private.subscription_orders,
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- of the first cycle; null: not known
  p_is_missed boolean -- an alert is due if no webhook announced it
)
returns boolean -- whether the state changed anything
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := date_trunc('second', private.clock());
  v_status constant text := private.json_text(p_entity -> 'status');
  v_id constant text := p_order.gateway_subscription_id;
  -- The user is known, so the notes in the answer are not used.
  v_subscription constant jsonb := p_entity
    || jsonb_build_object('id', v_id, 'notes', jsonb_build_object('user_id', p_order.user_id));
  v_has_begun constant boolean := private.json_time(p_entity -> 'current_end') is not null
    and v_status in ('active', 'pending', 'halted', 'paused', 'completed');
  v_event record;
  v_body jsonb;
  v_delivery private.delivery;
  v_applied boolean := false;
begin
  for v_event in
    select e.key, e.name, e.at, e.payment
    from (
      values
        -- The same key as in private.apply_gateway_subscription.
        (concat_ws(':', 'reconcile', v_id, 'active', p_entity ->> 'current_end'), 'subscription.activated',
          p_entity -> 'current_start', null, v_has_begun and v_status = 'active'),
        (concat_ws(':', 'reconcile', v_id, 'charged', p_payment ->> 'id'), 'subscription.charged',
          p_entity -> 'current_start', p_payment, v_has_begun and p_payment is not null),
        (concat_ws(':', 'reconcile', v_id, 'authenticated'), 'subscription.authenticated',
          to_jsonb(extract(epoch from v_now)::bigint), null, v_status = 'authenticated')
    ) e (key, name, at, payment, is_due)
    where e.is_due
  loop
    v_body := jsonb_build_object(
      'event', v_event.name,
      'payload', jsonb_strip_nulls(jsonb_build_object(
        'payment', case when v_event.payment is not null then jsonb_build_object('entity', v_event.payment) end
      )) || jsonb_build_object('subscription', jsonb_build_object('entity', v_subscription)),
      'created_at', v_event.at
    );
    if p_is_missed then
      v_applied := private.apply_answer(v_event.key, v_body, p_order.created_at) or v_applied;
    else
      v_delivery := private.apply_delivery(sha256(convert_to(v_event.key, 'UTF8')), v_event.key, v_body, 0);
      v_applied := v_delivery.is_applied and v_delivery.outcome = 'applied' or v_applied;
    end if;
  end loop;
  return v_applied;
end
$$;
grant execute on function
  private.apply_order_state(private.subscription_orders, jsonb, jsonb, boolean) to service_role;

-- Applies the gateway's answer about a subscription that a user asked for. One that was not authorised in time is cancelled,
-- so that it never bills. API: service_role only.
create function public.apply_subscription_order(
  p_id uuid,
  p_entity text default null -- the subscription as the gateway has it, JSON; null: the gateway does not know it
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_order private.subscription_orders;
  v_applied boolean := false;
begin
  select * into v_order from private.subscription_orders o where o.id = p_id;
  perform private.begin_request('reconciliation', v_order.gateway_subscription_id);
  perform private.lock_user(v_order.user_id);
  select * into v_order from private.subscription_orders o where o.id = p_id for update;
  if not found then
    return jsonb_build_object('applied', false);
  end if;

  if v_order.expires_at <= v_now and coalesce(v_status, 'unknown') in ('created', 'expired', 'unknown') then
    if v_status = 'created' then
      perform private.enqueue_cancellation(v_order.gateway_subscription_id);
    end if;
    perform private.forget_subscription_order(p_id);
    return jsonb_build_object('applied', v_status is not distinct from 'created');
  end if;
  v_applied := private.apply_order_state(v_order, v_entity, null, true);
  if v_status = 'authenticated'
    and v_order.payment_id is not null
    and v_order.created_at < v_now - interval '5 days'
    and not exists (
      select
      from public.payments p
      where p.id = v_order.payment_id
        and p.fulfilled_at is not null
        and p.ended_at is null
    )
  then
    -- A change whose first period was not paid, or was refunded: what ran before goes on.
    perform private.enqueue_cancellation(v_order.gateway_subscription_id);
    v_applied := true;
  end if;

  update private.subscription_orders o
  set next_check_at = case
      when coalesce(v_status, 'created') = 'created' then least(o.expires_at, v_now + interval '1 hour')
      when v_status = 'authenticated' and o.payment_id is not null and o.starts_at > v_now then v_now + interval '1 day'
      -- Authorised: the first charge follows.
      when v_status = 'authenticated' and coalesce(o.starts_at, o.created_at) > v_now - interval '30 days'
        then greatest(o.starts_at, v_now + interval '1 hour')
    end
  where o.id = p_id;
  return jsonb_build_object('applied', v_applied);
end
$$;
comment on function public.apply_subscription_order(uuid, text) is
  'Applies what the gateway answers about a subscription that a user asked for.';
revoke execute on function public.apply_subscription_order(uuid, text) from public, anon, authenticated;
grant execute on function public.apply_subscription_order(uuid, text) to service_role;

revoke execute on all functions in schema private from public;
