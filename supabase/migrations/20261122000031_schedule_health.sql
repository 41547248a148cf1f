-- For monitors and the function: the faults of the schedule, the health, and the version of the schema.

-- Returns the faults of the schedule: jobs that fail or are overdue, and internal calls that failed or got no answer.
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
      'Run "select private.set_up();". Then check in cron.job_run_details that the job subscriptions-sweep runs each minute.'
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
      'Check that the schedule calls /api/internal/reconcile, that GATEWAY_API_URL and the API key are set, and that the '
        'gateway answers.'
    )
  from private.scheduled_jobs j
  where j.name = 'reconciliation'
    and coalesce(j.done_at, j.since) < now() - interval '15 minutes'
    -- Reconciliations that are due, and those that are leased by a run that got no answer.
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

  -- Only failures that last for ten minutes: another transaction may hold a lock for a moment.
  return query
  select
    'job_failing',
    j.name,
    j.since,
    jsonb_build_object('error', j.error, 'remedy', 'Repair the cause of the error. The job is retried each minute.')
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
          'remedy', 'Repair the cause of the error. The schedule runs the job again.'
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
          when last.answered_at is null
            then 'Check that the worker of pg_net runs. "select net.worker_restart();" starts it again.'
          when last.status_code = 401
            then 'The Vault secret subscriptions_internal_key is not the function''s INTERNAL_KEY.'
          when last.status_code in (404, 405)
            then 'The Vault secret subscriptions_url is not the functions'' address, or the function api is not deployed.'
          when last.status_code = 503
            then 'A variable of the function is not set. The function logs the names of these variables at each start.'
          when last.status_code is null
            then 'The address in the Vault secret subscriptions_url does not answer. Check that it is '
              'https://<ref>.supabase.co/functions/v1.'
          else 'Read the function''s log of that time.'
        end
      )
    )
  from (select distinct c.path from private.function_calls c) paths
  cross join lateral (
    select c.*
    from private.function_calls c
    where c.path = paths.path
      -- A call counts as unanswered after five minutes: pg_net waits for the answer, and the sweep stores it.
      and (c.answered_at is not null or c.called_at < now() - interval '5 minutes')
    order by c.id desc
    limit 1
  ) last
  where last.status_code is null
    or last.status_code not between 200 and 299;
end
$$;

-- Returns what a monitor checks. Contract: GET /api/health.
-- API: service_role only.
create function public.get_health(
  p_destinations text default null -- the configured destinations, comma-separated; null: all
)
returns jsonb -- {oldest_undelivered_at, last_webhook_at, last_sweep_at}: ISO 8601 or null
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'oldest_undelivered_at', (
      -- queued_at is the time from which the row is due: a cancellation may be planned for next year.
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
  'Returns the times of the oldest undelivered side effect, the newest webhook and the newest sweep. No customer data.';
revoke execute on function public.get_health(text) from public, anon, authenticated;
grant execute on function public.get_health(text) to service_role;

-- Returns the newest applied migration up to a version.
-- Security definer: service_role has no rights on the CLI's table of migrations.
create function private.applied_version(
  p_until text
)
returns text -- null: no such migration, or the migrations were applied without the CLI
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

-- Returns the newest applied migration, up to the one that the function is made for. An app may add newer migrations, so the
-- newest of all would not show that one of the function's migrations is missing.
-- API: service_role only.
create function public.get_schema_version(
  p_function_version text -- the newest migration that the function is made for
)
returns jsonb -- {version}: p_function_version if it is applied, else an older version; null: not known
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object('version', private.applied_version(p_function_version))
$$;
comment on function public.get_schema_version(text) is
  'Returns the newest applied migration that is not newer than the given one.';
revoke execute on function public.get_schema_version(text) from public, anon, authenticated;
grant execute on function public.get_schema_version(text) to service_role;
