-- Reconciliation of payments: the function reads from the gateway what no webhook announced, and applies it here.
-- Contract: POST /api/internal/reconcile, "Reconciliation".

create index payments_next_reconcile_at_idx on public.payments (next_reconcile_at)
where next_reconcile_at is not null and gateway_order_id is not null;

create table private.alerts (
  kind text not null,
  subject_id text not null,
  message text not null,
  raised_at timestamptz not null default private.clock(),
  primary key (kind, subject_id)
);
alter table private.alerts enable row level security;
grant select, insert on private.alerts to service_role;
comment on table private.alerts is 'Alerts for an admin. Reconciliation raises each alert once for each subject.';
comment on column private.alerts.kind is 'missed_webhook.';
comment on column private.alerts.subject_id is 'The gateway''s id of the order or the subscription.';

-- Returns whether a payment needs no further reconciliation.
create function private.is_settled(
  p_payment public.payments
)
returns boolean
language sql
immutable
set search_path = ''
return coalesce(
  p_payment.confirmed_at is not null and (p_payment.fulfilled_at is not null or p_payment.user_id is null)
    or p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount,
  false
);
grant execute on function private.is_settled(public.payments) to service_role;

-- Returns when to reconcile a payment again, counted from its order or its verification. After five days the result is
-- final: the gateway refunds a payment that is only authorised by then.
create function private.next_reconciliation(
  p_payment public.payments
)
returns timestamptz -- null: no further reconciliation
language sql
stable
set search_path = ''
as $$
  select min(due.at)
  from unnest(array[15, 60, 6 * 60, 24 * 60, 72 * 60, 120 * 60]) minutes
  cross join lateral (
    select greatest(p_payment.created_at, p_payment.captured_at) + make_interval(mins => minutes) as at
  ) due
  where due.at > private.clock()
$$;
grant execute on function private.next_reconciliation(public.payments) to service_role;

-- Claims payments to reconcile, under a lease of five minutes. If the caller crashes or gets no answer, a later call claims
-- them again. API: service_role only.
create function public.claim_payments_to_reconcile()
returns jsonb
-- {settled, payments: [{id, order_id}]}; settled: how many payments need no reconciliation. 0 and []: nothing is due
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_settled integer;
  v_payments jsonb;
begin
  with due as materialized (
    select p.id, private.is_settled(p) as is_settled
    from public.payments p
    where p.next_reconcile_at <= private.clock()
      and p.gateway_order_id is not null
    order by p.next_reconcile_at
    limit 1000
    for no key update skip locked
  ),
  asked as materialized (
    select due.id from due where not due.is_settled limit 20
  ),
  settled as (
    update public.payments p
    set next_reconcile_at = null
    from due
    where p.id = due.id
      and due.is_settled
    returning p.id
  ),
  leased as (
    update public.payments p
    set next_reconcile_at = private.clock() + interval '5 minutes'
    from asked
    where p.id = asked.id
    returning p.id, p.gateway_order_id
  )
  select
    (select count(*) from settled),
    coalesce(
      (select jsonb_agg(jsonb_build_object('id', l.id, 'order_id', l.gateway_order_id)) from leased l),
      '[]'
    )
  into v_settled, v_payments;
  return jsonb_build_object('settled', v_settled, 'payments', v_payments);
end
$$;
comment on function public.claim_payments_to_reconcile() is 'Claims up to 20 payments to reconcile, for five minutes.';
revoke execute on function public.claim_payments_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_payments_to_reconcile() to service_role;

-- Applies an answer of the gateway as if a webhook had delivered it. Raises an alert if no webhook announced it.
create function private.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_body jsonb,
  p_since timestamptz -- webhooks that arrived before this time announced something else
)
returns boolean -- whether the answer changed anything
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := p_body ->> 'event';
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_delivery constant private.delivery := private.apply_delivery(v_key, p_key, p_body, 0);
begin
  if not v_delivery.is_applied or v_delivery.outcome <> 'applied' then
    return false;
  end if;
  insert into private.alerts (kind, subject_id, message)
  select
    'missed_webhook',
    answer.subject_id,
    format('No webhook announced %s: your webhook endpoint is probably switched off at the gateway.', v_event)
  from private.gateway_events answer
  where answer.body_sha256 = v_key
    and not exists (
      select
      from private.gateway_events e
      where e.subject_id = answer.subject_id
        and e.deliveries > 0
        and e.received_at >= p_since
        and (e.event = v_event or e.event = 'order.paid' and v_event = 'payment.captured')
    )
  on conflict do nothing;
  return true;
end
$$;
grant execute on function private.apply_answer(text, jsonb, timestamptz) to service_role;

-- Ends the access of a payment that was verified with a valid signature but never captured. verified_at remains, but from
-- now on only a confirmation by the gateway counts. The caller holds the locks on the user and on the payment.
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
    perform private.settle_payment(p_payment, p_email);
  end if;
end
$$;
grant execute on function private.end_uncaptured_access(public.payments, text) to service_role;

-- Returns the events, with their keys, that would have announced a gateway's payment and its refunds. A payment that is
-- neither captured nor failed has no event yet. The refunds are read from their own list, because the payment's total
-- includes pending refunds.
create function private.events_of(
  p_entity jsonb -- the payment, with its list of refunds if it has any
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
grant execute on function private.events_of(jsonb) to service_role;

-- Applies the gateway's payments on an order, and ends access if no payment was captured in time. API: service_role only.
create function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended, as no payment was captured
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
  perform private.begin_request('reconciliation', null);
  perform private.lock_gateway_payment(refunded.id)
  from (
    select private.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);
  -- Locks the payment until the end of the transaction. The rollback of a failed event releases the locks of its effect but
  -- not the lock on its ledger row, which comes after the payment in the lock order.
  select * into v_payment from public.payments p where p.id = p_payment_id for update;

  for v_answer in
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral private.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures come before failures, so that no mail about a failed attempt is sent for a paid order.
    order by
      array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event),
      e.key
  loop
    v_applied := v_applied + private.apply_answer(
      v_answer.key,
      jsonb_build_object('event', v_answer.event, 'payload', v_answer.payload),
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
comment on function public.apply_order_payments(uuid, text) is
  'Applies the gateway''s answer about the payments on an order, and plans the next reconciliation.';
revoke execute on function public.apply_order_payments(uuid, text) from public, anon, authenticated;
grant execute on function public.apply_order_payments(uuid, text) to service_role;
