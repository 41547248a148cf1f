-- Further payments on an order: one counts, whichever came first, and the others are money to give back. What counts and
-- what was given back ends the same in whatever order the gateway tells it.
-- Depends on: _schema.

create table private.extra_payments (
  payment_id uuid not null
    constraint extra_payments_payment_id_fkey references public.payments (id) on delete cascade,
  gateway_payment_id text not null,
  paid_at timestamptz,
  confirmed_at timestamptz,
  refunded_amount bigint not null default 0
    constraint extra_payments_refunded_amount_check check (refunded_amount >= 0),
  created_at timestamptz not null default private.clock(),
  primary key (payment_id, gateway_payment_id)
);
create index extra_payments_gateway_payment_id_idx on private.extra_payments (gateway_payment_id);
alter table private.extra_payments enable row level security;
revoke all on private.extra_payments from public;
grant select, insert, update on private.extra_payments to service_role;
comment on table private.extra_payments is
  'Further payments on an order that was paid already: money to give back, unless it was given back.';
comment on column private.extra_payments.paid_at is
  'When it was verified or its capture was told; null: nothing but its refund is known.';
comment on column private.extra_payments.confirmed_at is 'When the gateway itself said that the money was captured.';
comment on column private.extra_payments.refunded_amount is 'Minor currency units.';

-- Whether all of a payment was given back.
create function private.is_given_back(
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
revoke execute on function private.is_given_back(public.payments) from public;
grant execute on function private.is_given_back(public.payments) to service_role;

-- Notes what is known of a payment on an order that is not the one that counts. The caller holds the payment's lock, here
-- and below.
create function private.note_extra_payment(
  p_payment_id uuid,
  p_gateway_payment_id text,
  p_refunded_amount bigint, -- so far
  p_is_paid boolean default false,
  p_is_confirmed boolean default false -- the gateway itself says that the money was captured
)
returns boolean -- whether that is news
language plpgsql
set search_path = ''
as $$
begin
  insert into private.extra_payments as x (payment_id, gateway_payment_id, paid_at, confirmed_at, refunded_amount)
  values (
    p_payment_id,
    p_gateway_payment_id,
    case when p_is_paid then private.clock() end,
    case when p_is_confirmed then private.clock() end,
    greatest(p_refunded_amount, 0)
  )
  on conflict (payment_id, gateway_payment_id) do update
  set paid_at = coalesce(x.paid_at, excluded.paid_at),
    confirmed_at = coalesce(x.confirmed_at, excluded.confirmed_at),
    refunded_amount = greatest(x.refunded_amount, excluded.refunded_amount)
  where x.paid_at is null and excluded.paid_at is not null
    or x.confirmed_at is null and excluded.confirmed_at is not null
    or x.refunded_amount < excluded.refunded_amount;
  return found;
end
$$;
revoke execute on function private.note_extra_payment(uuid, text, bigint, boolean, boolean) from public;
grant execute on function private.note_extra_payment(uuid, text, bigint, boolean, boolean) to service_role;

-- The first payment that is captured on an order counts. What was given back before any capture may have been of another
-- attempt: that one goes aside.
create function private.claim_order(
  p_payment public.payments, -- not captured yet
  p_gateway_payment_id text
)
returns public.payments -- with what was given back of this payment; not stored yet
language plpgsql
set search_path = ''
as $$
declare
  v_refunded bigint;
begin
  if p_payment.gateway_payment_id is null or p_payment.gateway_payment_id = p_gateway_payment_id then
    return p_payment;
  end if;
  select x.refunded_amount into v_refunded
  from private.extra_payments x
  where x.payment_id = p_payment.id
    and x.gateway_payment_id = p_gateway_payment_id;
  if found then
    update private.extra_payments x
    set gateway_payment_id = p_payment.gateway_payment_id,
      refunded_amount = p_payment.refunded_amount
    where x.payment_id = p_payment.id
      and x.gateway_payment_id = p_gateway_payment_id;
  else
    perform private.note_extra_payment(p_payment.id, p_payment.gateway_payment_id, p_payment.refunded_amount);
  end if;
  p_payment.gateway_payment_id := p_gateway_payment_id;
  p_payment.refunded_amount := coalesce(v_refunded, 0);
  return p_payment;
end
$$;
revoke execute on function private.claim_order(public.payments, text) from public;
grant execute on function private.claim_order(public.payments, text) to service_role;

-- Lets another payment on an order count where the one that does was given back in full and the other was not: who paid
-- twice and got one back has paid once.
create function private.count_extra_payment(
  p_payment public.payments
)
returns public.payments -- the payment as it is now; where another one counts it is not fulfilled
language plpgsql
set search_path = ''
as $$
declare
  v_extra private.extra_payments;
begin
  if not private.is_given_back(p_payment) then
    return p_payment;
  end if;
  select * into v_extra
  from private.extra_payments x
  where x.payment_id = p_payment.id
    and x.paid_at is not null
    and x.refunded_amount < p_payment.amount
  order by x.paid_at, x.gateway_payment_id
  limit 1;
  if not found then
    return p_payment;
  end if;

  update private.extra_payments x
  set gateway_payment_id = p_payment.gateway_payment_id,
    paid_at = p_payment.captured_at,
    confirmed_at = p_payment.confirmed_at,
    refunded_amount = p_payment.refunded_amount
  where x.payment_id = p_payment.id
    and x.gateway_payment_id = v_extra.gateway_payment_id;
  update public.payments p
  set gateway_payment_id = v_extra.gateway_payment_id,
    gateway_signature = null,
    captured_at = v_extra.paid_at,
    confirmed_at = v_extra.confirmed_at,
    refunded_amount = v_extra.refunded_amount,
    -- One that a customer brought back alone is asked about.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then private.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id
  returning p.* into p_payment;
  p_payment.fulfilled_at := null;
  return p_payment;
end
$$;
revoke execute on function private.count_extra_payment(public.payments) from public;
grant execute on function private.count_extra_payment(public.payments) to service_role;
