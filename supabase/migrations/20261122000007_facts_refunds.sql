-- Refunds, and extra payments on an order. Contract: "Refunds", "Second payment on an order".

-- Refunds are stored by their ids, and only processed refunds count. The gateway's total in the payment is not used: it
-- includes pending refunds, and a refund that fails returns no money.

create table private.refunds (
  refund_id text primary key,
  gateway_payment_id text not null,
  amount bigint not null,
  status text not null constraint refunds_status_check check (status in ('pending', 'processed', 'failed')),
  created_at timestamptz not null default private.clock()
);
create index refunds_gateway_payment_id_idx on private.refunds (gateway_payment_id);
alter table private.refunds enable row level security;
grant select, insert, update on private.refunds to service_role;
comment on table private.refunds is 'The refunds at the gateway. A refund may arrive before its payment.';
comment on column private.refunds.amount is 'Minor currency units.';

-- Returns the sum of the processed refunds of a gateway payment.
create function private.refunded_amount(
  p_gateway_payment_id text
)
returns bigint -- minor currency units
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_gateway_payment_id is null then
    return 0;
  end if;
  return (
    select coalesce(sum(r.amount), 0)
    from private.refunds r
    where r.gateway_payment_id = p_gateway_payment_id
      and r.status = 'processed'
  );
end
$$;
grant execute on function private.refunded_amount(text) to service_role;

-- Returns whether a payment was refunded in full.
create function private.is_refunded(
  p_payment public.payments
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount;
end
$$;
grant execute on function private.is_refunded(public.payments) to service_role;

-- Serializes the transactions about a gateway payment. A refund and its charge may arrive at the same time, and without the
-- lock neither transaction would see the other's row. The lock comes before the user's lock, because a refund does not name
-- its user. Use it once for each event, not for each row of a bulk insert: the server's lock table has a fixed size.
create function private.lock_gateway_payment(
  p_gateway_payment_id text -- null: nothing to lock
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_gateway_payment_id is not null then
    perform pg_advisory_xact_lock(hashtextextended(p_gateway_payment_id, 0));
  end if;
end
$$;
grant execute on function private.lock_gateway_payment(text) to service_role;

-- Stores a refund, or its new status. A pending refund becomes processed or failed. A processed refund may still fail.
create function private.merge_refund(
  p_refund_id text,
  p_gateway_payment_id text,
  p_amount bigint,
  p_status text -- pending, processed or failed
)
returns boolean -- whether the refund or its status is new
language plpgsql
set search_path = ''
as $$
begin
  insert into private.refunds as r (refund_id, gateway_payment_id, amount, status)
  values (p_refund_id, p_gateway_payment_id, p_amount, p_status)
  on conflict (refund_id) do update
  set status = excluded.status
  where array_position(array['pending', 'processed', 'failed'], r.status)
    < array_position(array['pending', 'processed', 'failed'], excluded.status);
  return found;
end
$$;
grant execute on function private.merge_refund(text, text, bigint, text) to service_role;

-- Extra payments on an order. One payment of an order counts, and the others are to be refunded. A captured payment counts
-- before one that is only verified.

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
grant select, insert, update, delete on private.extra_payments to service_role;
comment on table private.extra_payments is 'Payments on orders that another payment has paid. They are to be refunded.';
comment on column private.extra_payments.paid_at is
  'When the customer verified the payment, or the gateway announced its capture.';
comment on column private.extra_payments.confirmed_at is 'When the gateway confirmed the capture.';
comment on column private.extra_payments.refunded_amount is 'The sum of the processed refunds, minor currency units.';

-- Stores an extra payment on an order. The caller holds the lock on the payment that counts.
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
grant execute on function private.note_extra_payment(uuid, text, timestamptz, timestamptz) to service_role;

-- Chooses the payment that counts for an order. A payment that was not refunded in full comes before one that was, then a
-- captured payment before one that is only verified, then the payment that counts already. The caller holds its lock.
create function private.count_best_payment(
  p_payment public.payments
)
returns public.payments -- the row after the choice
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
    -- A payment that is only verified needs a confirmation by the gateway.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then private.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id
  returning p.* into p_payment;
  return p_payment;
end
$$;
grant execute on function private.count_best_payment(public.payments) to service_role;
