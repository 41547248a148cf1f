-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.merge_cycle(billing.gateway_subscriptions,pg_catalog.text,pg_catalog.jsonb,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone);

-- Returns whether a payment was refunded in full: also where a part was lost in a dispute, and the rest was refunded.
create or replace function billing.is_refunded(p_payment public.payments)
returns boolean -- false: what was paid is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- The usual payment.
  if (p_payment.refunded_amount > 0) is not true then return false; end if;
  p_payment.status := 'captured'; -- its refund may be known first
  return coalesce(p_payment.paid_amount, p_payment.amount) > 0 and billing.kept(p_payment) = 0;
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
  elsif p_event = 'subscription.paused' then
    p_subscription.last_paused_at := greatest(v_before.last_paused_at, v_at);
  elsif p_event = 'subscription.resumed' then
    p_subscription.last_resumed_at := greatest(v_before.last_resumed_at, v_at);
  end if;
  -- The last charge before an end is known by this number only. A cycle that is paid after a halt makes it grow.
  if p_event in ('subscription.charged', 'subscription.halted', 'subscription.cancelled', 'subscription.completed') then
    p_subscription.paid_count := greatest(v_before.paid_count, billing.json_integer(p_entity -> 'paid_count'));
  end if;
  if p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused')
    or p_event <> 'subscription.charged' and p_subscription.paid_count > coalesce(v_before.paid_count, 0)
  then
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

-- Merges the cycle of an event. Of two events in the same second the longer period wins.
create function billing.merge_cycle(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_start timestamptz, -- null, here and below: the event has none
  p_end timestamptz,
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_charged_at constant timestamptz := billing.charged_at(p_created_at, p_arrived_at);
begin
  if p_end is not null
    and (p_created_at, p_end, p_start) > (v_before.period_event_at, v_before.period_end, v_before.period_start) is not false
  then
    p_subscription.period_start := p_start;
    p_subscription.period_end := p_end;
    p_subscription.period_event_at := coalesce(p_created_at, v_before.period_event_at);
    p_subscription.next_check_at := least(v_before.next_check_at, p_end - interval '1 day');
  end if;
  if p_event = 'subscription.charged' then
    p_subscription.first_charged_at := least(
      v_before.first_charged_at, billing.happened_at(p_created_at, p_arrived_at)
    );
    if (v_charged_at, p_end, p_start)
      > (v_before.paid_period_event_at, v_before.paid_period_end, v_before.paid_period_start) is not false
    then
      p_subscription.paid_period_start := p_start;
      p_subscription.paid_period_end := p_end;
      p_subscription.paid_period_event_at := v_charged_at;
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
      case when billing.is_known(m) then m.ended_at else (
        select max(w.at) from billing.wishes w where w.user_id = p_user_id and not w.at_period_end and w.at >= m.asked_at
      ) end as ended_at,
      case when billing.is_known(m) then m.written_at else (
        select r.at + interval '1 microsecond'
        from billing.manual_subscriptions r
        where r.user_id = p_user_id and r.at >= m.asked_at
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
  v_subscription.ended_at := v_found.ended_at;
  v_subscription.written_at := v_found.written_at;
  return v_subscription;
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
  v_after := billing.merge_gateway_plan(v_after, p_event, p_entity, p_gateway_plan_id, p_created_at);
  v_after := billing.merge_gateway_status(v_after, p_event, p_entity, p_created_at, p_arrived_at);
  if p_event = 'subscription.authenticated' then
    v_after.authenticated_at := least(v_before.authenticated_at, v_happened_at);
    -- A trial is a period without a charge.
    if v_before.is_trial then
      p_start := v_at;
      p_end := v_before.starts_at;
    end if;
  end if;
  v_after := billing.merge_cycle(v_after, p_event, p_start, p_end, p_created_at, p_arrived_at);
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

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create or replace function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Of an insert all of old is null.
  -- A write of due_at alone, or of nothing, is one of the sweep.
  if to_jsonb(new) - 'due_at' = to_jsonb(old) - 'due_at' then return new; end if;
  -- This insert writes no row: it fails, or has an "on conflict" clause.
  if tg_op = 'INSERT' and exists (select from public.subscriptions s where s.user_id = new.user_id) then return new; end if;
  if new.gateway_subscription_id <> '' and new.gateway_subscription_id is distinct from old.gateway_subscription_id then
    perform billing.refuse_second_owner(new.user_id, new.gateway_subscription_id);
  end if;
  if new.updated_at = old.updated_at then new.updated_at := billing.clock(); end if;
  -- A row that was written by hand was not sold by a price.
  select null, null, null, null into new.price_key, new.price_amount, new.currency, new.duration_months;
  -- The entitlements of what ruled before are not those of another plan.
  if (new.tier, new.plan_id) is distinct from (old.tier, old.plan_id) and new.entitlements = old.entitlements then
    new.entitlements := null;
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, billing.clock());
  new.due_at := case when new.status = 'active' then least(new.due_at, billing.clock()) else billing.next_start(new.user_id) end;
  delete from billing.manual_subscriptions w where w.user_id = new.user_id;
  insert into billing.manual_subscriptions (
    user_id, plan_id, tier, status, period_start, period_end, gateway_subscription_id, cancel_at_period_end,
    ended_at, ended_reason, at, entitlements
  )
  values (
    new.user_id, new.plan_id, new.tier, new.status, new.current_period_start, new.current_period_end,
    new.gateway_subscription_id, new.cancel_at_period_end,
    case when new.status = 'cancelled' then coalesce(new.cancelled_at, billing.clock()) end,
    new.ended_reason, billing.clock(), new.entitlements
  );
  -- A subscription in the mirror is reconciled, and is cancelled at the gateway when another source replaces it.
  if new.gateway_subscription_id is not null then
    insert into billing.gateway_subscriptions as g (
      user_id, gateway_subscription_id, period_start, period_end, next_check_at, asked_at, written_at
    )
    values (
      new.user_id, new.gateway_subscription_id, new.current_period_start, new.current_period_end,
      -- Of a row without an end the gateway knows it.
      coalesce(new.current_period_end - interval '1 day', billing.clock()), billing.clock(), billing.clock()
    )
    on conflict (user_id, gateway_subscription_id) do update
    set written_at = case
        -- A longer period alone is no act of the customer.
        when new.gateway_subscription_id = old.gateway_subscription_id then g.written_at
        else excluded.written_at
      end,
      (period_start, period_end, next_check_at) = (
        select
          case when known.is_kept then g.period_start else excluded.period_start end,
          case when known.is_kept then g.period_end else excluded.period_end end,
          case when known.is_kept then g.next_check_at else excluded.next_check_at end
        from (
          -- Nor does the gateway charge later for it.
          select g.arrived_at is not null or (g.period_end between billing.clock() and excluded.period_end) is true as is_kept
        ) known
      );
  end if;
  return new;
end $$;

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create or replace function billing.find_stop(
  p_each billing.stoppable,
  p_with_wishes boolean default true -- false: as if the customer resumed
)
returns billing.stop language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_subscription constant billing.gateway_subscriptions := p_each.subscription;
  v_authorised_at constant timestamptz := p_each.authorised_at;
  -- A charge fails. The gateway's cycle is the unpaid one then, also while the paid time still runs by our clock, and the next
  -- try must not succeed.
  v_is_failing constant boolean := v_subscription.gateway_status in ('pending', 'halted');
  -- Before its first cycle.
  v_is_waiting constant boolean := v_subscription.period_end is null;
  v_paid_until constant timestamptz := case
    when v_is_waiting then case when v_authorised_at is not null then v_subscription.starts_at end
    else coalesce(v_subscription.paid_until, v_subscription.period_end)
  end;
  -- A change of the plan that was authorised after it replaces a wish for the end of the period.
  v_is_wish constant boolean := case
    when p_with_wishes and (p_each.succeeded_at is null or not p_each.is_wish) then p_each.is_wish
  end;
  v_at timestamptz := case when v_is_wish or not v_is_waiting then v_paid_until end; -- the end of what is paid
  v_newer billing.sources;
  v_reason text;
begin
  if not v_is_wish or v_is_wish is null and v_authorised_at is null and v_subscription.expires_at <= v_now then
    return (v_now, false, false, case when v_is_wish is null then 'expired' else 'cancelled' end);
  elsif v_is_wish then
    v_reason := 'cancelled';
  elsif v_subscription.undone_at is not null then
    v_reason := 'undone';
  elsif v_is_waiting and v_subscription.payment_id is not null and not billing.renews_purchase(v_subscription) then
    v_reason := 'unpaid';
  elsif billing.is_superseded(v_subscription) then
    v_reason := 'superseded';
    -- The renewal of a purchase waits for its start: if the purchase that replaced it is refunded, it goes on.
    if v_subscription.payment_id is not null and v_subscription.replaces is null then v_at := v_paid_until; end if;
  elsif p_each.succeeded_at is not null then
    v_reason := 'changed';
    -- Else the gateway charged it after all.
    v_at := case when p_each.succeeded_at > v_now then p_each.succeeded_at else v_paid_until end;
  else
    if v_authorised_at is null then return null; end if;
    select p.* into v_newer
    from billing.purchases p
    -- A longer period alone is no act of the customer.
    left join billing.gateway_subscriptions m
      on p.kind = 'manual'
      and m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
    cross join lateral (select coalesce(m.written_at, p.since) as at) act
    where p.user_id = p_each.user_id
      and act.at > case when v_is_waiting then v_authorised_at else billing.since_of(v_subscription) end
    order by act.at desc, p.id desc
    limit 1;
    if v_newer.id is null
      or v_newer.gateway_subscription_id = p_each.gateway_subscription_id
      or v_subscription.payment_id::text = v_newer.id
      -- Without a plan of ours, and known only by a charge: it may be attached to nothing.
      or num_nonnulls(v_subscription.plan_id, v_subscription.activated_at, v_subscription.written_at) = 0
        and v_newer.kind <> 'payment'
      or v_is_waiting and v_subscription.asked_plan_id is not null and v_newer.kind <> 'payment'
    then
      return null;
    end if;
    v_reason := 'replaced';
    v_at := v_paid_until;
  end if;
  if v_is_failing then v_at := null; end if;
  return (
    coalesce(greatest(v_at, v_now), v_now),
    v_is_waiting and v_subscription.asked_plan_id is not null and v_is_failing is not true or coalesce(v_at > v_now, false),
    coalesce(v_is_wish, false),
    v_reason
  );
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
    if (v_each.stops_at, (v_each.subscription).cancel_at_period_end) is distinct from (v_stop.stops_at, v_ends) then
      update billing.gateway_subscriptions m
      set stops_at = v_stop.stops_at, cancel_at_period_end = v_ends
      where m.id = (v_each.subscription).id;
    end if;
  end loop;
end $$;

-- Enqueues the mail about a cancellation, and withdraws what it makes untrue. The caller has settled the user's access.
create or replace function billing.announce_cancellation(
  p_wish billing.wishes,
  p_email text, -- of the user
  p_before public.subscriptions -- before the cancellation; all null: none
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_had_access constant boolean := p_before.status is not distinct from 'active';
  v_plan_name text;
begin
  perform billing.withdraw_outlook(p_wish.user_id);
  perform billing.withdraw_mails(array(
    select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_wish.user_id and w.at_period_end
  ));
  v_plan_name := case
    -- For the period's end what is paid for is cancelled, also below a gift. At once all access ends.
    when v_had_access then billing.plan_name(coalesce((
      select c.plan_id
      from billing.find_commitment(p_wish.user_id) c
      where p_wish.at_period_end and c.gateway_subscription_id is not null
    ), p_before.plan_id), p_before.tier)
    else (
      select p.name
      from billing.stoppable s
      join public.plans p on p.id = coalesce((s.subscription).plan_id, (s.subscription).asked_plan_id)
      where s.user_id = p_wish.user_id and s.is_open
      order by s.authorised_at desc nulls last
      limit 1
    )
  end;
  perform billing.enqueue_mail(
    p_wish.user_id, p_email, 'subscription-cancelled', p_wish.id::text,
    jsonb_build_object('plan_name', coalesce(v_plan_name, billing.plan_name(null, p_before.tier)))
      || billing.cancellation_terms(p_wish.user_id, p_wish.at_period_end, v_had_access)
  );
  -- The gateway is read now, before it is told. It may have charged a cycle that is not known here.
  update billing.outbox o
  set next_attempt_at = billing.clock() + interval '5 minutes'
  where o.key = 'subscription-cancelled/' || p_wish.id
    and p_wish.at_period_end
    and exists (
      select from billing.stoppable s
      join billing.outbox stop on stop.key = 'cancel-subscription/' || s.gateway_subscription_id
      where s.user_id = p_wish.user_id
        and s.is_open
        and billing.is_known(s.subscription)
        and stop.next_attempt_at <= billing.clock()
        and num_nonnulls(stop.delivered_at, stop.parked_at) = 0
    );
end $$;

-- Contract: POST /api/subscriptions/resume.
create or replace function public.resume_subscription(p_user_id uuid)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish_id bigint;
begin
  perform billing.begin_request('resumption', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status is distinct from 'active' and not exists (
    select from billing.stoppable s where s.user_id = p_user_id and s.is_open and s.is_wish
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  -- No dispatcher claims them until the commit.
  perform
  from billing.outbox o
  where o.key in (
    select 'cancel-subscription/' || s.gateway_subscription_id
    from billing.stoppable s
    where s.user_id = p_user_id and s.stops_at is not null
  )
  order by o.key
  for update;
  -- All that the customer cancelled goes on, or nothing.
  if exists (
    select from billing.stoppable s
    where s.user_id = p_user_id
      -- Or the gateway has confirmed what the customer cancelled last.
      and (s.is_open or s.is_wish and (s.subscription).cancelled_arrived_at >= (
        select w.at from billing.ends_wished w where w.user_id = p_user_id
      ))
      -- A change or renewal that was never authorised holds back nothing that runs. The event of its cancellation authorises none.
      and (
        v_subscription.status is distinct from 'active'
        or s.authorised_at is not null
          and (s.is_open or num_nonnulls(
            (s.subscription).authenticated_at, (s.subscription).first_activated_at,
            (s.subscription).first_charged_at, (s.subscription).written_at
          ) > 0)
      )
      and billing.is_stop_sent(s.gateway_subscription_id)
      and (billing.find_stop(s, false)).stops_at is null
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;
  with withdrawn as (
    update billing.wishes w
    set withdrawn_at = greatest(billing.clock(), w.at)
    where w.user_id = p_user_id and w.at_period_end and w.withdrawn_at is null
    returning w.id
  )
  select max(w.id) into v_wish_id from withdrawn w;
  if v_wish_id is not null or v_subscription.cancel_at_period_end then
    perform billing.withdraw_mails(array(
      select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    ));
    perform billing.mark_sources(p_user_id, false);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(
      p_user_id, v_email, 'subscription-resumed', coalesce(v_wish_id::text, v_subscription.id || '/' || v_subscription.revision)
    );
  end if;
  return jsonb_build_object('outcome', 'resumed', 'subscription', billing.subscription_answer(p_user_id));
end $$;

-- Finds what the gateway may charge, and what it has cancelled for a change that follows.
create or replace function billing.find_billed(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 2 set search_path = pg_catalog, pg_temp as $$
begin
  -- Most users have none.
  if not exists (select from billing.gateway_subscriptions m where m.user_id = p_user_id) then return; end if;
  return query
  select
    m.user_id,
    case
      when m.period_end is not null then 'subscription'
      when m.replaces is not null then 'change'
      when m.payment_id is not null then 'renewal'
      else 'subscription'
    end,
    m.gateway_subscription_id, m.gateway_subscription_id, m.plan_id,
    (select p.tier from public.plans p where p.id = m.plan_id), m.sold,
    period.starts_at, period.ends_at, period.paid_by_kind, period.paid_by_id,
    billing.is_billed(m) and m.stops_at is null and billing.has_next_charge(m) or next.is_there is true,
    case
      when billing.is_billed(m)
        and m.stops_at is null
        -- Once halted, the gateway charges again only after the customer changed the method of payment.
        and coalesce(m.gateway_status, 'active') not in ('paused', 'halted')
        then case when m.gateway_status is null then m.period_end else m.charge_at end
    end,
    billing.since_of(m),
    next.change,
    case
      -- What the gateway has cancelled itself cannot go on.
      when next.is_there and billing.is_billed(m) and not billing.is_stop_sent(m.gateway_subscription_id)
        then (next.change).starts_at - interval '48 hours'
    end,
    m.stops_at, null::text
  from billing.gateway_subscriptions m
  left join public.payments renewed
    on renewed.id = m.payment_id
    and renewed.fulfilled_at is not null
    and m.replaces is null
  cross join lateral (
    select
      case when m.period_end is null then coalesce(renewed.period_start, m.starts_at, m.charge_at) else m.period_start end as starts_at,
      coalesce(m.period_end, renewed.period_end, m.starts_at, m.charge_at) as ends_at,
      case when m.period_end is not null then 'gateway_subscription' when renewed.id is not null then 'payment' end as paid_by_kind,
      case when m.period_end is null then renewed.id::text else m.gateway_subscription_id end as paid_by_id
  ) period
  left join lateral (
    select n as change, true as is_there
    from billing.find_successor(m.user_id, m.gateway_subscription_id) n
    where n.starts_at > billing.clock()
      and coalesce(n.stops_at > n.starts_at, true) -- else a purchase replaced it
  ) next on true
  where m.user_id = p_user_id
    and m.gateway_subscription_id <> ''
    -- An imported one is billed, too, before its first event.
    and billing.is_known(m)
    and m.gateway_status is distinct from 'created'
    and (billing.is_billed(m) or next.is_there and period.ends_at > billing.clock());
end $$;

-- The one answer to what goes on, what waits and what was bought.
create or replace function billing.commitments(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 3 set search_path = pg_catalog, pg_temp as $$
declare
  v_billed billing.commitment;
  v_ids text[] := '{}';
begin
  for v_billed in select b.* from billing.find_billed(p_user_id) b loop
    if v_billed.stops_at is not null then
      v_billed.stop_reason := (
        select (billing.find_stop(s)).reason
        from billing.stoppable s
        where s.user_id = p_user_id and s.gateway_subscription_id = v_billed.id
      );
    end if;
    v_ids := v_ids || v_billed.id;
    return next v_billed;
  end loop;
  return query
  select
    s.user_id, case s.kind when 'payment' then 'purchase' else 'subscription' end,
    s.id, null, s.plan_id, s.tier, s.sold, s.starts_at, s.ends_at, s.kind, s.id, false, null::timestamptz, s.since,
    null::billing.gateway_subscriptions, null::timestamptz, null::timestamptz, null::text
  from billing.sources s
  where s.user_id = p_user_id
    and s.kind in ('payment', 'gateway_subscription')
    and s.is_running
    and s.id <> all (v_ids);
end $$;

-- Finds the commitment that an act of the customer is about: what the gateway charges next; else what was bought last, and
-- runs; else what was given.
create or replace function billing.find_commitment(p_user_id uuid)
returns billing.commitment -- all null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_billed constant billing.commitment[] := array(select b from billing.find_billed(p_user_id) b);
  v_ruling billing.ruling;
  v_source billing.sources;
  v_found billing.commitment;
begin
  select b.* into v_found
  from unnest(v_billed) b
  where b.goes_on
    -- Not the renewal of an order that is not paid yet.
    and (b.kind <> 'renewal' or b.paid_by_id is not null)
    -- What was not charged in time has lapsed with what it goes on from, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.is_running
          and (
            s.kind = 'manual' and s.gateway_subscription_id = b.id
            or s.kind = coalesce(b.paid_by_kind, 'gateway_subscription')
            and s.id = coalesce(b.paid_by_id, (
              select m.replaces from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (p_user_id, b.id)
            ))
          )
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached, or of the row by hand that names it.
  if v_found.id is not null then
    v_ruling := billing.find_shown(p_user_id);
    if v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
      select s, true into v_ruling.source, v_ruling.is_live
      from billing.sources s
      where s.user_id = p_user_id and s.kind = 'manual' and s.gateway_subscription_id = v_found.id and s.is_running;
      v_ruling := billing.attach_gateway_subscription(v_ruling);
    end if;
  end if;
  if v_ruling.is_live is not true then
    v_ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id, true));
    if v_ruling.is_live is not true then v_ruling := billing.find_shown(p_user_id); end if;
  end if;
  if v_ruling.is_live is not true then return null; end if;
  v_source := v_ruling.source;
  select b.* into v_found from unnest(v_billed) b where b.id = v_source.gateway_subscription_id;
  if not found then
    v_found.user_id := p_user_id;
    v_found.kind := case v_source.kind when 'payment' then 'purchase' when 'gateway_subscription' then 'subscription' else 'given' end;
    v_found.id := v_source.id;
    v_found.goes_on := false;
  end if;
  v_found.plan_id := v_source.plan_id;
  v_found.tier := v_source.tier;
  v_found.sold := v_source.sold;
  -- Before its first event the gateway charges the price that the row by hand names.
  if v_source.kind = 'manual' and v_found.goes_on then
    v_found.sold := (select billing.price_of(p) from public.plans p where p.id = v_source.plan_id and p.tier = v_source.tier);
  end if;
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

-- Enqueues the mail about a change now whose payment got credit: what it replaced, and what is charged from its end on.
create or replace function billing.announce_replacement(
  p_payment public.payments, -- as it is fulfilled
  p_plan public.plans,
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_renewal billing.gateway_subscriptions;
begin
  if p_payment.credit is null then return; end if;
  perform billing.withdraw_outlook(p_payment.user_id);
  select * into v_renewal
  from billing.gateway_subscriptions m
  where m.user_id = p_payment.user_id
    and m.payment_id = p_payment.id
    and m.undone_at is null
    and m.stops_at is null
    -- In another tab the customer may have cancelled it.
    and m.status is distinct from 'cancelled'
  order by m.asked_at desc, m.id
  limit 1;
  perform billing.enqueue_mail(p_payment.user_id, p_email, 'plan-changed', p_payment.id::text, jsonb_build_object(
    'plan_name', p_plan.name,
    'old_plan_name', billing.plan_name(
      coalesce(
        (
          select c.plan_id
          from public.payments c
          where c.user_id = p_payment.user_id and c.id::text = p_payment.credited_id
        ),
        (
          select m.plan_id
          from billing.gateway_subscriptions m
          where m.user_id = p_payment.user_id and m.gateway_subscription_id = p_payment.credited_id
        )
      ),
      p_payment.tier
    ),
    'credit', p_payment.credit,
    'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
    'valid_until', billing.iso_time(p_payment.period_end),
    'next_charge', case when v_renewal.id is not null then jsonb_build_object(
      'at', billing.iso_time(coalesce(v_renewal.starts_at, p_payment.period_end)),
      'amount', (v_renewal.asked_price).amount, 'currency', (v_renewal.asked_price).currency
    ) end,
    'is_authorised', coalesce(v_renewal.authenticated_at is not null or v_renewal.gateway_status = 'authenticated', false)
  ));
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
  elsif v_payment.status <> 'captured' then
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

  if (v_payment.verified_at is null or v_payment.gateway_payment_id = p_payment_id and v_payment.gateway_signature is null)
    and not exists (select from public.payments x where x.gateway_payment_id = p_payment_id and billing.is_refunded(x))
  then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act, also of a second payment that
    -- was not refunded.
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

create or replace function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean -- whether the gateway was read: else the outcome may be unread
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
  v_change.unread := v_credit.unread;
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
    when p_when = 'period_end' and v_plan.id = coalesce((v_from.next).plan_id, (v_from.next).asked_plan_id) then 'already_subscribed'
    -- A purchase of the tier outlasts what the gateway charges: nothing more is to be charged for that time.
    when p_when = 'period_end'
      and num_nonnulls(v_plan.gateway_plan_id, v_from.gateway_subscription_id) = 2
      and exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.kind = 'payment'
          and s.tier = v_plan.tier
          and s.ends_at > v_from.ends_at
          and (s.is_running or s.is_upcoming)
      )
      then 'already_subscribed'
    when v_credit.unread is not null and not p_is_read then 'unread'
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

  v_change.credit := coalesce(v_credit.credit, 0);
  v_change.starts_at := v_now;
  v_change.due_at := v_now;
  if p_when = 'now' then
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

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL
  ON FUNCTION "billing"."merge_cycle"(billing.gateway_subscriptions, text, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone)
  FROM PUBLIC;

GRANT EXECUTE
  ON FUNCTION "billing"."merge_cycle"(billing.gateway_subscriptions, text, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone)
  TO "service_role";

revoke execute on all functions in schema billing from public;
