-- What the gateway answers when it is asked about an order: goes the webhooks' way, and decides what no webhook will.
-- POST /api/internal/reconcile.
-- Depends on: _reconcile_payments.

-- What was brought back with a right signature and yet never captured: access ends as after a full refund. The payment is
-- open again, should its money come after all, but not to the same signature. The caller holds the locks on the user and on the payment.
create function private.end_uncaptured_access(
  p_payment public.payments,
  p_email text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.note_cause('never captured', p_payment.gateway_payment_id);
  if p_payment.fulfilled_at is not null then
    perform private.end_refunded_access(p_payment, p_email);
  end if;
  update public.payments p
  set status = 'failed',
    captured_at = null,
    uncaptured_at = private.clock(),
    fulfilled_at = null,
    subscription_id = null,
    period_start = null,
    period_end = null
  where p.id = p_payment.id;
  insert into private.alerts (kind, subject_id, message)
  values (
    'never_captured',
    p_payment.gateway_order_id,
    'A customer brought this payment back with a right signature; the gateway never captured it. Access was ended.'
  )
  on conflict do nothing;
end
$$;
revoke execute on function private.end_uncaptured_access(public.payments, text) from public;
grant execute on function private.end_uncaptured_access(public.payments, text) to service_role;

-- The events that would have told of a gateway's payment, with their keys; what is neither paid nor failed yet has none.
create function private.events_of(
  p_entity jsonb
)
returns table (key text, event text, entity jsonb)
language sql
immutable
set search_path = ''
as $$
  select 'reconcile:' || (p_entity ->> 'id') || ':' || e.status, e.event, e.entity
  from (
    values
      ('captured', 'payment.captured', p_entity, p_entity ->> 'status' = 'captured'),
      (
        'refunded:' || (p_entity ->> 'amount_refunded'),
        'refund.processed',
        p_entity,
        private.json_integer(p_entity -> 'amount_refunded') > 0
      ),
      (
        'refunded',
        'refund.processed',
        p_entity || jsonb_build_object('amount_refunded', p_entity -> 'amount'),
        p_entity ->> 'status' = 'refunded' and private.json_integer(p_entity -> 'amount_refunded') is null
      ),
      ('failed', 'payment.failed', p_entity, p_entity ->> 'status' = 'failed')
  ) e (status, event, entity, holds)
  where e.holds
    and private.json_text(p_entity -> 'id') is not null
$$;
revoke execute on function private.events_of(jsonb) from public;
grant execute on function private.events_of(jsonb) to service_role;

-- API: service_role only.
create function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null, -- the gateway's payments on the order, a JSON array; null: it knows no such order
  p_early_renewal text default 'replace' -- as in verify_payment
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended since nothing was captured
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_payment public.payments;
  v_email text;
  v_answer record;
  v_event private.gateway_events;
  v_events private.gateway_events[] := '{}';
  v_applied integer := 0;
  v_is_over boolean;
begin
  perform private.begin_request('reconciliation', null, p_early_renewal);
  select * into v_payment from public.payments p where p.id = p_payment_id;

  -- First all the rows of the ledger, in one order, then user and payment: two that ask at once must not deadlock.
  for v_answer in
    select e.key, e.event, e.entity
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral private.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    order by e.key
  loop
    v_events := v_events || private.record_answer(
      v_answer.key,
      jsonb_build_object(
        'event', v_answer.event,
        'payload', jsonb_build_object('payment', jsonb_build_object('entity', v_answer.entity))
      ),
      p_early_renewal
    );
  end loop;
  select u.email into v_email from private.find_user(v_payment.user_id, true) u;
  for v_event in
    select e.*
    from unnest(v_events) e
    -- Money before failures: an order that is paid mails nobody that an attempt on it failed.
    order by array_position(array['payment.captured', 'refund.processed', 'payment.failed'], e.event), e.event_id
  loop
    v_applied := v_applied + private.apply_answer(v_event, v_payment.created_at)::integer;
  end loop;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := p_items is not null
    and v_payment.status = 'captured'
    and not private.is_settled(v_payment)
    and v_payment.confirmed_at is null
    and private.next_reconciliation(v_payment) is null
    and not p_items::jsonb @> '[{"status": "captured"}]';
  if v_is_over then
    perform private.end_uncaptured_access(v_payment, v_email);
  end if;
  update public.payments p
  set next_reconcile_at = case
      when not private.is_settled(v_payment) then private.next_reconciliation(v_payment)
    end
  where p.id = p_payment_id;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end
$$;
comment on function public.apply_order_payments(uuid, text, text) is
  'Applies what the gateway says about the payments on an order, and settles when to ask next.';
revoke execute on function public.apply_order_payments(uuid, text, text) from public, anon, authenticated;
grant execute on function public.apply_order_payments(uuid, text, text) to service_role;
