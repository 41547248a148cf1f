-- Rights on the tables of schema public, the functions for an app's policies, and the lock on a user.
-- A client can only read its own records and the plans on offer, and edit its own names.

alter table public.plans enable row level security;
alter table public.profiles enable row level security;
alter table public.subscriptions enable row level security;
alter table public.payments enable row level security;

revoke all on public.plans, public.profiles, public.subscriptions, public.payments
from public, anon, authenticated, service_role;

grant select on public.plans to anon, authenticated;
grant select on public.profiles, public.subscriptions, public.payments to authenticated;
grant update (display_name, username) on public.profiles to authenticated;

-- The service reads plans, writes the other tables and deletes no rows. The app inserts its own payments with the same role.
grant select on public.plans to service_role;
grant select, insert, update on public.profiles, public.subscriptions, public.payments to service_role;

create policy "Everybody sees the plans on offer"
on public.plans for select
to anon, authenticated
using (is_active);

create policy "Users see their own profile"
on public.profiles for select
to authenticated
using ((select auth.uid()) = user_id);

create policy "Users edit their own profile"
on public.profiles for update
to authenticated
using ((select auth.uid()) = user_id)
with check ((select auth.uid()) = user_id);

create policy "Users see their own subscription"
on public.subscriptions for select
to authenticated
using ((select auth.uid()) = user_id);

create policy "Users see their own payments"
on public.payments for select
to authenticated
using ((select auth.uid()) = user_id);

-- For the app's own policies and queries. Row level security limits it to the caller's profile.
create function public.current_tier()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select coalesce(
    (select p.subscription_tier from public.profiles p where p.user_id = (select auth.uid())),
    'free'
  )
$$;
comment on function public.current_tier() is 'The tier of the signed-in user, or free.';
revoke execute on function public.current_tier() from public, anon;
grant execute on function public.current_tier() to authenticated;

create function public.has_tier(
  p_tier text
)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select public.current_tier() = p_tier
$$;
comment on function public.has_tier(text) is
  'Whether the signed-in user has exactly this tier. In a policy: using ((select public.has_tier(''pro''))).';
revoke execute on function public.has_tier(text) from public, anon;
grant execute on function public.has_tier(text) to authenticated;

-- Locks a user. Until the transaction ends, no other transaction changes the user's access or deletes the user.
-- A transaction that grants or ends access takes this lock before any other row lock: supabase/README.md, "Lock order".
-- Security definer: service_role may not read auth.users.
create function private.lock_user(
  p_user_id uuid
)
returns text -- the e-mail address; empty: the user has none; null: the user does not exist
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_email text;
begin
  select coalesce(u.email, '') into v_email from auth.users u where u.id = p_user_id for no key update;
  return v_email;
end
$$;
grant execute on function private.lock_user(uuid) to service_role;

-- Reads the e-mail address of a user without a lock. No row: the user does not exist.
-- Security definer: service_role may not read auth.users.
create function private.find_user(
  p_user_id uuid
)
returns table (email text)
language sql
stable
security definer
set search_path = ''
as $$
  select u.email::text from auth.users u where u.id = p_user_id
$$;
grant execute on function private.find_user(uuid) to service_role;
