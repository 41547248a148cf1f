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
  -- A cancellation for the end of a trial is sent before that end, and the gateway cancels at once.
  v_ends_with_trial constant boolean := v_is_by_gateway and p_subscription.cancel_at_period_end and not v_is_charged;
  -- Cancelled for its end, and stopped at once, since a charge of the next cycle failed before that end.
  v_ends_with_cycle constant boolean := v_is_by_gateway
    and p_subscription.cancelled_at < v_end
    and billing.is_cancelled_for_end(p_subscription.user_id, p_subscription.asked_at)
    and billing.is_told(p_subscription.gateway_subscription_id, '{"at_cycle_end": false}');
  -- The gateway cancels the subscription at the end of its cycle, a trial two days before its end, and one whose next cycle
  -- it could not debit up to 36 hours before that end. It charges the one that replaces it soon after the end.
  v_ends_with_change constant boolean := v_is_by_gateway
    and (not v_is_charged or p_subscription.cancelled_at >= v_end - interval '36 hours' or v_ends_with_cycle)
    and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is not null;
begin
  lapses_at := case
    -- A refunded cycle ends at once.
    when p_subscription.paid_until is not null then p_subscription.paid_until
    -- No charge follows: no days of grace.
    when p_subscription.gateway_status in ('paused', 'completed') or v_ends_with_trial then v_end
    when v_ends_with_change then v_end + make_interval(hours => 24 * v_days)
    when v_ends_with_cycle then v_end
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays.
    when p_subscription.last_halted_at > p_subscription.period_event_at then v_end + make_interval(hours => 24 * v_days)
    else billing.billed_until(v_end, p_subscription.checked_at, v_days)
  end;
  ended_at := case
    when not v_is_cancelled then p_subscription.ended_at
    when not (v_ends_with_trial or v_ends_with_change or v_ends_with_cycle) then p_subscription.cancelled_at
  end;
  ended_reason := case
    when v_is_cancelled then 'cancelled'
    when p_subscription.paid_until is not null then 'refunded'
    else p_subscription.ended_reason
  end;
end $$;

revoke execute on all functions in schema billing from public;
