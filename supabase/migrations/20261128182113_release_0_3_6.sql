-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop view billing.customer_payments;

drop function billing.refund_of(billing.sources);

drop function billing.page_url(pg_catalog.jsonb);

drop function billing.settle_purchase(billing.purchase,public.payments,pg_catalog.text,pg_catalog.text,boolean);

drop function billing.keep_end(billing.ruling);

drop function billing.has_lapsed(billing.gateway_subscriptions);

drop function billing.note_extra_payment(public.payments,pg_catalog.text,timestamp with time zone,bigint);

drop function billing.is_cancelled_for_end(pg_catalog.uuid,timestamp with time zone);

drop function billing.set_period(billing.purchase,public.payments,pg_catalog.text,integer);

drop function billing.refundable_amount(public.payments);

drop function billing.refundable_without(public.payments,bigint);

ALTER TABLE "billing"."gateway_subscriptions"
  DROP COLUMN "ended_reason";

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

-- Returns what may still be asked back of a payment, in minor units: without what was lost in disputes, without the refunds
-- that did not fail, and without those that were asked for here, were not refused, and are not at the gateway yet.
create function billing.refundable_amount(
  p_payment public.payments,
  p_message_id bigint default null -- of a refund that was asked for here, which does not count; null: none
)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_payment.status = 'captured' and p_payment.gateway_payment_id is not null
      then greatest(
        coalesce(p_payment.paid_amount, p_payment.amount)
        - billing.lost_amount(p_payment.gateway_payment_id)
        - coalesce((
          select sum(r.amount)
          from billing.refunds r
          where r.gateway_payment_id = p_payment.gateway_payment_id and r.status <> 'failed'
        ), 0)
        - coalesce((
          select sum((o.payload ->> 'amount')::bigint)
          from billing.outbox o
          where o.kind = 'refund'
            and o.payload ->> 'gateway_payment_id' = p_payment.gateway_payment_id
            and o.delivered_at is null
            and o.id is distinct from p_message_id
            -- Of those that wait for their first try the older one is sent.
            and (
              o.id < p_message_id
              or o.attempts > 0
              or not exists (select from billing.outbox m where m.id = p_message_id and m.parked_at is null)
            )
            and not billing.is_refused(o)
            and not exists (
              select from billing.refunds r
              where r.gateway_payment_id = p_payment.gateway_payment_id
                and r.support_action_id::text = o.payload ->> 'support_action'
            )
        ), 0),
        0
      )
    else 0
  end;
end $$;

-- Returns whether a refund that was asked for here may be sent: since it was asked for, the payment may have been lost, or
-- refunded at the gateway. A retry may have been made at the first try, so that its own refund does not count against it.
create or replace function billing.may_refund(p_message billing.outbox)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.gateway_payment_id = p_message.payload ->> 'gateway_payment_id'
      and (p_message.payload ->> 'amount')::bigint <= case
        when p_message.attempts = 0 or p_message.parked_at is not null then billing.refundable_amount(p, p_message.id)
        else coalesce(p.paid_amount, p.amount) - billing.lost_amount(p.gateway_payment_id)
      end
  );
end $$;

-- Stores an extra payment on an order: one of its payments counts, and the others are to be refunded. The caller holds the
-- lock on the one that counts.
create function billing.note_extra_payment(
  p_payment public.payments, -- counts
  p_gateway_payment_id text,
  p_confirmed_at timestamptz, -- null: not confirmed by the gateway
  p_paid_amount bigint default null, -- minor currency units; null: not known
  p_base_amount bigint default null -- what the gateway booked in INR; null: not known
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.payments as x (
    user_id, amount, paid_amount, base_amount, currency, status, tier, plan_id, gateway_key_id, gateway_payment_id, extra_of, captured_at,
    confirmed_at, refunded_amount, next_reconcile_at
  )
  values (
    p_payment.user_id, p_payment.amount, p_paid_amount, p_base_amount, p_payment.currency, 'captured', p_payment.tier, p_payment.plan_id,
    p_payment.gateway_key_id, p_gateway_payment_id, p_payment.id, billing.clock(), p_confirmed_at,
    billing.refunded_amount(p_gateway_payment_id), null
  )
  on conflict (gateway_payment_id) do update
  set confirmed_at = excluded.confirmed_at, paid_amount = coalesce(excluded.paid_amount, x.paid_amount),
    base_amount = coalesce(excluded.base_amount, x.base_amount)
  where x.extra_of = excluded.extra_of and x.confirmed_at is null and excluded.confirmed_at is not null;
end $$;

-- Chooses the payment that counts for an order. A payment that was not refunded in full comes before one that was, then a
-- captured payment before one that is only verified, then the payment that counts already. The caller holds its lock.
create or replace function billing.count_best_payment(p_payment public.payments)
returns public.payments -- the row after the choice
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_extra public.payments;
begin
  select * into v_extra
  from public.payments x
  where x.extra_of = p_payment.id
    and not billing.is_refunded(x)
    and (
      billing.is_refunded(p_payment)
      or p_payment.confirmed_at is null and x.confirmed_at is not null
    )
  order by x.confirmed_at is null, x.captured_at, x.gateway_payment_id
  limit 1;
  if not found then return p_payment; end if;

  -- The two rows exchange what belongs to the payment at the gateway.
  update public.payments x set gateway_payment_id = null where x.id = v_extra.id;
  update public.payments p
  set gateway_payment_id = v_extra.gateway_payment_id,
    gateway_signature = null, captured_at = v_extra.captured_at, confirmed_at = v_extra.confirmed_at,
    paid_amount = v_extra.paid_amount, base_amount = v_extra.base_amount, refunded_amount = v_extra.refunded_amount,
    -- A payment that is only verified needs a confirmation by the gateway.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then billing.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id;
  update public.payments x
  set gateway_payment_id = p_payment.gateway_payment_id,
    captured_at = p_payment.captured_at, confirmed_at = p_payment.confirmed_at,
    paid_amount = p_payment.paid_amount, base_amount = p_payment.base_amount, refunded_amount = p_payment.refunded_amount
  where x.id = v_extra.id;
  perform billing.show_disputes(p.gateway_payment_id)
  from public.payments p
  where p.id in (p_payment.id, v_extra.id);
  perform billing.exchange_documents(p_payment.id, v_extra.id);
  select * into p_payment from public.payments p where p.id = p_payment.id;
  return p_payment;
end $$;

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
    and billing.json_integer(p_entity -> 'paid_count') > coalesce(v_before.paid_count, 0)
  then
    -- Its last charge is known by this number only.
    p_subscription.paid_count := billing.json_integer(p_entity -> 'paid_count');
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  elsif p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused') then
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  end if;
  -- Pages link to it, so no other scheme is stored.
  p_subscription.short_url := greatest(
    v_before.short_url, left(substring(billing.json_text(p_entity -> 'short_url') from '^https?://.*'), 500)
  );
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

-- Finds the row of a gateway subscription and locks it. An event may arrive before the gateway's answer: its notes name the
-- request. One that the user ended before its first event is ended. One whose first event arrives after a row was written by
-- hand ranks above that row.
create or replace function billing.lock_mirrored(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_request_id uuid, -- null: the event names none
  p_seen_at timestamptz -- by its first event
)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_found record;
  v_subscription billing.gateway_subscriptions;
begin
  loop
    select
      m as subscription,
      billing.is_known(m) as is_known,
      case when not billing.is_known(m) then (
        select max(w.at) from billing.wishes w where w.user_id = p_user_id and not w.at_period_end and w.at >= m.asked_at
      ) end as ended_at,
      case when not billing.is_known(m) then (
        select r.at from billing.manual_subscriptions r where r.user_id = p_user_id and r.at >= m.asked_at
      ) end as written_at
    into v_found
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id
    for update;
    exit when found;
    update billing.gateway_subscriptions m
    set gateway_subscription_id = p_gateway_subscription_id
    where m.id = p_request_id
      and m.user_id = p_user_id
      and m.gateway_subscription_id is null
      and p_gateway_subscription_id <> '';
    continue when found;
    insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, asked_at)
    values (p_user_id, p_gateway_subscription_id, p_seen_at)
    on conflict on constraint gateway_subscriptions_key do nothing;
  end loop;
  v_subscription := v_found.subscription;
  if not v_found.is_known then
    v_subscription.ended_at := v_found.ended_at;
    v_subscription.written_at := v_found.written_at + interval '1 microsecond';
  end if;
  return v_subscription;
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
    has_refunds, paid_until, cancel_at_period_end, stops_at, ended_at, arrived_at, awaits_user, next_check_at, checked_at,
    gateway_status, gateway_status_event_at, charge_at, short_url, paid_count, authenticated_at, first_halted_at,
    last_halted_at, last_resumed_at, first_period_start, first_period_end, first_period_event_at, paid_period_start,
    paid_period_end, paid_period_event_at, written_at, last_paused_at
  ) = row(p_subscription.*)
  where m.id = p_subscription.id
  returning m.* into p_subscription;
  return p_subscription;
end $$;

-- Merges one event into the mirror. The caller holds the lock on the user, if the user exists.
create or replace function billing.merge_gateway_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_event text,
  p_entity jsonb, -- the subscription
  p_gateway_plan_id text,
  p_start timestamptz, -- of the cycle; null, here and below: the event has none
  p_end timestamptz,
  p_payment jsonb, -- of the cycle
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions -- the row after the merge; all null: the event changed nothing
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_activated constant boolean := p_event = 'subscription.activated';
  v_charged constant boolean := p_event = 'subscription.charged';
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
  v_happened_at constant timestamptz := billing.happened_at(p_created_at, p_arrived_at);
  v_charged_at constant timestamptz := billing.charged_at(p_created_at, p_arrived_at);
  -- When it was first seen, if it was not asked for here. The clock of the gateway may differ from ours, so its time counts
  -- only for an event that arrives late.
  v_seen_at constant timestamptz := case
    when p_created_at < p_arrived_at - interval '1 hour' then v_happened_at
    else p_arrived_at
  end;
  v_is_paid boolean := false; -- the payment of the cycle is new
  v_is_older boolean := false;
  v_is_news boolean;
  v_again_at timestamptz;
  v_before billing.gateway_subscriptions;
  v_after billing.gateway_subscriptions;
begin
  v_before := billing.lock_mirrored(
    p_user_id, p_gateway_subscription_id, billing.json_uuid(p_entity #> '{notes,request_id}'), v_seen_at
  );
  v_after := v_before;
  if v_seen_at < v_before.asked_at
    and num_nonnulls(v_before.asked_plan_id, v_before.written_at) = 0
  then
    v_after.asked_at := v_seen_at;
    -- An older event that arrives late is no news, unless it changes what is newer.
    if billing.since_of(v_after) = billing.since_of(v_before)
      and not exists (select from billing.wishes w where w.user_id = p_user_id)
    then
      v_before.asked_at := v_seen_at;
      v_is_older := true;
    end if;
  end if;

  -- Here and in the functions a comparison with a time that is not known is null: the event is applied.
  v_after := billing.merge_gateway_plan(v_after, p_event, p_gateway_plan_id, p_created_at);
  v_after := billing.merge_gateway_status(v_after, p_event, p_entity, p_created_at, p_arrived_at);
  if p_event = 'subscription.authenticated' then
    v_after.authenticated_at := least(v_before.authenticated_at, v_happened_at);
    -- A trial is a period without a charge.
    if v_before.is_trial then
      p_start := v_at;
      p_end := v_before.starts_at;
    end if;
  end if;
  v_after := billing.merge_cycle(v_after, p_event, p_entity, p_start, p_end, p_created_at, p_arrived_at);
  if v_activated or p_event = 'subscription.cancelled' then
    v_after := billing.merge_activation(v_after, p_event, p_start, p_end, p_created_at, p_arrived_at);
  end if;
  if v_activated and (v_at < v_before.first_period_event_at or v_happened_at < v_before.first_activated_at) then
    -- An older activation that arrives late is no news.
    v_is_older := true;
    v_before.first_activated_at := v_after.first_activated_at;
    v_before.first_period_start := v_after.first_period_start;
    v_before.first_period_end := v_after.first_period_end;
    v_before.first_period_event_at := v_after.first_period_event_at;
  end if;
  if v_charged then
    v_is_paid := billing.record_charge(v_after, left(p_gateway_plan_id, 200), p_start, p_end, p_payment, v_charged_at);
  end if;
  if v_after.first_halted_at is not null then v_after := billing.last_paid_cycle(v_after); end if;
  v_after.has_refunds := v_before.has_refunds
    or v_is_paid and billing.refunded_amount(billing.json_text(p_payment -> 'id')) > 0;
  if v_after.has_refunds then
    v_after.paid_until := billing.paid_until(v_after);
  end if;
  -- The gateway bills the subscription again after the user ended it. A repeated activation counts once, however late it
  -- arrives.
  v_again_at := greatest(
    case when v_charged then v_charged_at else v_happened_at end,
    -- Before its first event the gateway's time says nothing about a wish.
    case when v_before.arrived_at is null then v_seen_at end
  );
  if v_again_at > v_before.ended_at
    and (v_charged or v_activated and coalesce(p_created_at > v_before.activated_event_at, true))
  then
    v_after.ended_at := null;
  end if;

  v_is_news := v_after is distinct from v_before;
  if not v_is_news and not v_is_older and not v_is_paid then return null; end if;
  if v_is_news then
    v_after.arrived_at := p_arrived_at;
  end if;
  v_after := billing.store_mirrored(v_after);
  if v_before.plan_id is null and v_after.plan_id is not null and v_before.first_charged_at is not null then
    perform billing.adopt_charges(p_user_id);
  end if;
  return case when v_is_news or v_is_paid then v_after end;
end $$;

-- Returns the subscription that starts when another one ends: of the newest change of plan that was authorised and neither
-- undone nor cancelled.
create or replace function billing.find_successor(p_user_id uuid, p_gateway_subscription_id text)
returns billing.gateway_subscriptions -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select m
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.replaces = p_gateway_subscription_id
      and m.undone_at is null
      and billing.is_billed(m)
      and billing.cancelled_by_user_at(p_user_id, m.asked_at) is null
    order by m.asked_at desc, m.id desc
    limit 1
  );
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
    coalesce(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts.
    coalesce(m.starts_at > billing.clock() and not m.is_trial, false),
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

-- Attaches a gateway subscription that is no source to the ruling source. Such a subscription has no plan of ours, or its
-- first cycle has not begun. subscription.activated sets the status, the id and the period, subscription.charged sets the
-- period alone. Contract: "Gateway subscriptions".
create or replace function billing.attach_gateway_subscription(p_ruling billing.ruling)
returns billing.ruling language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_source billing.sources := p_ruling.source;
  v_grace integer;
  v_attached billing.gateway_subscriptions;
  v_days integer;
  v_end timestamptz;
  v_lapses_at timestamptz;
begin
  if v_source.id is null or p_ruling.attaching = 0 then return p_ruling; end if;
  v_grace := billing.grace_days((select p.grace_days from public.plans p where p.id = v_source.plan_id), false);
  select * into v_attached
  from billing.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and (m.plan_id is null or m.period_end is null)
    and case when v_source.kind = 'manual' then m.arrived_at else m.activated_at end >= v_source.since
    and m.activated_at is not null
  order by m.activated_at desc, m.gateway_subscription_id desc
  limit 1;
  if found then
    -- Before its first cycle the subscription has no period: the paid period of the source continues.
    v_end := coalesce(
      v_attached.period_end,
      case when v_source.ended_reason = 'refunded' then least(v_source.ends_at, v_source.ended_at) else v_source.ends_at end
    );
    v_days := billing.grace_days(v_grace, v_attached.cancel_at_period_end or v_source.cancel_at_period_end);
    v_lapses_at := case
      when v_end is null then 'infinity'
      -- Before its first cycle no further time is paid, and a subscription without an id cannot be reconciled. The row is
      -- active for an hour after the activation arrived.
      when v_attached.period_end is null or v_attached.gateway_subscription_id = ''
        then greatest(v_end + make_interval(hours => 24 * v_days), v_attached.arrived_at + interval '1 hour')
      -- The gateway is not read again once it says completed.
      when not billing.is_billed(v_attached) then v_end + make_interval(hours => 24 * v_days)
      else billing.billed_until(v_end, v_attached.checked_at, v_days)
    end;
    if v_attached.status = 'active' and v_attached.ended_at is null and v_lapses_at > v_now then
      p_ruling.is_live := true;
    elsif p_ruling.is_live then
      return p_ruling;
    end if;
    v_source.gateway_subscription_id := nullif(v_attached.gateway_subscription_id, '');
    v_source.cancel_at_period_end := v_source.cancel_at_period_end or v_attached.cancel_at_period_end;
    if v_attached.period_end is not null then
      v_source.starts_at := v_attached.period_start;
    end if;
    v_source.ends_at := v_end;
    v_source.lapses_at := v_lapses_at;
    p_ruling.source := v_source;
    return p_ruling;
  end if;

  if v_source.kind = 'gateway_subscription' then return p_ruling; end if;
  select * into v_attached
  from billing.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and m.plan_id is null
    and m.activated_at is null
    and m.period_end is not null
    and (v_source.gateway_subscription_id is null or v_source.gateway_subscription_id = m.gateway_subscription_id)
    and case when v_source.kind = 'manual' then m.arrived_at else m.first_charged_at end >= v_source.since
  order by m.first_charged_at desc, m.gateway_subscription_id desc
  limit 1;
  if not found then return p_ruling; end if;
  v_lapses_at := v_attached.period_end + make_interval(hours => 24 * v_grace);
  if v_lapses_at <= v_now then
    -- The charged period is over. The row shows that period, but access does not change: a running source shows it for an
    -- hour after the charge arrived, an ended source shows it unless its own period ended later.
    if p_ruling.is_live and v_attached.arrived_at <= v_now - interval '1 hour'
      or not p_ruling.is_live and v_source.ends_at > v_attached.period_end
    then
      return p_ruling;
    end if;
    v_lapses_at := v_source.lapses_at;
  elsif v_source.ended_at is null and not p_ruling.is_ended_by_gateway then
    -- A charge makes a lapsed source run again, but not a source that ended for another reason.
    p_ruling.is_live := true;
  end if;
  v_source.starts_at := v_attached.period_start;
  v_source.ends_at := v_attached.period_end;
  v_source.lapses_at := v_lapses_at;
  p_ruling.source := v_source;
  return p_ruling;
end $$;

-- Finds what the subscription row shows: the ruling source, with what is attached to it. Keeps the reason and the time of an
-- end of this source that the row shows already, where a refund is only later or earlier than another end: what happened first
-- ended access. A refund that fails takes back its own end.
create or replace function billing.find_shown(p_user_id uuid)
returns billing.ruling -- source is null: the user has no source
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_ruling billing.ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id));
  v_source billing.sources := v_ruling.source;
  v_reason constant text := (v_ruling.shown).ended_reason;
  v_mirrored billing.gateway_subscriptions;
begin
  if v_ruling.is_live
    or (v_ruling.shown).status is distinct from 'cancelled'
    or v_reason is not distinct from v_source.ended_reason
    or not billing.is_shown(v_source.gateway_subscription_id, v_source.starts_at, v_ruling.shown)
  then
    return v_ruling;
  end if;
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where v_source.kind = 'gateway_subscription' and (m.user_id, m.gateway_subscription_id) = (v_source.user_id, v_source.id);
  if v_reason = 'refunded' and v_mirrored.paid_until is not null then
    v_source.ended_reason := v_reason;
  elsif v_reason <> 'refunded' and v_source.ended_reason = 'refunded' then
    v_source.ended_reason := v_reason;
    if v_reason = 'lapsed' then v_source.ended_at := null; end if;
    if v_mirrored.paid_until is not null then
      v_mirrored.paid_until := null;
      v_source.starts_at := v_mirrored.period_start;
      v_source.ends_at := v_mirrored.period_end;
      select own.lapses_at into v_source.lapses_at
      from public.plans p
      cross join lateral billing.mirrored_end(v_mirrored, p.grace_days) own
      where p.id = v_mirrored.plan_id;
    end if;
  end if;
  v_ruling.source := v_source;
  return v_ruling;
end $$;

-- Returns what the mail about an end says: of a refund what was refunded of the payment that the source is, or of the newest
-- refunded cycle.
create function billing.end_mail(
  p_before public.subscriptions,
  p_source billing.sources,
  p_reason text,
  p_ended_at timestamptz
)
returns jsonb -- see billing.announce_access
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'key', format('subscription-ended/%s/%s', p_before.id, billing.iso_time(p_ended_at)),
    'plan_name', coalesce((select p.name from public.plans p where p.id = p_source.plan_id), p_source.tier),
    'ends_at', billing.iso_time(p_ended_at)
  ) || case
    when p_reason = 'refunded' then billing.outlook(p_source.user_id) || coalesce((
      -- Else the rest was lost in a dispute.
      select case when billing.lost_amount(p.gateway_payment_id) = 0
        then jsonb_build_object('amount', p.refunded_amount, 'currency', p.currency)
      end
      from public.payments p
      where p.user_id = p_source.user_id
        and p.refunded_amount > 0
        and (p.id::text = p_source.id or p.gateway_subscription_id = p_source.gateway_subscription_id)
      order by p.period_end desc nulls last
      limit 1
    ), '{}')
    -- After the days of grace, as the mail about the failed charge says.
    when p_reason = 'lapsed' and p_source.lapses_at > p_source.ends_at and p_source.lapses_at <= billing.clock()
      then jsonb_build_object('access_ended_at', billing.iso_time(p_source.lapses_at))
    else '{}'
  end;
end $$;

-- Writes only values that differ. The caller holds the lock on the user.
create or replace function billing.settle_access(
  p_user_id uuid,
  p_email text, -- of the user; null: sends no mail, and a new profile gets the default username
  p_new_source_id text default null, -- a source that was just created: if it rules, its tier is written in any case
  p_is_cancelled boolean default false, -- subscription.cancelled: without a running source the tier becomes free
  p_mail jsonb default null, -- payload of the success mail for the new source; sent to a user who has a profile
  p_ruling billing.ruling default null -- the ruling source, if the caller knows it and that nothing else is billed
)
returns boolean -- whether the subscription row changed; null: the user has no source
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_ruling billing.ruling := p_ruling;
  v_source billing.sources;
  v_before public.subscriptions;
  v_reason text; -- why access ended
  v_cancelled_at timestamptz;
  v_tier text;
  v_due_at timestamptz;
  v_is_changed boolean := false;
  v_end jsonb; -- see billing.announce_access
begin
  if p_ruling.is_live is null then
    -- First, since what is to end with its cycle has no days of grace.
    if exists (select from billing.gateway_subscriptions m where m.user_id = p_user_id) then
      perform billing.plan(p_user_id);
    end if;
    v_ruling := billing.find_shown(p_user_id);
    if v_ruling.is_live and (v_ruling.source).kind = 'payment' and billing.await_periods(p_user_id) then
      v_ruling := billing.find_shown(p_user_id);
    end if;
  end if;
  if (v_ruling.source).id is not null then
    v_source := v_ruling.source;
    v_before := v_ruling.shown;
    if not v_ruling.is_live then
      v_reason := case
        when v_ruling.is_ended_by_gateway then 'cancelled'
        when v_source.ended_at is not null then v_source.ended_reason
        else coalesce(v_source.ended_reason, 'lapsed')
      end;
      v_cancelled_at := case
        when v_before.status = 'cancelled' and v_before.cancelled_at is not null then v_before.cancelled_at
        when v_reason = 'lapsed' then v_source.ends_at
        -- Cancelled for that day.
        when v_reason = 'cancelled' and v_source.cancel_at_period_end and v_source.ends_at <= least(v_now, v_source.ended_at)
          then v_source.ends_at
        else v_now
      end;
    end if;
    v_due_at := least(
      case when v_ruling.is_live then billing.next_check(
        v_source.ends_at, v_source.lapses_at,
        v_source.gateway_subscription_id is not null
          and not (v_source.cancel_at_period_end or v_source.is_failing)
          and coalesce(p_ruling.is_live, billing.is_sole(p_user_id, v_source.gateway_subscription_id))
      ) end,
      case when v_ruling.upcoming > 0 then billing.next_start(p_user_id) end
    );
    insert into public.subscriptions as s (
      user_id, plan_id, tier, status, current_period_start, current_period_end, cancelled_at, cancel_at_period_end,
      ended_reason, gateway_subscription_id, price_key, price_amount, currency, duration_months, entitlements, revision, created_at,
      updated_at, due_at
    )
    values (
      p_user_id, v_source.plan_id, v_source.tier, case when v_ruling.is_live then 'active' else 'cancelled' end,
      v_source.starts_at, v_source.ends_at, v_cancelled_at, v_source.cancel_at_period_end,
      v_reason, v_source.gateway_subscription_id, (v_source.sold).lookup_key, (v_source.sold).amount,
      (v_source.sold).currency, (v_source.sold).months, v_source.entitlements, 1, v_now, greatest(v_now, v_source.since), v_due_at
    )
    on conflict (user_id) do update
    set plan_id = excluded.plan_id, tier = excluded.tier, status = excluded.status,
      current_period_start = excluded.current_period_start, current_period_end = excluded.current_period_end,
      cancelled_at = excluded.cancelled_at, cancel_at_period_end = excluded.cancel_at_period_end,
      ended_reason = excluded.ended_reason, gateway_subscription_id = excluded.gateway_subscription_id,
      price_key = excluded.price_key, price_amount = excluded.price_amount, currency = excluded.currency, duration_months = excluded.duration_months,
      entitlements = excluded.entitlements,
      revision = s.revision + 1,
      updated_at = excluded.updated_at,
      due_at = case when excluded.status = 'active' then least(s.due_at, excluded.due_at) else excluded.due_at end
    -- updated_at is never before a known since, so billing.lock_purchase finds the newest act by updated_at.
    where s.updated_at < v_source.since
      or (
        s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at, s.cancel_at_period_end,
        s.ended_reason, s.gateway_subscription_id, s.price_key, s.price_amount, s.currency, s.duration_months, s.entitlements
      ) is distinct from (
        excluded.plan_id, excluded.tier, excluded.status, excluded.current_period_start, excluded.current_period_end,
        excluded.cancelled_at, excluded.cancel_at_period_end, excluded.ended_reason, excluded.gateway_subscription_id,
        excluded.price_key, excluded.price_amount, excluded.currency, excluded.duration_months, excluded.entitlements
      );
    v_is_changed := found;
    if not found and v_due_at < coalesce(v_before.due_at, 'infinity') then
      update public.subscriptions s set due_at = v_due_at where s.user_id = p_user_id;
    end if;
  end if;

  v_tier := billing.tier_to_write(v_ruling, v_before, p_new_source_id, p_is_cancelled);
  -- The mail about a cancellation names the end, too.
  if v_before.status = 'active' and not v_ruling.is_live
    and current_setting('subscriptions.cause', true) is distinct from 'cancellation'
  then
    v_end := billing.end_mail(v_before, v_source, v_reason, v_cancelled_at);
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  if v_is_changed and v_source.cancel_at_period_end then perform billing.release_cancellation_mail(p_user_id); end if;
  return case when v_source.id is not null then v_is_changed end;
end $$;

-- Enqueues the mail about an access that ends soon, one for each end of a period.
create or replace function billing.announce_end(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  insert into billing.outbox (key, destination, kind, payload)
  select
    format('subscription-ending/%s/%s', s.id, billing.iso_time(s.current_period_end)),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', billing.iso_time(s.current_period_end),
      'early_renewal', billing.early_renewal()
    ) || case when s.tier = any (billing.tiers_on_offer()) then '{}' else '{"is_on_sale": false}' end::jsonb
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join billing.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  where s.user_id = p_user_id
    and u.email <> ''
    and s.status = 'active'
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + interval '7 days'
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= interval '7 days')
    -- No mail if the gateway charges what runs, or what follows it.
    and not exists (
      select from billing.find_billed(s.user_id) b
      where b.charge_at <= s.current_period_end + interval '1 day'
        -- A row that was written by hand may say that it ends.
        and not (s.cancel_at_period_end and b.id = s.gateway_subscription_id)
    )
    -- No mail if another source takes over.
    and not exists (
      select from billing.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    )
  on conflict (key) do nothing;
end $$;

-- Derives what the gateway must be told about the subscriptions of a user, and writes what differs. The caller holds the lock
-- on the user.
create or replace function billing.plan(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_each billing.stoppable;
  v_stop billing.stop;
  v_ends boolean;
begin
  -- All that a deleted user had is to stop at once. What replaced it went with the user, and must not take that back.
  if billing.is_deleted(p_user_id) then return; end if;
  for v_each in
    select s.*
    from billing.stoppable s
    where s.user_id = p_user_id and (s.is_open or s.stops_at is not null)
    order by s.gateway_subscription_id
  loop
    v_stop := case when v_each.is_open then billing.find_stop(v_each) end;
    v_ends := case when v_each.is_open then coalesce(v_stop.is_wish, false) else (v_each.subscription).cancel_at_period_end end;
    if v_stop.stops_at is not null then
      perform billing.send_stop(v_each.gateway_subscription_id, v_stop, v_each.stops_at);
      -- No charge can fail after that, so no days of grace follow. Those before the first charge of a change of plan remain, and
      -- those that are over.
      v_ends := v_ends or v_each.succeeded_at is null and billing.is_stop_sent(v_each.gateway_subscription_id);
      if v_ends and not (v_each.subscription).cancel_at_period_end and exists (
        select from public.plans p
        cross join lateral billing.mirrored_end(v_each.subscription, p.grace_days) own
        where p.id = (v_each.subscription).plan_id and own.lapses_at <= billing.clock()
      ) then
        v_ends := false;
      end if;
    elsif v_each.stops_at is not null then
      update billing.outbox o
      set parked_at = billing.clock(), last_error = 'withdrawn'
      where o.key = 'cancel-subscription/' || v_each.gateway_subscription_id
        and o.told_at is null
        and o.delivered_at is null
        and o.parked_at is null;
      -- After the update, which waits for a dispatcher that claims the row.
      if v_each.is_open and billing.is_stop_sent(v_each.gateway_subscription_id) then
        -- What was told is final: it ends with its cycle.
        v_stop.stops_at := v_each.stops_at;
        v_ends := true;
      end if;
    end if;
    v_ends := v_ends and billing.is_known(v_each.subscription);
    if (v_each.stops_at, (v_each.subscription).cancel_at_period_end) is distinct from (v_stop.stops_at, v_ends) then
      update billing.gateway_subscriptions m
      set stops_at = v_stop.stops_at, cancel_at_period_end = v_ends
      where m.id = (v_each.subscription).id;
    end if;
  end loop;
end $$;

-- Ends every running source of a user at once, and the replaced ones: they must not run again when the purchase that
-- replaced them is refunded. The caller holds the lock on the user.
create or replace function billing.end_sources(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_running constant text[] := array(
    select s.kind || '/' || s.id
    from billing.sources s
    where s.user_id = p_user_id and (s.ended_at is null or s.ended_reason = 'replaced') and s.lapses_at > v_now
  );
begin
  update public.payments p
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where p.user_id = p_user_id and 'payment/' || p.id = any (v_running);
  update billing.grants g
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where g.user_id = p_user_id and 'grant/' || g.id = any (v_running);
  update billing.manual_subscriptions w
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where w.user_id = p_user_id and 'manual/' || w.user_id = any (v_running);
  -- Also those that are no sources, and those that the gateway has cancelled before the end of their period.
  update billing.gateway_subscriptions m
  set ended_at = v_now, cancel_at_period_end = false
  where m.user_id = p_user_id
    and m.ended_at is null
    and (m.status is distinct from 'cancelled' or 'gateway_subscription/' || m.gateway_subscription_id = any (v_running));
end $$;

-- Sets the period of a purchase: from now, or from the end of what it follows. It extends what it follows, if that was sold
-- for the same tier, currency and months, and rules or begins later: both are shown as one period. Else it begins, and rules,
-- when the other one ends.
create function billing.set_period(p_purchase billing.purchase, p_payment public.payments)
returns public.payments language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_followed billing.sources;
begin
  v_followed := billing.find_followed(
    p_payment.user_id, p_payment.tier, p_payment.plan_id, billing.price_sold(p_payment), p_payment.starts,
    case when p_payment.credit is null then p_purchase.early_renewal end
  );
  p_payment.chain_id := null;
  p_payment.extends_from := date_trunc('milliseconds', v_followed.ends_at);
  p_payment.chain_start := p_payment.extends_from;
  -- The id first: after a null the ruling would be sought in vain.
  if v_followed.id is not null
    and v_followed.tier = p_payment.tier
    -- Of what was not sold by a price they are not known.
    and (((v_followed.sold).currency, (v_followed.sold).months) = (p_payment.currency, p_payment.duration_months)) is not false
    -- The row may show what has ended since.
    and (v_followed.is_upcoming or ((billing.find_ruling(p_payment.user_id)).source).tier = p_payment.tier)
  then
    p_payment.chain_start := v_followed.starts_at;
    if v_followed.kind = 'payment' then
      select coalesce(p.chain_id, p.id), p.extends_from
      into p_payment.chain_id, p_payment.extends_from
      from public.payments p
      where p.id = v_followed.id::uuid;
    end if;
  end if;
  -- From its start it rules over what it follows, even if its order is older.
  p_payment.since := greatest(p_payment.since, v_followed.since + interval '1 microsecond');
  p_payment.period_start := coalesce(p_payment.extends_from, date_trunc('milliseconds', billing.clock()));
  p_payment.period_end := billing.add_months(p_payment.period_start, p_payment.duration_months, p_purchase.time_zone);
  return p_payment;
end $$;

-- Settles the access of a user whose payment is fulfilled, with the success mail.
create function billing.settle_purchase(
  p_purchase billing.purchase,
  p_payment public.payments, -- as it is fulfilled
  p_email text, -- of the user
  p_rules boolean -- whether it is known to rule
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_plan constant public.plans := p_purchase.plan;
  v_source billing.sources;
  v_ruling billing.ruling;
begin
  -- A ranking would take half of the time.
  if p_rules then
    v_source.user_id := p_payment.user_id;
    v_source.kind := 'payment';
    v_source.id := p_payment.id;
    v_source.plan_id := v_plan.id;
    v_source.tier := p_payment.tier;
    v_source.starts_at := coalesce(p_payment.chain_start, p_payment.period_start);
    v_source.ends_at := p_payment.period_end;
    v_source.lapses_at := p_payment.period_end;
    v_source.since := p_payment.since;
    v_source.cancel_at_period_end := p_payment.cancel_at_period_end;
    v_source.sold := billing.price_sold(p_payment);
    v_ruling := billing.sole_ruling(v_source);
    v_ruling.shown := p_purchase.shown;
  end if;
  perform billing.settle_access(
    p_payment.user_id, p_email, p_payment.id::text, p_ruling => v_ruling, p_mail => jsonb_build_object(
      'plan_name', v_plan.name, 'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
      'transaction_id', p_payment.gateway_payment_id, 'valid_until', billing.iso_time(p_payment.period_end)
    )
  );
end $$;

-- Captures a payment and makes it a source of access. The caller holds the locks on the user and on the payment.
-- A payment is captured but not fulfilled if its tier has no plan, its user is deleted, or it was refunded in full.
create or replace function billing.fulfil_payment(
  p_purchase billing.purchase, -- its payment has the gateway's payment id to store
  p_email text,
  p_signature text, -- null: not verified by the customer
  p_is_confirmed boolean -- the gateway confirms the capture
)
returns jsonb -- {outcome: applied | plan_not_found | refunded | user_gone, tier, valid_until}
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_payment public.payments := p_purchase.payment;
  v_plan constant public.plans := p_purchase.plan;
  v_is_refunded constant boolean := billing.is_refunded(v_payment);
  v_grants constant boolean := v_plan.id is not null and v_payment.user_id is not null and not v_is_refunded;
  v_rules boolean; -- the usual purchase: the newest act of a user without a gateway subscription
begin
  v_payment.tier := billing.tier_bought(v_payment);
  v_payment.since := case
    when p_signature is null then greatest(
      v_payment.since, v_payment.created_at, v_payment.verified_at,
      -- A fact that arrives after a row was written by hand ranks above it.
      p_purchase.written_at + interval '1 microsecond'
    )
    -- A verification ranks after every earlier act of the customer, also one while this transaction waited for the lock.
    else greatest(v_now, p_purchase.newest_at + interval '1 microsecond')
  end;
  if v_grants then
    v_payment.duration_months := coalesce(v_payment.duration_months, billing.sold_months(v_plan.duration_months));
    v_payment := billing.set_period(p_purchase, v_payment);
    v_rules := not p_purchase.is_mirrored
      and v_payment.since > coalesce(p_purchase.newest_at, '-infinity')
      and v_payment.chain_id is null
      and (v_payment.chain_start > v_now) is not true;
    -- payments.subscription_id needs a row.
    if v_rules then
      perform billing.settle_purchase(p_purchase, v_payment, p_email, true);
    elsif (p_purchase.shown).id is null then
      -- billing.settle_access writes other values.
      insert into public.subscriptions (user_id, tier, status, revision, updated_at)
      values (v_payment.user_id, v_payment.tier, 'cancelled', 1, greatest(v_now, v_payment.since));
    end if;
  end if;
  update public.payments p
  set status = 'captured', gateway_payment_id = v_payment.gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature), refunded_amount = v_payment.refunded_amount,
    paid_amount = coalesce(v_payment.paid_amount, p.paid_amount),
    base_amount = coalesce(v_payment.base_amount, p.base_amount),
    captured_at = coalesce(p.captured_at, v_now),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, v_now) else p.confirmed_at end,
    -- A verification of a refunded payment is refused and does not count.
    verified_at = coalesce(p.verified_at, case when p_signature is not null and not v_is_refunded then v_now end),
    uncaptured_at = null, ended_at = null, ended_reason = null,
    tier = v_payment.tier, plan_id = coalesce(v_plan.id, p.plan_id), duration_months = v_payment.duration_months,
    subscription_id = case
      when v_grants then (select s.id from public.subscriptions s where s.user_id = v_payment.user_id)
    end,
    fulfilled_at = case when v_grants then v_now end,
    period_start = v_payment.period_start, period_end = v_payment.period_end, chain_id = v_payment.chain_id,
    chain_start = v_payment.chain_start, extends_from = v_payment.extends_from, since = v_payment.since,
    -- Without extends_from the chain has begun, also where it did so while this transaction waited for the lock.
    settle_at = case when v_payment.extends_from is not null and v_payment.chain_start > v_now then v_payment.chain_start end,
    -- A payment that is only verified needs a confirmation by the gateway, however old its order is.
    next_reconcile_at = case when p_is_confirmed then p.next_reconcile_at else v_now + interval '15 minutes' end
  where p.id = v_payment.id;

  if not v_grants then
    return jsonb_build_object('tier', v_payment.tier, 'outcome', case
      when v_is_refunded then 'refunded'
      when v_payment.user_id is null then 'user_gone'
      else 'plan_not_found'
    end);
  end if;
  if v_payment.chain_id is not null then
    perform billing.lay_out_chain(v_payment.chain_id);
    select p.period_end into v_payment.period_end from public.payments p where p.id = v_payment.id;
  end if;
  if not v_rules then perform billing.settle_purchase(p_purchase, v_payment, p_email, false); end if;
  perform billing.announce_replacement(v_payment, v_plan, p_email);
  return jsonb_build_object('outcome', 'applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end));
end $$;

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
  v_from constant billing.commitment := billing.find_commitment(p_user_id);
  v_held constant billing.ranked_price := billing.rank_commitment(v_from);
  v_is_same constant boolean := coalesce(v_held.plan_id = v_plan.id, false); -- a renewal, not a change
  v_is_undo constant boolean := v_is_same and (v_from.next).id is not null;
  v_credit record;
  v_change billing.change;
begin
  v_change.outcome := case
    -- What a customer has is undone to, also where it is off sale.
    when v_plan.id is null or not v_is_undo and not billing.is_on_offer(v_plan) then 'plan_not_found'
    when v_plan.tier <> p_tier then 'price_conflict'
    -- In the days of grace nothing has an end to wait for. While a charge is under way, another payment might be one too much.
    when v_held.plan_id is null or v_from.ends_at <= v_now and (p_when <> 'now' or coalesce(v_from.charge_at <= v_now, false))
      then 'subscription_not_found'
  end;
  if v_change.outcome is not null then return v_change; end if;
  v_change.plan := v_plan;
  v_change.from_tier := v_from.tier;
  v_change.from_price := case when (v_from.sold).amount is not null then coalesce((v_from.sold).lookup_key, v_from.tier) end;
  if v_is_undo then return billing.undo_change(v_change, v_from); end if;

  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_when = 'now';
  -- Why it cannot begin before the end of the period.
  v_change.reason := case
    when p_when <> 'now' or v_is_same then null
    when (v_held.price).currency <> v_plan.currency then 'currency'
    when v_held.tier = v_plan.tier and billing.compare_prices(v_held, billing.rank_plan(v_plan)) = 'downgrade' then 'downgrade'
    when v_credit.is_excess then 'credit'
  end;
  v_change.outcome := case
    when v_change.reason is not null then 'not_now'
    when v_is_same and v_from.gateway_subscription_id is not null then 'already_subscribed'
    -- It waits already: asked for again it changes nothing.
    when p_when = 'period_end' and v_plan.id = (v_from.next).asked_plan_id then 'already_subscribed'
    else 'change'
  end;
  -- A renewal that the customer cancelled or never authorised is made again. A change of one that waits renews the same
  -- purchase.
  if p_when = 'period_end' and (
    v_from.kind = 'renewal'
    or v_from.kind = 'purchase' and v_is_same and exists (
      select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.payment_id::text = v_from.id
    )
  ) then
    v_change.renews := v_from.paid_by_id::uuid;
  end if;
  v_change.is_billed := v_plan.gateway_plan_id is not null and num_nonnulls(v_from.gateway_subscription_id, v_change.renews) > 0;

  v_change.credit := 0;
  v_change.starts_at := v_now;
  v_change.due_at := v_now;
  if p_when = 'now' then
    v_change.credit := coalesce(v_credit.credit, 0);
    if not v_change.is_billed or v_change.credit > 0 then v_change.order_start := 'now'; end if;
  elsif v_change.is_billed then
    v_change.replaces := v_from.gateway_subscription_id;
    v_change.starts_at := v_from.ends_at;
    v_change.due_at := v_from.ends_at;
    -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
    if v_change.outcome = 'change' and v_change.replaces is not null and v_change.starts_at < v_now + interval '80 hours' then
      v_change.outcome := 'too_late';
    end if;
  else
    v_change.order_start := 'after_current';
    v_change.starts_at := coalesce(
      (billing.find_followed(p_user_id, v_plan.tier, null, null, v_change.order_start, null)).ends_at, v_now
    );
  end if;
  v_change.ends_at := billing.add_months(v_change.starts_at, billing.sold_months(v_plan.duration_months));
  v_change.amount_due := v_plan.price - v_change.credit;
  v_change.next_charge_at := case
    when v_change.is_billed then case p_when when 'now' then v_change.ends_at else v_change.starts_at end
  end;
  v_change.next_amount := v_plan.price;
  return v_change;
end $$;

-- Returns the terms of a change in answers, or why it is refused.
create function billing.change_answer(p_change billing.change)
returns jsonb -- see public.preview_change
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', p_change.outcome,
      'reason', p_change.reason,
      'possible_from', case when p_change.outcome = 'too_late' then billing.iso_time(p_change.starts_at) end
    ));
  end if;
  return jsonb_build_object(
    'outcome', p_change.outcome, 'order_start', p_change.order_start, 'is_billed', p_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', p_change.amount_due, 'due_at', billing.iso_time(p_change.due_at), 'credit', p_change.credit,
      'currency', (p_change.plan).currency,
      'starts_at', billing.iso_time(p_change.starts_at),
      'ends_at', billing.iso_time(p_change.ends_at),
      'from', p_change.from_tier,
      'to', (p_change.plan).tier,
      'from_price', p_change.from_price,
      'to_price', coalesce((p_change.plan).lookup_key, (p_change.plan).tier),
      'renews', p_change.is_billed or p_change.next_charge_at is not null,
      'next_charge', case
        when p_change.next_charge_at is not null
          then jsonb_build_object('at', billing.iso_time(p_change.next_charge_at), 'amount', p_change.next_amount)
      end
    )
  );
end $$;

create or replace function public.preview_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: change | undo, order_start: now | after_current | null, is_billed, change: {amount_due, due_at, credit, currency,
-- starts_at, ends_at, from, to, from_price, to_price, renews, next_charge: {at, amount} | null}},
-- {outcome: plan_not_found | price_conflict | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason: currency | downgrade | credit}, {outcome: too_late, possible_from}
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$ begin return billing.change_answer(billing.plan_change(p_user_id, p_tier, p_when, p_price)); end $$;

create or replace function public.create_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_payment_id uuid default null, -- pays for the first period
  p_gateway_key_id text default null,
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- as create_subscription, or {outcome: undone | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason}, {outcome: too_late, possible_from}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_change billing.change;
  v_undone_id uuid;
begin
  perform billing.begin_request('change', null);
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  v_change := billing.plan_change(p_user_id, p_tier, p_when, p_price);
  if v_change.outcome = 'undo' then
    with undone as (
      update billing.gateway_subscriptions m
      set undone_at = billing.clock()
      where m.user_id = p_user_id and m.replaces is not null and m.starts_at > billing.clock() and m.undone_at is null
      returning m.id, m.asked_at
    )
    select u.id into v_undone_id from undone u order by u.asked_at desc, u.id limit 1;
    perform billing.withdraw_outlook(p_user_id);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(p_user_id, v_email, 'change-undone', v_undone_id::text);
    return jsonb_build_object('outcome', 'undone');
  end if;
  if v_change.outcome <> 'change' then return billing.change_answer(v_change); end if;
  if not v_change.is_billed then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  return billing.request_subscription(
    p_user_id, v_change.plan, null, null, p_gateway_key_id,
    case
      -- The order was sold for a time of its own, also if no credit is left by now.
      when p_payment_id is not null then (
        select coalesce(p.period_end, billing.add_months(billing.clock(), p.duration_months))
        from public.payments p
        where p.id = p_payment_id
      )
      when p_when = 'period_end' then v_change.starts_at
    end,
    v_change.replaces, coalesce(p_payment_id, v_change.renews)
  );
end $$;

create or replace function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, not signed
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to read
  p_account_id text default null -- the gateway account whose events are applied; null: all accounts
)
returns jsonb -- {outcome, enqueued}: see billing.gateway_events.outcome; for "failed: …" the gateway must retry. enqueued:
-- whether there is a side effect to dispatch. With an order to read at once also {read: {payment_id, order_id, amount}}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_outcome text;
  v_read jsonb;
begin
  if v_body ->> 'account_id' <> p_account_id then
    -- The payload is not stored: it holds personal data of another business's customers.
    insert into billing.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, billing.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome, 'enqueued', false);
  end if;
  perform billing.begin_request(v_body ->> 'event', null); -- but for the usual renewal, billing.try_event sets the cause
  if v_body ->> 'event' = 'subscription.charged' then
    begin
      if not billing.apply_next_charge(decode(p_body_sha256, 'hex'), p_event_id, v_body) then
        raise exception using errcode = 'PS409'; -- undoes what it wrote
      end if;
      v_outcome := 'applied';
    exception when others then
      -- In the general way billing.try_event meets an error of the event again, and its outcome is stored.
      if not billing.is_error_of_event(sqlstate) then raise; end if;
    end;
  end if;
  -- The general way.
  v_outcome := coalesce(v_outcome, (billing.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome);
  if v_outcome = 'mismatch' then
    -- Another amount than was sold: if its order is due, the caller reads it at once, and the schedule if that fails.
    select jsonb_build_object('read', jsonb_build_object('payment_id', p.id, 'order_id', p.gateway_order_id, 'amount', p.amount))
    into v_read
    from public.payments p
    where p.gateway_order_id = coalesce(v_body #>> '{payload,payment,entity,order_id}', v_body #>> '{payload,order,entity,id}')
      and p.status <> 'captured'
      and p.next_reconcile_at <= billing.clock();
  end if;
  return jsonb_build_object(
    'outcome', v_outcome, 'enqueued', coalesce(current_setting('subscriptions.enqueued', true) = 'on', false)
  ) || coalesce(v_read, '{}');
end $$;

-- The events about payments, refunds and disputes, and the dispatch of an event by its name. Contract: "Events".

-- Finds the payment of a gateway's payment entity: by the payment's id, also of an extra payment, else by the order's id,
-- else by the order's receipt (our id without dashes, known before the order's id). The notes are not used: the browser sets
-- them.
create or replace function billing.find_payment(p_entity jsonb, p_order jsonb) -- p_order: the order's entity, if the event has one
returns public.payments -- all null: not found. The row is not locked: read it again under its lock
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := billing.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    billing.json_text(p_entity -> 'order_id'), billing.json_text(p_order -> 'id')
  );
  v_of_order public.payments;
begin
  -- The usual case: the order is known and has no other payment.
  select * into v_of_order from public.payments p where p.gateway_order_id = v_gateway_order_id;
  if found and (v_of_order.gateway_payment_id is null or v_of_order.gateway_payment_id = v_gateway_payment_id) then
    return v_of_order;
  end if;
  return (
    select p
    from public.payments p
    where p.id = coalesce(
      (select coalesce(o.extra_of, o.id) from public.payments o where o.gateway_payment_id = v_gateway_payment_id),
      v_of_order.id,
      (
        select r.id
        from public.payments r
        where r.id = substring(billing.json_text(p_order -> 'receipt') from '^[0-9a-f]{32}$')::uuid and r.gateway_order_id is null
      )
    )
  );
end $$;

-- Applies payment.captured or order.paid: fulfils the payment as verify would, whichever comes first. The gateway must say that
-- the order is paid, or the payment must have exactly the amount of the order: the customer may bear the gateway's fee, or have
-- an offer. Contract: "Closed browser".
create or replace function billing.apply_payment_captured(p_entity jsonb, p_order jsonb)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := billing.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    billing.json_text(p_entity -> 'order_id'), billing.json_text(p_order -> 'id')
  );
  v_amount constant bigint := billing.json_integer(p_entity -> 'amount');
  v_base_amount bigint; -- what the gateway booked in INR
  v_payment public.payments := billing.find_payment(p_entity, p_order);
  v_settles constant boolean := billing.capture_settles(v_payment, v_gateway_payment_id, v_amount);
  v_purchase billing.purchase;
  v_is_same boolean;
  v_is_exact boolean;
  v_counts_now boolean := false;
  v_email text;
  v_outcome text;
begin
  if v_gateway_payment_id is null then return 'ignored: payment.entity.id'; end if;
  perform billing.note_missing_user(v_payment);
  if v_payment.gateway_subscription_id is not null then
    return 'already'; -- subscription.charged stored the charge
  end if;
  if v_payment.id is null or v_payment.gateway_payment_id is distinct from v_gateway_payment_id and v_amount is null then
    return 'unmatched';
  end if;

  if v_settles then
    v_email := billing.lock_user(v_payment.user_id);
  end if;
  v_purchase := billing.lock_purchase(v_payment.id, v_gateway_payment_id);
  v_payment := v_purchase.payment;
  if not v_settles and billing.capture_settles(v_payment, v_gateway_payment_id, v_amount) then
    -- It changed before it was locked. The lock of the user comes before that of the payment, so the caller starts over.
    raise serialization_failure using message = 'the payment changed before it was locked';
  end if;
  v_is_same := v_payment.gateway_payment_id is not distinct from v_gateway_payment_id;
  v_is_exact := billing.is_paid(v_payment, p_entity, p_order);
  if not v_is_same and not v_is_exact then
    -- The order itself is read at once: only it says whether that was its payment.
    update public.payments p
    set next_reconcile_at = billing.clock()
    where p.id = v_payment.id and p.gateway_order_id = v_gateway_order_id and p.status <> 'captured';
    return 'mismatch';
  end if;
  if v_payment.currency <> 'INR' then v_base_amount := billing.json_integer(p_entity -> 'base_amount'); end if;
  if v_is_same or v_payment.status <> 'captured' then
    v_payment.paid_amount := coalesce(v_amount, v_payment.paid_amount);
    v_payment.base_amount := coalesce(v_base_amount, v_payment.base_amount);
  end if;

  if not v_is_same and v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := v_gateway_payment_id;
    -- Its refunds may arrive before the capture.
    v_payment.refunded_amount := v_purchase.refunded_amount;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform billing.note_extra_payment(v_payment, v_gateway_payment_id, billing.clock(), v_amount, v_base_amount);
    v_payment := billing.count_best_payment(v_payment);
    v_counts_now := v_payment.gateway_payment_id = v_gateway_payment_id;
  end if;

  if v_is_exact
    and (v_payment.fulfilled_at is null or v_payment.uncaptured_at is not null or v_payment.ended_reason = 'refunded')
    and (v_payment.status <> 'captured' or not billing.is_refunded(v_payment))
  then
    v_is_same := v_payment.gateway_payment_id = v_gateway_payment_id;
    v_purchase.payment := v_payment;
    v_outcome := billing.fulfil_payment(v_purchase, v_email, null, v_is_same) ->> 'outcome';
    if v_payment.gateway_order_id is null then
      -- The update applies the events that wait for the order.
      update public.payments p set gateway_order_id = v_gateway_order_id where p.id = v_payment.id;
    end if;
    return case v_outcome when 'plan_not_found' then 'plan_not_found' else 'applied' end;
  end if;

  if v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_payment.status = 'captured' and v_payment.confirmed_at is not null
  then
    return case when v_counts_now then 'applied' else 'already' end;
  end if;
  update public.payments p
  set status = 'captured',
    captured_at = coalesce(p.captured_at, billing.clock()),
    confirmed_at = coalesce(p.confirmed_at, billing.clock()),
    paid_amount = coalesce(v_amount, p.paid_amount),
    base_amount = coalesce(v_payment.base_amount, p.base_amount)
  where p.id = v_payment.id
  returning * into v_payment;
  if v_amount <> v_payment.amount then perform billing.settle_full_refund(v_payment, v_email); end if;
  return 'applied';
end $$;

-- Applies refund.created, refund.processed or refund.failed, in any order, before or after their payment arrives. A refund
-- keeps its payment and its amount: what names another one changes nothing.
-- Contract: "Refunds".
create or replace function billing.apply_refund(p_refund jsonb, p_payment jsonb) -- the entities; null: the event has none
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_refund_id constant text := billing.json_text(p_refund -> 'id');
  v_gateway_payment_id constant text := coalesce(
    billing.json_text(p_refund -> 'payment_id'), billing.json_text(p_payment -> 'id')
  );
  v_amount constant bigint := billing.json_integer(p_refund -> 'amount');
  v_status constant text := billing.json_text(p_refund -> 'status');
  v_statuses constant text[] := array['pending', 'processed', 'failed'];
  v_payment public.payments;
  v_email text;
  v_is_news boolean;
  v_is_settled boolean;
  v_had_access boolean;
begin
  if v_refund_id is null or v_gateway_payment_id is null or v_amount is null or v_amount < 0
    or (v_status = any (v_statuses)) is not true
  then
    return 'ignored: refund.entity';
  end if;
  perform billing.lock_gateway_payment(v_gateway_payment_id);
  v_payment := billing.find_payment(coalesce(p_payment, '{}') || jsonb_build_object('id', v_gateway_payment_id), null);
  perform billing.note_missing_user(v_payment);
  v_email := billing.lock_user(v_payment.user_id);
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  update public.payments p
  set paid_amount = billing.json_integer(p_payment -> 'amount')
  where p.id = v_payment.id
    and p.gateway_payment_id = v_gateway_payment_id
    and p.gateway_subscription_id is null
    and p.paid_amount is null
    and billing.json_integer(p_payment -> 'amount') > 0;
  -- The refund is stored even without its payment, which reads its refunds when it arrives.
  insert into billing.refunds as r (refund_id, gateway_payment_id, amount, status, failed_at, support_action_id)
  values (
    v_refund_id, v_gateway_payment_id, v_amount, v_status, case when v_status = 'failed' then billing.clock() end,
    billing.number_of(p_refund #>> '{notes,support_action}')
  )
  on conflict (refund_id) do update
  set status = excluded.status, failed_at = excluded.failed_at,
    support_action_id = coalesce(r.support_action_id, excluded.support_action_id)
  -- A pending refund becomes processed or failed. A processed refund may still fail.
  where array_position(v_statuses, r.status) < array_position(v_statuses, excluded.status)
    and (r.gateway_payment_id, r.amount) = (excluded.gateway_payment_id, excluded.amount);
  v_is_news := found;
  if not exists (
    select from billing.refunds r
    where (r.refund_id, r.gateway_payment_id, r.amount) = (v_refund_id, v_gateway_payment_id, v_amount)
  ) then
    return 'mismatch';
  end if;
  -- The status is no condition: an index of all active rows would be read.
  v_had_access := (select s.status = 'active' from public.subscriptions s where s.user_id = v_payment.user_id);
  update public.payments p
  set refunded_amount = billing.refunded_amount(p.gateway_payment_id)
  where v_payment.id in (p.id, p.extra_of) and p.refunded_amount <> billing.refunded_amount(p.gateway_payment_id);
  v_is_settled := found;
  if v_is_settled then perform billing.settle_kept(v_payment, v_email); end if;
  if v_is_news and v_email is not null then
    -- Of several payments on an order the one that was refunded.
    v_payment := coalesce(
      (select p from public.payments p where p.gateway_payment_id = v_gateway_payment_id), v_payment
    );
    -- Its capture may not be known.
    v_payment.gateway_payment_id := v_gateway_payment_id;
    perform billing.announce_refund(p_refund, v_payment, v_email, v_had_access);
  end if;
  return case when v_payment.id is null then 'unmatched' when v_is_settled or v_is_news then 'applied' else 'already' end;
end $$;

-- Applies the usual charge: the next cycle, in order, of the only subscription of a user that is not over. It reads the event
-- inline: a body of another shape is left to the general way, also by the error of a cast, and so is a delivery whose ledger
-- row exists. The values are those that billing.merge_gateway_subscription, billing.record_charge, billing.settle_access and
-- billing.announce_charge would write.
create or replace function billing.apply_next_charge(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb
)
returns boolean -- false: it is not the usual charge. Then, as after an error, the caller undoes what was written
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_entity constant jsonb := p_body #> '{payload,subscription,entity}';
  v_payment constant jsonb := p_body #> '{payload,payment,entity}';
  v_id constant text := v_entity ->> 'id';
  v_payment_id constant text := v_payment ->> 'id';
  v_page constant text := v_entity ->> 'short_url';
  v_types constant text[] := array[
    jsonb_typeof(v_entity -> 'id'), jsonb_typeof(v_entity -> 'plan_id'), jsonb_typeof(v_entity #> '{notes,user_id}'),
    jsonb_typeof(v_payment -> 'id'), jsonb_typeof(v_payment -> 'currency'),
    coalesce(nullif(jsonb_typeof(v_entity -> 'short_url'), 'null'), 'string'),
    jsonb_typeof(p_body -> 'created_at'), jsonb_typeof(v_entity -> 'current_start'), jsonb_typeof(v_entity -> 'current_end'),
    jsonb_typeof(v_payment -> 'amount'), jsonb_typeof(v_entity -> 'paid_count'),
    coalesce(jsonb_typeof(v_entity -> 'remaining_count'), 'number'),
    -- Null: the gateway charges no more, or names no amount of its own.
    replace(jsonb_typeof(v_entity -> 'charge_at'), 'null', 'number'),
    coalesce(nullif(jsonb_typeof(v_payment -> 'base_amount'), 'null'), 'number')
  ];
  v_now constant timestamptz := billing.clock();
  v_user_id uuid;
  v_amount bigint;
  v_at timestamptz;
  v_start timestamptz;
  v_end timestamptz;
  v_charge_at timestamptz;
  v_charged_at timestamptz;
  v_email text;
  v_billed record;
  v_shown record;
begin
  if v_types <> '{string,string,string,string,string,string,number,number,number,number,number,number,number,number}'
    or length(v_id) not between 1 and 200
    or v_page not like 'https://%'
    or length(v_page) > 500
  then
    return false;
  end if;
  v_user_id := v_entity #>> '{notes,user_id}';
  v_amount := v_payment ->> 'amount';
  v_at := to_timestamp((p_body ->> 'created_at')::bigint);
  v_start := to_timestamp((v_entity ->> 'current_start')::bigint);
  v_end := to_timestamp((v_entity ->> 'current_end')::bigint);
  v_charge_at := to_timestamp((v_entity ->> 'charge_at')::bigint);
  v_charged_at := least(v_at + interval '999999 microseconds', v_now);
  -- As billing.json_time and billing.json_integer.
  if least(v_start, v_charge_at) < 'epoch'
    or greatest(v_at, v_start, v_end, v_charge_at) >= '10000-01-01'
    or greatest(v_amount, (v_payment ->> 'base_amount')::bigint, (v_entity ->> 'paid_count')::bigint) > 9007199254740991
    or v_end <= v_now
  then
    return false;
  end if;
  -- As billing.next_charge_at.
  if (v_entity ->> 'remaining_count')::bigint = 0 and v_entity ->> 'status' is distinct from 'pending' then
    v_charge_at := null;
  elsif v_charge_at <= v_charged_at then
    v_charge_at := v_end;
  end if;
  v_email := billing.lock_charge(v_payment_id, v_user_id);

  update billing.gateway_subscriptions m
  set period_start = v_start, period_end = v_end, period_event_at = v_at,
    paid_period_start = v_start, paid_period_end = v_end, paid_period_event_at = v_charged_at,
    plan_event_at = v_at, gateway_status = 'active', gateway_status_event_at = v_at,
    charge_at = v_charge_at, short_url = greatest(m.short_url, v_page), arrived_at = v_now,
    paid_count = greatest(m.paid_count, (v_entity ->> 'paid_count')::bigint)
  where m.user_id = v_user_id
    and m.gateway_subscription_id = v_id
    and m.gateway_plan_id = v_entity ->> 'plan_id'
    -- It goes on, and it was charged before. This charge is the newest event.
    and m.status = 'active'
    -- After another state the charge may be the cause of a stop, or older than the reconciliation.
    and m.gateway_status = 'active'
    and m.first_halted_at is null
    and m.first_charged_at is not null
    and m.stops_at is null
    and m.ended_at is null
    and not m.has_refunds
    and not m.cancel_at_period_end
    and greatest(m.plan_event_at, m.period_event_at, m.gateway_status_event_at) < v_at
    and greatest(m.asked_at, m.first_charged_at, m.paid_period_event_at) < v_charged_at
    and coalesce(m.paid_count <= (v_entity ->> 'paid_count')::bigint, true)
    and m.period_end < v_end
    and m.next_check_at <= v_end - interval '1 day'
    and not exists (
      select from billing.gateway_subscriptions other
      where other.user_id = v_user_id
        and other.id <> m.id
        -- One that is over gives nothing and is not billed, nor does one that was only asked for.
        and num_nonnulls(other.arrived_at, other.written_at) > 0
        and (other.gateway_status in ('cancelled', 'completed', 'expired') and other.period_end < v_now) is not true
    )
    and not exists (select from billing.refunds b where b.gateway_payment_id = v_payment_id)
    -- Its user keeps it, and a finding about its notes is over.
    and m.noted_user_id is null
    and not exists (
      select from billing.gateway_subscriptions other where other.gateway_subscription_id = v_id and other.id <> m.id
    )
  returning m.plan_id, (m.sold).lookup_key, (m.sold).months, m.gateway_key_id, m.asked_plan_id is not null as is_asked
  into v_billed;
  if not found then return false; end if;
  -- It rules. If access begins again, the tier is to be written.
  update public.subscriptions s
  set current_period_start = v_start, current_period_end = v_end, revision = s.revision + 1,
    updated_at = greatest(s.updated_at, v_now)
  from public.plans p, billing.profiles f
  where s.user_id = v_user_id
    and p.id = v_billed.plan_id
    and f.user_id = v_user_id
    and (s.gateway_subscription_id, s.plan_id, s.tier) = (v_id, p.id, p.tier)
    and s.status = 'active'
    and s.revision > 0
    -- Null: the row was written by hand since.
    and s.price_amount is not null
    and not s.cancel_at_period_end
    and (s.current_period_end > v_now or f.subscription_tier = p.tier)
  returning p.tier, p.name as plan_name, coalesce(nullif(f.display_name, ''), f.username, '') as display_name
  into v_shown;
  if not found then return false; end if;
  insert into public.payments (
    user_id, amount, currency, status, tier, plan_id, price_key, duration_months, gateway_key_id, gateway_payment_id,
    gateway_subscription_id, captured_at, confirmed_at, period_start, period_end, next_reconcile_at, created_at, base_amount
  )
  values (
    v_user_id, v_amount, v_payment ->> 'currency', 'captured', v_shown.tier, v_billed.plan_id, v_billed.lookup_key,
    v_billed.months, v_billed.gateway_key_id, v_payment_id, v_id, v_charged_at, v_charged_at, v_start, v_end, null,
    v_charged_at, (v_payment ->> 'base_amount')::bigint
  );
  insert into billing.gateway_events (
    body_sha256, event_id, event, subject_id, event_at, payload, outcome, deliveries, attempts, received_at
  )
  values (p_body_sha256, p_event_id, 'subscription.charged', v_id, v_at, p_body, 'applied', 1, 1, v_now);
  if v_billed.is_asked and v_email <> '' then
    insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
    select
      k.kind || '/' || v_payment_id, case k.kind when 'payment-success' then 'email' else 'notice' end, k.kind,
      jsonb_build_object(
        'to', v_email, 'display_name', v_shown.display_name, 'plan_name', v_shown.plan_name, 'amount', v_amount,
        'currency', v_payment -> 'currency', 'transaction_id', v_payment_id, 'valid_until', billing.iso_time(v_end),
        'next_charge_at', billing.iso_time(v_charge_at)
      ),
      v_now, v_now, v_now
    from (
      select case when (v_entity ->> 'paid_count')::bigint > 1 then 'subscription-renewed' else 'payment-success' end as kind
    ) k;
  end if;
  return true;
end $$;

-- Returns what repairs a call of the function that failed or got no answer.
create function billing.call_remedy(p_call billing.function_calls)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_call.answered_at is null
      then 'Check that the worker of pg_net runs. "select net.worker_restart();" starts it again.'
    when p_call.request_id is null
      then 'pg_net did not accept the call. Repair the cause of the error: pg_net is not preloaded, or a Vault secret '
        'can''t be decrypted.'
    when p_call.error = 'no answer within 5 s'
      then 'The function was called and was too slow. Read its log of that time. No line there: its address in the Vault '
        'secret subscriptions_url may be wrong.'
    when p_call.status_code = 401
      then 'The Vault secret subscriptions_internal_key is not the function''s INTERNAL_KEY.'
    when p_call.status_code in (404, 405)
      then 'The Vault secret subscriptions_url is not the functions'' address, or the function api is not deployed.'
    when p_call.status_code = 503
      then 'A variable of the function is not set. The function logs the names of these variables at each start.'
    when p_call.status_code is null
      then 'The address in the Vault secret subscriptions_url does not answer. Check that it is '
        'https://<ref>.supabase.co/functions/v1.'
    else 'Read the function''s log of that time.'
  end;
end $$;

-- Returns the faults of the schedule: jobs that fail or are overdue, and internal calls that failed or got no answer.
-- Security definer: support may not read schema cron.
create or replace function billing.schedule_faults()
returns table (finding text, subject text, since timestamptz, detail jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select
    j.name || '_overdue',
    j.name,
    coalesce(j.done_at, j.since),
    jsonb_build_object('remedy', case j.name
      when 'sweep' then
        'Run "select billing.set_up();". Then check in cron.job_run_details that the job subscriptions-sweep runs each minute.'
      else
        'Check that the schedule calls /api/internal/reconcile, that GATEWAY_API_URL and the API key are set, and that the '
          'gateway answers.'
    end)
  from billing.scheduled_jobs j
  where j.name = 'sweep'
    and coalesce(j.done_at, j.since) < now() - interval '10 minutes'
    or j.name = 'reconciliation'
    and coalesce(j.done_at, j.since) < now() - interval '15 minutes'
    -- Those that are due, and those that are leased by a run that got no answer.
    and exists (select from billing.reconciliations r where r.at < billing.clock() + interval '5 minutes')
  union all
  select
    'statement_overdue', 'statement', least(s.answered_at, s.read_until),
    jsonb_build_object('remedy', 'Payments, refunds, disputes and settlements at the gateway are read each hour. Read the function''s log: '
      'an item that can''t be applied, or a list that the gateway does not answer, is named there.')
  from billing.statement s
  where s.answered_at < now() - interval '3 hours'
    or s.answered_at is not null and s.read_until < billing.clock() - interval '6 hours'
  union all
  select
    'statement_repeats', w.list || ' ' || w.pass, w.repeated_at,
    jsonb_build_object('remedy', 'The gateway answers the next page of this list with the same page: what follows is not read. '
      'Check that GATEWAY_API_URL is the gateway''s own address, and ask the gateway about the parameter skip.')
  from billing.statement_windows w
  where w.repeated_at is not null
  union all
  -- Only failures that last for ten minutes: another transaction may hold a lock for a moment.
  select
    'job_failing', j.name, j.since,
    jsonb_build_object('error', j.error, 'remedy', 'Repair the cause of the error. The job is retried each minute.')
  from billing.scheduled_jobs j
  where j.error is not null and j.since < now() - interval '10 minutes'
  union all
  select
    'call_failed', last.path, last.called_at,
    jsonb_strip_nulls(
      jsonb_build_object(
        'status_code', last.status_code,
        'error', coalesce(last.error, case when last.answered_at is null then 'not answered' end),
        'remedy', last.remedy
      )
    )
  from (select distinct c.path from billing.function_calls c) paths
  cross join lateral (
    select c.*, billing.call_remedy(c) as remedy
    from billing.function_calls c
    where c.path = paths.path
      -- A call counts as unanswered after five minutes: pg_net waits for the answer, and the sweep stores it.
      and (c.answered_at is not null or c.called_at < now() - interval '5 minutes')
    order by c.id desc
    limit 1
  ) last
  where last.status_code is null or last.status_code not between 200 and 299;

  if to_regclass('cron.job_run_details') is not null then
    return query
    select
      'job_failing', j.jobname::text, run.start_time,
      jsonb_build_object(
        'error', left(run.return_message, 200),
        'remedy', 'Repair the cause of the error. The schedule runs the job again.'
      )
    from cron.job j
    cross join lateral (
      select d.status, d.start_time, d.return_message
      from cron.job_run_details d
      where d.jobid = j.jobid and d.end_time is not null
      order by d.runid desc
      limit 1
    ) run
    where j.jobname like 'subscriptions-%' and run.status = 'failed';
  end if;
end $$;

-- Stores what the gateway booked in rupees for payments in another currency: it may do so days later, and their documents wait
-- for it. Security definer: the list of documents belongs to the owner alone.
create function billing.book_rupees(p_items jsonb) -- payments as the gateway has them
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with booked as (
    update public.payments p
    set base_amount = billing.json_integer(i.item -> 'base_amount')
    from jsonb_array_elements(p_items) i (item)
    where i.item ->> 'currency' <> 'INR'
      and p.gateway_payment_id = i.item ->> 'id'
      and p.base_amount is null
      and p.currency = i.item ->> 'currency'
      and billing.json_integer(i.item -> 'base_amount') is not null
    returning p.id
  )
  update billing.documents_due d
  set due_at = billing.clock()
  from booked b
  where d.payment_id = b.id;
end $$;

-- Finds what is new in a page that was read. If nothing is, the next page follows, or the window ends and its mark moves. So
-- the caller applies what is new and calls again: a crash in between only repeats. API: service_role only.
create or replace function public.apply_statement_page(
  p_list text,
  p_pass text,
  p_to bigint, -- as it was claimed, here and below
  p_skip integer,
  p_items text default null, -- the page, a JSON array; null: the gateway has no such list, if it says so of the first page
  p_applied integer default 0 -- how many of the page were new before
)
returns jsonb -- {news: [{item, payment}]}: see billing.find_news. []: also if another run has read the page
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_count constant integer := jsonb_array_length(v_items);
  v_page constant text := md5(jsonb_path_query_array(v_items, '$[*].id')::text);
  v_is_repeated boolean;
  v_news jsonb;
begin
  select v_count = 100 and w.skip > 0 and w.page = v_page into v_is_repeated
  from billing.statement_windows w
  where (w.list, w.pass, w.window_end, w.skip) = (p_list, p_pass, to_timestamp(p_to), p_skip)
  for update;
  -- A later page that the gateway refused is read again.
  if not found or p_items is null and p_skip > 0 then return jsonb_build_object('news', '[]'::jsonb); end if;

  if p_list = 'payments' then perform billing.book_rupees(v_items); end if;
  v_news := billing.find_news(p_list, v_items);
  if v_news is not null then return jsonb_build_object('news', v_news); end if;

  update billing.statement_windows w
  set skip = w.skip + v_count, items = w.items + v_count, news = w.news + p_applied, next_read_at = v_now, answered_at = now(),
    page = v_page
  where (w.list, w.pass) = (p_list, p_pass);
  if v_is_repeated then
    -- The list would never end. The mark stays.
    update billing.statement_windows w
    set repeated_at = coalesce(w.repeated_at, v_now), next_read_at = v_now + interval '1 hour', window_end = null, skip = 0,
      items = 0, news = 0
    where (w.list, w.pass) = (p_list, p_pass);
  elsif v_count < 100 then
    update billing.statement_windows w
    set read_until = greatest(w.read_until, w.window_end),
      -- An hour after it was claimed first: after an outage the next one follows at once.
      next_read_at = greatest(
        v_now, w.window_end + interval '10 minutes' + case w.pass when 'new' then interval '1 hour' else interval '1 day' end
      ),
      completed_at = v_now, completed_items = w.items, completed_news = w.news, repeated_at = null,
      window_end = null, skip = 0, items = 0, news = 0
    where (w.list, w.pass) = (p_list, p_pass);
  end if;
  return jsonb_build_object('news', '[]'::jsonb);
end $$;

create or replace function billing.check_grant_limits(p_action billing.support_actions)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_limits billing.settings;
begin
  if billing.acts_as_owner(p_action) then return; end if;
  select * into v_limits from billing.settings;
  perform billing.require(
    v_limits.support_grant_days is null
      or p_action.until <= billing.clock() + make_interval(hours => 24 * v_limits.support_grant_days),
    'PS403', format('support may grant %s days at most: the setting support_grant_days', v_limits.support_grant_days)
  );
  perform billing.require(
    v_limits.support_grant_tier is null
      or p_action.entitlements is null and exists (
        select from public.plans p
        join public.plans most on most.tier = v_limits.support_grant_tier and most.lookup_key is null
        where p.tier = p_action.tier and p.lookup_key is null and billing.rank_of(p) <= billing.rank_of(most)
      ),
    'PS403', format(
      'support may grant %s at most, without entitlements: the setting support_grant_tier', v_limits.support_grant_tier
    )
  );
end $$;

create or replace function billing.perform_requeue_mail(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_row billing.outbox;
  v_obstacle text;
begin
  select * into v_row
  from billing.outbox o
  where o.id = billing.number_of(p_action.reference) or o.key = p_action.reference
  for update;
  perform billing.require(
    v_row.id is not null, 'PS404', format('requeue_mail needs reference: no message "%s"', p_action.reference)
  );
  v_obstacle := case
    when v_row.delivered_at is not null then format('was delivered at %s', billing.iso_time(v_row.delivered_at))
    when v_row.parked_at is not null and (v_row.claims = '{}' or v_row.last_error = 'withdrawn')
      then format('was withdrawn: %s', v_row.last_error)
    when v_row.parked_at is null and v_row.attempts = 0
      then format('is queued already, for %s', billing.iso_time(v_row.next_attempt_at))
    when not billing.requeue(v_row.id) then 'cannot be sent: that much of the payment is no longer left to refund'
  end;
  perform billing.require(v_obstacle is null, 'PS409', format('message %s %s', v_row.id, v_obstacle));
  p_action.reference := v_row.id;
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_message(v_row));
  p_action.result := format('Message %s (%s) is queued again.', v_row.id, v_row.kind);
  return p_action;
end $$;

create or replace view billing.paid_twice with (security_invoker = true) as
with running as not materialized (
  select p.*
  from public.payments p
  where p.fulfilled_at is not null
    and p.ended_at is null
    and p.period_end - billing.clock() > interval '0'
    and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
)
select
  x.user_id, x.created_at as since, x.extra_of as payment_id, x.gateway_payment_id,
  'a further payment on the order' as reason
from public.payments x
where x.extra_of is not null
  and billing.kept(x) > 0
  -- The gateway refunds a payment that was verified but not captured within five days.
  and (x.confirmed_at is not null or x.captured_at > (select billing.clock()) - interval '5 days')
union all
select
  p.user_id, p.fulfilled_at, p.id, p.gateway_payment_id,
  (array[
    'another payment for the same time', 'the gateway bills the same time', 'captured after a newer purchase',
    'ordered before another purchase for the same time was paid'
  ])[overlap.reason]
from running p
-- For each payment, so that a condition on the user comes before all of it.
cross join lateral (
  select min(case
    when o.tier = p.tier and o.reason is not null then o.reason
    -- Only a webhook announced this older order, after a newer purchase.
    when p.verified_at is null and o.since > p.since and o.at < p.fulfilled_at then 3
    -- Such as in another tab: the order could credit nothing.
    when p.credit is null and o.is_paid and o.at > p.created_at and o.at < p.fulfilled_at then 4
  end) as reason
  from (
    select
      other.tier, other.since, other.fulfilled_at as at, true as is_paid,
      case when (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id) then 1 end as reason
    from running other
    where other.user_id = p.user_id
      and other.id <> p.id
      and other.period_start < p.period_end
      and other.period_end > p.period_start
    union all
    select billed.tier, began.at, began.at, began.is_paid, case when began.is_paid then 2 end
    from billing.sources billed
    join billing.gateway_subscriptions m on m.user_id = billed.user_id and m.gateway_subscription_id = billed.id
    cross join lateral (
      select
        -- A later activation, after the payment, changes nothing.
        billing.authorised_at(m) as at,
        -- A trial is not paid for.
        num_nonnulls(m.activated_at, m.first_charged_at) > 0 as is_paid
    ) began
    where billed.user_id = p.user_id
      and billed.kind = 'gateway_subscription'
      and billed.ended_at is null
      and billed.ends_at > billing.clock()
      and billed.starts_at < p.period_end
      and billed.ends_at > p.period_start
  ) o
) overlap
where overlap.reason is not null;

-- Returns whether support noted something about a payment since then, which ends some findings about it.
create function billing.is_noted(p_payment public.payments, p_since timestamptz)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.support_actions a
    where a.action = 'note'
      and a.reference in (p_payment.id::text, p_payment.gateway_payment_id)
      and a.created_at >= p_since
  );
end $$;

create or replace view billing.dispute_lost with (security_invoker = true) as
select
  p.user_id,
  p.captured_at as since,
  case when p.gateway_subscription_id is null then p.id end as payment_id,
  p.tier, p.amount, lost.amount as lost, billing.kept(p) as kept, p.gateway_payment_id
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.dispute_status is not null
  and lost.amount > 0
  -- An admin accepted that a part was lost.
  and not (billing.kept(p) > 0 and billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at)))
  and (
    p.fulfilled_at is not null
    and p.ended_at is null
    or exists (
      select from billing.sources s
      where (s.user_id, s.kind, s.id) = (p.user_id, 'gateway_subscription', p.gateway_subscription_id) and s.is_running
    )
    or exists (select from billing.purchases_on_credit(p))
  );

create or replace view billing.returned_too_much with (security_invoker = true) as
select
  p.user_id, coalesce(p.dispute_event_at, p.captured_at, p.created_at) as since, p.gateway_payment_id, p.currency,
  coalesce(p.paid_amount, p.amount) as paid, p.refunded_amount as refunded, lost.amount as lost
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.refunded_amount > 0
  and p.refunded_amount + lost.amount > coalesce(p.paid_amount, p.amount)
  and not billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at, p.created_at));

create or replace view billing.unmailed_payments with (security_invoker = true) as
select p.user_id, p.fulfilled_at as since, p.id as payment_id, p.gateway_payment_id
from public.payments p
cross join lateral billing.find_user(p.user_id) u
-- Older payments are not listed: mail rows are kept for at least 30 days after their delivery. A payment that is captured
-- long after it was verified was mailed when it was verified.
where least(p.fulfilled_at, p.verified_at) > billing.clock() - interval '30 days'
  and p.period_end - billing.clock() > interval '-30 days'
  and u.email <> ''
  and not exists (select from billing.outbox o where o.key = 'payment-success/' || p.id)
  and not billing.is_noted(p, '-infinity');

-- What pages would else read from all customers is computed in passes: the sweep goes through the customers in the order of
-- their ids, for part of a second each minute. Operations: "Findings", "Revenue".

create or replace view billing.customer_findings with (security_invoker = true) as
select 'paid_not_entitled' as finding, v.payment_id as subject, v.user_id, v.since, to_jsonb(v) as detail,
  'Read the timeline; then grant the tier until the end of the period, or refund the payment at the gateway.' as remedy
from billing.paid_not_entitled v
union all
select 'entitled_not_paid', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Grant the tier to make it complimentary, or set the subscription to cancelled and the profile to free.'
from billing.entitled_not_paid v
union all
select 'tier_mismatch', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Read in the timeline what wrote the tier, then set the tier of the profile.'
from billing.tier_mismatch v
union all
select 'paid_twice', coalesce(v.gateway_payment_id, v.payment_id::text), v.user_id, v.since, to_jsonb(v),
  'Refund the payment. A grant can give the customer the time, but does not end the finding.'
from billing.paid_twice v
union all
select v.finding, coalesce(nullif(v.gateway_payment_id, ''), v.gateway_subscription_id), v.user_id, v.since, to_jsonb(v),
  case v.finding
    when 'charged_twice' then 'Refund the charge at the gateway. Of two subscriptions the service cancels the older one.'
    when 'mismatch' then 'Compare the plan at the gateway with the price: the charge has another amount or currency.'
    else 'Cancel the subscription at the gateway, and refund the charge if the customer asks for it.'
  end
from billing.unexpected_charges v
union all
-- The gateway was told to end it with its cycle, although nothing asks for that any more: the purchase that replaced it was
-- refunded, or it was authorised while its cancellation was under way.
select 'stopped_in_error', m.gateway_subscription_id, m.user_id, m.stops_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'period_end', m.period_end),
  'Ask the customer whether the subscription shall go on, and to start another one before it ends.'
from billing.gateway_subscriptions m
join public.subscriptions s on s.user_id = m.user_id
where m.stops_at is not null
  and m.cancel_at_period_end
  and billing.is_billed(m)
  and billing.cancelled_by_user_at(m.user_id, m.asked_at) is null
  and exists (
    select from billing.stoppable g
    where (g.user_id, g.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      and (billing.find_stop(g)).stops_at is null
  )
union all
select 'notes_edited', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'noted_user_id', m.noted_user_id),
  'Write the user back into the notes at the gateway. To give the access to another user, grant it.'
from billing.gateway_subscriptions m
where m.noted_user_id is not null
union all
-- For more than a day, although the invoices were read.
select 'unnamed_charge', m.gateway_subscription_id, m.user_id, coalesce(m.cancelled_arrived_at, m.arrived_at),
  jsonb_build_object(
    'gateway_subscription_id', m.gateway_subscription_id, 'paid_count', m.paid_count, 'cycles', unnamed.cycles
  ),
  'Look its payments up at the gateway, and compare them with those in the timeline.'
from billing.gateway_subscriptions m
cross join lateral (select billing.unnamed_cycles(m) as cycles offset 0) unnamed
where m.paid_count > 0 and m.arrived_at < (select billing.clock()) - interval '1 day' and unnamed.cycles > 0
union all
select 'unearned_credit', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Refund the payment at the gateway, or accept the loss: the finding ends with the period.'
from billing.unearned_credits v
union all
select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since, to_jsonb(v),
  case when v.payment_id is null then 'Cancel the subscription at the gateway' else 'End the access of the payment' end
    || case when v.kept > 0 then ', or insert a note about the payment: a part was kept.' else '.' end
from billing.dispute_lost v
union all
select 'returned_too_much', v.gateway_payment_id, v.user_id, v.since, to_jsonb(v),
  case
    when v.lost > 0 then 'Contest the dispute at the gateway with the refund, then insert a note about the payment.'
    else 'Compare the refunds at the gateway with the payment, then insert a note about it.'
  end
from billing.returned_too_much v
union all
select 'unmailed_payment', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Write to the customer that the payment arrived, then insert a note about the payment.'
from billing.unmailed_payments v;

create view billing.customer_payments with (security_invoker = true) as
select
  p.user_id, p.gateway_order_id, p.gateway_payment_id,
  coalesce(p.captured_at, p.created_at) as at,
  p.tier, p.amount, p.currency,
  case when p.extra_of is not null and p.confirmed_at is null then 'created' else p.status end as status,
  (
    select count(*)
    from billing.gateway_events e
    where e.subject_id = p.gateway_order_id and e.event = 'payment.failed'
  ) + num_nonnulls(p.captured_at, p.failed_subscription_id) as attempts,
  coalesce(p.meta ->> 'error_description', p.meta ->> 'error_reason', p.meta ->> 'error_code') as last_error,
  p.refunded_amount,
  p.dispute_status,
  (
    select jsonb_agg(
      jsonb_build_object('id', d.dispute_id, 'phase', d.phase, 'amount', d.amount, 'amount_deducted', d.amount_deducted, 'status', d.status)
      order by d.event_at, d.dispute_id
    )
    from billing.disputes d
    where d.gateway_payment_id = p.gateway_payment_id
  ) as disputes,
  case
    when p.extra_of is not null then 'extra_payment'
    when num_nonnulls(p.gateway_subscription_id, p.failed_subscription_id) > 0 then 'cycle'
    else 'order'
  end as kind,
  coalesce(p.gateway_subscription_id, p.failed_subscription_id, p.extra_of::text, p.id::text) as source_id,
  billing.refundable_amount(p) as refundable_amount,
  coalesce(p.price_key, p.tier) as price_key,
  p.duration_months as months,
  billing.refund_effect(p) as refund_effect
from public.payments p;

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one span, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
create or replace function billing.revenue_of(p_after uuid, p_until uuid)
returns setof billing.revenue_sums language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_zone constant text := billing.time_zone();
begin
  return query
  with captured as materialized (
    select p.*
    from (
      select p.* from public.payments p where p.user_id > p_after and p.user_id <= p_until
      union all
      select p.* from public.payments p where p.user_id is null and p.id > p_after and p.id <= p_until
    ) p
    where p.status = 'captured' and (p.extra_of is null or p.confirmed_at is not null)
  ),
  periods as materialized (
    select p.user_id, d.kind, d.name, p.monthly_amount, tstzrange(p.starts_at, p.ends_at) as period
    from billing.paid_periods p
    cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
    where p.user_id > p_after and p.user_id <= p_until and d.name is not null
  ),
  spans as (
    select p.user_id, p.kind, p.name, unnest(range_agg(p.period)) as span, 1 as active, 0 as mrr
    from periods p
    group by p.user_id, p.kind, p.name
    union all
    select
      p.user_id, p.kind, p.name, unnest(p.period::tstzmultirange - coalesce(range_agg(p.period) over newer, '{}')), 0,
      p.monthly_amount
    from periods p
    window newer as (
      partition by p.user_id, p.kind, p.name order by p.period desc rows between unbounded preceding and 1 preceding
    )
  ),
  events as (
    select
      left(coalesce(c.user_id, c.id)::text, 3) as bucket, 'currency' as kind, c.currency as name, l.at, l.payer_id, l.gross,
      l.refunded, 0 as lapsed, 0 as active, 0 as mrr
    from captured c
    cross join lateral (
      select c.captured_at as at, c.user_id as payer_id, coalesce(c.paid_amount, c.amount) as gross, 0 as refunded
      union all
      select f.created_at, null, 0, f.amount
      from billing.refunds f
      where f.gateway_payment_id = c.gateway_payment_id and c.refunded_amount > 0 and f.status = 'processed'
      union all
      select d.at, null, 0, d.amount from billing.losses(c) d where c.dispute_status is not null
    ) l
    union all
    select
      left(s.user_id::text, 3), s.kind, s.name, e.at, null, 0, 0,
      -- A customer who begins again in the month of the end has not lapsed.
      case
        when e.sign < 0 and date_trunc('month', s.next_at, v_zone) is distinct from date_trunc('month', e.at, v_zone)
          then s.active
        else 0
      end,
      e.sign * s.active, e.sign * s.mrr
    from (
      select s.*, lead(lower(s.span)) over (partition by s.user_id, s.kind, s.name, s.active order by s.span) as next_at
      from spans s
    ) s
    cross join lateral (values (lower(s.span), 1), (upper(s.span), -1)) e (at, sign)
    where e.at <= (select billing.clock())
  )
  select
    e.bucket, e.kind, e.name, e.month::date, sum(e.gross)::bigint, sum(e.refunded)::bigint,
    count(distinct e.payer_id) filter (where e.month = e.first_month),
    count(distinct e.payer_id) filter (where e.month > e.first_month), sum(e.lapsed), sum(e.active), sum(e.mrr)::bigint
  from (
    select m.*, min(m.month) over (partition by m.payer_id, m.name) as first_month
    from (select e.*, date_trunc('month', e.at at time zone v_zone) as month from events e) m
  ) e
  group by e.bucket, e.kind, e.name, e.month
  order by e.bucket, e.kind, e.name, e.month;
end $$;

create view billing.monthly_sums with (security_invoker = true) as
select
  k.kind, k.name, m.month::date as month,
  coalesce(s.gross, 0) as gross,
  coalesce(s.refunded, 0) as refunded,
  coalesce(s.new_customers, 0) as new_customers,
  coalesce(s.renewed_customers, 0) as renewed_customers,
  coalesce(s.lapsed_customers, 0) as lapsed_customers,
  coalesce(sum(s.active) over running, 0)::bigint as active_customers,
  coalesce(sum(s.mrr) over running, 0)::bigint as mrr
from (
  select s.kind, s.name, min(s.month) as first_month
  from billing.revenue_sums s
  where s.bucket = '' and (s.kind = 'tier' or (s.gross, s.refunded, s.new_customers) <> (0, 0, 0))
  group by s.kind, s.name
) k
cross join lateral generate_series(
  k.first_month::timestamp, date_trunc('month', (select billing.clock() at time zone billing.time_zone())), interval '1 month'
) m (month)
left join billing.revenue_sums s on (s.bucket, s.kind, s.name, s.month) = ('', k.kind, k.name, m.month::date)
window running as (partition by k.kind, k.name order by m.month);

create or replace view billing.revenue_monthly with (security_invoker = true) as
select
  s.month, s.name as currency, s.gross, s.refunded, s.gross - s.refunded as net, s.new_customers, s.renewed_customers,
  s.lapsed_customers, s.active_customers, s.mrr,
  round(
    100.0 * s.lapsed_customers / nullif(lag(s.active_customers) over (partition by s.name order by s.month), 0), 1
  )::float8 as churn_percent
from billing.monthly_sums s
where s.kind = 'currency';

create or replace view billing.active_monthly with (security_invoker = true) as
select s.month, s.name as tier, s.active_customers from billing.monthly_sums s where s.kind = 'tier';

-- Documents never change, for the owner neither, but for the user who is deleted, and for the row of the payment that they are
-- about.
create or replace function billing.keep_receipt()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_kept public.receipts;
begin
  if tg_op = 'UPDATE' then
    v_kept := old;
    if current_setting('subscriptions.documents_follow', true) = 'on' then
      v_kept.payment_id := new.payment_id;
    else
      v_kept.user_id := null;
    end if;
    if new is not distinct from v_kept then return new; end if;
  end if;
  raise exception 'documents never change: issue a credit note, or reissue the receipt' using errcode = 'PS409';
end $$;

-- Lets documents follow their payments when two rows exchange these, and lists what each row lacks then.
-- Security definer, as above.
create function billing.exchange_documents(p_one uuid, p_other uuid)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_of_one uuid[];
begin
  if (select s.receipts_from from billing.settings s) is null then return; end if;
  -- A batch that numbers documents has read the rows as they were.
  perform billing.lock_numbers();
  v_of_one := array(select r.id from public.receipts r where r.payment_id = p_one);
  perform set_config('subscriptions.documents_follow', 'on', true);
  -- No two receipts may name one payment meanwhile.
  update public.receipts r set payment_id = r.id where r.id = any (v_of_one);
  update public.receipts r set payment_id = p_one where r.payment_id = p_other;
  update public.receipts r set payment_id = p_other where r.id = any (v_of_one);
  perform set_config('subscriptions.documents_follow', null, true);
  insert into billing.documents_due as d (payment_id, confirmed_at)
  select p.id, p.confirmed_at
  from public.payments p
  where p.id in (p_one, p_other) and p.confirmed_at is not null
  on conflict (payment_id) do update set confirmed_at = excluded.confirmed_at, due_at = least(d.due_at, excluded.due_at);
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and lost dispute.
create or replace function billing.issue_documents_of(p_payment public.payments, p_settings billing.settings)
returns timestamptz -- when to look again; null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_receipt public.receipts := billing.find_receipt(p_payment.id);
  v_given record;
begin
  -- Also one that is not confirmed any more, since another payment on its order exchanged its row with it.
  if p_payment.status <> 'captured' or (p_payment.confirmed_at >= p_settings.receipts_from) is not true then return null; end if;
  if v_receipt.id is null then
    -- The gateway may book it in rupees some days later.
    if p_payment.currency <> 'INR' and p_payment.base_amount is null and p_settings.seller_gstin is not null
      and p_payment.confirmed_at > billing.clock() - interval '72 hours'
    then
      return p_payment.confirmed_at + interval '72 hours';
    end if;
    v_receipt := billing.issue_receipt(p_payment, p_settings);
  end if;
  for v_given in
    select r.refund_id, null::text as dispute_id, r.amount, r.created_at as at
    from billing.refunds r
    where r.gateway_payment_id = p_payment.gateway_payment_id
      and r.status = 'processed'
      and not exists (select from public.receipts n where n.refund_id = r.refund_id)
    union all
    select null, l.dispute_id, l.amount, l.at
    from billing.lost_disputes l
    where l.gateway_payment_id = p_payment.gateway_payment_id
      and not exists (select from public.receipts n where n.dispute_id = l.dispute_id)
    order by at, refund_id, dispute_id
  loop
    perform billing.issue_note(v_receipt, p_settings, v_given.amount, v_given.refund_id, v_given.dispute_id);
  end loop;
  return null;
end $$;

comment on column billing.customer_payments.attempts is 'The known attempts: failed ones, and the one that succeeded.';

comment on column billing.customer_payments.disputes is 'Each dispute about it, the newest last. Null: none.';

comment on column billing.customer_payments.kind is 'order, extra_payment (a further payment on an order) or cycle.';

comment on column billing.customer_payments.refund_effect is 'What a refund of all that is left changes of the next charges: ends_renewal, resumes_replaced. Null: nothing.';

comment on column billing.customer_payments.refundable_amount is 'What may still be asked back.';

comment on column billing.customer_payments.source_id is 'Our id of the payment, or the subscription: for actions.';

comment on view billing.customer_payments is 'Orders, paid or not, further payments, cycles and their failed renewals. Minor units. Filter by user_id.';

comment on view billing.monthly_sums is 'Each month since the first one of a currency or tier, and how many were active at its end.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."book_rupees"(jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."book_rupees"(jsonb) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."call_remedy"(billing.function_calls) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."call_remedy"(billing.function_calls) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."change_answer"(billing.change) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."change_answer"(billing.change) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."exchange_documents"(uuid, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."exchange_documents"(uuid, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_noted"(public.payments, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_noted"(public.payments, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."note_extra_payment"(public.payments, text, timestamp WITH time zone, bigint, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_extra_payment"(public.payments, text, timestamp WITH time zone, bigint, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refundable_amount"(public.payments, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refundable_amount"(public.payments, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."set_period"(billing.purchase, public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."set_period"(billing.purchase, public.payments) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settle_purchase"(billing.purchase, public.payments, text, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settle_purchase"(billing.purchase, public.payments, text, boolean) TO "service_role";

revoke execute on all functions in schema billing from public;
