-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

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

revoke execute on all functions in schema billing from public;
