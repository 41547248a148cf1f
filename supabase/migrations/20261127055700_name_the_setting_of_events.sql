-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

alter table billing.settings rename column sends_events to events;

create or replace function billing.switch_events_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_events(new.events);
  return null;
end $$;

revoke execute on all functions in schema billing from public;
