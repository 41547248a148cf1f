-- Scheduled jobs: the sweep once a minute, reconciliation every five minutes.
-- Depends on: _create_order, _tend_outbox, _wake, _expire_subscriptions, _announce_ends, _replay_events.

-- Does a batch of the first job that has any to do. Called again and again, each time in a transaction of its own, until
-- nothing is left: a request that waits for one of its locks waits for one batch, however much there is to do.
create function private.sweep()
returns integer -- how much was done; 0: nothing is left
language plpgsql
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_job text;
  v_done integer;
begin
  foreach v_job in array array[
    'replay_missed_events', 'settle_waiting_subscriptions', 'expire_subscriptions', 'announce_ends', 'delete_delivered', 'empty_payloads',
    'delete_order_keys'
  ] loop
    -- One that fails stops no other.
    begin
      execute format('select private.%I()', v_job) into v_done;
      if v_done > 0 then
        return v_done;
      end if;
    exception
      when others then
        raise warning 'sweep: % failed: %', v_job, sqlstate;
    end;
  end loop;
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
  return 0;
end
$$;
revoke execute on function private.sweep() from public;

-- Hosted projects have both extensions; a plain Postgres has neither and is swept from outside.
do $schedule$
begin
  if exists (select from pg_available_extensions e where e.name = 'pg_net') then
    create extension if not exists pg_net;
  end if;
  if exists (select from pg_available_extensions e where e.name = 'pg_cron') then
    create extension if not exists pg_cron;
    -- One statement, or it could not commit between the batches; ten thousand of them keep up with anything.
    perform cron.schedule(
      'subscriptions-sweep',
      '* * * * *',
      'do $$ begin for n in 1..10000 loop exit when private.sweep() = 0; commit; end loop; end $$'
    );
    perform cron.schedule(
      'subscriptions-reconcile',
      '*/5 * * * *',
      $job$select private.call_function('/api/internal/reconcile')$job$
    );
  end if;
end
$schedule$;
