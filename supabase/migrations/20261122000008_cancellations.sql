-- What the gateway is told to cancel, and the requests of the customer to cancel and to resume.
-- Contract: POST /api/subscriptions/cancel, POST /api/subscriptions/resume.

-- Enqueues a cancellation: the gateway stops billing a subscription, at once or at the end of its cycle. Another call may
-- replace a cancellation that is not delivered, or that was withdrawn. A delivered cancellation is final, except that an
-- immediate one may follow one for the end of the cycle.
create function billing.enqueue_cancellation(
  p_gateway_subscription_id text, -- null or empty: nothing to cancel
  p_at_cycle_end boolean default false,
  p_cycle_end timestamptz default null -- sends it 48 hours before: the gateway debits up to 36 hours before a cycle
)
returns void
language sql set search_path = pg_catalog, pg_temp
as $$
  insert into billing.outbox as o (key, destination, kind, payload, queued_at, next_attempt_at)
  select
    'cancel-subscription/' || p_gateway_subscription_id,
    'gateway',
    'cancel-subscription',
    jsonb_build_object('gateway_subscription_id', p_gateway_subscription_id, 'at_cycle_end', p_at_cycle_end),
    send.at,
    send.at
  from (select greatest(p_cycle_end - interval '48 hours', billing.clock()) as at) send
  where p_gateway_subscription_id <> ''
  on conflict (key) do update
  set payload = excluded.payload,
    queued_at = excluded.queued_at,
    next_attempt_at = excluded.next_attempt_at,
    attempts = case when o.parked_at is null and o.delivered_at is null then o.attempts else 0 end,
    parked_at = null,
    delivered_at = null
  where o.delivered_at is null
    or o.payload @> '{"at_cycle_end": true}' and not p_at_cycle_end
$$;

-- Withdraws a cancellation, unless it was claimed: the gateway may then have received it.
create function billing.withdraw_cancellation(p_gateway_subscription_id text, p_why text)
returns boolean -- false: the gateway received the cancellation, or may have received it
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_row billing.outbox;
begin
  select * into v_row
  from billing.outbox o
  where o.key = 'cancel-subscription/' || p_gateway_subscription_id
  for update;
  if v_row.attempts > 0 or v_row.delivered_at is not null then
    return false;
  end if;
  update billing.outbox o
  set parked_at = billing.clock(),
    last_error = 'withdrawn: ' || p_why
  where o.id = v_row.id
    and o.parked_at is null;
  return true;
end
$$;

-- Withdraws the cancellation of a subscription that was authorised in the same moment as another one.
create function billing.reinstate_order(p_user_id uuid, p_gateway_subscription_id text)
returns boolean -- false: its cancellation was sent
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if not billing.withdraw_cancellation(p_gateway_subscription_id, 'it was authorised, too') then
    return false;
  end if;
  update billing.subscription_orders o
  set withdrawn_at = null
  where o.gateway_subscription_id = p_gateway_subscription_id;
  update billing.gateway_subscriptions m
  set is_replaced = false
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
  return true;
end
$$;

-- Finds the newest running purchase of a user.
create function billing.newest_purchase(p_user_id uuid, p_except text default null)
returns billing.sources -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_source billing.sources;
begin
  select s.* into v_source
  from billing.sources s
  where s.user_id = p_user_id
    and s.kind in ('payment', 'gateway_subscription')
    and s.id is distinct from p_except
    and s.is_running
  order by s.since desc, s.id desc
  limit 1;
  return v_source;
end
$$;

-- Enqueues cancellations of the replaced gateway subscriptions for the end of their cycle: the paid time remains, and no
-- further cycle is billed. Withdraws the cancellation of a subscription that is no longer replaced.
create function billing.settle_cancellations(p_ruling billing.ruling)
returns boolean -- whether the ruling gateway subscription ends with its cycle, because its cancellation was already sent
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ruling constant billing.sources := p_ruling.source;
  v_newest billing.sources := v_ruling;
  v_upcoming billing.sources;
  v_has_no_activation boolean;
  v_is_replaced boolean;
  v_is_waiting boolean;
  v_is_trial boolean;
  v_other billing.gateway_subscriptions;
  v_ends boolean := false;
begin
  if not (p_ruling.is_live or p_ruling.is_ended_by_gateway) then
    v_newest := null;
  elsif v_ruling.kind in ('grant', 'manual') and v_ruling.gateway_subscription_id is null then
    -- A grant does not stop the billing. The newest running purchase below the grant does.
    v_newest := billing.newest_purchase(v_ruling.user_id);
  end if;
  -- A purchase that begins later stops the billing of what runs until then.
  select s.* into v_upcoming
  from billing.upcoming_payments u
  join billing.sources s
    on s.user_id = u.user_id
    and s.kind = 'payment'
    and s.id = u.id
  where u.user_id = v_ruling.user_id
  order by s.since desc, s.id desc
  limit 1;
  if v_upcoming.since > coalesce(v_newest.since, '-infinity') then
    v_newest := v_upcoming;
  end if;
  -- It was withdrawn, because another one was authorised in the same moment. An undone change remains withdrawn.
  if exists (
    select
    from billing.subscription_orders o
    where v_newest.kind = 'gateway_subscription'
      and o.gateway_subscription_id = v_newest.id
      and o.user_id = v_newest.user_id
      and o.withdrawn_at is not null
      and (o.replaces is not null or o.starts_at is null or o.is_trial or o.payment_id is not null)
  ) and not billing.reinstate_order(v_newest.user_id, v_newest.id) then
    -- It ends with its cycle, because its cancellation was sent. So it replaces nothing.
    v_newest := billing.newest_purchase(v_ruling.user_id, v_newest.id);
  end if;
  select m.activated_at is null and (m.first_charged_at is not null or m.authenticated_at is null) into v_has_no_activation
  from billing.gateway_subscriptions m
  where m.user_id = v_newest.user_id
    and m.gateway_subscription_id = v_newest.gateway_subscription_id;

  for v_other in
    select m.*
    from billing.gateway_subscriptions m
    where m.user_id = v_ruling.user_id
      and m.gateway_subscription_id <> ''
      and m.is_billed
      -- Skips a subscription that only a row written by hand names, while that row rules.
      and (m.arrived_at is not null or v_ruling.kind <> 'manual')
    order by m.gateway_subscription_id
  loop
    -- Authorised, to start later.
    v_is_waiting := v_other.gateway_status = 'authenticated'
      and coalesce(v_other.period_end, v_other.activated_at, v_other.first_charged_at) is null;
    v_is_trial := v_other.authenticated_at is not null
      and v_other.period_end is not null
      and coalesce(v_other.activated_at, v_other.first_charged_at) is null;
    v_is_replaced := coalesce(
      case
        when v_other.replaced_by is not null then true
        when v_is_waiting then exists (
          select
          from billing.subscription_orders o
          where o.gateway_subscription_id = v_other.gateway_subscription_id
            and o.user_id = v_other.user_id
            and (
              o.withdrawn_at is not null
              -- A purchase since the authorisation replaces it, unless it pays for the time until the start.
              or v_newest.kind = 'payment'
                and v_newest.since > v_other.authenticated_at
                and o.payment_id::text is distinct from v_newest.id
              -- A subscription that started after this one was asked for replaces it.
              or exists (
                select
                from billing.subscription_orders started
                join billing.gateway_subscriptions m
                  on m.user_id = started.user_id
                  and m.gateway_subscription_id = started.gateway_subscription_id
                where started.user_id = o.user_id
                  and started.id <> o.id
                  and started.withdrawn_at is null
                  and m.gateway_subscription_id is distinct from o.replaces
                  and least(m.first_activated_at, m.first_charged_at) > o.created_at
                  and m.is_billed
              )
            )
        )
        else v_other.gateway_subscription_id is distinct from v_newest.gateway_subscription_id
          and (
            v_newest.id = v_ruling.id
            or coalesce(
              v_other.activated_at, v_other.first_charged_at, v_other.authenticated_at, v_other.arrived_at
            ) < v_newest.since
          )
      end,
      false
    );
    continue when v_is_replaced = v_other.is_replaced
      or v_other.replaced_by is null
        and v_is_waiting is not true
        and (
          -- While only charges of a subscription are known, its activation may still arrive and change the order of the
          -- two.
          v_has_no_activation is true and v_other.gateway_subscription_id <> v_newest.gateway_subscription_id
          or v_has_no_activation is not null and v_other.activated_at is null and not v_is_trial
        );

    if v_is_replaced then
      perform billing.enqueue_cancellation(
        v_other.gateway_subscription_id,
        -- If the first cycle of one that waits was charged in the meantime, it remains.
        v_is_waiting or coalesce(v_other.period_end > billing.clock(), false),
        -- Until it is sent, a refund of the purchase or the customer withdraws it.
        case
          when v_other.replaced_by is not null or v_other.gateway_subscription_id = v_ruling.gateway_subscription_id
            then v_other.period_end
        end
      );
    elsif not billing.withdraw_cancellation(v_other.gateway_subscription_id, 'it rules again') then
      v_other.cancel_at_period_end := true;
      v_ends := v_ends or v_other.gateway_subscription_id is not distinct from v_ruling.gateway_subscription_id;
    elsif v_other.cancel_at_period_end then
      perform billing.enqueue_cancellation(v_other.gateway_subscription_id, true, v_other.period_end);
    end if;
    update billing.gateway_subscriptions m
    set is_replaced = v_is_replaced,
      cancel_at_period_end = v_other.cancel_at_period_end
    where m.user_id = v_other.user_id
      and m.gateway_subscription_id = v_other.gateway_subscription_id;
  end loop;
  return v_ends;
end
$$;

-- Sets or clears cancel_at_period_end of the ruling source and of the gateway subscription attached to it.
-- A change of plan that waits for the end of the cycle is undone. The caller holds the lock on the user.
create function billing.mark_ruling_source(
  p_user_id uuid,
  p_gateway_subscription_id text, -- of the subscription row
  p_cancel_at_period_end boolean
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_source constant billing.sources := (billing.find_ruling(p_user_id)).source;
begin
  perform billing.undo_change(p_user_id);
  if v_source.kind = 'payment' then
    perform billing.mark_renewal(p_user_id, v_source.id::uuid, p_cancel_at_period_end);
  end if;
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where p.id = case when v_source.kind = 'payment' then v_source.id::uuid end;
  update billing.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where g.id = case when v_source.kind = 'grant' then v_source.id::bigint end;
  update billing.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'manual'
    and w.user_id = p_user_id;
  update billing.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end,
    -- A resumption withdrew the cancellation. If another source replaces the subscription, settling enqueues it again.
    is_replaced = m.is_replaced and p_cancel_at_period_end,
    user_cancelled_at = case when p_cancel_at_period_end then billing.clock() end
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
end
$$;

-- Ends every running source of a user at once, and the replaced ones: they must not run again when the purchase that
-- replaced them is refunded. The caller holds the lock on the user.
create function billing.end_sources(p_user_id uuid)
returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := billing.clock();
  v_source billing.sources;
begin
  for v_source in
    select s.*
    from billing.sources s
    where s.user_id = p_user_id
      and (s.ended_at is null or s.ended_reason = 'replaced')
      and s.lapses_at > v_now
    order by s.kind, s.id
  loop
    case v_source.kind
      when 'payment' then
        update public.payments p
        set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
        where p.id = v_source.id::uuid;
      when 'grant' then
        update billing.grants g
        set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
        where g.id = v_source.id::bigint;
      when 'manual' then
        update billing.manual_subscriptions w
        set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
        where w.user_id = p_user_id;
      else
        null; -- ended below, together with the gateway subscriptions that are no sources
    end case;
  end loop;
  insert into billing.user_cancellations as c (user_id, at)
  values (p_user_id, v_now)
  on conflict (user_id) do update set at = excluded.at;
  update billing.gateway_subscriptions m
  set ended_at = v_now,
    ended_reason = 'cancelled',
    cancel_at_period_end = false,
    user_cancelled_at = least(m.user_cancelled_at, v_now)
  where m.user_id = p_user_id
    and m.ended_at is null
    and m.status is distinct from 'cancelled';
end
$$;

-- Cancels the other subscriptions that the user could still authorise, because one was authorised that was not asked for
-- later. Of a subscription without a cycle a cancellation at the end of the cycle is one at once. If it was charged in the
-- meantime, its paid cycle remains.
create function billing.withdraw_open_orders(
  p_subscription billing.gateway_subscriptions -- after an event
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  v_authorised_at constant timestamptz := least(
    p_subscription.authenticated_at, p_subscription.first_activated_at, p_subscription.first_charged_at
  );
  v_order record;
begin
  for v_order in
    update billing.subscription_orders o
    set withdrawn_at = billing.clock()
    where p_subscription.status is distinct from 'cancelled'
      and exists (
        select
        from billing.subscription_orders authorised
        where authorised.gateway_subscription_id = v_id
          and authorised.user_id = o.user_id
          and authorised.withdrawn_at is null
      )
      and o.user_id = p_subscription.user_id
      and o.gateway_subscription_id is distinct from v_id
      and o.created_at < v_authorised_at
      and o.expires_at > billing.clock()
      and o.withdrawn_at is null
      and not exists (
        select
        from billing.gateway_subscriptions m
        where m.user_id = o.user_id
          and m.gateway_subscription_id = o.gateway_subscription_id
          and coalesce(m.authenticated_at, m.first_activated_at, m.first_charged_at) is not null
      )
    returning o.gateway_subscription_id
  loop
    -- Without an id the gateway has not answered yet: public.store_subscription cancels what it made.
    perform billing.enqueue_cancellation(v_order.gateway_subscription_id, true);
  end loop;
end
$$;

-- Notes which subscription replaces another one when that ends: the one of the newest change that was authorised and not
-- cancelled. Those of older changes are cancelled before they start, so that only one bills.
create function billing.note_successor(
  p_subscription billing.gateway_subscriptions -- after an event
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant uuid := p_subscription.user_id;
  v_replaced text;
  v_authorised record;
  v_successor text;
begin
  select o.replaces into v_replaced
  from billing.subscription_orders o
  where o.gateway_subscription_id = p_subscription.gateway_subscription_id
    and o.user_id = v_user_id;
  for v_authorised in
    select m.gateway_subscription_id as id, m.gateway_status, o.withdrawn_at
    from billing.subscription_orders o
    join billing.gateway_subscriptions m
      on m.user_id = o.user_id
      and m.gateway_subscription_id = o.gateway_subscription_id
    where o.user_id = v_user_id
      and o.replaces = v_replaced
      and m.is_billed
    order by o.created_at desc, o.id desc
  loop
    if v_successor is not null then
      if v_authorised.gateway_status = 'authenticated' then
        perform billing.enqueue_cancellation(v_authorised.id);
      end if;
    elsif v_authorised.withdrawn_at is null then
      v_successor := v_authorised.id;
    elsif billing.reinstate_order(v_user_id, v_authorised.id) then
      -- Another change was authorised in the same moment. The newer one replaces it, unless its cancellation was sent.
      v_successor := v_authorised.id;
    end if;
  end loop;
  update billing.gateway_subscriptions m
  set replaced_by = v_successor
  where m.user_id = v_user_id
    and m.gateway_subscription_id = v_replaced
    and m.replaced_by is distinct from v_successor;
end
$$;

-- Undoes a change of plan that waits for the end of a cycle: its subscription is cancelled before it starts. The caller
-- holds the lock on the user.
create function billing.undo_change(p_user_id uuid)
returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_order record;
begin
  for v_order in
    update billing.subscription_orders o
    set replaces = null,
      withdrawn_at = billing.clock()
    where o.user_id = p_user_id
      and o.replaces is not null
      and o.starts_at > billing.clock()
    returning o.gateway_subscription_id
  loop
    update billing.gateway_subscriptions m
    set replaced_by = null
    where m.user_id = p_user_id
      and m.replaced_by = v_order.gateway_subscription_id;
    perform billing.enqueue_cancellation(v_order.gateway_subscription_id, true);
  end loop;
end
$$;

-- Cancels the subscription that renews a payment of a change of plan, before it starts; or withdraws that. One that was not
-- authorised yet is withdrawn for good. The caller holds the lock on the user.
create function billing.mark_renewal(p_user_id uuid, p_payment_id uuid, p_is_cancelled boolean)
returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_order record;
begin
  for v_order in
    select o.id, o.gateway_subscription_id, o.starts_at, m.user_id is not null as is_authorised
    from billing.subscription_orders o
    left join billing.gateway_subscriptions m
      on m.user_id = o.user_id
      and m.gateway_subscription_id = o.gateway_subscription_id
      and m.authenticated_at is not null
    where o.user_id = p_user_id
      and o.payment_id = p_payment_id
      and o.starts_at > billing.clock()
      and o.withdrawn_at is null
  loop
    if p_is_cancelled and not v_order.is_authorised then
      update billing.subscription_orders o set withdrawn_at = billing.clock() where o.id = v_order.id;
      perform billing.enqueue_cancellation(v_order.gateway_subscription_id, true);
    elsif p_is_cancelled then
      perform billing.enqueue_cancellation(v_order.gateway_subscription_id, true, v_order.starts_at);
    elsif not billing.withdraw_cancellation(v_order.gateway_subscription_id, 'by the user') then
      continue;
    end if;
    update billing.gateway_subscriptions m
    set cancel_at_period_end = p_is_cancelled,
      user_cancelled_at = case when p_is_cancelled then billing.clock() end
    where m.user_id = p_user_id
      and m.gateway_subscription_id = v_order.gateway_subscription_id;
  end loop;
end
$$;

-- Contract: POST /api/subscriptions/cancel.
create function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform billing.begin_request('cancellation', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found or v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeated cancellation for the period's end writes nothing.
  if not (p_at_period_end and v_subscription.cancel_at_period_end) then
    if p_at_period_end then
      perform billing.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, true);
      perform billing.enqueue_cancellation(
        v_subscription.gateway_subscription_id, true, v_subscription.current_period_end
      );
    else
      perform billing.enqueue_cancellation(m.gateway_subscription_id)
      from billing.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.is_billed;
      perform billing.end_sources(p_user_id);
    end if;
    perform billing.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object('outcome', 'cancelled', 'subscription', public.get_subscription(p_user_id) -> 'subscription');
end
$$;
comment on function public.cancel_subscription(uuid, boolean) is
  'Ends a user''s subscription, now or when the paid period ends.';
revoke execute on function public.cancel_subscription(uuid, boolean) from public, anon, authenticated;
grant execute on function public.cancel_subscription(uuid, boolean) to service_role;

-- Contract: POST /api/subscriptions/resume.
create function public.resume_subscription(p_user_id uuid)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform billing.begin_request('resumption', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  if v_subscription.cancel_at_period_end then
    if v_subscription.gateway_subscription_id is not null
      and not billing.withdraw_cancellation(v_subscription.gateway_subscription_id, 'by the user')
    then
      return jsonb_build_object('outcome', 'cannot_be_resumed');
    end if;
    perform billing.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, false);
    perform billing.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object('outcome', 'resumed', 'subscription', public.get_subscription(p_user_id) -> 'subscription');
end
$$;
comment on function public.resume_subscription(uuid) is
  'Withdraws a user''s cancellation for the period''s end, unless the gateway may have received it: there it is final.';
revoke execute on function public.resume_subscription(uuid) from public, anon, authenticated;
grant execute on function public.resume_subscription(uuid) to service_role;
