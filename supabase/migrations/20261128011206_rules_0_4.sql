-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

REVOKE ALL ON FUNCTION "billing"."check_again"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."check_again"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."release_cancellation_mail"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."release_cancellation_mail"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."send_stop"(text, billing.stop, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."send_stop"(text, billing.stop, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."withdraw_mails"(text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."withdraw_mails"(text[]) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."withdraw_outlook"(uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."withdraw_outlook"(uuid, text) TO "service_role";

-- Withdraws mails that are no longer true and not sent yet.
create or replace function billing.withdraw_mails(p_keys text[])
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with waiting as materialized (
    select o.id
    from billing.outbox o
    -- An expression leaves the planner the index on the key alone: that of all waiting rows grows with an outage.
    where o.key = any (p_keys) and num_nonnulls(o.delivered_at, o.parked_at) = 0
    order by o.id
    for no key update
  )
  update billing.outbox o
  set parked_at = billing.clock(), last_error = 'withdrawn'
  from waiting
  where o.id = waiting.id;
end $$;

-- Returns the subscription that starts when another one ends: of the newest change of plan that was authorised and neither
-- undone nor cancelled.
create or replace function billing.find_successor(p_user_id uuid, p_gateway_subscription_id text)
returns billing.gateway_subscriptions -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Most subscriptions are followed by none.
  if not exists (
    select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.replaces = p_gateway_subscription_id
  ) then
    return null;
  end if;
  return (
    select m
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.replaces = p_gateway_subscription_id
      and m.undone_at is null
      and billing.is_billed(m)
      and billing.cancelled_by_user_at(p_user_id, m.asked_at) is null
    order by m.asked_at desc, m.id desc
    limit 1
  );
end $$;

-- Tells the gateway to stop billing a subscription 48 hours before a time, since it debits up to 36 hours before a cycle.
-- What may have been sent is final, except that a stop at once may follow one for the end of the cycle, and one for a later
-- cycle follows one that the gateway did not obey.
create or replace function billing.send_stop(
  p_gateway_subscription_id text,
  p_stop billing.stop,
  p_before timestamptz default null -- the stop that was planned before; null: none
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.outbox as o (key, destination, kind, payload, queued_at, next_attempt_at)
  select
    'cancel-subscription/' || p_gateway_subscription_id,
    'gateway',
    'cancel-subscription',
    jsonb_build_object('gateway_subscription_id', p_gateway_subscription_id, 'at_cycle_end', p_stop.at_cycle_end),
    send.at,
    send.at
  from (select greatest(p_stop.stops_at - interval '48 hours', billing.clock()) as at) send
  on conflict (key) do update
  set payload = excluded.payload,
    queued_at = excluded.queued_at,
    next_attempt_at = excluded.next_attempt_at,
    attempts = 0,
    -- The end of a call that is under way does not count for another message.
    claims = case when o.payload = excluded.payload and excluded.next_attempt_at <= billing.clock() then o.claims else '{}' end,
    parked_at = null, last_error = null, delivered_at = null, told_at = null
  where case
    when o.told_at is null and o.delivered_at is null
      then o.parked_at is not null
        or o.payload <> excluded.payload
        or o.next_attempt_at <> excluded.next_attempt_at and (
          excluded.next_attempt_at > billing.clock()
          -- A claimed row, or one that waits for its next try, is due already.
          or o.attempts = 0 and o.next_attempt_at > billing.clock()
        )
    else o.payload @> '{"at_cycle_end": true}' and not p_stop.at_cycle_end
      or num_nonnulls(o.delivered_at, o.parked_at) > 0
        and excluded.next_attempt_at > billing.clock()
        and coalesce(p_stop.stops_at > p_before, true)
  end;
end $$;

-- Writes the end that is known by now into the mail about a cancellation that waits for it, and sends it. The caller has
-- settled the user's access.
create or replace function billing.release_cancellation_mail(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.outbox o
  set payload = o.payload || billing.cancellation_terms(p_user_id, true, true), next_attempt_at = billing.clock()
  where o.key = any (array(select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id))
    and o.next_attempt_at > billing.clock()
    and o.attempts = 0
    and num_nonnulls(o.delivered_at, o.parked_at) = 0;
end $$;

-- Withdraws the mails that say what is charged next, for an act of the user that makes them untrue.
create or replace function billing.withdraw_outlook(
  p_user_id uuid,
  p_kept text default null -- the key of the mail about this act
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.withdraw_mails(array(
    select 'subscription-resumed/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    union all
    select k.key
    from billing.gateway_subscriptions m
    cross join unnest(array['change-scheduled/' || m.gateway_subscription_id, 'change-undone/' || m.id]) k (key)
    where m.user_id = p_user_id and m.asked_plan_id is not null and k.key is distinct from p_kept
  ));
end $$;

-- Finds the commitment that an act of the customer is about: what the gateway charges next; else what was bought last, and
-- runs; else what was given.
create or replace function billing.find_commitment(p_user_id uuid)
returns billing.commitment -- all null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_billed constant billing.commitment[] := array(select b from billing.find_billed(p_user_id) b);
  v_ruling billing.ruling;
  v_source billing.sources;
  v_found billing.commitment;
begin
  select b.* into v_found
  from unnest(v_billed) b
  where b.goes_on
    -- Not the renewal of an order that is not paid yet.
    and (b.kind <> 'renewal' or b.paid_by_id is not null)
    -- What was not charged in time has lapsed, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id and s.kind = 'gateway_subscription' and s.id = b.id and s.is_running
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached.
  if v_found.id is not null then v_ruling := billing.find_shown(p_user_id); end if;
  if v_found.id is null or v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
    v_ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id, true));
    if v_ruling.is_live is not true then v_ruling := billing.find_shown(p_user_id); end if;
  end if;
  if v_ruling.is_live is not true then return null; end if;
  v_source := v_ruling.source;
  select b.* into v_found from unnest(v_billed) b where b.id = v_source.gateway_subscription_id;
  if not found then
    v_found.user_id := p_user_id;
    v_found.kind := case v_source.kind when 'payment' then 'purchase' when 'gateway_subscription' then 'subscription' else 'given' end;
    v_found.id := v_source.id;
    v_found.goes_on := false;
  end if;
  v_found.plan_id := v_source.plan_id;
  v_found.tier := v_source.tier;
  v_found.sold := v_source.sold;
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

create or replace function public.preview_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: change | undo, order_start: now | after_current | null, is_billed, change: {amount_due, due_at, credit, currency,
-- starts_at, ends_at, from, to, from_price, to_price, renews, next_charge: {at, amount} | null}},
-- {outcome: plan_not_found | price_conflict | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason: currency | downgrade | credit}, {outcome: too_late, possible_from}
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  v_change constant billing.change := billing.plan_change(p_user_id, p_tier, p_when, p_price);
begin
  if v_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', v_change.outcome,
      'reason', v_change.reason,
      'possible_from', case when v_change.outcome = 'too_late' then billing.iso_time(v_change.starts_at) end
    ));
  end if;
  return jsonb_build_object(
    'outcome', v_change.outcome, 'order_start', v_change.order_start, 'is_billed', v_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', v_change.amount_due, 'due_at', billing.iso_time(v_change.due_at), 'credit', v_change.credit,
      'currency', (v_change.plan).currency,
      'starts_at', billing.iso_time(v_change.starts_at),
      'ends_at', billing.iso_time(v_change.ends_at),
      'from', v_change.from_tier,
      'to', (v_change.plan).tier,
      'from_price', v_change.from_price,
      'to_price', coalesce((v_change.plan).lookup_key, (v_change.plan).tier),
      'renews', v_change.goes_on,
      'next_charge', case
        when v_change.next_charge_at is not null
          then jsonb_build_object('at', billing.iso_time(v_change.next_charge_at), 'amount', v_change.next_amount)
      end
    )
  );
end $$;

-- Access may lapse now that the gateway was asked: the sweep looks at it again.
create or replace function billing.check_again(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.subscriptions s
  set due_at = billing.clock()
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end < billing.clock() and s.due_at > billing.clock();
end $$;

revoke execute on all functions in schema billing from public;
