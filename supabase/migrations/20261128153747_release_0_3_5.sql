-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

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
    v_ended_at := billing.iso_time(v_cancelled_at);
    v_end := jsonb_build_object(
      'key', format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
      'ends_at', v_ended_at
    ) || case
      when v_reason = 'refunded'
        then billing.refund_of(v_source) || billing.outlook(p_user_id)
      -- After the days of grace, as the mail about the failed charge says.
      when v_reason = 'lapsed' and v_source.lapses_at > v_source.ends_at and v_source.lapses_at <= v_now
        then jsonb_build_object('access_ended_at', billing.iso_time(v_source.lapses_at))
      else '{}'
    end;
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  if v_is_changed and v_source.cancel_at_period_end then perform billing.release_cancellation_mail(p_user_id); end if;
  return case when v_source.id is not null then v_is_changed end;
end $$;

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
    -- See billing.announce_other_charge.
    select format('change-undone/%s/%s', p.id, how.name)
    from public.payments p
    cross join unnest(array['lost', 'kept', 'never captured']) how (name)
    where p.user_id = p_user_id and num_nonnulls(p.dispute_status, p.uncaptured_at) > 0
  ));
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

-- Returns what a mail says about the next charge.
create function billing.outlook(p_user_id uuid)
returns jsonb -- {next_charge: see billing.next_charge_answer, is_open: true if there is none, and the customer may authorise one}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant jsonb := billing.next_charge_answer(p_user_id);
begin
  -- The customer may have authorised it, and the gateway's word is late.
  if v_next is null and exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.expires_at > billing.clock()
      and not billing.is_known(m)
      and num_nonnulls(m.undone_at, m.stops_at) = 0
  ) then
    return '{"next_charge": null, "is_open": true}';
  end if;
  return jsonb_build_object('next_charge', v_next);
end $$;

-- Sets the period of a purchase: from now, or from the end of what it follows. It extends what it follows, if that was sold
-- for the same tier, currency and months, and rules or begins later: both are shown as one period. Else it begins, and rules,
-- when the other one ends.
create or replace function billing.set_period(
  p_purchase billing.purchase,
  p_payment public.payments,
  p_tier text,
  p_months integer
)
returns public.payments language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_followed billing.sources;
begin
  v_followed := billing.find_followed(
    p_payment.user_id, p_tier, p_payment.plan_id, billing.price_sold(p_payment), p_payment.starts,
    case when p_payment.credit is null then p_purchase.early_renewal end
  );
  p_payment.chain_id := null;
  p_payment.extends_from := date_trunc('milliseconds', v_followed.ends_at);
  p_payment.chain_start := p_payment.extends_from;
  -- The id first: after a null the ruling would be sought in vain.
  if v_followed.id is not null
    and v_followed.tier = p_tier
    -- Of what was not sold by a price they are not known.
    and (((v_followed.sold).currency, (v_followed.sold).months) = (p_payment.currency, p_months)) is not false
    -- The row may show what has ended since.
    and (v_followed.is_upcoming or ((billing.find_ruling(p_payment.user_id)).source).tier = p_tier)
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
  p_payment.period_end := billing.add_months(p_payment.period_start, p_months, p_purchase.time_zone);
  return p_payment;
end $$;

-- Enqueues the mail that what the customer pays for goes on: after a resumption, or after a change was undone. The caller has
-- settled the user's access.
create or replace function billing.announce_going_on(
  p_user_id uuid,
  p_email text, -- of the user
  p_kind text, -- subscription-resumed or change-undone
  p_subject text -- with the kind, the key
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_commitment constant billing.commitment := billing.find_commitment(p_user_id);
  v_next_tier constant text := billing.next_change(p_user_id) ->> 'tier';
begin
  perform billing.enqueue_mail(p_user_id, p_email, p_kind, p_subject, jsonb_build_object(
    'plan_name', coalesce((select p.name from public.plans p where p.id = v_commitment.plan_id), v_commitment.tier, 'basic'),
    -- The end of what runs, where nothing is charged for what follows.
    'valid_until', billing.iso_time(v_commitment.ends_at)
  ) || billing.outlook(p_user_id) || case
    -- A change that waits goes on, too.
    when v_next_tier is not null then jsonb_build_object('next_plan_name', coalesce(
      (select p.name from public.plans p where p.tier = v_next_tier and p.lookup_key is null), v_next_tier
    ))
    else '{}'
  end);
end $$;

-- Enqueues the mail that something else goes on, and is charged next, because a payment was taken back, or is kept after all.
-- The caller has settled the user's access.
create function billing.announce_other_charge(
  p_payment public.payments,
  p_email text, -- of the user
  p_before jsonb, -- billing.next_charge_answer, before
  p_how text -- lost, kept or never captured: with the payment, the key
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_after constant jsonb := billing.next_charge_answer(p_payment.user_id);
begin
  if v_after is not null and v_after is distinct from p_before then
    perform billing.withdraw_outlook(p_payment.user_id);
    perform billing.withdraw_mails(array['plan-changed/' || p_payment.id]);
    perform billing.announce_going_on(p_payment.user_id, p_email, 'change-undone', p_payment.id || '/' || p_how);
  end if;
end $$;

-- Enqueues the mail about a refund, and withdraws it if the refund failed. Withdraws what a full refund makes untrue. The caller
-- has settled the user's access.
create or replace function billing.announce_refund(
  p_refund jsonb, -- the entity
  p_payment public.payments,
  p_email text, -- of the user
  p_had_access boolean -- before the refund
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant text := billing.json_text(p_refund -> 'id');
  v_after public.subscriptions;
begin
  if p_refund ->> 'status' = 'failed' then perform billing.withdraw_mails(array['payment-refunded/' || v_id]); end if;
  if billing.is_refunded(p_payment) then perform billing.withdraw_mails(array['plan-changed/' || p_payment.id]); end if;
  select * into v_after from public.subscriptions s where s.user_id = p_payment.user_id;
  if p_refund ->> 'status' <> 'processed'
    -- The mail about the end names the refund.
    or p_had_access is true and v_after.status = 'cancelled' and v_after.ended_reason = 'refunded'
    -- An import finds old refunds.
    or billing.json_time(p_refund -> 'created_at') < billing.clock() - interval '30 days'
  then
    return;
  end if;
  perform billing.enqueue_mail(p_payment.user_id, p_email, 'payment-refunded', v_id, jsonb_build_object(
    'amount', billing.json_integer(p_refund -> 'amount'), 'currency', p_payment.currency,
    'plan_name', coalesce((select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'basic'),
    'paid_amount', coalesce(p_payment.paid_amount, p_payment.amount),
    'paid_at', billing.iso_time(coalesce(p_payment.captured_at, p_payment.fulfilled_at, p_payment.created_at)),
    'transaction_id', p_payment.gateway_payment_id,
    'access_plan_name', case when v_after.status = 'active' then coalesce(
      (select p.name from public.plans p where p.id = v_after.plan_id), v_after.tier
    ) end,
    'access_ends_at', case when v_after.status = 'active' then billing.iso_time(v_after.current_period_end) end
  ) || billing.outlook(p_payment.user_id));
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
    perform billing.announce_other_charge(v_payment, v_email, v_next, case v_status when 'lost' then 'lost' else 'kept' end);
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
      v_next := billing.next_charge_answer(v_payment.user_id);
      perform billing.settle_payment(v_payment, v_email);
      perform billing.announce_other_charge(v_payment, v_email, v_next, 'never captured');
    end if;
  end if;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end $$;

-- Returns what a refund of all that is left of a payment changes of what the gateway charges.
create function billing.refund_effect(p_payment public.payments)
returns text -- ends_renewal; resumes_replaced: a subscription that it replaced is charged again; null: nothing
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when num_nonnulls(p_payment.extra_of::text, p_payment.gateway_subscription_id) > 0 then null
    when exists (
      select from billing.next_charge(p_payment.user_id) n
      join billing.gateway_subscriptions m
        on m.user_id = n.user_id
        and m.gateway_subscription_id = n.id
        and m.payment_id = p_payment.id
      where n.kind <> 'subscription'
    ) then 'ends_renewal'
    when exists (
      select from billing.commitments(p_payment.user_id) c
      join billing.gateway_subscriptions m
        on m.user_id = p_payment.user_id
        and m.gateway_subscription_id = c.id
      where c.stop_reason = 'replaced'
        and not billing.is_stop_sent(c.id)
        -- Nothing else replaced it.
        and not exists (
          select from billing.purchases o
          where o.user_id = m.user_id
            and o.id <> p_payment.id::text
            and o.gateway_subscription_id is distinct from c.id
            and o.since > billing.since_of(m)
        )
    ) then 'resumes_replaced'
  end;
end $$;

-- Asks the gateway for a refund: of all that is left, or of a part. Access follows from the refund, as from any other.
create or replace function billing.perform_refund(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant uuid := billing.payment_id_of(p_action.reference);
  v_payment public.payments;
  v_left bigint;
  v_most bigint;
  v_effect text;
begin
  perform billing.require(p_action.reference is not null, 'PS400', 'refund needs reference: the payment');
  perform billing.require((p_action.amount > 0) is not false, 'PS400', 'refund needs an amount above 0');
  select * into v_payment
  from public.payments p
  where p.id = v_id and p.user_id is not distinct from coalesce(p_action.user_id, p.user_id);
  perform billing.require(
    v_payment.id is not null, 'PS404', format('refund needs reference: no payment "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    v_payment.status = 'captured' and v_payment.gateway_payment_id is not null, 'PS409',
    format('payment %s was not captured', p_action.reference)
  );
  -- Two at once would each find all of it left. Read again by the gateway's id: of two payments on an order the other one
  -- may count by now.
  perform billing.lock_gateway_payment(v_payment.gateway_payment_id);
  select * into v_payment from public.payments p where p.gateway_payment_id = v_payment.gateway_payment_id;
  v_left := billing.refundable_amount(v_payment);
  p_action.amount := coalesce(p_action.amount, v_left);
  perform billing.require(
    p_action.amount between 1 and v_left, 'PS409',
    format(
      'of payment %s %s can be refunded: the rest was refunded or asked for before', v_payment.gateway_payment_id,
      billing.amount_text(v_left, v_payment.currency)
    )
  );
  perform billing.require(
    p_action.amount >= 100, 'PS400',
    format('the gateway refunds %s at least', billing.amount_text(100, v_payment.currency))
  );
  if not billing.acts_as_owner(p_action) then
    select s.support_refund_amount into v_most from billing.settings s;
    perform billing.require(
      v_most is null or v_most >= p_action.amount + (
        select coalesce(sum(r.amount), 0)
        from billing.refund_requests r
        where r.payment_id = v_payment.id and r.status <> 'failed'
      ),
      'PS403', format(
        'support may refund %s of a payment at most: the setting support_refund_amount',
        billing.amount_text(v_most, v_payment.currency)
      )
    );
  end if;
  p_action.reference := v_payment.gateway_payment_id;
  p_action.user_id := v_payment.user_id;
  v_effect := billing.refund_effect(v_payment);
  perform billing.enqueue(
    'refund-' || gen_random_uuid(), 'gateway', 'refund',
    jsonb_build_object(
      'gateway_payment_id', v_payment.gateway_payment_id, 'amount', p_action.amount, 'currency', v_payment.currency,
      'support_action', p_action.id::text
    )
  );
  p_action.result := format(
    'The gateway is asked to refund %s of payment %s. %s%s',
    billing.amount_text(p_action.amount, v_payment.currency), v_payment.gateway_payment_id,
    (
      select format('Dispute %s of it is open: if it is lost, the money is gone twice. ', min(d.dispute_id))
      from billing.disputes d
      where d.gateway_payment_id = v_payment.gateway_payment_id and billing.decision_rank(d.status) = 0
      having count(*) > 0
    ),
    case
      when v_payment.extra_of is not null then 'Access does not depend on it.'
      when p_action.amount < v_left then 'Access stays.'
      when v_payment.gateway_subscription_id is not null
        then 'The paid time of its cycle ends when the refund is processed. '
          || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when v_effect = 'ends_renewal' then 'Its access and its renewal end when the refund is processed.'
      when v_effect = 'resumes_replaced' then 'Its access ends when the refund is processed, and what it replaced goes on.'
      else 'Its access ends when the refund is processed. ' || coalesce(billing.next_charge_text(v_payment.user_id), '')
    end
  );
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
  select min(o.reason) as reason
  from (
    select case
      when other.tier = p.tier and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id) then 1
      -- Only a webhook announced this older order, after a newer purchase.
      when p.verified_at is null and other.since > p.since and other.fulfilled_at < p.fulfilled_at then 3
      -- Such as in another tab: the order could credit nothing.
      when p.credit is null and other.fulfilled_at > p.created_at and other.fulfilled_at < p.fulfilled_at then 4
    end as reason
    from running other
    where other.user_id = p.user_id
      and other.id <> p.id
      and other.period_start < p.period_end
      and other.period_end > p.period_start
    union all
    select case
      -- A trial is not paid for.
      when billed.tier = p.tier and num_nonnulls(m.activated_at, m.first_charged_at) > 0 then 2
      -- Only the authorisation counts. A later activation, after the payment, changes nothing.
      when p.verified_at is null and began.at > p.since and began.at < p.fulfilled_at then 3
      when p.credit is null
        and began.at > p.created_at
        and began.at < p.fulfilled_at
        and num_nonnulls(m.activated_at, m.first_charged_at) > 0
        then 4
    end
    from billing.sources billed
    join billing.gateway_subscriptions m on m.user_id = billed.user_id and m.gateway_subscription_id = billed.id
    cross join lateral (select billing.authorised_at(m) as at) began
    where billed.user_id = p.user_id
      and billed.kind = 'gateway_subscription'
      and billed.ended_at is null
      and billed.ends_at > billing.clock()
      and billed.starts_at < p.period_end
      and billed.ends_at > p.period_start
  ) o
) overlap
where overlap.reason is not null;

-- Returns who cancelled or resumed at a time. Support acts for the customer, in one transaction with its row.
create function billing.actor_of(p_user_id uuid, p_action billing.support_action, p_at timestamptz)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case when exists (
    select from billing.support_actions a where a.user_id = p_user_id and a.action = p_action and a.created_at = p_at
  ) then 'support' else 'the customer' end;
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
        format('Order of %s for %s.', billing.amount_text(p.amount, p.currency), p.tier)
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

create or replace view billing.customer_payments with (security_invoker = true) as
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

comment on column billing.customer_payments.refund_effect is 'What a refund of all that is left changes of the next charges: ends_renewal, resumes_replaced. Null: nothing.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."actor_of"(uuid, billing.support_action, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."actor_of"(uuid, billing.support_action, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."announce_other_charge"(public.payments, text, jsonb, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_other_charge"(public.payments, text, jsonb, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."outlook"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."outlook"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refund_effect"(public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refund_effect"(public.payments) TO "service_role";

revoke execute on all functions in schema billing from public;
