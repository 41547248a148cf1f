-- For a monitor and the function: health, faults of the schedule, the version of the schema.

-- What is wrong with the schedule: jobs that fail or are overdue, and internal calls that were refused or not answered.
create function private.schedule_faults()
returns table (finding text, subject text, since timestamptz, detail jsonb)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
  select
    'sweep_overdue',
    j.name,
    coalesce(j.done_at, j.since),
    jsonb_build_object(
      'remedy',
      'Run "select private.set_up();". Then look at cron.job_run_details: does job subscriptions-sweep run every minute?'
    )
  from private.scheduled_jobs j
  where j.name = 'sweep'
    and coalesce(j.done_at, j.since) < now() - interval '10 minutes';

  return query
  select
    'reconciliation_overdue',
    j.name,
    coalesce(j.done_at, j.since),
    jsonb_build_object(
      'remedy',
      'Does the schedule call /api/internal/reconcile, are GATEWAY_API_URL and the API key set, does the gateway answer?'
    )
  from private.scheduled_jobs j
  where j.name = 'reconciliation'
    and coalesce(j.done_at, j.since) < now() - interval '15 minutes'
    -- Due, or leased by a run that got no answer.
    and (
      exists (
        select
        from public.payments p
        where p.next_reconcile_at < private.clock() + interval '5 minutes'
          and p.gateway_order_id is not null
      )
      or exists (
        select
        from private.gateway_subscriptions m
        where m.next_check_at < private.clock() + interval '5 minutes'
      )
    );

  -- A lock that is held for a moment is no fault.
  return query
  select
    'job_failing',
    j.name,
    j.since,
    jsonb_build_object('error', j.error, 'remedy', 'Repair what the error names; the job is tried again every minute.')
  from private.scheduled_jobs j
  where j.error is not null
    and j.since < now() - interval '10 minutes';

  if to_regclass('cron.job_run_details') is not null then
    return query execute $runs$
      select
        'job_failing',
        j.jobname::text,
        run.start_time,
        jsonb_build_object(
          'error', left(run.return_message, 200),
          'remedy', 'Repair what the error names; the job runs again by itself.'
        )
      from cron.job j
      cross join lateral (
        select d.status, d.start_time, d.return_message
        from cron.job_run_details d
        where d.jobid = j.jobid
          and d.end_time is not null
        order by d.runid desc
        limit 1
      ) run
      where j.jobname like 'subscriptions-%'
        and run.status = 'failed'
    $runs$;
  end if;

  return query
  select
    'call_failed',
    last.path,
    last.called_at,
    jsonb_strip_nulls(
      jsonb_build_object(
        'status_code', last.status_code,
        'error', coalesce(last.error, case when last.answered_at is null then 'not answered' end),
        'remedy', case
          when last.answered_at is null then 'Does the worker of pg_net run? "select net.worker_restart();" starts it again.'
          when last.status_code = 401
            then 'The Vault secret subscriptions_internal_key is not the function''s INTERNAL_KEY.'
          when last.status_code in (404, 405)
            then 'The Vault secret subscriptions_url is not the functions'' address, or the function api is not deployed.'
          when last.status_code = 503 then 'A variable of the function is not set: its log names it at each start.'
          when last.status_code is null
            then 'The Vault secret subscriptions_url can''t be reached: is it https://<ref>.supabase.co/functions/v1?'
          else 'Look at the function''s log of that time.'
        end
      )
    )
  from (select distinct c.path from private.function_calls c) paths
  cross join lateral (
    select c.*
    from private.function_calls c
    where c.path = paths.path
      -- Give an answer its time, and the sweep to read it.
      and (c.answered_at is not null or c.called_at < now() - interval '5 minutes')
    order by c.id desc
    limit 1
  ) last
  where last.status_code is null
    or last.status_code not between 200 and 299;
end
$$;

-- For a monitor: whether the database answers, the oldest undelivered side effect, the newest webhook and sweep.
-- API: service_role only.

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

-- Security definer: service_role has no rights on the history of the CLI.
create function private.applied_version(
  p_until text
)
returns text -- null: none, or the migrations were applied without the CLI
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_version text;
begin
  if to_regclass('supabase_migrations.schema_migrations') is null then
    return null;
  end if;
  execute 'select max(m.version) from supabase_migrations.schema_migrations m where m.version <= $1'
  into v_version
  using p_until;
  return v_version;
end
$$;
grant execute on function private.applied_version(text) to service_role;

-- The newest applied migration, up to the one that the function is made for. An app may add newer migrations of its own,
-- so the newest of all would not show that one of the function's is missing.
-- API: service_role only.
create function public.get_schema_version(
  p_function_version text -- the newest migration that the function is made for
)
returns jsonb -- {version}: p_function_version if it is applied, else an older one; null: not known
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object('version', private.applied_version(p_function_version))
$$;
comment on function public.get_schema_version(text) is
  'The newest applied migration that is not newer than the given one.';
revoke execute on function public.get_schema_version(text) from public, anon, authenticated;
grant execute on function public.get_schema_version(text) to service_role;
