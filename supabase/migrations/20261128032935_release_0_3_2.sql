-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

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

create or replace function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb
-- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_purchase billing.purchase;
  v_payment public.payments;
begin
  perform billing.begin_request('payment', p_payment_id);
  v_email := billing.lock_user(p_user_id);
  v_purchase := billing.lock_purchase(
    (select p.id from public.payments p where p.gateway_order_id = p_order_id and p.user_id = p_user_id), p_payment_id
  );
  v_payment := v_purchase.payment;
  if v_payment.id is null then return jsonb_build_object('outcome', 'payment_not_found'); end if;

  if v_payment.uncaptured_at is not null then
    -- A signature never expires, so it must not grant the tier again. A confirmation by the gateway would.
    update public.payments p set next_reconcile_at = billing.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status = 'captured' and v_payment.gateway_payment_id <> p_payment_id then
    perform billing.note_extra_payment(v_payment, p_payment_id, null);
    v_payment := billing.count_best_payment(v_payment);
  elsif v_payment.gateway_payment_id is distinct from p_payment_id and v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := p_payment_id;
    v_payment.refunded_amount := v_purchase.refunded_amount;
  end if;

  if v_payment.status = 'captured' and billing.is_refunded(v_payment) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  if v_payment.fulfilled_at is null or v_payment.ended_reason = 'refunded' then
    v_purchase.payment := v_payment;
    return billing.fulfil_payment(
      v_purchase, v_email, case when v_payment.gateway_payment_id = p_payment_id then p_signature end, false
    );
  end if;

  if v_payment.verified_at is null or v_payment.gateway_payment_id = p_payment_id and v_payment.gateway_signature is null then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act, also of a second payment.
    update public.payments p
    set gateway_signature = case when p.gateway_payment_id = p_payment_id then p_signature else p.gateway_signature end,
      verified_at = coalesce(p.verified_at, billing.clock()),
      since = case when p.verified_at is null then greatest(
        billing.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      ) else p.since end
    where p.id = v_payment.id;
    perform billing.settle_payment(v_payment, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end)
  );
end $$;

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create or replace function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
  p_payment jsonb, -- that failed; null: the event names none
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  -- The end of the paid time: of a change of plan before its first charge the end of what it follows.
  v_paid_until constant timestamptz := coalesce(p_subscription.period_end, case
    when num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0 then p_subscription.starts_at
  end);
begin
  -- Without a paid cycle there is no access that ends.
  if p_subscription.gateway_status is distinct from p_status or v_paid_until is null
    -- The customer cancelled it at once, and knows.
    or p_subscription.ended_at is not null
    -- Its last charge will say until when it is paid.
    or p_status = 'completed' and billing.unnamed_cycles(p_subscription) > 0
  then
    return;
  end if;
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged.
    concat_ws('/', v_id, case when p_status <> 'completed' then billing.iso_time(v_paid_until) end),
    jsonb_build_object(
      'access_ends_at', billing.iso_time(billing.access_end(p_subscription)),
      'amount', coalesce(billing.json_integer(p_payment -> 'amount'), (p_subscription.sold).amount),
      'currency', billing.charged_currency(p_payment, (p_subscription.sold).currency),
      'manage_url', p_subscription.short_url,
      'ends_at', billing.iso_time(v_paid_until)
    ),
    p_subscription.plan_id
  );
end $$;

-- Applies an event about a gateway subscription. Contract: "Fields that an event needs", "Gateway subscriptions".
create or replace function billing.apply_subscription_event(
  p_event text,
  p_entity jsonb,
  p_payment jsonb, -- of the cycle, if the event has it
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_status constant text := substr(p_event, length('subscription.') + 1);
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_has_cycle constant boolean := p_event in ('subscription.activated', 'subscription.charged');
  -- No real id has more than 200 characters, and the index cannot hold it.
  v_id constant text := coalesce(substring(billing.json_text(p_entity -> 'id') from '^.{1,200}$'), '');
  v_noted_user_id constant uuid := billing.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_user_id uuid;
  v_owned billing.gateway_subscriptions := billing.find_subscription(v_id);
  v_start constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_end') end;
  v_payment_id constant text := case when p_event = 'subscription.charged' then billing.json_text(p_payment -> 'id') end;
  v_gateway_plan_id constant text := billing.json_text(p_entity -> 'plan_id');
  v_email text;
  v_merged billing.gateway_subscriptions;
  v_is_changed boolean;
begin
  -- Its user keeps it, also if its notes were edited at the gateway. Until a user exists they may be corrected.
  if v_owned.asked_plan_id is null and not exists (select from billing.find_user(v_owned.user_id)) then v_owned := null; end if;
  v_user_id := coalesce(v_owned.user_id, v_noted_user_id);
  if v_user_id is null then return 'ignored: subscription.entity.notes.user_id'; end if;
  if v_has_cycle
    and (v_start is null or v_end is null)
    -- An activation before the first cycle has no period.
    and (
      p_event = 'subscription.activated'
      and p_entity -> 'current_start' = 'null'
      and p_entity -> 'current_end' = 'null'
    ) is not true
  then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  perform billing.lock_gateway_payment(v_payment_id);
  v_email := billing.lock_user(v_user_id);
  if v_email is null and billing.is_deleted(v_user_id) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
  if v_email is null and billing.lock_missing_user(v_user_id) then
    -- Nothing but the payment is stored of an erased user, for a finding, and the subscription is cancelled at the gateway.
    v_merged.user_id := v_user_id;
    v_merged.gateway_subscription_id := v_id;
    if p_event = 'subscription.charged' then
      perform billing.record_charge(
        v_merged, v_gateway_plan_id, v_start, v_end, p_payment, billing.charged_at(p_created_at, p_arrived_at)
      );
    end if;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  -- For a finding. An older event that arrives late says nothing of them.
  if v_owned.noted_user_id is distinct from nullif(v_noted_user_id, v_owned.user_id) and v_owned.id is not null
    and (p_created_at < v_owned.gateway_status_event_at) is not true
  then
    update billing.gateway_subscriptions m set noted_user_id = nullif(v_noted_user_id, m.user_id) where m.id = v_owned.id;
  end if;
  v_merged := billing.merge_gateway_subscription(
    v_user_id, v_id, p_event, p_entity, v_gateway_plan_id, v_start, v_end, p_payment, p_created_at, p_arrived_at
  );
  if v_email is null then
    update billing.gateway_subscriptions m
    set awaits_user = true
    where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id) and not m.awaits_user;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_status in ('pending', 'halted') then
    perform billing.record_failure(v_user_id, p_entity, p_payment, billing.charged_at(p_created_at, p_arrived_at));
  end if;
  if v_merged.user_id is null then return 'stale'; end if;
  v_is_changed := billing.settle_access(
    v_user_id, v_email, p_is_cancelled => v_cancelled,
    p_ruling => case when v_status = 'activated' then billing.first_ruling(v_merged) end
  );
  if v_merged.plan_id is not null and p_event = 'subscription.charged' then
    -- This charge may be the cause of a stop.
    v_merged.stops_at := (
      select m.stops_at from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    );
    perform billing.announce_charge(v_merged, p_entity, p_payment, v_email);
    perform billing.announce_problem('completed', v_merged, p_payment, v_email);
  elsif v_merged.plan_id is not null and v_status in ('pending', 'halted', 'completed') then
    perform billing.announce_problem(v_status, v_merged, p_payment, v_email);
  elsif v_status = 'authenticated' then
    perform billing.announce_change(v_merged, v_email);
  elsif v_cancelled then
    perform billing.announce_lost_change(v_merged, v_email);
  end if;
  return case
    when not v_has_cycle and not v_cancelled then 'applied'
    -- The subscription waits for a plan of ours, for a cycle, or for a source to attach to.
    when v_is_changed is null then 'unmatched'
    -- A newer fact is known.
    when not v_is_changed
      and p_created_at < greatest(v_merged.period_event_at, v_merged.status_event_at)
      and v_merged.plan_id is null
      then 'stale'
    -- The event is about a gateway subscription that is not the attached one.
    when not v_is_changed and v_merged.plan_id is null and v_merged.activated_at is null then 'mismatch'
    else 'applied'
  end;
end $$;

revoke execute on all functions in schema billing from public;
