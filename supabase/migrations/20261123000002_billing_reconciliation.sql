-- Reconciles subscriptions that users asked for, until their authorisation is known or no longer possible.
-- POST /api/internal/reconcile.

-- Subscriptions that are due, leased for five minutes. One whose events arrived is left to the reconciliation of gateway
-- subscriptions. API: service_role only.
create function public.claim_subscription_orders()
returns jsonb -- {orders: [{id, gateway_subscription_id}]}: at most 20
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_orders jsonb;
begin
  with due as materialized (
    select
      o.id,
      exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = o.user_id
          and m.gateway_subscription_id = o.gateway_subscription_id
      ) as is_announced
    from private.subscription_orders o
    where o.next_check_at <= v_now
    order by o.next_check_at
    limit 20
    for no key update of o skip locked
  ),
  leased as (
    update private.subscription_orders o
    set next_check_at = case when not d.is_announced then v_now + interval '5 minutes' end
    from due d
    where o.id = d.id
    returning o.id, o.gateway_subscription_id, d.is_announced
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_orders
  from leased l
  where not l.is_announced;
  return jsonb_build_object('orders', v_orders);
end
$$;
comment on function public.claim_subscription_orders() is
  'Leases up to 20 subscriptions that users asked for and whose authorisation is not known.';
revoke execute on function public.claim_subscription_orders() from public, anon, authenticated;
grant execute on function public.claim_subscription_orders() to service_role;

-- Applies the gateway's state of a subscription that a user asked for: its first cycle as subscription.activated would. One
-- that was not authorised in time is cancelled. The gateway lets it expire by itself; the cancellation makes sure that it
-- never bills. API: service_role only.
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
  v_entity jsonb := p_entity::jsonb;
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

  if v_status = 'active' and private.json_time(v_entity -> 'current_end') is not null then
    -- Its user is known: the notes decide nothing.
    v_entity := v_entity || jsonb_build_object(
      'id', v_order.gateway_subscription_id,
      'notes', jsonb_build_object('user_id', v_order.user_id)
    );
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', v_order.gateway_subscription_id, v_status, v_entity ->> 'current_end'),
      jsonb_build_object(
        'event', 'subscription.activated',
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        'created_at', v_entity -> 'current_start'
      ),
      v_order.created_at
    );
  elsif v_status = 'created' and v_order.expires_at <= v_now then
    perform private.enqueue_cancellation(v_order.gateway_subscription_id);
    v_applied := true;
  end if;

  update private.subscription_orders o
  set next_check_at = case
      when v_status = 'created' and o.expires_at > v_now then least(o.expires_at, v_now + interval '1 hour')
      -- Authorised: the first charge follows.
      when v_status = 'authenticated' and o.created_at > v_now - interval '30 days' then v_now + interval '1 hour'
    end
  where o.id = p_id;
  return jsonb_build_object('applied', v_applied);
end
$$;
comment on function public.apply_subscription_order(uuid, text) is
  'Applies what the gateway answers about a subscription that a user asked for.';
revoke execute on function public.apply_subscription_order(uuid, text) from public, anon, authenticated;
grant execute on function public.apply_subscription_order(uuid, text) to service_role;

-- Deletes subscription orders that are older than 90 days, a batch at a time.
create function private.delete_subscription_orders()
returns integer -- how many were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest('private.subscription_orders', 'created_at', private.clock() - interval '90 days');
end
$$;

create or replace function private.sweep_jobs()
returns text[]
language sql
immutable
set search_path = ''
return array[
  'replay_missed_events', 'settle_waiting_subscriptions', 'expire_subscriptions', 'announce_ends', 'reduce_payloads',
  'empty_payloads', 'delete_order_keys', 'delete_mails', 'erase_deleted_users', 'delete_subscription_orders'
];

revoke execute on all functions in schema private from public;
