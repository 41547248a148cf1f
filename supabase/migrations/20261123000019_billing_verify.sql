-- The billed subscription in the answers: its state beside the subscription, and the verification of its first payment.
-- Contract: GET /api/subscriptions, POST /api/payments/verify.

-- Returns the subscription, the tier and the newest payments of a user. Contract: GET /api/subscriptions.
-- API: service_role only.
create or replace function public.get_subscription(
  p_user_id uuid
)
returns json -- {subscription, currentTier, payments, billing}: the answer's body; not jsonb, since the function only sends it
language plpgsql -- a session caches its plan
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  return row_to_json(answer)
  from (
    select
      (
        select record
        from (
          select
            s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
            s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
            row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(
        (select p.subscription_tier from public.profiles p where p.user_id = p_user_id),
        'free'
      ) as "currentTier",
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.gateway_order_id,
            p.gateway_payment_id, p.gateway_signature, p.meta, p.captured_at, p.confirmed_at, p.fulfilled_at,
            p.period_start, p.period_end, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments,
      (
        select record
        from (
          select
            m.gateway_subscription_id,
            coalesce(m.gateway_status, m.status) as status,
            case
              when not m.cancel_at_period_end
                and not m.is_replaced
                -- Once halted, the gateway charges again only after the customer changed the method of payment.
                and coalesce(m.gateway_status, 'active') not in ('paused', 'halted')
                then coalesce(m.charge_at, m.period_end)
            end as next_charge_at,
            coalesce(m.gateway_status in ('pending', 'halted'), false) as payment_attention,
            m.short_url as manage_url
          from private.gateway_subscriptions m
          where m.user_id = p_user_id
            and m.gateway_subscription_id <> ''
            and m.arrived_at is not null
            and m.status is distinct from 'cancelled'
            and coalesce(m.gateway_status, 'active') not in ('created', 'completed', 'expired', 'cancelled')
            and m.ended_at is null
          -- The running one before one that starts later; of two the one that would rule.
          order by
            m.period_end > private.clock() desc nulls last,
            coalesce(m.activated_at, m.first_charged_at, m.authenticated_at, m.arrived_at) desc,
            m.gateway_subscription_id desc
          limit 1
        ) record
      ) as billing
  ) answer;
end
$$;

-- Applies the first payment of a subscription that the caller asked for, as the gateway answers about both. Without the
-- answer it says whether one is needed. Contract: POST /api/payments/verify.
-- API: service_role only.
create function public.verify_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_payment_id text, -- its signature was checked by the route
  p_entity text default null, -- the subscription at the gateway, JSON; null: not read yet
  p_payment text default null -- the payment at the gateway, JSON; null: not read, or unknown there
)
returns jsonb
-- {outcome: applied | already_applied, tier, valid_until, starts_at (null: it runs)}, {outcome: unread | subscription_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_payment constant jsonb := p_payment::jsonb;
  v_order private.subscription_orders;
  v_mirrored private.gateway_subscriptions;
  v_is_applied boolean := false;
begin
  perform private.begin_request('payment', p_payment_id);
  if private.lock_user(p_user_id) is not null then
    select * into v_order
    from private.subscription_orders o
    where o.gateway_subscription_id = p_gateway_subscription_id
      and o.user_id = p_user_id
    for update;
  end if;
  if v_order.id is null then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  select * into v_mirrored
  from private.gateway_subscriptions m
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;

  if v_mirrored.period_end is null or v_order.is_trial and v_mirrored.authenticated_at is null then
    if p_entity is null then
      return jsonb_build_object('outcome', 'unread');
    end if;
    v_is_applied := private.apply_order_state(
      v_order,
      p_entity::jsonb,
      case when private.is_payment_of(v_payment, p_payment_id) then v_payment end,
      false
    );
    -- The gateway may need a moment. Its events or the next reconciliation tell.
    update private.subscription_orders o
    set next_check_at = least(o.next_check_at, private.clock() + interval '1 minute')
    where o.id = v_order.id;
    select * into v_mirrored
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id = p_gateway_subscription_id;
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_applied then 'applied' else 'already_applied' end,
    'tier', v_order.tier,
    'valid_until', private.iso_time(v_mirrored.period_end),
    'starts_at', case when v_mirrored.period_end is null then private.iso_time(v_order.starts_at) end
  );
end
$$;
comment on function public.verify_subscription(uuid, text, text, text, text) is
  'Grants the first cycle of a subscription that a user authorised, once.';
revoke execute on function public.verify_subscription(uuid, text, text, text, text) from public, anon, authenticated;
grant execute on function public.verify_subscription(uuid, text, text, text, text) to service_role;

-- Returns whether the gateway's answer is about a payment that it captured.
create function private.is_payment_of(
  p_payment jsonb,
  p_payment_id text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return private.json_text(p_payment -> 'id') is not distinct from p_payment_id
    and private.json_text(p_payment -> 'status') in ('captured', 'refunded')
    and private.json_integer(p_payment -> 'amount') is not null;
end
$$;
grant execute on function private.is_payment_of(jsonb, text) to service_role;

revoke execute on all functions in schema private from public;
