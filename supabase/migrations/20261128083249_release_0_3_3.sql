-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.switch_events(boolean);

drop function billing.switch_documents(boolean);

-- Switches the service's triggers of a name, and those with it and _insert: switched off they cost nothing.
create function billing.switch_triggers(p_name text, p_are_on boolean)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_trigger record;
begin
  for v_trigger in
    select t.tgrelid::regclass as relation, t.tgname as name
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_proc f on f.oid = t.tgfoid and f.pronamespace = 'billing'::regnamespace
    where t.tgname in (p_name, p_name || '_insert')
  loop
    execute format(
      'alter table %s %s trigger %I', v_trigger.relation, case when p_are_on then 'enable' else 'disable' end, v_trigger.name
    );
  end loop;
end $$;

revoke execute on function billing.switch_triggers(text, boolean) from service_role;

create or replace function billing.switch_events_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_triggers('note_event', new.events);
  return null;
end $$;

-- From then on, also for payments that were confirmed before the setting was made: the sweep lists those.
create or replace function billing.switch_documents_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_triggers('note_document', new.receipts_from is not null);
  delete from billing.documents_due d where d.confirmed_at < new.receipts_from or new.receipts_from is null;
  -- A payment is confirmed at most 120 hours after its verification.
  update billing.scheduled_jobs j set listed_until = new.receipts_from - interval '6 days' where j.name = 'sweep';
  return null;
end $$;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."switch_triggers"(text, boolean) FROM PUBLIC;

revoke execute on all functions in schema billing from public;
