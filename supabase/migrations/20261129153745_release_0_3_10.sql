-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Returns what a change from one price to another is. Contract: "Scenarios".
create or replace function billing.compare_prices(p_from billing.ranked_price, p_to billing.ranked_price)
returns text -- same | upgrade | downgrade | buy: the present tier has no plan
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_from.plan_id is null then 'buy'
    when p_from.plan_id = p_to.plan_id then 'same'
    when (
      p_to.rank, (p_to.price).months,
      case when (p_to.price).currency = (p_from.price).currency then (p_to.price).amount end
    ) > (p_from.rank, (p_from.price).months, (p_from.price).amount) then 'upgrade'
    else 'downgrade'
  end;
end $$;

-- Wakes the dispatcher, at most once in a transaction. Never fails.
-- Security definer: a role that enqueues has no rights on Vault and pg_net.
create or replace function billing.wake()
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('subscriptions.woken', true) = 'on' then return; end if;
  -- A rollback of the subtransaction undoes the setting together with the call.
  perform set_config('subscriptions.woken', 'on', true);
  perform pg_notify('outbox', '');
  perform billing.call_function('/api/internal/outbox');
exception when others then
  raise warning 'the dispatcher was not woken: %', sqlerrm;
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
  end if;

  if v_is_exact
    and (v_payment.fulfilled_at is null or v_payment.uncaptured_at is not null or v_payment.ended_reason = 'refunded')
    and (v_payment.status <> 'captured' or not billing.is_refunded(v_payment))
  then
    v_purchase.payment := v_payment;
    v_outcome := billing.fulfil_payment(
      v_purchase, v_email, null, v_payment.gateway_payment_id = v_gateway_payment_id
    ) ->> 'outcome';
    if v_payment.gateway_order_id is null then
      -- The update applies the events that wait for the order.
      update public.payments p set gateway_order_id = v_gateway_order_id where p.id = v_payment.id;
    end if;
    return case v_outcome when 'plan_not_found' then 'plan_not_found' else 'applied' end;
  end if;

  if v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_payment.status = 'captured' and v_payment.confirmed_at is not null
  then
    -- A further payment counts instead of the one before, or is stored beside it.
    return case when not v_is_same and v_payment.gateway_payment_id = v_gateway_payment_id then 'applied' else 'already' end;
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
  -- Last, since the lock of a mail comes after that of the subscription.
  perform billing.set_mailed_amount(v_payment.id, v_payment.paid_amount);
  return 'applied';
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
      left join billing.manual_subscriptions w on w.user_id = s.user_id
      where s.user_id = p_subscription.user_id
        and (s.kind, s.id) <> (v_source.kind, v_source.id)
        and s.ended_at is null
        -- A cancelled row by hand ended what arrived before it.
        and (w.status = 'cancelled' and s.arrived_at < w.at) is not true
        and (
          s.lapses_at = 'infinity' and (m.stops_at is not null or m.gateway_status = 'pending' or s.is_in_grace) is not true
          or billing.grace_end(s) > v_end
        )
    )
  then
    return null;
  end if;
  return v_end;
end $$;

-- Returns what rules after the first activation of a user who has nothing else. A ranking and a plan would take half of the time.
create or replace function billing.first_ruling(p_subscription billing.gateway_subscriptions)
returns billing.ruling -- null: something else is known of the user
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan record;
  v_source billing.sources;
begin
  select p.tier, p.grace_days into v_plan
  from public.plans p
  where p.id = p_subscription.plan_id
    and (p_subscription.status, p_subscription.gateway_status) = ('active', 'active')
    and p_subscription.period_end > v_now
    and num_nonnulls(
      p_subscription.ended_at, p_subscription.stops_at, p_subscription.written_at, p_subscription.last_halted_at,
      p_subscription.last_resumed_at, p_subscription.starts_at
    ) = 0
    and not p_subscription.cancel_at_period_end
    and not exists (
      select from billing.gateway_subscriptions m where m.user_id = p_subscription.user_id and m.id <> p_subscription.id
    )
    and not exists (select from public.subscriptions s where s.user_id = p_subscription.user_id)
    and not exists (select from public.payments c where c.user_id = p_subscription.user_id)
    and not exists (select from billing.grants g where g.user_id = p_subscription.user_id)
    and not exists (select from billing.manual_subscriptions w where w.user_id = p_subscription.user_id)
    and not exists (select from billing.wishes w where w.user_id = p_subscription.user_id);
  if not found then return null; end if;
  v_source.user_id := p_subscription.user_id;
  v_source.kind := 'gateway_subscription';
  v_source.id := p_subscription.gateway_subscription_id;
  v_source.plan_id := p_subscription.plan_id;
  v_source.tier := v_plan.tier;
  v_source.starts_at := p_subscription.period_start;
  v_source.ends_at := p_subscription.period_end;
  v_source.lapses_at := billing.billed_until(p_subscription.period_end, p_subscription.checked_at, v_plan.grace_days);
  v_source.since := billing.since_of(p_subscription);
  v_source.cancel_at_period_end := false;
  v_source.gateway_subscription_id := nullif(p_subscription.gateway_subscription_id, '');
  v_source.sold := p_subscription.sold;
  v_source.is_failing := p_subscription.charge_at is null;
  return billing.sole_ruling(v_source);
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
  v_gateway_plan_id constant text := billing.json_text(p_entity -> 'plan_id');
  v_email text;
  v_before public.subscriptions; -- the row that it gives, if it is edited
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

  if p_event = 'subscription.charged' then perform billing.lock_gateway_payment(billing.json_text(p_payment -> 'id')); end if;
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
  if v_status = 'updated' then
    select * into v_before
    from public.subscriptions s
    where (s.user_id, s.gateway_subscription_id, s.status) = (v_user_id, v_id, 'active') and s.price_amount is not null;
  end if;
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
  elsif v_before.id is not null then
    perform billing.announce_edit(v_merged, v_before, v_email, p_arrived_at);
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

-- Applies the gateway's payments on an order, and ends access if no payment was captured in time. API: service_role only.
create or replace function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended, as no payment was captured
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_payment public.payments;
  v_email text;
  v_applied integer;
  v_is_over boolean;
  v_next jsonb;
begin
  perform billing.begin_request('reconciliation', null);
  perform billing.lock_gateway_payment(refunded.id)
  from (
    select billing.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  v_email := billing.lock_user((select p.user_id from public.payments p where p.id = p_payment_id));
  -- Locks the payment until the end of the transaction. The rollback of a failed event releases the locks of its effect but
  -- not the lock on its ledger row, which comes after the payment in the lock order.
  select * into v_payment from public.payments p where p.id = p_payment_id for update;

  select count(*) filter (where billing.apply_answer(a.key, a.event, a.payload, null, v_payment.created_at))
  into v_applied
  from (
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral billing.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures come before failures, so that no mail about a failed attempt is sent for a paid order.
    order by array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event), e.key
  ) a;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := v_payment.status = 'captured'
    and not billing.is_settled(v_payment)
    and billing.next_reconciliation(v_payment) is null
    and (p_items::jsonb @> '[{"status": "captured"}]') is not true;
  update public.payments p
  set next_reconcile_at = case when not billing.is_settled(v_payment) then billing.next_reconciliation(v_payment) end
  where p.id = p_payment_id;
  if v_is_over then
    perform billing.note_cause('never captured', v_payment.gateway_payment_id);
    -- verified_at remains, but from now on only a confirmation by the gateway counts.
    update public.payments p
    set status = 'failed',
      captured_at = null, uncaptured_at = billing.clock(), ended_at = billing.clock(), ended_reason = 'never_captured'
    where p.id = p_payment_id;
    if v_payment.fulfilled_at is not null and v_payment.ended_at is null then
      v_next := billing.next_charge_answer(v_payment.user_id);
      perform billing.settle_payment(v_payment, v_email);
      perform billing.announce_other_charge(v_payment, v_email, v_next, 'never captured');
    end if;
  end if;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end $$;

-- Applies the gateway's answer about a subscription, as the events would that it stands for. The caller holds the lock on the
-- user.
create or replace function billing.apply_subscription_read(
  p_id uuid,
  p_entity jsonb, -- the subscription at the gateway; null: the gateway has no such subscription
  p_is_missed boolean -- an alert is due if no webhook announced it
)
returns jsonb -- {applied, lacks_payment}: whether it changed anything; whether apply_invoices is to name the payment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_mirrored billing.gateway_subscriptions;
  v_entity jsonb := p_entity;
  v_status constant text := billing.json_text(v_entity -> 'status');
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_paid_count constant bigint := billing.json_integer(p_entity -> 'paid_count');
  v_event text;
  v_applied boolean;
begin
  select * into v_mirrored from billing.gateway_subscriptions m where m.id = p_id for update;
  if not found
    -- Read before the charge that a webhook told meanwhile: it counts fewer cycles. The next claim reads it again. A gateway that
    -- counts less for longer is believed.
    or v_paid_count < v_mirrored.paid_count and v_mirrored.arrived_at > billing.clock() - interval '10 minutes'
  then
    return jsonb_build_object('applied', false, 'lacks_payment', false);
  end if;
  v_entity := v_entity || jsonb_build_object('id', v_mirrored.gateway_subscription_id, 'notes', billing.notes_of(v_mirrored));
  select e.event, e.entity into v_event, v_entity from billing.missed_event(v_mirrored, v_entity) e;
  select coalesce(bool_or(billing.apply_answer(
    concat_ws(':', 'reconcile', v_mirrored.gateway_subscription_id, v_status, a.mark), a.event,
    jsonb_build_object('subscription', jsonb_build_object('entity', a.entity)), a.at,
    case
      -- Not what happened before an import.
      when p_is_missed and (billing.json_time(a.at) < v_mirrored.written_at) is not true
        then coalesce(v_mirrored.period_end - interval '1 day', 'infinity')
    end
  )), false)
  into v_applied
  from (
    values
      -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
      (case when v_event = 'subscription.charged' then v_entity ->> 'current_end' end, v_event, v_entity,
        v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end,
        v_event is not null),
      (extract(epoch from v_now)::bigint::text,
        -- What is halted or paused already was not halted or paused now.
        'subscription.' || case when v_status in ('active', v_mirrored.gateway_status) then 'updated' else v_status end,
        p_entity || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes'), null,
        v_status is distinct from v_mirrored.gateway_status
          and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
          and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused'))
          -- Edited at the gateway. Read before an edit that a webhook told meanwhile, the answer is older than that.
          or v_status in ('active', 'pending', 'halted', 'paused')
            and v_mirrored.plan_id is not null
            and (v_mirrored.arrived_at > billing.clock() - interval '10 minutes') is not true
            and (p_entity ->> 'plan_id', billing.quantity_of(p_entity))
              is distinct from (v_mirrored.gateway_plan_id, v_mirrored.quantity))
  ) a (mark, event, entity, at, is_due)
  where a.is_due;

  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    noted_user_id = billing.noted_user(m, p_entity),
    next_check_at = case
      when m.status = 'cancelled' or m.gateway_status = 'completed'
        then case when billing.unnamed_cycles(m) > 0 then v_now + interval '6 hours' end
      -- The customer may pay or resume months later. Until then nothing changes by itself.
      when v_status in ('halted', 'paused') and m.period_end < v_now - interval '14 days' then v_now + interval '1 day'
      else v_now + interval '6 hours'
    end,
    -- So a later cycle that passes unpaid is not taken for a paid one.
    paid_count = case
      when v_status in ('active', 'completed', 'pending', 'halted') then greatest(m.paid_count, v_paid_count)
      else m.paid_count
    end,
    -- Of an import that no event has named: its invoices name no plan and no quantity.
    gateway_plan_id = coalesce(m.gateway_plan_id, left(billing.json_text(p_entity -> 'plan_id'), 200)),
    quantity = case when m.plan_id is null and p_entity ? 'quantity' then billing.quantity_of(p_entity) else m.quantity end,
    gateway_status = coalesce(v_status, 'unknown'),
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where m.id = p_id
  returning m.* into v_mirrored;
  perform billing.check_again(v_mirrored.user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

-- Returns the customer of a side effect: of the subscription that it cancels, of the payment that it refunds, or with the
-- address of the mail, or that the event is about.
create or replace function billing.user_of_message(p_message billing.outbox)
returns uuid language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_message.destination
    when 'gateway' then billing.user_of_subject(
      coalesce(p_message.payload ->> 'gateway_subscription_id', p_message.payload ->> 'gateway_payment_id')
    )
    when 'event' then billing.json_uuid(p_message.payload #> '{data,user_id}')
    else (select u.user_id from billing.users u where u.email = p_message.payload ->> 'to' limit 1)
  end;
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
    when v_row.parked_at is not null and v_row.last_error = 'withdrawn' then 'was withdrawn'
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

-- replay_event applies an event of the ledger again. ignore_event stops waiting for its effect.
create or replace function billing.perform_event(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_by_admin constant text := 'ignored: by an admin';
  v_event billing.gateway_events;
begin
  select * into v_event
  from billing.gateway_events e
  where e.body_sha256 = decode(substring(p_action.reference from '^(?:\\x)?([0-9a-fA-F]{64})$'), 'hex')
  for update;
  perform billing.require(
    v_event.body_sha256 is not null, 'PS404', p_action.action || ' needs reference: the body_sha256 of a webhook'
  );
  perform billing.require(
    billing.can_be_reapplied(v_event.event, v_event.outcome)
      or v_event.outcome = 'unmatched'
      or p_action.action = 'replay_event' and v_event.outcome = v_by_admin,
    'PS409', 'the outcome of this webhook is final: ' || v_event.outcome
  );
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_subject(v_event.subject_id));
  if p_action.action = 'ignore_event' then
    update billing.gateway_events e set outcome = v_by_admin, error = null where e.body_sha256 = v_event.body_sha256;
    delete from billing.unsettled_events u where u.body_sha256 = v_event.body_sha256;
    p_action.result := format('%s is ignored. It was: %s.', v_event.event, v_event.outcome);
    return p_action;
  end if;
  perform billing.require(v_event.payload is not null, 'PS409', 'the body of this webhook was deleted');
  p_action.result := format('%s was applied again: %s.', v_event.event, billing.replay_event(v_event.body_sha256));
  return p_action;
end $$;

-- Everything that needs an admin, one view for each kind. Operations: "Findings". Those about customers are read for ranges of
-- customers: a difference of times keeps the planner off the index on payments.period_end, which knows no customers.

create or replace view billing.paid_not_entitled with (security_invoker = true) as
select
  paid.user_id, paid.since, paid.payment_id, paid.tier, paid.reference as gateway_payment_id, paid.period_end,
  s.status as subscription_status, s.ended_reason
from (
  select
    p.user_id, p.fulfilled_at as since, p.id::text as payment_id, p.tier, p.gateway_payment_id as reference, p.period_end
  from public.payments p
  where p.fulfilled_at is not null
    and p.period_end - billing.clock() > interval '0'
    and p.ended_at is null
    and not exists (select from public.subscriptions a where a.user_id = p.user_id and a.status = 'active')
    -- Its period has begun, and no purchase replaced it.
    and (p.settle_at > billing.clock()) is not true
    and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
  union all
  select m.user_id, g.arrived_at, g.gateway_subscription_id, g.tier, g.gateway_subscription_id, g.ends_at
  from billing.gateway_subscriptions m
  cross join lateral (
    select o.*
    from billing.sources o
    where (o.user_id, o.kind, o.id) = (m.user_id, 'gateway_subscription', m.gateway_subscription_id)
      and o.ends_at > (select billing.clock())
      and o.ended_at is null
    offset 0
  ) g
  where not exists (select from public.subscriptions a where a.user_id = m.user_id and a.status = 'active')
) paid
left join public.subscriptions s on s.user_id = paid.user_id;

create or replace view billing.unexpected_charges with (security_invoker = true) as
select
  m.user_id, c.captured_at as since, found.finding, m.gateway_subscription_id, c.gateway_payment_id, c.amount,
  c.period_start, c.period_end
from billing.gateway_subscriptions m
-- Of most subscriptions no charge but the newest is read: the rest would take most of the time of this view.
cross join lateral (
  select
    least(
      case when m.status = 'cancelled' then m.cancelled_at end,
      case
        when m.cancel_at_period_end or m.status = 'cancelled' or m.gateway_status in ('completed', 'expired')
          or num_nonnulls(m.stops_at, m.ended_at) > 0
          then least(billing.cancelled_by_user_at(m.user_id, m.asked_at), m.undone_at)
      end
    ) as cancelled_at,
    exists (
      select from billing.gateway_subscriptions o
      where o.user_id = m.user_id and o.id <> m.id and billing.is_known(o)
    )
    or exists (select from public.payments p where p.user_id = m.user_id and p.fulfilled_at is not null) as is_one_of_several,
    (
      select count(*) > count(distinct d.period_end)
      from public.payments d
      where d.user_id = m.user_id and d.gateway_subscription_id = m.gateway_subscription_id
    ) as is_charged_twice
  offset 0
) known
cross join lateral (
  select p as payment, p.*
  from public.payments p
  where (p.user_id, p.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
    and (
      known.is_one_of_several or known.is_charged_twice or known.cancelled_at is not null
      or p.period_end > (select billing.clock())
    )
  offset 0
) c
cross join lateral (
  select
    case when known.cancelled_at < c.captured_at then 'charged_after_cancellation' else 'charged_after_replacement' end as finding
  where known.cancelled_at < c.captured_at
    or known.is_one_of_several and exists (
      select from billing.purchases newer
      left join billing.gateway_subscriptions s
        on (s.user_id, s.gateway_subscription_id) = (newer.user_id, newer.id)
      -- Checks the authorisation, too, because a later activation moves newer.since past the charge.
      cross join lateral (values (newer.since), (billing.authorised_at(s))) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        -- A change replaces nothing before its start. The gateway's clock may be ahead of ours.
        and (s.replaces = m.gateway_subscription_id and s.payment_id is null and s.starts_at > c.period_start) is not true
        -- The renewal of a purchase follows it, as in billing.sources.
        and there.since > (
          select greatest(billing.since_of(m), max(renewed.since))
          from public.payments renewed
          where renewed.id = m.payment_id
        )
        and there.since < c.captured_at
        -- It is known a day after it was paid at the latest. Its order may be older.
        and (newer.kind <> 'payment' or newer.arrived_at - interval '1 day' < c.captured_at)
        and coalesce(newer.ended_at > c.captured_at, true)
    )
  union all
  select 'charged_twice'
  where c.period_end > (select billing.clock())
    and m.ended_at is null
    and known.is_one_of_several
    and exists (
      select from billing.gateway_subscriptions newer
      join public.payments n using (user_id, gateway_subscription_id)
      where newer.user_id = m.user_id
        and newer.plan_id = m.plan_id
        and newer.gateway_subscription_id <> m.gateway_subscription_id
        and newer.ended_at is null
        and not billing.is_refunded(n)
        and n.period_start < c.period_end
        and n.period_end > c.period_start
        -- Of two in one second the one that goes on is the newer one.
        and (n.captured_at, newer.status is distinct from 'cancelled', newer.gateway_subscription_id)
          > (c.captured_at, m.status is distinct from 'cancelled', m.gateway_subscription_id)
        -- The customer may start another one after a cancellation.
        and coalesce(least(known.cancelled_at, m.cancelled_at) > n.captured_at, true)
        -- Subscriptions that the app makes itself may overlap on purpose.
        and num_nonnulls(m.asked_plan_id, newer.asked_plan_id) > 0
        -- The customer changed to another plan in between, and back.
        and not exists (
          select from billing.sources other
          where other.user_id = m.user_id
            and other.plan_id is distinct from m.plan_id
            and other.kind in ('payment', 'gateway_subscription')
            and other.since between c.captured_at and n.captured_at
        )
    )
  union
  select 'charged_twice'
  where known.is_charged_twice and exists (
    select from public.payments first
    where first.gateway_subscription_id = c.gateway_subscription_id
      and first.user_id = c.user_id
      and first.period_end = c.period_end
      and (first.captured_at, first.gateway_payment_id) < (c.captured_at, c.gateway_payment_id)
      and billing.kept(first) > 0
  )
  union all
  select 'mismatch'
  where c.period_end > (select billing.clock())
    and c.plan_id = m.plan_id
    and c.price_key is not distinct from (m.sold).lookup_key
    and (
      c.currency <> (m.sold).currency
      -- The quantity may have been edited after the charge: that is a finding of its own.
      or c.amount not in ((m.sold).amount, (m.sold).amount / coalesce(m.quantity, 1))
    )
) found
where billing.kept(c.payment) > 0;

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
    p.period_end > (select billing.clock()) and exists (
      select from billing.sources s
      where (s.user_id, s.id) = (p.user_id, coalesce(p.gateway_subscription_id, p.id::text)) and s.is_running
    )
    or exists (select from billing.purchases_on_credit(p))
  );

create or replace view billing.failed_events with (security_invoker = true) as
select
  coalesce(p.user_id, billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  e.received_at as since, e.body_sha256, e.event, e.subject_id, e.outcome, e.attempts, p.id as payment_id
from billing.unsettled_events u
-- By its key: few events are unsettled, and many are stored.
cross join lateral (select g.* from billing.gateway_events g where g.body_sha256 = u.body_sha256 offset 0) e
left join public.payments p on p.gateway_order_id = e.subject_id
cross join lateral (
  select
    billing.json_text(e.payload #> '{payload,payment,entity,id}') as id,
    billing.json_integer(e.payload #> '{payload,payment,entity,amount}') as amount
) paid
where e.outcome <> 'unmatched' -- such as a dispute that waits for its payment
  -- An event without its payload cannot be applied again.
  and e.payload is not null
  and case e.outcome
    -- Until the payment is fulfilled or refunded.
    when 'plan_not_found' then p.fulfilled_at is null and not billing.is_refunded(p)
    when 'mismatch' then
      case e.event
        -- It is normal of a gateway subscription that is not attached.
        when 'subscription.cancelled' then false
        -- The activation may still arrive.
        when 'subscription.charged' then e.received_at < (select billing.clock()) - interval '15 minutes'
        else true
      end
      and (p.gateway_payment_id = paid.id and p.fulfilled_at is not null and e.event not like 'refund.%') is not true
      and (paid.amount > 0 and billing.refunded_amount(paid.id) >= paid.amount) is not true
    else true
  end;

create or replace view billing.unearned_credits with (security_invoker = true) as
select
  p.user_id, p.fulfilled_at as since, p.id as payment_id, p.gateway_payment_id, p.amount, p.currency, p.credit, p.credited_kind,
  p.credited_id,
  case
    when twice.is_second then 'another payment has the same credit'
    when paid.is_less then 'the credited payment was refunded or lost'
    else 'paid more than a day after the order'
  end as reason
from public.payments p
join billing.replacements r on r.payment_id = p.id
cross join lateral (
  select exists (
    select from billing.replacements first
    where first.id = r.id
      and first.kind = r.kind
      and first.user_id = r.user_id
      and (r.kind = 'payment' or first.until = r.until)
      and (first.fulfilled_at, first.since, first.payment_id) < (r.fulfilled_at, r.since, r.payment_id)
  ) as is_second
) twice
cross join lateral (
  select billing.paid_for(r.user_id, r.kind, r.id, r.until, p.currency) < p.credited_amount as is_less
) paid
where p.credited_id is not null
  and (p.period_end - billing.clock() > interval '0' or exists (select from billing.purchases_on_credit(p)))
  and (twice.is_second or paid.is_less or p.fulfilled_at > p.created_at + interval '1 day');

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
-- One of the subscription, and none of each charge.
select 'mismatch', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object(
    'gateway_subscription_id', m.gateway_subscription_id, 'quantity', m.quantity, 'amount', (m.sold).amount,
    'currency', (m.sold).currency
  ),
  'Set the quantity at the gateway to 1, or insert a note about the subscription: its customer sees what is charged.'
from billing.gateway_subscriptions m
where m.quantity > 1
  and m.plan_id is not null -- else it is not sold here
  and billing.is_billed(m)
  and not exists (
    select from billing.support_actions a where a.action = 'note' and a.reference = m.gateway_subscription_id
  )
union all
-- The gateway was told to end it with its cycle, although nothing asks for that any more: the purchase that replaced it was
-- refunded, or it was authorised while its cancellation was under way.
select 'stopped_in_error', m.gateway_subscription_id, m.user_id, m.stops_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'period_end', m.period_end),
  'Ask the customer whether the subscription shall go on, and to start another one before it ends.'
from billing.gateway_subscriptions m
where m.stops_at is not null
  and m.cancel_at_period_end
  and billing.is_billed(m)
  and exists (
    select from billing.stoppable g
    where (g.user_id, g.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      and (billing.find_stop(g)).stops_at is null
  )
union all
select 'notes_edited', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'noted_user_id', m.noted_user_id),
  'Write the user back into the notes at the gateway, or clear its id in the row by hand of this user if another row names it. '
    'To give the access to another user, grant it.'
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

create function billing.user_of_subject(p_subject_id text)
returns uuid -- null: of no customer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select s.user_id from billing.subjects s where s.subject_id = p_subject_id and s.user_id is not null limit 1);
end $$;

create or replace view billing.webhooks with (security_invoker = true) as
select
  e.body_sha256, e.received_at, e.event, e.subject_id,
  coalesce(subject.user_id, billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  (select u.email from billing.find_user(subject.user_id) u) as email,
  e.deliveries, e.attempts, billing.outcome_now(e) as outcome, e.payload
from billing.gateway_events e
cross join lateral (select billing.user_of_subject(e.subject_id) as user_id offset 0) subject;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."user_of_subject"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."user_of_subject"(text) TO "service_role";

revoke execute on all functions in schema billing from public;
