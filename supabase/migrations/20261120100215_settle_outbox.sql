-- Settling what was claimed of the outbox: delivered, or not.
-- Depends on: _outbox, _claim_outbox.

-- Notes rows as delivered. Late is welcome, even after another claim: what is delivered is delivered.
-- API: service_role only.
create function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null -- where nothing was sent: why
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
  -- In the order of their ids, here and in fail_outbox: two dispatchers that settle the same rows must not deadlock.
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
comment on function public.complete_outbox(uuid, text, text) is 'Notes claimed side effects as delivered.';
revoke execute on function public.complete_outbox(uuid, text, text) from public, anon, authenticated;
grant execute on function public.complete_outbox(uuid, text, text) to service_role;

-- When to try a side effect again that failed so many times.
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
revoke execute on function private.retry_delay(integer) from public;
grant execute on function private.retry_delay(integer) to service_role;

-- Notes that rows could not be delivered: tried again after a while, parked when that is hopeless or 24 hours are over.
-- Only while the lease runs and once: afterwards the row is somebody else's. API: service_role only.
create function public.fail_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_error text,
  p_final boolean default false, -- trying again can't help
  p_pause_seconds integer default null -- the destination asked for a pause: the attempt does not count
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
  -- Whoever keeps the time hears that there is a new one.
  perform pg_notify('outbox', '');
  return v_result;
end
$$;
comment on function public.fail_outbox(uuid, text, text, boolean, integer) is
  'Notes claimed side effects as not delivered: to be tried again, or parked.';
revoke execute on function public.fail_outbox(uuid, text, text, boolean, integer) from public, anon, authenticated;
grant execute on function public.fail_outbox(uuid, text, text, boolean, integer) to service_role;
