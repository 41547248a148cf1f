-- Nobody can reach a deleted user's gateway subscription any more, and it must not go on charging: also where its events
-- come after the user is gone. A user whom we never had may be another app's at the same gateway account, and a
-- cancellation is final: theirs is left alone.
-- Depends on: _outbox, _gateway_events, _replay_subscription_events.

create table private.deleted_users (
  user_id uuid primary key,
  deleted_at timestamptz not null default private.clock()
);
alter table private.deleted_users enable row level security;
revoke all on private.deleted_users from public;
grant select on private.deleted_users to service_role;
comment on table private.deleted_users is 'Who was a user once: nothing but the id.';

-- Security definer: whoever deletes the user has no rights on the ledger and the outbox.
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
  -- Known at the gateway, but not here: no plan of ours was meant.
  perform private.enqueue_cancellation(waiting.subject_id)
  from (
    select distinct e.subject_id
    from private.unsettled_events u
    join private.gateway_events e on e.body_sha256 = u.body_sha256
    where u.user_id = old.id
      and e.event in ('subscription.activated', 'subscription.charged')
      and e.outcome = 'unmatched'
      and e.subject_id is not null
  ) waiting;
  return null;
end
$$;
revoke execute on function private.note_deleted_user() from public;

create trigger note_deleted_user
after delete on auth.users
for each row execute function private.note_deleted_user();

-- An activation or a charge for a user who is not there.
create function private.apply_event_of_nobody(
  p_user_id uuid,
  p_gateway_subscription_id text
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
begin
  perform from private.deleted_users d where d.user_id = p_user_id;
  if not found or p_gateway_subscription_id is null then
    return 'unmatched';
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id);
  return 'applied';
end
$$;
revoke execute on function private.apply_event_of_nobody(uuid, text) from public;
grant execute on function private.apply_event_of_nobody(uuid, text) to service_role;
