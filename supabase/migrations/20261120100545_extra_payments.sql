-- Further payments on an order: one counts, the others are to be refunded. A captured payment counts before one that is
-- only verified.
-- Depends on: _schema, _refunds.

create table private.extra_payments (
  payment_id uuid not null
    constraint extra_payments_payment_id_fkey references public.payments (id) on delete cascade,
  gateway_payment_id text not null,
  paid_at timestamptz not null,
  confirmed_at timestamptz,
  refunded_amount bigint not null default 0
    constraint extra_payments_refunded_amount_check check (refunded_amount >= 0),
  created_at timestamptz not null default private.clock(),
  primary key (payment_id, gateway_payment_id)
);
create index extra_payments_gateway_payment_id_idx on private.extra_payments (gateway_payment_id);
alter table private.extra_payments enable row level security;
revoke all on private.extra_payments from public;
grant select, insert, update, delete on private.extra_payments to service_role;
comment on table private.extra_payments is 'Payments on an order that another payment pays for: to be refunded.';
comment on column private.extra_payments.paid_at is 'When it was verified or its capture was announced.';
comment on column private.extra_payments.confirmed_at is 'When the gateway confirmed that the money was captured.';
comment on column private.extra_payments.refunded_amount is 'Minor currency units; the processed refunds.';

-- Stores a payment on an order that does not count. The caller holds the payment's lock, here and below.
create function private.note_extra_payment(
  p_payment_id uuid,
  p_gateway_payment_id text,
  p_paid_at timestamptz,
  p_confirmed_at timestamptz -- null: not confirmed by the gateway
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.extra_payments as x (payment_id, gateway_payment_id, paid_at, confirmed_at, refunded_amount)
  values (
    p_payment_id,
    p_gateway_payment_id,
    p_paid_at,
    p_confirmed_at,
    private.refunded_amount(p_gateway_payment_id)
  )
  on conflict (payment_id, gateway_payment_id) do update
  set confirmed_at = coalesce(x.confirmed_at, excluded.confirmed_at)
  where x.confirmed_at is null
    and excluded.confirmed_at is not null;
end
$$;
revoke execute on function private.note_extra_payment(uuid, text, timestamptz, timestamptz) from public;
grant execute on function private.note_extra_payment(uuid, text, timestamptz, timestamptz) to service_role;

-- Lets the best payment on an order count: one that was not refunded in full before one that was, a captured one before
-- one that is only verified, then the one that counts already.
create function private.count_best_payment(
  p_payment public.payments
)
returns public.payments -- as it is now
language plpgsql
set search_path = ''
as $$
declare
  v_extra private.extra_payments;
begin
  select * into v_extra
  from private.extra_payments x
  where x.payment_id = p_payment.id
    and (p_payment.amount = 0 or x.refunded_amount < p_payment.amount)
    and (private.is_refunded(p_payment) or p_payment.confirmed_at is null and x.confirmed_at is not null)
  order by x.confirmed_at is null, x.paid_at, x.gateway_payment_id
  limit 1;
  if not found then
    return p_payment;
  end if;

  delete from private.extra_payments x
  where x.payment_id = p_payment.id
    and x.gateway_payment_id = v_extra.gateway_payment_id;
  perform private.note_extra_payment(
    p_payment.id, p_payment.gateway_payment_id, p_payment.captured_at, p_payment.confirmed_at
  );
  update public.payments p
  set gateway_payment_id = v_extra.gateway_payment_id,
    gateway_signature = null,
    captured_at = v_extra.paid_at,
    confirmed_at = v_extra.confirmed_at,
    refunded_amount = v_extra.refunded_amount,
    -- A payment that is only verified is reconciled.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then private.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id
  returning p.* into p_payment;
  return p_payment;
end
$$;
revoke execute on function private.count_best_payment(public.payments) from public;
grant execute on function private.count_best_payment(public.payments) to service_role;
