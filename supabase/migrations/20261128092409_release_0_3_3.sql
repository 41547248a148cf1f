-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.switch_events(boolean);

drop function billing.plan_change(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text);

drop function billing.undo_change(billing.change,billing.commitment);

drop function billing.switch_documents(boolean);

drop type billing.change;

ALTER TABLE "billing"."gateway_subscriptions"
  ADD COLUMN "last_paused_at" timestamp WITH time zone;

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
  p_subscription.short_url := greatest(v_before.short_url, billing.page_url(p_entity));
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

create or replace function billing.store_mirrored(p_subscription billing.gateway_subscriptions)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set (
    id, user_id, gateway_subscription_id, asked_at, asked_plan_id, asked_tier, asked_gateway_plan_id, asked_price,
    gateway_key_id, idempotency_keys, expires_at, starts_at, is_trial, replaces, payment_id, undone_at, noted_user_id,
    gateway_plan_id, plan_id, sold, plan_event_at, status, status_event_at, cancelled_at, cancelled_arrived_at,
    activated_event_at, activated_at, first_activated_at, first_charged_at, period_start, period_end, period_event_at,
    has_refunds, paid_until, cancel_at_period_end, stops_at, ended_at, ended_reason, arrived_at, awaits_user, next_check_at,
    checked_at, gateway_status, gateway_status_event_at, charge_at, short_url, paid_count, authenticated_at, first_halted_at,
    last_halted_at, last_resumed_at, first_period_start, first_period_end, first_period_event_at, paid_period_start,
    paid_period_end, paid_period_event_at, written_at, last_paused_at
  ) = row(p_subscription.*)
  where m.id = p_subscription.id
  returning m.* into p_subscription;
  return p_subscription;
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
    and billing.is_cancelled_for_end(p_subscription.user_id, p_subscription.asked_at)
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
    when p_subscription.cancel_at_period_end then 'cancelled'
    else p_subscription.ended_reason
  end;
  -- It had lapsed before it was cancelled.
  if p_subscription.paid_until is null and not p_subscription.cancel_at_period_end and ended_at > lapses_at then
    select null, null into ended_at, ended_reason;
  end if;
end $$;

-- Sets cancel_at_period_end of what gives access now and is not billed, or clears it of everything. The caller holds the lock
-- on the user.
create or replace function billing.mark_sources(p_user_id uuid, p_cancel_at_period_end boolean)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_source billing.sources;
begin
  if p_cancel_at_period_end then
    -- Most users have only what is billed: this lookup saves a ranking.
    if not exists (
      select from public.payments p where p.user_id = p_user_id and p.fulfilled_at is not null
      union all
      select from billing.grants g where g.user_id = p_user_id
      union all
      select from billing.manual_subscriptions w where w.user_id = p_user_id
      union all
      select from billing.gateway_subscriptions m
      where m.user_id = p_user_id
        and case when m.status = 'cancelled' then m.period_end > billing.clock() else m.gateway_status = 'completed' end
    ) then
      return;
    end if;
    v_source := (billing.find_ruling(p_user_id)).source;
  end if;
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where p.user_id = p_user_id
    and p.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or (v_source.kind, v_source.id) = ('payment', p.id::text));
  update billing.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where g.user_id = p_user_id
    and g.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or (v_source.kind, v_source.id) = ('grant', g.id::text));
  update billing.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where w.user_id = p_user_id
    and w.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or v_source.kind = 'manual');
  -- All its cycles were charged, or the gateway has cancelled it before the end of its period.
  update billing.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end
  where m.user_id = p_user_id
    and case when m.status = 'cancelled' then m.period_end > billing.clock() else m.gateway_status = 'completed' end
    and m.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or (v_source.kind, v_source.id) = ('gateway_subscription', m.gateway_subscription_id));
end $$;

-- Returns what the mail about a cancellation says of the user's access, as it is settled.
create or replace function billing.cancellation_terms(
  p_user_id uuid,
  p_at_period_end boolean,
  p_had_access boolean -- before the cancellation
)
returns jsonb -- {access_ends_at, is_ended, resume_until}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_after public.subscriptions;
  v_ends_at timestamptz; -- null: access does not end with what was cancelled
  v_resume_until timestamptz; -- null: it cannot be resumed
begin
  select * into v_after from public.subscriptions s where s.user_id = p_user_id;
  if p_had_access then
    v_ends_at := case
      when v_after.status = 'cancelled' then coalesce(billing.shown_grace_end(v_after), v_after.cancelled_at)
      when not exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.ended_at is null
          and (s.ends_at is null or coalesce(nullif(s.lapses_at, 'infinity'), s.ends_at) > v_after.current_period_end)
      ) then least(v_after.current_period_end, (
        -- A row that was extended by hand ends with the subscription that it names.
        select coalesce(m.paid_until, m.period_end)
        from billing.gateway_subscriptions m
        where (m.user_id, m.gateway_subscription_id) = (p_user_id, v_after.gateway_subscription_id) and m.arrived_at is not null
      ))
    end;
  end if;
  if p_at_period_end then
    v_resume_until := least(
      case when v_after.status = 'active' then v_after.current_period_end end,
      -- Then the gateway is told.
      (
        select min(s.stops_at) - interval '48 hours'
        from billing.stoppable s
        where s.user_id = p_user_id
          and s.is_open
          and s.is_wish
          -- What stops also without the cancellation is not resumed.
          and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
      )
    );
  end if;
  return jsonb_build_object(
    'access_ends_at', billing.iso_time(v_ends_at),
    'is_ended', v_after.status is distinct from 'active',
    'resume_until', case when v_resume_until > billing.clock() then billing.iso_time(v_resume_until) end
  );
end $$;

-- The subscription alone: all of public.get_subscription would be a tenth of a cancellation.
create function billing.subscription_answer(p_user_id uuid)
returns json -- null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
  return (select row_to_json(s) from billing.shown_subscriptions s where s.user_id = p_user_id);
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
    and exists (select from billing.ends_wished w where w.user_id = p_user_id)
    and not exists (
      select from billing.stoppable s where s.user_id = p_user_id and s.is_open and (s.is_wish is null or s.stops_at is null)
    )
  ) then
    -- Not before what others wrote while this transaction waited for the lock.
    insert into billing.wishes (user_id, at_period_end, at)
    values (p_user_id, p_at_period_end, greatest(
      billing.clock(),
      (select max(greatest(m.asked_at, m.arrived_at)) from billing.gateway_subscriptions m where m.user_id = p_user_id),
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
  return jsonb_build_object('outcome', 'cancelled', 'subscription', billing.subscription_answer(p_user_id));
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
      and case
        when s.is_open then s.stops_at is not null
        -- The gateway has confirmed what the customer cancelled last.
        else s.is_wish and (s.subscription).cancelled_arrived_at >= (
          select w.at from billing.ends_wished w where w.user_id = p_user_id
        )
      end
      and billing.is_stop_sent(s.gateway_subscription_id)
      and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
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

-- Each connection plans it once, and not again at its first five calls.
create or replace function public.get_subscription(p_user_id uuid)
returns json -- {subscription, currentTier, entitlements, payments, billing}: the answer's body
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return row_to_json(answer)
  from (
    select
      (select s from billing.shown_subscriptions s where s.user_id = p_user_id) as subscription,
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
            p.gateway_order_id, p.gateway_payment_id, p.gateway_signature,
            coalesce(p.gateway_subscription_id, p.failed_subscription_id) as gateway_subscription_id, p.meta, p.captured_at,
            p.confirmed_at, p.fulfilled_at, p.period_start, p.period_end, p.paid_amount, p.refunded_amount, p.dispute_status, p.created_at
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
            b.gateway_subscription_id, coalesce(m.gateway_status, m.status, 'active') as status,
            b.charge_at as next_charge_at,
            coalesce(m.gateway_status in ('pending', 'halted') and m.stops_at is null, false) as payment_attention,
            m.short_url as manage_url,
            billing.price_answer(b.tier, b.sold) as price,
            billing.next_change(p_user_id) as next
          from billing.find_billed(p_user_id) b
          join billing.gateway_subscriptions m
            on m.user_id = p_user_id
            and m.gateway_subscription_id = b.gateway_subscription_id
          where billing.is_billed(m)
          -- What is charged next; else the running one before one that starts later; of two the one that would rule.
          order by
            b.charge_at > billing.clock() desc nulls last, b.charge_at, m.period_end > billing.clock() desc nulls last, b.since desc,
            b.id desc
          limit 1
        ) record
      ) as billing
    from (values (p_user_id)) one (user_id)
    left join billing.access a on a.user_id = one.user_id
  ) answer;
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
  v_request billing.gateway_subscriptions;
begin
  perform billing.begin_request('subscription', p_idempotency_key);
  -- Of two requests at once the second waits here and finds what the first wrote.
  if billing.lock_user(p_user_id) is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  select * into v_request
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id and p_idempotency_key = any (m.idempotency_keys);
  if coalesce((v_request.asked_price).lookup_key, v_request.asked_tier) <> coalesce(p_price, p_tier) then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_request.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  if v_plan.gateway_plan_id is null then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  if v_request.id is null and exists (
    select from billing.find_billed(p_user_id) b
    join billing.gateway_subscriptions m
      on m.user_id = p_user_id
      and m.gateway_subscription_id = b.gateway_subscription_id
    -- Without a plan of ours it has that of what it is attached to.
    cross join billing.find_commitment(p_user_id) own
    where coalesce(b.plan_id, case when own.gateway_subscription_id = b.id then own.plan_id end) = v_plan.id
      and b.goes_on
      and m.stops_at is null
      and m.gateway_status is distinct from 'halted'
  ) then
    return jsonb_build_object('outcome', 'already_subscribed');
  end if;
  return billing.request_subscription(p_user_id, v_plan, v_request, p_idempotency_key, p_gateway_key_id);
end $$;

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

create view billing.shown_subscriptions with (security_invoker = true) as
select
  s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
  s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
  case when s.current_period_end < billing.clock() then billing.shown_grace_end(s) end as access_ends_at,
  billing.price_answer(s.tier, billing.price_shown(s)) as price, row_to_json(p) as plan
from public.subscriptions s
left join public.plans p on p.id = s.plan_id;

grant select on billing.shown_subscriptions to service_role;

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
      left join public.plans p on p.id = s.plan_id
      where s.user_id = p_subscription.user_id
        and (s.kind, s.id) <> (v_source.kind, v_source.id)
        and s.ended_at is null
        and s.lapses_at > v_end
        and (
          s.lapses_at < 'infinity'
          or (m.stops_at is not null or m.gateway_status = 'pending' or s.is_in_grace) is not true
          or s.ends_at + make_interval(hours => 24 * billing.grace_days(p.grace_days, s.cancel_at_period_end)) > v_end
        )
    )
  then
    return null;
  end if;
  return v_end;
end $$;

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create or replace function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
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
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged.
    concat_ws('/', v_id, case when p_status <> 'completed' then billing.iso_time(v_paid_until) end),
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

comment on view billing.shown_subscriptions is 'The subscriptions of users, as the API answers them.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."plan_change"(uuid, text, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."plan_change"(uuid, text, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."subscription_answer"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."subscription_answer"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."switch_triggers"(text, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) TO "service_role";

GRANT SELECT ON TABLE "billing"."shown_subscriptions" TO "service_role";

revoke execute on all functions in schema billing from public;

-- What is paused now was paused when the newest event said so.
update billing.gateway_subscriptions
set last_paused_at = coalesce(gateway_status_event_at, arrived_at)
where gateway_status = 'paused';
