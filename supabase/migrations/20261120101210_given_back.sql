-- Which of the payments on an order that was paid already were given back: the ledger knows, and forgets after 90 days.
-- Depends on: _fulfil_payment, _gateway_events.

-- A payment on an order that was paid already is given back like any other, and the gateway says so: before or after it
-- is known to be one too many.
alter table private.extra_payments
add column given_back_at timestamptz;
comment on column private.extra_payments.given_back_at is
  'When the gateway said that all of it was given back; an admin who did so elsewhere sets it.';

-- Whether an event says that all of a payment was given back.
create function private.says_given_back(
  p_event private.gateway_events,
  p_gateway_payment_id text
)
returns boolean
language sql
immutable
set search_path = ''
return p_event.event = 'refund.processed'
  and private.json_text(p_event.payload #> '{payload,payment,entity,id}') = p_gateway_payment_id
  and private.json_integer(p_event.payload #> '{payload,payment,entity,amount_refunded}')
    >= private.json_integer(p_event.payload #> '{payload,payment,entity,amount}');
revoke execute on function private.says_given_back(private.gateway_events, text) from public;

-- Security definer: the service may not change these rows, and need not.
create function private.note_given_back()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  update private.extra_payments x
  set given_back_at = new.received_at
  from public.payments p
  where p.gateway_order_id = new.subject_id
    and x.payment_id = p.id
    and x.given_back_at is null
    and private.says_given_back(new, x.gateway_payment_id);
  return null;
end
$$;
revoke execute on function private.note_given_back() from public;

create trigger note_given_back
after update of outcome on private.gateway_events
for each row
when (new.event = 'refund.processed' and new.outcome = 'mismatch')
execute function private.note_given_back();

-- Security definer: whoever notes a further payment may have no rights on the ledger.
create function private.find_given_back()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  new.given_back_at := coalesce(
    new.given_back_at,
    (
      select min(e.received_at)
      from public.payments p
      join private.gateway_events e on e.subject_id = left(p.gateway_order_id, 200)
      where p.id = new.payment_id
        and private.says_given_back(e, new.gateway_payment_id)
    )
  );
  return new;
end
$$;
revoke execute on function private.find_given_back() from public;

create trigger find_given_back
before insert on private.extra_payments
for each row execute function private.find_given_back();
