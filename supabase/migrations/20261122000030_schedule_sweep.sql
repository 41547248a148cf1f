-- Scheduled jobs: the sweep once a minute, reconciliation every five minutes, and their setup.

-- Scheduled jobs: the sweep once a minute, reconciliation every five minutes.

create table private.scheduled_jobs (
  name text primary key,
  since timestamptz not null default now(),
  done_at timestamptz,
  error text
);
alter table private.scheduled_jobs enable row level security;
grant select, update on private.scheduled_jobs to service_role;
comment on table private.scheduled_jobs is
  'The sweep and the reconciliation, and those jobs of the sweep that fail. Times of the server''s own clock, which no test '
  'moves.';
comment on column private.scheduled_jobs.since is 'When it was set up; of a job of the sweep, when it began to fail.';
comment on column private.scheduled_jobs.done_at is 'When it last left nothing to do.';
comment on column private.scheduled_jobs.error is 'SQLSTATE and message of the newest failure.';

insert into private.scheduled_jobs (name)
values ('reconciliation'), ('sweep');

-- The jobs of the sweep, in their order: functions of this schema without arguments, which return how much they did.
create function private.sweep_jobs()
returns text[]
language sql
immutable
set search_path = ''
return array[
  'replay_missed_events', 'settle_waiting_subscriptions', 'expire_subscriptions', 'announce_ends', 'reduce_payloads',
  'empty_payloads', 'delete_order_keys', 'delete_mails', 'erase_deleted_users'
];

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
  foreach v_job in array private.sweep_jobs() loop
    -- A job that fails does not stop the others.
    begin
      execute format('select private.%I()', v_job) into v_done;
      delete from private.scheduled_jobs j where j.name = v_job;
      if v_done > 0 then
        return v_done;
      end if;
    exception
      when others then
        raise warning 'sweep: % failed: %', v_job, sqlerrm;
        insert into private.scheduled_jobs (name, error)
        values (v_job, left(format('%s: %s', sqlstate, sqlerrm), 200))
        on conflict (name) do update
        set error = excluded.error;
    end;
  end loop;
  perform private.read_answers();
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
  begin
    update private.scheduled_jobs j
    set done_at = now()
    where j.name = 'sweep';
  exception
    when lock_not_available then
      raise warning 'sweep: its end was not recorded: %', sqlerrm;
  end;
  return 0;
end
$$;

-- Notes that reconciliation left nothing to do. API: service_role only.
create function public.finish_reconciliation()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
begin
  update private.scheduled_jobs j
  set done_at = now()
  where j.name = 'reconciliation';
end
$$;
comment on function public.finish_reconciliation() is 'Notes when a reconciliation last left nothing due.';
revoke execute on function public.finish_reconciliation() from public, anon, authenticated;
grant execute on function public.finish_reconciliation() to service_role;

create view private.expected_triggers
with (security_invoker = true)
as
select
  e.name,
  e.timing,
  exists (
    select
    from pg_catalog.pg_trigger t
    where t.tgrelid = 'auth.users'::regclass
      and t.tgname = e.name
  ) as is_there
from (
  values ('create_profile', 'insert'), ('note_deleted_user', 'delete'), ('settle_new_user', 'insert')
) e (name, timing)
-- An app that has profiles already makes them itself.
where to_regprocedure(format('private.%I()', e.name)) is not null;
comment on view private.expected_triggers is
  'The triggers on auth.users, which is not of this schema: a dump that is restored into a new project loses them.';

-- Whether a role of a direct connection is there, with the rights of the service and none of its own: subscriptions_api, or
-- the second one that its password was rotated by.
create function private.has_pool_role()
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select
    from pg_catalog.pg_roles r
    where r.rolname like 'subscriptions\_api%'
      and r.rolcanlogin
      and r.rolconfig @> array['role=service_role', 'statement_timeout=4s']
      and pg_has_role(r.oid, 'service_role', 'member')
  )
$$;

-- What the service needs around its schema and does not find, with what to do about it.
create function private.missing_parts()
returns table (part text, remedy text)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_name text;
  v_is_there boolean;
begin
  return query
  select
    'extension ' || e.name,
    'Run "select private.set_up();". If it warns, enable the extension in the dashboard and run it again.'
  from pg_available_extensions e
  where e.name in ('pg_net', 'pg_cron')
    and e.installed_version is null;

  return query
  select 'trigger ' || e.name || ' on auth.users', 'Run "select private.set_up();".'
  from private.expected_triggers e
  where not e.is_there;

  if not private.has_pool_role() then
    part := 'role subscriptions_api';
    remedy := 'Run "select private.set_up();", then give the role its password again if the function connects by it.';
    return next;
  end if;

  if to_regclass('cron.job') is not null then
    foreach v_name in array array['subscriptions-sweep', 'subscriptions-reconcile'] loop
      execute 'select exists (select from cron.job j where j.jobname = $1)' into v_is_there using v_name;
      if not v_is_there then
        part := 'job ' || v_name;
        remedy := 'Run "select private.set_up();".';
        return next;
      end if;
    end loop;
  end if;

  if to_regnamespace('net') is not null and to_regclass('vault.decrypted_secrets') is not null then
    foreach v_name in array array['subscriptions_url', 'subscriptions_internal_key'] loop
      begin
        execute $vault$
          select exists (select from vault.decrypted_secrets s where s.name = $1 and s.decrypted_secret ~ $2)
        $vault$
        into v_is_there
        using v_name, case v_name when 'subscriptions_url' then '^\s*https?://\S+\s*$' else '\S' end;
      exception
        -- For example with the key of another project, after a restore.
        when others then
          v_is_there := false;
      end;
      if not v_is_there then
        part := 'Vault secret ' || v_name;
        remedy := format('Run "select vault.create_secret(''...'', ''%s'');" with its value.', v_name);
        return next;
      end if;
    end loop;
  end if;
end
$$;

-- Sets up what a migration alone can't keep: extensions, scheduled jobs, the triggers on auth.users and the role of a direct
-- connection, which a toggle in the dashboard or a restore into a new project loses. Run it again at any time. What can't be set up is a row of
-- private.findings, not an error: hosted projects have both extensions, a plain Postgres has neither and is swept from
-- outside.
create function private.set_up()
returns integer -- how many parts are missing still
language plpgsql
set search_path = ''
as $$
declare
  v_trigger record;
begin
  begin
    if exists (select from pg_available_extensions e where e.name = 'pg_net' and e.installed_version is null) then
      create schema if not exists extensions;
      create extension pg_net with schema extensions;
    end if;
  exception
    when others then
      raise warning 'pg_net was not set up: %', sqlerrm;
  end;

  begin
    if exists (select from pg_available_extensions e where e.name = 'pg_cron' and e.installed_version is null) then
      create extension pg_cron;
    end if;
    if to_regclass('cron.job') is not null then
      -- One statement, or it could not commit between the batches; ten thousand of them keep up with anything.
      perform cron.schedule(
        'subscriptions-sweep',
        '* * * * *',
        'do $sweep$ begin for n in 1..10000 loop exit when private.sweep() = 0; commit; end loop; end $sweep$'
      );
      perform cron.schedule(
        'subscriptions-reconcile',
        '*/5 * * * *',
        'select private.call_function(''/api/internal/reconcile'')'
      );
      perform cron.schedule(
        'subscriptions-purge-runs',
        '17 3 * * *',
        -- Of these jobs alone: how long an app keeps the runs of its own is for the app to say.
        $job$delete from cron.job_run_details d
        using cron.job j
        where j.jobid = d.jobid
          and j.jobname like 'subscriptions-%'
          and d.end_time < now() - interval '7 days'$job$
      );
    end if;
  exception
    when others then
      raise warning 'pg_cron was not set up: %', sqlerrm;
  end;

  begin
    if not private.has_pool_role() then
      if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_api') then
        -- Without a password no login as this role is possible.
        create role subscriptions_api login noinherit;
      end if;
      grant service_role to subscriptions_api;
      alter role subscriptions_api login;
      alter role subscriptions_api set role = 'service_role';
      alter role subscriptions_api set statement_timeout = '4s';
    end if;
  exception
    when others then
      raise warning 'role subscriptions_api was not set up: %', sqlerrm;
  end;

  for v_trigger in
    select e.name, e.timing
    from private.expected_triggers e
    where not e.is_there
  loop
    execute format(
      'create trigger %I after %s on auth.users for each row execute function private.%I()',
      v_trigger.name, v_trigger.timing, v_trigger.name
    );
  end loop;
  return (select count(*) from private.missing_parts());
end
$$;

select private.set_up();
