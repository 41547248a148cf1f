-- Cancellations, with purchases that replace or follow another source. Contract: "Start and credit",
-- POST /api/subscriptions/cancel.

-- Enqueues cancellations of the replaced gateway subscriptions for the end of their cycle: the paid time remains, and no
-- further cycle is billed. Withdraws the cancellation of a subscription that is no longer replaced.
create or replace function private.settle_cancellations(
  p_ruling private.ruling
)
returns boolean -- whether the ruling gateway subscription ends with its cycle, because its cancellation was already sent
language plpgsql
set search_path = ''
as $$
declare
  v_ruling constant private.sources := p_ruling.source;
  v_newest private.sources := v_ruling;
  v_upcoming private.sources;
  v_has_no_activation boolean;
  v_is_replaced boolean;
  v_is_waiting boolean;
  v_is_trial boolean;
  v_withdrawn_id uuid;
  v_other private.gateway_subscriptions;
  v_ends boolean := false;
begin
  if not (p_ruling.is_live or p_ruling.is_ended_by_gateway) then
    v_newest := null;
  elsif v_ruling.kind in ('grant', 'manual') and v_ruling.gateway_subscription_id is null then
    -- A grant does not stop the billing. The newest running purchase below the grant does.
    v_newest := null;
    select s.* into v_newest
    from private.sources s
    where s.user_id = v_ruling.user_id
      and s.kind in ('payment', 'gateway_subscription')
      and s.ended_at is null
      and s.lapses_at > private.clock()
    order by s.since desc, s.id desc
    limit 1;
  end if;
  -- A purchase that begins later stops the billing of what runs until then.
  select s.* into v_upcoming
  from private.upcoming_payments u
  join private.sources s
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
  select o.id into v_withdrawn_id
  from private.subscription_orders o
  where v_newest.kind = 'gateway_subscription'
    and o.gateway_subscription_id = v_newest.id
    and o.user_id = v_newest.user_id
    and o.withdrawn_at is not null
    and (o.replaces is not null or o.starts_at is null or o.is_trial or o.payment_id is not null);
  if v_withdrawn_id is not null and private.withdraw_cancellation(v_newest.id, 'it was authorised, too') then
    update private.subscription_orders o set withdrawn_at = null where o.id = v_withdrawn_id;
    update private.gateway_subscriptions m
    set is_replaced = false
    where m.user_id = v_newest.user_id
      and m.gateway_subscription_id = v_newest.id;
  elsif v_withdrawn_id is not null then
    -- It ends with its cycle, because its cancellation was sent. So it replaces nothing.
    select s.* into v_newest
    from private.sources s
    where s.user_id = v_ruling.user_id
      and s.kind in ('payment', 'gateway_subscription')
      and s.id <> v_newest.id
      and s.ended_at is null
      and s.lapses_at > private.clock()
    order by s.since desc, s.id desc
    limit 1;
  end if;
  select m.activated_at is null and (m.first_charged_at is not null or m.authenticated_at is null) into v_has_no_activation
  from private.gateway_subscriptions m
  where m.user_id = v_newest.user_id
    and m.gateway_subscription_id = v_newest.gateway_subscription_id;

  for v_other in
    select m.*
    from private.gateway_subscriptions m
    where m.user_id = v_ruling.user_id
      and m.gateway_subscription_id <> ''
      and m.status is distinct from 'cancelled'
      and m.ended_at is null
      and m.gateway_status is distinct from 'completed'
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
          from private.subscription_orders o
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
                from private.subscription_orders started
                join private.gateway_subscriptions m
                  on m.user_id = started.user_id
                  and m.gateway_subscription_id = started.gateway_subscription_id
                where started.user_id = o.user_id
                  and started.id <> o.id
                  and started.withdrawn_at is null
                  and m.gateway_subscription_id is distinct from o.replaces
                  and least(m.first_activated_at, m.first_charged_at) > o.created_at
                  and m.status is distinct from 'cancelled'
                  and m.ended_at is null
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
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        -- If the first cycle of one that waits was charged in the meantime, it remains.
        v_is_waiting or coalesce(v_other.period_end > private.clock(), false),
        -- Until it is sent, a refund of the purchase or the customer withdraws it.
        case
          when v_other.replaced_by is not null or v_other.gateway_subscription_id = v_ruling.gateway_subscription_id
            then private.cancellation_time(v_other.period_end)
          else private.clock()
        end
      );
    elsif not private.withdraw_cancellation(v_other.gateway_subscription_id, 'it rules again') then
      v_other.cancel_at_period_end := true;
      v_ends := v_ends or v_other.gateway_subscription_id is not distinct from v_ruling.gateway_subscription_id;
    elsif v_other.cancel_at_period_end then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        true,
        private.cancellation_time(v_other.period_end)
      );
    end if;
    update private.gateway_subscriptions m
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
create or replace function private.mark_ruling_source(
  p_user_id uuid,
  p_gateway_subscription_id text, -- of the subscription row
  p_cancel_at_period_end boolean
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_source constant private.sources := (private.find_ruling(p_user_id)).source;
begin
  perform private.undo_change(p_user_id);
  if v_source.kind = 'payment' then
    perform private.mark_renewal(p_user_id, v_source.id::uuid, p_cancel_at_period_end);
  end if;
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'payment'
    and p.id = case when v_source.kind = 'payment' then v_source.id::uuid end;
  update private.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'grant'
    and g.id = case when v_source.kind = 'grant' then v_source.id::bigint end;
  update private.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'manual'
    and w.user_id = p_user_id;
  update private.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end,
    -- A resumption withdrew the cancellation. If another source replaces the subscription, settling enqueues it again.
    is_replaced = m.is_replaced and p_cancel_at_period_end,
    user_cancelled_at = case when p_cancel_at_period_end then private.clock() end
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
end
$$;

-- Ends every running source of a user at once, and the replaced ones: they must not run again when the purchase that
-- replaced them is refunded. The caller holds the lock on the user.
create or replace function private.end_sources(
  p_user_id uuid,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources;
begin
  for v_source in
    select s.*
    from private.sources s
    where s.user_id = p_user_id
      and (s.ended_at is null or s.ended_reason = 'replaced')
      and s.lapses_at > v_now
    order by s.kind, s.id
  loop
    case v_source.kind
      when 'payment' then
        update public.payments p
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where p.id = v_source.id::uuid;
      when 'grant' then
        update private.grants g
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where g.id = v_source.id::bigint;
      when 'manual' then
        update private.manual_subscriptions w
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where w.user_id = p_user_id;
      else
        null; -- ended below, together with the gateway subscriptions that are no sources
    end case;
  end loop;
  insert into private.user_cancellations as c (user_id, at)
  values (p_user_id, v_now)
  on conflict (user_id) do update set at = excluded.at;
  update private.gateway_subscriptions m
  set ended_at = v_now,
    ended_reason = p_reason,
    cancel_at_period_end = false,
    user_cancelled_at = least(m.user_cancelled_at, v_now)
  where m.user_id = p_user_id
    and m.ended_at is null
    and m.status is distinct from 'cancelled';
end
$$;
grant execute on function private.end_sources(uuid, text) to service_role;

revoke execute on all functions in schema private from public;
