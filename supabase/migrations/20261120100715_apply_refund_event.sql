-- Refunds and disputes. A payment that was given back in full carries nothing any more; part of it, or a dispute, changes
-- no access.
-- Depends on: _apply_payment_event, _hand_over.

-- Ends what a payment carries that was given back in full: the newest other payment whose own period still runs takes
-- over, else access ends. The caller holds the locks on the user and on the payment.
create function private.end_refunded_access(
  p_payment public.payments,
  p_email text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_subscription public.subscriptions;
  v_heir private.paid_periods;
begin
  select * into v_subscription from public.subscriptions s where s.user_id = p_payment.user_id for update;
  if not found
    or v_subscription.status <> 'active'
    or v_subscription.gateway_subscription_id is not null
    or v_subscription.current_period_end is distinct from p_payment.period_end
  then
    return;
  end if;

  select * into v_heir
  from private.paid_periods p
  where p.user_id = p_payment.user_id
    and p.payment_id <> p_payment.id
    and p.period_end > private.clock()
  order by p.fulfilled_at desc, p.payment_id
  limit 1;
  if found then
    perform private.hand_over(v_subscription.id, v_heir, p_email);
    return;
  end if;

  update public.subscriptions s
  set status = 'cancelled',
    cancelled_at = private.clock(),
    ended_reason = 'refunded'
  where s.id = v_subscription.id;
  update public.profiles p set subscription_tier = 'free' where p.user_id = p_payment.user_id;
end
$$;
revoke execute on function private.end_refunded_access(public.payments, text) from public;
grant execute on function private.end_refunded_access(public.payments, text) to service_role;

-- What of a payment was given back so far, by the gateway's own count. It may come before the capture does.
create function private.apply_refund(
  p_entity jsonb -- the payment
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_refunded constant bigint := private.json_integer(p_entity -> 'amount_refunded');
  v_payment public.payments := private.find_payment(p_entity, null);
  v_email text;
begin
  if v_refunded is null then
    return 'ignored: payment.entity.amount_refunded';
  end if;
  if v_payment.id is null then
    return 'unmatched';
  end if;

  select u.email into v_email from private.find_user(v_payment.user_id, true) u;
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  -- Another payment on the order was given back: not the one that counts.
  if v_payment.gateway_payment_id <> private.json_text(p_entity -> 'id') then
    return 'mismatch';
  end if;
  if v_refunded <= v_payment.refunded_amount then
    return 'already';
  end if;

  update public.payments p
  set refunded_amount = v_refunded,
    -- Before the capture came: says which attempt on the order it was, so that another one still counts.
    gateway_payment_id = coalesce(p.gateway_payment_id, private.json_text(p_entity -> 'id'))
  where p.id = v_payment.id;
  if v_payment.fulfilled_at is not null
    and v_payment.refunded_amount < v_payment.amount
    and v_refunded >= v_payment.amount
  then
    perform private.end_refunded_access(v_payment, v_email);
  end if;
  return 'applied';
end
$$;
revoke execute on function private.apply_refund(jsonb) from public;
grant execute on function private.apply_refund(jsonb) to service_role;

-- Where a dispute stands. A decided one stays decided, whatever comes late.
create function private.apply_dispute(
  p_dispute jsonb,
  p_entity jsonb -- the payment, where the event brings it
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
  if v_payment.id is null then
    return 'unmatched';
  end if;
  -- About another payment on the order: not the one that counts.
  if v_payment.gateway_payment_id <> private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id')) then
    return 'mismatch';
  end if;
  update public.payments p
  set dispute_status = v_status
  where p.id = v_payment.id
    and p.dispute_status is distinct from v_status
    and (p.dispute_status is null or p.dispute_status not in ('won', 'lost', 'closed'));
  return case when found then 'applied' else 'stale' end;
end
$$;
revoke execute on function private.apply_dispute(jsonb, jsonb) from public;
grant execute on function private.apply_dispute(jsonb, jsonb) to service_role;
