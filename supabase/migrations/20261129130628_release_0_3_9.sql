-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.merge_gateway_plan(billing.gateway_subscriptions,pg_catalog.text,pg_catalog.text,timestamp with time zone);

ALTER TABLE "billing"."gateway_subscriptions"
  ADD COLUMN "quantity" bigint;

-- Returns the price of so many units.
create function billing.price_of_units(
  p_price billing.price, -- of one
  p_units bigint -- null: one
)
returns billing.price language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  p_price.amount := p_price.amount * coalesce(p_units, 1);
  return p_price;
end $$;

-- Returns the number of units that the gateway bills.
create function billing.quantity_of(p_entity jsonb) -- the subscription
returns bigint -- null: one, or it is not named
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_quantity constant bigint := billing.json_integer(p_entity -> 'quantity');
begin
  return case when v_quantity between 2 and 1000000 then v_quantity end;
end $$;

-- Merges the plan that an event names, with its quantity. After an event named a plan of ours, the subscription remains a
-- source. A cancellation does not change that plan.
create function billing.merge_gateway_plan(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_entity jsonb, -- the subscription
  p_gateway_plan_id text, -- null: the event names none
  p_created_at timestamptz -- of the event; null: the event is applied and sets no event time
)
returns billing.gateway_subscriptions language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_id constant text := left(p_gateway_plan_id, 200);
  v_plan_id uuid := p_subscription.plan_id;
  v_sold billing.price := p_subscription.sold; -- of one unit
  v_quantity constant bigint := case
    when p_entity ? 'quantity' then billing.quantity_of(p_entity)
    else p_subscription.quantity
  end;
  v_billed record;
begin
  if v_id is null
    or (p_created_at, v_id, coalesce(v_quantity, 1))
      > (p_subscription.plan_event_at, p_subscription.gateway_plan_id, coalesce(p_subscription.quantity, 1)) is false
  then
    return p_subscription;
  end if;
  v_sold.amount := v_sold.amount / coalesce(p_subscription.quantity, 1);
  if v_plan_id is null or v_id is distinct from p_subscription.gateway_plan_id then
    select * into v_billed from billing.find_billed_price(v_id, p_subscription.gateway_subscription_id);
    v_plan_id := v_billed.plan_id;
    v_sold := v_billed.sold;
  end if;
  if v_plan_id is not null and (not v_cancelled or p_subscription.plan_id is null) then
    p_subscription.sold := billing.price_of_units(v_sold, v_quantity);
    p_subscription.quantity := v_quantity;
    p_subscription.plan_id := v_plan_id;
    p_subscription.gateway_plan_id := v_id;
    p_subscription.plan_event_at := case
      when v_cancelled then p_subscription.plan_event_at
      else coalesce(p_created_at, p_subscription.plan_event_at)
    end;
  elsif p_subscription.plan_id is null then
    p_subscription.gateway_plan_id := v_id;
    p_subscription.quantity := v_quantity;
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
    has_refunds, paid_until, cancel_at_period_end, stops_at, ended_at, arrived_at, awaits_user, next_check_at, checked_at,
    gateway_status, gateway_status_event_at, charge_at, short_url, paid_count, authenticated_at, first_halted_at,
    last_halted_at, last_resumed_at, first_period_start, first_period_end, first_period_event_at, paid_period_start,
    paid_period_end, paid_period_event_at, written_at, last_paused_at, quantity
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
    and (m.gateway_plan_id, coalesce(m.quantity, 1))
      = (v_entity ->> 'plan_id', coalesce((v_entity ->> 'quantity')::bigint, m.quantity, 1))
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

-- Enqueues the mail that the plan or the quantity of what rules was edited at the gateway. The caller has settled the user's access.
create function billing.announce_edit(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_before public.subscriptions, -- the row that it gave before
  p_email text, -- of the user
  p_arrived_at timestamptz
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if (p_subscription.plan_id, (p_subscription.sold).amount) = (p_before.plan_id, p_before.price_amount)
    or not exists (
      select from public.subscriptions s
      where (s.user_id, s.gateway_subscription_id, s.plan_id, s.status)
        = (p_subscription.user_id, p_subscription.gateway_subscription_id, p_subscription.plan_id, 'active')
    )
  then
    return;
  end if;
  perform billing.withdraw_outlook(p_subscription.user_id);
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email, 'plan-changed',
    concat_ws('/', p_subscription.gateway_subscription_id, billing.iso_time(p_arrived_at)),
    jsonb_build_object(
      'plan_name', billing.plan_name(p_subscription.plan_id, null), 'old_plan_name', billing.plan_name(p_before.plan_id, null),
      'credit', null, 'amount', null, 'currency', (p_subscription.sold).currency,
      'valid_until', billing.iso_time(p_subscription.period_end), 'is_authorised', true
    ) || billing.outlook(p_subscription.user_id)
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

-- Completes the gateway subscriptions of a user, and their charges, that arrived before the user or a plan was known.
create or replace function billing.adopt_subscriptions(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set plan_id = coalesce(m.plan_id, own.plan_id), sold = coalesce(m.sold, billing.price_of_units(own.sold, m.quantity)), awaits_user = false,
    next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
  from billing.gateway_subscriptions w
  left join lateral billing.find_billed_price(w.gateway_plan_id, w.gateway_subscription_id) own on w.plan_id is null
  where w.user_id = p_user_id and m.id = w.id;
  perform billing.adopt_charges(p_user_id);
end $$;

-- Subscriptions that were asked for and have no cycle yet, those whose period ends within a day, and those that are pending,
-- halted or paused at the gateway. Each is reconciled until it is renewed or cancelled. API: service_role only.
create or replace function public.claim_subscriptions_to_reconcile()
returns jsonb
-- {settled, subscriptions: [{id, gateway_subscription_id}]}; settled: how many of those that were due need no call now.
-- subscriptions: at most 20. 0 and []: nothing is due
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_result jsonb;
begin
  -- The requests of these ended without an answer of the gateway.
  perform billing.forget_request(m.id)
  from billing.gateway_subscriptions m
  where m.next_check_at <= v_now and m.gateway_subscription_id is null
  limit 20;
  with due as materialized (
    select
      m.*, s.id is not null as has_row, m as subscription,
      m.period_end + make_interval(hours => 24 * (billing.grace_days(p.grace_days, false) + 14)) as given_up_at
    from billing.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now and m.gateway_subscription_id is not null
    order by m.next_check_at
    limit 200
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- One without an id cannot be read. A cancelled subscription has ended; for a day its last payments are looked for.
        when d.gateway_subscription_id = '' then null
        when d.next_check_at = '-infinity' then v_now
        when d.status = 'cancelled' or d.gateway_status = 'completed' then case
            when d.cancelled_arrived_at < v_now - interval '1 day' or billing.unnamed_cycles(d.subscription) = 0 then null
            else v_now
          end
        when d.asked_plan_id is not null and d.period_end is null then v_now
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when not d.has_row and d.gateway_status is distinct from 'unknown'
          then case when d.arrived_at > v_now - interval '30 days' then v_now + interval '1 day' end
        -- The gateway may bill it again at any time. So long after the last access it is read once a day.
        when d.gateway_status in ('pending', 'halted', 'paused')
          or d.gateway_status = 'active' and d.period_end <= v_now + interval '1 day'
          then case when d.checked_at > d.given_up_at then greatest(d.checked_at + interval '1 day', v_now) else v_now end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.given_up_at then null
        -- The gateway did not know it, such as under the key of another account. Without an end it is never given up.
        when d.gateway_status = 'unknown'
          then case when d.period_end is null then greatest(d.checked_at + interval '1 day', v_now) else v_now end
        -- If the subscription was renewed, later. A charge does not change next_check_at, so that it writes no index.
        else greatest(d.period_end - interval '1 day', v_now)
      end as next_at -- null: never
    from due d
  ),
  leased as (
    update billing.gateway_subscriptions m
    set next_check_at = case when p.is_now then v_now + interval '5 minutes' else p.next_at end
    from (
      select
        d.id, d.next_at, coalesce(d.next_at = v_now, false) as is_now,
        -- Neither a lot of requests nor a lot of ends of periods delays the others.
        row_number() over (partition by d.next_at = v_now order by d.next_check_at) as place
      from planned d
    ) p
    where m.id = p.id and (not p.is_now or p.place <= 20)
    returning m.id, m.gateway_subscription_id, p.is_now
  )
  select jsonb_build_object(
    'settled', count(*) filter (where not l.is_now),
    'subscriptions', coalesce(
      jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id))
        filter (where l.is_now),
      '[]'
    )
  )
  into v_result
  from leased l;
  return v_result;
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
  v_second constant bigint := extract(epoch from v_now);
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
      (v_second::text, case v_status when 'active' then 'subscription.updated' else 'subscription.' || v_status end,
        p_entity || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes'), null,
        v_status is distinct from v_mirrored.gateway_status
          and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
          and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused'))
          -- Edited at the gateway.
          or v_status in ('active', 'pending', 'halted', 'paused')
            and v_mirrored.plan_id is not null
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
    -- Of an import that no event has named: its invoices name no plan.
    gateway_plan_id = coalesce(m.gateway_plan_id, left(billing.json_text(p_entity -> 'plan_id'), 200)),
    gateway_status = coalesce(v_status, 'unknown'),
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where m.id = p_id
  returning m.* into v_mirrored;
  perform billing.check_again(v_mirrored.user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

create or replace view billing.unexpected_charges with (security_invoker = true) as
select
  m.user_id, c.captured_at as since, found.finding, m.gateway_subscription_id, c.gateway_payment_id, c.amount,
  c.period_start, c.period_end
from billing.gateway_subscriptions m
-- Of most subscriptions no charge but the newest is read: the rest would take most of the time of this view.
cross join lateral (
  select
    case
      when m.cancel_at_period_end or m.status = 'cancelled' or m.gateway_status in ('completed', 'expired')
        or num_nonnulls(m.stops_at, m.ended_at) > 0
        then least(billing.cancelled_by_user_at(m.user_id, m.asked_at), m.undone_at)
    end as cancelled_at,
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
      known.is_one_of_several or known.is_charged_twice or known.cancelled_at is not null or m.status = 'cancelled'
      or p.period_end > (select billing.clock())
    )
  offset 0
) c
cross join lateral (
  select known.cancelled_at < c.captured_at or m.status = 'cancelled' and m.cancelled_at < c.captured_at as is_before
) cancelled
cross join lateral (
  select case when cancelled.is_before then 'charged_after_cancellation' else 'charged_after_replacement' end as finding
  where cancelled.is_before
    or known.is_one_of_several and exists (
      select from billing.purchases newer
      left join billing.gateway_subscriptions s
        on (s.user_id, s.gateway_subscription_id) = (newer.user_id, newer.id)
        and newer.kind = 'gateway_subscription'
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
        and coalesce(known.cancelled_at > n.captured_at, true)
        and coalesce(m.cancelled_at > n.captured_at, true)
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

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."announce_edit"(billing.gateway_subscriptions, public.subscriptions, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_edit"(billing.gateway_subscriptions, public.subscriptions, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."merge_gateway_plan"(billing.gateway_subscriptions, text, jsonb, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."merge_gateway_plan"(billing.gateway_subscriptions, text, jsonb, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."price_of_units"(billing.price, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."price_of_units"(billing.price, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."quantity_of"(jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."quantity_of"(jsonb) TO "service_role";

revoke execute on all functions in schema billing from public;
