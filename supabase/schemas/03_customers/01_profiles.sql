-- The profiles with the tier of each user. Contract: "Records".

select billing.lock_users();

-- The block below renames the table to public.profiles, unless the app has one. All other SQL uses billing.profiles.
create table public.subscription_profiles (
  user_id uuid primary key constraint profiles_user_id_fkey references auth.users (id) on delete cascade,
  subscription_tier text default 'free',
  display_name text constraint profiles_display_name_check check (char_length(display_name) <= 200),
  username text constraint profiles_username_check check (char_length(username) <= 200),
  created_at timestamptz not null default billing.clock()
) with (fillfactor = 90); -- for HOT updates: a change of the tier writes no index
comment on table public.subscription_profiles is 'One row for each user: the names that the app shows, and the tier.';
comment on column public.subscription_profiles.subscription_tier is 'Null means free.';
alter table public.subscription_profiles enable row level security;
revoke all on public.subscription_profiles from public, anon, authenticated, service_role;
grant select, update (display_name, username) on public.subscription_profiles to authenticated;
grant select, insert, update on public.subscription_profiles to service_role;

create policy "Users see their own profile" on public.subscription_profiles for select to authenticated
using ((select auth.uid()) = user_id);

create policy "Users edit their own profile" on public.subscription_profiles for update to authenticated
using ((select auth.uid()) = user_id)
with check ((select auth.uid()) = user_id);

create view billing.profiles with (security_invoker = true) as
select p.user_id, p.subscription_tier, p.display_name, p.username, p.created_at
from public.subscription_profiles p;
comment on view billing.profiles is
  'The table public.profiles, or public.subscription_profiles where the app has a table public.profiles of its own.';
-- For public.current_tier. A client cannot name the view: it may not use schema billing.
grant select on billing.profiles to authenticated;
grant select, insert, update on billing.profiles to service_role;

-- The function holds the table's id, which a new name does not change.
create function billing.profiles_table()
returns regclass language sql immutable set search_path = pg_catalog, pg_temp
return 'public.subscription_profiles'::regclass;

do $rename$
begin
  if to_regtype('public.profiles') is null
    and to_regclass('public.profiles') is null
    -- An index keeps its name when its table is renamed.
    and to_regclass('public.profiles_pkey') is null
    and to_regclass('public.profiles_names_idx') is null
  then
    alter table public.subscription_profiles rename to profiles;
    alter index public.subscription_profiles_pkey rename to profiles_pkey;
  end if;
end
$rename$;

-- The username of a new profile: the local part of the e-mail address.
create function billing.default_username(p_email text)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return left(coalesce(nullif(split_part(p_email, '@', 1), ''), 'user'), 60); end $$;

-- The display name of a new profile, from what a sign-up or a sign-in provider wrote. Null: it wrote no name.
create function billing.default_display_name(p_metadata jsonb)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return left(coalesce(
    nullif(btrim(billing.json_text(p_metadata -> 'full_name')), ''),
    nullif(btrim(billing.json_text(p_metadata -> 'name')), ''),
    nullif(btrim(billing.json_text(p_metadata -> 'display_name')), '')
  ), 200);
end $$;

-- Security definer: the auth server's role inserts users and has no rights on profiles.
create function billing.create_profile()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.profiles (user_id, display_name, username)
  values (new.id, billing.default_display_name(new.raw_user_meta_data), billing.default_username(new.email))
  on conflict (user_id) do nothing;
  return null;
exception
  -- A sign-up must not fail because of its profile. The next change of the tier creates a missing profile.
  when others then
    raise warning 'no profile for user %: %', new.id, sqlstate;
    return null;
end $$;

create trigger create_profile after insert on auth.users for each row execute function billing.create_profile();

-- Creates the profiles of the next 1,000 users who signed up before the installation. The migration does not: it would lock
-- auth.users for minutes. Security definer: service_role may not read auth.users.
create function billing.create_profiles()
returns integer -- the number of users; 0: no user is left
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_until uuid := (select j.profiled_until from billing.scheduled_jobs j where j.name = 'sweep');
  v_users uuid[];
begin
  if v_until is null then return 0; end if;
  v_users := array(select u.id from auth.users u where u.id > v_until order by u.id limit 1000 for key share);
  -- No page of the app changes, so none is revalidated.
  perform billing.begin_request('installation', null);
  insert into billing.profiles (user_id, display_name, username)
  select u.id, billing.default_display_name(u.raw_user_meta_data), billing.default_username(u.email)
  from auth.users u
  where u.id = any (v_users)
  on conflict (user_id) do nothing;
  update billing.scheduled_jobs j
  set profiled_until = v_users[cardinality(v_users)]
  where j.name = 'sweep';
  return cardinality(v_users);
end $$;
revoke execute on function billing.create_profiles() from service_role;
