-- Reconciliation of payments: what the gateway's webhooks should have said and did not, it is asked.
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
comment on column private.alerts.kind is 'missed_webhook, or never_captured.';
comment on column private.alerts.subject_id is 'The order or subscription, as the gateway calls it.';

-- Whether there is nothing left to ask about a payment.
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

-- When to ask about a payment again, counted from when it was ordered or brought back. A money's fate is known after five
-- days: what is only authorised by then goes back.
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

-- Payments to ask the gateway about, leased for five minutes: whoever asks and dies, or gets no answer, leaves them to the
-- next. API: service_role only.
create function public.claim_payments_to_reconcile()
returns jsonb -- {settled, payments: [{id, order_id}]}; settled: how many needed no asking. Both none: nothing is due
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
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

-- Notes an answer of the gateway in the ledger as if a webhook had brought it, and holds its row.
create function private.record_answer(
  p_key text, -- reconcile:<id>:<status>
  p_body jsonb,
  p_early_renewal text
)
returns private.gateway_events -- its outcome is null when it is to be applied
language sql
set search_path = ''
return private.record_event(sha256(convert_to(p_key, 'UTF8')), p_key, p_body, p_early_renewal, 0);
revoke execute on function private.record_answer(text, jsonb, text) from public;
grant execute on function private.record_answer(text, jsonb, text) to service_role;

-- Applies an answer that was noted; raises an alert where no webhook ever said so.
create function private.apply_answer(
  p_event private.gateway_events,
  p_since timestamptz -- a webhook that came since then would have said it
)
returns boolean -- whether it changed anything
language plpgsql
set search_path = ''
as $$
begin
  if p_event.outcome is not null or private.apply_recorded_event(p_event) <> 'applied' then
    return false;
  end if;
  if not exists (
    select
    from private.gateway_events e
    where e.subject_id = p_event.subject_id
      and e.deliveries > 0
      and e.received_at >= p_since
      and (e.event = p_event.event or e.event = 'order.paid' and p_event.event = 'payment.captured')
  ) then
    insert into private.alerts (kind, subject_id, message)
    values (
      'missed_webhook',
      p_event.subject_id,
      format('No webhook announced %s: your webhook endpoint is probably switched off at the gateway.', p_event.event)
    )
    on conflict do nothing;
  end if;
  return true;
end
$$;
revoke execute on function private.apply_answer(private.gateway_events, timestamptz) from public;
grant execute on function private.apply_answer(private.gateway_events, timestamptz) to service_role;
