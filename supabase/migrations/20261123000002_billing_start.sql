-- Starts a subscription that the gateway bills. Contract: POST /api/subscriptions.

-- The terms of a subscription to make: how a change of plan differs from a start.
create type private.subscription_terms as (
  starts_at timestamptz, -- null: at the authorisation
  replaces text, -- the gateway subscription that ends when this one starts
  payment_id uuid -- pays for the time until starts_at
);

-- Returns the user's open order of a subscription to a plan, else a new one to make at the gateway. The caller holds the
-- lock on the user.
create function private.request_subscription(
  p_user_id uuid,
  p_plan public.plans,
  p_order private.subscription_orders, -- that the idempotency key names
  p_idempotency_key text,
  p_gateway_key_id text,
  p_terms private.subscription_terms
)
returns jsonb -- as public.create_subscription
language plpgsql
volatile
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_order private.subscription_orders := p_order;
  v_retry_after integer;
begin
  if v_order.id is null then
    select * into v_order
    from private.subscription_orders o
    where o.user_id = p_user_id
      and o.tier = p_plan.tier
      and o.gateway_plan_id = p_plan.gateway_plan_id
      and o.replaces is not distinct from p_terms.replaces
      and o.payment_id is not distinct from p_terms.payment_id
      and coalesce(o.gateway_key_id = p_gateway_key_id, true)
      and o.created_at > v_now - interval '30 minutes'
      and o.withdrawn_at is null
      and not exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = p_user_id
          and m.gateway_subscription_id = o.gateway_subscription_id
      )
      and (o.gateway_subscription_id is not null or o.created_at > v_now - interval '30 seconds')
    order by o.gateway_subscription_id is not null desc, o.created_at desc
    limit 1;
  elsif v_order.gateway_subscription_id is null and v_order.created_at <= v_now - interval '30 seconds' then
    -- Its request ended without an answer of the gateway. What it may have made there expires without an authorisation.
    perform private.forget_subscription_order(v_order.id);
    v_order := null;
  end if;
  if v_order.id is not null and v_order.gateway_subscription_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  end if;
  if v_order.id is not null then
    if p_idempotency_key <> all (v_order.idempotency_keys) then
      if cardinality(v_order.idempotency_keys) = 20 then
        return jsonb_build_object(
          'outcome', 'rate_limited',
          'retry_after', ceil(extract(epoch from v_order.created_at + interval '30 minutes' - v_now))
        );
      end if;
      update private.subscription_orders o
      set idempotency_keys = o.idempotency_keys || p_idempotency_key
      where o.id = v_order.id;
    end if;
    return private.subscription_order('existing', v_order, p_plan);
  end if;

  select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
  from (
    select o.created_at
    from private.subscription_orders o
    where o.user_id = p_user_id
      and o.created_at > v_now - interval '1 hour'
    order by o.created_at desc
    limit 10
  ) recent
  having count(*) = 10;
  if found then
    return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
  end if;
  if p_terms.starts_at is null and p_plan.trial_days > 0 and private.has_never_paid(p_user_id) then
    p_terms.starts_at := date_trunc('second', v_now) + make_interval(days => p_plan.trial_days);
    v_order.is_trial := true;
  end if;
  insert into private.subscription_orders (
    user_id, tier, gateway_plan_id, gateway_key_id, idempotency_keys, created_at, expires_at, starts_at, is_trial, replaces,
    payment_id, next_check_at
  )
  values (
    p_user_id, p_plan.tier, p_plan.gateway_plan_id, p_gateway_key_id, array_remove(array[p_idempotency_key], null), v_now,
    v_now + interval '24 hours', p_terms.starts_at, coalesce(v_order.is_trial, false), p_terms.replaces,
    p_terms.payment_id, v_now + interval '25 hours'
  )
  returning * into v_order;
  return private.subscription_order('created', v_order, p_plan);
end
$$;
grant execute on function
  private.request_subscription(
    uuid, public.plans, private.subscription_orders, text, text, private.subscription_terms
  ) to service_role;

-- Returns whether a user had neither a fulfilled payment nor a gateway subscription, so that a trial may begin.
create function private.has_never_paid(
  p_user_id uuid
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return not exists (select from public.payments p where p.user_id = p_user_id and p.captured_at is not null)
    and not exists (
      select
      from private.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.arrived_at is not null
    );
end
$$;
grant execute on function private.has_never_paid(uuid) to service_role;

-- Returns whether the gateway bills a user's subscription to a plan, or will.
create function private.is_subscribed(
  p_user_id uuid,
  p_plan_id uuid
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.plan_id = p_plan_id
      and (m.status = 'active' or m.gateway_status = 'authenticated')
      and coalesce(m.gateway_status, 'active') not in ('halted', 'completed', 'expired', 'cancelled')
      and m.ended_at is null
      and not m.cancel_at_period_end
      and not m.is_replaced
  );
end
$$;
grant execute on function private.is_subscribed(uuid, uuid) to service_role;

-- A subscription to authorise: the user's open one of this tier, else a new one to make at the gateway.
-- API: service_role only.
create function public.create_subscription(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null -- under which it is made; null: those of any are given again
)
returns jsonb
-- {outcome: created | existing, id, gateway_plan_id, billing_cycles, expire_by, start_at (Unix seconds; null: at once),
-- gateway_subscription_id, short_url, status, plan, running: {tier, until, early_renewal} | null},
-- {outcome: plan_not_found | user_not_found | in_flight | key_conflict | already_subscribed},
-- {outcome: rate_limited, retry_after}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_plan public.plans;
  v_order private.subscription_orders;
begin
  perform private.begin_request('subscription', p_idempotency_key);
  -- Of two requests at once the second waits here and finds what the first wrote.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_order
  from private.subscription_orders o
  where o.user_id = p_user_id
    and p_idempotency_key = any (o.idempotency_keys);
  if v_order.tier <> p_tier then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  select * into v_plan
  from public.plans p
  where p.tier = p_tier
    and (p.is_active or v_order.id is not null);
  if not found or v_plan.gateway_plan_id is null then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_order.id is null and private.is_subscribed(p_user_id, v_plan.id) then
    return jsonb_build_object('outcome', 'already_subscribed');
  end if;
  return private.request_subscription(p_user_id, v_plan, v_order, p_idempotency_key, p_gateway_key_id, null);
end
$$;
comment on function public.create_subscription(uuid, text, text, text) is
  'A user''s open subscription to a tier, or a new one to make at the gateway.';
revoke execute on function public.create_subscription(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.create_subscription(uuid, text, text, text) to service_role;

-- The result of create_subscription.
create function private.subscription_order(
  p_outcome text,
  p_order private.subscription_orders,
  p_plan public.plans
)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'outcome', p_outcome,
    'id', p_order.id,
    'gateway_plan_id', p_order.gateway_plan_id,
    'billing_cycles',
    coalesce(p_plan.billing_cycles, greatest(120 / coalesce(nullif(p_plan.duration_months, 0), 12), 1)),
    'expire_by', extract(epoch from p_order.expires_at)::bigint,
    'start_at', extract(epoch from p_order.starts_at)::bigint,
    'gateway_subscription_id', p_order.gateway_subscription_id,
    'short_url', p_order.short_url,
    'status', coalesce(
      (
        select coalesce(m.gateway_status, m.status)
        from private.gateway_subscriptions m
        where m.user_id = p_order.user_id
          and m.gateway_subscription_id = p_order.gateway_subscription_id
      ),
      case when p_order.withdrawn_at is null then 'created' else 'cancelled' end
    ),
    'plan', to_jsonb(p_plan),
    'running', (
      select jsonb_build_object(
        'tier', s.tier,
        'until', private.iso_time(s.current_period_end),
        'early_renewal', private.early_renewal()
      )
      from public.subscriptions s
      where s.user_id = p_order.user_id
        and s.status = 'active'
        and s.current_period_end > private.clock()
    )
  );
end
$$;
grant execute on function
  private.subscription_order(text, private.subscription_orders, public.plans) to service_role;

revoke execute on all functions in schema private from public;
