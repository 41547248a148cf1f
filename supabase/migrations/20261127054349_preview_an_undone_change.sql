-- Made by npm run migration. Renames and data are written by hand.

create or replace function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text -- the lookup key of the price; null: the default price of the tier
)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_months constant integer := billing.sold_months(v_plan.duration_months);
  v_held billing.held;
  v_is_same boolean; -- a renewal, not a change
  v_running public.subscriptions;
  v_billed billing.gateway_subscriptions;
  v_successor billing.subscription_orders;
  v_renewed public.payments;
  v_credit record;
  v_change billing.change;
begin
  select * into v_running
  from public.subscriptions s
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end > v_now;
  v_held := billing.find_held(v_running.plan_id, v_running.tier, billing.price_shown(v_running));
  v_change.outcome := case
    when billing.is_on_offer(v_plan) is not true then 'plan_not_found'
    when v_plan.tier <> p_tier then 'price_conflict'
    when v_held.plan_id is null then 'subscription_not_found'
  end;
  if v_change.outcome is not null then return v_change; end if;
  v_is_same := v_held.plan_id = v_plan.id;
  select * into v_billed
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id
    and m.gateway_subscription_id = v_running.gateway_subscription_id
    and billing.is_billed(m)
    and m.period_end > v_now;
  v_successor := billing.find_successor(p_user_id, v_billed.gateway_subscription_id);
  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_when = 'now';
  if p_when = 'now' then
    v_change.reason := billing.refuse_now(v_held, billing.find_wanted(v_plan), v_credit.is_excess);
  end if;
  v_change.outcome := case
    when v_change.reason is not null then 'not_now'
    when v_billed.user_id is null or not v_is_same then 'change'
    when v_successor.id is not null then 'undo'
    else 'already_subscribed'
  end;
  v_change.plan := v_plan;
  v_change.from_tier := v_running.tier;
  v_change.from_price := case when v_running.price_amount is not null then coalesce(v_running.price_key, v_running.tier) end;
  if v_billed.user_id is null and v_is_same and p_when = 'period_end' then
    -- A renewal that the customer cancelled or never authorised is made again.
    v_renewed := billing.find_unrenewed(p_user_id, v_running.current_period_end);
  end if;
  v_change.is_billed := v_plan.gateway_plan_id is not null and num_nonnulls(v_billed.user_id, v_renewed.id) > 0;

  v_change.credit := 0;
  v_change.starts_at := v_now;
  if v_change.is_billed and v_renewed.id is not null then
    v_change.renews := v_renewed.id;
    v_change.charge_at := v_renewed.period_end;
    v_change.starts_at := v_renewed.period_end;
  elsif p_when = 'now' then
    v_change.credit := coalesce(v_credit.credit, 0);
    if not v_change.is_billed or v_change.credit > 0 then
      v_change.order_start := 'now';
      v_change.charge_at := billing.add_months(v_now, v_months);
    end if;
  elsif v_change.is_billed then
    v_change.replaces := v_billed.gateway_subscription_id;
    v_change.starts_at := v_billed.period_end;
    v_change.charge_at := v_change.starts_at;
    -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
    if v_change.outcome = 'change' and v_change.starts_at < v_now + interval '80 hours' then
      v_change.outcome := 'too_late';
    end if;
  else
    v_change.order_start := 'after_current';
    v_change.starts_at := coalesce(
      (billing.find_followed(p_user_id, v_plan.tier, null, null, v_change.order_start, null)).ends_at, v_now
    );
  end if;
  v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
  v_change.amount_due := v_plan.price - v_change.credit;
  if v_change.outcome = 'undo' then
    -- What runs goes on.
    v_change.starts_at := v_billed.period_end;
    v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
    if billing.is_told(v_billed.gateway_subscription_id) then
      -- What runs ends, so what follows it must start.
      v_change.outcome := 'too_late';
      v_change.starts_at := v_successor.starts_at;
    end if;
    v_change.order_start := null;
    v_change.credit := 0;
    v_change.amount_due := 0;
  end if;
  return v_change;
end $$;

revoke execute on all functions in schema billing from public;
