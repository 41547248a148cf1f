-- The events payment.captured, order.paid and payment.failed. Contract: "Events".

-- Applies payment.captured or order.paid: fulfils the payment as verify would, whichever comes first. The event must have
-- exactly the amount of the order. Contract: "Closed browser".
create function private.apply_payment_captured(
  p_entity jsonb,
  p_order jsonb
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_amount constant bigint := private.json_integer(p_entity -> 'amount');
  v_payment public.payments := private.find_payment(p_entity, p_order);
  v_locked record;
  v_is_same boolean;
  v_is_exact boolean;
  v_counts_now boolean := false;
  v_email text;
  v_outcome text;
begin
  if v_gateway_payment_id is null then
    return 'ignored: payment.entity.id';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  if v_payment.id is null or v_payment.gateway_payment_id is distinct from v_gateway_payment_id and v_amount is null then
    return 'unmatched';
  end if;

  -- If this gateway payment already fulfilled the payment, access does not change, and the user's lock is not needed.
  if v_payment.fulfilled_at is null
    or v_payment.ended_at is not null
    or v_payment.gateway_payment_id is distinct from v_gateway_payment_id
  then
    v_email := private.lock_user(v_payment.user_id);
  end if;
  -- Also reads the sum of the refunds of this gateway payment, which may arrive before the capture.
  select p as payment, coalesce(
    (
      select sum(r.amount)
      from private.refunds r
      where r.gateway_payment_id = v_gateway_payment_id
        and r.status = 'processed'
    ),
    0
  ) as refunded_amount
  into v_locked
  from public.payments p
  where p.id = v_payment.id
  for update;
  v_payment := v_locked.payment;

  v_is_same := v_payment.gateway_payment_id is not distinct from v_gateway_payment_id;
  v_is_exact := coalesce(
    v_amount = v_payment.amount
      and coalesce(private.json_text(p_entity -> 'currency'), v_payment.currency) = v_payment.currency
      and coalesce(private.json_text(p_entity -> 'status'), 'captured') = 'captured',
    false
  );
  if not v_is_same and not v_is_exact then
    return 'mismatch';
  end if;

  if v_payment.status <> 'captured' then
    if not v_is_same then
      v_payment.gateway_payment_id := v_gateway_payment_id;
      v_payment.refunded_amount := v_locked.refunded_amount;
    end if;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform private.note_extra_payment(v_payment.id, v_gateway_payment_id, private.clock(), private.clock());
    v_payment := private.count_best_payment(v_payment);
    v_counts_now := v_payment.gateway_payment_id = v_gateway_payment_id;
  end if;

  if v_is_exact
    and (v_payment.fulfilled_at is null or v_payment.uncaptured_at is not null or v_payment.ended_reason = 'refunded')
    and (v_payment.status <> 'captured' or not private.is_refunded(v_payment))
  then
    v_outcome := private.fulfil_payment(
      v_payment,
      v_email,
      null,
      v_payment.gateway_payment_id = v_gateway_payment_id
    ) ->> 'outcome';
    if v_payment.gateway_order_id is null then
      -- The update applies the events that wait for the order.
      update public.payments p set gateway_order_id = v_gateway_order_id where p.id = v_payment.id;
    end if;
    return case v_outcome when 'plan_not_found' then 'plan_not_found' else 'applied' end;
  end if;

  if v_counts_now then
    return 'applied';
  end if;
  if v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_payment.status = 'captured' and v_payment.confirmed_at is not null
  then
    return 'already';
  end if;
  update public.payments p
  set status = 'captured',
    captured_at = coalesce(p.captured_at, private.clock()),
    confirmed_at = coalesce(p.confirmed_at, private.clock())
  where p.id = v_payment.id;
  return 'applied';
end
$$;
grant execute on function private.apply_payment_captured(jsonb, jsonb) to service_role;

-- Applies payment.failed, a failed attempt on an order, and enqueues its mail. A payment that another attempt captured
-- remains captured. Contract: "Failed attempts".
create function private.apply_payment_failed(
  p_entity jsonb,
  p_body_sha256 bytea -- for the mail's key, if the entity has no id of at most 200 characters
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_gateway_order_id constant text := private.json_text(p_entity -> 'order_id');
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_payment public.payments;
  v_tier text;
  v_to text;
  v_display_name text;
begin
  if v_gateway_order_id is null then
    return 'ignored: payment.entity.order_id';
  end if;

  select * into v_payment from public.payments p where p.gateway_order_id = v_gateway_order_id for update;
  if not found then
    return 'unmatched';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  if v_payment.status = 'captured' then
    return 'stale';
  end if;
  -- By now the ledger may have purged the event. A repeat must not replace newer error texts or send a second mail.
  if v_payment.status = 'failed' and v_payment.created_at < private.clock() - interval '90 days' then
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

  select u.email, coalesce(nullif(pr.display_name, ''), pr.username, '')
  into v_to, v_display_name
  from private.find_user(v_payment.user_id) u
  join public.profiles pr on pr.user_id = v_payment.user_id;
  if v_to <> '' then
    perform private.enqueue(
      'payment-failed/' || case
        when char_length(v_gateway_payment_id) <= 200 then v_gateway_payment_id
        else encode(p_body_sha256, 'hex')
      end,
      'email',
      'payment-failed',
      jsonb_build_object(
        'to', v_to,
        'display_name', v_display_name,
        'tier', coalesce(nullif(v_tier, ''), 'basic'),
        'amount', v_payment.amount,
        'currency', v_payment.currency,
        'reason', private.json_text(p_entity -> 'error_description')
      )
    );
  end if;
  return 'applied';
end
$$;
grant execute on function private.apply_payment_failed(jsonb, bytea) to service_role;
