-- The table profiles, with each user's tier, and its trigger on auth.users. Contract: "Profile".
-- An app that already has public.profiles replaces this file: see supabase/docs/deployment.md, "Existing profiles".

create table public.profiles (
  user_id uuid primary key constraint profiles_user_id_fkey references auth.users (id) on delete cascade,
  subscription_tier text default 'free',
  display_name text constraint profiles_display_name_check check (char_length(display_name) <= 200),
  username text constraint profiles_username_check check (char_length(username) <= 200),
  created_at timestamptz not null default private.clock()
)
-- Space in each page for a new row version (HOT updates): a change of the tier writes no index.
with (fillfactor = 90);
comment on table public.profiles is 'One row for each user: the names that the app shows, and the tier.';
comment on column public.profiles.subscription_tier is 'free, or the tier of the active subscription. Null means free.';

-- The username of a new profile: the local part of the e-mail address.
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

-- Security definer: the auth server's role inserts users and has no rights on profiles.
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
  -- A sign-up must not fail because of its profile. The next change of the tier creates a missing profile.
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
