-- Deletion of a user. The gateway subscriptions of a deleted user must not go on charging: also where their events arrive
-- after the deletion. 90 days later nothing of the user is left.
-- A user that was never here may belong to another app of the same gateway account: theirs is left alone.
-- Depends on: _schema, _outbox, _gateway_subscriptions.

create table private.deleted_users (
  user_id uuid primary key,
  deleted_at timestamptz not null default private.clock(),
  erased_at timestamptz
);
create index deleted_users_deleted_at_idx on private.deleted_users (deleted_at)
where erased_at is null;
alter table private.deleted_users enable row level security;
revoke all on private.deleted_users from public;
grant select on private.deleted_users to service_role;
comment on table private.deleted_users is
  'The deletions of users. Kept without a limit: a mandate at the gateway may charge for decades, and a charge for a user '
  'who is not listed here is taken for one of another app and goes on.';
comment on column private.deleted_users.user_id is
  'The id of the user; after 90 days its hash, private.hash_user_id. By then no other table holds the id.';
comment on column private.deleted_users.erased_at is 'When everything else about the user was erased.';

-- An id from which the user''s id can''t be computed: the start of its SHA-256.
create function private.hash_user_id(
  p_user_id uuid
)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return encode(substr(sha256(uuid_send(p_user_id)), 1, 16), 'hex')::uuid;
end
$$;
revoke execute on function private.hash_user_id(uuid) from public;
grant execute on function private.hash_user_id(uuid) to service_role;

create function private.is_deleted(
  p_user_id uuid
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select
    from private.deleted_users d
    where d.user_id in (p_user_id, private.hash_user_id(p_user_id))
  );
end
$$;
revoke execute on function private.is_deleted(uuid) from public;
grant execute on function private.is_deleted(uuid) to service_role;

-- Security definer: the role that deletes a user has no rights on the mirror and the outbox.
create function private.note_deleted_user()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.deleted_users (user_id)
  values (old.id)
  on conflict (user_id) do nothing;
  perform private.enqueue_cancellation(m.gateway_subscription_id)
  from private.gateway_subscriptions m
  where m.user_id = old.id
    and m.gateway_subscription_id <> ''
    and m.status is distinct from 'cancelled';
  return null;
end
$$;
revoke execute on function private.note_deleted_user() from public;

create trigger note_deleted_user
after delete on auth.users
for each row execute function private.note_deleted_user();

alter table public.payments add column user_deleted_at timestamptz;
create index payments_user_deleted_at_idx on public.payments (user_deleted_at)
where user_deleted_at is not null;
comment on column public.payments.user_deleted_at is
  'When its user was deleted. Null after 90 days, when the payloads of its events are emptied.';

-- A payment that loses its user keeps what accounting needs. Texts of the bank and data of the app go at once.
create function private.erase_payment_meta()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.meta := case
    when new.meta ? 'tier' then jsonb_build_object('tier', new.meta -> 'tier')
    else '{}'
  end;
  new.user_deleted_at := private.clock();
  return new;
end
$$;
revoke execute on function private.erase_payment_meta() from public;

create trigger erase_payment_meta
before update of user_id on public.payments
for each row
when (old.user_id is not null and new.user_id is null)
execute function private.erase_payment_meta();

-- Notes that the event of this transaction is about a deleted user, where it is: private.apply_delivery then keeps no
-- personal data of it.
create function private.note_missing_user(
  p_payment_id uuid, -- that has no user; null: the event is about no payment of ours
  p_gateway_payment_id text -- which may be of a cycle
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_payment_id is not null or exists (
    select
    from private.gateway_charges c
    join private.deleted_users d on d.user_id = c.user_id
    where c.gateway_payment_id = p_gateway_payment_id
      and c.gateway_payment_id <> ''
  ) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
end
$$;
revoke execute on function private.note_missing_user(uuid, text) from public;
grant execute on function private.note_missing_user(uuid, text) to service_role;

-- Serializes what an event stores about a user that does not exist with private.erase_deleted_users: such a user has no
-- row to lock.
create function private.lock_missing_user(
  p_user_id uuid
)
returns boolean -- whether the user was erased: nothing may be stored about it
language plpgsql
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('missing user ' || p_user_id, 0));
  -- A statement of its own after the lock: it sees what was committed until then.
  return exists (
    select
    from private.deleted_users d
    where d.user_id = private.hash_user_id(p_user_id)
  );
end
$$;
revoke execute on function private.lock_missing_user(uuid) from public;
grant execute on function private.lock_missing_user(uuid) to service_role;

-- An activation or a charge for a user that does not exist.
create function private.apply_event_for_missing_user(
  p_user_id uuid,
  p_gateway_subscription_id text
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
begin
  if p_gateway_subscription_id = '' or not private.is_deleted(p_user_id) then
    return 'unmatched';
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id);
  return 'applied';
end
$$;
revoke execute on function private.apply_event_for_missing_user(uuid, text) from public;
grant execute on function private.apply_event_for_missing_user(uuid, text) to service_role;
