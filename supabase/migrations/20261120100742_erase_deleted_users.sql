-- 90 days after a user was deleted nothing of the user is left in any table.
-- Depends on: _deleted_users, _refunds, _tier_changes, _replay_events.

-- Empties the payloads of the events about payments whose user was deleted 90 days ago: some arrived after the deletion.
create function private.empty_payloads_of_deleted()
returns integer -- of how many payments
language plpgsql
set search_path = ''
as $$
declare
  v_done integer;
begin
  with gone as materialized (
    select p.id, p.gateway_order_id, p.gateway_payment_id
    from public.payments p
    where p.user_deleted_at < private.clock() - interval '90 days'
    order by p.user_deleted_at
    limit 1000
    for no key update skip locked
  ),
  emptied as (
    update private.gateway_events e
    set payload = null,
      outcome = case when private.is_waiting(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
    from gone
    cross join lateral (
      values (gone.gateway_order_id), (gone.gateway_payment_id)
    ) subject (id)
    where e.subject_id = left(subject.id, 200)
      and e.payload is not null
    returning e.body_sha256
  ),
  settled as (
    delete from private.unsettled_events u
    using emptied
    where u.body_sha256 = emptied.body_sha256
  )
  update public.payments p
  set user_deleted_at = null
  from gone
  where p.id = gone.id;
  get diagnostics v_done = row_count;
  return v_done;
end
$$;
revoke execute on function private.empty_payloads_of_deleted() from public;

-- Erases what is left of users deleted more than 90 days ago: mirror, tier changes, events that still wait, the id itself.
-- The rest needs no job of its own: foreign keys delete at once what belongs to the user alone, a payment loses its meta
-- with its user, private.empty_payloads and private.delete_mails keep nothing of before the deletion longer than 90 days. Payments stay for the
-- accounts, with amounts, times and the gateway's ids.
create function private.erase_deleted_users()
returns integer -- how many users and payments were looked at; call again until it is 0
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
    -- Restored since, from a backup or by an import: nothing is to be erased.
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
    -- Refunds, charges, mirror: the order in which private.apply_refund locks them.
    delete from private.refunds r
    using private.gateway_charges c
    where c.user_id = v_deleted.user_id
      and c.gateway_payment_id <> ''
      and r.gateway_payment_id = c.gateway_payment_id;
    delete from private.gateway_charges c where c.user_id = v_deleted.user_id;
    delete from private.gateway_subscriptions m where m.user_id = v_deleted.user_id;
    delete from private.tier_changes c where c.user_id = v_deleted.user_id;

    insert into private.deleted_users (user_id, deleted_at, erased_at)
    values (private.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, private.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end
$$;
revoke execute on function private.erase_deleted_users() from public;
