-- The scheduled jobs (the sweep each minute, reconciliation every five minutes), and private.set_up for the parts that the
-- service needs outside of its schema.

create table private.scheduled_jobs (
  name text primary key,
  since timestamptz not null default now(),
  done_at timestamptz,
  error text
);
alter table private.scheduled_jobs enable row level security;
grant select, update on private.scheduled_jobs to service_role;
comment on table private.scheduled_jobs is
  'The sweep and the reconciliation, and the jobs of the sweep that fail. The times are those of now(), not of '
  'private.clock(), which tests shift.';
comment on column private.scheduled_jobs.since is
  'When the sweep or the reconciliation was set up. For a job of the sweep: when it began to fail.';
comment on column private.scheduled_jobs.done_at is 'When the newest complete run left nothing to do.';
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

-- Runs one batch of the first job that has work. The schedule calls it until no work is left, each time in a separate
-- transaction. So a request that waits for a lock of the sweep waits for one batch at most.
create function private.sweep()
returns integer -- what the job returned, such as its number of rows; 0: no work is left
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
    -- A failed job must not stop the other jobs.
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

-- Stores that reconciliation left nothing to do. API: service_role only.
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
comment on function public.finish_reconciliation() is 'Stores the time when a reconciliation left nothing to do.';
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
-- An app with its own table of profiles has no private.create_profile.
where to_regprocedure(format('private.%I()', e.name)) is not null;
comment on view private.expected_triggers is
  'The service''s triggers on auth.users. That table belongs to Supabase Auth, so a restore of a dump into a new project '
  'loses the triggers.';

-- Returns whether a login role for direct connections exists that acts as service_role: subscriptions_api, or the second
-- role that a rotation of the password creates.
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

-- Returns the parts outside of the schema that the service needs and that are missing, each with its remedy.
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
    remedy := 'Run "select private.set_up();". If the function connects as this role, set its password again.';
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
        -- After a restore, Vault may not be able to decrypt a secret of another project.
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

-- Sets up the parts that a toggle in the dashboard, or a restore into a new project, may remove: the extensions, the
-- scheduled jobs, the triggers on auth.users and the role for direct connections. It may run again at any time. A part that
-- cannot be set up is a row of private.findings, not an error. Hosted projects have both extensions. A plain Postgres has
-- none of them, and a scheduler outside of the database calls the sweep.
create function private.set_up()
returns integer -- how many parts are still missing
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
      -- The command is one statement, because only then it can commit between the batches. 10,000 batches are enough for any
      -- load.
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
        -- Only the runs of these jobs: an app decides how long it keeps its own runs.
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
        -- No login as this role is possible until it has a password.
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
