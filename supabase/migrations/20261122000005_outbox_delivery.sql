-- Delivery of the outbox: claim_outbox, next_outbox_attempt, complete_outbox and fail_outbox, which a dispatcher calls.
-- Several dispatchers may run at once, and each of them may crash.

create table private.outbox_pauses (
  destination text primary key,
  until timestamptz not null
);
alter table private.outbox_pauses enable row level security;
grant select, insert, update on private.outbox_pauses to service_role;
comment on table private.outbox_pauses is 'Destinations that asked for a pause, such as with a Retry-After header.';

-- Claims due rows of one destination for one dispatcher, under a lease of 60 seconds. After the lease, rows that were
-- neither completed nor failed may be claimed again. API: service_role only.
create function public.claim_outbox(
  p_destination text
)
returns jsonb -- {token, rows: [{id, key, kind, payload}], parked}: at most 20 rows, with the parked ones
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_token constant uuid := gen_random_uuid();
  v_result jsonb;
begin
  if exists (
    select
    from private.outbox_pauses p
    where p.destination = p_destination
      and p.until > private.clock()
  ) then
    return jsonb_build_object('token', v_token, 'rows', '[]'::jsonb, 'parked', 0);
  end if;

  with due as materialized (
    select
      o.id,
      -- Too old: tried for a day, or a mail that waited for a day. Then the provider no longer knows the idempotency key.
      o.queued_at <= private.clock() - interval '24 hours'
        and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over
    from private.outbox o
    where o.destination = p_destination
      and o.delivered_at is null
      and o.parked_at is null
      and o.next_attempt_at <= private.clock()
    order by o.next_attempt_at
    limit 20
    for update skip locked
  ),
  claimed as (
    update private.outbox o
    -- Keeps the newest 20 tokens: no older claim still runs, and repeated pauses of a destination must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = private.clock() + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over then private.clock() end,
      last_error = case
        when due.is_over then coalesce(o.last_error, 'not delivered within 24 hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(
        jsonb_build_object('id', c.id, 'key', c.key, 'kind', c.kind, 'payload', c.payload)
        order by c.id
      ) filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at)
  )
  into v_result
  from claimed c;
  return v_result;
end
$$;
comment on function public.claim_outbox(text) is 'Claims up to 20 due side effects of one destination, for 60 seconds.';
revoke execute on function public.claim_outbox(text) from public, anon, authenticated;
grant execute on function public.claim_outbox(text) to service_role;

-- Returns when the next row of these destinations may be claimed. API: service_role only.
create function public.next_outbox_attempt(
  p_destinations text -- comma-separated
)
returns jsonb -- {next_attempt_at}: ISO 8601 in UTC; null: no row waits
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'next_attempt_at',
    private.iso_time(min(greatest(first.next_attempt_at, p.until)))
  )
  from unnest(string_to_array(p_destinations, ',')) d (destination)
  cross join lateral (
    select o.next_attempt_at
    from private.outbox o
    where o.destination = d.destination
      and o.delivered_at is null
      and o.parked_at is null
    order by o.next_attempt_at
    limit 1
  ) first
  left join private.outbox_pauses p on p.destination = d.destination
$$;
comment on function public.next_outbox_attempt(text) is 'Returns when the next side effect of these destinations is due.';
revoke execute on function public.next_outbox_attempt(text) from public, anon, authenticated;
grant execute on function public.next_outbox_attempt(text) to service_role;

-- Marks claimed rows as delivered. After the lease, or after another claim, too: the receiver has accepted them.
-- API: service_role only.
create function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null -- why no message was sent
)
returns jsonb -- {completed}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_completed integer;
begin
  -- Here and in fail_outbox the rows are locked in the order of their ids, so that two dispatchers do not deadlock.
  with delivered as materialized (
    select o.id
    from private.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and p_token = any (o.claims)
      and o.delivered_at is null
    order by o.id
    for no key update
  )
  update private.outbox o
  set delivered_at = private.clock(),
    last_error = coalesce(p_note, o.last_error),
    parked_at = null
  from delivered
  where o.id = delivered.id;
  get diagnostics v_completed = row_count;
  return jsonb_build_object('completed', v_completed);
end
$$;
comment on function public.complete_outbox(uuid, text, text) is 'Marks claimed side effects as delivered.';
revoke execute on function public.complete_outbox(uuid, text, text) from public, anon, authenticated;
grant execute on function public.complete_outbox(uuid, text, text) to service_role;

-- Returns the delay before the next attempt, by the number of failed attempts.
create function private.retry_delay(
  p_attempts integer
)
returns interval
language sql
immutable
set search_path = ''
return case p_attempts
  when 1 then interval '5 seconds'
  when 2 then interval '30 seconds'
  when 3 then interval '2 minutes'
  when 4 then interval '10 minutes'
  else interval '1 hour'
end;
grant execute on function private.retry_delay(integer) to service_role;

-- Marks claimed rows as failed. They are retried later, or parked where a retry is useless or 24 hours have passed.
-- A row is marked once, and only during its lease: afterwards it may belong to another claim. API: service_role only.
create function public.fail_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_error text,
  p_final boolean default false, -- a retry is useless
  p_pause_seconds integer default null -- the destination asked for this pause: the attempt does not count
)
returns jsonb -- {retried, parked}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_now constant timestamptz := private.clock();
  v_pause_until constant timestamptz := v_now + make_interval(secs => p_pause_seconds);
  v_result jsonb;
begin
  with leased as materialized (
    select o.id
    from private.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and o.claims[cardinality(o.claims)] = p_token
      and o.next_attempt_at > v_now
      and o.delivered_at is null
      and o.parked_at is null
    order by o.id
    for no key update
  ),
  failed as (
    update private.outbox o
    set last_error = p_error,
      claims = o.claims || null::uuid,
      attempts = o.attempts - case when v_pause_until is null then 0 else 1 end,
      next_attempt_at = coalesce(v_pause_until, v_now + private.retry_delay(o.attempts)),
      parked_at = case when p_final or o.queued_at <= v_now - interval '24 hours' then v_now end
    from leased
    where o.id = leased.id
    returning o.destination, o.parked_at
  ),
  paused as (
    insert into private.outbox_pauses as p (destination, until)
    select distinct f.destination, v_pause_until
    from failed f
    where v_pause_until is not null
    on conflict (destination) do update set until = greatest(p.until, excluded.until)
  )
  select jsonb_build_object(
    'retried', count(*) filter (where f.parked_at is null),
    'parked', count(*) filter (where f.parked_at is not null)
  )
  into v_result
  from failed f;
  -- A listening scheduler then reads the new time of the next attempt.
  perform pg_notify('outbox', '');
  return v_result;
end
$$;
comment on function public.fail_outbox(uuid, text, text, boolean, integer) is
  'Marks claimed side effects as failed: they are retried or parked.';
revoke execute on function public.fail_outbox(uuid, text, text, boolean, integer) from public, anon, authenticated;
grant execute on function public.fail_outbox(uuid, text, text, boolean, integer) to service_role;
