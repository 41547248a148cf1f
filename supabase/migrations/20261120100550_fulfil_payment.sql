-- What a captured payment buys: subscription, period, tier and mail, all at once and once. SPEC 4, verify, steps 6 to 12.
-- Depends on: _schema, _profiles, _access, _outbox, _extra_payments.

-- Calendar months in UTC whatever the session's time zone, clamped to the last day of the month.
create function private.add_months(
  p_from timestamptz,
  p_months integer
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return (p_from at time zone 'UTC' + make_interval(months => p_months)) at time zone 'UTC';
end
$$;
revoke execute on function private.add_months(timestamptz, integer) from public;
grant execute on function private.add_months(timestamptz, integer) to service_role;

-- The months of a period that add_months made.
create function private.months_between(
  p_start timestamptz,
  p_end timestamptz
)
returns integer
language sql
immutable
set search_path = ''
return 12 * (extract(year from p_end at time zone 'UTC') - extract(year from p_start at time zone 'UTC'))
  + extract(month from p_end at time zone 'UTC') - extract(month from p_start at time zone 'UTC');
revoke execute on function private.months_between(timestamptz, timestamptz) from public;
grant execute on function private.months_between(timestamptz, timestamptz) to service_role;

-- Gives a user a tier; a missing profile is made.
create function private.set_tier(
  p_user_id uuid,
  p_tier text,
  p_email text -- of the user, to name a new profile by
)
returns text -- the name to greet the user by; null where the profile had to be made
language plpgsql
set search_path = ''
as $$
declare
  v_display_name text;
begin
  insert into public.profiles as p (user_id, subscription_tier, username)
  values (p_user_id, p_tier, private.default_username(p_email))
  on conflict (user_id) do update set subscription_tier = excluded.subscription_tier
  -- xmax is 0 on a row that was inserted, not updated.
  returning case when p.xmax <> 0 then coalesce(nullif(p.display_name, ''), p.username, '') end into v_display_name;
  return v_display_name;
end
$$;
revoke execute on function private.set_tier(uuid, text, text) from public;
grant execute on function private.set_tier(uuid, text, text) to service_role;

-- Which tier a payment is for. SPEC 4, verify, step 7.
create function private.tier_bought(
  p_payment public.payments
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(nullif(p_payment.meta ->> 'tier', ''), nullif(p_payment.tier, ''), 'basic');
end
$$;
revoke execute on function private.tier_bought(public.payments) from public;
grant execute on function private.tier_bought(public.payments) to service_role;

-- Captures a payment and grants what it bought. The caller holds the locks on the user and on the payment.
-- Without a plan for the tier the payment is captured all the same: the money is there. So is one whose user is gone, and
-- one that was given back in full: they buy nothing any more.
create function private.fulfil_payment(
  p_payment public.payments,
  p_email text,
  p_gateway_payment_id text,
  p_signature text, -- null: not brought back by the customer
  p_is_confirmed boolean -- the gateway itself says that the money was captured
)
returns jsonb -- {outcome: applied | plan_not_found | refunded | user_gone, tier, valid_until}
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := date_trunc('milliseconds', private.clock());
  v_tier constant text := private.tier_bought(p_payment);
  v_is_refunded constant boolean := private.is_given_back(p_payment);
  v_plan public.plans;
  v_before public.subscriptions;
  v_subscription_id uuid;
  v_start timestamptz;
  v_end timestamptz;
  v_extends boolean;
  v_display_name text;
begin
  select * into v_plan from public.plans p where p.tier = v_tier;
  if found and p_payment.user_id is not null and not v_is_refunded then
    select * into v_before from public.subscriptions s where s.user_id = p_payment.user_id for update;
    v_extends := current_setting('subscriptions.early_renewal', true) = 'extend'
      and v_before.status = 'active'
      and v_before.tier = v_tier
      and v_before.current_period_end > v_now;
    v_start := case when v_extends then date_trunc('milliseconds', v_before.current_period_end) else v_now end;
    v_end := private.add_months(v_start, coalesce(nullif(v_plan.duration_months, 0), 12));

    insert into public.subscriptions as s (
      user_id, plan_id, tier, status, current_period_start, current_period_end, superseded_gateway_subscription_ids
    )
    values (
      p_payment.user_id, v_plan.id, v_tier, 'active',
      case when v_extends then v_before.current_period_start else v_start end,
      v_end,
      array_remove(coalesce(v_before.superseded_gateway_subscription_ids, '{}') || v_before.gateway_subscription_id, null)
    )
    on conflict (user_id) do update
    set plan_id = excluded.plan_id,
      tier = excluded.tier,
      status = excluded.status,
      current_period_start = excluded.current_period_start,
      current_period_end = excluded.current_period_end,
      cancelled_at = null,
      cancel_at_period_end = false,
      ended_reason = null,
      gateway_subscription_id = null,
      superseded_gateway_subscription_ids = excluded.superseded_gateway_subscription_ids
    returning s.id into v_subscription_id;
  end if;

  if v_subscription_id is not null then
    v_display_name := private.set_tier(p_payment.user_id, v_tier, p_email);
    if v_before.gateway_subscription_id is not null then
      perform private.enqueue_cancellation(v_before.gateway_subscription_id);
    end if;
    if v_display_name is not null and p_email <> '' then
      perform private.enqueue(
        'payment-success/' || p_payment.id,
        'email',
        'payment-success',
        jsonb_build_object(
          'to', p_email,
          'display_name', v_display_name,
          'plan_name', v_plan.name,
          'amount', p_payment.amount,
          'currency', p_payment.currency,
          'transaction_id', p_gateway_payment_id,
          'valid_until', private.iso_time(v_end)
        )
      );
    end if;
  end if;

  -- Last: it applies what waited for the ids, and that may take away what was just granted.
  update public.payments p
  set status = 'captured',
    gateway_order_id = p_payment.gateway_order_id,
    refunded_amount = p_payment.refunded_amount,
    gateway_payment_id = p_gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature),
    captured_at = coalesce(p.captured_at, private.clock()),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, private.clock()) else p.confirmed_at end,
    tier = v_tier,
    subscription_id = v_subscription_id,
    fulfilled_at = case when v_subscription_id is not null then private.clock() end,
    period_start = v_start,
    period_end = v_end,
    -- What a customer brings back is asked about from now on, however old its order is.
    next_reconcile_at = case
      when p_is_confirmed then p.next_reconcile_at
      else private.clock() + interval '15 minutes'
    end
  where p.id = p_payment.id;

  if v_subscription_id is null then
    return jsonb_build_object(
      'outcome', case
        when v_is_refunded then 'refunded'
        when p_payment.user_id is null then 'user_gone'
        else 'plan_not_found'
      end,
      'tier', v_tier
    );
  end if;

  if v_before.id is null then
    perform private.replay_waiting_events(p_payment.user_id);
  end if;

  return jsonb_build_object('outcome', 'applied', 'tier', v_tier, 'valid_until', private.iso_time(v_end));
end
$$;
revoke execute on function private.fulfil_payment(public.payments, text, text, text, boolean) from public;
grant execute on function private.fulfil_payment(public.payments, text, text, text, boolean) to service_role;
