-- Reconciliation of payments: what no webhook announced is read from the gateway.
-- POST /api/internal/reconcile.
-- Depends on: _apply_gateway_event, _apply_refund_event.

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
revoke all on private.alerts from public;
grant select, insert on private.alerts to service_role;
comment on table private.alerts is 'What an admin should look into: raised by reconciliation, once a subject.';
comment on column private.alerts.kind is 'missed_webhook.';
comment on column private.alerts.subject_id is 'The order or subscription, as the gateway calls it.';

-- Whether a payment needs no reconciliation any more.
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
revoke execute on function private.is_settled(public.payments) from public;
grant execute on function private.is_settled(public.payments) to service_role;

-- When to reconcile a payment again, counted from its order or its verification. After five days its fate is known: what
-- is only authorised by then is refunded.
create function private.next_reconciliation(
  p_payment public.payments
)
returns timestamptz -- null: no more
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
revoke execute on function private.next_reconciliation(public.payments) from public;
grant execute on function private.next_reconciliation(public.payments) to service_role;

-- Payments to reconcile, leased for five minutes: where the caller dies, or gets no answer, the next one claims them.
-- API: service_role only.
create function public.claim_payments_to_reconcile()
returns jsonb -- {settled, payments: [{id, order_id}]}; settled: how many needed no asking. Both none: nothing is due
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
comment on function public.claim_payments_to_reconcile() is 'Leases up to 20 payments that the gateway is to be asked about.';
revoke execute on function public.claim_payments_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_payments_to_reconcile() to service_role;

-- Applies an answer of the gateway as if a webhook had delivered it; raises an alert where no webhook ever announced it.
create function private.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_body jsonb,
  p_early_renewal text,
  p_since timestamptz -- a webhook that came since then would have announced it
)
returns boolean -- whether it changed anything
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := p_body ->> 'event';
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_delivery constant private.delivery := private.apply_delivery(v_key, p_key, p_body, p_early_renewal, 0);
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
revoke execute on function private.apply_answer(text, jsonb, text, timestamptz) from public;
grant execute on function private.apply_answer(text, jsonb, text, timestamptz) to service_role;
