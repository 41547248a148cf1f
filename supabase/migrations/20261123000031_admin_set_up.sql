-- The parts outside of the schema with the role of support: what is missing, and how to set it up.

-- New: the role of support. Security definer, because support may not read schemas vault and cron; the answer has no value
-- of them.
-- Returns the parts outside of the schema that the service needs and that are missing, each with its remedy.
create or replace function private.missing_parts()
returns table (part text, remedy text)
language plpgsql
stable
security definer
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

  if not private.has_support_role() then
    part := 'role subscriptions_support';
    remedy := 'Run "select private.set_up();". The login roles of support need their membership again.';
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

-- New: the role of support, and reconciliation each minute.
-- Sets up the parts that a toggle in the dashboard, or a restore into a new project, may remove: the extensions, the
-- scheduled jobs, the triggers on auth.users, the role for direct connections and that of support. It may run again at any
-- time. A part that cannot be set up is a row of private.findings, not an error. Hosted projects have both extensions. A
-- plain Postgres has none of them, and a scheduler outside of the database calls the sweep.
create or replace function private.set_up()
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
        '* * * * *',
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

  begin
    if not private.has_support_role() then
      perform private.set_up_support();
    end if;
  exception
    when others then
      raise warning 'role subscriptions_support was not set up: %', sqlerrm;
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

-- Security definer: support may not read schemas cron and net; the answer has no value of them.
alter function private.schedule_faults() security definer;

revoke execute on all functions in schema private from public;

select private.set_up();
