-- What the gateway answers about the payments on an order: applied as webhooks would be, and decides what no webhook will.
-- POST /api/internal/reconcile.
-- Depends on: _reconcile_payments, _settle_access.

-- Ends the access of a payment that was verified with a valid signature and never captured. Its verification stays, but
-- from now on only the gateway's confirmation counts. The caller holds the locks on the user and on the payment.
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
  update public.payments p
  set status = 'failed',
    captured_at = null,
    uncaptured_at = private.clock(),
    ended_at = private.clock(),
    ended_reason = 'never_captured'
  where p.id = p_payment.id;
  if p_payment.fulfilled_at is not null and p_payment.ended_at is null then
    if p_payment.chain_id is not null or p_payment.chain_start is not null then
      perform private.lay_out_chain(coalesce(p_payment.chain_id, p_payment.id));
    end if;
    perform private.settle_access(p_payment.user_id, p_email);
  end if;
end
$$;
revoke execute on function private.end_uncaptured_access(public.payments, text) from public;
grant execute on function private.end_uncaptured_access(public.payments, text) to service_role;

-- The events that would have announced a gateway's payment and its refunds, with their keys; a payment that is neither
-- captured nor failed yet has none. Refunds come from their own list: a payment's total counts pending ones, too.
create function private.events_of(
  p_entity jsonb -- the payment, with its refunds where it has any
)
returns table (key text, event text, payload jsonb)
language sql
immutable
set search_path = ''
as $$
  select
    'reconcile:' || (p_entity ->> 'id') || ':' || (p_entity ->> 'status'),
    'payment.' || (p_entity ->> 'status'),
    jsonb_build_object('payment', jsonb_build_object('entity', p_entity - 'refunds'))
  where p_entity ->> 'status' in ('captured', 'failed')
    and private.json_text(p_entity -> 'id') is not null
  union all
  select
    'reconcile:' || (r.refund ->> 'id') || ':' || (r.refund ->> 'status'),
    'refund.' || (r.refund ->> 'status'),
    jsonb_build_object(
      'payment', jsonb_build_object('entity', p_entity - 'refunds'),
      'refund', jsonb_build_object('entity', r.refund || jsonb_build_object('payment_id', p_entity -> 'id'))
    )
  from jsonb_array_elements(case when jsonb_typeof(p_entity -> 'refunds') = 'array' then p_entity -> 'refunds' else '[]' end)
    r (refund)
  where jsonb_typeof(r.refund) = 'object'
    and r.refund ->> 'status' in ('processed', 'failed')
    and private.json_text(r.refund -> 'id') is not null
    and private.json_text(p_entity -> 'id') is not null
$$;
revoke execute on function private.events_of(jsonb) from public;
grant execute on function private.events_of(jsonb) to service_role;

-- API: service_role only.
create function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null, -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
  p_early_renewal text default 'replace' -- as in verify_payment
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended since nothing was captured
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_payment public.payments;
  v_email text;
  v_answer record;
  v_applied integer := 0;
  v_is_over boolean;
begin
  perform private.begin_request('reconciliation', null, p_early_renewal);
  perform private.lock_gateway_payment(refunded.id)
  from (
    select private.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);

  for v_answer in
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral private.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures before failures: an order that is paid mails nobody that an attempt on it failed.
    order by
      array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event),
      e.key
  loop
    v_applied := v_applied + private.apply_answer(
      v_answer.key,
      jsonb_build_object('event', v_answer.event, 'payload', v_answer.payload),
      p_early_renewal,
      v_payment.created_at
    )::integer;
  end loop;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := v_payment.status = 'captured'
    and not private.is_settled(v_payment)
    and v_payment.confirmed_at is null
    and private.next_reconciliation(v_payment) is null
    and (p_items::jsonb @> '[{"status": "captured"}]') is not true;
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
  'Applies what the gateway answers about the payments on an order, and plans the next reconciliation.';
revoke execute on function public.apply_order_payments(uuid, text, text) from public, anon, authenticated;
grant execute on function public.apply_order_payments(uuid, text, text) to service_role;
