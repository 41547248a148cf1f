-- The ledger of webhook deliveries, readers for the gateway's irregular JSON, and the payment that an event is about.

-- The ledger of webhook deliveries, and readers for the gateway's irregular JSON. Contract: "Events".

create table private.gateway_events (
  body_sha256 bytea primary key constraint gateway_events_body_sha256_check check (octet_length(body_sha256) = 32),
  event_id text,
  event text,
  subject_id text,
  event_at timestamptz,
  reduce_at timestamptz,
  payload jsonb,
  outcome text,
  error text,
  deliveries integer not null default 1,
  attempts integer not null default 0,
  received_at timestamptz not null default private.clock()
)
-- Room in each page for a row's next version: an outcome that is noted writes no index.
with (fillfactor = 90);
alter table private.gateway_events enable row level security;
grant select, insert, update on private.gateway_events to service_role;
create index gateway_events_received_at_idx on private.gateway_events (received_at);
create index gateway_events_reduce_at_idx on private.gateway_events (reduce_at)
where reduce_at is not null;
-- Payloads to be emptied. Without it the job would read every older row to find none.
create index gateway_events_with_payload_idx on private.gateway_events (received_at)
where payload is not null;
create index gateway_events_subject_id_idx on private.gateway_events (subject_id);
comment on table private.gateway_events is
  'Every signed body that the gateway delivered, once: nothing in a delivery but its bytes is signed, so they are its key. '
  'Kept for LEDGER_RETENTION_DAYS.';
comment on column private.gateway_events.event_id is 'The id in the delivery''s header. Not signed: it decides nothing.';
comment on column private.gateway_events.subject_id is 'The subscription or order that the event is about, or the payment where it names no order; its first 200 characters, so '
  'that no id is too long for the index.';
comment on column private.gateway_events.reduce_at is
  'When the payload is reduced: the event names no user that is known. Null: it is not.';
comment on column private.gateway_events.event_at is
  'created_at of a subscription event, as private.event_time reads it. Null: the event carries none. Not set for all others.';
comment on column private.gateway_events.payload is
  'The event''s body. Reduced to what private.stored_payload leaves where the user is deleted, and after a day where no user is '
  'known. Null after 90 days, unless the event still waits.';
comment on column private.gateway_events.outcome is
  'applied, already, stale, mismatch, unmatched, plan_not_found, ignored: why, failed: SQLSTATE, or parked.';

-- A table beside the ledger instead of an index on outcome: each change of an indexed column writes every index.
create table private.unsettled_events (
  body_sha256 bytea primary key
    constraint unsettled_events_body_sha256_fkey references private.gateway_events (body_sha256) on delete cascade
);
alter table private.unsettled_events enable row level security;
grant select, insert, delete on private.unsettled_events to service_role;
comment on table private.unsettled_events is
  'Events that had no effect and may have one yet: when their plan is there, or when an admin applies them again.';

-- A JSON object; anything else is null.
create function private.json_object(
  p_value jsonb
)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when jsonb_typeof(p_value) = 'object' then p_value end;
end
$$;
grant execute on function private.json_object(jsonb) to service_role;

-- A JSON string; anything else is null.
create function private.json_text(
  p_value jsonb
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}' end;
end
$$;
grant execute on function private.json_text(jsonb) to service_role;

-- A JSON string that is a uuid; anything else is null.
create function private.json_uuid(
  p_value jsonb
)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then (p_value #>> '{}')::uuid
  end;
end
$$;
grant execute on function private.json_uuid(jsonb) to service_role;

-- Unix seconds as a JSON integer of the years 1970 to 9999; anything else is null.
create function private.json_time(
  p_value jsonb
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'number' then
      case
        when p_value::numeric between 0 and 253402300799 and p_value::numeric = trunc(p_value::numeric)
          then to_timestamp(p_value::numeric)
      end
  end;
end
$$;
grant execute on function private.json_time(jsonb) to service_role;

-- A whole JSON number, such as an amount in minor units; anything else is null.
create function private.json_integer(
  p_value jsonb
)
returns bigint
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'number' then
      case
        when abs(p_value::numeric) <= 9007199254740991 and p_value::numeric = trunc(p_value::numeric) then p_value::bigint
      end
  end;
end
$$;
grant execute on function private.json_integer(jsonb) to service_role;

-- When an event happened: its created_at, which now and then lies inside the payload. Null: it carries none.
create function private.event_time(
  p_body jsonb
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(private.json_time(p_body -> 'created_at'), private.json_time(p_body -> 'payload' -> 'created_at'));
end
$$;
grant execute on function private.event_time(jsonb) to service_role;

-- Finds the payment that an event of the gateway is about. Contract: "Events".

-- The payment that a gateway's payment entity is about: by its own id, also where another payment pays for the order, else
-- by its order, else by the order's receipt, which is our id without dashes and known before the order's id is. Never by
-- its notes: the browser sets them. Ids can be reused by a test account, so where the order is known it must agree.
create function private.find_payment(
  p_entity jsonb,
  p_order jsonb -- the order's entity, if the event has one
)
returns public.payments -- all null: none. Not locked: read it again under the lock
language plpgsql -- which keeps its plans
stable
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_of_order public.payments;
  v_payment public.payments;
begin
  -- Usually the order is known, and no other payment on it.
  if v_gateway_order_id is not null then
    select * into v_of_order from public.payments p where p.gateway_order_id = v_gateway_order_id;
    if found and (v_of_order.gateway_payment_id is null or v_of_order.gateway_payment_id = v_gateway_payment_id) then
      return v_of_order;
    end if;
  end if;
  select * into v_payment from public.payments p where p.gateway_payment_id = v_gateway_payment_id;
  if found then
    return v_payment;
  end if;
  select p.* into v_payment
  from private.extra_payments x
  join public.payments p on p.id = x.payment_id
  where x.gateway_payment_id = v_gateway_payment_id
  order by p.gateway_order_id = v_gateway_order_id desc nulls last, x.payment_id
  limit 1;
  if found then
    return v_payment;
  end if;
  if v_of_order.id is not null then
    return v_of_order;
  end if;
  if private.json_text(p_order -> 'receipt') ~ '^[0-9a-f]{32}$' then
    select * into v_payment
    from public.payments p
    where p.id = private.json_text(p_order -> 'receipt')::uuid
      and p.gateway_order_id is null;
  end if;
  return v_payment;
end
$$;
grant execute on function private.find_payment(jsonb, jsonb) to service_role;
