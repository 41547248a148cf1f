-- Profiles: the tier that the app reads, one row a user. Contract: "Profile".
-- An app that has public.profiles already replaces this file: see supabase/docs/deployment.md, "Existing profiles".

create table public.profiles (
  user_id uuid primary key constraint profiles_user_id_fkey references auth.users (id) on delete cascade,
  subscription_tier text default 'free',
  display_name text constraint profiles_display_name_check check (char_length(display_name) <= 200),
  username text constraint profiles_username_check check (char_length(username) <= 200),
  created_at timestamptz not null default private.clock()
)
-- Room in each page for a row's next version: a tier that changes writes no index.
with (fillfactor = 90);
comment on table public.profiles is 'What the app shows of a user, and the tier that it goes by.';
comment on column public.profiles.subscription_tier is 'free, or the tier of the running subscription. Null reads as free.';

-- A name to start with: the local part of the e-mail address.
create function private.default_username(p_email text)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return left(coalesce(nullif(split_part(p_email, '@', 1), ''), 'user'), 60);
end
$$;
grant execute on function private.default_username(text) to service_role;

-- Security definer: the auth server's role inserts users and has no rights here.
create function private.create_profile()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into public.profiles (user_id, username)
  values (new.id, private.default_username(new.email))
  on conflict (user_id) do nothing;
  return null;
exception
  -- A sign-up must not fail because of its profile: verify creates a missing one.
  when others then
    raise warning 'no profile for user %: %', new.id, sqlstate;
    return null;
end
$$;

create trigger create_profile
after insert on auth.users
for each row execute function private.create_profile();

insert into public.profiles (user_id, username)
select u.id, private.default_username(u.email)
from auth.users u;
