-- The profiles of the usual starter of an app: public to read, filled by a trigger of the app at a sign-up.
create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  updated_at timestamptz,
  username text unique,
  full_name text,
  avatar_url text,
  constraint username_length check (char_length(username) >= 3)
);
alter table public.profiles enable row level security;

create policy "Public profiles are viewable by everyone."
on public.profiles for select
using (true);

create policy "Users can insert their own profile."
on public.profiles for insert
with check ((select auth.uid()) = id);

create policy "Users can update own profile."
on public.profiles for update
using ((select auth.uid()) = id);

create function public.handle_new_user()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.profiles (id, full_name, avatar_url)
  values (new.id, new.raw_user_meta_data ->> 'full_name', new.raw_user_meta_data ->> 'avatar_url');
  return new;
end
$$;

create trigger on_auth_user_created
after insert on auth.users
for each row execute function public.handle_new_user();
