-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Also after the lease, or after another claim: the receiver has accepted them.
create or replace function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null, -- why no message was sent
  p_refund text default null -- of a single row: the refund that the gateway made, its entity, JSON
)
returns jsonb -- {completed}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  v_completed integer;
begin
  -- First, because it locks the payment and the user, whose locks come before those of messages.
  if p_refund is not null then
    perform billing.apply_refund_answer(o, p_refund::jsonb) from billing.outbox o where o.id = split_part(p_ids, ',', 1)::bigint;
  end if;
  -- Here and in fail_outbox the rows are locked in the order of their keys, as billing.plan does: no deadlock.
  with delivered as materialized (
    select o.id
    from billing.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[]) and p_token = any (o.claims) and o.delivered_at is null
    order by o.key
    for no key update
  )
  update billing.outbox o
  set delivered_at = billing.clock(), last_error = coalesce(p_note, o.last_error), parked_at = null
  from delivered
  where o.id = delivered.id;
  get diagnostics v_completed = row_count;
  return jsonb_build_object('completed', v_completed);
end $$;

-- A row is parked where a retry is useless or 24 hours have passed. It is marked once, and only during its lease: afterwards
-- it may belong to another claim.
create or replace function public.fail_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_error text,
  p_final boolean default false, -- a retry is useless
  p_pause_seconds integer default null -- the destination asked for this pause: the attempt does not count
)
returns jsonb -- {retried, parked}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  v_now constant timestamptz := billing.clock();
  v_pause_until constant timestamptz := v_now + make_interval(secs => p_pause_seconds);
  v_result jsonb;
begin
  with leased as materialized (
    select o.id
    from billing.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and o.claims[cardinality(o.claims)] = p_token
      and o.next_attempt_at > v_now
      and o.delivered_at is null
      and o.parked_at is null
    order by o.key
    for no key update
  ),
  failed as (
    update billing.outbox o
    set last_error = p_error,
      claims = o.claims || null::uuid,
      attempts = o.attempts - case when v_pause_until is null then 0 else 1 end,
      next_attempt_at = coalesce(v_pause_until, v_now + coalesce(
        (array['5 seconds', '30 seconds', '2 minutes', '10 minutes']::interval[])[o.attempts], interval '1 hour'
      )),
      parked_at = case when p_final or o.queued_at <= v_now - billing.tried_for(o.kind) then v_now end
    from leased
    where o.id = leased.id
    returning o.destination, o.parked_at
  ),
  paused as (
    insert into billing.marks as m (kind, key, at)
    select distinct 'pause', f.destination, v_pause_until
    from failed f
    where v_pause_until is not null
    on conflict (kind, key) do update set at = greatest(m.at, excluded.at)
  )
  select jsonb_build_object('retried', count(*) - count(f.parked_at), 'parked', count(f.parked_at))
  into v_result
  from failed f;
  -- A listening scheduler then reads the new time of the next attempt.
  perform pg_notify('outbox', '');
  return v_result;
end $$;

-- Returns what may still be asked back of a payment, in minor units: without what was lost in disputes, without the refunds
-- that did not fail, and without those that were asked for here, were not refused, and are not at the gateway yet.
create or replace function billing.refundable_beside(
  p_payment public.payments,
  p_message_id bigint -- of a refund that was asked for here, which does not count; null: none
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
                and r.support_action_id = billing.number_of(o.payload ->> 'support_action')
            )
        ), 0),
        0
      )
    else 0
  end;
end $$;

-- Merges the status of an event, with the time of the next charge and the page of the gateway, if no newer one is known. A
-- halt and a resumption are kept with their times.
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
  v_charge_at constant timestamptz := billing.next_charge_at(p_entity);
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
begin
  if p_event = 'subscription.halted' then
    p_subscription.first_halted_at := least(v_before.first_halted_at, v_at);
    p_subscription.last_halted_at := greatest(v_before.last_halted_at, v_at);
    -- A cycle that is paid after the halt makes this number grow.
    p_subscription.paid_count := greatest(v_before.paid_count, billing.json_integer(p_entity -> 'paid_count'));
  elsif p_event = 'subscription.resumed' then
    p_subscription.last_resumed_at := greatest(v_before.last_resumed_at, v_at);
  end if;
  if p_event in ('subscription.cancelled', 'subscription.completed')
    and billing.json_integer(p_entity -> 'paid_count') > v_before.paid_count
  then
    -- Its last charge is known by this number only.
    p_subscription.paid_count := billing.json_integer(p_entity -> 'paid_count');
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  elsif p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused') then
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  end if;
  p_subscription.short_url := greatest(v_before.short_url, billing.page_url(p_entity));
  if v_status = any (v_statuses)
    and (p_created_at, array_position(v_statuses, v_status), coalesce(v_charge_at, '-infinity')) > (
      v_before.gateway_status_event_at,
      coalesce(array_position(v_statuses, v_before.gateway_status), 0),
      coalesce(v_before.charge_at, '-infinity')
    ) is not false
  then
    p_subscription.gateway_status := v_status;
    p_subscription.charge_at := v_charge_at;
    p_subscription.gateway_status_event_at := coalesce(p_created_at, v_before.gateway_status_event_at);
  end if;
  return p_subscription;
end $$;

-- Finds the row of a gateway subscription and locks it. A new one that the user ended before its first event is ended.
create or replace function billing.lock_mirrored(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_seen_at timestamptz -- by its first event
)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_mirrored billing.gateway_subscriptions;
begin
  insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, asked_at, ended_at, ended_reason)
  select
    p_user_id, p_gateway_subscription_id, asked.at, max(w.at), case when max(w.at) is not null then 'cancelled' end
  from (
    select coalesce(min(o.created_at), p_seen_at) as at
    from billing.subscription_orders o
    where o.gateway_subscription_id = p_gateway_subscription_id and o.user_id = p_user_id
  ) asked
  left join billing.wishes w on w.user_id = p_user_id and not w.at_period_end and w.at >= asked.at
  group by asked.at
  on conflict on constraint gateway_subscriptions_pkey do nothing
  returning * into v_mirrored;
  if not found then
    select * into v_mirrored
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id
    for update;
  end if;
  return v_mirrored;
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
    and (p_subscription.cancel_at_period_end or billing.is_told(p_subscription.gateway_subscription_id));
  -- Cancelled for its end, and stopped at once, since a charge of the next cycle failed before that end.
  v_ends_with_cycle constant boolean := v_is_by_gateway
    and p_subscription.cancelled_at < v_end
    and billing.is_cancelled_for_end(p_subscription.user_id, p_subscription.asked_at)
    and billing.is_told(p_subscription.gateway_subscription_id, '{"at_cycle_end": false}');
  -- The gateway cancels the subscription at the end of its cycle, a trial two days before its end, and one whose next cycle
  -- it could not debit up to 36 hours before that end. It charges the one that replaces it soon after the end.
  v_ends_with_change constant boolean := v_is_by_gateway
    and (not v_is_charged or p_subscription.cancelled_at >= v_end - interval '36 hours' or v_ends_with_cycle)
    and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is not null;
begin
  lapses_at := case
    -- A refunded cycle ends at once.
    when p_subscription.paid_until is not null then p_subscription.paid_until
    -- No charge follows: no days of grace.
    when p_subscription.gateway_status in ('paused', 'completed') then v_end
    when v_ends_with_change then v_end + make_interval(hours => 24 * v_days)
    when v_ends_with_trial or v_ends_with_cycle then v_end
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays.
    when p_subscription.last_halted_at > p_subscription.period_event_at then v_end + make_interval(hours => 24 * v_days)
    else billing.billed_until(v_end, p_subscription.checked_at, v_days)
  end;
  ended_at := case
    when not v_is_cancelled then p_subscription.ended_at
    when not (v_ends_with_trial or v_ends_with_change or v_ends_with_cycle) then p_subscription.cancelled_at
  end;
  ended_reason := case
    when v_is_cancelled then 'cancelled'
    when p_subscription.paid_until is not null then 'refunded'
    else p_subscription.ended_reason
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
  v_ended_at text;
  v_end jsonb; -- see billing.announce_access
begin
  if p_ruling.is_live is null then
    v_ruling := billing.find_shown(p_user_id);
    if v_ruling.is_live and (v_ruling.source).kind = 'payment' and billing.await_periods(p_user_id) then
      v_ruling := billing.find_shown(p_user_id);
    end if;
    if v_ruling.may_stop and billing.plan(p_user_id) then v_ruling := billing.find_shown(p_user_id); end if;
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
        else v_now
      end;
    end if;
    v_due_at := case
      when v_ruling.is_live then billing.next_look(
        v_source.ends_at, v_source.lapses_at, v_source.gateway_subscription_id is not null and not v_source.cancel_at_period_end
      )
    end;
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
      due_at = case when excluded.status = 'active' then least(s.due_at, excluded.due_at) end
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
    v_ended_at := billing.iso_time(case when v_reason = 'lapsed' then v_source.ends_at else v_now end);
    v_end := jsonb_build_object(
      'key', format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
      'ends_at', v_ended_at
    ) || case
      when v_reason = 'refunded' then billing.refund_of(v_source)
      -- After the days of grace, as the mail about the failed charge says.
      when v_reason = 'lapsed' and v_source.lapses_at > v_source.ends_at and v_source.lapses_at < v_now
        then jsonb_build_object('access_ended_at', billing.iso_time(v_source.lapses_at))
      else '{}'
    end;
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  return case when v_source.id is not null then v_is_changed end;
end $$;

-- Returns whether the user has authorised another subscription since: of several that wait only one starts. Of two changes
-- that is the one that was asked for last.
create or replace function billing.is_superseded(p_order billing.subscription_orders, p_authorised_at timestamptz)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.subscription_orders o
    join billing.gateway_subscriptions m
      on m.user_id = o.user_id
      and m.gateway_subscription_id = o.gateway_subscription_id
    where o.user_id = p_order.user_id
      and o.id <> p_order.id
      and o.gateway_subscription_id is distinct from p_order.replaces
      and o.undone_at is null
      and billing.is_billed(m)
      and case
        when num_nonnulls(o.replaces, o.payment_id) > 0 and num_nonnulls(p_order.replaces, p_order.payment_id) > 0
          then o.created_at > p_order.created_at
        else (billing.authorised_at(m), o.created_at)
          > (coalesce(p_authorised_at, p_order.created_at), p_order.created_at)
      end
  );
end $$;

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create or replace function billing.find_stop(
  p_each billing.stoppable,
  p_newest billing.sources, -- the newest of billing.purchases; all null: none
  p_with_wishes boolean default true -- false: as if the customer resumed
)
returns billing.stop language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_subscription constant billing.gateway_subscriptions := p_each.mirrored;
  v_order constant billing.subscription_orders := p_each.asked;
  v_authorised_at constant timestamptz := p_each.authorised_at;
  -- A charge fails. The gateway's cycle is the unpaid one then, also while the paid time still runs by our clock, and the next
  -- try must not succeed.
  v_is_failing constant boolean := v_subscription.gateway_status in ('pending', 'halted');
  -- Before its first cycle.
  v_is_waiting constant boolean := v_subscription.period_end is null;
  v_paid_until constant timestamptz := case
    when v_is_waiting then case when v_authorised_at is not null then v_order.starts_at end
    else coalesce(v_subscription.paid_until, v_subscription.period_end)
  end;
  -- A change of the plan that was authorised after it replaces a wish for the end of the period.
  v_is_wish constant boolean := case
    when p_with_wishes and (p_each.succeeded_at is null or not p_each.is_wish) then p_each.is_wish
  end;
  v_at timestamptz := case when v_is_wish or not v_is_waiting then v_paid_until end;
begin
  if not v_is_wish or v_is_wish is null and v_authorised_at is null and v_order.expires_at <= v_now then
    return (v_now, false, false);
  elsif v_is_wish
    or v_order.undone_at is not null
    or v_is_waiting and (
      billing.is_superseded(v_order, v_authorised_at)
      or v_order.payment_id is not null and not billing.renews_purchase(v_order)
    )
  then
    null; -- at the end of what is paid
  elsif p_each.succeeded_at > v_now then
    v_at := p_each.succeeded_at; -- a change of its plan was authorised
  elsif p_each.succeeded_at is null then
    if v_authorised_at is null
      or p_newest.id is null
      or p_newest.gateway_subscription_id = p_each.gateway_subscription_id
      or v_order.payment_id::text = p_newest.id
      -- Without a plan of ours, and known only by a charge: it may be attached to nothing.
      or num_nonnulls(v_subscription.plan_id, v_subscription.activated_at, v_subscription.written_at) = 0
        and p_newest.kind <> 'payment'
      or v_is_waiting and v_order.id is not null and p_newest.kind <> 'payment'
      or p_newest.since <= (case when v_is_waiting then v_authorised_at else billing.since_of(v_subscription) end)
    then
      return null;
    end if;
    v_at := v_paid_until; -- what is newer replaced it
  else
    v_at := v_paid_until; -- the gateway charged it after all
  end if;
  if v_is_failing then v_at := null; end if;
  return (
    coalesce(greatest(v_at, v_now), v_now),
    v_is_waiting and v_order.id is not null and v_is_failing is not true or coalesce(v_at > v_now, false),
    coalesce(v_is_wish, false)
  );
end $$;

-- Sets cancel_at_period_end of what gives access now and is not billed, or clears it of everything. The caller holds the lock
-- on the user.
create or replace function billing.mark_sources(p_user_id uuid, p_cancel_at_period_end boolean)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := (billing.find_ruling(p_user_id)).source;
begin
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
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where m.user_id = p_user_id
    and m.ended_at is null
    and (m.status is distinct from 'cancelled' or 'gateway_subscription/' || m.gateway_subscription_id = any (v_running));
end $$;

-- Contract: POST /api/subscriptions/cancel.
create or replace function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}: null, if nothing gave access yet
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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

-- Returns the prices that wait for the end of what runs: changes of what the gateway bills, and later purchases.
create or replace function billing.find_scheduled(p_user_id uuid)
returns uuid[] language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select o.plan_id
    from billing.gateway_subscriptions m
    cross join lateral billing.find_successor(m.user_id, m.gateway_subscription_id) o
    where m.user_id = p_user_id
      and billing.is_billed(m)
      and m.period_end > billing.clock()
      and coalesce(o.stops_at > o.starts_at, true) -- else a purchase replaced it
    union all
    select p.plan_id from public.payments p where p.user_id = p_user_id and p.ended_at is null and p.settle_at > billing.clock()
  );
end $$;

-- A purchase that extends what runs gives that time only while that runs. Where it ended early (refunded, credited, revoked,
-- cancelled by the gateway), the purchase begins with its own period. The caller holds the lock on the user.
create function billing.await_periods(p_user_id uuid)
returns boolean -- whether a purchase waits from now on
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_is_changed boolean := false;
  v_waiting public.payments;
begin
  loop
    select p.* into v_waiting
    from public.payments p
    where p.user_id = p_user_id
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_start > v_now
      and p.chain_start <= v_now
      and not exists (
        select from billing.sources s
        left join public.payments o on o.user_id = p_user_id and o.id::text = s.id
        where s.user_id = p_user_id
          and s.is_running
          and s.starts_at <= v_now
          and coalesce(s.ends_at, 'infinity') >= p.period_start
          and coalesce(o.period_start, '-infinity') < p.period_start
      )
      -- It may also extend the period of an attached subscription.
      and not exists (
        select from billing.gateway_subscriptions m
        where m.user_id = p_user_id and m.plan_id is null and billing.is_billed(m) and m.period_end >= p.period_start
      )
    order by p.period_start
    limit 1;
    exit when not found;
    update public.payments p
    set chain_start = v_waiting.period_start, settle_at = v_waiting.period_start
    where p.user_id = p_user_id
      and coalesce(p.chain_id, p.id) = coalesce(v_waiting.chain_id, v_waiting.id)
      and p.period_start >= v_waiting.period_start;
    v_is_changed := true;
  end loop;
  return v_is_changed;
end $$;

-- Returns the change of plan that waits for the end of what the gateway bills. Contract: GET /api/subscriptions.
create or replace function billing.next_change(p_user_id uuid)
returns jsonb -- {tier, price, amount, currency, starts_at, undo_until}; null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Nearly no user has one: this lookup saves the functions below on each read.
  if not exists (
    select from billing.subscription_orders o where o.user_id = p_user_id and o.starts_at > billing.clock()
  ) then
    return null;
  end if;
  return (
    select jsonb_build_object(
      'tier', o.tier, 'price', billing.price_answer(o.tier, o.sold), 'amount', (o.sold).amount,
      'currency', (o.sold).currency, 'starts_at', billing.iso_time(o.starts_at),
      'undo_until', case
        when not billing.is_told(o.replaces) then billing.iso_time(o.starts_at - interval '48 hours')
      end
    )
    from billing.gateway_subscriptions m
    cross join lateral billing.find_successor(m.user_id, m.gateway_subscription_id) o
    where m.user_id = p_user_id
      and billing.is_billed(m)
      and o.starts_at > billing.clock()
      and coalesce(o.stops_at > o.starts_at, true) -- else a purchase replaced it
    order by o.starts_at
    limit 1
  );
end $$;

-- Each connection plans it once, and not again at its first five calls.
create or replace function public.get_subscription(p_user_id uuid)
returns json -- {subscription, currentTier, entitlements, payments, billing}: the answer's body
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
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
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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
  v_months constant integer := billing.sold_months(v_plan.duration_months);
  v_held billing.held;
  v_is_same boolean; -- a renewal, not a change
  v_running public.subscriptions;
  v_billed billing.gateway_subscriptions;
  v_successor billing.subscription_orders;
  v_renewed public.payments;
  v_credit record;
  v_change billing.change;
begin
  select * into v_running
  from public.subscriptions s
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end > v_now;
  v_held := billing.find_held(v_running.plan_id, v_running.tier, billing.price_shown(v_running));
  v_change.outcome := case
    when billing.is_on_offer(v_plan) is not true then 'plan_not_found'
    when v_plan.tier <> p_tier then 'price_conflict'
    when v_held.plan_id is null then 'subscription_not_found'
  end;
  if v_change.outcome is not null then return v_change; end if;
  v_is_same := v_held.plan_id = v_plan.id;
  v_successor := billing.find_successor(p_user_id, v_running.gateway_subscription_id);
  select * into v_billed
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id
    and m.gateway_subscription_id = v_running.gateway_subscription_id
    -- The gateway cancels a trial as soon as it is told of the change that follows.
    and (billing.is_billed(m) or v_successor.id is not null)
    and m.period_end > v_now;
  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_when = 'now';
  if p_when = 'now' then
    v_change.reason := billing.refuse_now(v_held, billing.find_wanted(v_plan), v_credit.is_excess);
  end if;
  v_change.outcome := case
    when v_change.reason is not null then 'not_now'
    when v_billed.user_id is null or not v_is_same then 'change'
    when v_successor.id is not null then 'undo'
    else 'already_subscribed'
  end;
  v_change.plan := v_plan;
  v_change.from_tier := v_running.tier;
  v_change.from_price := case when v_running.price_amount is not null then coalesce(v_running.price_key, v_running.tier) end;
  if v_billed.user_id is null and v_is_same and p_when = 'period_end' then
    -- A renewal that the customer cancelled or never authorised is made again.
    v_renewed := billing.find_unrenewed(p_user_id, v_running.current_period_end);
  end if;
  v_change.is_billed := v_plan.gateway_plan_id is not null and num_nonnulls(v_billed.user_id, v_renewed.id) > 0;

  v_change.credit := 0;
  v_change.starts_at := v_now;
  if v_change.is_billed and v_renewed.id is not null then
    v_change.renews := v_renewed.id;
    v_change.charge_at := v_renewed.period_end;
    v_change.starts_at := v_renewed.period_end;
  elsif p_when = 'now' then
    v_change.credit := coalesce(v_credit.credit, 0);
    if not v_change.is_billed or v_change.credit > 0 then
      v_change.order_start := 'now';
      v_change.charge_at := billing.add_months(v_now, v_months);
    end if;
  elsif v_change.is_billed then
    v_change.replaces := v_billed.gateway_subscription_id;
    v_change.starts_at := v_billed.period_end;
    v_change.charge_at := v_change.starts_at;
    -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
    if v_change.outcome = 'change' and v_change.starts_at < v_now + interval '80 hours' then
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
  if v_change.outcome = 'undo' then
    -- What runs goes on.
    v_change.starts_at := v_billed.period_end;
    v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
    if billing.is_told(v_billed.gateway_subscription_id) then
      -- What runs ends, so what follows it must start.
      v_change.outcome := 'too_late';
      v_change.starts_at := v_successor.starts_at;
    end if;
    v_change.order_start := null;
    v_change.credit := 0;
    v_change.amount_due := 0;
  end if;
  return v_change;
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
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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

-- Applies events that arrived while their order was being stored: the trigger did not find them, since neither transaction saw
-- the other's row. It reads those since five minutes before the last sweep, for transactions that were open then. Also events
-- that waited for their plan or, like disputes, for their payment.
create or replace function billing.replay_missed_events()
returns integer -- how many events were applied
-- It holds the locks of many users, so it waits for no request.
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  v_since constant timestamptz := (
    select least(j.replayed_until, billing.clock()) from billing.scheduled_jobs j where j.name = 'sweep'
  ) - interval '5 minutes';
  v_missed record;
  v_applied integer := 0;
begin
  for v_missed in
    select e as event, p.user_id
    from (
      select t.body_sha256 from billing.unsettled_events t
      union
      select u.body_sha256
      from billing.gateway_events u
      where u.received_at > v_since
        and u.outcome = 'unmatched'
        and u.event not like 'subscription.%'
        and u.attempts < 3
    ) waiting
    join billing.gateway_events e on e.body_sha256 = waiting.body_sha256
    join public.payments p on e.subject_id in (p.gateway_order_id, p.gateway_payment_id)
    where e.payload is not null
      and (
        e.outcome = 'unmatched'
        or e.outcome = 'plan_not_found'
          and p.fulfilled_at is null
          and exists (select from public.plans pl where billing.is_bought(pl, p))
      )
    order by p.user_id, e.received_at
    limit 100
    for update of e skip locked
  loop
    begin
      perform from auth.users u where u.id = v_missed.user_id for no key update nowait;
      perform billing.apply_recorded_event(v_missed.event);
      v_applied := v_applied + 1;
    exception when lock_not_available then null; -- by a request: the next run applies the event
    end;
  end loop;
  return v_applied;
end $$;

-- Returns whether a capture may change access, so that it needs the lock on the user. If this gateway payment fulfilled the
-- payment already, it does not. With another amount than was sold, an earlier refund may turn out to be a full one.
create function billing.capture_settles(p_payment public.payments, p_gateway_payment_id text, p_amount bigint)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return p_payment.fulfilled_at is null
    or p_payment.ended_at is not null
    or p_payment.gateway_payment_id is distinct from p_gateway_payment_id
    or coalesce(p_amount <> p_payment.amount, false);
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
  if v_is_same or v_payment.status <> 'captured' then v_payment.paid_amount := coalesce(v_amount, v_payment.paid_amount); end if;

  if not v_is_same and v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := v_gateway_payment_id;
    -- Its refunds may arrive before the capture.
    v_payment.refunded_amount := v_purchase.refunded_amount;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform billing.note_extra_payment(v_payment, v_gateway_payment_id, billing.clock(), v_amount);
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
    paid_amount = coalesce(v_amount, p.paid_amount)
  where p.id = v_payment.id
  returning * into v_payment;
  if v_amount <> v_payment.amount then perform billing.settle_full_refund(v_payment, v_email); end if;
  return 'applied';
end $$;

-- Returns whether the gateway charged a cycle with a payment that it did not name yet.
create or replace function billing.lacks_payment(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_subscription.gateway_subscription_id <> ''
    and (
      p_subscription.period_end is not null
      and coalesce(p_subscription.activated_at, p_subscription.first_charged_at) is not null
      and not exists (
        select from public.payments c
        where c.gateway_subscription_id = p_subscription.gateway_subscription_id
          and c.period_end = p_subscription.period_end
      )
      or billing.unnamed_cycles(p_subscription) > 0
    );
end $$;

-- Access may lapse now that the gateway was asked: the sweep looks at it again.
create function billing.look_again(p_user_id uuid)
returns void language sql set search_path = pg_catalog, pg_temp as $$
  update public.subscriptions s
  set due_at = billing.clock()
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end < billing.clock() and s.due_at > billing.clock()
$$;

-- Returns whether an answer was read before the charge that a webhook told meanwhile: it counts fewer cycles. The next claim
-- reads it again. A gateway that counts less for longer is believed.
create function billing.is_outdated(p_subscription billing.gateway_subscriptions, p_entity jsonb)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return billing.json_integer(p_entity -> 'paid_count') < p_subscription.paid_count
    and p_subscription.arrived_at > billing.clock() - interval '10 minutes';
end $$;

-- Applies the gateway's answer about a subscription of the mirror, as the events would that it stands for. The caller holds
-- the lock on the user.
create or replace function billing.apply_subscription_read(
  p_user_id uuid,
  p_gateway_subscription_id text,
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
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where (m.user_id, m.gateway_subscription_id) = (p_user_id, p_gateway_subscription_id)
  for update;
  if not found or billing.is_outdated(v_mirrored, p_entity) then
    return jsonb_build_object('applied', false, 'lacks_payment', false);
  end if;
  -- The user is known, so the notes in the answer are not used.
  v_entity := v_entity
    || jsonb_build_object('id', p_gateway_subscription_id, 'notes', jsonb_build_object('user_id', p_user_id));
  select e.event, e.entity into v_event, v_entity from billing.missed_event(v_mirrored, v_entity) e;
  select coalesce(bool_or(billing.apply_answer(
    concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, a.mark), a.event,
    jsonb_build_object('subscription', jsonb_build_object('entity', a.entity)), a.at,
    case when p_is_missed then coalesce(v_mirrored.period_end - interval '1 day', 'infinity') end
  )), false)
  into v_applied
  from (
    values
      -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
      (case when v_event = 'subscription.charged' then v_entity ->> 'current_end' end, v_event, v_entity,
        v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end,
        v_event is not null),
      (v_second::text, case v_status when 'active' then 'subscription.updated' else 'subscription.' || v_status end,
        p_entity || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes'), to_jsonb(v_second),
        v_status is distinct from v_mirrored.gateway_status
          and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
          and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused')))
  ) a (mark, event, entity, at, is_due)
  where a.is_due;

  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
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
    gateway_status = coalesce(v_status, 'unknown'),
    gateway_status_event_at = v_now,
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where (m.user_id, m.gateway_subscription_id) = (p_user_id, p_gateway_subscription_id)
  returning m.* into v_mirrored;
  perform billing.look_again(p_user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

-- One that was not authorised in time is cancelled, so that it never bills. API: service_role only.
create or replace function public.apply_subscription_order(
  p_id uuid,
  p_entity text default null -- the subscription as the gateway has it, JSON; null: the gateway does not know it
)
returns jsonb -- {applied, lacks_payment}: as apply_gateway_subscription
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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

create or replace function public.apply_statement_item(
  p_list text,
  p_item text, -- the payment of a cycle, a refund or a dispute, JSON
  p_invoice text default null, -- of the payment, JSON; null, here and below: the gateway has none
  p_subscription text default null -- of the invoice, JSON
)
returns jsonb -- {applied, subscriptions: [{id, gateway_subscription_id}]}: whether it changed anything; of a cycle, whose
-- subscription it is, as public.apply_gateway_subscription takes it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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

-- Grants a tier without a payment, until a given time. Paid access continues below the grant.
create or replace function billing.perform_grant(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_email constant text := billing.lock_user(p_action.user_id);
  v_grant billing.grants;
begin
  perform billing.require(p_action.user_id is not null, 'PS400', 'grant needs email: the customer''s e-mail address or id');
  perform billing.require(v_email is not null, 'PS404', 'grant needs email: the customer was deleted');
  perform billing.require(
    exists (select from public.plans p where p.tier = p_action.tier), 'PS400',
    format('grant needs tier: "%s" is no tier of public.plans', p_action.tier)
  );
  -- What follows from it, such as the credit of an order, could not be calculated of an infinite or distant end.
  perform billing.require(
    p_action.until > billing.clock() and p_action.until <= billing.clock() + interval '100 years', 'PS400',
    'grant needs until: a time in the future, at most 100 years ahead'
  );
  perform billing.check_grant_limits(p_action);
  select * into v_grant
  from billing.grants g
  where g.user_id = p_action.user_id and g.tier = p_action.tier and g.ended_at is null and g.until >= p_action.until
    and g.entitlements is not distinct from p_action.entitlements
  order by g.id desc
  limit 1;
  perform billing.require(
    v_grant.id is null, 'PS409',
    format('grant %s gives %s until %s already', v_grant.id, v_grant.tier, billing.iso_time(v_grant.until))
  );
  perform billing.note_cause('grant', p_action.reason);
  insert into billing.grants (user_id, tier, until, reason, entitlements, at)
  values (
    p_action.user_id, p_action.tier, date_trunc('milliseconds', p_action.until), p_action.reason, p_action.entitlements,
    greatest(
      billing.clock(),
      (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_action.user_id)
    )
  )
  returning id into p_action.reference;
  perform billing.settle_access(p_action.user_id, v_email);
  p_action.result := format(
    'Grant %s gives %s until %s.', p_action.reference, p_action.tier, billing.day_text(p_action.until)
  );
  return p_action;
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
  -- The functions that the views call.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.proname = any ('{
        clock, findings_of, find_ruling, find_shown, attach_gateway_subscription, since_of, find_stop,
        newest_purchase, is_superseded, renews_purchase, find_user, kept, is_lost, lost_amount, paid_for,
        purchases_on_credit, is_bought, tier_bought, json_text, json_uuid, json_integer, grace_days, billed_until,
        is_refunded, user_of_message, refunded_amount, refundable_amount, refundable_beside, number_of, is_refused, is_refund_owed,
        is_waiting, why_text, amount_text,
        day_text, gateway_link, outbox_state, missing_parts, schedule_faults, search_customers, user_id_of,
        authorised_at, cancelled_by_user_at, is_cancelled_for_end, unnamed_cycles, requested_at, state_of_billing,
        next_change, is_told, price_answer, interval_answer, iso_time, find_successor, mirrored_end, is_billed,
        price_sold
      }')
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, reason) on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
end $$;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."await_periods"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."await_periods"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."capture_settles"(public.payments, text, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."capture_settles"(public.payments, text, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_outdated"(billing.gateway_subscriptions, jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_outdated"(billing.gateway_subscriptions, jsonb) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."look_again"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."look_again"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;

-- What waits for its start is read daily from now on.
update billing.subscription_orders
set next_check_at = billing.clock()
where starts_at > billing.clock() + interval '49 hours' and gateway_subscription_id is not null and next_check_at = starts_at;
