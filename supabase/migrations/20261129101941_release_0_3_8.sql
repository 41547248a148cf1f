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
    and exists (
      select from billing.ends_wished w where w.user_id = p_subscription.user_id and w.at >= p_subscription.asked_at
    )
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
    -- All retries of a charge failed, not after a resumption as below. Access ends after the days of grace, unless the customer
    -- pays, also where the gateway completes it later.
    when p_subscription.last_halted_at > p_subscription.period_event_at
      and (p_subscription.last_resumed_at between v_end and p_subscription.last_halted_at) is not true
      then v_end + make_interval(hours => 24 * v_days)
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
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
    when p_subscription.cancel_at_period_end or p_subscription.ended_at is not null then 'cancelled'
  end;
  -- It had lapsed before it was cancelled.
  if p_subscription.paid_until is null and not p_subscription.cancel_at_period_end and ended_at > lapses_at then
    select null, null into ended_at, ended_reason;
  end if;
end $$;

-- Returns what a mail says about the next charge.
create or replace function billing.outlook(p_user_id uuid)
returns jsonb
-- {next_charge: see billing.next_charge_answer, is_open: true if there is none, and one may follow: the customer may authorise it,
-- or what is paused or halted goes on; next_charge_at: if the amount of that charge is not known}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant jsonb := billing.next_charge_answer(p_user_id);
begin
  -- The customer may have authorised it, and the gateway's word is late.
  if v_next is null and exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and case
        when billing.is_known(m) then billing.is_billed(m) and m.gateway_status in ('paused', 'halted')
        else m.expires_at > billing.clock()
      end
      and num_nonnulls(m.undone_at, m.stops_at) = 0
  ) then
    return '{"next_charge": null, "is_open": true}';
  end if;
  return jsonb_build_object('next_charge', v_next) || case
    when v_next is null then jsonb_strip_nulls(jsonb_build_object(
      'next_charge_at', (select billing.iso_time(min(b.charge_at)) from billing.find_billed(p_user_id) b)
    ))
    else '{}'
  end;
end $$;

create or replace function billing.announce_charge(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- of the cycle
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment_id constant text := billing.json_text(p_payment -> 'id');
begin
  if v_payment_id is not null then
    perform billing.enqueue_mail(
      p_subscription.user_id, p_email,
      case when billing.json_integer(p_entity -> 'paid_count') > 1 then 'subscription-renewed' else 'payment-success' end,
      v_payment_id,
      jsonb_build_object(
        'amount', billing.json_integer(p_payment -> 'amount'),
        'currency', billing.json_text(p_payment -> 'currency'),
        'transaction_id', v_payment_id,
        'valid_until', billing.iso_time(billing.json_time(p_entity -> 'current_end')),
        'next_charge_at', case
          when num_nonnulls(p_subscription.stops_at, p_subscription.ended_at) = 0
            and p_entity ? 'charge_at'
            then billing.iso_time(billing.next_charge_at(p_entity, p_subscription.paid_period_event_at))
        end
      ),
      p_subscription.plan_id, case when not exists (
        -- Who was told that it failed is told that it was paid.
        select from billing.outbox o
        where o.key = concat_ws(
          '/', 'payment-pending', p_subscription.gateway_subscription_id,
          billing.iso_time(billing.json_time(p_entity -> 'current_start'))
        )
      ) then p_subscription.gateway_subscription_id end
    );
  end if;
end $$;

create or replace function billing.perform_resume(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- The customer's own page offers it only then, and may ask again.
  v_is_cancelled constant boolean := exists (select from billing.ends_wished w where w.user_id = p_action.user_id)
    or exists (select from public.subscriptions s where s.user_id = p_action.user_id and s.cancel_at_period_end);
  v_outcome text;
begin
  perform billing.require(p_action.user_id is not null, 'PS400', 'resume needs email: the customer''s e-mail address or id');
  v_outcome := public.resume_subscription(p_action.user_id) ->> 'outcome';
  perform billing.require(v_outcome <> 'subscription_not_found', 'PS404', 'nothing to resume');
  perform billing.require(
    v_outcome = 'resumed' and v_is_cancelled, 'PS409', 'nothing was cancelled for the end of a period, or the gateway has the cancellation already'
  );
  perform set_config('subscriptions.request', '', true);
  perform billing.wake();
  p_action.result := 'Resumed. ' || billing.next_charge_text(p_action.user_id);
  return p_action;
end $$;

-- Of the last two months: later ones are in a return.
create or replace view billing.book_findings with (security_invoker = true) as
select
  v.problem as finding, coalesce(v.document_number, v.detail) as subject, v.payment_id, v.since,
  jsonb_build_object(
    'document_number', v.document_number, 'payment_id', v.payment_id, 'month', to_char(v.month, 'YYYY-MM'), 'detail', v.detail
  ) as detail,
  case v.problem
    when 'state_missing' then 'Ask the customer for the state, then reissue the receipt.'
    when 'buyer_incomplete' then 'Ask the customer for name and address, then reissue the receipt.'
    when 'rupees_missing' then 'Look the rupees up at the gateway, and add the document to the return by hand.'
    when 'export_paid_in_rupees' then 'Ask an accountant: the tax of a sale inside India may be due.'
    when 'sac_missing' then 'Set sac in billing.settings, then reissue the receipt.'
    when 'einvoice_needed' then 'Make the e-invoice at the portal: without its number this is no invoice.'
    when 'note_too_late' then 'Tell the accountant: the refund does not reduce the tax.'
    when 'note_of_failed_refund' then 'Refund the payment again: the note stands.'
    when 'note_of_won_dispute' then 'Ask the accountant for a debit note: the money is back, and the note stands.'
    when 'payment_unsettled' then 'Look at the gateway why it holds the payment back, and ask it when it settles.'
  end as remedy
from billing.book_problems v
where v.payment_id is not null
  and v.problem <> 'document_waiting'
  -- A deleted user can't be asked any more.
  and (
    v.problem not in ('state_missing', 'buyer_incomplete')
    or not exists (select from public.payments p where p.id = v.payment_id and p.user_deleted_at is not null)
  )
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

revoke execute on all functions in schema billing from public;
