-- The events about payments, refunds and disputes, and the dispatch of an event by its name. Contract: "Events".

-- Finds the payment of a gateway's payment entity: by the payment's id, also of an extra payment, else by the order's id,
-- else by the order's receipt (our id without dashes, known before the order's id). The notes are not used: the browser sets
-- them.
create function billing.find_payment(p_entity jsonb, p_order jsonb) -- p_order: the order's entity, if the event has one
returns public.payments -- all null: not found. The row is not locked: read it again under its lock
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := billing.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    billing.json_text(p_entity -> 'order_id'), billing.json_text(p_order -> 'id')
  );
  v_of_order public.payments;
begin
  -- The usual case: the order is known and has no other payment.
  select * into v_of_order from public.payments p where p.gateway_order_id = v_gateway_order_id;
  if found and (v_of_order.gateway_payment_id is null or v_of_order.gateway_payment_id = v_gateway_payment_id) then
    return v_of_order;
  end if;
  return (
    select p
    from public.payments p
    where p.id = coalesce(
      (select coalesce(o.extra_of, o.id) from public.payments o where o.gateway_payment_id = v_gateway_payment_id),
      v_of_order.id,
      (
        select r.id
        from public.payments r
        where r.id = substring(billing.json_text(p_order -> 'receipt') from '^[0-9a-f]{32}$')::uuid and r.gateway_order_id is null
      )
    )
  );
end $$;

-- Returns whether the gateway says that an order is paid: the order itself, or a captured payment of its amount.
create function billing.is_paid(p_payment public.payments, p_entity jsonb, p_order jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_paid constant jsonb := case
    when billing.json_text(p_order -> 'status') = 'paid'
      and billing.json_text(p_order -> 'id') = coalesce(p_payment.gateway_order_id, billing.json_text(p_order -> 'id'))
      and billing.json_integer(p_order -> 'amount') is not null
      then p_order
    else p_entity
  end;
begin
  return coalesce(
    billing.json_integer(v_paid -> 'amount') = p_payment.amount
      and coalesce(billing.json_text(v_paid -> 'currency'), p_payment.currency) = p_payment.currency
      and coalesce(billing.json_text(p_entity -> 'status'), 'captured') = 'captured',
    false
  );
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
create function billing.apply_payment_captured(p_entity jsonb, p_order jsonb)
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

-- Applies payment.failed, a failed attempt on an order, and enqueues its mail. A payment that another attempt captured
-- remains captured. Contract: "Failed attempts".
create function billing.apply_payment_failed(
  p_entity jsonb,
  p_body_sha256 bytea -- for the mail's key, if the entity has no id of at most 200 characters
)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_order_id constant text := billing.json_text(p_entity -> 'order_id');
  v_gateway_payment_id constant text := billing.json_text(p_entity -> 'id');
  v_payment public.payments;
  v_tier text;
begin
  if v_gateway_order_id is null then return 'ignored: payment.entity.order_id'; end if;

  select * into v_payment from public.payments p where p.gateway_order_id = v_gateway_order_id for update;
  if not found then return 'unmatched'; end if;
  perform billing.note_missing_user(v_payment);
  if v_payment.status = 'captured' then return 'stale'; end if;
  -- By now the ledger may have purged the event. A repeat must not replace newer error texts or send a second mail.
  if v_payment.status = 'failed' and v_payment.created_at < billing.clock() - interval '90 days' then
    return 'stale';
  end if;

  v_tier := coalesce(v_payment.tier, v_payment.meta ->> 'tier');
  update public.payments p
  set status = 'failed',
    tier = v_tier,
    -- The bank's texts may hold personal data, so they are not stored for a payment without a user.
    meta = case
      when p.user_id is null then p.meta
      else jsonb_build_object(
        'error_code', p_entity -> 'error_code',
        'error_description', p_entity -> 'error_description',
        'error_reason', p_entity -> 'error_reason'
      )
    end
  where p.id = v_payment.id;

  perform billing.enqueue_mail(
    v_payment.user_id, u.email, 'payment-failed',
    case
      when char_length(v_gateway_payment_id) <= 200 then v_gateway_payment_id
      else encode(p_body_sha256, 'hex')
    end,
    jsonb_build_object(
      'tier', coalesce(nullif(v_tier, ''), 'basic'), 'amount', v_payment.amount, 'currency', v_payment.currency,
      'reason', billing.json_text(p_entity -> 'error_description')
    )
  )
  from billing.find_user(v_payment.user_id) u;
  return 'applied';
end $$;

-- Ends the source of a fulfilled payment that was refunded in full, or lets it run again; also one that an admin ended after
-- a lost dispute, if nothing is lost any more.
create function billing.settle_full_refund(p_payment public.payments, p_email text)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_is_refunded constant boolean := billing.is_refunded(p_payment);
begin
  update public.payments p
  set ended_at = case when v_is_refunded then billing.clock() end,
    ended_reason = case when v_is_refunded then 'refunded' end
  where p.id = p_payment.id
    and p.fulfilled_at is not null
    and case
      when v_is_refunded then p.ended_at is null
      else
        p.ended_reason = 'refunded'
        or p.ended_reason = 'dispute_lost' and billing.lost_amount(p.gateway_payment_id) = 0
    end;
  if found then perform billing.settle_payment(p_payment, p_email); end if;
end $$;

-- Applies what is kept of a payment to its access, after a refund, a lost dispute, or the end of one. A full refund ends the
-- source, and that of a charge the time that its cycle paid. If the refund fails later, the source runs again. The caller holds
-- the locks on the user and on the payment.
create function billing.settle_kept(p_payment public.payments, p_email text) -- the payment as it was before
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment public.payments;
  v_is_refunded boolean;
begin
  select * into v_payment from public.payments p where p.id = p_payment.id for update;
  if v_payment.gateway_subscription_id is not null then
    update billing.gateway_subscriptions m
    set has_refunds = true, paid_until = billing.paid_until(m)
    where m.gateway_subscription_id = v_payment.gateway_subscription_id
      and coalesce(m.user_id = v_payment.user_id, m.gateway_subscription_id <> '');
    if p_email is not null then perform billing.settle_access(v_payment.user_id, p_email); end if;
    return;
  end if;
  if v_payment.status = 'captured' then v_payment := billing.count_best_payment(v_payment); end if;
  v_is_refunded := billing.is_refunded(v_payment);

  -- The capture arrived while the payment was refunded in full. If the refund failed since, the payment is fulfilled now.
  if v_payment.fulfilled_at is null then
    if v_payment.status = 'captured'
      and billing.is_refunded(p_payment)
      and not v_is_refunded
    then
      perform billing.fulfil_payment(
        billing.lock_purchase(v_payment.id, v_payment.gateway_payment_id), p_email, null, v_payment.confirmed_at is not null
      );
    end if;
    return;
  end if;

  perform billing.settle_full_refund(v_payment, p_email);
end $$;

-- Enqueues the mail about a refund, and withdraws it if the refund failed. Withdraws what a full refund makes untrue. The caller
-- has settled the user's access.
create function billing.announce_refund(
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
    'plan_name', billing.plan_name(p_payment.plan_id, p_payment.tier),
    'paid_amount', coalesce(p_payment.paid_amount, p_payment.amount),
    'paid_at', billing.iso_time(coalesce(p_payment.captured_at, p_payment.fulfilled_at, p_payment.created_at)),
    'transaction_id', p_payment.gateway_payment_id,
    'access_plan_name', case when v_after.status = 'active' then billing.plan_name(v_after.plan_id, v_after.tier) end,
    'access_ends_at', case when v_after.status = 'active' then billing.iso_time(v_after.current_period_end) end
  ) || billing.outlook(p_payment.user_id));
end $$;

-- Applies refund.created, refund.processed or refund.failed, in any order, before or after their payment arrives. A refund
-- keeps its payment and its amount: what names another one changes nothing.
-- Contract: "Refunds".
create function billing.apply_refund(p_refund jsonb, p_payment jsonb) -- the entities; null: the event has none
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

-- Applies the gateway's answer to a refund that was asked for here. What it does not say is known, and a status that is not
-- known here is pending: the refund was made.
create function billing.apply_refund_answer(p_message billing.outbox, p_refund jsonb) -- the entity
returns text -- the outcome
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment_id constant text := p_message.payload ->> 'gateway_payment_id';
  v_status text := billing.json_text(p_refund -> 'status');
begin
  if (v_status in ('processed', 'failed')) is not true then v_status := 'pending'; end if;
  perform billing.note_cause('refund.' || v_status, v_payment_id);
  return billing.apply_refund(
    p_refund || jsonb_build_object(
      'payment_id', v_payment_id, 'status', v_status,
      'notes', jsonb_build_object('support_action', p_message.payload -> 'support_action'),
      'amount', coalesce(billing.json_integer(p_refund -> 'amount'), (p_message.payload ->> 'amount')::bigint)
    ),
    null
  );
end $$;

-- Applies an event of a dispute. The newest event of each dispute counts, also after a decision; of two in one second the
-- decided one. An event without a time may be a repeat of an old one: it counts if it is the first one or has the decision, as
-- of its arrival. One without an id is about the newest dispute of its payment.
-- Contract: "Disputes".
create function billing.apply_dispute(
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

create function billing.apply_event(p_body jsonb, p_body_sha256 bytea, p_arrived_at timestamptz) -- the first delivery
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_read constant record := billing.classify_event(p_body);
  v_entity constant jsonb := p_body #> array['payload', v_read.kind, 'entity'];
  v_payment constant jsonb := billing.json_object(p_body #> '{payload,payment,entity}');
begin
  return case
    when v_read.ignored is not null then v_read.ignored
    when v_read.kind = 'subscription'
      then billing.apply_subscription_event(v_read.event, v_entity, v_payment, billing.event_time(p_body), p_arrived_at)
    when v_read.kind = 'refund' then billing.apply_refund(
      -- If the entity has no status, the name of the event gives it.
      jsonb_build_object('status', replace(split_part(v_read.event, '.', 2), 'created', 'pending')) || v_entity, v_payment
    )
    when v_read.kind = 'dispute' then billing.apply_dispute(
      v_entity, v_payment, billing.disputed_payment_id(p_body), billing.event_time(p_body)
    )
    when v_read.kind = 'settlement' then case public.apply_settlement(v_entity::text) ->> 'outcome'
      when 'stored' then 'applied'
      else 'ignored: settlement.entity'
    end
    when v_read.event = 'payment.failed' then billing.apply_payment_failed(v_entity, p_body_sha256)
    else billing.apply_payment_captured(v_entity, billing.json_object(p_body #> '{payload,order,entity}'))
  end;
end $$;

-- Returns the events, with their keys, that would have announced a gateway's payment and its refunds. The refunds are read
-- from their own list, because the payment's total includes pending refunds.
create function billing.events_of(p_entity jsonb) -- the payment, with its list of refunds and with its order if it has any
returns table (key text, event text, payload jsonb)
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select
    concat_ws(':', 'reconcile', p_entity ->> 'id', p_entity ->> 'status', p_entity #>> '{order,status}'),
    'payment.' || replace(p_entity ->> 'status', 'refunded', 'captured'),
    jsonb_build_object('payment', jsonb_build_object('entity', (p_entity - 'refunds' - 'order') || jsonb_build_object(
      'status', replace(p_entity ->> 'status', 'refunded', 'captured')
    )))
      || case when p_entity ? 'order' then jsonb_build_object('order', jsonb_build_object('entity', p_entity -> 'order')) else '{}' end
  where (
      p_entity ->> 'status' in ('captured', 'failed')
      -- One that was never captured is refunded, too.
      or p_entity ->> 'status' = 'refunded' and p_entity ->> 'captured' in ('true', '1')
    )
    and billing.json_text(p_entity -> 'id') is not null
  union all
  select
    concat_ws(':', 'reconcile', r.refund ->> 'id', r.refund ->> 'status'),
    'refund.' || (r.refund ->> 'status'),
    jsonb_build_object(
      'payment', jsonb_build_object('entity', p_entity - 'refunds' - 'order'),
      'refund', jsonb_build_object('entity', r.refund || jsonb_build_object('payment_id', p_entity -> 'id'))
    )
  from jsonb_array_elements(case when jsonb_typeof(p_entity -> 'refunds') = 'array' then p_entity -> 'refunds' else '[]' end)
    r (refund)
  where jsonb_typeof(r.refund) = 'object'
    and r.refund ->> 'status' in ('processed', 'failed')
    and billing.json_text(r.refund -> 'id') is not null
    and billing.json_text(p_entity -> 'id') is not null
$$;
