-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

ALTER TABLE "billing"."gateway_subscriptions"
  ADD COLUMN "last_paused_at" timestamp WITH time zone;

-- Merges the status of an event, with the time of the next charge and the page of the gateway, if no newer one is known. A
-- halt, a pause and a resumption are kept with their times.
create or replace function billing.merge_gateway_status(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_entity jsonb, -- the subscription
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  -- Of two events in the same second the later one in this list wins.
  v_statuses constant text[] := array[
    'created', 'authenticated', 'pending', 'halted', 'paused', 'active', 'completed', 'expired', 'cancelled'
  ];
  v_status text := case
    when p_event in ('subscription.activated', 'subscription.charged', 'subscription.resumed') then 'active'
    when p_event = 'subscription.updated' then billing.json_text(p_entity -> 'status')
    else substr(p_event, length('subscription.') + 1)
  end;
  v_charge_at constant timestamptz := billing.next_charge_at(
    p_entity, case when p_event = 'subscription.charged' then coalesce(p_created_at, p_arrived_at) end
  );
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
begin
  if p_event = 'subscription.halted' then
    p_subscription.first_halted_at := least(v_before.first_halted_at, v_at);
    p_subscription.last_halted_at := greatest(v_before.last_halted_at, v_at);
    -- A cycle that is paid after the halt makes this number grow.
    p_subscription.paid_count := greatest(v_before.paid_count, billing.json_integer(p_entity -> 'paid_count'));
  elsif p_event = 'subscription.paused' then
    p_subscription.last_paused_at := greatest(v_before.last_paused_at, v_at);
  elsif p_event = 'subscription.resumed' then
    p_subscription.last_resumed_at := greatest(v_before.last_resumed_at, v_at);
  end if;
  if p_event in ('subscription.cancelled', 'subscription.completed')
    and billing.json_integer(p_entity -> 'paid_count') > v_before.paid_count
  then
    -- Its last charge is known by this number only.
    p_subscription.paid_count := billing.json_integer(p_entity -> 'paid_count');
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  elsif p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused') then
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  end if;
  p_subscription.short_url := greatest(v_before.short_url, billing.page_url(p_entity));
  if v_status = any (v_statuses)
    -- An event from before the newest charge, which a reconciliation may have told.
    and (billing.json_integer(p_entity -> 'paid_count') < v_before.paid_count) is not true
    and (
      -- A first charge may have the time at which its cycle began, before the authorisation.
      v_before.gateway_status in ('created', 'authenticated') and billing.json_integer(p_entity -> 'paid_count') > 0
      -- Of two in one second, no further charge is the later state.
      or (p_created_at, array_position(v_statuses, v_status), coalesce(v_charge_at, 'infinity')) > (
        v_before.gateway_status_event_at,
        coalesce(array_position(v_statuses, v_before.gateway_status), 0),
        coalesce(v_before.charge_at, 'infinity')
      ) is not false
    )
  then
    p_subscription.gateway_status := v_status;
    p_subscription.charge_at := v_charge_at;
    p_subscription.gateway_status_event_at := greatest(p_created_at, v_before.gateway_status_event_at);
    -- By its time it may be older than the reconciliation, but that is the clock of the gateway: the subscription is read again.
    if p_created_at < v_before.checked_at and v_status <> v_before.gateway_status then
      p_subscription.next_check_at := least(p_subscription.next_check_at, p_arrived_at);
    end if;
  end if;
  return p_subscription;
end $$;

create or replace function billing.store_mirrored(p_subscription billing.gateway_subscriptions)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set (
    id, user_id, gateway_subscription_id, asked_at, asked_plan_id, asked_tier, asked_gateway_plan_id, asked_price,
    gateway_key_id, idempotency_keys, expires_at, starts_at, is_trial, replaces, payment_id, undone_at, noted_user_id,
    gateway_plan_id, plan_id, sold, plan_event_at, status, status_event_at, cancelled_at, cancelled_arrived_at,
    activated_event_at, activated_at, first_activated_at, first_charged_at, period_start, period_end, period_event_at,
    has_refunds, paid_until, cancel_at_period_end, stops_at, ended_at, ended_reason, arrived_at, awaits_user, next_check_at,
    checked_at, gateway_status, gateway_status_event_at, charge_at, short_url, paid_count, authenticated_at, first_halted_at,
    last_halted_at, last_resumed_at, first_period_start, first_period_end, first_period_event_at, paid_period_start,
    paid_period_end, paid_period_event_at, written_at, last_paused_at
  ) = row(p_subscription.*)
  where m.id = p_subscription.id
  returning m.* into p_subscription;
  return p_subscription;
end $$;

-- Finds when the access ends that a gateway subscription gives, and why. Its plan is one of ours.
create or replace function billing.mirrored_end(
  p_subscription billing.gateway_subscriptions,
  p_grace_days integer, -- of its plan
  out lapses_at timestamptz, -- the end of what is paid, with the days of grace; infinity: not before the gateway was asked
  out ended_at timestamptz, -- null: it runs until then
  out ended_reason text
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_days constant integer := billing.grace_days(p_grace_days, p_subscription.cancel_at_period_end);
  v_end constant timestamptz := p_subscription.period_end;
  v_is_cancelled constant boolean := coalesce(p_subscription.status = 'cancelled', false);
  v_is_charged constant boolean := num_nonnulls(p_subscription.activated_at, p_subscription.first_charged_at) > 0;
  v_is_by_gateway constant boolean := v_is_cancelled and p_subscription.ended_at is null;
  -- A cancellation for the end of a trial is sent before that end, and the gateway cancels at once. The trial runs to its end,
  -- also where the reason has gone since: the change of plan that follows it was cancelled.
  v_ends_with_trial constant boolean := v_is_by_gateway and not v_is_charged
    and (p_subscription.cancel_at_period_end or billing.is_stop_sent(p_subscription.gateway_subscription_id));
  -- Cancelled for its end, and stopped at once, since a charge of the next cycle failed before that end.
  v_ends_with_cycle constant boolean := v_is_by_gateway
    and p_subscription.cancelled_at < v_end
    and billing.is_cancelled_for_end(p_subscription.user_id, p_subscription.asked_at)
    and billing.is_stop_sent(p_subscription.gateway_subscription_id, '{"at_cycle_end": false}');
  -- The gateway cancels the subscription at the end of its cycle, a trial two days before its end, and one whose next cycle
  -- it could not debit up to 36 hours before that end. It charges the one that replaces it soon after the end.
  v_ends_with_change constant boolean := v_is_by_gateway
    and (not v_is_charged or p_subscription.cancelled_at >= v_end - interval '36 hours' or v_ends_with_cycle)
    and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is not null;
  -- It may be completed before the event of its last charge arrives.
  v_is_over constant boolean := p_subscription.gateway_status = 'paused'
    or v_is_cancelled and p_subscription.last_paused_at
      > greatest(p_subscription.paid_period_event_at, p_subscription.last_resumed_at, '-infinity')
    or p_subscription.gateway_status = 'completed' and billing.unnamed_cycles(p_subscription) = 0;
begin
  lapses_at := case
    -- A refunded cycle ends at once.
    when p_subscription.paid_until is not null then p_subscription.paid_until
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays,
    -- also where the gateway completes it later.
    when p_subscription.last_halted_at > p_subscription.period_event_at then v_end + make_interval(hours => 24 * v_days)
    -- No charge follows: no days of grace, but before the first one of a change of plan.
    when v_is_over
      and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is null
      then v_end
    when v_ends_with_change or v_is_over then v_end + make_interval(hours => 24 * v_days)
    when v_ends_with_trial or v_ends_with_cycle then v_end
    else billing.billed_until(v_end, p_subscription.checked_at, v_days)
  end;
  ended_at := case
    -- What the customer ended at once is cancelled at the gateway later.
    when not v_is_by_gateway then p_subscription.ended_at
    when not (v_ends_with_trial or v_ends_with_change or v_ends_with_cycle) then p_subscription.cancelled_at
  end;
  ended_reason := case
    when v_is_cancelled then 'cancelled'
    when p_subscription.paid_until is not null then 'refunded'
    -- As the gateway will say at its end.
    when p_subscription.cancel_at_period_end then 'cancelled'
    else p_subscription.ended_reason
  end;
  -- It had lapsed before it was cancelled.
  if p_subscription.paid_until is null and not p_subscription.cancel_at_period_end and ended_at > lapses_at then
    select null, null into ended_at, ended_reason;
  end if;
end $$;

create or replace function public.create_subscription(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- under which it is made; null: those of any are given again
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: created | existing, id, gateway_plan_id, billing_cycles, expire_by, start_at (Unix seconds; null: at once),
-- gateway_subscription_id, short_url, status, plan, price, running: {tier, until, early_renewal, price} | null},
-- {outcome: plan_not_found | not_at_gateway | price_conflict | user_not_found | in_flight | key_conflict |
-- already_subscribed},
-- {outcome: rate_limited, retry_after}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_request billing.gateway_subscriptions;
begin
  perform billing.begin_request('subscription', p_idempotency_key);
  -- Of two requests at once the second waits here and finds what the first wrote.
  if billing.lock_user(p_user_id) is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  select * into v_request
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id and p_idempotency_key = any (m.idempotency_keys);
  if coalesce((v_request.asked_price).lookup_key, v_request.asked_tier) <> coalesce(p_price, p_tier) then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_request.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  if v_plan.gateway_plan_id is null then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  if v_request.id is null and exists (
    select from billing.find_billed(p_user_id) b
    join billing.gateway_subscriptions m
      on m.user_id = p_user_id
      and m.gateway_subscription_id = b.gateway_subscription_id
    -- Without a plan of ours it has that of what it is attached to.
    cross join billing.find_commitment(p_user_id) own
    where coalesce(b.plan_id, case when own.gateway_subscription_id = b.id then own.plan_id end) = v_plan.id
      and b.goes_on
      and m.stops_at is null
      and m.gateway_status is distinct from 'halted'
  ) then
    return jsonb_build_object('outcome', 'already_subscribed');
  end if;
  return billing.request_subscription(p_user_id, v_plan, v_request, p_idempotency_key, p_gateway_key_id);
end $$;

-- Returns when a user's access ends unless a gateway subscription is charged again. Only the ruling source ends access, and
-- only if no other running source ends later. Another gateway subscription ends with its cycle if it is not renewed, or its
-- charge has been missing for a day.
create or replace function billing.access_end(p_subscription billing.gateway_subscriptions)
returns timestamptz -- null: access does not depend on the subscription, or its end is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := (billing.find_ruling(p_subscription.user_id)).source;
  v_end constant timestamptz := billing.grace_end(v_source);
begin
  if v_source.ended_at is not null
    or not (
      v_source.kind = 'gateway_subscription' and v_source.id = p_subscription.gateway_subscription_id
      -- Before the first charge of a change of plan.
      or p_subscription.period_end is null and v_source.id in (p_subscription.replaces, p_subscription.payment_id::text)
    )
    or exists (
      select from billing.sources s
      left join billing.gateway_subscriptions m
        on m.user_id = s.user_id
        and m.gateway_subscription_id = s.gateway_subscription_id
      left join public.plans p on p.id = s.plan_id
      where s.user_id = p_subscription.user_id
        and (s.kind, s.id) <> (v_source.kind, v_source.id)
        and s.ended_at is null
        and s.lapses_at > v_end
        and (
          s.lapses_at < 'infinity'
          or (m.stops_at is not null or m.gateway_status = 'pending' or s.is_in_grace) is not true
          or s.ends_at + make_interval(hours => 24 * billing.grace_days(p.grace_days, s.cancel_at_period_end)) > v_end
        )
    )
  then
    return null;
  end if;
  return v_end;
end $$;

revoke execute on all functions in schema billing from public;

-- What is paused now was paused when the newest event said so.
update billing.gateway_subscriptions
set last_paused_at = coalesce(gateway_status_event_at, arrived_at)
where gateway_status = 'paused';
