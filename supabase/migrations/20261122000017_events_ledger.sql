-- The ledger of webhook deliveries, readers for the gateway's irregular JSON, and private.find_payment. Contract: "Events".

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
-- Space in each page for a new row version (HOT updates): an update of the outcome writes no index.
with (fillfactor = 90);
alter table private.gateway_events enable row level security;
grant select, insert, update on private.gateway_events to service_role;
create index gateway_events_received_at_idx on private.gateway_events (received_at);
create index gateway_events_reduce_at_idx on private.gateway_events (reduce_at)
where reduce_at is not null;
-- For the job that deletes payloads: without this index it would scan all older rows.
create index gateway_events_with_payload_idx on private.gateway_events (received_at)
where payload is not null;
create index gateway_events_subject_id_idx on private.gateway_events (subject_id);
comment on table private.gateway_events is
  'The ledger: one row for each signed body that the gateway delivered. The hash of the body is the key, because the '
  'gateway signs nothing else. Rows are kept for LEDGER_RETENTION_DAYS.';
comment on column private.gateway_events.event_id is
  'The id in the delivery''s header. It is not signed, so no rule reads it.';
comment on column private.gateway_events.subject_id is
  'The id of the event''s subscription or order, or of its payment if it names no order. Cut to 200 characters, so that it '
  'fits into the index.';
comment on column private.gateway_events.reduce_at is
  'When private.stored_payload reduces the payload, because the event names no known user. Null: not planned.';
comment on column private.gateway_events.event_at is
  'created_at of a subscription event, by private.event_time. Null: the event has none, or is no subscription event.';
comment on column private.gateway_events.payload is
  'The event''s body. private.stored_payload reduces it if the user is deleted, and after a day if no user is known. Null '
  'after 90 days, unless the event still waits.';
comment on column private.gateway_events.outcome is
  'applied, already, stale, mismatch, unmatched, plan_not_found, parked, ignored: <why>, or failed: <SQLSTATE>.';

-- A separate table instead of an index on outcome: an update of an indexed column writes every index.
create table private.unsettled_events (
  body_sha256 bytea primary key
    constraint unsettled_events_body_sha256_fkey references private.gateway_events (body_sha256) on delete cascade
);
alter table private.unsettled_events enable row level security;
grant select, insert, delete on private.unsettled_events to service_role;
comment on table private.unsettled_events is
  'Events that had no effect but may have one later: when their plan exists, or when an admin applies them again.';

-- Returns a JSON object. Any other value gives null.
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

-- Returns the text of a JSON string. Any other value gives null.
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

-- Returns the UUID in a JSON string. Any other value gives null.
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

-- Returns the time of Unix seconds, a JSON integer of the years 1970 to 9999. Any other value gives null.
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

-- Returns a JSON integer, such as an amount in minor currency units. Any other value gives null.
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

-- Returns the created_at of an event. Some events have it inside the payload. Null: the event has none.
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

-- Finds the payment of a gateway's payment entity: by the payment's id, which may be that of an extra payment, else by the
-- order's id, else by the order's receipt. The receipt is our payment id without dashes, and is known before the order's
-- id. The notes are not used, because the browser sets them. A test account may reuse ids, so a payment on the entity's own
-- order comes first.
create function private.find_payment(
  p_entity jsonb,
  p_order jsonb -- the order's entity, if the event has one
)
returns public.payments -- all null: not found. The row is not locked: read it again under its lock
language plpgsql -- a session caches its plans
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
  -- The usual case: the order is known and has no other payment.
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
