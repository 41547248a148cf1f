-- Captures a payment that a customer brings back from the checkout, and grants its tier.
-- SPEC 4, POST /api/payments/verify, steps 5 to 12.
-- API: service_role only.
-- Depends on: _fulfil_payment, _wake.

create function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text, -- already checked by the route
  p_early_renewal text default 'replace' -- or 'extend': a renewal of the running tier adds to its period
)
returns jsonb -- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_email text;
  v_payment public.payments;
  v_gateway_payment_id text := p_payment_id;
begin
  perform private.begin_request('payment', p_payment_id, p_early_renewal);
  select u.email into v_email from private.find_user(p_user_id, true) u;

  select * into v_payment
  from public.payments p
  where p.gateway_order_id = p_order_id
    and p.user_id = p_user_id
  for update;
  if not found then
    return jsonb_build_object('outcome', 'payment_not_found');
  end if;

  if v_payment.status <> 'captured' and v_payment.uncaptured_at is not null then
    -- Whoever brings the same signature again and again must not have the tier for as long as it takes to find out. Money
    -- that came meanwhile is fulfilled by the gateway's word: it is asked at once.
    update public.payments p set next_reconcile_at = private.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status <> 'captured' then
    v_payment := private.claim_order(v_payment, p_payment_id);
  elsif v_payment.gateway_payment_id <> p_payment_id then
    -- One order, two payments: the first counts, unless it was given back.
    perform private.note_extra_payment(v_payment.id, p_payment_id, 0, true);
    v_payment := private.count_extra_payment(v_payment);
    v_gateway_payment_id := v_payment.gateway_payment_id;
  end if;

  if v_payment.fulfilled_at is not null then
    -- The webhook came first and brought no signature.
    update public.payments p
    set gateway_signature = p_signature
    where p.id = v_payment.id
      and p.gateway_payment_id = p_payment_id
      and p.gateway_signature is null;
    return jsonb_build_object(
      'outcome', 'already_applied',
      'tier', v_payment.tier,
      'valid_until', private.iso_time(v_payment.period_end)
    );
  end if;

  return private.fulfil_payment(
    v_payment,
    v_email,
    v_gateway_payment_id,
    case when v_gateway_payment_id = p_payment_id then p_signature end,
    false
  );
end
$$;
comment on function public.verify_payment(uuid, text, text, text, text) is
  'Captures a user''s payment and grants its tier, once; a repeat answers what the payment bought.';
revoke execute on function public.verify_payment(uuid, text, text, text, text) from public, anon, authenticated;
grant execute on function public.verify_payment(uuid, text, text, text, text) to service_role;
