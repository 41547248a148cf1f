-- The ledger of webhook deliveries, and readers for the gateway's irregular JSON. SPEC 6.
-- Depends on: _schema.

create table private.gateway_events (
  body_sha256 bytea primary key constraint gateway_events_body_sha256_check check (octet_length(body_sha256) = 32),
  event_id text,
  event text,
  subject_id text,
  event_at timestamptz,
  payload jsonb,
  early_renewal text not null default 'replace',
  outcome text,
  error text,
  deliveries integer not null default 1,
  attempts integer not null default 0,
  received_at timestamptz not null default private.clock()
)
-- Room in each page for a row's next version: an outcome that is noted writes no index.
with (fillfactor = 90);
alter table private.gateway_events enable row level security;
revoke all on private.gateway_events from public;
grant select, insert, update on private.gateway_events to service_role;
create index gateway_events_received_at_idx on private.gateway_events (received_at);
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
comment on column private.gateway_events.event_at is
  'created_at of the event, as private.event_time reads it. Null: it carries none.';
comment on column private.gateway_events.payload is
  'The event''s body. After 90 days null, or what private.stored_payload leaves of an event that still waits; at once where '
  'the user is deleted.';
comment on column private.gateway_events.early_renewal is
  'EARLY_RENEWAL when the event came: it holds for whenever the event is applied.';
comment on column private.gateway_events.outcome is
  'applied, already, stale, mismatch, unmatched, plan_not_found, ignored: why, failed: SQLSTATE, or parked.';

-- Beside the ledger, not an index of it: its outcome changes with each event, and each change would write every index.
create table private.unsettled_events (
  body_sha256 bytea primary key
    constraint unsettled_events_body_sha256_fkey references private.gateway_events (body_sha256) on delete cascade
);
alter table private.unsettled_events enable row level security;
revoke all on private.unsettled_events from public;
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
revoke execute on function private.json_object(jsonb) from public;
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
revoke execute on function private.json_text(jsonb) from public;
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
revoke execute on function private.json_uuid(jsonb) from public;
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
revoke execute on function private.json_time(jsonb) from public;
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
revoke execute on function private.json_integer(jsonb) from public;
grant execute on function private.json_integer(jsonb) to service_role;

-- When an event happened: its created_at, which now and then lies inside the payload. Null: it doesn't say.
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
revoke execute on function private.event_time(jsonb) from public;
grant execute on function private.event_time(jsonb) to service_role;
