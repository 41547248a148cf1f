-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.offered_plan(public.plans,billing.commitment,pg_catalog.uuid[]);

drop function billing.merge_gateway_plan(billing.gateway_subscriptions,pg_catalog.text,pg_catalog.text,timestamp with time zone);

drop function public.end_reconciliation(pg_catalog.uuid,boolean);

comment on column billing.support_actions.action is null;

comment on view billing.outbox_stuck is null;

ALTER TABLE "public"."receipts"
  DROP CONSTRAINT "receipts_dispute_id_key";

ALTER TABLE "billing"."gateway_subscriptions"
  ADD COLUMN "quantity" bigint;

ALTER TABLE "billing"."scheduled_jobs"
  ADD COLUMN "ahead" interval;

ALTER TABLE "billing"."support_actions"
  ADD COLUMN "corrects_seller" boolean;

ALTER TABLE "billing"."support_actions"
  ADD CONSTRAINT "support_actions_corrects_seller_check" CHECK (((corrects_seller IS NULL) OR (action = 'reissue'::billing.support_action)));

CREATE INDEX receipts_dispute_id_idx ON public.receipts USING btree (dispute_id)
  WHERE (dispute_id IS NOT NULL);

-- Returns how long a side effect is tried. Of a stop null, until the gateway has it: else it charges what was cancelled, once it
-- answers again.
create or replace function billing.tried_for(p_kind text)
returns interval language sql immutable set search_path = pg_catalog, pg_temp
return case when p_kind <> 'cancel-subscription' then interval '24 hours' end;

-- After the lease, rows that were neither completed nor failed may be claimed again.
create or replace function public.claim_outbox(p_destinations text) -- comma-separated
returns jsonb
-- {token, rows: [{id, destination, key, kind, payload}], at most 20 of a destination with the parked ones, parked (how many),
-- more: the destinations that may have further due rows, next_attempt_at: of the rows that are due later, ISO 8601 in UTC}
language plpgsql volatile
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := billing.clock();
  v_token constant uuid := gen_random_uuid();
  v_destinations constant text[] := string_to_array(p_destinations, ',');
  v_next timestamptz := billing.next_attempt(v_destinations);
  v_result jsonb;
begin
  -- Most claims find nothing, and need no more than this.
  if (v_next <= v_now) is not true then
    return jsonb_build_object(
      'token', v_token, 'rows', '[]'::jsonb, 'parked', 0, 'more', '[]'::jsonb, 'next_attempt_at', billing.iso_time(v_next)
    );
  end if;
  v_next := billing.next_attempt(v_destinations, v_now);
  with due as materialized (
    select first.*
    from unnest(v_destinations) d (destination)
    cross join lateral (
      select
        o.id,
        -- Too old: tried for a day, or a mail that waited for a day. Then the provider no longer knows the idempotency key.
        o.queued_at <= v_now - billing.tried_for(o.kind)
          and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over,
        o.kind = 'refund' and not billing.may_refund(o) as is_void
      from billing.outbox o
      where o.destination = d.destination
        and o.delivered_at is null
        and o.parked_at is null
        and o.next_attempt_at <= v_now
      order by o.next_attempt_at
      limit 20
      for update skip locked
    ) first
    where not exists (select from billing.marks m where m.kind = 'pause' and m.key = d.destination and m.at > v_now)
  ),
  claimed as (
    update billing.outbox o
    -- Of the tokens the newest 20 remain: no older claim still runs, and repeated pauses must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = v_now + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over or due.is_void then v_now end,
      last_error = case
        when due.is_void then 'no longer refundable'
        when due.is_over then coalesce(o.last_error, 'not delivered within 24 hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.destination, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(
        jsonb_build_object('id', c.id, 'destination', c.destination, 'key', c.key, 'kind', c.kind, 'payload', c.payload)
        order by c.id
      ) filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at),
    'more', coalesce(
      (select jsonb_agg(f.destination) from (select destination from claimed group by destination having count(*) = 20) f), '[]'
    ),
    'next_attempt_at', billing.iso_time(v_next)
  )
  into v_result
  from claimed c;
  return v_result;
end $$;

-- Finds a gateway subscription by its id: the row of the user who asked for it, else of one who exists and whose row by hand
-- named it last, else of the first one who was seen with it.
create or replace function billing.find_subscription(p_gateway_subscription_id text)
returns billing.gateway_subscriptions -- all null: it is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select m
    from billing.gateway_subscriptions m
    where m.gateway_subscription_id = p_gateway_subscription_id and m.gateway_subscription_id <> ''
    order by
      m.asked_plan_id,
      case when m.asked_plan_id is null then exists (select from billing.find_user(m.user_id)) end desc,
      case when m.asked_plan_id is null then (
        select w.at
        from billing.manual_subscriptions w
        where (w.user_id, w.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      ) end desc nulls last,
      m.asked_at,
      m.user_id
    limit 1
  );
end $$;

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

-- A gateway subscription is of one user: of who asked for it here, or is named by an active row. Its charges would go to one
-- of two, and both pages would show the next one. Security definer: as below.
create function billing.refuse_second_owner(p_user_id uuid, p_gateway_subscription_id text)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_owner_id uuid;
begin
  select m.user_id into v_owner_id
  from billing.gateway_subscriptions m
  where m.gateway_subscription_id = p_gateway_subscription_id
    and m.user_id <> p_user_id
    and exists (select from billing.find_user(m.user_id))
    and (
      m.asked_plan_id is not null
      or exists (
        select from public.subscriptions s
        where (s.user_id, s.gateway_subscription_id, s.status) = (m.user_id, m.gateway_subscription_id, 'active')
      )
    )
  limit 1;
  if found then
    raise exception '% is the gateway subscription of the user %', p_gateway_subscription_id, v_owner_id
      using errcode = 'unique_violation', hint = 'Clear it in the row of that user first.';
  end if;
end $$;

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create or replace function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A write of due_at alone, or of nothing, is one of the sweep.
  if tg_op = 'UPDATE' and to_jsonb(new) - 'due_at' = to_jsonb(old) - 'due_at' then return new; end if;
  -- This insert writes no row: it fails, or has an "on conflict" clause.
  if tg_op = 'INSERT' and exists (select from public.subscriptions s where s.user_id = new.user_id) then return new; end if;
  if new.gateway_subscription_id <> ''
    and (tg_op = 'INSERT' or new.gateway_subscription_id is distinct from old.gateway_subscription_id)
  then
    perform billing.refuse_second_owner(new.user_id, new.gateway_subscription_id);
  end if;
  if tg_op = 'UPDATE' and new.updated_at is not distinct from old.updated_at then
    new.updated_at := billing.clock();
  end if;
  -- A row that was written by hand was not sold by a price.
  select null, null, null, null into new.price_key, new.price_amount, new.currency, new.duration_months;
  -- The entitlements of what ruled before are not those of another plan.
  if tg_op = 'UPDATE' and (new.tier, new.plan_id) is distinct from (old.tier, old.plan_id)
    and new.entitlements is not distinct from old.entitlements
  then
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

-- What the gateway must be told: for each subscription that it may still charge, whether it must stop, and when. Derived from
-- facts by billing.find_stop; only differences are written. The requests of the customer to cancel and to resume.
-- Contract: POST /api/subscriptions/cancel, POST /api/subscriptions/resume.

-- Returns when the newest act of a user was. The next one is not before it, also where others wrote while it waited for the
-- lock, or the clock was set back. The caller holds the lock on the user.
create function billing.last_act_at(p_user_id uuid)
returns timestamptz -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return greatest(
    (select max(greatest(m.asked_at, m.arrived_at)) from billing.gateway_subscriptions m where m.user_id = p_user_id),
    (select max(p.since) from public.payments p where p.user_id = p_user_id),
    (select max(w.at) from billing.wishes w where w.user_id = p_user_id)
  );
end $$;

-- Contract: POST /api/subscriptions/cancel.
create or replace function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}: null, if nothing gave access yet
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish billing.wishes;
  v_is_active boolean;
begin
  perform billing.begin_request('cancellation', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  v_is_active := coalesce(v_subscription.status = 'active', false);
  -- A deleted user's subscriptions are stopped in any case.
  if v_email is null or not v_is_active and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeated cancellation for the period's end writes nothing: one stands that covers everything.
  if not (
    p_at_period_end
    and (v_subscription.cancel_at_period_end or not v_is_active)
    and exists (
      select from billing.ends_wished w
      where w.user_id = p_user_id
        and w.at >= coalesce((select max(p.since) from public.payments p where p.user_id = p_user_id), '-infinity')
    )
    and not exists (
      select from billing.stoppable s where s.user_id = p_user_id and s.is_open and (s.is_wish is null or s.stops_at is null)
    )
  ) then
    insert into billing.wishes (user_id, at_period_end, at)
    values (p_user_id, p_at_period_end, greatest(billing.clock(), billing.last_act_at(p_user_id)))
    returning * into v_wish;
    if not p_at_period_end then
      perform billing.end_sources(p_user_id);
    elsif v_is_active then
      perform billing.mark_sources(p_user_id, true);
    end if;
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_cancellation(v_wish, v_email, v_subscription);
  end if;
  return jsonb_build_object('outcome', 'cancelled', 'subscription', billing.subscription_answer(p_user_id));
end $$;

-- Returns whether a user may try a plan: a trial is for a user who never paid.
create function billing.may_try(p_user_id uuid) -- null: there is no user yet
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return not exists (select from public.payments p where p.user_id = p_user_id and p.captured_at is not null)
    and not exists (
      select from billing.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.arrived_at is not null
        -- Else it was cancelled before its authorisation.
        and (
          m.status is distinct from 'cancelled'
          or num_nonnulls(m.authenticated_at, m.first_activated_at, m.first_charged_at, m.first_halted_at, m.period_end) > 0
        )
    );
end $$;

-- Returns a plan with its prices. Those that the gateway can't charge are left out, but not those of the plan "free".
create function billing.offered_plan(
  p_plan public.plans,
  p_user_id uuid, -- null: there is none
  p_commitment billing.commitment, -- of the user; all null: none
  p_waiting uuid[] -- see billing.scenario. Null: there is no user, and no scenario
)
returns jsonb -- null: it has no such price
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_held constant billing.ranked_price := billing.rank_commitment(p_commitment);
  v_prices jsonb;
  v_scenario text;
begin
  select
    jsonb_agg(
      billing.offer_answer(p.id, p.tier, (its.wanted).price, p.gateway_plan_id)
        || case when own.scenario is null then '{}' else jsonb_build_object('scenario', own.scenario) end
        || case
          when p.trial_days > 0 and p.gateway_plan_id is not null and billing.may_try(p_user_id)
            then jsonb_build_object('trial_days', p.trial_days)
          else '{}'
        end
      order by p.lookup_key is not null, ((its.wanted).price).months, p.price, p.lookup_key
    ) filter (where billing.is_payable(p.price, p.currency) or p.tier = 'free'),
    max(own.scenario) filter (where p.lookup_key is null)
  into v_prices, v_scenario
  from public.plans p
  cross join lateral (select billing.rank_plan(p) as wanted offset 0) its
  cross join lateral (
    select case when p_waiting is not null then billing.scenario(p_commitment, v_held, its.wanted, p_waiting) end as scenario
  ) own
  where p.tier = p_plan.tier and p.is_active;
  if v_prices is null then return null; end if;
  return to_jsonb(p_plan) || jsonb_build_object('prices', v_prices)
    || case when v_scenario is null then '{}' else jsonb_build_object('scenario', v_scenario) end;
end $$;

-- Contract: GET /api/subscriptions/plans, "Scenarios".
create or replace function public.list_plans_for_user(p_user_id uuid) -- null: without scenarios
returns jsonb -- {plans, needs_state: true, if documents need it}: the answer's body, the lowest price first
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_generic_plan as $$
declare
  v_commitment billing.commitment;
  v_waiting uuid[];
begin
  if p_user_id is not null then
    v_commitment := billing.find_commitment(p_user_id);
    v_waiting := array(
      select case when c.kind = 'purchase' then c.plan_id else coalesce((c.next).plan_id, (c.next).asked_plan_id) end
      from billing.commitments(p_user_id) c
      where c.kind <> 'purchase' or c.starts_at > billing.clock() or c.ends_at > v_commitment.ends_at
    );
  end if;
  return (
    select jsonb_build_object('plans', coalesce(jsonb_agg(o.plan order by o.price, o.tier), '[]'))
    from (
      select p.price, p.tier, billing.offered_plan(p, p_user_id, v_commitment, v_waiting) as plan
      from public.plans p
      where p.is_active and p.lookup_key is null
      offset 0
    ) o
    where o.plan is not null
  ) || case
    when p_user_id is not null
      and exists (select from billing.settings s where s.seller_gstin is not null)
      and not exists (select from public.billing_details d where d.user_id = p_user_id and d.state is not null)
      then '{"needs_state": true}'
    else '{}'
  end::jsonb;
end $$;

-- Returns the change of plan that waits for the end of what the user pays for. Contract: GET /api/subscriptions.
create or replace function billing.next_change(p_user_id uuid)
returns jsonb -- {tier, price, amount, currency, starts_at, undo_until}; null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Nearly no user has one: this lookup saves the functions below on each read.
  if not exists (
    select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.starts_at > billing.clock()
  ) then
    return null;
  end if;
  return (
    select jsonb_build_object(
      'tier', its.tier, 'price', billing.price_answer(its.tier, its.sold),
      'amount', (its.sold).amount, 'currency', (its.sold).currency,
      'starts_at', billing.iso_time((b.next).starts_at), 'undo_until', billing.iso_time(b.undo_until)
    )
    from billing.find_billed(p_user_id) b
    -- It may have been edited at the gateway.
    cross join lateral (
      select
        coalesce((select p.tier from public.plans p where p.id = (b.next).plan_id), (b.next).asked_tier) as tier,
        coalesce((b.next).sold, (b.next).asked_price) as sold
    ) its
    where (b.next).id is not null
    order by (b.next).starts_at
    limit 1
  );
end $$;

create or replace function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- the API key of the order; null: an open order of any key is returned
  p_start text default null, -- now or after_current; null: not said, and there is no credit
  p_price text default null, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean default true -- see billing.plan_change
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, price,
-- running: {tier, until, early_renewal, price, starts_at} | null, prefill: {email, name}},
-- with p_start also {credit, starts_at, ends_at},
-- {outcome: plan_not_found | price_conflict | user_not_found | in_flight | key_conflict},
-- {outcome: not_now, reason: credit}, {outcome: rate_limited, retry_after},
-- {outcome: unread, subscription}: see billing.unread_answer
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_email text;
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_keyed public.payments; -- the order of the idempotency key
  v_payment public.payments;
  v_refusal jsonb;
  v_credit record;
begin
  perform billing.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  -- A key is on several payments where the first got no order, or where its order is of another API key.
  select * into v_keyed
  from public.payments p
  where p.user_id = p_user_id
    and p.created_at > v_now - interval '7 days'
    and p_idempotency_key = any (p.idempotency_keys)
  order by p.gateway_order_id is not null desc, p.created_at desc
  limit 1;
  if v_keyed.id is not null
    and (coalesce(v_keyed.price_key, v_keyed.tier), v_keyed.starts) is distinct from (coalesce(p_price, p_tier), p_start)
  then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_keyed.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_start = 'now';
  if v_keyed.id is null and v_credit.is_excess then
    return jsonb_build_object('outcome', 'not_now', 'reason', 'credit');
  end if;
  if v_keyed.id is null and not p_is_read and v_credit.unread is not null then
    return billing.unread_answer(v_credit.unread);
  end if;
  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and p.failed_subscription_id is null
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_keyed.id
      or p.tier = v_plan.tier
        and p.starts is not distinct from p_start
        -- The credit is that of the time when the order was made.
        and (p.credited_kind, p.credited_id, p.credited_until)
          is not distinct from (v_credit.kind, v_credit.id, v_credit.until)
        and p.created_at > v_now - interval '30 minutes'
        and billing.is_open_for(p, v_plan)
    )
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow. Nor does one that was made
    -- while the clock was ahead.
    and (
      p.gateway_order_id is not null
      or p.created_at > v_now - interval '30 seconds' and p.created_at < v_now + interval '30 seconds'
    )
  order by p.id = v_keyed.id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    -- At most ten orders an hour.
    v_refusal := billing.rate_limited((
      select p.created_at + interval '1 hour'
      from public.payments p
      where p.user_id = p_user_id and p.failed_subscription_id is null
      order by p.created_at desc
      offset 9
      limit 1
    ));
    if v_refusal is not null then return v_refusal; end if;
    -- The payment stores the terms of the sale. A later change of the plan, or of what was credited, does not change them.
    insert into public.payments (
      user_id, amount, currency, tier, plan_id, price_key, price_amount, duration_months, gateway_key_id, idempotency_keys,
      meta, starts,
      credit, credited_kind, credited_id, credited_until, credited_amount
    )
    values (
      p_user_id, v_plan.price - coalesce(v_credit.credit, 0), v_plan.currency, v_plan.tier, v_plan.id,
      v_plan.lookup_key, v_plan.price, billing.sold_months(v_plan.duration_months), p_gateway_key_id,
      array_remove(array[p_idempotency_key], null), jsonb_build_object('tier', v_plan.tier), p_start,
      v_credit.credit, v_credit.kind, v_credit.id, v_credit.until, v_credit.amount
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  elsif p_idempotency_key is not null and p_idempotency_key <> all (v_payment.idempotency_keys) then
    if cardinality(v_payment.idempotency_keys) = 20 then
      -- Then the order is not open any more, and the key may name a new one.
      return billing.rate_limited(v_payment.created_at + interval '30 minutes');
    end if;
    update public.payments p
    set idempotency_keys = p.idempotency_keys || p_idempotency_key
    where p.id = v_payment.id;
  end if;

  return billing.create_order_answer(v_payment, p_start, v_email);
end $$;

-- Returns when a request was made, by the clock of then. asked_at is its place among the acts that are known, and may lie ahead.
create function billing.made_at(p_request billing.gateway_subscriptions)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return p_request.expires_at - interval '24 hours'; end $$;

-- Returns whether the gateway may still answer a request. One that was made while the clock was ahead has ended.
create function billing.is_in_flight(p_request billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_request.gateway_subscription_id is null
    and billing.made_at(p_request) > billing.clock() - interval '30 seconds'
    and billing.made_at(p_request) < billing.clock() + interval '30 seconds';
end $$;

-- Returns the user's open request of a subscription at a price, else a new one to make at the gateway. The caller holds the
-- lock on the user.
create or replace function billing.request_subscription(
  p_user_id uuid,
  p_plan public.plans,
  p_request billing.gateway_subscriptions, -- that the idempotency key names
  p_idempotency_key text,
  p_gateway_key_id text,
  p_starts_at timestamptz default null, -- null: at the authorisation
  p_replaces text default null, -- the gateway subscription that ends when this one starts
  p_payment_id uuid default null -- pays for the time until p_starts_at
)
returns jsonb -- as public.create_subscription
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_request billing.gateway_subscriptions := p_request;
  v_refusal jsonb;
  v_sold constant billing.price := billing.price_of(p_plan);
  v_is_trial boolean := false;
begin
  if v_request.id is null then
    select * into v_request
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and (m.asked_plan_id, m.asked_gateway_plan_id) = (p_plan.id, p_plan.gateway_plan_id)
      and m.asked_price is not distinct from v_sold
      and m.replaces is not distinct from p_replaces
      and m.payment_id is not distinct from p_payment_id
      and coalesce(m.gateway_key_id = p_gateway_key_id, true)
      and billing.made_at(m) > v_now - interval '30 minutes'
      and num_nonnulls(m.undone_at, m.stops_at) = 0
      and not billing.is_known(m)
      and (m.gateway_subscription_id is not null or billing.is_in_flight(m))
    order by m.gateway_subscription_id is not null desc, m.asked_at desc
    limit 1;
  elsif v_request.gateway_subscription_id is null and not billing.is_in_flight(v_request) then
    -- It ended without an answer of the gateway. What it may have made there expires without an authorisation.
    perform billing.forget_request(v_request.id);
    v_request := null;
  end if;
  if v_request.id is not null then
    if v_request.gateway_subscription_id is null then return jsonb_build_object('outcome', 'in_flight'); end if;
    if p_idempotency_key is not null and p_idempotency_key <> all (v_request.idempotency_keys) then
      if cardinality(v_request.idempotency_keys) = 20 then
        return billing.rate_limited(billing.made_at(v_request) + interval '30 minutes');
      end if;
      update billing.gateway_subscriptions m
      set idempotency_keys = m.idempotency_keys || p_idempotency_key
      where m.id = v_request.id;
    end if;
    return billing.requested_answer('existing', v_request, p_plan);
  end if;

  v_refusal := billing.rate_limited((
    select billing.made_at(m) + interval '1 hour'
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.asked_plan_id is not null
    order by m.expires_at desc
    offset 9
    limit 1
  ));
  if v_refusal is not null then return v_refusal; end if;
  if p_starts_at is null and p_plan.trial_days > 0 and billing.may_try(p_user_id) then
    p_starts_at := date_trunc('second', v_now) + make_interval(hours => 24 * p_plan.trial_days);
    v_is_trial := true;
  end if;
  insert into billing.gateway_subscriptions (
    user_id, asked_at, asked_plan_id, asked_tier, asked_gateway_plan_id, asked_price, gateway_key_id, idempotency_keys,
    expires_at, starts_at, is_trial, replaces, payment_id, next_check_at
  )
  values (
    p_user_id, greatest(v_now, billing.last_act_at(p_user_id) + interval '1 microsecond'),
    p_plan.id, p_plan.tier, p_plan.gateway_plan_id, v_sold, p_gateway_key_id,
    array_remove(array[p_idempotency_key], null), v_now + interval '24 hours', p_starts_at, v_is_trial, p_replaces, p_payment_id,
    v_now + interval '25 hours'
  )
  returning * into v_request;
  return billing.requested_answer('created', v_request, p_plan);
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

-- Enqueues the mail about an edit of plan or quantity at the gateway. The caller has settled the user's access.
create function billing.announce_edit(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_before public.subscriptions, -- the row that it gave before
  p_email text, -- of the user
  p_arrived_at timestamptz
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- What ends with its cycle is not charged for a new quantity.
  if p_subscription.plan_id = p_before.plan_id
      and ((p_subscription.sold).amount = p_before.price_amount or p_subscription.stops_at is not null)
    or not exists (
      select from public.subscriptions s
      where (s.user_id, s.gateway_subscription_id, s.plan_id, s.status)
        = (p_subscription.user_id, p_subscription.gateway_subscription_id, p_subscription.plan_id, 'active')
    )
  then
    return;
  end if;
  perform billing.withdraw_outlook(
    p_subscription.user_id,
    'change-scheduled/' || (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).gateway_subscription_id
  );
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
  set plan_id = coalesce(m.plan_id, own.plan_id),
    sold = coalesce(m.sold, billing.price_of_units(own.sold, m.quantity)), awaits_user = false,
    next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
  from billing.gateway_subscriptions w
  left join lateral billing.find_billed_price(w.gateway_plan_id, w.gateway_subscription_id) own on w.plan_id is null
  where w.user_id = p_user_id and m.id = w.id;
  perform billing.adopt_charges(p_user_id);
end $$;

create function public.end_reconciliation(
  p_run_id uuid,
  p_is_done boolean, -- whether it left nothing to do, or used up its time and got answers
  p_gateway_now bigint default null -- the time of the gateway's clock, Unix seconds; null: not known
)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  update billing.scheduled_jobs j
  set done_at = case when p_is_done then now() else j.done_at end, run_id = null, run_until = null,
    ahead = coalesce(billing.clock() - to_timestamp(p_gateway_now), j.ahead)
  where j.name = 'reconciliation' and j.run_id = p_run_id;
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
      'an item that can''t be applied, or a list that the gateway does not answer, is named there. Nothing is read with the key '
      'of another account, which does not know the newest payment.')
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
  -- More than the rules tolerate.
  select
    case when j.ahead > interval '0' then 'clock_ahead' else 'clock_behind' end, 'database', null,
    jsonb_build_object('ahead', j.ahead, 'remedy', 'The clock of the database differs from that of the gateway: periods and '
      'reads begin and end at wrong times. Set it by a time server.')
  from billing.scheduled_jobs j
  where j.ahead not between interval '-10 minutes' and interval '10 minutes'
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

revoke execute on function
  public.begin_reconciliation, public.end_reconciliation, public.get_health, public.get_schema_version
from public, anon, authenticated;

grant execute on function
  public.begin_reconciliation, public.end_reconciliation, public.get_health, public.get_schema_version
to service_role;

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
      (v_second::text,
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

-- Applies the gateway's answer about a subscription that was asked for and has no cycle yet. One that was not authorised in time
-- is cancelled, so that it never bills, and forgotten. The caller holds the locks on the user and on the subscription.
create or replace function billing.apply_request_read(
  p_subscription billing.gateway_subscriptions,
  p_entity jsonb -- the subscription at the gateway; null: the gateway has no such subscription
)
returns jsonb -- as billing.apply_subscription_read
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_status constant text := billing.json_text(p_entity -> 'status');
  v_is_recent constant boolean := coalesce(p_subscription.starts_at, p_subscription.asked_at) > v_now - interval '30 days';
  v_subscription billing.gateway_subscriptions;
  v_applied boolean;
begin
  if p_subscription.expires_at <= billing.clock()
    -- One that is unknown there may be hidden by the key of another account, and authorised.
    and coalesce(v_status in ('created', 'expired', 'cancelled'), not v_is_recent)
  then
    if v_status = 'created' then perform billing.plan(p_subscription.user_id); end if;
    -- Not one whose authorisation arrived after the answer was read.
    if billing.forget_request(p_subscription.id) then
      return jsonb_build_object('applied', v_status is not distinct from 'created', 'lacks_payment', false);
    end if;
  end if;

  v_applied := billing.apply_request_state(p_subscription, p_entity, null, true);
  perform billing.check_again(p_subscription.user_id);
  -- It may renew a payment that never came.
  if v_status = 'authenticated' and p_subscription.payment_id is not null and p_subscription.stops_at is null then
    perform billing.plan(p_subscription.user_id);
    v_applied := v_applied
      or exists (select from billing.gateway_subscriptions m where m.id = p_subscription.id and m.stops_at is not null);
  end if;
  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    noted_user_id = billing.noted_user(m, p_entity),
    next_check_at = case
      when m.period_end is not null then m.next_check_at
      when v_status is null and v_is_recent and m.expires_at <= v_now and not billing.is_known(m) then v_now + interval '6 hours'
      when coalesce(v_status, 'created') = 'created' and v_is_recent
        then least(case when m.expires_at > v_now then m.expires_at end, v_now + interval '1 hour')
      -- Also an hour before the one that it replaces is told to stop.
      when v_status = 'authenticated' and m.starts_at > v_now + interval '49 hours'
        then least(v_now + interval '1 day', m.starts_at - interval '49 hours')
      -- Authorised: the first charge follows, or its next try.
      when v_status in ('authenticated', 'pending', 'halted') and v_is_recent
        then greatest(m.starts_at, v_now + interval '1 hour')
      when not billing.is_known(m) then m.expires_at -- then it is forgotten
    end
  where m.id = p_subscription.id
  returning * into v_subscription;
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_subscription));
end $$;

-- Confirms that a claimed stop still stands, before the gateway is told what is final there: applies what was just read from
-- the gateway, plans again, and notes that the gateway may be told from now on. What was tried without an answer before, and
-- did not cancel it, is planned anew. API: service_role only.
create or replace function public.confirm_stop(
  p_id bigint, -- of the claimed row of the outbox
  p_at_cycle_end boolean, -- as the row was claimed
  p_entity text default null, -- the subscription at the gateway, JSON; null: the gateway has no such subscription
  p_invoices text default null -- its invoices, a JSON array; null: not read
)
returns jsonb -- {outcome: stands | changed | unnamed}. unnamed: a paid cycle is not known here, the invoices name it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_id constant text := (select o.payload ->> 'gateway_subscription_id' from billing.outbox o where o.id = p_id);
  v_subscription billing.gateway_subscriptions;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  v_subscription := billing.find_subscription(v_id);
  if v_subscription.id is null and v_entity ->> 'status' not in ('created', 'expired', 'cancelled') then
    -- Authorised after its request was forgotten. Its notes name the user, as they do in its events.
    v_subscription.user_id := billing.json_uuid(v_entity #> '{notes,user_id}');
    v_subscription.gateway_subscription_id := v_id;
    -- Without one nothing paid is cut, and a finding asks an admin.
    if coalesce(billing.json_integer(v_entity -> 'paid_count') > 0, v_entity ->> 'current_end' is not null)
      and not billing.is_deleted(v_subscription.user_id)
      and not exists (select from billing.find_user(v_subscription.user_id))
    then
      return jsonb_build_object('outcome', 'changed');
    end if;
  end if;
  v_email := billing.lock_user(v_subscription.user_id);
  if v_email is not null and v_entity is not null then
    if exists (select from billing.gateway_subscriptions m where m.id = v_subscription.id and billing.is_known(m)) then
      perform billing.apply_subscription_read(v_subscription.id, v_entity, false);
    else
      perform billing.apply_request_state(v_subscription, v_entity, null, false);
    end if;
    if p_invoices is null and billing.json_integer(v_entity -> 'paid_count') > (
      select count(distinct p.period_end) from public.payments p where p.gateway_subscription_id = v_id
    ) then
      return jsonb_build_object('outcome', 'unnamed');
    end if;
    update billing.outbox o
    set told_at = null
    where o.id = p_id
      and o.payload @> '{"at_cycle_end": false}'
      and v_entity ->> 'status' is distinct from 'cancelled';
    perform billing.settle_access(v_subscription.user_id, v_email);
    perform billing.release_cancellation_mail(v_subscription.user_id);
  elsif v_entity is null and v_subscription.period_end is not null then
    perform billing.apply_subscription_read(v_subscription.id, null, false);
  end if;
  -- What no plan wants any more: of a subscription that was resumed, or whose user is back.
  if v_email is not null and not exists (
    select from billing.stoppable s where s.gateway_subscription_id = v_id and s.stops_at is not null
  ) then
    update billing.outbox o set parked_at = v_now, last_error = 'withdrawn' where o.id = p_id and o.delivered_at is null;
    return jsonb_build_object('outcome', 'changed');
  end if;
  update billing.outbox o
  set told_at = v_now
  where o.id = p_id
    and o.payload @> jsonb_build_object('at_cycle_end', p_at_cycle_end)
    and o.claims[cardinality(o.claims)] is not null
    and o.next_attempt_at > v_now
    and o.delivered_at is null
    and o.parked_at is null
    and v_entity is not null; -- else nothing is told
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;

-- The newest ten minutes are left out, because lists at the gateway lag. API: service_role only.
create or replace function public.claim_statement_pages()
returns jsonb
-- {pages: [{list, pass, from, to, skip}], newest: {payment, key}}; from, to: Unix seconds. newest: the payment that the gateway
-- confirmed last; an account that does not know it is another one. Null: none
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_end constant timestamptz := date_trunc('second', v_now) - interval '10 minutes';
  v_pages jsonb;
begin
  with claimed as (
    update billing.statement_windows w
    set next_read_at = v_now + interval '5 minutes',
      window_end = coalesce(w.window_end, v_end),
      -- What is decided meanwhile does not move the pages of a window.
      read_until = case
        when w.pass = 'again' and w.window_end is null then least(
          v_end - interval '10 days',
          greatest(v_end - interval '180 days', coalesce(billing.undecided_since(w.list), v_end))
        )
        else w.read_until
      end
    where (w.list, w.pass) in (
      select d.list, d.pass
      from billing.statement_windows d
      where d.next_read_at <= v_now
      for update skip locked
    )
    returning w.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'list', c.list,
    'pass', c.pass,
    'from', floor(extract(epoch from least(c.window_end, c.read_until)))::bigint,
    'to', extract(epoch from c.window_end)::bigint,
    'skip', c.skip
  )), '[]')
  into v_pages
  from claimed c;
  return jsonb_build_object('pages', v_pages, 'newest', case when v_pages <> '[]' then (
    select jsonb_build_object('payment', p.gateway_payment_id, 'key', p.gateway_key_id)
    from public.payments p
    where p.status = 'captured' and p.confirmed_at is not null
    order by p.captured_at desc
    limit 1
  ) end);
end $$;

-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create or replace function billing.set_up_support()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
begin
  -- No login is possible: an admin gives it a password, or makes a login role for each person in it.
  begin
    if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
      create role subscriptions_support nologin;
      alter role subscriptions_support set statement_timeout = '60s';
      -- An open support action locks the customer, whose orders wait.
      alter role subscriptions_support set idle_in_transaction_session_timeout = '60s';
    end if;
  exception
    -- Roles belong to the whole server: another of its databases was set up at the same time.
    when duplicate_object or unique_violation then
      null;
  end;
  grant usage on schema billing, public to subscriptions_support;
  foreach v_name in array billing.support_tables() loop
    execute format('grant select on %s to subscriptions_support', v_name);
    if (select c.relkind = 'r' from pg_catalog.pg_class c where c.oid = v_name::regclass)
      and not billing.has_policy(v_name::regclass, 'Support reads all rows')
    then
      execute format(
        'create policy "Support reads all rows" on %s for select to subscriptions_support using (true)', v_name
      );
    end if;
  end loop;
  -- The functions that the views call: those that write nothing.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.provolatile <> 'v'
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, at_period_end, corrects_seller, reason)
  on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
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

create or replace view billing.outbox_stuck with (security_invoker = true) as
select
  billing.user_of_message(o) as user_id,
  coalesce(o.parked_at, least(o.next_attempt_at, o.queued_at)) as since,
  o.id, o.key, o.destination,
  case when o.parked_at is null then 'due' else 'parked' end as state,
  o.attempts, o.last_error, p.at as paused_until
from billing.outbox o
left join billing.marks p on p.kind = 'pause' and p.key = o.destination
where o.delivered_at is null
  and o.parked_at is null
  and o.next_attempt_at < (select billing.clock()) - interval '15 minutes'
  -- It is tried until the gateway has it.
  or o.delivered_at is null
  and o.parked_at is null
  and o.destination = 'gateway'
  and o.kind = 'cancel-subscription'
  and o.queued_at < (select billing.clock()) - interval '48 hours'
  or o.delivered_at is null
  and o.parked_at is not null
  and o.last_error is distinct from 'withdrawn'
  and (
    o.kind <> 'refund'
    or not exists (
      select from billing.refunds r
      where r.gateway_payment_id = o.payload ->> 'gateway_payment_id'
        and r.support_action_id = billing.number_of(o.payload ->> 'support_action')
    )
    and (
      not billing.is_refused(o)
      or billing.is_refund_owed(o.payload ->> 'gateway_payment_id', (o.payload ->> 'amount')::bigint, o.parked_at)
    )
  );

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
  'Switch the webhook endpoint on at the gateway; the next webhook ends the finding, or a note about "webhooks".'
from billing.marks a
where a.kind = 'missed_webhook'
  and a.at > billing.clock() - interval '30 days'
  and a.at > coalesce((select max(e.received_at) from billing.gateway_events e where e.deliveries > 0), '-infinity')
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

-- Issues the receipt of a payment. The caller holds the lock of the numbers.
create or replace function billing.issue_receipt(
  p_payment public.payments,
  p_settings billing.settings,
  p_replaced public.receipts default null -- that the new receipt replaces
)
returns public.receipts language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := coalesce(
    -- Of what is replaced the rest that no note took before.
    (p_replaced.totals ->> 'total')::bigint - billing.noted_total(p_replaced.id),
    least(coalesce(p_payment.paid_amount, p_payment.amount), p_payment.amount)
  );
  v_buyer constant jsonb := case
    when p_payment.user_id is null then coalesce(
      p_replaced.buyer, (select d.buyer from billing.documents_due d where d.payment_id = p_payment.id), billing.buyer_of(null)
    )
    else billing.buyer_of(p_payment.user_id)
  end;
  v_place constant text := case
    when p_settings.seller_gstin is not null then coalesce(v_buyer ->> 'state', p_settings.seller_state)
  end;
  v_heads constant jsonb := billing.tax_heads(p_settings, v_place);
  v_item constant text := coalesce(
    p_replaced.lines #>> '{0,item}', (select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'Payment'
  );
  v_rupees bigint;
  v_document public.receipts;
begin
  v_rupees := case
    when p_payment.currency = 'INR' then v_total
    -- What the gateway booked is the whole payment.
    else round(p_payment.base_amount::numeric * v_total / nullif(coalesce(p_payment.paid_amount, p_payment.amount), 0))
  end;
  v_document.kind := 'receipt';
  v_document.title := case when p_settings.seller_gstin is null then 'Receipt' else 'Tax invoice' end;
  v_document.issued_at := case when p_replaced.id is null then p_payment.confirmed_at else billing.clock() end;
  v_document.reissue_of := p_replaced.id;
  v_document.payment_id := p_payment.id;
  v_document.user_id := p_payment.user_id;
  v_document.place_of_supply := v_place;
  v_document.currency := p_payment.currency;
  v_document.seller := jsonb_build_object(
    'name', p_settings.seller_name, 'address', p_settings.seller_address, 'gstin', p_settings.seller_gstin,
    'state', p_settings.seller_state
  ) || case when v_place = '96' and p_settings.export_lut is not null then jsonb_build_object('lut', p_settings.export_lut) else '{}' end;
  v_document.buyer := v_buyer;
  v_document.totals := billing.split_tax(v_total, v_heads);
  v_document.category := case
    when p_settings.seller_gstin is null then 'none'
    when v_place = '96' then case when v_heads = '[]' then 'expwop' else 'expwp' end
    when v_buyer ->> 'gstin' is not null then 'b2b'
    when v_place <> p_settings.seller_state and v_rupees > 10000000 then 'b2cl'
    else 'b2cs'
  end;
  v_document.lines := jsonb_build_array(jsonb_build_object(
    'description', concat_ws(
      ', ', v_item,
      billing.document_day(billing.day_in_india(p_payment.period_start)) || ' – '
        || billing.document_day(billing.day_in_india(p_payment.period_end))
    ),
    'item', v_item, 'sac', p_settings.sac, 'quantity', 1, 'amount', v_total
  ));
  if p_payment.currency <> 'INR' and v_rupees is not null then
    v_document.rupees := billing.split_tax(v_rupees, v_heads) || jsonb_build_object(
      'rate', trim_scale(round(
        v_rupees / 100.0 / (nullif(v_total, 0) / 10::numeric ^ billing.minor_units(p_payment.currency)), 10
      ))::text,
      'source', 'gateway'
    );
  end if;
  return billing.issue_document(v_document, p_settings.receipt_prefix);
end $$;

-- Returns what the notes of a dispute took, in minor units: it may take more later.
create function billing.noted_of_dispute(
  p_dispute_id text,
  p_until uuid default null -- the last one of them that counts. Null: all do
)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select sum((n.totals ->> 'total')::bigint)
    from public.receipts n
    left join public.receipts u on u.id = p_until
    where n.dispute_id = p_dispute_id and (u.id is null or (n.issued_at, n.number, n.id) <= (u.issued_at, u.number, u.id))
  ), 0);
end $$;

create or replace view billing.notes_above with (security_invoker = true) as
select
  n.*, exists (
    select from billing.settled_documents s where s.document_number = n.document_number and s.settled_at >= n.at
  ) as is_settled
from (
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint as excess, f.failed_at as at,
    'note_of_failed_refund' as problem, 'The refund failed afterwards: the note stands.' as detail
  from public.receipts r
  join billing.refunds f on f.refund_id = r.refund_id
  where f.status = 'failed'
  union all
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint, coalesce(d.event_at, d.arrived_at),
    'note_of_won_dispute', 'The dispute was won afterwards: the note stands.'
  from public.receipts r
  join billing.disputes d on d.dispute_id = r.dispute_id
  where d.status in ('won', 'closed')
  union all
  select
    r.document_number, r.payment_id, least((r.totals ->> 'total')::bigint, billing.noted_of_dispute(r.dispute_id, r.id) - l.amount), l.at,
    'note_above_dispute', 'The dispute took less afterwards: the note stands.'
  from public.receipts r
  join billing.lost_disputes l on l.dispute_id = r.dispute_id
  where billing.noted_of_dispute(r.dispute_id, r.id) > l.amount
) n;

-- Returns the note of a refund: its own, else the one that stands above what its refund or dispute took, and is counted for this.
create function billing.note_of_refund(p_refund_id text, p_payment_id uuid)
returns text -- the number; null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select r.document_number from public.receipts r where r.refund_id = p_refund_id),
    (
      select n.document_number
      from billing.notes_above n
      join billing.refunds f on f.refund_id = p_refund_id and f.status = 'processed'
      where n.payment_id = p_payment_id and not n.is_settled
      order by abs(n.excess - f.amount), n.document_number
      limit 1
    )
  );
end $$;

-- Returns the day whose year limits how long a tax is adjusted: that of the first receipt, not of one that replaces it.
create function billing.supply_day(p_payment_id uuid)
returns date language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select r.document_date
    from public.receipts r
    where r.payment_id = p_payment_id and r.kind = 'receipt' and r.reissue_of is null
  );
end $$;

-- Issues a credit note of at most the rest of a receipt. The caller holds the lock of the numbers.
create or replace function billing.issue_note(
  p_receipt public.receipts,
  p_settings billing.settings,
  p_amount bigint, -- minor units
  p_refund_id text,
  p_dispute_id text
)
returns public.receipts -- all null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := least(p_amount, (p_receipt.totals ->> 'total')::bigint - billing.noted_total(p_receipt.id));
  v_is_commercial constant boolean := p_receipt.seller ->> 'gstin' is not null and (
    billing.day_in_india(billing.clock()) > billing.last_note_day(billing.supply_day(p_receipt.payment_id))
    or p_dispute_id is not null and not p_settings.dispute_notes
  );
  v_noted jsonb[];
  v_noted_rupees jsonb[];
  v_rupees bigint;
  v_note public.receipts := p_receipt;
begin
  if v_total <= 0 then return null; end if;
  select array_agg(n.totals order by n.issued_at, n.number), array_agg(n.rupees order by n.issued_at, n.number)
  into v_noted, v_noted_rupees
  from public.receipts n
  where n.receipt_id = p_receipt.id and n.title = 'Credit note';
  v_note.kind := 'credit_note';
  v_note.title := case when v_is_commercial then 'Credit note without GST' else 'Credit note' end;
  v_note.issued_at := billing.clock();
  v_note.receipt_id := p_receipt.id;
  v_note.reissue_of := null;
  v_note.refund_id := p_refund_id;
  v_note.dispute_id := p_dispute_id;
  v_note.lines := jsonb_build_array((p_receipt.lines -> 0) || jsonb_build_object(
    'description', format(
      '%s, %s %s of %s',
      case when p_refund_id is not null then 'Refund' when p_dispute_id is not null then 'Lost dispute' else 'Correction' end,
      lower(p_receipt.title), p_receipt.document_number, billing.document_day(p_receipt.document_date)
    ),
    'amount', v_total
  ));
  if v_is_commercial then
    v_note.category := 'none';
    v_note.totals := billing.split_tax(v_total, '[]');
    v_note.rupees := null;
  else
    v_note.totals := billing.split_note(p_receipt.totals, v_noted, v_total);
    if p_receipt.rupees is not null then
      v_rupees := round(
        (p_receipt.rupees ->> 'total')::numeric
          * (v_total + (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted) n)) / (p_receipt.totals ->> 'total')::bigint
      ) - (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted_rupees) n);
      v_note.rupees := billing.split_note(p_receipt.rupees, v_noted_rupees, v_rupees)
        || jsonb_build_object('rate', p_receipt.rupees -> 'rate', 'source', p_receipt.rupees -> 'source');
    end if;
  end if;
  return billing.issue_document(
    v_note, case when v_is_commercial then p_settings.commercial_note_prefix else p_settings.credit_note_prefix end
  );
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and for what each lost dispute took.
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
    select null, l.dispute_id, l.amount - billing.noted_of_dispute(l.dispute_id), l.at
    from billing.lost_disputes l
    where l.gateway_payment_id = p_payment.gateway_payment_id
    order by at, refund_id, dispute_id
  loop
    -- A refund that repeats a failed one has the note of that one.
    perform billing.issue_note(
      v_receipt, p_settings, least(v_given.amount, -billing.noted_excess(p_payment.id)), v_given.refund_id, v_given.dispute_id
    );
  end loop;
  return null;
end $$;

-- Returns the settings with the seller of a receipt: its registration, state, letter and rate are those of the day of the supply.
create function billing.settings_of(p_receipt public.receipts, p_settings billing.settings)
returns billing.settings language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_taxes constant jsonb := p_receipt.totals -> 'taxes';
begin
  p_settings.seller_name := p_receipt.seller ->> 'name';
  p_settings.seller_address := p_receipt.seller ->> 'address';
  p_settings.seller_gstin := p_receipt.seller ->> 'gstin';
  p_settings.seller_state := p_receipt.seller ->> 'state';
  p_settings.sac := coalesce(p_receipt.lines #>> '{0,sac}', p_settings.sac);
  p_settings.tax_name := coalesce(v_taxes #>> '{0,name}', p_settings.tax_name);
  -- A tax invoice without a tax names no rate, and a sale inside India no letter: those of today.
  if p_settings.seller_gstin is null or v_taxes <> '[]' then
    p_settings.tax_rate := (select sum((t ->> 'rate')::numeric) from jsonb_array_elements(v_taxes) t);
  end if;
  if p_receipt.place_of_supply = '96' then p_settings.export_lut := p_receipt.seller ->> 'lut'; end if;
  return p_settings;
end $$;

-- Replaces a receipt: a note of its rest, and a new one with the buyer's details of today, of a deleted user with those of then.
-- The seller stays, unless the settings of then had a mistake.
create or replace function billing.perform_reissue(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_settings constant billing.settings := (select s from billing.settings s where s.is_only);
  v_receipt public.receipts;
  v_payment public.payments;
  v_note public.receipts;
  v_new public.receipts;
begin
  perform billing.lock_numbers();
  select * into v_receipt from public.receipts r where r.document_number = p_action.reference and r.kind = 'receipt';
  perform billing.require(
    v_receipt.id is not null and coalesce(v_receipt.user_id = p_action.user_id, p_action.user_id is null), 'PS404',
    format('reissue needs reference: no receipt "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    not exists (select from public.receipts r where r.reissue_of = v_receipt.id), 'PS409',
    format('receipt %s was reissued before', v_receipt.document_number)
  );
  perform billing.require(
    billing.noted_total(v_receipt.id) < (v_receipt.totals ->> 'total')::bigint, 'PS409',
    format('receipt %s was cancelled in full', v_receipt.document_number)
  );
  perform billing.require(
    v_receipt.seller ->> 'gstin' is null
      or billing.day_in_india(billing.clock()) <= billing.last_note_day(billing.supply_day(v_receipt.payment_id)),
    'PS409', format('receipt %s is too old: its tax cannot be adjusted any more', v_receipt.document_number)
  );
  select * into v_payment from public.payments p where p.id = v_receipt.payment_id;
  v_new := billing.issue_receipt(
    v_payment, case when p_action.corrects_seller then v_settings else billing.settings_of(v_receipt, v_settings) end, v_receipt
  );
  v_note := billing.issue_note(v_receipt, v_settings, (v_receipt.totals ->> 'total')::bigint, null, null);
  p_action.user_id := v_receipt.user_id;
  p_action.result := format(
    '%s cancels %s, and %s replaces it.', v_note.document_number, v_receipt.document_number, v_new.document_number
  );
  return p_action;
end $$;

-- Returns what a line has beyond the price of its payment: the fee that the customer paid on top, below zero where refunds reach
-- it. No document has it.
create function billing.fee_on_top(p_line billing.settlement_lines, p_payment public.payments)
returns bigint -- paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_line.type
    when 'payment' then p_line.amount - round(p_line.amount::numeric * p_payment.amount / p_payment.paid_amount)
    when 'refund' then coalesce((
      select round(
        p_line.amount::numeric
          * (greatest(f.before - p_payment.amount, 0) - greatest(f.before + f.amount - p_payment.amount, 0)) / f.amount
      )
      from (
        select r.refund_id, r.amount, sum(r.amount) over (order by r.created_at, r.refund_id) - r.amount as before
        from billing.refunds r
        where r.gateway_payment_id = p_payment.gateway_payment_id and r.status = 'processed'
      ) f
      where f.refund_id = p_line.entity_id
    ), 0)
    else 0
  end;
end $$;

create or replace view billing.bank_lines with (security_invoker = true) as
select
  s.settlement_id, s.utr, billing.day_in_india(s.created_at) as settled_on, s.status, s.amount, sums.payments, sums.fees,
  sums.gst_on_fees, sums.refunds, sums.adjustments, sums.transfers, sums.other, s.fees as settlement_fees,
  s.amount + s.fees - sums.net as difference, sums.fees_from_credits, sums.lines, s.lines_complete_at,
  sums.fees_on_top
from billing.settlements s
cross join lateral (
  select
    coalesce(sum(l.credit - l.debit), 0)::bigint as net,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (where l.type = 'payment'), 0)::bigint as payments,
    coalesce(sum(l.debit - l.credit - taken.fee) filter (where l.type = 'refund'), 0)::bigint as refunds,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (where l.type = 'adjustment'), 0)::bigint as adjustments,
    coalesce(sum(l.debit - l.credit - taken.fee) filter (where l.type = 'transfer'), 0)::bigint as transfers,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (
      where l.type not in ('payment', 'refund', 'adjustment', 'transfer')
    ), 0)::bigint as other,
    coalesce(sum(taken.fee - taken.tax), 0)::bigint as fees,
    coalesce(sum(taken.tax), 0)::bigint as gst_on_fees,
    coalesce(sum(l.fee - taken.fee), 0)::bigint as fees_from_credits,
    coalesce(sum(case when p.paid_amount > p.amount then billing.fee_on_top(l, p) end), 0)::bigint as fees_on_top,
    count(*) as lines
  from billing.settlement_lines l
  left join public.payments p on p.gateway_payment_id = coalesce(l.payment_id, l.entity_id)
  -- A fee that credits paid was not taken from the line.
  cross join lateral (select l.fee > 0 and greatest(l.credit, l.debit) = l.amount as is_from_credits) paid
  cross join lateral (
    select
      case when paid.is_from_credits then 0 else l.fee end as fee,
      case when paid.is_from_credits then 0 else l.tax end as tax
  ) taken
  where l.settlement_id = s.settlement_id
) sums;

create or replace view billing.settled_payments with (security_invoker = true) as
select
  entity.kind, entity.entity_id, entity.payment_id, entity.at, entity.amount, entity.currency, entity.document_number,
  l.fee - l.tax as fee, l.tax as gst_on_fee, l.settlement_id, l.utr, billing.day_in_india(l.created_at) as settled_on,
  case when l.status = 'processed' then 'settled' else 'waiting' end as state
from (
  select
    'payment' as kind, p.gateway_payment_id as entity_id, p.id as payment_id, p.captured_at as at,
    coalesce(p.paid_amount, p.amount) as amount, p.currency, r.document_number
  from public.payments p
  left join billing.standing_receipts r on r.payment_id = p.id
  where p.status = 'captured' and p.gateway_payment_id is not null
  union all
  select 'refund', f.refund_id, p.id, f.created_at, f.amount, p.currency, billing.note_of_refund(f.refund_id, p.id)
  from billing.refunds f
  left join public.payments p on p.gateway_payment_id = f.gateway_payment_id
  where f.status = 'processed'
) entity
left join lateral (
  select v.* from billing.standing_lines v where v.entity_id = entity.entity_id
) l on l.type = entity.kind;

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

comment on column billing.bank_lines.fees_on_top is 'What customers paid beyond the price, for the fee: in payments and refunds, and in no document.';

comment on column billing.support_actions.action is 'grant (tier, until, perhaps entitlements), revoke_grant (reference: id of the grant), end_access (reference: payment), refund (reference: payment, perhaps amount), cancel (perhaps at_period_end) and resume all that the customer pays for, reissue (reference: number of a receipt, perhaps corrects_seller), requeue_mail (reference: id of the message), replay_event and ignore_event (reference: body_sha256 of the webhook), reconcile_now (reference: order, payment or subscription; without one all of the customer), note.';

comment on column billing.support_actions.corrects_seller is 'Of a reissue: true: the settings had a mistake, and those of today are right; false or null: they were right then.';

comment on function public.end_reconciliation(pg_catalog.uuid,boolean,bigint) is 'Ends a reconciliation, and stores its time if it was complete.';

comment on view billing.outbox_stuck is 'Side effects that are due for more than 15 minutes (the destination is not configured, or paused until paused_until), stops that the gateway did not get for 48 hours, or parked, with the cause in last_error. billing.requeue(id) retries one. A refund that the gateway made is not listed, nor one that was refused if the payment was refunded since, or has a newer support action note.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "public"."end_reconciliation"(uuid, boolean, bigint) FROM PUBLIC, "anon", "authenticated";

REVOKE ALL ON FUNCTION "billing"."announce_edit"(billing.gateway_subscriptions, public.subscriptions, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_edit"(billing.gateway_subscriptions, public.subscriptions, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."fee_on_top"(billing.settlement_lines, public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."fee_on_top"(billing.settlement_lines, public.payments) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_in_flight"(billing.gateway_subscriptions) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_in_flight"(billing.gateway_subscriptions) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."last_act_at"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."last_act_at"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."made_at"(billing.gateway_subscriptions) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."made_at"(billing.gateway_subscriptions) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."may_try"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."may_try"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."merge_gateway_plan"(billing.gateway_subscriptions, text, jsonb, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."merge_gateway_plan"(billing.gateway_subscriptions, text, jsonb, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."note_of_refund"(text, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_of_refund"(text, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."noted_of_dispute"(text, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."noted_of_dispute"(text, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."offered_plan"(public.plans, uuid, billing.commitment, uuid[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."offered_plan"(public.plans, uuid, billing.commitment, uuid[]) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."price_of_units"(billing.price, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."price_of_units"(billing.price, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."quantity_of"(jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."quantity_of"(jsonb) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refuse_second_owner"(uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refuse_second_owner"(uuid, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settings_of"(public.receipts, billing.settings) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settings_of"(public.receipts, billing.settings) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."supply_day"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."supply_day"(uuid) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."end_reconciliation"(uuid, boolean, bigint) TO "service_role";

revoke execute on all functions in schema billing from public;

-- Disputes that took more after their note get a note of the rest.
insert into billing.documents_due (payment_id, confirmed_at)
select p.id, p.confirmed_at
from billing.lost_disputes l
join public.payments p using (gateway_payment_id)
where p.confirmed_at is not null
  and exists (select from public.receipts n where n.dispute_id = l.dispute_id)
  and l.amount > billing.noted_of_dispute(l.dispute_id)
on conflict (payment_id) do nothing;
