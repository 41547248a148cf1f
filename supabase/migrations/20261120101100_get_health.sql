-- What a monitor asks: is the database there, does anything lie undelivered, when did the gateway last call.
-- API: service_role only.
-- Depends on: _outbox, _gateway_events.

create function public.get_health()
returns jsonb -- {oldest_undelivered_at, last_webhook_at}: ISO 8601 or null
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'oldest_undelivered_at', (
      select private.iso_time(min(o.created_at))
      from private.outbox o
      where o.delivered_at is null
        and o.parked_at is null
    ),
    'last_webhook_at', (select private.iso_time(max(e.received_at)) from private.gateway_events e where e.deliveries > 0)
  )
$$;
comment on function public.get_health() is 'The oldest side effect not delivered yet and the newest webhook; no customer data.';
revoke execute on function public.get_health() from public, anon, authenticated;
grant execute on function public.get_health() to service_role;
