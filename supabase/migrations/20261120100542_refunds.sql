-- Refunds, by their ids. Only processed ones count: while a refund is pending the gateway counts it in the payment already,
-- and a failed one returns no money.
-- Depends on: _schema.

create table private.refunds (
  refund_id text primary key,
  gateway_payment_id text not null,
  amount bigint not null,
  status text not null constraint refunds_status_check check (status in ('pending', 'processed', 'failed')),
  created_at timestamptz not null default private.clock()
);
create index refunds_gateway_payment_id_idx on private.refunds (gateway_payment_id);
alter table private.refunds enable row level security;
revoke all on private.refunds from public;
grant select, insert, update on private.refunds to service_role;
comment on table private.refunds is 'The gateway''s refunds. They may arrive before their payment is known.';
comment on column private.refunds.amount is 'Minor currency units.';

-- Refunded total of a gateway payment.
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
revoke execute on function private.refunded_amount(text) from public;
grant execute on function private.refunded_amount(text) to service_role;

-- Whether a payment was refunded in full.
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
revoke execute on function private.is_refunded(public.payments) from public;
grant execute on function private.is_refunded(public.payments) to service_role;

-- Serializes what is written about a gateway payment: a refund and the charge that it refunds may arrive at once, and
-- neither would see the other's row. It comes before the user's lock, which a refund does not know yet. One for each event,
-- never for each row of a bulk insert: the locks share a table of fixed size.
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
revoke execute on function private.lock_gateway_payment(text) from public;
grant execute on function private.lock_gateway_payment(text) to service_role;

-- Merges what an event says about a refund. A refund goes from pending to processed or failed; a processed one may still
-- fail.
create function private.merge_refund(
  p_refund_id text,
  p_gateway_payment_id text,
  p_amount bigint,
  p_status text -- pending, processed or failed
)
returns boolean -- whether that is news
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
revoke execute on function private.merge_refund(text, text, bigint, text) from public;
grant execute on function private.merge_refund(text, text, bigint, text) to service_role;
