-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

REVOKE ALL ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."grace_end"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."grace_end"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."newest_purchase"(uuid, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."newest_purchase"(uuid, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."sole_ruling"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."sole_ruling"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."state_of_billing"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."state_of_billing"(billing.sources) TO "service_role";

GRANT SELECT ON TABLE "billing"."purchases" TO "service_role";

GRANT SELECT ON TABLE "billing"."sources" TO "service_role";

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
    when v_ends_with_change or v_is_over then v_end + make_interval(hours => case
      when exists (
        select from billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id) n
        where n.id is not null and n.first_charged_at is null
      ) then 24 * v_days
      else 0
    end)
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

create or replace view billing.sources with (security_invoker = true) as
select
  s.*,
  s.ended_at is null and s.lapses_at > billing.clock() as is_running,
  -- What the gateway bills has a day until its next charge is known to fail, or to be missing.
  coalesce(s.ends_at, 'infinity') <= billing.clock()
    and (s.lapses_at < 'infinity' or s.is_failing or s.ends_at <= billing.clock() - interval '1 day') as is_in_grace
from (
  select
    p.user_id, 'payment' as kind, p.id::text as id, pl.id as plan_id, p.tier,
    coalesce(p.chain_start, p.period_start) as starts_at,
    p.period_end as ends_at,
    -- No days of grace for what the customer cancelled, also below a source that ruled then.
    p.period_end + make_interval(hours => 24 * billing.grace_days(pl.grace_days, own.is_cancelled)) as lapses_at,
    -- An import by the app may leave since empty.
    coalesce(p.since, p.fulfilled_at) as since,
    greatest(p.fulfilled_at, p.verified_at) as arrived_at,
    least(p.ended_at, replaced.at) as ended_at,
    coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
      as ended_reason,
    p.cancel_at_period_end and own.is_cancelled as cancel_at_period_end,
    null::text as gateway_subscription_id,
    p.ended_at is null and coalesce(p.settle_at > billing.clock(), false) as is_upcoming,
    billing.price_sold(p) as sold,
    null::jsonb as entitlements,
    false as is_failing
  from public.payments p
  left join public.plans pl on pl.id = p.plan_id
  left join billing.ends_wished wished on wished.user_id = p.user_id
  cross join lateral (
    select case
      when p.cancel_at_period_end
        -- What has lapsed is not cancelled any more.
        or wished.at >= coalesce(p.since, p.fulfilled_at)
        and wished.at < p.period_end + make_interval(hours => 24 * billing.grace_days(pl.grace_days, false))
        then not billing.is_renewed_since(p.id, wished.at)
      else false
    end as is_cancelled
  ) own
  left join lateral (
    select min(r.since) as at from billing.replacements r where r.kind = 'payment' and r.id = p.id::text
  ) replaced on true
  where p.fulfilled_at is not null
  union all
  select
    m.user_id, 'gateway_subscription', m.gateway_subscription_id, m.plan_id, pl.tier,
    least(m.period_start, m.paid_until),
    coalesce(m.paid_until, m.period_end),
    own.lapses_at,
    -- The renewal of a purchase follows it, also where the customer authorised it first. A change of plan that was undone, and
    -- charged all the same, ranks below what was kept.
    greatest(coalesce(billing.since_of(kept) - interval '1 microsecond', billing.since_of(m)), renewed.since + interval '1 microsecond'),
    m.arrived_at,
    least(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts, by the whole seconds of the gateway.
    coalesce(date_trunc('second', m.starts_at) > billing.clock() and not m.is_trial, false),
    m.sold,
    null,
    -- Or it is not charged again.
    coalesce(m.gateway_status in ('pending', 'halted'), false) or not billing.has_next_charge(m)
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  left join public.payments renewed on renewed.id = m.payment_id
  left join billing.gateway_subscriptions kept
    on kept.user_id = m.user_id
    and kept.gateway_subscription_id = m.replaces
    and m.undone_at is not null
  cross join lateral billing.mirrored_end(m, pl.grace_days) own
  -- Only the credited cycle has ended. A later one is a source again.
  left join lateral (
    select min(r.since) as at
    from billing.replacements r
    where r.kind = 'gateway_subscription'
      and r.id = m.gateway_subscription_id
      and r.user_id = m.user_id
      and r.until = m.period_end
  ) replaced on true
  where m.period_end is not null
  union all
  select
    g.user_id, 'grant', g.id::text, pl.id, g.tier, g.at, g.until,
    g.until + make_interval(hours => 24 * billing.grace_days(pl.grace_days, g.cancel_at_period_end)),
    g.at, g.at, g.ended_at, g.ended_reason, g.cancel_at_period_end, null, false, null, g.entitlements,
    false
  from billing.grants g
  left join public.plans pl on pl.tier = g.tier and pl.lookup_key is null
  union all
  select
    w.user_id, 'manual', w.user_id::text, pl.id, w.tier, w.period_start, w.period_end,
    case
      -- The gateway is not read again once it says completed or cancelled.
      when w.gateway_subscription_id is not null and (m.id is null or billing.is_billed(m))
        then billing.billed_until(w.period_end, m.checked_at, grace.days)
      else coalesce(w.period_end + make_interval(hours => 24 * grace.days), 'infinity')
    end,
    w.at,
    w.at,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
    w.cancel_at_period_end,
    w.gateway_subscription_id,
    false,
    null,
    w.entitlements,
    coalesce(m.gateway_status in ('pending', 'halted'), false) or not billing.has_next_charge(m)
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;

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
