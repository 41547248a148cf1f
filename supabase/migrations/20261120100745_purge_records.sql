-- Purges records after the days that the function's settings give: ledger, outbox, history of tiers.
-- POST /api/internal/outbox.
-- Depends on: _gateway_events, _gateway_subscriptions, _outbox, _tier_changes, _replay_events.

-- Deletes up to 1,000 old events of the ledger. An event that waits for a plan or an admin keeps its payload and stays; one
-- whose order did not appear by then is of another app. An event that comes again after its purge changes nothing, because
-- facts merge. A subscription event without a time would count as new: its row stays.
create function private.purge_ledger(
  p_days integer
)
returns integer -- how many were deleted
language plpgsql
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  with old as materialized (
    select e.body_sha256
    from private.gateway_events e
    where e.received_at < private.clock() - make_interval(days => p_days)
      and (e.payload is null or e.outcome = 'unmatched')
      and (e.event like 'subscription.%' and e.event_at is null) is not true
    order by e.received_at
    limit 1000
    for update skip locked
  )
  delete from private.gateway_events e
  using old
  where e.body_sha256 = old.body_sha256;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
revoke execute on function private.purge_ledger(integer) from public;

-- Deletes up to 1,000 side effects that were delivered or withdrawn. What was given up stays: it is a finding until an
-- admin requeues it. A cancellation stays until its subscription is known to be cancelled: as long as the subscription may
-- be billed, the row says that the gateway was told.
create function private.purge_outbox(
  p_days integer
)
returns integer -- how many were deleted
language plpgsql
set search_path = ''
as $$
declare
  v_until constant timestamptz := private.clock() - make_interval(days => p_days);
  v_deleted integer;
begin
  with old as materialized (
    select o.id
    from (
      (
        select d.id
        from private.outbox d
        where d.delivered_at < v_until
          and (
            d.kind <> 'cancel-subscription'
            or not exists (
              select
              from private.gateway_subscriptions m
              where m.gateway_subscription_id = d.payload ->> 'gateway_subscription_id'
                and m.status is distinct from 'cancelled'
            )
          )
        order by d.delivered_at
        limit 1000
      )
      union all
      (
        select w.id
        from private.outbox w
        where w.parked_at < v_until
          and w.delivered_at is null
          and w.claims = '{}'
        order by w.parked_at
        limit 1000
      )
    ) found
    join private.outbox o on o.id = found.id
    limit 1000
    for update of o skip locked
  )
  delete from private.outbox o
  using old
  where o.id = old.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
revoke execute on function private.purge_outbox(integer) from public;

-- Deletes up to 1,000 old changes of tiers.
create function private.purge_tier_history(
  p_days integer
)
returns integer -- how many were deleted
language plpgsql
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  with old as materialized (
    select c.id
    from private.tier_changes c
    where c.at < private.clock() - make_interval(days => p_days)
    order by c.at
    limit 1000
    for update skip locked
  )
  delete from private.tier_changes c
  using old
  where c.id = old.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
revoke execute on function private.purge_tier_history(integer) from public;

-- Security definer: service_role deletes nothing but by the rules of these three.
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
begin
  -- Payloads are kept for 90 days, and private.unmailed_payments reads the mails of 30.
  if (p_ledger_days >= 90 and p_outbox_days >= 30 and p_tier_history_days >= 30) is not true then
    raise exception 'ledger for at least 90 days, outbox and history of tiers for at least 30' using errcode = 'PS400';
  end if;
  return private.purge_ledger(p_ledger_days)
    + private.purge_outbox(p_outbox_days)
    + private.purge_tier_history(p_tier_history_days);
end
$$;
revoke execute on function private.purge_batch(integer, integer, integer) from public;
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
