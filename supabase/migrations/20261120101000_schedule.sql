-- What happens once a minute without anybody asking.
-- Depends on: _dispatch_outbox, _wake, _expire_subscriptions, _replay_events.

create function private.sweep()
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- First, since it takes users' turns, which come before the subscriptions that expiry holds.
  perform private.replay_missed_events();
  perform private.expire_subscriptions();
  perform private.delete_delivered();
  perform private.empty_payloads();
  perform pg_notify('outbox', '');
  perform private.call_dispatcher();
end
$$;
revoke execute on function private.sweep() from public;

-- Hosted projects have both extensions; a plain Postgres has neither and is swept from outside.
do $$
begin
  if exists (select from pg_available_extensions e where e.name = 'pg_net') then
    create extension if not exists pg_net;
  end if;
  if exists (select from pg_available_extensions e where e.name = 'pg_cron') then
    create extension if not exists pg_cron;
    perform cron.schedule('subscriptions-sweep', '* * * * *', 'select private.sweep()');
  end if;
end
$$;
