-- What a monitor asks: is the database there, does anything lie undelivered, when did the gateway last call.
-- API: service_role only.
-- Depends on: _outbox, _gateway_events, _schedule.

create function public.get_health(
  p_destinations text default null -- those that are configured, comma-separated; null: all
)
returns jsonb -- {oldest_undelivered_at, last_webhook_at, last_sweep_at}: ISO 8601 or null
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'oldest_undelivered_at', (
      -- Since when it is due: a cancellation may be planned for next year.
      select private.iso_time(min(o.queued_at))
      from private.outbox o
      where o.delivered_at is null
        and o.parked_at is null
        and o.queued_at <= private.clock()
        and (p_destinations is null or o.destination = any (string_to_array(p_destinations, ',')))
    ),
    'last_webhook_at', (select private.iso_time(max(e.received_at)) from private.gateway_events e where e.deliveries > 0),
    'last_sweep_at', (select private.iso_time(j.done_at) from private.scheduled_jobs j where j.name = 'sweep')
  )
$$;
comment on function public.get_health(text) is
  'The oldest side effect that is due, the newest webhook and the newest sweep; no customer data.';
revoke execute on function public.get_health(text) from public, anon, authenticated;
grant execute on function public.get_health(text) to service_role;
