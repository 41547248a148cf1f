-- The events about gateway subscriptions, in any order: each is merged into the mirror, then the user's access is settled.
-- Contract: "Gateway subscriptions".

drop function private.apply_next_charge(
  uuid, text, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz
);

-- Applies the usual charge: the next cycle, in order, of the ruling gateway subscription. One statement replaces the merge
-- of the event and the ranking of the sources.
create function private.apply_next_charge(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_gateway_plan_id text,
  p_start timestamptz,
  p_end timestamptz,
  p_gateway_payment_id text, -- null: the gateway named none
  p_amount bigint, -- of that payment, minor currency units
  p_entity jsonb, -- the subscription
  p_created_at timestamptz, -- of the event; null: not the usual charge
  p_arrived_at timestamptz,
  out merged private.gateway_subscriptions, -- the row after the merge; all null: not the usual charge, nothing was written
  out ruling private.ruling, -- all null: the sources must be ranked
  out subscription public.subscriptions -- the subscription row, locked
)
language plpgsql
set search_path = ''
as $$
declare
  -- Same as in private.merge_gateway_subscription.
  v_charged_at constant timestamptz := least(p_created_at + interval '999999 microseconds', p_arrived_at);
  v_next record;
begin
  with next as (
    update private.gateway_subscriptions m
    set period_start = p_start,
      period_end = p_end,
      period_event_at = p_created_at,
      plan_event_at = p_created_at,
      gateway_status = 'active',
      gateway_status_event_at = p_created_at,
      charge_at = private.json_time(p_entity -> 'charge_at'),
      paid_count = greatest(m.paid_count, private.json_integer(p_entity -> 'paid_count')),
      arrived_at = p_arrived_at
    where m.user_id = p_user_id
      and m.gateway_subscription_id = p_gateway_subscription_id
      and m.plan_id is not null
      and m.gateway_plan_id = p_gateway_plan_id
      and m.plan_event_at < p_created_at
      and m.period_event_at < p_created_at
      and m.first_charged_at <= v_charged_at
      and m.next_check_at <= p_end - interval '1 day'
      and m.gateway_status_event_at < p_created_at
      and m.ended_at is null
      and not m.has_refunds
      and not exists (
        select
        from private.refunds r
        where r.gateway_payment_id = p_gateway_payment_id
          and r.status = 'processed'
      )
    returning m.*
  ),
  charge as (
    insert into private.gateway_charges (
      user_id, gateway_subscription_id, period_end, period_start, gateway_payment_id, amount, charged_at
    )
    select p_user_id, p_gateway_subscription_id, p_end, p_start, coalesce(p_gateway_payment_id, ''), p_amount, v_charged_at
    from next n
    on conflict do nothing
  )
  select n as merged, ruled.subscription, ruled.tier
  into v_next
  from next n
  left join lateral (
    select s as subscription, p.tier
    from public.subscriptions s
    join public.plans p on p.id = n.plan_id
    where s.user_id = n.user_id
      and s.gateway_subscription_id = n.gateway_subscription_id
      and s.status = 'active'
      and s.revision > 0
      and n.status = 'active'
      and n.period_end > private.clock()
      and not n.is_replaced
      and not exists (
        select
        from private.gateway_subscriptions o
        where o.user_id = n.user_id
          and o.gateway_subscription_id <> n.gateway_subscription_id
      )
    for update of s
  ) ruled on true;
  merged := v_next.merged;
  if v_next.tier is null then
    return;
  end if;
  subscription := v_next.subscription;
  -- The same values as in private.sources and private.mirrored after the commit.
  ruling := row(
    row(
      p_user_id, 'gateway_subscription', p_gateway_subscription_id, merged.plan_id, v_next.tier, p_start, p_end, p_end,
      coalesce(merged.activated_at, merged.first_charged_at), p_arrived_at, null, null, merged.cancel_at_period_end,
      p_gateway_subscription_id
    )::private.sources,
    true, false, 1, 0, 0
  )::private.ruling;
end
$$;
grant execute on function
  private.apply_next_charge(uuid, text, text, timestamptz, timestamptz, text, bigint, jsonb, timestamptz, timestamptz)
  to service_role;

-- Applies an event about a gateway subscription. Contract: "Fields that an event needs", "Gateway subscriptions".
create or replace function private.apply_subscription_event(
  p_event text,
  p_entity jsonb,
  p_payment jsonb, -- of the cycle, if the event has it
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_has_cycle constant boolean := p_event in ('subscription.activated', 'subscription.charged');
  v_id text := coalesce(private.json_text(p_entity -> 'id'), '');
  v_user_id constant uuid := private.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_start constant timestamptz := case when v_has_cycle then private.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when v_has_cycle then private.json_time(p_entity -> 'current_end') end;
  v_payment_id constant text := case when p_event = 'subscription.charged' then private.json_text(p_payment -> 'id') end;
  v_amount constant bigint := private.json_integer(p_payment -> 'amount');
  v_gateway_plan_id constant text := private.json_text(p_entity -> 'plan_id');
  v_email text;
  v_merged private.gateway_subscriptions;
  v_next record;
  v_is_changed boolean;
begin
  if char_length(v_id) > 200 then
    -- No real id is that long, and the index cannot hold it.
    v_id := '';
  end if;
  if v_user_id is null then
    return 'ignored: subscription.entity.notes.user_id';
  end if;
  if v_has_cycle
    and (v_start is null or v_end is null)
    -- An activation before the first cycle has no period.
    and (
      p_event = 'subscription.activated'
      and p_entity -> 'current_start' = 'null'
      and p_entity -> 'current_end' = 'null'
    ) is not true
  then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  if v_payment_id is not null then
    perform private.lock_gateway_payment(v_payment_id);
  end if;
  v_email := private.lock_user(v_user_id);
  if v_email is null and private.is_deleted(v_user_id) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
  if v_email is null and private.lock_missing_user(v_user_id) then
    -- Nothing is stored about an erased user, but the subscription is cancelled at the gateway.
    return case when v_cancelled then 'unmatched' else private.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if p_event = 'subscription.charged' then
    v_next := private.apply_next_charge(
      v_user_id, v_id, v_gateway_plan_id, v_start, v_end, v_payment_id, v_amount, p_entity, p_created_at,
      p_arrived_at
    );
    v_merged := v_next.merged;
  end if;
  if v_merged.user_id is null then
    v_merged := private.merge_gateway_subscription(
      v_user_id, v_id, p_event, p_entity, v_gateway_plan_id, v_start, v_end, v_payment_id, v_amount, p_created_at,
      p_arrived_at
    );
  end if;
  if v_email is null then
    update private.gateway_subscriptions m
    set is_waiting = true
    where m.user_id = v_user_id
      and m.gateway_subscription_id = v_id
      and not m.is_waiting;
    return case when v_cancelled then 'unmatched' else private.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_merged.user_id is null then
    return 'stale';
  end if;
  if v_cancelled and v_merged.status = 'cancelled' then
    -- The gateway has cancelled the subscription, so a planned cancellation is not needed any more.
    perform private.withdraw_cancellation(v_id, 'cancelled at the gateway');
    update private.gateway_subscriptions m
    set is_replaced = false
    where m.user_id = v_user_id
      and m.gateway_subscription_id = v_id
      and m.is_replaced;
  end if;
  if p_event = 'subscription.charged' then
    v_is_changed := private.settle_access(
      v_user_id, v_email, p_ruling => v_next.ruling, p_before => v_next.subscription
    );
  else
    perform private.withdraw_open_orders(v_merged);
    perform private.note_successor(v_merged);
    v_is_changed := private.settle_access(v_user_id, v_email, p_is_cancelled => v_cancelled);
  end if;
  perform private.announce_billing(p_event, v_merged, p_entity, p_payment, v_end, v_email);
  return case
    when not v_has_cycle and not v_cancelled then 'applied'
    -- The subscription waits for a plan of ours, for a cycle, or for a source to attach to.
    when v_is_changed is null then 'unmatched'
    -- A newer fact is known.
    when not v_is_changed
      and p_created_at < greatest(v_merged.period_event_at, v_merged.status_event_at)
      and v_merged.plan_id is null
      then 'stale'
    -- The event is about a gateway subscription that is not the attached one.
    when not v_is_changed and v_merged.plan_id is null and v_merged.activated_at is null then 'mismatch'
    else 'applied'
  end;
end
$$;
grant execute on function
  private.apply_subscription_event(text, jsonb, jsonb, timestamptz, timestamptz) to service_role;

-- Applies one event, by its name.
create or replace function private.apply_event(
  p_body jsonb,
  p_body_sha256 bytea,
  p_arrived_at timestamptz -- the time of the first delivery
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payment constant jsonb := private.json_object(p_body #> '{payload,payment,entity}');
  v_order jsonb;
  v_other jsonb;
begin
  if p_body is null then
    return 'ignored: nested too deep';
  end if;
  if jsonb_typeof(p_body) <> 'object' then
    return 'ignored: not an object';
  end if;
  if v_event is null then
    return 'ignored: event';
  end if;

  if v_event = any (private.subscription_events()) then
    v_other := private.json_object(p_body #> '{payload,subscription,entity}');
    if v_other is null then
      return 'ignored: subscription.entity';
    end if;
    return private.apply_subscription_event(v_event, v_other, v_payment, private.event_time(p_body), p_arrived_at);
  end if;
  if v_event in ('refund.created', 'refund.processed', 'refund.failed') then
    v_other := private.json_object(p_body #> '{payload,refund,entity}');
    if v_other is null then
      return 'ignored: refund.entity';
    end if;
    -- If the entity has no status, the name of the event gives it.
    return private.apply_refund(
      jsonb_build_object('status', case v_event
        when 'refund.created' then 'pending'
        when 'refund.failed' then 'failed'
        else 'processed'
      end) || v_other,
      v_payment
    );
  end if;
  if v_event like 'payment.dispute.%' then
    v_other := private.json_object(p_body #> '{payload,dispute,entity}');
    if v_other is null then
      return 'ignored: dispute.entity';
    end if;
    return private.apply_dispute(v_other, v_payment, private.event_time(p_body));
  end if;
  if v_event not in ('payment.captured', 'order.paid', 'payment.failed') then
    return 'ignored: not handled';
  end if;
  if v_payment is null then
    return 'ignored: payment.entity';
  end if;
  if v_event = 'payment.failed' then
    return private.apply_payment_failed(v_payment, p_body_sha256);
  end if;
  return private.apply_payment_captured(v_payment, private.json_object(p_body #> '{payload,order,entity}'));
end
$$;

revoke execute on all functions in schema private from public;
