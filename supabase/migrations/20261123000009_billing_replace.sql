-- Gateway subscriptions that replace another one at the end of its cycle: a change of plan. Two that bill the same plan.
-- Contract: "Gateway subscriptions", POST /api/subscriptions/change.

-- Cancels the other subscriptions that the user could still authorise, because one was authorised that was not asked for
-- later. Of a subscription without a cycle a cancellation at the end of the cycle is one at once. If it was charged in the
-- meantime, its paid cycle remains.
create function private.withdraw_open_orders(
  p_subscription private.gateway_subscriptions -- after an event
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  v_authorised_at constant timestamptz := least(
    p_subscription.authenticated_at, p_subscription.first_activated_at, p_subscription.first_charged_at
  );
  v_order record;
begin
  if p_subscription.status = 'cancelled'
    or not exists (
      select
      from private.subscription_orders o
      where o.gateway_subscription_id = v_id
        and o.user_id = p_subscription.user_id
        and o.withdrawn_at is null
    )
  then
    return;
  end if;
  for v_order in
    update private.subscription_orders o
    set withdrawn_at = private.clock()
    where o.user_id = p_subscription.user_id
      and o.gateway_subscription_id is distinct from v_id
      and o.created_at < v_authorised_at
      and o.expires_at > private.clock()
      and o.withdrawn_at is null
      and not exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = o.user_id
          and m.gateway_subscription_id = o.gateway_subscription_id
          and coalesce(m.authenticated_at, m.first_activated_at, m.first_charged_at) is not null
      )
    returning o.gateway_subscription_id
  loop
    -- Without an id the gateway has not answered yet: public.store_subscription cancels what it made.
    perform private.enqueue_cancellation(v_order.gateway_subscription_id, true)
    where v_order.gateway_subscription_id is not null;
  end loop;
end
$$;
grant execute on function private.withdraw_open_orders(private.gateway_subscriptions) to service_role;

-- Notes which subscription replaces another one when that ends: the one of the newest change that was authorised and not
-- cancelled. Those of older changes are cancelled before they start, so that only one bills.
create function private.note_successor(
  p_subscription private.gateway_subscriptions -- after an event
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_user_id constant uuid := p_subscription.user_id;
  v_replaced text;
  v_authorised record;
  v_successor text;
begin
  select o.replaces into v_replaced
  from private.subscription_orders o
  where o.gateway_subscription_id = p_subscription.gateway_subscription_id
    and o.user_id = v_user_id;
  if v_replaced is null then
    return;
  end if;
  for v_authorised in
    select m.gateway_subscription_id as id, m.gateway_status, o.id as order_id, o.withdrawn_at
    from private.subscription_orders o
    join private.gateway_subscriptions m
      on m.user_id = o.user_id
      and m.gateway_subscription_id = o.gateway_subscription_id
    where o.user_id = v_user_id
      and o.replaces = v_replaced
      and m.status is distinct from 'cancelled'
    order by o.created_at desc, o.id desc
  loop
    if v_successor is not null then
      if v_authorised.gateway_status = 'authenticated' then
        perform private.enqueue_cancellation(v_authorised.id);
      end if;
    elsif v_authorised.withdrawn_at is null then
      v_successor := v_authorised.id;
    elsif private.withdraw_cancellation(v_authorised.id, 'it was authorised, too') then
      -- Another change was authorised in the same moment. The newer one replaces it, unless its cancellation was sent.
      v_successor := v_authorised.id;
      update private.subscription_orders o set withdrawn_at = null where o.id = v_authorised.order_id;
      update private.gateway_subscriptions m
      set is_replaced = false
      where m.user_id = v_user_id
        and m.gateway_subscription_id = v_authorised.id;
    end if;
  end loop;
  update private.gateway_subscriptions m
  set replaced_by = v_successor
  where m.user_id = v_user_id
    and m.gateway_subscription_id = v_replaced
    and m.replaced_by is distinct from v_successor;
end
$$;
grant execute on function private.note_successor(private.gateway_subscriptions) to service_role;

-- Undoes a change of plan that waits for the end of a cycle: its subscription is cancelled before it starts. The caller
-- holds the lock on the user.
create function private.undo_change(
  p_user_id uuid
)
returns boolean -- whether there was one
language plpgsql
set search_path = ''
as $$
declare
  v_order record;
  v_is_undone boolean := false;
begin
  for v_order in
    update private.subscription_orders o
    set replaces = null,
      withdrawn_at = private.clock()
    where o.user_id = p_user_id
      and o.replaces is not null
      and o.starts_at > private.clock()
    returning o.gateway_subscription_id
  loop
    update private.gateway_subscriptions m
    set replaced_by = null
    where m.user_id = p_user_id
      and m.replaced_by = v_order.gateway_subscription_id;
    -- Without an id the gateway has not answered yet: public.store_subscription cancels what it made.
    perform private.enqueue_cancellation(v_order.gateway_subscription_id, true)
    where v_order.gateway_subscription_id is not null;
    v_is_undone := true;
  end loop;
  return v_is_undone;
end
$$;
grant execute on function private.undo_change(uuid) to service_role;

-- Cancels the subscription that renews a payment of a change of plan, before it starts; or withdraws that. One that was not
-- authorised yet is withdrawn for good. The caller holds the lock on the user.
create function private.mark_renewal(
  p_user_id uuid,
  p_payment_id uuid,
  p_is_cancelled boolean
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_order record;
begin
  for v_order in
    select o.id, o.gateway_subscription_id, o.starts_at, m.user_id is not null as is_authorised
    from private.subscription_orders o
    left join private.gateway_subscriptions m
      on m.user_id = o.user_id
      and m.gateway_subscription_id = o.gateway_subscription_id
      and m.authenticated_at is not null
    where o.user_id = p_user_id
      and o.payment_id = p_payment_id
      and o.starts_at > private.clock()
      and o.withdrawn_at is null
  loop
    if p_is_cancelled and not v_order.is_authorised then
      update private.subscription_orders o set withdrawn_at = private.clock() where o.id = v_order.id;
      perform private.enqueue_cancellation(v_order.gateway_subscription_id, true)
      where v_order.gateway_subscription_id is not null;
    elsif p_is_cancelled then
      perform private.enqueue_cancellation(
        v_order.gateway_subscription_id, true, private.cancellation_time(v_order.starts_at)
      );
    elsif not private.withdraw_cancellation(v_order.gateway_subscription_id, 'by the user') then
      continue;
    end if;
    update private.gateway_subscriptions m
    set cancel_at_period_end = p_is_cancelled,
      user_cancelled_at = case when p_is_cancelled then private.clock() end
    where m.user_id = p_user_id
      and m.gateway_subscription_id = v_order.gateway_subscription_id;
  end loop;
end
$$;
grant execute on function private.mark_renewal(uuid, uuid, boolean) to service_role;

-- Adds the finding charged_twice.
create or replace view private.unexpected_charges
with (security_invoker = true)
as
select
  m.user_id,
  c.charged_at as since,
  case
    when m.user_cancelled_at < c.charged_at or m.status = 'cancelled' and m.cancelled_at < c.charged_at
      then 'charged_after_cancellation'
    else 'charged_after_replacement'
  end as finding,
  m.gateway_subscription_id,
  c.gateway_payment_id,
  c.amount,
  c.period_start,
  c.period_end
from private.gateway_subscriptions m
join private.gateway_charges c
  on c.user_id = m.user_id
  and c.gateway_subscription_id = m.gateway_subscription_id
where (c.amount is null or c.refunded_amount < c.amount)
  and (
    m.user_cancelled_at < c.charged_at
    or m.status = 'cancelled' and m.cancelled_at < c.charged_at
    or exists (
      select
      from private.sources newer
      left join private.gateway_subscriptions s
        on s.user_id = newer.user_id
        and s.gateway_subscription_id = newer.id
        and newer.kind = 'gateway_subscription'
      -- Checks the first activation, too, because a later activation moves newer.since past the charge.
      cross join lateral (
        values (newer.since), (least(s.first_activated_at, s.first_charged_at))
      ) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        and there.since > coalesce(m.activated_at, m.first_charged_at)
        and there.since < c.charged_at
        and coalesce(newer.ended_at > c.charged_at, true)
    )
  )
union all
select
  m.user_id,
  c.charged_at,
  'charged_twice',
  m.gateway_subscription_id,
  c.gateway_payment_id,
  c.amount,
  c.period_start,
  c.period_end
from private.gateway_subscriptions m
join private.gateway_charges c
  on c.user_id = m.user_id
  and c.gateway_subscription_id = m.gateway_subscription_id
where c.period_end > (select private.clock())
  and (c.amount is null or c.refunded_amount < c.amount)
  and m.ended_at is null
  and exists (
    select
    from private.gateway_subscriptions newer
    join private.gateway_charges n
      on n.user_id = newer.user_id
      and n.gateway_subscription_id = newer.gateway_subscription_id
    where newer.user_id = m.user_id
      and newer.plan_id = m.plan_id
      and newer.gateway_subscription_id <> m.gateway_subscription_id
      and newer.ended_at is null
      and (n.amount is null or n.refunded_amount < n.amount)
      and n.period_start < c.period_end
      and n.period_end > c.period_start
      -- Of two in one second the one that goes on is the newer one.
      and (n.charged_at, newer.status is distinct from 'cancelled', newer.gateway_subscription_id)
        > (c.charged_at, m.status is distinct from 'cancelled', m.gateway_subscription_id)
      -- The customer may start another one after a cancellation.
      and coalesce(m.user_cancelled_at > n.charged_at, true)
      and coalesce(m.cancelled_at > n.charged_at, true)
      -- Subscriptions that the app makes itself may overlap on purpose.
      and exists (
        select
        from private.subscription_orders o
        where o.user_id = m.user_id
          and o.gateway_subscription_id in (m.gateway_subscription_id, newer.gateway_subscription_id)
      )
      -- The customer changed to another plan in between, and back.
      and not exists (
        select
        from private.sources other
        where other.user_id = m.user_id
          and other.plan_id is distinct from m.plan_id
          and other.kind in ('payment', 'gateway_subscription')
          and other.since between c.charged_at and n.charged_at
      )
  );
comment on view private.unexpected_charges is
  'Charges of a gateway subscription after its user cancelled it, or after a newer purchase replaced it; and of two gateway '
  'subscriptions to one plan that were charged for the same time the charge of the older one (charged_twice): the service '
  'cancels it. Else cancel it at the gateway. If the customer asks for it, refund the charge, which ends the finding.';

revoke execute on all functions in schema private from public;
