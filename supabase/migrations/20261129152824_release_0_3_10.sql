-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.announce_other_charge(public.payments,pg_catalog.text,pg_catalog.jsonb,pg_catalog.text);

drop function billing.announce_problem(pg_catalog.text,billing.gateway_subscriptions,pg_catalog.jsonb,pg_catalog.text);

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
        or exists (select from billing.refunds r where r.gateway_payment_id = p.gateway_payment_id and r.status = 'failed')
      )
  ));
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
  if v_status = 'failed' then v_next := billing.next_charge_answer(v_payment.user_id); end if;
  update public.payments p
  set refunded_amount = billing.refunded_amount(p.gateway_payment_id)
  where v_payment.id in (p.id, p.extra_of) and p.refunded_amount <> billing.refunded_amount(p.gateway_payment_id);
  v_is_settled := found;
  if v_is_settled then
    perform billing.settle_kept(v_payment, v_email);
    -- What the refund ended goes on. What was captured meanwhile has the mail of a payment.
    if v_status = 'failed' and v_payment.fulfilled_at is not null then
      perform billing.announce_other_charge(v_payment, v_email, v_next, true);
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
    -- One mail for each cycle that was not charged: a new card may come without a charge.
    concat_ws('/', v_id, case
      when p_status <> 'completed'
        then billing.iso_time(greatest(v_paid_until, billing.json_time(p_entity -> 'current_start')))
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
      perform billing.announce_other_charge(v_payment, v_email, v_next, false);
    end if;
  end if;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end $$;

-- Returns what a line has beyond the price of its payment: the fee that the customer paid on top, below zero where refunds and lost
-- disputes reach it. No document has it.
create or replace function billing.fee_on_top(p_line billing.settlement_lines, p_payment public.payments)
returns bigint -- paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_line.type = 'payment' then p_line.amount - round(p_line.amount::numeric * p_payment.amount / p_payment.paid_amount)
    when p_line.debit > 0 then coalesce((
      select round(
        p_line.amount::numeric
          * (greatest(f.before - p_payment.amount, 0) - greatest(f.before + f.amount - p_payment.amount, 0)) / f.amount
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

REVOKE ALL ON FUNCTION "billing"."other_charge_subjects"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."other_charge_subjects"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
