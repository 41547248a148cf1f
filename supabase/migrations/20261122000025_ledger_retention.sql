-- How long events, side effects and the data of deleted users are kept.

-- The final outcome of an event that is older than 90 days.
create function private.final_outcome(
  p_event private.gateway_events
)
returns text -- null: it still waits
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when not private.is_waiting(p_event.event, p_event.outcome) then p_event.outcome
    when private.is_deleted(private.json_uuid(p_event.payload #> '{payload,subscription,entity,notes,user_id}'))
      then 'ignored: user deleted'
    -- The payment of a cycle, whose charge is known, waits for no order.
    when p_event.event = 'payment.captured' and p_event.outcome = 'unmatched' and exists (
      select
      from private.gateway_charges c
      where c.gateway_payment_id = p_event.payload #>> '{payload,payment,entity,id}'
        and c.gateway_payment_id <> ''
    ) then 'already'
  end;
end
$$;

-- Reduces the payloads of events that no link ties to a user of ours, a day after they came and a batch at a time: they may
-- be about a deleted user, such as the capture of a cycle that was charged after the deletion, or about a customer of
-- another app.
create function private.reduce_payloads()
returns integer -- how many were reduced; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_reduced integer;
begin
  with unlinked as materialized (
    select e.body_sha256, private.stored_payload(e.payload, e.outcome) as payload
    from private.gateway_events e
    where e.reduce_at < private.clock()
    order by e.reduce_at
    limit 1000
    for update skip locked
  )
  update private.gateway_events e
  set payload = u.payload,
    reduce_at = null
  from unlinked u
  where e.body_sha256 = u.body_sha256;
  get diagnostics v_reduced = row_count;
  return v_reduced;
end
$$;

-- Empties the payloads of the ledger after 90 days, a batch at a time. What decides stays: hash, ids, outcome. An event
-- that still waits keeps the fields that it needs.
create function private.empty_payloads()
returns integer -- how many were emptied or reduced; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_emptied integer;
begin
  with old as materialized (
    select
      e.body_sha256,
      final.outcome,
      case
        when final.outcome is null
          then private.stored_payload(e.payload, e.outcome) #- '{payload,payment,entity,error_description}'
      end as payload
    from private.gateway_events e
    cross join lateral (select private.final_outcome(e) as outcome) final
    where e.received_at < private.clock() - interval '90 days'
      and e.payload is not null
      and (
        final.outcome is not null
        or not e.payload ? 'reduced'
        or e.payload #> '{payload,payment,entity,error_description}' is not null
      )
    order by e.received_at
    limit 1000
    for update of e skip locked
  ),
  settled as (
    delete from private.unsettled_events u
    using old
    where u.body_sha256 = old.body_sha256
      and old.outcome is not null
  )
  update private.gateway_events e
  set payload = old.payload,
    outcome = coalesce(old.outcome, e.outcome)
  from old
  where e.body_sha256 = old.body_sha256;
  get diagnostics v_emptied = row_count;
  return v_emptied;
end
$$;

-- 90 days after a user was deleted nothing of the user is left in any table.

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

-- Purges records after the days that the function's settings give: ledger, outbox, history of tiers.
-- POST /api/internal/outbox.

-- Deletes a batch of old records.
-- Security definer: service_role deletes by these rules alone.
create function private.purge_batch(
  p_ledger_days integer,
  p_outbox_days integer,
  p_tier_history_days integer
)
returns integer -- how many records were deleted
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_outbox_until constant timestamptz := v_now - make_interval(days => p_outbox_days);
begin
  -- Payloads are kept for 90 days, and private.unmailed_payments reads the mails of 30.
  if (p_ledger_days >= 90 and p_outbox_days >= 30 and p_tier_history_days >= 30) is not true then
    raise exception 'ledger for at least 90 days, outbox and history of tiers for at least 30' using errcode = 'PS400';
  end if;
  return private.delete_oldest(
    'private.gateway_events', 'received_at', v_now - make_interval(days => p_ledger_days),
    -- An event that waits for a plan or an admin keeps its payload and stays; one whose order did not appear by then is of
    -- another app. An event that comes again after its purge changes nothing, because facts merge, except a subscription
    -- event without a time, which would count as new: its row stays.
    $condition$
      (r.payload is null or r.outcome = 'unmatched')
      and (r.event like 'subscription.%' and r.event_at is null) is not true
    $condition$
  ) + private.delete_oldest(
    'private.outbox', 'delivered_at', v_outbox_until,
    -- A cancellation stays until its subscription is known to be cancelled: as long as the subscription may be billed, the
    -- row is the proof that the cancellation was delivered.
    $condition$
      (
        r.kind <> 'cancel-subscription'
        or not exists (
          select
          from private.gateway_subscriptions m
          where m.gateway_subscription_id = r.payload ->> 'gateway_subscription_id'
            and m.status is distinct from 'cancelled'
        )
      )
    $condition$
  ) + private.delete_oldest(
    -- Withdrawn. Another parked row is a finding until an admin requeues it, and stays.
    'private.outbox', 'parked_at', v_outbox_until, 'r.delivered_at is null and r.claims = ''{}'''
  ) + private.delete_oldest(
    'private.tier_changes', 'at', v_now - make_interval(days => p_tier_history_days)
  );
end
$$;
grant execute on function private.purge_batch(integer, integer, integer) to service_role;

-- API: service_role only.
create function public.purge_records(
  p_ledger_days integer, -- LEDGER_RETENTION_DAYS
  p_outbox_days integer, -- OUTBOX_RETENTION_DAYS
  p_tier_history_days integer -- TIER_HISTORY_RETENTION_DAYS
)
returns jsonb -- {purged}: at most 1,000 of each table; call again until it is 0
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  return jsonb_build_object('purged', private.purge_batch(p_ledger_days, p_outbox_days, p_tier_history_days));
end
$$;
comment on function public.purge_records(integer, integer, integer) is
  'Deletes a batch of the records of ledger, outbox and history of tiers that are older than so many days.';
revoke execute on function public.purge_records(integer, integer, integer) from public, anon, authenticated;
grant execute on function public.purge_records(integer, integer, integer) to service_role;
