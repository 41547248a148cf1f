-- The scheduled jobs (the sweep and reconciliation each minute), the parts that the service needs outside of its schema, and
-- the health for monitors. Contract: GET /api/health.

create table billing.scheduled_jobs (
  name text primary key,
  since timestamptz not null default now(),
  done_at timestamptz,
  error text,
  run_id uuid,
  run_until timestamptz,
  profiled_until uuid,
  replayed_until timestamptz,
  listed_until timestamptz, -- see billing.list_documents. Null: all are listed
  ahead interval -- of reconciliation: how far our clock is ahead of the gateway's. Null: not known
);
alter table billing.scheduled_jobs enable row level security;
grant select, update on billing.scheduled_jobs to service_role;
comment on table billing.scheduled_jobs is
  'The sweep and the reconciliation, and the jobs of the sweep that fail. The times are those of now(), not of '
  'billing.clock(), which tests shift.';
comment on column billing.scheduled_jobs.since is 'When it was set up. Of a job of the sweep: when it began to fail.';
comment on column billing.scheduled_jobs.done_at is 'When a run left nothing to do, or reconciliation used up its time.';
comment on column billing.scheduled_jobs.profiled_until is 'Of the sweep: the last user of billing.create_profiles. Null: none is left.';
comment on column billing.scheduled_jobs.replayed_until is
  'Of the sweep: billing.replay_missed_events has read the events that arrived before.';

insert into billing.scheduled_jobs (name, profiled_until, replayed_until)
values ('reconciliation', null, null), ('sweep', '00000000-0000-0000-0000-000000000000', billing.clock());

-- Runs one batch of the first job that has work. Each call is a transaction, so a request waits for one batch at most.
create function billing.sweep()
returns integer -- what the job returned, such as its number of rows; 0: no work is left
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_job text;
  v_done integer;
  v_results jsonb := '{}'; -- the jobs that ran, each with its error or null
begin
  foreach v_job in array array[
    'replay_missed_events', 'settle_waiting_subscriptions', 'settle_due', 'reduce_payloads', 'empty_payloads',
    'delete_messages', 'erase_deleted_users', 'create_profiles', 'issue_documents', 'run_passes'
  ] loop
    -- A failed job must not stop the other jobs.
    begin
      execute format('select billing.%I()', v_job) into v_done;
      v_results := v_results || jsonb_build_object(v_job, null);
    exception when others then
      raise warning 'sweep: % failed: %', v_job, sqlerrm;
      v_done := 0;
      v_results := v_results || jsonb_build_object(v_job, left(format('%s: %s', sqlstate, sqlerrm), 200));
    end;
    exit when v_done > 0;
  end loop;
  if v_done = 0 then
    perform billing.read_answers();
    perform pg_notify('outbox', '');
    perform billing.call_function('/api/internal/outbox');
  end if;
  -- Last, because another transaction may have locked the table.
  begin
    delete from billing.scheduled_jobs j where v_results -> j.name = 'null';
    insert into billing.scheduled_jobs (name, error)
    select r.key, r.value from jsonb_each_text(v_results) r where r.value is not null
    on conflict (name) do update
    set error = excluded.error;
    update billing.scheduled_jobs j
    set done_at = now(),
      replayed_until = case when v_results ->> 'replay_missed_events' is null then billing.clock() else j.replayed_until end
    where j.name = 'sweep' and v_done = 0;
  exception when lock_not_available then
    raise warning 'sweep: its end was not recorded: %', sqlerrm;
  end;
  return v_done;
end $$;

-- Two at once would call the gateway at twice the rate. The lease is longer than a run. API: service_role only.
create function public.begin_reconciliation(p_run_id uuid)
returns jsonb -- {began}: false while another one is running
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  update billing.scheduled_jobs j
  set run_id = p_run_id, run_until = now() + interval '75 seconds'
  where j.name = 'reconciliation' and (j.run_until is null or j.run_until <= now());
  return jsonb_build_object('began', found);
end $$;
comment on function public.begin_reconciliation(uuid) is 'Starts a reconciliation if no other one is running.';

create function public.end_reconciliation(
  p_run_id uuid,
  p_is_done boolean, -- whether it left nothing to do, or used up its time and got answers
  p_gateway_now bigint default null -- the time of the gateway's clock, Unix seconds; null: not known
)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  update billing.scheduled_jobs j
  set done_at = case when p_is_done then now() else j.done_at end, run_id = null, run_until = null,
    ahead = coalesce(billing.clock() - to_timestamp(p_gateway_now), j.ahead)
  where j.name = 'reconciliation' and j.run_id = p_run_id;
end $$;
comment on function public.end_reconciliation is 'Ends a reconciliation, and stores its time if it was complete.';

create view billing.expected_triggers with (security_invoker = true) as
select
  e.name,
  e.timing,
  exists (
    select from pg_catalog.pg_trigger t
    where t.tgrelid = 'auth.users'::regclass and t.tgname = e.name
  ) as is_there
from (
  values ('create_profile', 'insert'), ('note_deleted_user', 'delete'), ('settle_new_user', 'insert')
) e (name, timing);
comment on view billing.expected_triggers is
  'The service''s triggers on auth.users, a table of Supabase Auth: a restore of a dump into a new project loses them.';

-- Returns whether a role for direct connections exists: subscriptions_api, or the second one of a rotation of its password.
create function billing.has_pool_role()
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_catalog.pg_roles r
    where r.rolname like 'subscriptions\_api%'
      and r.rolcanlogin
      and r.rolconfig @> array['role=service_role', 'statement_timeout=4s']
      and pg_has_role(r.oid, 'service_role', 'member')
  )
$$;

-- Returns the parts outside of the schema that the service needs and that are missing, each with its remedy.
-- Security definer: support may not read schemas vault and cron. The answer has no value of them.
create function billing.missing_parts()
returns table (part text, remedy text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
  v_is_there boolean;
begin
  return query
  select m.part, 'Run "select billing.set_up();".' || coalesce(' ' || m.more, '')
  from (
    select
      'extension ' || e.name, 'If it warns, enable the extension in the dashboard and run it again.', e.installed_version is not null
    from pg_available_extensions e
    where e.name in ('pg_net', 'pg_cron', 'supabase_vault')
    union all
    select 'trigger ' || e.name || ' on auth.users', null, e.is_there from billing.expected_triggers e
    union all
    select 'index of names', null, billing.has_names_index() from pg_available_extensions e where e.name = 'pg_trgm'
    union all
    values
      ('role subscriptions_api', 'If the function connects as this role, set its password again.', billing.has_pool_role()),
      ('role subscriptions_support', 'The login roles of support need their membership again.', billing.has_support_role())
  ) m (part, more, is_there)
  where not m.is_there;

  if to_regclass('cron.job') is not null then
    return query
    select
      'job ' || n.name || case
        when exists (select from cron.job j where j.jobname = n.name) then ' (switched off)' else ''
      end,
      'Run "select billing.set_up();".'
    from (values ('subscriptions-sweep'), ('subscriptions-reconcile'), ('subscriptions-purge-runs')) n (name)
    where not exists (select from cron.job j where j.jobname = n.name and j.active);
  end if;

  if to_regnamespace('net') is not null and to_regclass('vault.decrypted_secrets') is not null then
    foreach v_name in array array['subscriptions_url', 'subscriptions_internal_key'] loop
      begin
        v_is_there := exists (
          select from vault.decrypted_secrets s
          where s.name = v_name
            and s.decrypted_secret ~ case v_name when 'subscriptions_url' then '^\s*https?://\S+\s*$' else '\S' end
        );
      exception
        -- After a restore, Vault may not be able to decrypt a secret of another project.
        when others then
          v_is_there := false;
      end;
      if not v_is_there then
        part := 'Vault secret ' || v_name;
        -- Without the delete, create_secret and update_secret fail for a secret of another project.
        remedy := format(
          'Run "delete from vault.secrets where name = ''%1$s''; select vault.create_secret(''...'', ''%1$s'');" with its '
            'value.',
          v_name
        );
        return next;
      end if;
    end loop;
  end if;
end $$;
revoke execute on function billing.missing_parts() from service_role;

-- Schedules the jobs of pg_cron, and makes those anew that were switched off: only a superuser may switch a job on.
-- Security definer: a job belongs to the role that schedules it, and another role would make a second one of the same name.
create function billing.schedule_jobs()
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform cron.unschedule(j.jobid)
  from cron.job j
  where j.jobname in ('subscriptions-sweep', 'subscriptions-reconcile', 'subscriptions-purge-runs')
    and j.username = current_user
    and not j.active;
  perform cron.schedule(j.name, j.schedule, j.command)
  from (
    values
      -- One statement, because only then it can commit between the batches. 10,000 are enough for any load.
      ('subscriptions-sweep', '* * * * *',
        'do $sweep$ begin for n in 1..10000 loop exit when billing.sweep() = 0; commit; end loop; end $sweep$'),
      ('subscriptions-reconcile', '* * * * *', 'select billing.call_function(''/api/internal/reconcile'')'),
      -- Only the runs of these jobs: an app decides how long it keeps its own runs.
      ('subscriptions-purge-runs', '17 3 * * *',
        'delete from cron.job_run_details d using cron.job j where j.jobid = d.jobid '
          'and j.jobname like ''subscriptions-%'' and d.end_time < now() - interval ''7 days''')
  ) j (name, schedule, command);
end $$;
revoke execute on function billing.schedule_jobs() from service_role;

-- Sets up the parts that a toggle in the dashboard, or a restore into a new project, may remove. It may run again at any time.
-- A part that cannot be set up is a row of billing.findings, not an error. A plain Postgres has none of the extensions: a
-- scheduler outside of the database calls the sweep.
create function billing.set_up()
returns integer -- how many parts are still missing
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_part text;
  v_is_absent boolean;
  v_role text;
  v_trigger record;
begin
  foreach v_part in array array[
    'pg_net', 'supabase_vault', 'pg_cron', 'index of names', 'role subscriptions_api', 'role subscriptions_support',
    'jit of roles'
  ] loop
    begin
      v_is_absent := exists (select from pg_available_extensions e where e.name = v_part and e.installed_version is null);
      case v_part
        when 'pg_net' then
          if v_is_absent then
            create schema if not exists extensions;
            create extension pg_net with schema extensions;
          end if;
        when 'supabase_vault' then
          if v_is_absent then create extension supabase_vault cascade; end if;
        when 'pg_cron' then
          if v_is_absent then create extension pg_cron; end if;
          if to_regclass('cron.job') is not null then perform billing.schedule_jobs(); end if;
        when 'index of names' then
          perform billing.index_names();
        when 'role subscriptions_api' then
          if not billing.has_pool_role() then
            if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_api') then
              -- No login as this role is possible until it has a password.
              create role subscriptions_api login noinherit;
            end if;
            grant service_role to subscriptions_api;
            alter role subscriptions_api login;
            alter role subscriptions_api set role = 'service_role';
            alter role subscriptions_api set statement_timeout = '4s';
          end if;
        when 'role subscriptions_support' then
          if not billing.has_support_role() then perform billing.set_up_support(); end if;
        else
          for v_role in
            select r.rolname
            from pg_catalog.pg_roles r
            where r.rolname like any ('{subscriptions\_api%,subscriptions\_support}')
              and not coalesce(r.rolconfig, '{}') @> array['jit=off']
          loop
            execute format('alter role %I set jit = off', v_role);
          end loop;
      end case;
    exception when others then
      raise warning '% was not set up: %', v_part, sqlerrm;
    end;
  end loop;

  for v_trigger in
    select e.name, e.timing
    from billing.expected_triggers e
    where not e.is_there
  loop
    execute format(
      'create trigger %I after %s on auth.users for each row execute function billing.%I()',
      v_trigger.name, v_trigger.timing, v_trigger.name
    );
  end loop;
  return (select count(*) from billing.missing_parts());
end $$;
revoke execute on function billing.set_up() from service_role;

-- Returns what repairs a call of the function that failed or got no answer.
create function billing.call_remedy(p_call billing.function_calls)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_call.answered_at is null
      then 'Check that the worker of pg_net runs. "select net.worker_restart();" starts it again.'
    when p_call.request_id is null
      then 'pg_net did not accept the call. Repair the cause of the error: pg_net is not preloaded, or a Vault secret '
        'can''t be decrypted.'
    when p_call.error = 'no answer within 5 s'
      then 'The function was called and was too slow. Read its log of that time. No line there: its address in the Vault '
        'secret subscriptions_url may be wrong.'
    when p_call.status_code = 401
      then 'The Vault secret subscriptions_internal_key is not the function''s INTERNAL_KEY.'
    when p_call.status_code in (404, 405)
      then 'The Vault secret subscriptions_url is not the functions'' address, or the function api is not deployed.'
    when p_call.status_code = 503
      then 'A variable of the function is not set. The function logs the names of these variables at each start.'
    when p_call.status_code is null
      then 'The address in the Vault secret subscriptions_url does not answer. Check that it is '
        'https://<ref>.supabase.co/functions/v1.'
    else 'Read the function''s log of that time.'
  end;
end $$;

-- Returns the faults of the schedule: jobs that fail or are overdue, and internal calls that failed or got no answer.
-- Security definer: support may not read schema cron.
create function billing.schedule_faults()
returns table (finding text, subject text, since timestamptz, detail jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select
    j.name || '_overdue',
    j.name,
    coalesce(j.done_at, j.since),
    jsonb_build_object('remedy', case j.name
      when 'sweep' then
        'Run "select billing.set_up();". Then check in cron.job_run_details that the job subscriptions-sweep runs each minute.'
      else
        'Check that the schedule calls /api/internal/reconcile, that GATEWAY_API_URL and the API key are set, and that the '
          'gateway answers.'
    end)
  from billing.scheduled_jobs j
  where j.name = 'sweep'
    and coalesce(j.done_at, j.since) < now() - interval '10 minutes'
    or j.name = 'reconciliation'
    and coalesce(j.done_at, j.since) < now() - interval '15 minutes'
    -- Those that are due, and those that are leased by a run that got no answer.
    and exists (select from billing.reconciliations r where r.at < billing.clock() + interval '5 minutes')
  union all
  select
    'statement_overdue', 'statement', least(s.answered_at, s.read_until),
    jsonb_build_object('remedy', 'Payments, refunds, disputes and settlements at the gateway are read each hour. Read the function''s log: '
      'an item that can''t be applied, or a list that the gateway does not answer, is named there. Nothing is read with the key '
      'of another account, which does not know the newest payment.')
  from billing.statement s
  where s.answered_at < now() - interval '3 hours'
    or s.answered_at is not null and s.read_until < billing.clock() - interval '6 hours'
  union all
  select
    'statement_repeats', w.list || ' ' || w.pass, w.repeated_at,
    jsonb_build_object('remedy', 'The gateway answers the next page of this list with the same page: what follows is not read. '
      'Check that GATEWAY_API_URL is the gateway''s own address, and ask the gateway about the parameter skip.')
  from billing.statement_windows w
  where w.repeated_at is not null
  union all
  -- More than the rules tolerate.
  select
    case when j.ahead > interval '0' then 'clock_ahead' else 'clock_behind' end, 'database', null,
    jsonb_build_object('ahead', j.ahead, 'remedy', 'The clock of the database differs from that of the gateway: periods and '
      'reads begin and end at wrong times. Set it by a time server.')
  from billing.scheduled_jobs j
  where j.ahead not between interval '-10 minutes' and interval '10 minutes'
  union all
  -- Only failures that last for ten minutes: another transaction may hold a lock for a moment.
  select
    'job_failing', j.name, j.since,
    jsonb_build_object('error', j.error, 'remedy', 'Repair the cause of the error. The job is retried each minute.')
  from billing.scheduled_jobs j
  where j.error is not null and j.since < now() - interval '10 minutes'
  union all
  select
    'call_failed', last.path, last.called_at,
    jsonb_strip_nulls(
      jsonb_build_object(
        'status_code', last.status_code,
        'error', coalesce(last.error, case when last.answered_at is null then 'not answered' end),
        'remedy', last.remedy
      )
    )
  from (select distinct c.path from billing.function_calls c) paths
  cross join lateral (
    select c.*, billing.call_remedy(c) as remedy
    from billing.function_calls c
    where c.path = paths.path
      -- A call counts as unanswered after five minutes: pg_net waits for the answer, and the sweep stores it.
      and (c.answered_at is not null or c.called_at < now() - interval '5 minutes')
    order by c.id desc
    limit 1
  ) last
  where last.status_code is null or last.status_code not between 200 and 299;

  if to_regclass('cron.job_run_details') is not null then
    return query
    select
      'job_failing', j.jobname::text, run.start_time,
      jsonb_build_object(
        'error', left(run.return_message, 200),
        'remedy', 'Repair the cause of the error. The schedule runs the job again.'
      )
    from cron.job j
    cross join lateral (
      select d.status, d.start_time, d.return_message
      from cron.job_run_details d
      where d.jobid = j.jobid and d.end_time is not null
      order by d.runid desc
      limit 1
    ) run
    where j.jobname like 'subscriptions-%' and run.status = 'failed';
  end if;
end $$;
revoke execute on function billing.schedule_faults() from service_role;

create function public.get_health(
  p_destinations text default null -- the configured destinations, comma-separated; null: all
)
returns jsonb -- {oldest_undelivered_at, last_webhook_at, last_sweep_at, statement}: times are ISO 8601, each may be null
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'oldest_undelivered_at', (
      -- queued_at is the time from which the row is due: a cancellation may be planned for next year.
      select billing.iso_time(min(o.queued_at))
      from billing.outbox o
      where o.delivered_at is null
        and o.parked_at is null
        and o.queued_at <= billing.clock()
        and (p_destinations is null or o.destination = any (string_to_array(p_destinations, ',')))
    ),
    'last_webhook_at', billing.iso_time(billing.last_webhook_at()),
    'last_sweep_at', (select billing.iso_time(j.done_at) from billing.scheduled_jobs j where j.name = 'sweep'),
    'statement', (
      select case when s.completed_at is not null then jsonb_build_object(
        'read_until', billing.iso_time(s.read_until),
        'completed_at', billing.iso_time(s.completed_at),
        'payments', s.payments,
        'news', s.news
      ) end
      from billing.statement s
    )
  );
end $$;
comment on function public.get_health(text) is 'Returns the times that a monitor checks. No customer data.';

-- An app's own migrations count: only an equal version says that the service's migrations are applied.
-- Security definer: service_role has no rights on the CLI's table of migrations.
create function billing.applied_version(p_until text)
returns text -- null: no such migration, or the migrations were applied without the CLI
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  if to_regclass('supabase_migrations.schema_migrations') is null then return null; end if;
  return (select max(m.version) from supabase_migrations.schema_migrations m where m.version <= p_until);
end $$;

-- A newer schema serves an older function, too. API: service_role only.
create function public.get_schema_version(
  p_function_version text -- the newest migration that the function is made for
)
returns jsonb -- {version}: p_function_version if it is applied, else an older version; null: not known
language sql stable set search_path = pg_catalog, pg_temp
as $$ select jsonb_build_object('version', billing.applied_version(p_function_version)) $$;
comment on function public.get_schema_version(text) is 'Returns the newest applied migration up to the given one.';

create view billing.reconciliations with (security_invoker = true) as
select 'payments' as kind, p.next_reconcile_at as at
from public.payments p
where p.gateway_order_id is not null
union all
select 'gateway_subscriptions', nullif(m.next_check_at, '-infinity')
from billing.gateway_subscriptions m;
comment on view billing.reconciliations is 'When each record is read from the gateway next. A claim moves the time.';

revoke execute on function
  public.begin_reconciliation, public.end_reconciliation, public.get_health, public.get_schema_version
from public, anon, authenticated;
grant execute on function
  public.begin_reconciliation, public.end_reconciliation, public.get_health, public.get_schema_version
to service_role;
