-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.switch_events(boolean);

drop function billing.plan_change(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text);

drop function billing.undo_change(billing.change,billing.commitment);

drop function billing.switch_documents(boolean);

drop type billing.change;

CREATE TYPE "billing"."change" AS (
  "outcome"        text,
  "reason"         text,
  "plan"           public.plans,
  "from_tier"      text,
  "from_price"     text,
  "order_start"    text,
  "is_billed"      boolean,
  "replaces"       text,
  "renews"         uuid,
  "starts_at"      timestamp WITH time zone,
  "ends_at"        timestamp WITH time zone,
  "credit"         bigint,
  "amount_due"     bigint,
  "due_at"         timestamp WITH time zone,
  "next_charge_at" timestamp WITH time zone,
  "next_amount"    bigint
);

-- Sets the terms of a change that withdraws the one that waits: what the user pays for goes on.
create function billing.undo_change(p_change billing.change, p_from billing.commitment)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  p_change.outcome := 'undo';
  p_change.is_billed := false;
  p_change.credit := 0;
  p_change.amount_due := 0;
  p_change.starts_at := p_from.ends_at;
  p_change.ends_at := billing.add_months(p_from.ends_at, billing.sold_months((p_change.plan).duration_months));
  -- An earlier cancellation counts again.
  p_change.next_charge_at := (
    select p_from.ends_at
    from billing.gateway_subscriptions m
    where m.user_id = p_from.user_id
      and m.gateway_subscription_id = p_from.gateway_subscription_id
      and billing.cancelled_by_user_at(m.user_id, m.asked_at) is null
      and billing.has_next_charge(m)
  );
  p_change.next_amount := coalesce((p_from.sold).amount, (p_change.plan).price);
  if p_from.undo_until is null then
    -- What runs ends, so what follows it must start.
    p_change.outcome := 'too_late';
    p_change.starts_at := (p_from.next).starts_at;
  end if;
  return p_change;
end $$;

create function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text -- the lookup key of the price; null: the default price of the tier
)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_months constant integer := billing.sold_months(v_plan.duration_months);
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
  v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
  v_change.amount_due := v_plan.price - v_change.credit;
  v_change.next_charge_at := case
    when v_change.is_billed then case p_when when 'now' then v_change.ends_at else v_change.starts_at end
  end;
  v_change.next_amount := v_plan.price;
  return v_change;
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
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  v_change constant billing.change := billing.plan_change(p_user_id, p_tier, p_when, p_price);
begin
  if v_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', v_change.outcome,
      'reason', v_change.reason,
      'possible_from', case when v_change.outcome = 'too_late' then billing.iso_time(v_change.starts_at) end
    ));
  end if;
  return jsonb_build_object(
    'outcome', v_change.outcome, 'order_start', v_change.order_start, 'is_billed', v_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', v_change.amount_due, 'due_at', billing.iso_time(v_change.due_at), 'credit', v_change.credit,
      'currency', (v_change.plan).currency,
      'starts_at', billing.iso_time(v_change.starts_at),
      'ends_at', billing.iso_time(v_change.ends_at),
      'from', v_change.from_tier,
      'to', (v_change.plan).tier,
      'from_price', v_change.from_price,
      'to_price', coalesce((v_change.plan).lookup_key, (v_change.plan).tier),
      'renews', v_change.is_billed or v_change.next_charge_at is not null,
      'next_charge', case
        when v_change.next_charge_at is not null
          then jsonb_build_object('at', billing.iso_time(v_change.next_charge_at), 'amount', v_change.next_amount)
      end
    )
  );
end $$;

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
  if v_change.outcome <> 'change' then return public.preview_change(p_user_id, p_tier, p_when, p_price); end if;
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

-- Switches the service's triggers of a name, and those with it and _insert: switched off they cost nothing.
create function billing.switch_triggers(p_name text, p_are_on boolean)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_trigger record;
begin
  for v_trigger in
    select t.tgrelid::regclass as relation, t.tgname as name
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_proc f on f.oid = t.tgfoid and f.pronamespace = 'billing'::regnamespace
    where t.tgname in (p_name, p_name || '_insert')
  loop
    execute format(
      'alter table %s %s trigger %I', v_trigger.relation, case when p_are_on then 'enable' else 'disable' end, v_trigger.name
    );
  end loop;
end $$;

revoke execute on function billing.switch_triggers(text, boolean) from service_role;

create or replace function billing.switch_events_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_triggers('note_event', new.events);
  return null;
end $$;

-- From then on, also for payments that were confirmed before the setting was made: the sweep lists those.
create or replace function billing.switch_documents_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_triggers('note_document', new.receipts_from is not null);
  delete from billing.documents_due d where d.confirmed_at < new.receipts_from or new.receipts_from is null;
  -- A payment is confirmed at most 120 hours after its verification.
  update billing.scheduled_jobs j set listed_until = new.receipts_from - interval '6 days' where j.name = 'sweep';
  return null;
end $$;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."plan_change"(uuid, text, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."plan_change"(uuid, text, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."switch_triggers"(text, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) TO "service_role";

revoke execute on all functions in schema billing from public;
