-- The gateway subscriptions of a deleted user must not go on charging: also where their events arrive after the deletion.
-- A user that was never here may belong to another app of the same gateway account: theirs is left alone.
-- Depends on: _outbox, _gateway_subscriptions.

create table private.deleted_users (
  user_id uuid primary key,
  deleted_at timestamptz not null default private.clock()
);
alter table private.deleted_users enable row level security;
revoke all on private.deleted_users from public;
grant select on private.deleted_users to service_role;
comment on table private.deleted_users is 'The ids of deleted users, nothing else.';

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
  perform from private.deleted_users d where d.user_id = p_user_id;
  if not found or p_gateway_subscription_id = '' then
    return 'unmatched';
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id);
  return 'applied';
end
$$;
revoke execute on function private.apply_event_for_missing_user(uuid, text) from public;
grant execute on function private.apply_event_for_missing_user(uuid, text) to service_role;
