-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.merge_cycle(billing.gateway_subscriptions,pg_catalog.text,pg_catalog.jsonb,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone);

drop view billing.customer_findings;

drop function billing.announce_other_charge(public.payments,pg_catalog.text,pg_catalog.jsonb,pg_catalog.text);

drop function billing.announce_problem(pg_catalog.text,billing.gateway_subscriptions,pg_catalog.jsonb,pg_catalog.text);

drop function billing.find_stop(billing.stoppable,boolean);

comment on column billing.bank_lines.fees_on_top is null;

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

-- Returns whether the user has authorised another subscription since: of several that wait only one starts. Of two changes
-- that is the one that was asked for last. One that waits for the end of this one, or whose purchase does not go on, is none.
-- While this one runs, only one counts that was authorised after the last act on this one, and starts by its next charge: this
-- one was not known when that was asked for.
create or replace function billing.is_superseded(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.gateway_subscriptions o
    where o.user_id = p_subscription.user_id
      and o.id <> p_subscription.id
      and o.asked_plan_id is not null
      and o.gateway_subscription_id is distinct from p_subscription.replaces
      and o.replaces is distinct from p_subscription.gateway_subscription_id
      and (o.payment_id is null or billing.renews_purchase(o))
      and o.undone_at is null
      and billing.is_billed(o)
      and (
        p_subscription.period_end is null
        or o.period_end is null
          and o.starts_at <= p_subscription.period_end + interval '1 day'
          and billing.authorised_at(o) > billing.since_of(p_subscription)
          and billing.cancelled_by_user_at(o.user_id, o.asked_at) is null
          and (o.payment_id is null or exists (select from public.payments p where p.id = o.payment_id and p.fulfilled_at is not null))
      )
      and case
        when num_nonnulls(o.replaces, o.payment_id) > 0
          and num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0
          then o.asked_at > p_subscription.asked_at -- no two requests of a user have one time
        else (billing.authorised_at(o), o.asked_at, o.id)
          > (coalesce(billing.authorised_at(p_subscription), p_subscription.asked_at), p_subscription.asked_at, p_subscription.id)
      end
  );
end $$;

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create function billing.find_stop(
  p_each billing.stoppable,
  p_with_wishes boolean default true, -- false: as if the customer resumed
  p_without text default null -- a purchase: as if it was refunded
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
      and p.id is distinct from p_without
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

-- Returns what the mails of billing.announce_other_charge about a payment are called, in their order: a dispute may be decided
-- several times.
create function billing.other_charge_subjects(p_payment_id uuid)
returns setof text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return query select p_payment_id || '/' || n from generate_series(1, 20) n; end $$;

-- Withdraws the mails that say what is charged next, for an act of the user that makes them untrue.
create or replace function billing.withdraw_outlook(
  p_user_id uuid,
  p_kept text default null -- the key of the mail about this act
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.withdraw_mails(array(
    select 'subscription-resumed/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    union all
    select k.key
    from billing.gateway_subscriptions m
    cross join unnest(array['change-scheduled/' || m.gateway_subscription_id, 'change-undone/' || m.id]) k (key)
    where m.user_id = p_user_id and m.asked_plan_id is not null and k.key is distinct from p_kept
    union all
    select 'change-undone/' || n.subject
    from public.payments p
    cross join lateral billing.other_charge_subjects(p.id) n (subject)
    where p.user_id = p_user_id
      and (
        num_nonnulls(p.dispute_status, p.uncaptured_at) > 0
        or p.captured_at > p.verified_at -- captured after all
        or exists (select from billing.refunds r where r.gateway_payment_id = p.gateway_payment_id and r.status = 'failed')
      )
  ));
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

-- Enqueues the mail that something else goes on, and what is charged next, because a payment was taken back, or is kept after
-- all: of one that is kept also that nothing is, since its renewal was stopped. The caller has settled the user's access.
create function billing.announce_other_charge(
  p_payment public.payments,
  p_email text, -- of the user
  p_before jsonb, -- billing.next_charge_answer, before
  p_is_kept boolean -- false: it is taken back
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_after constant jsonb := billing.next_charge_answer(p_payment.user_id);
begin
  if v_after is distinct from p_before and (v_after is not null or p_is_kept) then
    perform billing.withdraw_outlook(p_payment.user_id);
    perform billing.withdraw_mails(array['plan-changed/' || p_payment.id]);
    perform billing.announce_going_on(p_payment.user_id, p_email, 'change-undone', n.subject)
    from billing.other_charge_subjects(p_payment.id) n (subject)
    where not exists (select from billing.outbox o where o.key = 'change-undone/' || n.subject)
    limit 1;
  end if;
end $$;

-- Returns when the gateway's newest webhook arrived. The doctor's own says nothing about the gateway.
create function billing.last_webhook_at()
returns timestamptz -- null: none yet
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select max(e.received_at)
    from billing.gateway_events e
    where e.deliveries > 0 and e.event is distinct from 'doctor.ping'
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
  v_email text;
  v_next jsonb;
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
    if v_payment.uncaptured_at is not null then v_next := billing.next_charge_answer(v_payment.user_id); end if;
    v_outcome := billing.fulfil_payment(
      v_purchase, v_email, null, v_payment.gateway_payment_id = v_gateway_payment_id
    ) ->> 'outcome';
    -- The customer was told that it was never captured, and its own mails were sent before that.
    if v_payment.uncaptured_at is not null then
      perform billing.announce_other_charge(v_payment, v_email, v_next, true);
    end if;
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
  v_next jsonb;
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
  v_next := billing.next_charge_answer(v_payment.user_id);
  update public.payments p
  set refunded_amount = billing.refunded_amount(p.gateway_payment_id)
  where v_payment.id in (p.id, p.extra_of) and p.refunded_amount <> billing.refunded_amount(p.gateway_payment_id);
  v_is_settled := found;
  if v_is_settled then
    perform billing.settle_kept(v_payment, v_email);
    -- What the refund ended goes on. What was captured meanwhile has the mail of a payment.
    if v_status = 'failed' and v_payment.fulfilled_at is not null then
      perform billing.announce_other_charge(v_payment, v_email, v_next, true);
    elsif billing.next_charge_answer(v_payment.user_id) is distinct from v_next then
      perform billing.withdraw_outlook(v_payment.user_id);
    end if;
  end if;
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

-- Applies an event of a dispute. The newest event of each dispute counts, also after a decision; of two in one second the
-- decided one. An event without a time may be a repeat of an old one: it counts if it is the first one or has the decision, as
-- of its arrival. One without an id is about the newest dispute of its payment.
-- Contract: "Disputes".
create or replace function billing.apply_dispute(
  p_dispute jsonb,
  p_entity jsonb, -- the payment's entity, if the event has one
  p_gateway_payment_id text, -- null: the event names none
  p_created_at timestamptz -- of the event; null: it has none
)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_status constant text := left(billing.json_text(p_dispute -> 'status'), 100);
  v_dispute_id text := billing.json_text(p_dispute -> 'id');
  v_payment public.payments;
  v_email text;
  v_lost bigint;
  v_next jsonb;
  v_is_news boolean;
begin
  if v_status is null then return 'ignored: dispute.entity.status'; end if;
  if p_gateway_payment_id is null then return 'unmatched'; end if;
  perform billing.lock_gateway_payment(p_gateway_payment_id);
  v_payment := billing.find_payment(coalesce(p_entity, '{}') || jsonb_build_object('id', p_gateway_payment_id), null);
  perform billing.note_missing_user(v_payment);
  v_email := billing.lock_user(v_payment.user_id);
  v_lost := billing.lost_amount(p_gateway_payment_id);
  -- Now the dispute has its id.
  update billing.disputes d
  set dispute_id = v_dispute_id
  where d.dispute_id = p_gateway_payment_id
    and v_dispute_id is not null
    and not exists (select from billing.disputes named where named.dispute_id = v_dispute_id);
  v_dispute_id := coalesce(v_dispute_id, billing.newest_dispute(p_gateway_payment_id), p_gateway_payment_id);
  -- The dispute is stored even without its payment, which shows it when it arrives.
  insert into billing.disputes as d (dispute_id, gateway_payment_id, phase, amount, amount_deducted, status, event_at)
  values (
    v_dispute_id, p_gateway_payment_id, left(billing.json_text(p_dispute -> 'phase'), 100),
    nullif(greatest(billing.json_integer(p_dispute -> 'amount'), 0), 0),
    nullif(greatest(billing.json_integer(p_dispute -> 'amount_deducted'), 0), 0), v_status, p_created_at
  )
  on conflict (dispute_id) do update
  set phase = excluded.phase, amount = excluded.amount, amount_deducted = excluded.amount_deducted,
    status = excluded.status, event_at = coalesce(excluded.event_at, d.event_at), arrived_at = excluded.arrived_at
  where d.gateway_payment_id = excluded.gateway_payment_id
    and case
      when excluded.event_at is null or d.event_at is null
        then billing.decision_rank(excluded.status) > billing.decision_rank(d.status)
          or excluded.event_at > d.arrived_at
      else (excluded.event_at, billing.decision_rank(excluded.status), excluded.status)
        > (d.event_at, billing.decision_rank(d.status), d.status)
    end;
  v_is_news := found;

  perform billing.show_disputes(p_gateway_payment_id);
  if not exists (select from public.payments p where p.gateway_payment_id = p_gateway_payment_id) then
    return 'unmatched';
  end if;
  if v_email is not null and (v_status = 'lost' or v_lost <> billing.lost_amount(p_gateway_payment_id)) then
    v_next := billing.next_charge_answer(v_payment.user_id);
    perform billing.settle_kept(v_payment, v_email);
    -- The renewal of a lost purchase is stopped, and goes on if the purchase is not lost any more.
    perform billing.settle_access(v_payment.user_id, v_email);
    perform billing.announce_other_charge(v_payment, v_email, v_next, v_status <> 'lost');
  end if;
  return case
    when v_is_news then 'applied'
    when exists (
      select from billing.disputes d
      where d.dispute_id = v_dispute_id and d.status = v_status and d.event_at is not distinct from p_created_at
    ) then 'already'
    else 'stale'
  end;
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

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
  p_entity jsonb, -- the subscription
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
  v_started_at constant timestamptz := billing.json_time(p_entity -> 'current_start');
  v_access_ends_at timestamptz;
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
  v_access_ends_at := billing.access_end(p_subscription);
  -- A refund ends it when it arrives.
  if v_access_ends_at <= billing.clock() then
    v_access_ends_at := greatest(v_access_ends_at, (
      select s.cancelled_at from public.subscriptions s where s.user_id = p_subscription.user_id and s.status = 'cancelled'
    ));
  end if;
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged: a new card may come without a charge. Not each event names the cycle, which may
    -- begin some hours after the end of the paid time.
    concat_ws('/', v_id, case
      when p_status <> 'completed'
        then billing.iso_time(case when v_started_at > v_paid_until + interval '1 day' then v_started_at else v_paid_until end)
    end),
    jsonb_build_object(
      'access_ends_at', billing.iso_time(v_access_ends_at),
      -- The last of the attempts often fails in the moment in which the days of grace are over.
      'is_ended', coalesce(v_access_ends_at <= billing.clock(), false),
      'amount', coalesce(billing.json_integer(p_payment -> 'amount'), (p_subscription.sold).amount),
      'currency', billing.charged_currency(p_payment, (p_subscription.sold).currency),
      'manage_url', p_subscription.short_url,
      'ends_at', billing.iso_time(v_paid_until)
    ),
    p_subscription.plan_id
  );
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
    perform billing.announce_problem('completed', v_merged, p_entity, p_payment, v_email);
  elsif v_merged.plan_id is not null and v_status in ('pending', 'halted', 'completed') then
    perform billing.announce_problem(v_status, v_merged, p_entity, p_payment, v_email);
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

create or replace function public.get_health(
  p_destinations text default null -- the configured destinations, comma-separated; null: all
)
returns jsonb -- {oldest_undelivered_at, last_webhook_at, last_sweep_at, statement}: times are ISO 8601, each may be null
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'oldest_undelivered_at', (
      -- queued_at is the time from which the row is due: a cancellation may be planned for next year.
      select billing.iso_time(min(o.queued_at))
      from billing.outbox o
      where o.delivered_at is null
        and o.parked_at is null
        and o.queued_at <= billing.clock()
        and (p_destinations is null or o.destination = any (string_to_array(p_destinations, ',')))
    ),
    'last_webhook_at', billing.iso_time(billing.last_webhook_at()),
    'last_sweep_at', (select billing.iso_time(j.done_at) from billing.scheduled_jobs j where j.name = 'sweep'),
    'statement', (
      select case when s.completed_at is not null then jsonb_build_object(
        'read_until', billing.iso_time(s.read_until),
        'completed_at', billing.iso_time(s.completed_at),
        'payments', s.payments,
        'news', s.news
      ) end
      from billing.statement s
    )
  );
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
      perform billing.announce_other_charge(v_payment, v_email, v_next, false);
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

-- Returns what a refund of all that is left of a payment changes of what the gateway charges.
create or replace function billing.refund_effect(p_payment public.payments)
-- uncovers_credit: also of a part, because a later purchase got a credit for it; ends_renewal; resumes_replaced: a subscription
-- that it replaced is charged again; null: nothing
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_payment.extra_of is not null then null
    when exists (select from billing.purchases_on_credit(p_payment)) then 'uncovers_credit'
    when p_payment.gateway_subscription_id is not null then null
    when exists (
      select from billing.next_charge(p_payment.user_id) n
      join billing.gateway_subscriptions m
        on m.user_id = n.user_id
        and m.gateway_subscription_id = n.id
        and m.payment_id = p_payment.id
      where n.kind <> 'subscription'
    ) then 'ends_renewal'
    when exists (
      select from billing.stoppable s
      where s.user_id = p_payment.user_id
        and s.is_open
        and s.stops_at is not null
        and not billing.is_stop_sent(s.gateway_subscription_id)
        and (billing.find_stop(s, p_without => p_payment.id::text)).stops_at is null
    ) then 'resumes_replaced'
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

create view billing.customer_findings with (security_invoker = true) as
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

create or replace view billing.service_findings with (security_invoker = true) as
select 'captured_not_fulfilled' as finding, v.payment_id::text as subject, v.user_id, v.since, to_jsonb(v) as detail,
  case v.reason
    when 'no plan of this tier' then 'Add the plan, then replay the webhook of the payment.'
    when 'paid, user gone' then 'Refund the payment at the gateway.'
    else 'Look the payment up at the gateway, and refund it if it is not the amount of the order.'
  end as remedy
from billing.captured_not_fulfilled v
union all
select 'never_captured', p.id::text, p.user_id, p.uncaptured_at,
  jsonb_build_object(
    'payment_id', p.id, 'tier', p.tier, 'amount', p.amount, 'gateway_payment_id', p.gateway_payment_id
  ),
  'Look the payment up at the gateway: access has ended until it is captured.'
from public.payments p
where p.uncaptured_at is not null
union all
-- Until 90 days after the charge.
select 'charged_after_deletion', p.gateway_payment_id, null, p.captured_at,
  jsonb_build_object(
    'gateway_payment_id', p.gateway_payment_id, 'gateway_subscription_id', p.gateway_subscription_id,
    'amount', p.amount, 'currency', p.currency
  ),
  'Refund the payment, and check that the subscription is cancelled at the gateway.'
from public.payments p
where p.gateway_subscription_id is not null and p.captured_at > p.user_deleted_at and billing.kept(p) > 0
union all
-- PS500: the subscription still runs.
select 'expiry_failed', u.id::text, u.id, f.at, jsonb_build_object('error', f.detail),
  'Repair what raises the SQLSTATE, usually a trigger of the app on profiles; the sweep retries each hour.'
from billing.marks f
cross join billing.json_uuid(to_jsonb(f.key)) u (id)
left join public.subscriptions s on s.user_id = u.id
where f.kind = 'settle_failure'
  and f.detail <> 'PS500'
  and (
    s.status = 'active' and s.current_period_end < (select billing.clock())
    or exists (select from billing.gateway_subscriptions m where m.user_id = u.id and m.awaits_user)
  )
union all
select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v),
  case
    when v.state = 'parked' then 'Repair the cause in last_error, then requeue the message.'
    when v.last_error is not null then 'Repair the cause in last_error. The message is tried again by itself.'
    else 'Check that the schedule runs and that the destination of the message is configured.'
  end
from billing.outbox_stuck v
union all
select 'refund_failed', v.refund_id, v.user_id, v.since, to_jsonb(v),
  'Refund the payment again, or pay the customer in another way and insert a note about the payment.'
from billing.failed_refunds v
union all
select 'document_waiting', d.payment_id::text, p.user_id, d.due_at, jsonb_build_object('payment_id', d.payment_id),
  'Check that the schedule runs: billing.sweep() gives the numbers. If it runs, read its warning in the log of Postgres.'
from billing.documents_due d
left join public.payments p on p.id = d.payment_id
where d.due_at < (select billing.clock()) - interval '1 hour'
union all
-- It must stop within two hours, and the gateway is not told yet: it may charge it.
select 'untold_stop', g.gateway_subscription_id, g.user_id, o.queued_at,
  jsonb_build_object(
    'gateway_subscription_id', g.gateway_subscription_id, 'stops_at', g.stops_at, 'attempts', o.attempts,
    'last_error', o.last_error
  ),
  'Cancel the subscription in the dashboard of the gateway, then look at why the message fails.'
from (
  -- Two parts, each of which reads an index of few rows.
  select o.*
  from billing.outbox o
  where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is null
  union all
  select o.*
  from billing.outbox o
  where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is not null and o.told_at is not null
) o
join billing.gateway_subscriptions g
  on g.gateway_subscription_id = o.payload ->> 'gateway_subscription_id'
  and (billing.is_billed(g) or not billing.is_known(g))
where o.kind = 'cancel-subscription'
  and g.stops_at < billing.clock() + interval '2 hours'
  and o.queued_at < billing.clock() - interval '1 hour'
union all
select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v),
  case v.outcome
    when 'plan_not_found' then 'Add the plan, then replay the webhook.'
    when 'mismatch' then case
      when v.event like 'refund.%' then 'Compare the refund with the gateway''s dashboard, then ignore the webhook.'
      else 'Refund the payment at the gateway: its amount is not that of the order. Or ignore the webhook.'
    end
    else 'Repair the cause of the error, then replay the webhook, or ignore it.'
  end
from billing.failed_events v
union all
-- What was read from the gateway since the newest webhook.
select 'missed_webhook', 'webhooks', null, min(a.at),
  jsonb_build_object('alerts', count(*), 'newest', (array_agg(a.key order by a.at desc))[:10]),
  'Switch the webhook endpoint on at the gateway. If it is on, set its secret there to GATEWAY_WEBHOOK_SECRET: the log has '
    'invalidSignature. The next webhook ends the finding, or a note about "webhooks".'
from billing.marks a
where a.kind = 'missed_webhook'
  and a.at > billing.clock() - interval '30 days'
  and a.at > coalesce((select billing.last_webhook_at()), '-infinity')
  and not exists (
    select from billing.support_actions n
    where n.action = 'note' and n.reference = 'webhooks' and n.created_at >= a.at
  )
having count(*) > 0
union all
-- Due for two hours although the runs get answers. A run that used up its time counts as done, so billing.schedule_faults does
-- not see a backlog that grows.
select 'reconciliation_backlog', r.kind, null, min(r.at), jsonb_build_object('due', count(*)),
  'Raise RECONCILE_CALLS_PER_SECOND if the gateway allows more calls, else wait until fewer periods end at once.'
from billing.scheduled_jobs j
join billing.reconciliations r on r.at < billing.clock() - interval '2 hours'
where j.name = 'reconciliation' and j.done_at > now() - interval '15 minutes'
group by r.kind
union all
select 'missing_part', m.part, null, null, to_jsonb(m) - 'part', null
from billing.missing_parts() m
union all
-- Postgres lets PUBLIC execute each new function. To revoke this default would close functions of the app, too.
select 'open_function', signature.text, null, null,
  jsonb_build_object('remedy', format(
    'Run "revoke execute on function %s from public, anon;", or mark it as meant: '
    '"comment on function %1$s is ''Open to everybody: why'';"',
    signature.text
  )), null
from pg_catalog.pg_proc p
cross join lateral (
  select format('public.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as text
) signature
where p.pronamespace = 'public'::regnamespace
  and p.prosecdef
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and has_function_privilege('anon', p.oid, 'execute')
  and coalesce(obj_description(p.oid, 'pg_proc'), '') not like 'Open to everybody%'
  and not exists (
    select from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
  )
union all
select f.finding, f.subject, null, f.since, f.detail, null
from billing.schedule_faults() f
union all
select f.finding, f.subject, null, f.since, f.detail,
  'Compare the settlement with its report at the gateway, and store the lines that are missing.'
from billing.settlement_faults() f;

create function billing.user_of_subject(p_subject_id text)
returns uuid -- null: of no customer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select s.user_id from billing.subjects s where s.subject_id = p_subject_id and s.user_id is not null limit 1);
end $$;

create or replace view billing.timeline with (security_invoker = true) as
select u.user_id, u.email, line.at, line.what, line.reference, line.detail, line.link, line.rank
from billing.users u
cross join lateral (
  select u.signed_up_at as at, 'signed_up' as what, u.user_id::text as reference, 'Signed up.' as detail, null as link,
    0 as rank
  union all
  select l.at, l.what, l.reference, l.detail, billing.gateway_link(p.gateway_key_id, l.kind, l.id), l.rank
  from public.payments p
  cross join lateral (
    values
      (
        case when num_nonnulls(p.gateway_subscription_id, p.extra_of, p.failed_subscription_id) = 0 then p.created_at end, 'order',
        coalesce(p.gateway_order_id, p.id::text),
        'Order of ' || billing.amount_text(p.amount, p.currency) || coalesce(' for ' || p.tier, '') || '.'
          || coalesce(' Credit: ' || billing.amount_text(p.credit, p.currency) || '.', ''),
        'orders', p.gateway_order_id, 1
      ),
      (
        case when p.failed_subscription_id is not null then p.created_at end, 'attempt_failed', p.failed_subscription_id,
        format('The renewal of %s for %s failed.', billing.amount_text(p.amount, p.currency), p.tier),
        'subscriptions', p.failed_subscription_id, 3
      ),
      (p.uncaptured_at, 'attempt_failed', p.gateway_payment_id, 'The gateway did not capture the payment.', 'payments',
        p.gateway_payment_id, 3)
  ) l (at, what, reference, detail, kind, id, rank)
  where p.user_id = u.user_id
  union all
  select
    e.received_at,
    case
      when e.event = 'payment.failed' then 'attempt_failed'
      when e.deliveries = 0 then 'reconciliation'
      else 'webhook'
    end,
    e.subject_id,
    format('%s: %s', e.event, billing.outcome_now(e))
      || coalesce('. ' || nullif(rtrim(e.payload #>> '{payload,payment,entity,error_description}', '.'), ''), '')
      || case when e.deliveries > 1 then format('. Delivered %s times', e.deliveries) else '' end
      || '.',
    -- The payment of the attempt, if the ledger still has it.
    case
      when e.event = 'payment.failed' and e.payload #>> '{payload,payment,entity,id}' is not null
        then billing.gateway_link(subject.gateway_key_id, 'payments', e.payload #>> '{payload,payment,entity,id}')
      else billing.gateway_link(subject.gateway_key_id, subject.kind, subject.subject_id)
    end,
    2
  from (
    select left(s.subject_id, 200) as subject_id, min(s.kind) as kind, max(s.gateway_key_id) as gateway_key_id
    from billing.subjects s
    where s.user_id = u.user_id
    group by left(s.subject_id, 200)
  ) subject
  join billing.gateway_events e on e.subject_id = subject.subject_id
  union all
  select r.received_at, 'captured', coalesce(r.gateway_payment_id, r.id::text),
    billing.amount_text(r.amount, r.currency) || case
      when r.extra_of is not null then ': a further payment on the order.'
      when r.period_end is null then ' captured. It gave no tier.'
      else format(
        ' captured for %s, %s to %s.', coalesce(r.tier, 'a cycle'), billing.day_text(r.period_start),
        billing.day_text(r.period_end)
      )
    end,
    billing.gateway_link(r.gateway_key_id, 'payments', r.gateway_payment_id), 3
  from billing.received r
  where r.user_id = u.user_id
  union all
  select f.created_at, 'refunded', f.refund_id,
    format('%s of payment %s: %s.', billing.amount_text(f.amount, r.currency), r.gateway_payment_id, f.status),
    billing.gateway_link(r.gateway_key_id, 'payments', r.gateway_payment_id), 3
  from billing.received r
  join billing.refunds f on f.gateway_payment_id = r.gateway_payment_id
  where r.user_id = u.user_id
  union all
  select coalesce(d.event_at, d.arrived_at), 'dispute', d.dispute_id,
    format('%s of payment %s', coalesce(billing.amount_text(d.amount, p.currency), 'All'), p.gateway_payment_id)
      || coalesce(', ' || replace(d.phase, '_', ' '), '') || format(': %s.', replace(d.status, '_', ' '))
      || coalesce(' Deducted: ' || billing.amount_text(d.amount_deducted, p.currency) || '.', ''),
    billing.gateway_link(p.gateway_key_id, 'payments', p.gateway_payment_id), 3
  from public.payments p
  join billing.disputes d on d.gateway_payment_id = p.gateway_payment_id
  where p.user_id = u.user_id
  union all
  select g.at, 'grant', g.id::text,
    format('%s until %s: %s.', g.tier, billing.day_text(g.until), rtrim(coalesce(g.reason, 'no reason'), '.')), null, 4
  from billing.grants g
  where g.user_id = u.user_id
  union all
  select g.ended_at, 'grant_ended', g.id::text, coalesce(g.ended_reason, 'ended') || '.', null, 4
  from billing.grants g
  where g.user_id = u.user_id
  union all
  select a.created_at, 'support_action', coalesce(a.reference, a.id::text),
    format('%s by %s: %s Reason: %s.', a.action, coalesce(a.actor_email, a.actor), a.result, rtrim(a.reason, '.')), null, 2
  from billing.support_actions a
  where a.user_id = u.user_id
  union all
  select w.at, 'written_by_hand', w.gateway_subscription_id,
    format('The subscription row: %s', w.tier) || coalesce(' until ' || billing.day_text(w.period_end), '')
      || case w.status when 'active' then '.' else format(', %s.', w.status) end, null, 4
  from billing.manual_subscriptions w
  where w.user_id = u.user_id
  union all
  select c.at, 'tier_changed', c.reference,
    format(
      '%s to %s: %s.', coalesce(c.from_tier, 'free'), coalesce(c.to_tier, 'free'),
      case c.cause when 'direct' then 'the profile was written by hand' else c.cause end
    ), null, 5
  from billing.tier_changes c
  where c.user_id = u.user_id
  union all
  select o.created_at, 'mail', o.id::text,
    format('%s: %s', o.kind, billing.outbox_text(o)), null, 6
  from billing.outbox o
  where o.payload ->> 'to' = u.email and o.destination in ('email', 'notice')
  union all
  select o.created_at, 'event', o.id::text,
    format('%s: %s', o.kind, billing.outbox_text(o)), null, 6
  from billing.outbox o
  where o.payload #>> '{data,user_id}' = u.user_id::text and o.destination = 'event'
  union all
  select w.at, 'cancelled', null,
    format(
      'By %s, %s.', billing.actor_of(u.user_id, 'cancel', w.at),
      case when w.at_period_end then 'for the end of the period' else 'at once' end
    ), null, 2
  from billing.wishes w
  where w.user_id = u.user_id
  union all
  select w.withdrawn_at, 'resumed', null, format('By %s.', billing.actor_of(u.user_id, 'resume', w.withdrawn_at)), null, 2
  from billing.wishes w
  where w.user_id = u.user_id
  union all
  select m.asked_at, 'change', m.gateway_subscription_id,
    format('To %s from %s.', m.asked_tier, billing.day_text(coalesce(m.starts_at, m.asked_at)))
      || coalesce(' Undone on ' || billing.day_text(m.undone_at) || '.', ''),
    billing.gateway_link(m.gateway_key_id, 'subscriptions', m.gateway_subscription_id), 1
  from billing.gateway_subscriptions m
  where m.user_id = u.user_id and num_nonnulls(m.replaces, m.payment_id) > 0
  union all
  select o.queued_at, 'cancellation', m.gateway_subscription_id,
    concat(
      case when o.payload @> '{"at_cycle_end": true}' then 'At the end of the cycle' else 'At once' end,
      ', to the gateway: ', billing.outbox_text(o)
    ),
    null, 6
  from billing.gateway_subscriptions m
  join billing.outbox o on o.key = 'cancel-subscription/' || m.gateway_subscription_id
  where m.user_id = u.user_id
) line
where line.at is not null;

create or replace view billing.webhooks with (security_invoker = true) as
select
  e.body_sha256, e.received_at, e.event, e.subject_id,
  coalesce(subject.user_id, billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  (select u.email from billing.find_user(subject.user_id) u) as email,
  e.deliveries, e.attempts, billing.outcome_now(e) as outcome, e.payload
from billing.gateway_events e
cross join lateral (select billing.user_of_subject(e.subject_id) as user_id offset 0) subject;

create or replace view billing.service_state with (security_invoker = true) as
select
  billing.last_webhook_at() as last_webhook_at,
  -- By billing.clock(), as all else.
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'sweep') as last_sweep_at,
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'reconciliation')
    as last_reconciliation_at,
  (
    select min(o.queued_at)
    from billing.outbox o
    where o.destination in ('email', 'notice')
      and o.delivered_at is null
      and o.parked_at is null
      and o.queued_at <= billing.clock()
  ) as oldest_undelivered_mail_at,
  (select p.complete_as_of from billing.passes p where p.name = 'findings') as findings_as_of,
  (select p.complete_as_of from billing.passes p where p.name = 'revenue') as revenue_as_of,
  (select case when s.completed_at is not null then to_jsonb(s) end from billing.statement s) as statement,
  (select m.detail::integer from billing.marks m where m.kind = 'kept_days' and m.key = 'outbox') as messages_kept_days,
  today.payments as payments_today,
  today.revenue as revenue_today
from (
  select coalesce(sum(r.payments), 0)::bigint as payments,
    coalesce(jsonb_object_agg(r.currency, r.amount) filter (where r.currency is not null), '{}') as revenue
  from (
    select h.currency, sum(h.payments) as payments, sum(h.amount) as amount
    from billing.received_by_hour h
    where h.hour >= date_trunc('day', billing.clock(), billing.time_zone())
    group by h.currency
  ) r
) today;

-- Returns what a line has beyond the price of its payment: the fee that the customer paid on top, below zero where refunds and lost
-- disputes reach it, but not where they go beyond what was paid. No document has it.
create or replace function billing.fee_on_top(p_line billing.settlement_lines, p_payment public.payments)
returns bigint -- paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_line.type = 'payment' then p_line.amount - round(p_line.amount::numeric * p_payment.amount / p_payment.paid_amount)
    when p_line.debit > 0 then coalesce((
      select round(
        p_line.amount::numeric
          * (
            greatest(least(f.before, p_payment.paid_amount) - p_payment.amount, 0)
            - greatest(least(f.before + f.amount, p_payment.paid_amount) - p_payment.amount, 0)
          ) / f.amount
      )
      from (
        select t.id, t.amount, sum(t.amount) over (order by t.at, t.id) - t.amount as before
        from (
          select r.refund_id as id, r.amount, r.created_at as at
          from billing.refunds r
          where r.gateway_payment_id = p_payment.gateway_payment_id and r.status = 'processed'
          union all
          select l.dispute_id, l.amount, l.at
          from billing.lost_disputes l
          where l.gateway_payment_id = p_payment.gateway_payment_id
        ) t
      ) f
      where f.id = coalesce(p_line.dispute_id, p_line.entity_id)
    ), 0)
    else 0
  end;
end $$;

create or replace view billing.book_problems with (security_invoker = true) as
select d.tax_period as month, doubt.problem, d.document_number, d.payment_id, doubt.detail, d.issued_at as since
from billing.book_documents d
cross join lateral (
  select 'state_missing' as problem, 'The buyer''s state is not known: the seller''s was taken.' as detail
  where d.category = 'b2cs' and d.kind = 'receipt' and d.buyer ->> 'state' is null
  union all
  select 'buyer_incomplete', 'The invoice needs the name and the address of its buyer.'
  where d.kind = 'receipt'
    and (d.category in ('b2b', 'expwp', 'expwop') or d.category in ('b2cl', 'b2cs') and d.taxable >= 5000000)
    and (d.buyer ->> 'name' is null or d.buyer ->> 'address' is null)
  union all
  select 'rupees_missing', 'Its value in rupees is not known: the return lacks it.'
  where d.category <> 'none' and d.taxable is null
  union all
  select 'export_paid_in_rupees', 'Abroad, but not paid in foreign exchange: no export.'
  where d.category in ('expwp', 'expwop') and d.kind = 'receipt' and d.currency = 'INR'
  union all
  select 'sac_missing', 'The setting sac was not made.'
  where d.category <> 'none' and d.sac is null
  union all
  select 'tax_missing', 'The setting tax_rate was not made: the invoice has no GST.'
  where d.category in ('b2b', 'b2cl', 'b2cs') and d.rate = 0 and d.taxable is not null
  union all
  select 'einvoice_needed', 'Without the number of an e-invoice it does not count.'
  where d.category in ('b2b', 'expwp', 'expwop') and (select s.over_5_crore from billing.settings s)
  union all
  -- A closed month keeps its return, with the GSTIN of that time. Older returns are filed, those of a quarter in the fourth month.
  select 'seller_differs', 'The return names another GSTIN of the seller.'
  where d.category <> 'none'
    and d.tax_period > (select billing.clock()) - interval '4 months'
    and d.seller ->> 'gstin' is distinct from (select s.seller_gstin from billing.settings s)
    and not exists (select from billing.book_months m where m.month = d.tax_period)
  union all
  select 'note_too_late', 'Its tax cannot be adjusted any more.'
  where d.title = 'Credit note without GST' and d.document_date > billing.last_note_day(billing.supply_day(d.payment_id))
) doubt
where not exists (select from public.receipts n where n.reissue_of = d.id)
  -- Only a receipt can be reissued, and not after notes took all of it.
  and (
    doubt.problem not in ('state_missing', 'buyer_incomplete', 'sac_missing', 'tax_missing')
    or d.kind = 'receipt' and billing.noted_total(d.id) < d.total
  )
  and not exists (
    select from billing.settled_documents s where s.document_number = d.document_number and s.settled_at >= d.issued_at
  )
union all
-- Of the month in which the tax is due again. Not where a later refund has used the note up.
select
  date_trunc('month', billing.day_in_india(n.at))::date, n.problem, n.document_number, n.payment_id, n.detail, n.at
from billing.notes_above n
-- The case: else the function is called for each document, before its refund or dispute is looked up.
where not n.is_settled and case when n.at is not null then billing.noted_excess(n.payment_id) > 0 end
union all
select
  date_trunc('month', billing.day_in_india(d.confirmed_at))::date, 'document_waiting', null, d.payment_id,
  'The payment has no document yet.', d.due_at
from billing.documents_due d
where not exists (select from public.receipts r where r.payment_id = d.payment_id)
union all
select v.month, v.problem, null, null, v.settlement_id, v.since
from billing.settlement_problems v
union all
select
  date_trunc('month', billing.day_in_india(p.captured_at))::date, 'payment_unsettled', null, p.id, p.gateway_payment_id,
  p.captured_at
from public.payments p
where p.status = 'captured'
  and p.gateway_payment_id is not null
  -- Since settlements are read.
  and p.captured_at >= (select min(s.created_at) from billing.settlements s)
  and p.captured_at < (select billing.clock()) - interval '240 hours'
  and not exists (
    select from billing.standing_lines l where l.entity_id = p.gateway_payment_id and l.status <> 'failed'
  );

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
    when 'tax_missing' then 'Set tax_rate in billing.settings, then reissue the receipt.'
    when 'einvoice_needed' then 'Make the e-invoice at the portal: without its number this is no invoice.'
    when 'seller_differs' then 'Take the document out of the return: it belongs to that of its own GSTIN.'
    when 'note_too_late' then 'Tell the accountant: the refund does not reduce the tax.'
    when 'note_of_failed_refund' then 'Refund the payment again: the note stands for that, too. Or ask the accountant for a debit note.'
    when 'note_of_won_dispute' then 'Ask the accountant for a debit note: the money is back, and the note stands.'
    when 'note_above_dispute' then 'Ask the accountant for a debit note: the dispute took less than the note.'
    when 'payment_unsettled' then 'Look at the gateway why it holds the payment back, and ask it when it settles.'
  end || case when v.document_number is not null then ' A support action note about the document ends the finding.' else '' end
  as remedy
from billing.book_problems v
where v.payment_id is not null
  and v.problem <> 'document_waiting'
  -- A deleted user can't be asked any more.
  and (
    v.problem not in ('state_missing', 'buyer_incomplete')
    or not exists (select from public.payments p where p.id = v.payment_id and p.user_deleted_at is not null)
  )
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

comment on column billing.bank_lines.fees_on_top is 'What customers paid beyond the price, for the fee: in payments, refunds and lost disputes, and in no document.';

comment on column public.payments.amount is 'What the customer is to pay: the price minus a credit.';

comment on column public.payments.base_amount is 'What the gateway booked in INR, in paise. Null: it was paid in INR, or is not known.';

comment on column public.payments.paid_amount is 'What the gateway captured: with its fee on top, or less by an offer. Null: it has not said so yet.';

comment on column public.payments.refunded_amount is 'The sum of its processed refunds.';

comment on view billing.customer_findings is 'What is wrong about customers now, by what was paid and granted. Filter it by user_id: of all customers it takes minutes.';

comment on view billing.ends_wished is 'When each user last cancelled for the end of the period, and did not withdraw it.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."announce_other_charge"(public.payments, text, jsonb, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_other_charge"(public.payments, text, jsonb, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."announce_problem"(text, billing.gateway_subscriptions, jsonb, jsonb, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_problem"(text, billing.gateway_subscriptions, jsonb, jsonb, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_stop"(billing.stoppable, boolean, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_stop"(billing.stoppable, boolean, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."last_webhook_at"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."last_webhook_at"() TO "service_role";

REVOKE ALL
  ON FUNCTION "billing"."merge_cycle"(billing.gateway_subscriptions, text, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone)
  FROM PUBLIC;

GRANT EXECUTE
  ON FUNCTION "billing"."merge_cycle"(billing.gateway_subscriptions, text, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone)
  TO "service_role";

REVOKE ALL ON FUNCTION "billing"."other_charge_subjects"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."other_charge_subjects"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."user_of_subject"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."user_of_subject"(text) TO "service_role";

revoke execute on all functions in schema billing from public;
