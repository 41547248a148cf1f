-- Changes of the plan, now or when the period ends. Contract: POST /api/subscriptions/change.

-- The terms of a change. The sources of access decide who has which tier; a change only adds a purchase, a subscription at the
-- gateway, or both.
create type private.change as (
  outcome text, -- change | undo | already_subscribed | subscription_not_found
  from_tier text,
  order_start text, -- the order to pay: now or after_current; null: none
  is_billed boolean, -- the gateway bills a new subscription
  replaces text, -- the subscription that ends when the new one starts
  charge_at timestamptz, -- when the gateway charges the new subscription; null: at the authorisation
  starts_at timestamptz, -- when the new tier begins
  ends_at timestamptz, -- the end of its first period
  credit bigint, -- minor currency units
  amount_due bigint -- at starts_at, minor currency units
);

-- Returns the terms of a change to a plan.
create function private.plan_change(
  p_user_id uuid,
  p_plan public.plans,
  p_when text -- now or period_end
)
returns private.change
language plpgsql
stable
set search_path = ''
as $$
declare
  -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
  v_notice constant interval := interval '80 hours';
  v_now constant timestamptz := private.clock();
  v_months constant integer := coalesce(nullif(p_plan.duration_months, 0), 12);
  v_running public.subscriptions;
  v_billed private.gateway_subscriptions;
  v_change private.change;
begin
  select * into v_running
  from public.subscriptions s
  where s.user_id = p_user_id
    and s.status = 'active'
    and s.current_period_end > v_now;
  if not found then
    v_change.outcome := 'subscription_not_found';
    return v_change;
  end if;
  select * into v_billed
  from private.gateway_subscriptions m
  where m.user_id = p_user_id
    and m.gateway_subscription_id = v_running.gateway_subscription_id
    and m.status is distinct from 'cancelled'
    and m.ended_at is null
    and coalesce(m.gateway_status, 'active') not in ('completed', 'expired', 'cancelled')
    and m.period_end > v_now;
  v_change.outcome := 'change';
  v_change.from_tier := v_running.tier;
  v_change.is_billed := v_billed.user_id is not null and p_plan.gateway_plan_id is not null;
  if v_billed.user_id is not null and v_running.tier = p_plan.tier then
    v_change.outcome := case when v_billed.replaced_by is not null then 'undo' else 'already_subscribed' end;
  end if;

  v_change.credit := 0;
  v_change.starts_at := v_now;
  if p_when = 'now' then
    v_change.credit := coalesce((private.find_credit(p_user_id, p_plan)).credit, 0);
    if not v_change.is_billed or v_change.credit > 0 then
      v_change.order_start := 'now';
      v_change.charge_at := private.add_months(v_now, v_months);
    end if;
  elsif v_change.is_billed then
    v_change.replaces := v_billed.gateway_subscription_id;
    v_change.starts_at := v_billed.period_end;
    while v_change.starts_at < v_now + v_notice loop
      -- Too late for the end of this cycle.
      v_change.starts_at := private.add_months(
        v_change.starts_at,
        coalesce((select nullif(p.duration_months, 0) from public.plans p where p.id = v_billed.plan_id), 12)
      );
    end loop;
    v_change.charge_at := v_change.starts_at;
  else
    v_change.order_start := 'after_current';
    v_change.starts_at := coalesce((private.find_end(p_user_id)).ends_at, v_now);
  end if;
  v_change.ends_at := private.add_months(v_change.starts_at, v_months);
  v_change.amount_due := p_plan.price - v_change.credit;
  return v_change;
end
$$;
grant execute on function private.plan_change(uuid, public.plans, text) to service_role;

-- Returns the terms of a change, and writes nothing. Contract: POST /api/subscriptions/change/preview.
-- API: service_role only.
create function public.preview_change(
  p_user_id uuid,
  p_tier text,
  p_when text -- now or period_end
)
returns jsonb
-- {outcome: change | undo, order_start: now | after_current | null, is_billed, change: {amount_due, credit, currency,
-- starts_at, ends_at, from, to}}, {outcome: plan_not_found | already_subscribed | subscription_not_found}
language plpgsql
stable
security invoker
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_plan public.plans;
  v_change private.change;
begin
  select * into v_plan from public.plans p where p.tier = p_tier and p.is_active;
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  v_change := private.plan_change(p_user_id, v_plan, p_when);
  if v_change.outcome not in ('change', 'undo') then
    return jsonb_build_object('outcome', v_change.outcome);
  end if;
  return jsonb_build_object(
    'outcome', v_change.outcome,
    'order_start', case when v_change.outcome = 'change' then v_change.order_start end,
    'is_billed', v_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', case when v_change.outcome = 'change' then v_change.amount_due else 0 end,
      'credit', case when v_change.outcome = 'change' then v_change.credit else 0 end,
      'currency', v_plan.currency,
      'starts_at', private.iso_time(v_change.starts_at),
      'ends_at', private.iso_time(v_change.ends_at),
      'from', v_change.from_tier,
      'to', p_tier
    )
  );
end
$$;
comment on function public.preview_change(uuid, text, text) is 'What a change of the plan would cost, and when it begins.';
revoke execute on function public.preview_change(uuid, text, text) from public, anon, authenticated;
grant execute on function public.preview_change(uuid, text, text) to service_role;

-- Makes the order of the new subscription of a change, or undoes a change that waits for the end of the cycle.
-- API: service_role only.
create function public.create_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_payment_id uuid default null, -- pays for the first period
  p_gateway_key_id text default null
)
returns jsonb
-- as create_subscription, or {outcome: undone | already_subscribed | subscription_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_plan public.plans;
  v_change private.change;
begin
  perform private.begin_request('change', null);
  v_email := private.lock_user(p_user_id);
  if v_email is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_plan from public.plans p where p.tier = p_tier and p.is_active;
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  v_change := private.plan_change(p_user_id, v_plan, p_when);
  if v_change.outcome = 'undo' then
    perform private.undo_change(p_user_id);
    perform private.settle_access(p_user_id, v_email);
    return jsonb_build_object('outcome', 'undone');
  end if;
  if v_change.outcome <> 'change' then
    return jsonb_build_object('outcome', v_change.outcome);
  end if;
  if not v_change.is_billed then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  return private.request_subscription(
    p_user_id,
    v_plan,
    null,
    null,
    p_gateway_key_id,
    row(
      case when p_payment_id is not null or p_when = 'period_end' then v_change.charge_at end,
      v_change.replaces,
      p_payment_id
    )::private.subscription_terms
  );
end
$$;
comment on function public.create_change(uuid, text, text, uuid, text) is
  'The subscription to make at the gateway for a change of the plan.';
revoke execute on function public.create_change(uuid, text, text, uuid, text) from public, anon, authenticated;
grant execute on function public.create_change(uuid, text, text, uuid, text) to service_role;

revoke execute on all functions in schema private from public;
