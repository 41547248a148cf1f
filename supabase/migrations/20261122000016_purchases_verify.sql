-- Chains of early renewals, and the verification of a payment by the customer.

-- Computes the periods of a chain of early renewals. Each period begins at the end of the previous one. If a payment is
-- refunded, the later periods move up. The ends of an unbroken run are counted from its first start, so that a short month
-- does not shorten the later periods. The caller holds the lock on the user.
create function private.lay_out_chain(
  p_first_payment_id uuid
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_link public.payments;
  v_run_start timestamptz;
  v_shown_start timestamptz;
  v_months integer;
  v_start timestamptz;
  v_end timestamptz;
  v_since timestamptz;
begin
  for v_link in
    select p.*
    from public.payments p
    where (p.id = p_first_payment_id or p.chain_id = p_first_payment_id)
      and p.fulfilled_at is not null
      and p.ended_at is null
    order by p.fulfilled_at, p.since, p.id
  loop
    v_start := greatest(date_trunc('milliseconds', v_link.fulfilled_at), v_link.extends_from);
    if v_end >= v_start then
      v_months := v_months + v_link.duration_months;
      v_start := v_end;
    else
      v_run_start := v_start;
      v_shown_start := case when v_link.extends_from is null then v_start else v_link.chain_start end;
      v_months := v_link.duration_months;
    end if;
    v_end := private.add_months(v_run_start, v_months);
    -- A payment rules over the payment that it extends, even if the latter is verified later.
    v_since := greatest(v_link.since, v_since + interval '1 microsecond');
    update public.payments p
    set period_start = v_start,
      period_end = v_end,
      chain_start = v_shown_start,
      since = v_since
    where p.id = v_link.id
      and (p.period_start, p.period_end, p.chain_start, p.since)
        is distinct from (v_start, v_end, v_shown_start, v_since);
  end loop;
end
$$;
grant execute on function private.lay_out_chain(uuid) to service_role;

-- Settles a user's access after a payment became or stopped being a running source: computes its chain of early renewals,
-- then ranks the user's sources. The caller holds the lock on the user.
create function private.settle_payment(
  p_payment public.payments,
  p_email text -- of the user
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_payment.chain_id is not null or p_payment.chain_start is not null then
    perform private.lay_out_chain(coalesce(p_payment.chain_id, p_payment.id));
  end if;
  perform private.settle_access(p_payment.user_id, p_email);
end
$$;
grant execute on function private.settle_payment(public.payments, text) to service_role;

-- Captures a payment that a customer verifies after the checkout, and grants its tier.
-- Contract: POST /api/payments/verify.
-- API: service_role only.
create function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb
-- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_locked record;
  v_payment public.payments;
begin
  perform private.begin_request('payment', p_payment_id);
  v_email := private.lock_user(p_user_id);

  -- Also reads the sum of the refunds of this gateway payment, which may arrive before the payment.
  select p as payment, coalesce(
    (
      select sum(r.amount)
      from private.refunds r
      where r.gateway_payment_id = p_payment_id
        and r.status = 'processed'
    ),
    0
  ) as refunded_amount
  into v_locked
  from public.payments p
  where p.gateway_order_id = p_order_id
    and p.user_id = p_user_id
  for update;
  if not found then
    return jsonb_build_object('outcome', 'payment_not_found');
  end if;
  v_payment := v_locked.payment;

  if v_payment.uncaptured_at is not null then
    -- A signature never expires, so it must not grant the tier again. The payment is reconciled at once. If the gateway
    -- captured it after all, its confirmation fulfils the payment.
    update public.payments p set next_reconcile_at = private.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status <> 'captured' then
    if v_payment.gateway_payment_id is distinct from p_payment_id then
      v_payment.gateway_payment_id := p_payment_id;
      v_payment.refunded_amount := v_locked.refunded_amount;
    end if;
  elsif v_payment.gateway_payment_id <> p_payment_id then
    perform private.note_extra_payment(v_payment.id, p_payment_id, private.clock(), null);
    v_payment := private.count_best_payment(v_payment);
  end if;

  if v_payment.status = 'captured' and private.is_refunded(v_payment) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  if v_payment.fulfilled_at is null or v_payment.ended_reason = 'refunded' then
    return private.fulfil_payment(
      v_payment,
      v_email,
      case when v_payment.gateway_payment_id = p_payment_id then p_signature end,
      false
    );
  end if;

  if v_payment.verified_at is null and v_payment.gateway_payment_id = p_payment_id then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act.
    update public.payments p
    set gateway_signature = p_signature,
      verified_at = private.clock(),
      since = greatest(
        private.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      )
    where p.id = v_payment.id;
    if v_payment.chain_start is not null and v_payment.period_end > private.clock() then
      perform private.lay_out_chain(coalesce(v_payment.chain_id, v_payment.id));
    end if;
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied',
    'tier', v_payment.tier,
    'valid_until', private.iso_time(v_payment.period_end)
  );
end
$$;
comment on function public.verify_payment(uuid, text, text, text) is
  'Captures a user''s payment and grants its tier, once. A repeat returns the tier and the period that the payment bought.';
revoke execute on function public.verify_payment(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.verify_payment(uuid, text, text, text) to service_role;
