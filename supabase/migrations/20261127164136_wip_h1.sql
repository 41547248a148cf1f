-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

ALTER TABLE "billing"."statement_windows"
  ADD COLUMN "page" text;

ALTER TABLE "billing"."statement_windows"
  ADD COLUMN "repeated_at" timestamp WITH time zone;

REVOKE ALL ON FUNCTION "public"."feature_limit"(text) FROM PUBLIC, "service_role";

REVOKE ALL ON FUNCTION "public"."has_feature"(text) FROM PUBLIC, "service_role";

REVOKE ALL ON FUNCTION "public"."has_tier"(text) FROM PUBLIC, "anon", "service_role";

REVOKE ALL ON FUNCTION "public"."has_tier_at_least"(text) FROM PUBLIC, "service_role";

REVOKE ALL ON FUNCTION "billing"."own_access"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."own_access"() TO "anon", "authenticated";

GRANT EXECUTE ON FUNCTION "billing"."own_access"() TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."feature_limit"(text) TO "anon", "authenticated";

GRANT EXECUTE ON FUNCTION "public"."has_feature"(text) TO "anon", "authenticated";

GRANT EXECUTE ON FUNCTION "public"."has_tier"(text) TO "authenticated";

GRANT EXECUTE ON FUNCTION "public"."has_tier_at_least"(text) TO "anon", "authenticated";

-- Creates the profiles of the next 1,000 users who signed up before the installation. The migration does not: it would lock
-- auth.users for minutes. Security definer: service_role may not read auth.users.
create or replace function billing.create_profiles()
returns integer -- the number of users; 0: no user is left
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_until uuid := (select j.profiled_until from billing.scheduled_jobs j where j.name = 'sweep');
  v_users uuid[];
begin
  if v_until is null then return 0; end if;
  v_users := array(select u.id from auth.users u where u.id > v_until order by u.id limit 1000 for key share);
  -- No page of the app changes, so none is revalidated.
  perform billing.begin_request('installation', null);
  insert into billing.profiles (user_id, display_name, username)
  select u.id, billing.default_display_name(u.raw_user_meta_data), billing.default_username(u.email)
  from auth.users u
  where u.id = any (v_users)
  on conflict (user_id) do nothing;
  update billing.scheduled_jobs j
  set profiled_until = v_users[cardinality(v_users)]
  where j.name = 'sweep';
  return cardinality(v_users);
end $$;

create or replace function public.has_tier(p_tier text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return public.current_tier() = p_tier; end $$;

-- The access of the signed-in user; all null without a session. In plpgsql: a policy may ask for each row. Security definer:
-- the plan of the tier may be off sale, and policies hide it from the user then.
create or replace function billing.own_access(
  out tier text,
  out entitlements jsonb,
  out tiers text[] -- its own, free, and those of the same rank or a lower one
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  select own.tier, own.entitlements, array(
    select p.tier from public.plans p where billing.rank_of(p) <= own.rank union values (own.tier), ('free')
  )
  into own_access.tier, own_access.entitlements, own_access.tiers
  from (select auth.uid()) me (user_id)
  left join billing.access a on a.user_id = me.user_id
  -- A user without a profile.
  left join public.plans free on free.tier = 'free' and free.lookup_key is null and a.user_id is null
  cross join lateral (
    select
      coalesce(a.tier, 'free') as tier,
      coalesce(a.entitlements, free.entitlements, '{}') as entitlements,
      coalesce(a.rank, billing.rank_of(free)) as rank
  ) own
  where me.user_id is not null;
end $$;

create function public.current_tiers()
returns text[] language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select a.tiers from billing.own_access() a), '{}');

create or replace function public.has_tier_at_least(p_tier text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select p_tier = any (a.tiers) from billing.own_access() a), false);

revoke execute on function public.has_feature, public.feature_limit, public.has_tier_at_least, public.current_tiers
from public, service_role;

grant execute on function public.has_feature, public.feature_limit, public.has_tier_at_least, public.current_tiers
to anon, authenticated;

-- Returns whether a refund that was asked for here was not made: the gateway refused it, or it was not sent.
create or replace function billing.is_refused(p_message billing.outbox)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return p_message.delivered_at is null
    and p_message.parked_at is not null
    and (
      -- An earlier try without an answer may have made it.
      p_message.attempts <= 1
      or p_message.last_error = 'no longer refundable'
    );
end $$;

-- Merges whether a subscription was activated or cancelled. Of an activation and a cancellation in the same second the
-- cancellation wins. So the order of arrival does not matter.
create or replace function billing.merge_activation(
  p_subscription billing.gateway_subscriptions,
  p_event text, -- activated or cancelled
  p_start timestamptz, -- of the cycle; null, here and below: the event has none
  p_end timestamptz,
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
  v_happened_at constant timestamptz := billing.happened_at(p_created_at, p_arrived_at);
begin
  if (p_created_at, v_cancelled) > (v_before.status_event_at, v_before.status = 'cancelled') is not false then
    p_subscription.status := case when v_cancelled then 'cancelled' else 'active' end;
    p_subscription.status_event_at := coalesce(p_created_at, v_before.status_event_at);
    if v_cancelled then
      p_subscription.cancelled_at := v_happened_at;
      p_subscription.cancelled_arrived_at := p_arrived_at;
    end if;
  end if;
  if v_cancelled then return p_subscription; end if;
  if p_created_at > v_before.activated_event_at is not false then
    p_subscription.activated_at := case
      when num_nulls(v_before.activated_event_at, p_created_at) > 0 then greatest(v_before.activated_at, v_happened_at)
      else v_happened_at
    end;
    p_subscription.activated_event_at := coalesce(p_created_at, v_before.activated_event_at);
  end if;
  p_subscription.first_activated_at := least(v_before.first_activated_at, v_happened_at);
  if p_end is not null and (
    v_at < v_before.first_period_event_at
    or v_at = v_before.first_period_event_at
      and (p_end, p_start) > (v_before.first_period_end, v_before.first_period_start)
  ) is not false then
    p_subscription.first_period_start := p_start;
    p_subscription.first_period_end := p_end;
    p_subscription.first_period_event_at := v_at;
  end if;
  return p_subscription;
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

  -- A repeated cancellation for the period's end writes nothing.
  if not (
    p_at_period_end
    and (v_subscription.cancel_at_period_end or not v_is_active)
    and not exists (
      select from billing.stoppable s
      where s.user_id = p_user_id and s.is_open and (s.stops_at is null or not v_is_active and s.is_wish is null)
    )
  ) then
    -- Not before what others wrote while this transaction waited for the lock.
    insert into billing.wishes (user_id, at_period_end, at)
    values (p_user_id, p_at_period_end, greatest(
      billing.clock(),
      (select max(greatest(m.asked_at, m.arrived_at)) from billing.gateway_subscriptions m where m.user_id = p_user_id),
      (select max(o.created_at) from billing.subscription_orders o where o.user_id = p_user_id),
      (select max(p.since) from public.payments p where p.user_id = p_user_id)
    ))
    returning * into v_wish;
    if not p_at_period_end then
      perform billing.end_sources(p_user_id);
    elsif v_is_active then
      perform billing.mark_sources(p_user_id, true);
    end if;
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_cancellation(v_wish, v_email, v_subscription);
  end if;
  return jsonb_build_object('outcome', 'cancelled', 'subscription', public.get_subscription(p_user_id) -> 'subscription');
end $$;

-- Contract: POST /api/subscriptions/resume.
create or replace function public.resume_subscription(p_user_id uuid)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
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
      and case
        when s.is_open then s.stops_at is not null
        -- The gateway has confirmed what the customer cancelled last.
        else s.is_wish and (s.mirrored).cancelled_arrived_at >= (
          select w.at from billing.ends_wished w where w.user_id = p_user_id
        )
      end
      and billing.is_told(s.gateway_subscription_id)
      and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;
  update billing.wishes w
  set withdrawn_at = greatest(billing.clock(), w.at)
  where w.user_id = p_user_id and w.at_period_end and w.withdrawn_at is null;
  if found or v_subscription.cancel_at_period_end then
    perform billing.withdraw_mails(array(
      select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    ));
    perform billing.mark_sources(p_user_id, false);
    perform billing.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object('outcome', 'resumed', 'subscription', public.get_subscription(p_user_id) -> 'subscription');
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
  elsif v_payment.gateway_payment_id is distinct from p_payment_id and v_payment.status <> 'captured' then
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

  if v_payment.verified_at is null and v_payment.gateway_payment_id = p_payment_id then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act.
    update public.payments p
    set gateway_signature = p_signature,
      verified_at = billing.clock(),
      since = greatest(
        billing.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      )
    where p.id = v_payment.id;
    perform billing.settle_payment(v_payment, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end)
  );
end $$;

-- The signature proves that order and payment belong together. Contract: POST /api/payments/return.
create or replace function public.verify_returned_payment(
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb -- as verify_payment
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  return public.verify_payment(
    (select p.user_id from public.payments p where p.gateway_order_id = p_order_id), p_order_id, p_payment_id, p_signature
  );
end $$;

-- Each connection plans it once, and not again at its first five calls.
create or replace function public.get_subscription(p_user_id uuid)
returns json -- {subscription, currentTier, entitlements, payments, billing}: the answer's body
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return row_to_json(answer)
  from (
    select
      (
        select record
        from (
          select
            s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
            s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
            billing.price_answer(s.tier, billing.price_shown(s)) as price, row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(a.tier, 'free') as "currentTier",
      coalesce(a.entitlements, (
        select p.entitlements from public.plans p where p.tier = 'free' and p.lookup_key is null
      ), '{}') as entitlements,
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.price_key,
            -- As billing.interval_answer, which would be called twice for each payment: a tenth of the read.
            case when p.duration_months % 12 = 0 then 'year' when p.duration_months is not null then 'month' end as "interval",
            case when p.duration_months % 12 = 0 then p.duration_months / 12 else p.duration_months end as interval_count,
            p.gateway_order_id, p.gateway_payment_id, p.gateway_signature, p.gateway_subscription_id, p.meta, p.captured_at, p.confirmed_at,
            p.fulfilled_at, p.period_start, p.period_end, p.paid_amount, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id and p.extra_of is null
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments,
      (
        select record
        from (
          select
            m.gateway_subscription_id, coalesce(m.gateway_status, m.status, 'active') as status,
            next.charge_at as next_charge_at,
            coalesce(m.gateway_status in ('pending', 'halted'), false) as payment_attention,
            m.short_url as manage_url,
            billing.price_answer((select p.tier from public.plans p where p.id = m.plan_id), m.sold) as price,
            billing.next_change(p_user_id) as next
          from billing.gateway_subscriptions m
          cross join lateral (
            select case
              when m.stops_at is null
                -- Once halted, the gateway charges again only after the customer changed the method of payment.
                and coalesce(m.gateway_status, 'active') not in ('paused', 'halted')
                then case when m.gateway_status is null then m.period_end else m.charge_at end
            end as charge_at
          ) next
          where m.user_id = p_user_id
            and m.gateway_subscription_id <> ''
            -- An imported one is billed, too, before its first event.
            and num_nonnulls(m.arrived_at, m.written_at) > 0
            and billing.is_billed(m)
            and m.gateway_status is distinct from 'created'
          -- What is charged next; else the running one before one that starts later; of two the one that would rule.
          order by
            next.charge_at > billing.clock() desc nulls last,
            next.charge_at,
            m.period_end > billing.clock() desc nulls last,
            billing.since_of(m) desc,
            m.gateway_subscription_id desc
          limit 1
        ) record
      ) as billing
    from (values (p_user_id)) one (user_id)
    left join billing.access a on a.user_id = one.user_id
  ) answer;
end $$;

create or replace function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- the API key of the order; null: an open order of any key is returned
  p_start text default null, -- now or after_current; null: not said, and there is no credit
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, price,
-- running: {tier, until, early_renewal, price, starts_at} | null, prefill: {email, name}},
-- with p_start also {credit, starts_at, ends_at},
-- {outcome: plan_not_found | price_conflict | user_not_found | in_flight | key_conflict},
-- {outcome: not_now, reason: credit}, {outcome: rate_limited, retry_after}
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
  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
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
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
  order by p.id = v_keyed.id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    -- At most ten orders an hour.
    v_refusal := billing.rate_limited((
      select p.created_at + interval '1 hour'
      from public.payments p
      where p.user_id = p_user_id
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

create or replace function public.store_order(p_payment_id uuid, p_order_id text)
returns jsonb -- {outcome: stored | payment_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  perform billing.begin_request('order', p_order_id);
  -- The update applies the events that waited for this order. They need the user's lock, which comes before the payment's.
  perform billing.lock_user(p.user_id) from public.payments p where p.id = p_payment_id;
  update public.payments p
  set gateway_order_id = p_order_id
  where p.id = p_payment_id and (p.gateway_order_id is null or p.gateway_order_id = p_order_id);
  return jsonb_build_object('outcome', case when found then 'stored' else 'payment_not_found' end);
end $$;

create or replace function public.discard_order(p_payment_id uuid)
returns jsonb -- {outcome: discarded}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  perform billing.delete_unordered(p_payment_id);
  return jsonb_build_object('outcome', 'discarded');
end $$;

-- After the outcome read the caller reads the payments from the gateway and passes them to apply_order_read. Of several
-- calls at once, one gets that outcome. Contract: GET /api/payments/orders/:order_id.
create or replace function public.get_order(
  p_user_id uuid,
  p_order_id text, -- the gateway's
  p_can_read boolean -- whether the gateway is configured
)
returns jsonb -- {outcome: known | read, payment_id, order}, {outcome: order_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_payment public.payments;
  v_is_leased boolean := false;
begin
  select * into v_payment from public.payments p where p.gateway_order_id = p_order_id and p.user_id = p_user_id;
  if not found then return jsonb_build_object('outcome', 'order_not_found'); end if;
  -- After five days the result is final: see billing.next_reconciliation.
  if p_can_read and v_payment.status <> 'captured' and v_payment.created_at > v_now - interval '120 hours' then
    update public.payments p
    set reads = p.reads + 1, read_at = v_now
    where p.id = v_payment.id and p.reads < 20 and coalesce(p.read_at <= v_now - interval '5 seconds', true);
    v_is_leased := found;
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_leased then 'read' else 'known' end,
    'payment_id', v_payment.id,
    'order', billing.get_order_answer(v_payment)
  );
end $$;

create or replace function public.create_subscription(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- under which it is made; null: those of any are given again
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: created | existing, id, gateway_plan_id, billing_cycles, expire_by, start_at (Unix seconds; null: at once),
-- gateway_subscription_id, short_url, status, plan, price, running: {tier, until, early_renewal, price} | null},
-- {outcome: plan_not_found | not_at_gateway | price_conflict | user_not_found | in_flight | key_conflict |
-- already_subscribed},
-- {outcome: rate_limited, retry_after}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_order billing.subscription_orders;
begin
  perform billing.begin_request('subscription', p_idempotency_key);
  -- Of two requests at once the second waits here and finds what the first wrote.
  if billing.lock_user(p_user_id) is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  select * into v_order
  from billing.subscription_orders o
  where o.user_id = p_user_id and p_idempotency_key = any (o.idempotency_keys);
  if coalesce((v_order.sold).lookup_key, v_order.tier) <> coalesce(p_price, p_tier) then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_order.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  if v_plan.gateway_plan_id is null then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  if v_order.id is null and exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.plan_id = v_plan.id
      and billing.is_billed(m)
      and (m.status = 'active' or m.gateway_status = 'authenticated')
      and m.gateway_status is distinct from 'halted'
      and m.stops_at is null
  ) then
    return jsonb_build_object('outcome', 'already_subscribed');
  end if;
  return billing.request_subscription(p_user_id, v_plan, v_order, p_idempotency_key, p_gateway_key_id);
end $$;

-- What was made for an order that was withdrawn or forgotten in the meantime is cancelled, so that it is never authorised.
create or replace function public.store_subscription(
  p_id uuid,
  p_gateway_subscription_id text default null, -- null: the gateway made none
  p_short_url text default null
)
returns jsonb -- {outcome: stored | withdrawn | discarded | order_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_order billing.subscription_orders;
begin
  if p_gateway_subscription_id is null then
    perform billing.forget_subscription_order(p_id);
    return jsonb_build_object('outcome', 'discarded');
  end if;
  perform billing.lock_user((select o.user_id from billing.subscription_orders o where o.id = p_id));
  update billing.subscription_orders o
  set gateway_subscription_id = p_gateway_subscription_id,
    short_url = p_short_url,
    next_check_at = billing.clock() + interval '10 minutes'
  where o.id = p_id and coalesce(o.gateway_subscription_id = p_gateway_subscription_id, true)
  returning o.* into v_order;
  if v_order.id is null then
    perform billing.tell_stop(p_gateway_subscription_id, row(billing.clock(), true, false)::billing.stop);
    return jsonb_build_object('outcome', 'order_not_found');
  end if;
  perform billing.plan(v_order.user_id);
  return (
    select jsonb_build_object('outcome', case when o.stops_at is null then 'stored' else 'withdrawn' end)
    from billing.subscription_orders o
    where o.id = p_id
  );
end $$;

-- The lease is five minutes. A subscription whose events arrived is left to the reconciliation of gateway subscriptions.
create or replace function public.claim_subscription_orders()
returns jsonb -- {orders: [{id, gateway_subscription_id}]}: at most 20
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_orders jsonb;
begin
  -- The requests of these ended without an answer of the gateway.
  perform billing.forget_subscription_order(o.id)
  from billing.subscription_orders o
  where o.next_check_at <= v_now and o.gateway_subscription_id is null
  limit 20;
  with due as materialized (
    select o.id
    from billing.subscription_orders o
    where o.next_check_at <= v_now and o.gateway_subscription_id is not null
    order by o.next_check_at
    limit 20
    for no key update skip locked
  ),
  leased as (
    update billing.subscription_orders o
    set next_check_at = case when not exists (
      select from billing.gateway_subscriptions m
      where m.user_id = o.user_id
        and m.gateway_subscription_id = o.gateway_subscription_id
        -- From then on the mirror has a time of its own for the next reconciliation.
        and m.period_end is not null
    ) then v_now + interval '5 minutes' end
    from due
    where o.id = due.id
    returning o.id, o.gateway_subscription_id, o.next_check_at
  )
  select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)), '[]')
  into v_orders
  from leased l
  where l.next_check_at is not null;
  return jsonb_build_object('orders', v_orders);
end $$;

-- Without the gateway's answer it says whether one is needed. Contract: POST /api/payments/verify.
create or replace function public.verify_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_payment_id text, -- its signature was checked by the route
  p_entity text default null, -- the subscription at the gateway, JSON; null: not read yet
  p_payment text default null -- the payment at the gateway, JSON; null: not read, or unknown there
)
returns jsonb
-- {outcome: applied | already_applied, tier, valid_until, starts_at (null: it runs)},
-- {outcome: unread | refunded | subscription_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_payment constant jsonb := p_payment::jsonb;
  v_order billing.subscription_orders;
  v_mirrored billing.gateway_subscriptions;
  v_is_applied boolean := false;
begin
  perform billing.begin_request('payment', p_payment_id);
  perform billing.lock_gateway_payment(p_payment_id);
  perform billing.lock_user(p_user_id);
  select * into v_order
  from billing.subscription_orders o
  where o.gateway_subscription_id = p_gateway_subscription_id and o.user_id = p_user_id
  for update;
  if not found then return jsonb_build_object('outcome', 'subscription_not_found'); end if;
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id;

  if v_mirrored.period_end is null or v_order.is_trial and v_mirrored.authenticated_at is null then
    if p_entity is null then return jsonb_build_object('outcome', 'unread'); end if;
    v_is_applied := billing.apply_order_state(
      v_order, p_entity::jsonb, case
        when billing.json_text(v_payment -> 'id') = p_payment_id
          and billing.json_text(v_payment -> 'status') in ('captured', 'refunded')
          and billing.json_integer(v_payment -> 'amount') is not null
          then v_payment
      end, false
    );
    -- The gateway may need a moment. Its events or the next reconciliation tell.
    update billing.subscription_orders o
    set next_check_at = least(o.next_check_at, billing.clock() + interval '1 minute')
    where o.id = v_order.id;
    select * into v_mirrored
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id;
  end if;
  -- A signature never expires. So it does not count after a refund, or after a cancellation at once.
  if v_mirrored.ended_at is not null or exists (
    select from public.payments c
    where c.gateway_payment_id = p_payment_id and billing.is_refunded(c)
  ) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_applied then 'applied' else 'already_applied' end,
    'tier', v_order.tier, 'valid_until', billing.iso_time(v_mirrored.period_end),
    'starts_at', case when v_mirrored.period_end is null then billing.iso_time(v_order.starts_at) end
  );
end $$;

create or replace function public.preview_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: change | undo, order_start: now | after_current | null, is_billed, change: {amount_due, credit, currency,
-- starts_at, ends_at, from, to, from_price, to_price}},
-- {outcome: plan_not_found | price_conflict | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason: currency | downgrade | credit}, {outcome: too_late, possible_from}
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
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
      'amount_due', v_change.amount_due, 'credit', v_change.credit,
      'currency', (v_change.plan).currency,
      'starts_at', billing.iso_time(v_change.starts_at),
      'ends_at', billing.iso_time(v_change.ends_at),
      'from', v_change.from_tier,
      'to', (v_change.plan).tier,
      'from_price', v_change.from_price,
      'to_price', coalesce((v_change.plan).lookup_key, (v_change.plan).tier)
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
begin
  perform billing.begin_request('change', null);
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  v_change := billing.plan_change(p_user_id, p_tier, p_when, p_price);
  if v_change.outcome = 'undo' then
    update billing.subscription_orders o
    set undone_at = billing.clock()
    where o.user_id = p_user_id and o.replaces is not null and o.starts_at > billing.clock() and o.undone_at is null;
    perform billing.withdraw_mails(array(
      select 'change-scheduled/' || o.gateway_subscription_id from billing.subscription_orders o where o.user_id = p_user_id
    ));
    perform billing.settle_access(p_user_id, v_email);
    return jsonb_build_object('outcome', 'undone');
  end if;
  if v_change.outcome <> 'change' then return public.preview_change(p_user_id, p_tier, p_when, p_price); end if;
  if not v_change.is_billed then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  return billing.request_subscription(
    p_user_id, v_change.plan, null, null, p_gateway_key_id,
    case
      -- The order was sold for a time of its own, also if no credit is left by now.
      when p_payment_id is not null then coalesce(
        (
          select coalesce(p.period_end, billing.add_months(billing.clock(), p.duration_months))
          from public.payments p
          where p.id = p_payment_id
        ),
        v_change.ends_at
      )
      when v_change.renews is not null or p_when = 'period_end' then v_change.charge_at
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
  v_outcome := (billing.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome;
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

-- Applies the events that wait for an order, when the order is stored.
-- Security definer: the role with which an app inserts its own payments has no rights on the ledger.
create or replace function billing.replay_order_events()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
  perform billing.apply_recorded_event(waiting)
  from (
    select e.*
    from billing.gateway_events e
    where e.subject_id = left(new.gateway_order_id, 200)
      and e.outcome = 'unmatched'
      and e.event not like 'subscription.%'
      and e.payload is not null
    order by e.received_at
    -- A transaction that has locked an event waits for this payment and then finds it.
    for update skip locked
  ) waiting;
  return null;
end $$;

-- Stores the payments of cycles that no webhook named, each as its charge would be announced. API: service_role only.
create or replace function public.apply_invoices(
  p_gateway_subscription_id text,
  p_items text default null -- the gateway's invoices of the subscription, a JSON array; null: it has none
)
returns jsonb -- {applied}: how many of the payments were new
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_mirrored billing.gateway_subscriptions;
  v_invoice jsonb;
  v_applied integer := 0;
begin
  perform billing.begin_request('reconciliation', p_gateway_subscription_id);
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where m.gateway_subscription_id = p_gateway_subscription_id
  order by m.user_id
  limit 1;
  perform billing.lock_gateway_payment(i.item ->> 'payment_id')
  from (select item from jsonb_array_elements(p_items::jsonb) item order by item ->> 'payment_id') i;
  perform billing.lock_user(v_mirrored.user_id);
  for v_invoice in
    select i.item
    from jsonb_array_elements(p_items::jsonb) i (item)
    where v_mirrored.user_id is not null
      and i.item ->> 'status' = 'paid'
      and billing.json_text(i.item -> 'payment_id') is not null
      and not exists (select from public.payments p where p.gateway_payment_id = i.item ->> 'payment_id')
    order by billing.json_time(i.item -> 'billing_start')
  loop
    v_applied := v_applied + billing.apply_invoice(
      jsonb_build_object(
        'id', p_gateway_subscription_id,
        'plan_id', v_mirrored.gateway_plan_id,
        'charge_at', extract(epoch from v_mirrored.charge_at)::bigint,
        'notes', jsonb_build_object('user_id', v_mirrored.user_id)
      ),
      v_invoice,
      jsonb_build_object(
        'id', v_invoice -> 'payment_id', 'amount', v_invoice -> 'amount', 'currency', v_invoice -> 'currency'
      )
    )::integer;
  end loop;
  return jsonb_build_object('applied', v_applied);
end $$;

-- Settles the access of a new user, because events may arrive before their user exists.
-- Security definer: the auth server's role inserts users and has no rights on the mirror.
create or replace function billing.settle_new_user()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  -- A backup or an import may restore a deleted user.
  delete from billing.deleted_users d where d.user_id in (new.id, billing.hash_user_id(new.id));
  if exists (select from billing.gateway_subscriptions m where m.user_id = new.id) then
    perform billing.note_cause('subscription of a new user', null);
    perform billing.adopt_charges(new.id);
    perform billing.settle_access(new.id, new.email);
    update billing.gateway_subscriptions m
    set is_waiting = false, next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
    where m.user_id = new.id;
  end if;
  return null;
exception
  -- A sign-up must not fail because of its gateway subscription. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end $$;

-- Contract: POST /api/internal/outbox. API: service_role only.
create or replace function public.purge_records(
  p_ledger_days integer, -- LEDGER_RETENTION_DAYS
  p_outbox_days integer, -- OUTBOX_RETENTION_DAYS
  p_tier_history_days integer -- TIER_HISTORY_RETENTION_DAYS
)
returns jsonb -- {purged}: how many rows were deleted, a batch of each table; call again until it is 0
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  return jsonb_build_object('purged', billing.purge_batch(p_ledger_days, p_outbox_days, p_tier_history_days));
end $$;

-- Runs one batch of the first job that has work. Each call is a transaction, so a request waits for one batch at most.
create or replace function billing.sweep()
returns integer -- what the job returned, such as its number of rows; 0: no work is left
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_job text;
  v_done integer;
  v_results jsonb := '{}'; -- the jobs that ran, each with its error or null
begin
  -- start_purchases runs before the expiry: what a purchase follows has not lapsed, it was taken over.
  foreach v_job in array array[
    'replay_missed_events', 'settle_waiting_subscriptions', 'start_purchases', 'expire_subscriptions',
    'reduce_payloads', 'empty_payloads', 'delete_messages', 'erase_deleted_users', 'create_profiles', 'run_passes'
  ] loop
    -- A failed job must not stop the other jobs.
    begin
      execute format('select billing.%I()', v_job) into v_done;
      v_results := v_results || jsonb_build_object(v_job, null);
    exception when others then
      raise warning 'sweep: % failed: %', v_job, sqlerrm;
      v_done := 0;
      v_results := v_results || jsonb_build_object(v_job, left(format('%s: %s', sqlstate, sqlerrm), 200));
    end;
    exit when v_done > 0;
  end loop;
  if v_done = 0 then
    perform billing.read_answers();
    perform pg_notify('outbox', '');
    perform billing.call_function('/api/internal/outbox');
  end if;
  -- Last, because another transaction may have locked the table.
  begin
    delete from billing.scheduled_jobs j where v_results -> j.name = 'null';
    insert into billing.scheduled_jobs (name, error)
    select r.key, r.value from jsonb_each_text(v_results) r where r.value is not null
    on conflict (name) do update
    set error = excluded.error;
    update billing.scheduled_jobs j
    set done_at = now(),
      replayed_until = case when v_results ->> 'replay_missed_events' is null then billing.clock() else j.replayed_until end
    where j.name = 'sweep' and v_done = 0;
  exception when lock_not_available then
    raise warning 'sweep: its end was not recorded: %', sqlerrm;
  end;
  return v_done;
end $$;

-- Two at once would call the gateway at twice the rate. The lease is longer than a run. API: service_role only.
create or replace function public.begin_reconciliation(p_run_id uuid)
returns jsonb -- {began}: false while another one is running
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  update billing.scheduled_jobs j
  set run_id = p_run_id, run_until = now() + interval '75 seconds'
  where j.name = 'reconciliation' and (j.run_until is null or j.run_until <= now());
  return jsonb_build_object('began', found);
end $$;

create or replace function public.end_reconciliation(
  p_run_id uuid,
  p_is_done boolean -- whether it left nothing to do, or used up its time and got answers
)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  update billing.scheduled_jobs j
  set done_at = case when p_is_done then now() else j.done_at end, run_id = null, run_until = null
  where j.name = 'reconciliation' and j.run_id = p_run_id;
end $$;

-- Returns the parts outside of the schema that the service needs and that are missing, each with its remedy.
-- Security definer: support may not read schemas vault and cron. The answer has no value of them.
create or replace function billing.missing_parts()
returns table (part text, remedy text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
  v_is_there boolean;
begin
  return query
  select
    'extension ' || e.name,
    'Run "select billing.set_up();". If it warns, enable the extension in the dashboard and run it again.'
  from pg_available_extensions e
  where e.name in ('pg_net', 'pg_cron', 'supabase_vault') and e.installed_version is null
  union all
  select 'trigger ' || e.name || ' on auth.users', 'Run "select billing.set_up();".'
  from billing.expected_triggers e
  where not e.is_there
  union all
  select 'index of names', 'Run "select billing.set_up();".'
  from pg_available_extensions e
  where e.name = 'pg_trgm' and not billing.has_names_index()
  union all
  select r.part, 'Run "select billing.set_up();". ' || r.remedy
  from (
    values
      ('role subscriptions_api', 'If the function connects as this role, set its password again.', billing.has_pool_role()),
      ('role subscriptions_support', 'The login roles of support need their membership again.', billing.has_support_role())
  ) r (part, remedy, is_there)
  where not r.is_there;

  if to_regclass('cron.job') is not null then
    return query
    select
      'job ' || n.name || case
        when exists (select from cron.job j where j.jobname = n.name) then ' (switched off)' else ''
      end,
      'Run "select billing.set_up();".'
    from (values ('subscriptions-sweep'), ('subscriptions-reconcile'), ('subscriptions-purge-runs')) n (name)
    where not exists (select from cron.job j where j.jobname = n.name and j.active);
  end if;

  if to_regnamespace('net') is not null and to_regclass('vault.decrypted_secrets') is not null then
    foreach v_name in array array['subscriptions_url', 'subscriptions_internal_key'] loop
      begin
        v_is_there := exists (
          select from vault.decrypted_secrets s
          where s.name = v_name
            and s.decrypted_secret ~ case v_name when 'subscriptions_url' then '^\s*https?://\S+\s*$' else '\S' end
        );
      exception
        -- After a restore, Vault may not be able to decrypt a secret of another project.
        when others then
          v_is_there := false;
      end;
      if not v_is_there then
        part := 'Vault secret ' || v_name;
        -- Without the delete, create_secret and update_secret fail for a secret of another project.
        remedy := format(
          'Run "delete from vault.secrets where name = ''%1$s''; select vault.create_secret(''...'', ''%1$s'');" with its '
            'value.',
          v_name
        );
        return next;
      end if;
    end loop;
  end if;
end $$;

-- Schedules the jobs of pg_cron, and makes those anew that were switched off: only a superuser may switch a job on.
-- Security definer: a job belongs to the role that schedules it, and another role would make a second one of the same name.
create or replace function billing.schedule_jobs()
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform cron.unschedule(j.jobid)
  from cron.job j
  where j.jobname in ('subscriptions-sweep', 'subscriptions-reconcile', 'subscriptions-purge-runs')
    and j.username = current_user
    and not j.active;
  perform cron.schedule(j.name, j.schedule, j.command)
  from (
    values
      -- One statement, because only then it can commit between the batches. 10,000 are enough for any load.
      ('subscriptions-sweep', '* * * * *',
        'do $sweep$ begin for n in 1..10000 loop exit when billing.sweep() = 0; commit; end loop; end $sweep$'),
      ('subscriptions-reconcile', '* * * * *', 'select billing.call_function(''/api/internal/reconcile'')'),
      -- Only the runs of these jobs: an app decides how long it keeps its own runs.
      ('subscriptions-purge-runs', '17 3 * * *',
        'delete from cron.job_run_details d using cron.job j where j.jobid = d.jobid '
          'and j.jobname like ''subscriptions-%'' and d.end_time < now() - interval ''7 days''')
  ) j (name, schedule, command);
end $$;

-- Sets up the parts that a toggle in the dashboard, or a restore into a new project, may remove. It may run again at any time.
-- A part that cannot be set up is a row of billing.findings, not an error. A plain Postgres has none of the extensions: a
-- scheduler outside of the database calls the sweep.
create or replace function billing.set_up()
returns integer -- how many parts are still missing
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_part text;
  v_is_absent boolean;
  v_role text;
  v_trigger record;
begin
  foreach v_part in array array[
    'pg_net', 'supabase_vault', 'pg_cron', 'index of names', 'role subscriptions_api', 'role subscriptions_support',
    'jit of roles'
  ] loop
    begin
      v_is_absent := exists (select from pg_available_extensions e where e.name = v_part and e.installed_version is null);
      case v_part
        when 'pg_net' then
          if v_is_absent then
            create schema if not exists extensions;
            create extension pg_net with schema extensions;
          end if;
        when 'supabase_vault' then
          if v_is_absent then create extension supabase_vault cascade; end if;
        when 'pg_cron' then
          if v_is_absent then create extension pg_cron; end if;
          if to_regclass('cron.job') is not null then perform billing.schedule_jobs(); end if;
        when 'index of names' then
          perform billing.index_names();
        when 'role subscriptions_api' then
          if not billing.has_pool_role() then
            if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_api') then
              -- No login as this role is possible until it has a password.
              create role subscriptions_api login noinherit;
            end if;
            grant service_role to subscriptions_api;
            alter role subscriptions_api login;
            alter role subscriptions_api set role = 'service_role';
            alter role subscriptions_api set statement_timeout = '4s';
          end if;
        when 'role subscriptions_support' then
          if not billing.has_support_role() then perform billing.set_up_support(); end if;
        else
          for v_role in
            select r.rolname
            from pg_catalog.pg_roles r
            where r.rolname like any ('{subscriptions\_api%,subscriptions\_support}')
              and not coalesce(r.rolconfig, '{}') @> array['jit=off']
          loop
            execute format('alter role %I set jit = off', v_role);
          end loop;
      end case;
    exception when others then
      raise warning '% was not set up: %', v_part, sqlerrm;
    end;
  end loop;

  for v_trigger in
    select e.name, e.timing
    from billing.expected_triggers e
    where not e.is_there
  loop
    execute format(
      'create trigger %I after %s on auth.users for each row execute function billing.%I()',
      v_trigger.name, v_trigger.timing, v_trigger.name
    );
  end loop;
  return (select count(*) from billing.missing_parts());
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
    jsonb_build_object('remedy', 'Payments, refunds and disputes at the gateway are read each hour. Read the function''s log: '
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
        'remedy', case
          when last.answered_at is null
            then 'Check that the worker of pg_net runs. "select net.worker_restart();" starts it again.'
          when last.request_id is null
            then 'pg_net did not accept the call. Repair the cause of the error: pg_net is not preloaded, or a Vault secret '
              'can''t be decrypted.'
          when last.error = 'no answer within 5 s'
            then 'The function was called and was too slow. Read its log of that time. No line there: its address in the Vault '
              'secret subscriptions_url may be wrong.'
          when last.status_code = 401
            then 'The Vault secret subscriptions_internal_key is not the function''s INTERNAL_KEY.'
          when last.status_code in (404, 405)
            then 'The Vault secret subscriptions_url is not the functions'' address, or the function api is not deployed.'
          when last.status_code = 503
            then 'A variable of the function is not set. The function logs the names of these variables at each start.'
          when last.status_code is null
            then 'The address in the Vault secret subscriptions_url does not answer. Check that it is '
              'https://<ref>.supabase.co/functions/v1.'
          else 'Read the function''s log of that time.'
        end
      )
    )
  from (select distinct c.path from billing.function_calls c) paths
  cross join lateral (
    select c.*
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

-- The function reads from the gateway what no webhook announced, one run at a time within the rate of the gateway's API, and
-- applies it here. Contract: POST /api/internal/reconcile, "Reconciliation".

-- If the caller crashes or gets no answer, a later call claims the payments again. API: service_role only.
create or replace function public.claim_payments_to_reconcile()
returns jsonb
-- {settled, payments: [{id, order_id, amount}]}; settled: how many payments need no reconciliation. 0 and []: nothing is due
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_result jsonb;
begin
  with due as materialized (
    select p.id, p.next_reconcile_at, billing.is_settled(p) as is_settled
    from public.payments p
    where p.next_reconcile_at <= billing.clock() and p.gateway_order_id is not null
    order by p.next_reconcile_at
    limit 1000
    for no key update skip locked
  ),
  claimed as (
    update public.payments p
    set next_reconcile_at = case when not d.is_settled then billing.clock() + interval '5 minutes' end
    from (select due.*, row_number() over (partition by due.is_settled order by due.next_reconcile_at) as place from due) d
    where p.id = d.id and (d.is_settled or d.place <= 20)
    returning p.id, p.gateway_order_id, p.amount, d.is_settled
  )
  select jsonb_build_object(
    'settled', count(*) filter (where c.is_settled),
    'payments', coalesce(
      jsonb_agg(jsonb_build_object('id', c.id, 'order_id', c.gateway_order_id, 'amount', c.amount)) filter (where not c.is_settled), '[]'
    )
  )
  into v_result
  from claimed c;
  return v_result;
end $$;

-- Applies an answer of the gateway as if a webhook had delivered it. Marks it as missed_webhook if no webhook announced it, but not
-- where the page of a customer asks: the webhook may still be under way.
create or replace function billing.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_event text,
  p_payload jsonb,
  p_created_at jsonb, -- of the event; null: it has none
  p_since timestamptz -- webhooks that arrived before this time announced something else; null: no mark
)
returns boolean -- whether the answer changed anything
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_delivery billing.delivery;
begin
  perform billing.note_cause(p_event, null);
  v_delivery := billing.apply_delivery(
    v_key, p_key, jsonb_build_object('event', p_event, 'payload', p_payload, 'created_at', p_created_at), 0
  );
  if not v_delivery.is_applied or v_delivery.outcome <> 'applied' then return false; end if;
  insert into billing.marks (kind, key)
  select 'missed_webhook', answer.subject_id
  from billing.gateway_events answer
  where answer.body_sha256 = v_key
    and p_since is not null
    and not exists (
      select from billing.gateway_events e
      where e.subject_id = answer.subject_id
        and e.deliveries > 0
        and e.received_at >= p_since
        and (e.event = p_event or e.event = 'order.paid' and p_event = 'payment.captured')
    )
    and not exists (
      select from public.payments p
      where p.gateway_order_id = answer.subject_id and p.read_at > billing.clock() - interval '1 minute'
    )
  on conflict do nothing;
  return true;
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
begin
  perform billing.begin_request('reconciliation', null);
  perform billing.lock_gateway_payment(refunded.id)
  from (
    select billing.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := billing.lock_user(v_payment.user_id);
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
    and v_payment.confirmed_at is null
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
      perform billing.settle_payment(v_payment, v_email);
    end if;
  end if;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end $$;

-- Subscriptions whose period ends within a day, and those that are pending, halted or paused at the gateway. Each is
-- reconciled every six hours until it is renewed or cancelled. API: service_role only.
create or replace function public.claim_subscriptions_to_reconcile()
returns jsonb
-- {settled, subscriptions: [{id, gateway_subscription_id}]}; settled: how many of those that were due need no call now.
-- subscriptions: at most 20; id: of the user's subscription row. 0 and []: nothing is due
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_result jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.gateway_status, m.period_end, m.checked_at, m.arrived_at,
      m.period_end + make_interval(hours => 24 * (billing.grace_days(p.grace_days, false) + 14)) as given_up_at, m as mirrored
    from billing.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
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
        when d.status = 'cancelled' or d.gateway_status = 'completed' then case
            when (d.mirrored).cancelled_arrived_at < v_now - interval '1 day' or billing.unnamed_cycles(d.mirrored) = 0 then null
            else v_now
          end
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then v_now + interval '1 day' end
        -- The gateway may bill it again at any time. So long after the last access it is read once a day.
        when d.gateway_status in ('pending', 'halted', 'paused')
          or d.gateway_status = 'active' and d.period_end <= v_now + interval '1 day'
          then case when d.checked_at > d.given_up_at then greatest(d.checked_at + interval '1 day', v_now) else v_now end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.given_up_at then null
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
        d.*, coalesce(d.next_at = v_now, false) as is_now,
        row_number() over (partition by d.next_at = v_now order by d.period_end) as place
      from planned d
    ) p
    where (m.user_id, m.gateway_subscription_id) = (p.user_id, p.gateway_subscription_id)
      and (not p.is_now or p.place <= 20)
    returning p.id, m.gateway_subscription_id, p.is_now
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

create or replace function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null -- as for billing.apply_subscription_read, JSON
)
returns jsonb -- as billing.apply_subscription_read
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_user_id constant uuid := (select s.user_id from public.subscriptions s where s.id = p_subscription_id);
begin
  perform billing.begin_request('reconciliation', p_gateway_subscription_id);
  perform billing.lock_user(v_user_id);
  return billing.apply_subscription_read(v_user_id, p_gateway_subscription_id, p_entity::jsonb, true);
end $$;

-- One that was not authorised in time is cancelled, so that it never bills. API: service_role only.
create or replace function public.apply_subscription_order(
  p_id uuid,
  p_entity text default null -- the subscription as the gateway has it, JSON; null: the gateway does not know it
)
returns jsonb -- {applied, lacks_payment}: as apply_gateway_subscription
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_status constant text := billing.json_text(v_entity -> 'status');
  v_order billing.subscription_orders;
  v_applied boolean := false;
begin
  select * into v_order from billing.subscription_orders o where o.id = p_id;
  perform billing.begin_request('reconciliation', v_order.gateway_subscription_id);
  perform billing.lock_user(v_order.user_id);
  select * into v_order from billing.subscription_orders o where o.id = p_id for update;
  if not found or exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (v_order.user_id, v_order.gateway_subscription_id)
      and billing.is_outdated(m, v_entity)
  ) then
    return jsonb_build_object('applied', false, 'lacks_payment', false);
  end if;

  if v_order.expires_at <= v_now and coalesce(v_status, 'unknown') in ('created', 'expired', 'unknown') then
    -- An answer from before the authorisation changes nothing. After the lease it is read again.
    if v_status = 'created' and exists (
      select from billing.gateway_subscriptions m
      where (m.user_id, m.gateway_subscription_id) = (v_order.user_id, v_order.gateway_subscription_id)
        and m.arrived_at is not null
    ) then
      return jsonb_build_object('applied', false, 'lacks_payment', false);
    end if;
    if v_status = 'created' then perform billing.plan(v_order.user_id); end if;
    perform billing.forget_subscription_order(p_id);
    return jsonb_build_object('applied', v_status is not distinct from 'created', 'lacks_payment', false);
  end if;
  v_applied := billing.apply_order_state(v_order, v_entity, null, true);
  update billing.gateway_subscriptions m
  set checked_at = billing.clock()
  where (m.user_id, m.gateway_subscription_id) = (v_order.user_id, v_order.gateway_subscription_id);
  perform billing.look_again(v_order.user_id);
  -- It may renew a payment that never came.
  if v_status = 'authenticated' and v_order.payment_id is not null and v_order.stops_at is null then
    perform billing.plan(v_order.user_id);
    v_applied := v_applied
      or exists (select from billing.subscription_orders o where o.id = p_id and o.stops_at is not null);
  end if;

  update billing.subscription_orders o
  set next_check_at = case
      when coalesce(v_status, 'created') = 'created' then least(o.expires_at, v_now + interval '1 hour')
      -- Also an hour before the one that it replaces is told to stop.
      when v_status = 'authenticated' and o.starts_at > v_now + interval '49 hours'
        then least(v_now + interval '1 day', o.starts_at - interval '49 hours')
      -- Authorised: the first charge follows, or its next try.
      when v_status in ('authenticated', 'pending', 'halted') and coalesce(o.starts_at, o.created_at) > v_now - interval '30 days'
        then greatest(o.starts_at, v_now + interval '1 hour')
    end
  where o.id = p_id;
  return jsonb_build_object('applied', v_applied, 'lacks_payment', exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (v_order.user_id, v_order.gateway_subscription_id)
      and billing.lacks_payment(m)
  ));
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
  v_user_id uuid := (
    select m.user_id from billing.gateway_subscriptions m where m.gateway_subscription_id = v_id order by m.user_id limit 1
  );
  v_order billing.subscription_orders;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  select * into v_order from billing.subscription_orders o where o.gateway_subscription_id = v_id;
  v_user_id := coalesce(v_user_id, v_order.user_id);
  if v_user_id is null and v_entity ->> 'status' not in ('created', 'expired', 'cancelled') then
    -- Authorised after its request was forgotten. Its notes name the user, as they do in its events.
    v_order.user_id := billing.json_uuid(v_entity #> '{notes,user_id}');
    v_order.gateway_subscription_id := v_id;
    v_user_id := v_order.user_id;
    -- Without one nothing paid is cut: the tries end, and a finding asks an admin.
    if coalesce(billing.json_integer(v_entity -> 'paid_count') > 0, v_entity ->> 'current_end' is not null)
      and not billing.is_deleted(v_user_id)
      and not exists (select from billing.find_user(v_user_id))
    then
      return jsonb_build_object('outcome', 'changed');
    end if;
  end if;
  v_email := billing.lock_user(v_user_id);
  if v_email is not null and v_entity is not null then
    if exists (
      select from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    ) then
      perform billing.apply_subscription_read(v_user_id, v_id, v_entity, false);
    else
      perform billing.apply_order_state(v_order, v_entity, null, false);
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
    perform billing.settle_access(v_user_id, v_email);
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
    and o.parked_at is null;
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;

-- Applies the gateway's payments on an order, after get_order answered `read`. API: service_role only.
create or replace function public.apply_order_read(
  p_payment_id uuid,
  p_items text default null -- as for apply_order_payments
)
returns jsonb -- {applied, order}: how many of the answers changed something, and the order afterwards
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_applied constant integer := public.apply_order_payments(p_payment_id, p_items) ->> 'applied';
  v_payment public.payments;
begin
  update public.payments p
  set read_attempts = greatest(p.read_attempts, jsonb_array_length(v_items)),
    is_attempt_open = coalesce(
      (
        select listed.item ->> 'status' in ('created', 'authorized')
        from jsonb_array_elements(v_items) with ordinality listed (item, place)
        order by billing.json_time(listed.item -> 'created_at') desc nulls last, listed.place
        limit 1
      ),
      false
    )
  where p.id = p_payment_id
  returning * into v_payment;
  return jsonb_build_object('applied', v_applied, 'order', billing.get_order_answer(v_payment));
end $$;

-- The newest ten minutes are left out, because lists at the gateway lag. API: service_role only.
create or replace function public.claim_statement_pages()
returns jsonb -- {pages: [{list, pass, from, to, skip}]}; from, to: Unix seconds
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
  return jsonb_build_object('pages', v_pages);
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

create or replace function public.apply_statement_item(
  p_list text,
  p_item text, -- the payment of a cycle, a refund or a dispute, JSON
  p_invoice text default null, -- of the payment, JSON; null, here and below: the gateway has none
  p_subscription text default null -- of the invoice, JSON
)
returns jsonb -- {applied, subscriptions: [{id, gateway_subscription_id}]}: whether it changed anything; of a cycle, whose
-- subscription it is, as public.apply_gateway_subscription takes it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_item constant jsonb := p_item::jsonb;
  v_invoice constant jsonb := p_invoice::jsonb;
  v_subscription constant jsonb := p_subscription::jsonb;
  v_id constant text := v_item ->> 'id';
  v_is_applied boolean;
  v_subscription_id constant text := billing.json_text(v_invoice -> 'subscription_id');
  v_since constant timestamptz := coalesce(billing.json_time(v_item -> 'created_at'), billing.clock()) - interval '1 hour';
  -- The time of a read is ours, and the list may lag: what an event said since then is newer.
  v_read_at constant bigint := extract(epoch from billing.clock() - interval '20 minutes');
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Before the ledger, as where the order is read.
  perform billing.lock_gateway_payment(coalesce(billing.json_text(v_item -> 'payment_id'), v_id));
  v_is_applied := case p_list
    when 'refunds' then billing.apply_answer(
      concat_ws(':', 'reconcile', v_id, v_item ->> 'status'),
      'refund.' || replace(v_item ->> 'status', 'pending', 'created'),
      jsonb_build_object('refund', jsonb_build_object('entity', v_item)), null, v_since
    )
    when 'disputes' then billing.apply_answer(
      billing.dispute_key(v_item),
      'payment.dispute.' || replace(v_item ->> 'status', 'open', 'created'),
      jsonb_build_object('dispute', jsonb_build_object('entity', v_item)), to_jsonb(v_read_at), v_since
    )
    else billing.apply_invoice(
      coalesce(v_subscription, '{}') || jsonb_build_object(
        'id', v_subscription_id,
        -- The user who asked for it keeps it, also if its notes were edited.
        'notes', jsonb_build_object('user_id', coalesce(
          (select m.user_id from billing.gateway_subscriptions m where m.gateway_subscription_id = v_subscription_id limit 1),
          (select o.user_id from billing.subscription_orders o where o.gateway_subscription_id = v_subscription_id),
          billing.json_uuid(v_subscription #> '{notes,user_id}')
        ))
      ),
      coalesce(v_invoice, '{}'), v_item || '{"status": "captured"}', v_since
    )
  end;
  return jsonb_build_object('applied', v_is_applied, 'subscriptions', coalesce(
    (
      select jsonb_agg(jsonb_build_object('id', s.id, 'gateway_subscription_id', v_subscription_id))
      from billing.gateway_subscriptions m
      join public.subscriptions s on s.user_id = m.user_id
      where m.gateway_subscription_id = v_subscription_id
    ),
    '[]'
  ));
end $$;

-- Security definer: a role of support may insert the row, and nothing else.
create or replace function billing.perform_action()
returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  perform billing.require(new.reason ~ '\S', 'PS400', 'a support action needs a reason');
  new.created_at := billing.clock();
  new.reference := nullif(btrim(new.reference), '');
  new.email := nullif(btrim(new.email), '');
  new.user_id := case when new.email is not null then billing.user_id_of(new.email) end;
  case new.action
    when 'grant' then new := billing.perform_grant(new);
    when 'revoke_grant' then new := billing.perform_revoke_grant(new);
    when 'end_access' then new := billing.perform_end_access(new);
    when 'refund' then new := billing.perform_refund(new);
    when 'requeue_mail' then new := billing.perform_requeue_mail(new);
    when 'reconcile_now' then new := billing.perform_reconcile_now(new);
    when 'note' then
      perform billing.require(num_nonnulls(new.user_id, new.reference) > 0, 'PS400', 'note needs email or reference');
      new.result := 'Noted.';
    else new := billing.perform_event(new);
  end case;
  new.email := (select u.email from billing.users u where u.user_id = new.user_id);
  return new;
end $$;

-- Stores what is wrong about the customers of a range, and what is not any more.
create or replace function billing.check_customers(p_first uuid, p_last uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp
-- A bitmap of an index that knows no customers would be as large as the table.
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  with found as materialized (
    select distinct on (f.user_id, f.finding, f.subject)
      f.user_id, f.finding, coalesce(f.subject, '') as subject, f.since, f.detail, f.remedy
    from billing.customer_findings f
    where f.user_id between p_first and p_last
    order by f.user_id, f.finding, f.subject, f.since
  ),
  resolved as (
    update billing.checked_findings c
    set resolved_at = v_now
    where c.user_id between p_first and p_last
      and c.resolved_at is null
      and not exists (
        select from found f where (f.user_id, f.finding, f.subject) = (c.user_id, c.finding, c.subject)
      )
  )
  insert into billing.checked_findings as c (user_id, finding, subject, since, detail, remedy, first_seen_at)
  select f.*, v_now from found f
  on conflict (user_id, finding, subject) do update
  set since = excluded.since, detail = excluded.detail, remedy = excluded.remedy, resolved_at = null,
    first_seen_at = case when c.resolved_at is null then c.first_seen_at else v_now end
  where c.resolved_at is not null
    or (c.since, c.detail, c.remedy) is distinct from (excluded.since, excluded.detail, excluded.remedy);
  delete from billing.checked_findings c
  where c.user_id between p_first and p_last and c.resolved_at < v_now - interval '90 days';
end $$;

-- Sums up what was received in the last two hours, and once an hour the whole day: the gateway may tell of a payment late.
create or replace function billing.sum_hours()
returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_hour constant timestamptz := date_trunc('hour', billing.clock(), 'UTC');
  v_day constant timestamptz := date_trunc('day', v_hour, 'UTC');
  v_from constant timestamptz := case
    when exists (select from billing.received_by_hour h where h.hour = v_hour) then v_hour - interval '1 hour'
    else v_day
  end;
begin
  delete from billing.received_by_hour h where h.hour >= v_from or h.hour < v_day - interval '1 day';
  insert into billing.received_by_hour
  select date_trunc('hour', r.received_at, 'UTC'), r.currency, count(*), sum(r.amount)
  from billing.receipts r
  where r.received_at >= v_from
  group by 1, 2
  -- Another sweep may run at the same time.
  on conflict (hour, currency) do update set payments = excluded.payments, amount = excluded.amount;
end $$;

-- Returns the findings about a user as they are now, not as the last pass found them. A function with one plan for all users,
-- because planning its statement takes longer than running it.
create or replace function billing.findings_of(p_user_id uuid)
returns table (finding text, subject text, since timestamptz, detail jsonb, remedy text)
language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select c.finding, c.subject, c.since, c.detail - '{user_id, since, finding}'::text[], c.remedy
  from billing.customer_findings c
  where c.user_id = p_user_id
  union all
  select s.finding, s.subject, s.since, s.detail - '{user_id, since, finding}'::text[], s.remedy
  from billing.service_findings s
  where s.user_id = p_user_id;
end $$;

create function billing.has_names_index()
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_catalog.pg_index i
    where i.indrelid = billing.profiles_table() and i.indexrelid::regclass::text like '%\_names\_idx'
  )
$$;

-- For parts of names. Cost: a few index entries at a sign-up and at a change of a name; a change of the tier writes none.
-- A server without the extension searches names by a scan.
create function billing.index_names()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_schema text;
begin
  if exists (select from pg_available_extensions e where e.name = 'pg_trgm' and e.installed_version is null) then
    create schema if not exists extensions;
    create extension pg_trgm with schema extensions;
  end if;
  select x.extnamespace::regnamespace into v_schema from pg_catalog.pg_extension x where x.extname = 'pg_trgm';
  if v_schema is not null and not billing.has_names_index() then
    execute format(
      $statement$
        create index %s_names_idx on %s
        using gin (lower(coalesce(display_name, '') || ' ' || coalesce(username, '')) %s.gin_trgm_ops)
      $statement$,
      (select c.relname from pg_catalog.pg_class c where c.oid = billing.profiles_table()),
      billing.profiles_table(),
      v_schema
    );
  end if;
end $$;

revoke execute on function billing.index_names() from service_role;

-- On a small project also by any part of an address.
create or replace function billing.search_customers(p_query text)
returns table (user_id uuid, email text, name text, tier text, found_by text) -- at most 20, the best match first
-- A part that most names have does not read the whole index.
set gin_fuzzy_search_limit = 20000
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_most constant integer := 20;
  v_query constant text := btrim(p_query);
  v_text constant text := lower(v_query);
  v_pattern constant text := replace(replace(replace(v_text, '\', '\\'), '%', '\%'), '_', '\_');
  -- The greatest text that begins with the query, in the order of the index.
  v_last constant text := greatest(v_text || repeat('z', 20), v_text || '~', v_text || chr(1114109));
  v_ids uuid[];
  v_ways text[];
begin
  if v_query = '' then return; end if;
  select array_agg(found.id order by found.rank), array_agg(found.way order by found.rank)
  into v_ids, v_ways
  from (
    select s.user_id as id, s.kind as way, 0 as rank
    from billing.subjects s
    where s.subject_id = v_query
    union all
    select paid.user_id, named.way, 0
    from (
      select f.gateway_payment_id, 'refund' as way from billing.refunds f where f.refund_id = v_query
      union all
      select d.gateway_payment_id, 'dispute' from billing.disputes d where d.dispute_id = v_query
    ) named
    cross join lateral (
      select s.user_id from billing.subjects s where s.subject_id = named.gateway_payment_id offset 0
    ) paid
    union all
    select p.user_id, 'payment', 0
    from public.payments p
    where p.id = billing.json_uuid(to_jsonb(v_text))
    union all
    select u.user_id, 'user', 0
    from billing.users u
    where u.user_id = billing.json_uuid(to_jsonb(v_text))
    union all
    (
      select u.user_id, 'email', case when u.email = v_text then 1 else 2 end
      from billing.users u
      where u.email >= v_text and u.email <= v_last and u.email like v_pattern || '%'
      order by u.email
      limit v_most
    )
    union all
    (
      -- Shorter parts have no trigram: only names that begin with them are found.
      select p.user_id, 'name', 3
      from billing.profiles p
      where lower(coalesce(p.display_name, '') || ' ' || coalesce(p.username, ''))
        like case when char_length(v_text) < 3 then '' else '%' end || v_pattern || '%'
      limit v_most
    )
  ) found
  where found.id is not null;

  -- Any part of an address has no index, so this reads all users.
  if v_ids is null
    and (select c.reltuples from pg_class c where c.relname = 'users' and c.relnamespace = 'auth'::regnamespace) < 200000
  then
    v_ids := array(select u.user_id from billing.users u where u.email like '%' || v_pattern || '%' limit v_most);
  end if;

  return query
  select u.user_id, u.email, u.name, coalesce(pr.subscription_tier, 'free'), coalesce(hit.way, 'email')
  from (
    select h.id, min(h.place) as place, (array_agg(h.way order by h.place))[1] as way
    from unnest(v_ids, v_ways) with ordinality h (id, way, place)
    group by h.id
  ) hit
  cross join lateral (select * from billing.users w where w.user_id = hit.id offset 0) u
  left join billing.profiles pr on pr.user_id = hit.id
  order by hit.place
  limit v_most;
end $$;

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one run, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
create or replace function billing.revenue_of(p_after uuid, p_until uuid)
returns setof billing.revenue_sums language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with captured as materialized (
    select p.*
    from public.payments p
    where p.user_id > p_after and p.user_id <= p_until and p.status = 'captured'
    union all
    select p.*
    from public.payments p
    where p.user_id is null and p.id > p_after and p.id <= p_until and p.status = 'captured'
  ),
  lines as (
    select
      left(coalesce(c.user_id, c.id)::text, 3) as bucket, c.currency, c.user_id, c.captured_at as at,
      coalesce(c.paid_amount, c.amount) as gross, 0 as refunded
    from captured c
    where c.extra_of is null or c.confirmed_at is not null
    union all
    select left(coalesce(c.user_id, c.id)::text, 3), c.currency, null, f.created_at, 0, f.amount
    from captured c
    join billing.refunds f on f.gateway_payment_id = c.gateway_payment_id
    where c.refunded_amount > 0 and f.status = 'processed' and (c.extra_of is null or c.confirmed_at is not null)
    union all
    select left(coalesce(c.user_id, c.id)::text, 3), c.currency, null, l.at, 0, l.amount
    from captured c
    cross join lateral billing.losses(c) l
    where c.dispute_status is not null and (c.extra_of is null or c.confirmed_at is not null)
  ),
  received as (
    select
      g.bucket, g.currency, g.month, sum(g.gross) as gross, sum(g.refunded) as refunded,
      count(g.user_id) filter (where g.month = g.first_month) as new_customers,
      count(g.user_id) filter (where g.month > g.first_month) as renewed_customers
    from (
      select
        l.bucket, l.currency, l.user_id, date_trunc('month', l.at at time zone 'UTC') as month, sum(l.gross) as gross,
        sum(l.refunded) as refunded,
        min(date_trunc('month', l.at at time zone 'UTC')) over (partition by l.user_id, l.currency) as first_month
      from lines l
      group by l.bucket, l.currency, l.user_id, 4
    ) g
    group by g.bucket, g.currency, g.month
  ),
  moved as (
    select
      left(p.user_id::text, 3) as bucket, p.kind, p.name, date_trunc('month', e.at at time zone 'UTC') as month,
      sum(e.active) as active, sum(e.lapsed) as lapsed, sum(e.amount) as mrr
    from (
      select
        p.user_id, d.kind, d.name, p.starts_at, p.ends_at, p.monthly_amount,
        max(p.ends_at) over (w rows unbounded preceding) as reaches,
        (p.starts_at <= max(p.ends_at) over (w rows between unbounded preceding and 1 preceding)) is not true as is_first,
        lead(p.starts_at) over w as next_at
      from billing.paid_periods p
      cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
      where p.user_id > p_after and p.user_id <= p_until and d.name is not null
      window w as (partition by p.user_id, d.kind, d.name order by p.starts_at, p.ends_at)
    ) p
    cross join lateral (
      values
        (p.starts_at, p.is_first::integer, 0, p.monthly_amount),
        (least(p.ends_at, p.next_at), 0, 0, -p.monthly_amount),
        (
          case when (p.next_at > p.reaches) is not false then p.reaches end,
          -1,
          -- A customer who begins again in the month of the end has not lapsed.
          (date_trunc('month', p.next_at, 'UTC') is distinct from date_trunc('month', p.reaches, 'UTC'))::integer,
          0
        )
    ) e (at, active, lapsed, amount)
    where e.at <= (select billing.clock())
    group by 1, 2, 3, 4
  )
  select
    x.bucket, x.kind, x.name, x.month::date, sum(x.gross)::bigint, sum(x.refunded)::bigint, sum(x.new_customers)::bigint,
    sum(x.renewed_customers)::bigint, sum(x.lapsed)::bigint, sum(x.active)::bigint, sum(x.mrr)::bigint
  from (
    select
      r.bucket, 'currency' as kind, r.currency as name, r.month, r.gross, r.refunded, r.new_customers, r.renewed_customers,
      0 as lapsed, 0 as active, 0 as mrr
    from received r
    union all
    select m.bucket, m.kind, m.name, m.month, 0, 0, 0, 0, m.lapsed, m.active, m.mrr from moved m
  ) x
  group by x.bucket, x.kind, x.name, x.month
  order by x.bucket, x.kind, x.name, x.month;
end $$;

-- Replaces the sums of the customers of a range, and adds the difference to the sums of all: a late capture, a refund of an
-- old payment and a deleted user need no rule of their own.
create or replace function billing.sum_customers(p_after uuid, p_until uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  -- The range begins after this bucket. The first one has no bucket before it.
  v_after constant text := case when p_after = '00000000-0000-0000-0000-000000000000' then '' else left(p_after::text, 3) end;
  v_until constant text := left(p_until::text, 3);
  v_old billing.revenue_sums[];
  v_new constant billing.revenue_sums[] := array(select n from billing.revenue_of(p_after, p_until) n);
begin
  v_old := array(
    select s
    from billing.revenue_sums s
    where s.bucket > v_after and s.bucket <= v_until
    order by s.bucket, s.kind, s.name, s.month
  );
  if v_old = v_new then return; end if;
  delete from billing.revenue_sums s
  using unnest(v_old) o
  where (s.bucket, s.kind, s.name, s.month) = (o.bucket, o.kind, o.name, o.month);
  insert into billing.revenue_sums select * from unnest(v_new);
  insert into billing.revenue_sums as s
  select
    '', x.kind, x.name, x.month, sum(x.sign * x.gross), sum(x.sign * x.refunded), sum(x.sign * x.new_customers),
    sum(x.sign * x.renewed_customers), sum(x.sign * x.lapsed_customers), sum(x.sign * x.active), sum(x.sign * x.mrr)
  from (
    select 1 as sign, n.* from unnest(v_new) n
    union all
    select -1, o.* from unnest(v_old) o
  ) x
  group by x.kind, x.name, x.month
  on conflict (bucket, kind, name, month) do update
  set gross = s.gross + excluded.gross,
    refunded = s.refunded + excluded.refunded,
    new_customers = s.new_customers + excluded.new_customers,
    renewed_customers = s.renewed_customers + excluded.renewed_customers,
    lapsed_customers = s.lapsed_customers + excluded.lapsed_customers,
    active = s.active + excluded.active,
    mrr = s.mrr + excluded.mrr;
end $$;

comment on function public.current_tiers() is 'The tiers that the signed-in user has at least: the own one, those of no higher rank, and free. In a policy: using (required_tier = any ((select public.current_tiers())::text[])).';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "public"."current_tiers"() FROM PUBLIC, "service_role";

REVOKE ALL ON FUNCTION "billing"."has_names_index"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."has_names_index"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."index_names"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "public"."current_tiers"() TO "anon", "authenticated";

revoke execute on all functions in schema billing from public;

select billing.set_up();
