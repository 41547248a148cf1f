-- Claiming the outbox's rows: any number of dispatchers at once, none of which need come back.
-- Depends on: _outbox.

create table private.outbox_pauses (
  destination text primary key,
  until timestamptz not null
);
alter table private.outbox_pauses enable row level security;
revoke all on private.outbox_pauses from public;
grant select, insert, update on private.outbox_pauses to service_role;
comment on table private.outbox_pauses is 'Destinations that asked to be left alone for a while.';

-- Rows of one destination for one dispatcher to deliver, under a lease of 60 seconds: when it runs out they are claimed
-- again. API: service_role only.
create function public.claim_outbox(
  p_destination text
)
returns jsonb -- {token, rows: [{id, key, kind, payload}], parked}: at most 20 in all; none: nothing is due
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
      -- Tried for a day; or a mail that waited for one: it helps nobody now, and the provider forgot its key.
      o.queued_at <= private.clock() - interval '24 hours' and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over
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
    -- The newest twenty: nobody comes back later than that, and a destination's pauses must not swell the row.
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
comment on function public.claim_outbox(text) is 'Claims up to 20 due side effects of one destination for 60 seconds.';
revoke execute on function public.claim_outbox(text) from public, anon, authenticated;
grant execute on function public.claim_outbox(text) to service_role;

-- When the next row of these destinations may be claimed. API: service_role only.
create function public.next_outbox_attempt(
  p_destinations text -- comma-separated
)
returns jsonb -- {next_attempt_at}: ISO 8601 in UTC, or null when nothing is left to do
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
comment on function public.next_outbox_attempt(text) is 'When the next side effect of these destinations is due.';
revoke execute on function public.next_outbox_attempt(text) from public, anon, authenticated;
grant execute on function public.next_outbox_attempt(text) to service_role;
