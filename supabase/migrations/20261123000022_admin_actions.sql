-- The table of support actions: an inserted row is carried out, and stays as the audit trail. Operations: "Support actions".

create type private.support_action as enum (
  'grant', 'revoke_grant', 'end_access', 'requeue_mail', 'replay_event', 'ignore_event', 'reconcile_now', 'note'
);

-- No foreign key to the user: the trail outlives the user. The defaults are for forms, which else ask for the columns that
-- the triggers write.
create table private.support_actions (
  id bigint generated always as identity primary key,
  action private.support_action not null,
  email text,
  tier text,
  until timestamptz,
  reference text,
  reason text not null constraint support_actions_reason_check check (reason ~ '\S'),
  actor text not null default current_user,
  actor_email text,
  created_at timestamptz not null default now(),
  user_id uuid,
  result text not null default ''
);
alter table private.support_actions enable row level security;
create index support_actions_user_id_idx on private.support_actions (user_id);
create index support_actions_reference_idx on private.support_actions (reference)
where reference is not null;
comment on table private.support_actions is
  'What admins did for customers. Insert a row to do it: action, email, reason, and what the action needs. The same '
  'transaction carries it out and writes the result, or raises an error and writes nothing. Rows are never changed.';
comment on column private.support_actions.id is 'The number of the action.';
comment on column private.support_actions.action is
  'grant (tier, until), revoke_grant (reference: id of the grant), end_access (reference: payment), requeue_mail '
  '(reference: id of the message), replay_event and ignore_event (reference: body_sha256 of the webhook), reconcile_now '
  '(reference: order, payment or subscription; without one all of the customer), note.';
comment on column private.support_actions.email is
  'The customer''s e-mail address, or id. Not needed where the reference names the customer.';
comment on column private.support_actions.tier is 'For grant: the tier of a plan.';
comment on column private.support_actions.until is 'For grant: its end, in the future.';
comment on column private.support_actions.reference is
  'What the action is about. A note about a finding: its subject, which ends the findings missed_webhook and '
  'unmailed_payment.';
comment on column private.support_actions.reason is 'Why. Required.';
comment on column private.support_actions.actor is
  'The database role that inserted the row: of a direct connection the role of its login. Written by a trigger.';
comment on column private.support_actions.actor_email is
  'The e-mail address in the session''s JWT, for a row that was inserted through the API. Written by a trigger.';
comment on column private.support_actions.created_at is 'When it was done. Written by a trigger.';
comment on column private.support_actions.user_id is
  'The customer, where there is one. Written by a trigger, and erased with the e-mail address 90 days after the user.';
comment on column private.support_actions.result is 'What it did. Written by a trigger.';

-- Writes who inserts a row. Security invoker: only then is current_user the role of the caller. Runs before perform_action:
-- triggers run in the order of their names.
-- A direct connection may switch its role and set any claims, so its login role counts. The API logs in as authenticator,
-- switches to the role of a verified token and sets its claims. A superuser does the same in the local stack.
create function private.note_actor()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  v_is_api constant boolean := session_user = 'authenticator'
    or (select r.rolsuper from pg_catalog.pg_roles r where r.rolname = session_user);
begin
  new.actor := case when v_is_api then current_user else session_user end;
  new.actor_email := case
    when v_is_api then nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'
  end;
  return new;
end
$$;

create trigger note_actor
before insert on private.support_actions
for each row execute function private.note_actor();

-- Finds a payment by its id, the gateway's order id, or a gateway's payment id. Null: there is none.
create function private.payment_id_of(
  p_reference text
)
returns uuid
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_reference ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return (select p.id from public.payments p where p.id = p_reference::uuid);
  end if;
  return coalesce(
    (select p.id from public.payments p where p.gateway_order_id = p_reference),
    (select p.id from public.payments p where p.gateway_payment_id = p_reference)
  );
end
$$;

-- Rows are never changed or deleted, except that the data of a deleted user is erased.
create function private.keep_support_action()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  v_erased private.support_actions;
begin
  if tg_op = 'UPDATE' then
    v_erased := old;
    v_erased.email := null;
    v_erased.user_id := null;
    v_erased.reason := 'erased with the user';
    if new is not distinct from v_erased and not exists (select from private.find_user(old.user_id)) then
      return new;
    end if;
  end if;
  raise exception 'support actions are never changed or deleted: insert another one' using errcode = 'PS409';
end
$$;

create trigger keep_support_action
before update or delete on private.support_actions
for each row execute function private.keep_support_action();

create trigger keep_support_actions
before truncate on private.support_actions
for each statement execute function private.keep_support_action();

-- New: the support actions.
-- Erases the remaining data of users who were deleted more than 90 days ago: the mirror, tier changes, support actions,
-- events that still wait, and the id. Other data needs no job. Foreign keys delete the rows that belong to the user alone, a
-- payment loses its meta with its user, and private.empty_payloads and private.delete_mails keep no data from before the
-- deletion for more than 90 days. Payments remain for accounting, with amounts, times and the gateway's ids.
create or replace function private.erase_deleted_users()
returns integer -- how many users and payments were processed; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted record;
  v_done integer;
begin
  v_done := private.empty_payloads_of_deleted();
  for v_deleted in
    select d.user_id, d.deleted_at
    from private.deleted_users d
    where d.erased_at is null
      and d.deleted_at < private.clock() - interval '90 days'
    order by d.deleted_at
    limit 100
    for update skip locked
  loop
    v_done := v_done + 1;
    perform private.lock_missing_user(v_deleted.user_id);
    delete from private.deleted_users d where d.user_id = v_deleted.user_id;
    -- A user who was restored, from a backup or by an import, is not erased.
    continue when exists (select from auth.users u where u.id = v_deleted.user_id);

    with emptied as (
      update private.gateway_events e
      set payload = null,
        outcome = case when private.is_waiting(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
      from private.gateway_subscriptions m
      where m.user_id = v_deleted.user_id
        and m.gateway_subscription_id <> ''
        and e.subject_id = left(m.gateway_subscription_id, 200)
        and e.payload is not null
      returning e.body_sha256
    )
    delete from private.unsettled_events u
    using emptied
    where u.body_sha256 = emptied.body_sha256;
    -- Refunds, charges, mirror: private.apply_refund locks them in the same order.
    delete from private.refunds r
    using private.gateway_charges c
    where c.user_id = v_deleted.user_id
      and c.gateway_payment_id <> ''
      and r.gateway_payment_id = c.gateway_payment_id;
    delete from private.gateway_charges c where c.user_id = v_deleted.user_id;
    delete from private.gateway_subscriptions m where m.user_id = v_deleted.user_id;
    delete from private.tier_changes c where c.user_id = v_deleted.user_id;
    update private.support_actions a
    set email = null,
      user_id = null,
      reason = 'erased with the user'
    where a.user_id = v_deleted.user_id;

    insert into private.deleted_users (user_id, deleted_at, erased_at)
    values (private.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, private.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end
$$;

revoke execute on all functions in schema private from public;
