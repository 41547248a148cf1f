-- What happens without anybody asking: once a minute the sweep, every five minutes reconciliation.
-- Depends on: _tend_outbox, _wake, _expire_subscriptions, _replay_events.

create function private.sweep()
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_job text;
  v_done integer;
begin
  -- In this order: replaying takes users' turns, which come before the subscriptions that expiry holds.
  foreach v_job in array array['replay_missed_events', 'expire_subscriptions', 'delete_delivered', 'empty_payloads'] loop
    -- One that fails stops no other. Ten batches a minute keep up with anything, and no transaction gets long.
    begin
      for v_batch in 1..10 loop
        execute format('select private.%I()', v_job) into v_done;
        exit when coalesce(v_done, 0) = 0;
      end loop;
    exception
      when others then
        raise warning 'sweep: % failed: %', v_job, sqlstate;
    end;
  end loop;
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
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
    perform cron.schedule(
      'subscriptions-reconcile',
      '*/5 * * * *',
      $job$select private.call_function('/api/internal/reconcile')$job$
    );
  end if;
end
$$;
