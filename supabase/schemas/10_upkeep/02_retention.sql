-- Deletes old payloads, ledger rows, side effects and tier changes. Operations: "Data retention".

-- Deletes up to 1,000 of the oldest rows of a table, without those that another transaction has locked.
create function billing.delete_oldest(
  p_table regclass,
  p_time text, -- the column with the time of a row; indexed
  p_before timestamptz,
  p_condition text default 'true' -- a further condition on the row, whose alias is r
)
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_deleted integer;
begin
  execute format(
    $delete$
      delete from %1$s
      where ctid = any (
        array(select r.ctid from %1$s r where r.%2$I < $1 and %3$s order by r.%2$I limit 1000 for update skip locked)
      )
    $delete$,
    p_table, p_time, p_condition
  )
  using p_before;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;

-- Deletes a batch of the mails and events of more than 90 days ago, sent or not: they hold the name and the address of a
-- user, or the user's id.
create function billing.delete_messages()
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return billing.delete_oldest(
    'billing.outbox', 'created_at', billing.clock() - interval '90 days',
    'r.destination in (''email'', ''notice'', ''event'')'
  );
end $$;

-- Reduces a batch of the payloads of events that name no known user, a day after they arrived: it may be a customer of another
-- app, or a deleted user.
create function billing.reduce_payloads()
returns integer -- how many payloads were reduced; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_reduced integer;
begin
  with unlinked as materialized (
    select e.body_sha256, billing.stored_payload(e.payload, e.outcome) as payload
    from billing.gateway_events e
    where e.reduce_at < billing.clock()
    order by e.reduce_at
    limit 1000
    for update skip locked
  )
  update billing.gateway_events e
  set payload = u.payload, reduce_at = null
  from unlinked u
  where e.body_sha256 = u.body_sha256;
  get diagnostics v_reduced = row_count;
  return v_reduced;
end $$;

-- Deletes a batch of the ledger's payloads that are older than 90 days. The hash, the ids and the outcome remain, because
-- the rules need them. An event that still waits keeps the fields that it needs.
create function billing.empty_payloads()
returns integer -- how many payloads were deleted or reduced; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_emptied integer;
begin
  with old as materialized (
    select
      e.body_sha256,
      final.outcome,
      case
        when final.outcome is null
          then billing.stored_payload(e.payload, e.outcome) #- '{payload,payment,entity,error_description}'
      end as payload
    from billing.gateway_events e
    cross join lateral (
      select case
        when not billing.awaits_effect(e.event, known.outcome) then known.outcome
        when billing.is_deleted(billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}'))
          then 'ignored: user deleted'
      end as outcome -- null: the event still waits
      from (select billing.outcome_now(e) as outcome offset 0) known
    ) final
    where e.received_at < billing.clock() - interval '90 days'
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
    delete from billing.unsettled_events u
    using old
    where u.body_sha256 = old.body_sha256 and old.outcome is not null
  )
  update billing.gateway_events e
  set payload = old.payload, outcome = coalesce(old.outcome, e.outcome)
  from old
  where e.body_sha256 = old.body_sha256;
  get diagnostics v_emptied = row_count;
  return v_emptied;
end $$;

-- Deletes the payloads of the events about deleted users, which then wait no longer.
create function billing.erase_events(p_subject_ids text[])
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with emptied as (
    update billing.gateway_events e
    set payload = null,
      outcome = case when billing.awaits_effect(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
    where e.subject_id = any (array(select left(id, 200) from unnest(p_subject_ids) id where id <> ''))
      and e.payload is not null
    returning e.body_sha256
  )
  delete from billing.unsettled_events u
  using emptied
  where u.body_sha256 = emptied.body_sha256;
end $$;

-- Deletes a batch of old records. Security definer: service_role has no right to delete from these tables.
create function billing.purge_batch(p_ledger_days integer, p_outbox_days integer, p_tier_history_days integer)
returns integer -- how many rows were deleted
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_outbox_until constant timestamptz := v_now - make_interval(days => p_outbox_days);
begin
  -- Payloads are kept for 90 days, and billing.unmailed_payments reads the mails of 30 days.
  if (p_ledger_days >= 90 and p_outbox_days >= 30 and p_tier_history_days >= 30) is not true then
    raise exception 'ledger for at least 90 days, outbox and history of tiers for at least 30' using errcode = 'PS400';
  end if;
  insert into billing.marks as m (kind, key, detail)
  values ('kept_days', 'outbox', p_outbox_days::text)
  on conflict (kind, key) do update set at = excluded.at, detail = excluded.detail where m.detail <> excluded.detail;
  return billing.delete_oldest(
    'billing.gateway_events', 'received_at', v_now - make_interval(days => p_ledger_days),
    -- An event that waits for a plan or an admin keeps its payload, and so its row. If the order of an unmatched event did
    -- not appear by then, it is an order of another app. A repeat of a purged event changes nothing, because facts are
    -- merged. But a subscription event without a time would count as the newest event, so its row is kept.
    $condition$
      (r.payload is null or r.outcome = 'unmatched')
      and (r.event like 'subscription.%' and r.event_at is null) is not true
    $condition$
  ) + billing.delete_oldest(
    'billing.outbox', 'delivered_at', v_outbox_until,
    -- As long as the gateway may bill the subscription, the row proves that the cancellation was delivered.
    $condition$
      (
        r.kind <> 'cancel-subscription'
        or not exists (
          select from billing.gateway_subscriptions m
          where m.gateway_subscription_id = r.payload ->> 'gateway_subscription_id'
            and m.status is distinct from 'cancelled'
        )
      )
    $condition$
  ) + billing.delete_oldest(
    -- A parked row without a claim was withdrawn. Any other parked row is kept: it is a finding until an admin requeues it.
    'billing.outbox', 'parked_at', v_outbox_until, 'r.delivered_at is null and r.claims = ''{}'''
  ) + billing.delete_oldest('billing.tier_changes', 'at', v_now - make_interval(days => p_tier_history_days));
end $$;

-- Contract: POST /api/internal/outbox. API: service_role only.
create function public.purge_records(
  p_ledger_days integer, -- LEDGER_RETENTION_DAYS
  p_outbox_days integer, -- OUTBOX_RETENTION_DAYS
  p_tier_history_days integer -- TIER_HISTORY_RETENTION_DAYS
)
returns jsonb -- {purged}: how many rows were deleted, a batch of each table; call again until it is 0
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  return jsonb_build_object('purged', billing.purge_batch(p_ledger_days, p_outbox_days, p_tier_history_days));
end $$;
comment on function public.purge_records is 'Deletes a batch of old rows of the ledger, the outbox and the tier changes.';

revoke execute on function public.purge_records from public, anon, authenticated;
grant execute on function public.purge_records to service_role;
