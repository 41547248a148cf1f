set local lock_timeout = '2s';

-- The users: their lock, and what is read of them.

-- Locks a user: no other transaction changes the user's access or deletes the user. supabase/README.md, "Lock order".
-- Security definer, here and below: service_role may not read auth.users.
create function billing.lock_user(p_user_id uuid)
returns text -- the e-mail address; empty: the user has none; null: the user does not exist
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$ begin return (select coalesce(u.email, '') from auth.users u where u.id = p_user_id for no key update); end $$;

-- Reads the e-mail address of a user without a lock. No row: the user does not exist.
create function billing.find_user(p_user_id uuid)
returns table (email text)
language plpgsql stable security definer rows 1 set search_path = pg_catalog, pg_temp
as $$ begin return query select u.email::text from auth.users u where u.id = p_user_id; end $$;

-- The admin's view of auth.users. It has the rights of its owner: a role that reads it needs no right on schema auth, where
-- the hashes of passwords and tokens are. The auth server's unique index on addresses leaves out the users of single
-- sign-on. These are read from their identity, whose address has an index.
create view billing.users
with (security_invoker = false)
as
select
  u.user_id,
  u.email,
  (select coalesce(nullif(p.display_name, ''), p.username) from billing.profiles p where p.user_id = u.user_id) as name,
  u.signed_up_at
from (
  select u.id as user_id, u.email::text as email, u.created_at as signed_up_at from auth.users u where not u.is_sso_user
  union all
  select i.user_id, i.email::text, i.created_at from auth.identities i where i.provider like 'sso:%'
) u;
comment on view billing.users is
  'All users, with the four facts that support needs. The only view with the rights of its owner.';

create function billing.user_id_of(p_user text)
returns uuid language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_user constant text := lower(btrim(p_user));
  v_found constant uuid[] := array(
    select u.user_id from billing.users u where u.email = v_user
    union all
    select u.user_id from billing.users u where u.user_id = billing.json_uuid(to_jsonb(v_user))
  );
begin
  if v_found = '{}' then
    raise exception 'no user with the e-mail address or id "%"', p_user using errcode = 'PS404';
  elsif cardinality(v_found) > 1 then
    raise exception '% users have the e-mail address "%": name one by its id', cardinality(v_found), p_user
      using errcode = 'PS409';
  end if;
  return v_found[1];
end $$;
comment on function billing.user_id_of is 'The user with this e-mail address or id. Raises PS404, or PS409 for several.';
