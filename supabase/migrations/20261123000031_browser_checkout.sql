-- What the pages of a checkout need: the fields to fill in, what becomes of a running period, what a plan would be for the
-- user, and the verification of a checkout that posts its result itself.

-- Returns what a checkout can fill in for the customer.
create function private.prefill(
  p_user_id uuid
)
returns jsonb -- {email, name}: null where it is not known
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'email', nullif(u.email, ''),
      'name', coalesce(nullif(p.display_name, ''), nullif(p.username, ''))
    )
    from private.find_user(p_user_id) u
    left join public.profiles p on p.user_id = p_user_id
  );
end
$$;
grant execute on function private.prefill(uuid) to service_role;

-- Returns the running period of a user, and when a period of this tier would start if it was bought now.
-- Contract: Early renewals.
create function private.running_before(
  p_user_id uuid,
  p_tier text
)
returns jsonb -- {tier, until, early_renewal, starts_at}; null: nothing runs
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_early_renewal constant text := private.early_renewal();
begin
  return (
    select jsonb_build_object(
      'tier', s.tier,
      'until', private.iso_time(s.current_period_end),
      'early_renewal', v_early_renewal,
      'starts_at', private.iso_time(
        case when v_early_renewal = 'extend' and s.tier = p_tier then s.current_period_end else v_now end
      )
    )
    from public.subscriptions s
    where s.user_id = p_user_id
      and s.status = 'active'
      and s.current_period_end > v_now
  );
end
$$;
grant execute on function private.running_before(uuid, text) to service_role;

-- Returns the user's open order for a tier, else stores a new payment, for which the caller creates an order at the gateway.
-- API: service_role only.
create or replace function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null -- the API key of the order; null: an open order of any key is returned
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan,
-- running: {tier, until, early_renewal, starts_at} | null, prefill: {email, name}},
-- {outcome: plan_not_found | user_not_found | in_flight | key_conflict}, {outcome: rate_limited, retry_after}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_plan public.plans;
  v_months integer;
  v_key private.order_keys;
  v_payment public.payments;
  v_retry_after integer;
begin
  perform private.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_key from private.order_keys k where k.user_id = p_user_id and k.key = p_idempotency_key;
  if v_key.tier <> p_tier then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if p_idempotency_key is not null and v_key.user_id is null then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select k.created_at
      from private.order_keys k
      where k.user_id = p_user_id
        and k.created_at > v_now - interval '1 hour'
      order by k.created_at desc
      limit 20
    ) recent
    having count(*) = 20;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;
  end if;
  select * into v_plan from public.plans p where p.tier = p_tier and (p.is_active or v_key.payment_id is not null);
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  v_months := coalesce(nullif(v_plan.duration_months, 0), 12);

  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_key.payment_id
      or p.tier = p_tier
        and p.amount = v_plan.price
        and p.currency = v_plan.currency
        and coalesce(p.plan_id = v_plan.id and p.duration_months = v_months, true)
        and p.status in ('created', 'failed')
        -- The gateway accepts no payment on an order that was paid and refunded.
        and p.refunded_amount = 0
        and not exists (
          select
          from private.gateway_events e
          where e.subject_id = p.gateway_order_id
            and e.event in ('refund.created', 'refund.processed', 'refund.failed')
        )
        and p.created_at > v_now - interval '30 minutes'
    )
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
  order by p.id = v_key.payment_id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select p.created_at
      from public.payments p
      where p.user_id = p_user_id
        and p.created_at > v_now - interval '1 hour'
      order by p.created_at desc
      limit 10
    ) recent
    having count(*) = 10;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;

    -- The payment stores the terms of the sale. A later change of the plan does not change them.
    insert into public.payments (user_id, amount, currency, tier, plan_id, duration_months, gateway_key_id, meta)
    values (
      p_user_id, v_plan.price, v_plan.currency, p_tier, v_plan.id, v_months, p_gateway_key_id,
      jsonb_build_object('tier', p_tier)
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  end if;

  if p_idempotency_key is not null then
    insert into private.order_keys (user_id, key, payment_id, tier)
    values (p_user_id, p_idempotency_key, v_payment.id, p_tier)
    on conflict (user_id, key) do update set payment_id = excluded.payment_id;
  end if;
  return jsonb_build_object(
    'outcome', case when v_payment.gateway_order_id is null then 'created' else 'existing' end,
    'payment_id', v_payment.id,
    'order_id', v_payment.gateway_order_id,
    'amount', v_payment.amount,
    'currency', v_payment.currency,
    'plan', to_jsonb(v_plan),
    'running', private.running_before(p_user_id, p_tier),
    'prefill', private.prefill(p_user_id)
  );
end
$$;

-- Returns what it would be for a user to buy a plan. Contract: GET /api/subscriptions/plans, Scenarios.
create function private.scenario(
  p_plan public.plans,
  p_subscription public.subscriptions, -- all null: none is active
  p_running_plan public.plans -- the plan of the subscription; all null: unknown
)
returns text -- current | renew | upgrade | downgrade | buy
language plpgsql
stable
set search_path = ''
as $$
declare
  v_end constant timestamptz := p_subscription.current_period_end;
begin
  if p_subscription.tier = p_plan.tier then
    return case
      -- The gateway renews it.
      when p_subscription.gateway_subscription_id is not null and not p_subscription.cancel_at_period_end then 'current'
      when v_end <= private.clock() + interval '7 days' then 'renew'
      when v_end is not null and private.early_renewal() = 'extend' then 'renew'
      else 'current'
    end;
  end if;
  return case
    when p_running_plan.currency = p_plan.currency and p_running_plan.price > p_plan.price then 'downgrade'
    when p_running_plan.currency = p_plan.currency then 'upgrade'
    else 'buy'
  end;
end
$$;
grant execute on function private.scenario(public.plans, public.subscriptions, public.plans) to service_role;

-- Returns the plans on offer, each with what it would be for a user to buy it. Contract: GET /api/subscriptions/plans.
-- API: service_role only.
create function public.list_plans_for_user(
  p_user_id uuid
)
returns jsonb -- {plans}: the answer's body, the lowest price first
language plpgsql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_subscription public.subscriptions;
  v_running_plan public.plans;
begin
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id and s.status = 'active';
  select * into v_running_plan
  from public.plans p
  where p.id = v_subscription.plan_id
    or v_subscription.plan_id is null and p.tier = v_subscription.tier;
  return (
    select jsonb_build_object(
      'plans',
      coalesce(
        jsonb_agg(
          to_jsonb(p) || jsonb_build_object('scenario', private.scenario(p, v_subscription, v_running_plan))
          order by p.price, p.tier
        ),
        '[]'
      )
    )
    from public.plans p
    where p.is_active
  );
end
$$;
comment on function public.list_plans_for_user(uuid) is
  'Returns the plans on offer, the lowest price first, each with what it would be for a user to buy it.';
revoke execute on function public.list_plans_for_user(uuid) from public, anon, authenticated;
grant execute on function public.list_plans_for_user(uuid) to service_role;

-- Verifies a payment for the user of its order. The signature proves that order and payment belong together, and the
-- payment's row says whose they are. Contract: POST /api/payments/return. API: service_role only.
create function public.verify_returned_payment(
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb -- as verify_payment
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_user_id uuid;
begin
  select p.user_id into v_user_id from public.payments p where p.gateway_order_id = p_order_id;
  if v_user_id is null then
    return jsonb_build_object('outcome', 'payment_not_found');
  end if;
  return public.verify_payment(v_user_id, p_order_id, p_payment_id, p_signature);
end
$$;
comment on function public.verify_returned_payment(text, text, text) is
  'Verifies a payment for the user of its order, as verify_payment does.';
revoke execute on function public.verify_returned_payment(text, text, text) from public, anon, authenticated;
grant execute on function public.verify_returned_payment(text, text, text) to service_role;

revoke execute on all functions in schema private from public;
