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
