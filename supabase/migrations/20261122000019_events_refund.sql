-- The events of refunds and disputes. A payment that was refunded in full gives no access. A partial refund or a dispute
-- does not change access. Contract: "Refunds", "Disputes".

-- Applies a payment's refunds to its access. A full refund ends the source. If the refund fails later, the source runs
-- again. The caller holds the locks on the user and on the payment.
create function private.settle_refunds(
  p_payment public.payments,
  p_email text
)
returns boolean -- whether a refunded amount changed
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments := p_payment;
  v_is_changed boolean;
  v_is_refunded boolean;
begin
  update private.extra_payments x
  set refunded_amount = private.refunded_amount(x.gateway_payment_id)
  where x.payment_id = p_payment.id
    and x.refunded_amount <> private.refunded_amount(x.gateway_payment_id);
  v_is_changed := found;
  v_payment.refunded_amount := private.refunded_amount(p_payment.gateway_payment_id);
  if v_payment.refunded_amount <> p_payment.refunded_amount then
    v_is_changed := true;
    update public.payments p set refunded_amount = v_payment.refunded_amount where p.id = p_payment.id;
  end if;
  if not v_is_changed then
    return false;
  end if;
  if v_payment.status = 'captured' then
    v_payment := private.count_best_payment(v_payment);
  end if;
  v_is_refunded := private.is_refunded(v_payment);

  -- The capture arrived while the payment was refunded in full. If the refund failed since, the payment is fulfilled now.
  if v_payment.fulfilled_at is null then
    if v_payment.status = 'captured' and private.is_refunded(p_payment) and not v_is_refunded then
      perform private.fulfil_payment(v_payment, p_email, null, v_payment.confirmed_at is not null);
    end if;
    return true;
  end if;

  update public.payments p
  set ended_at = case when v_is_refunded then private.clock() end,
    ended_reason = case when v_is_refunded then 'refunded' end
  where p.id = v_payment.id
    and case when v_is_refunded then p.ended_at is null else p.ended_reason = 'refunded' end;
  if found then
    perform private.settle_payment(v_payment, p_email);
  end if;
  return true;
end
$$;
grant execute on function private.settle_refunds(public.payments, text) to service_role;

-- Applies the refunds of a cycle's payment to its gateway subscription.
create function private.settle_charge_refunds(
  p_gateway_payment_id text
)
returns boolean -- whether a refunded amount changed; null: the payment paid no cycle
language plpgsql
set search_path = ''
as $$
declare
  v_subscription private.gateway_subscriptions;
  v_email text;
  v_is_changed boolean;
begin
  for v_subscription in
    select m.*
    from private.gateway_charges c
    join private.gateway_subscriptions m
      on m.user_id = c.user_id
      and m.gateway_subscription_id = c.gateway_subscription_id
    where c.gateway_payment_id = p_gateway_payment_id
      and c.gateway_payment_id <> ''
    order by m.user_id
  loop
    v_email := private.lock_user(v_subscription.user_id);
    update private.gateway_charges c
    set refunded_amount = private.refunded_amount(p_gateway_payment_id)
    where c.user_id = v_subscription.user_id
      and c.gateway_subscription_id = v_subscription.gateway_subscription_id
      and c.gateway_payment_id = p_gateway_payment_id
      and c.refunded_amount <> private.refunded_amount(p_gateway_payment_id);
    v_is_changed := coalesce(v_is_changed, false) or found;
    select * into v_subscription
    from private.gateway_subscriptions m
    where m.user_id = v_subscription.user_id
      and m.gateway_subscription_id = v_subscription.gateway_subscription_id
    for update;
    update private.gateway_subscriptions m
    set has_refunds = true,
      paid_until = private.paid_until(v_subscription)
    where m.user_id = v_subscription.user_id
      and m.gateway_subscription_id = v_subscription.gateway_subscription_id
      and (not m.has_refunds or m.paid_until is distinct from private.paid_until(v_subscription));
    if found and v_email is not null then
      perform private.settle_access(v_subscription.user_id, v_email);
    end if;
  end loop;
  return v_is_changed;
end
$$;
grant execute on function private.settle_charge_refunds(text) to service_role;

-- Applies refund.created, refund.processed or refund.failed, in any order, before or after their payment arrives.
-- Contract: "Refunds".
create function private.apply_refund(
  p_refund jsonb,
  p_payment jsonb -- the payment's entity, if the event has one
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_refund_id constant text := private.json_text(p_refund -> 'id');
  v_gateway_payment_id constant text := coalesce(
    private.json_text(p_refund -> 'payment_id'),
    private.json_text(p_payment -> 'id')
  );
  v_amount constant bigint := private.json_integer(p_refund -> 'amount');
  v_status constant text := private.json_text(p_refund -> 'status');
  v_payment public.payments;
  v_email text;
  v_is_news boolean;
  v_changes_charge boolean;
begin
  if v_refund_id is null or v_gateway_payment_id is null or v_amount is null or v_amount < 0
    or (v_status in ('pending', 'processed', 'failed')) is not true
  then
    return 'ignored: refund.entity';
  end if;
  perform private.lock_gateway_payment(v_gateway_payment_id);
  v_payment := private.find_payment(
    coalesce(p_payment, '{}') || jsonb_build_object('id', v_gateway_payment_id),
    null
  );
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  v_email := private.lock_user(v_payment.user_id);
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  -- The refund is stored even without its payment, which reads its refunds when it arrives.
  v_is_news := private.merge_refund(v_refund_id, v_gateway_payment_id, v_amount, v_status);
  v_changes_charge := private.settle_charge_refunds(v_gateway_payment_id);
  if v_payment.id is not null and private.settle_refunds(v_payment, v_email) then
    return 'applied';
  end if;
  return case
    when v_payment.id is null and v_changes_charge is null then 'unmatched'
    when v_is_news or v_changes_charge then 'applied'
    else 'already'
  end;
end
$$;
grant execute on function private.apply_refund(jsonb, jsonb) to service_role;

-- Returns whether an event changes the known status of a dispute. A decided dispute does not change any more. An event
-- without a time counts only if it is the first one or has the decision: it may be a repeat of an old event.
create function private.is_dispute_news(
  p_known_status text, -- null: no dispute is known
  p_known_at timestamptz,
  p_status text,
  p_created_at timestamptz -- of the event; null: it has none
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_known_status is null
    or p_status <> p_known_status
      and p_known_status not in ('won', 'lost', 'closed')
      and (
        p_status in ('won', 'lost', 'closed')
        or coalesce(p_created_at >= p_known_at, p_created_at is not null)
      );
end
$$;
grant execute on function private.is_dispute_news(text, timestamptz, text, timestamptz) to service_role;

-- Stores the status of a dispute.
create function private.apply_dispute(
  p_dispute jsonb,
  p_entity jsonb, -- the payment's entity, if the event has one
  p_created_at timestamptz -- of the event; null: it has none
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_status constant text := left(private.json_text(p_dispute -> 'status'), 100);
  v_payment public.payments := private.find_payment(
    coalesce(p_entity, '{}') || jsonb_build_object('id', coalesce(p_dispute -> 'payment_id', p_entity -> 'id')),
    null
  );
begin
  if v_status is null then
    return 'ignored: dispute.entity.status';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(
      v_payment.id,
      private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id'))
    );
  end if;
  if v_payment.id is null then
    -- The payment may have paid a cycle.
    update private.gateway_charges c
    set dispute_status = v_status,
      dispute_event_at = greatest(c.dispute_event_at, p_created_at)
    where c.gateway_payment_id = private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id'))
      and c.gateway_payment_id <> ''
      and private.is_dispute_news(c.dispute_status, c.dispute_event_at, v_status, p_created_at);
    if found then
      return 'applied';
    end if;
    return 'unmatched';
  end if;
  -- The dispute is about an extra payment on the order.
  if v_payment.gateway_payment_id <> private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id')) then
    return 'mismatch';
  end if;
  update public.payments p
  set dispute_status = v_status,
    dispute_event_at = greatest(p.dispute_event_at, p_created_at)
  where p.id = v_payment.id
    and private.is_dispute_news(p.dispute_status, p.dispute_event_at, v_status, p_created_at);
  return case when found then 'applied' else 'stale' end;
end
$$;
grant execute on function private.apply_dispute(jsonb, jsonb, timestamptz) to service_role;
