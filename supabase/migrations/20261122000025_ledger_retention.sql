-- Retention: deletes old payloads, ledger rows, side effects and tier changes, and erases the data of deleted users.
-- supabase/docs/operations.md, "Data retention".

-- Returns the final outcome of an event that is older than 90 days.
create function private.final_outcome(
  p_event private.gateway_events
)
returns text -- null: the event still waits
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when not private.is_waiting(p_event.event, p_event.outcome) then p_event.outcome
    when private.is_deleted(private.json_uuid(p_event.payload #> '{payload,subscription,entity,notes,user_id}'))
      then 'ignored: user deleted'
    -- The payment of a known charge has no order to wait for.
    when p_event.event = 'payment.captured' and p_event.outcome = 'unmatched' and exists (
      select
      from private.gateway_charges c
      where c.gateway_payment_id = p_event.payload #>> '{payload,payment,entity,id}'
        and c.gateway_payment_id <> ''
    ) then 'already'
  end;
end
$$;

-- Reduces a batch of the payloads of events that name no known user, a day after they arrived. Such an event may be about a
-- customer of another app, or about a deleted user: for example the capture of a cycle that was charged after the deletion.
create function private.reduce_payloads()
returns integer -- how many payloads were reduced; call again until it is 0
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

-- Deletes a batch of the ledger's payloads that are older than 90 days. The hash, the ids and the outcome remain, because
-- the rules need them. An event that still waits keeps the fields that it needs.
create function private.empty_payloads()
returns integer -- how many payloads were deleted or reduced; call again until it is 0
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

-- Deletes the payloads of events about payments whose user was deleted more than 90 days ago. Some of these events arrived
-- after the deletion, so private.empty_payloads would keep them for longer.
create function private.empty_payloads_of_deleted()
returns integer -- for how many payments
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

-- Erases the remaining data of users who were deleted more than 90 days ago: the mirror, tier changes, events that still
-- wait, and the id. Other data needs no job. Foreign keys delete the rows that belong to the user alone, a payment loses
-- its meta with its user, and private.empty_payloads and private.delete_mails keep no data from before the deletion for
-- more than 90 days. Payments remain for accounting, with amounts, times and the gateway's ids.
create function private.erase_deleted_users()
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

    insert into private.deleted_users (user_id, deleted_at, erased_at)
    values (private.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, private.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end
$$;

-- Deletes a batch of old records. Security definer: service_role has no right to delete from these tables.
create function private.purge_batch(
  p_ledger_days integer,
  p_outbox_days integer,
  p_tier_history_days integer
)
returns integer -- how many rows were deleted
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_outbox_until constant timestamptz := v_now - make_interval(days => p_outbox_days);
begin
  -- Payloads are kept for 90 days, and private.unmailed_payments reads the mails of 30 days.
  if (p_ledger_days >= 90 and p_outbox_days >= 30 and p_tier_history_days >= 30) is not true then
    raise exception 'ledger for at least 90 days, outbox and history of tiers for at least 30' using errcode = 'PS400';
  end if;
  return private.delete_oldest(
    'private.gateway_events', 'received_at', v_now - make_interval(days => p_ledger_days),
    -- An event that waits for a plan or an admin keeps its payload, and so its row. If the order of an unmatched event did
    -- not appear by then, it is an order of another app. A repeat of a purged event changes nothing, because facts are
    -- merged. But a subscription event without a time would count as the newest event, so its row is kept.
    $condition$
      (r.payload is null or r.outcome = 'unmatched')
      and (r.event like 'subscription.%' and r.event_at is null) is not true
    $condition$
  ) + private.delete_oldest(
    'private.outbox', 'delivered_at', v_outbox_until,
    -- A cancellation is kept until the mirror shows its subscription as cancelled. As long as the gateway may bill the
    -- subscription, the row proves that the cancellation was delivered.
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
    -- A parked row without a claim was withdrawn. Any other parked row is kept: it is a finding until an admin requeues it.
    'private.outbox', 'parked_at', v_outbox_until, 'r.delivered_at is null and r.claims = ''{}'''
  ) + private.delete_oldest(
    'private.tier_changes', 'at', v_now - make_interval(days => p_tier_history_days)
  );
end
$$;
grant execute on function private.purge_batch(integer, integer, integer) to service_role;

-- Deletes a batch of old records after the function's retention settings. Contract: POST /api/internal/outbox.
-- API: service_role only.
create function public.purge_records(
  p_ledger_days integer, -- LEDGER_RETENTION_DAYS
  p_outbox_days integer, -- OUTBOX_RETENTION_DAYS
  p_tier_history_days integer -- TIER_HISTORY_RETENTION_DAYS
)
returns jsonb -- {purged}: how many rows were deleted, a batch of each table; call again until it is 0
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
  'Deletes a batch of the rows of the ledger, the outbox and the tier changes that are older than the given days.';
revoke execute on function public.purge_records(integer, integer, integer) from public, anon, authenticated;
grant execute on function public.purge_records(integer, integer, integer) to service_role;
