-- Refunds and disputes. A payment that was given back in full carries nothing any more; part of it, or a dispute, changes
-- no access.
-- Depends on: _apply_payment_event, _extra_payments, _hand_over.

-- Takes back what a payment added that was given back in full: those that were added to it move up, to where they would
-- be without it. The caller holds the user's lock.
create function private.take_back_period(
  p_payment public.payments,
  p_subscription public.subscriptions
)
returns timestamptz -- the end of what was built on the payment, as it was before
language plpgsql
set search_path = ''
as $$
declare
  v_next public.payments;
  v_start timestamptz := p_payment.period_start; -- of the next one, if it had been bought by then
  v_end timestamptz := p_payment.period_end;
begin
  loop
    select * into v_next
    from public.payments p
    where p.user_id = p_payment.user_id
      and p.period_start = v_end
      and p.fulfilled_at < p.period_start
      and p.tier = p_payment.tier
      and not private.is_given_back(p);
    exit when not found;
    v_end := v_next.period_end;
    v_start := greatest(v_start, date_trunc('milliseconds', v_next.fulfilled_at));
    if v_next.period_start = p_payment.period_end and p_subscription.current_period_start = p_payment.period_start then
      update public.subscriptions s set current_period_start = v_start where s.id = p_subscription.id;
    end if;
    update public.payments p
    set period_start = v_start,
      period_end = private.add_months(v_start, private.months_between(p.period_start, p.period_end))
    where p.id = v_next.id
    returning p.period_end into v_start;
  end loop;
  return v_end;
end
$$;
revoke execute on function private.take_back_period(public.payments, public.subscriptions) from public;
grant execute on function private.take_back_period(public.payments, public.subscriptions) to service_role;

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
  v_ends boolean;
begin
  select * into v_subscription from public.subscriptions s where s.user_id = p_payment.user_id for update;
  -- A gateway subscription that was not charged yet lives on what was bought before.
  if private.take_back_period(p_payment, v_subscription) is distinct from v_subscription.current_period_end then
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
    if v_subscription.status = 'active' then
      perform private.hand_over(v_subscription.id, v_heir, p_email);
    end if;
    return;
  end if;

  -- What was given back is paid for no longer: nobody can be activated into what is left of it.
  v_ends := v_subscription.status = 'active' and v_subscription.gateway_subscription_id is null;
  update public.subscriptions s
  set current_period_end = least(s.current_period_end, date_trunc('milliseconds', private.clock())),
    status = case when v_ends then 'cancelled' else s.status end,
    cancelled_at = case when v_ends then private.clock() else s.cancelled_at end,
    ended_reason = case when v_ends then 'refunded' else s.ended_reason end
  where s.id = v_subscription.id;
  if v_subscription.status <> 'active' then
    return;
  end if;
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
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_payment public.payments := private.find_payment(p_entity, null);
  v_after public.payments;
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
  if v_refunded <= 0 then
    return 'already';
  end if;
  -- Another payment on the order was given back: not the one that counts.
  if v_payment.gateway_payment_id <> v_gateway_payment_id then
    return case
      when private.note_extra_payment(v_payment.id, v_gateway_payment_id, v_refunded) then 'applied'
      else 'already'
    end;
  end if;
  if v_refunded <= v_payment.refunded_amount then
    return 'already';
  end if;

  update public.payments p
  set refunded_amount = v_refunded,
    -- Before the capture came: says which attempt on the order it was, so that another one still counts.
    gateway_payment_id = coalesce(p.gateway_payment_id, v_gateway_payment_id)
  where p.id = v_payment.id
  returning * into v_after;
  if v_payment.fulfilled_at is not null
    and not private.is_given_back(v_payment)
    and private.is_given_back(private.count_extra_payment(v_after))
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
