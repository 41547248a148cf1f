-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create or replace function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.updated_at is not distinct from old.updated_at then
    new.updated_at := billing.clock();
  end if;
  -- A row that was written by hand was not sold by a price.
  select null, null, null, null into new.price_key, new.price_amount, new.currency, new.duration_months;
  -- The entitlements of what ruled before are not those of another plan.
  if tg_op = 'UPDATE' and (new.tier, new.plan_id) is distinct from (old.tier, old.plan_id)
    and new.entitlements is not distinct from old.entitlements
  then
    new.entitlements := null;
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, billing.clock());
  new.due_at := case when new.status = 'active' then least(new.due_at, billing.clock()) else billing.next_start(new.user_id) end;
  delete from billing.manual_subscriptions w where w.user_id = new.user_id;
  insert into billing.manual_subscriptions (
    user_id, plan_id, tier, status, period_start, period_end, gateway_subscription_id, cancel_at_period_end,
    ended_at, ended_reason, at, entitlements
  )
  values (
    new.user_id, new.plan_id, new.tier, new.status, new.current_period_start, new.current_period_end,
    new.gateway_subscription_id, new.cancel_at_period_end,
    case when new.status = 'cancelled' then coalesce(new.cancelled_at, billing.clock()) end,
    new.ended_reason, billing.clock(), new.entitlements
  );
  -- A subscription in the mirror is reconciled, and is cancelled at the gateway when another source replaces it.
  if new.gateway_subscription_id is not null then
    insert into billing.gateway_subscriptions as g (
      user_id, gateway_subscription_id, period_start, period_end, next_check_at, asked_at, written_at
    )
    values (
      new.user_id, new.gateway_subscription_id, new.current_period_start, new.current_period_end,
      -- Of a row without an end the gateway knows it.
      coalesce(new.current_period_end - interval '1 day', billing.clock()), billing.clock(), billing.clock()
    )
    on conflict (user_id, gateway_subscription_id) do update
    set written_at = case
        -- A longer period alone is no act of the customer.
        when new.gateway_subscription_id = old.gateway_subscription_id then g.written_at
        else excluded.written_at
      end,
      (period_start, period_end, next_check_at) = (
        select
          case when known.is_kept then g.period_start else excluded.period_start end,
          case when known.is_kept then g.period_end else excluded.period_end end,
          case when known.is_kept then g.next_check_at else excluded.next_check_at end
        from (
          -- Nor does the gateway charge later for it.
          select g.arrived_at is not null or (g.period_end between billing.clock() and excluded.period_end) is true as is_kept
        ) known
      );
  end if;
  return new;
end $$;

-- Returns what was refunded of the payment that a source is, or of the newest refunded cycle.
create or replace function billing.refund_of(p_source billing.sources)
returns jsonb -- {amount, currency}, in minor currency units; {}: nothing
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select jsonb_build_object('amount', p.refunded_amount, 'currency', p.currency)
    from public.payments p
    where p.user_id = p_source.user_id
      and p.refunded_amount > 0
      and (p.id::text = p_source.id or p.gateway_subscription_id = p_source.gateway_subscription_id)
      -- Else the rest was lost in a dispute.
      and billing.lost_amount(p.gateway_payment_id) = 0
    order by p.period_end desc nulls last
    limit 1
  ), '{}');
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
    -- What was not charged in time has lapsed with what it goes on from, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.is_running
          and (
            s.kind = 'manual' and s.gateway_subscription_id = b.id
            or s.kind = coalesce(b.paid_by_kind, 'gateway_subscription')
            and s.id = coalesce(b.paid_by_id, (
              select m.replaces from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (p_user_id, b.id)
            ))
          )
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached, or of the row by hand that names it.
  if v_found.id is not null then v_ruling := billing.find_shown(p_user_id); end if;
  if v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
    select s, true into v_ruling.source, v_ruling.is_live
    from billing.sources s
    where s.user_id = p_user_id and s.kind = 'manual' and s.gateway_subscription_id = v_found.id and s.is_running;
    v_ruling := billing.attach_gateway_subscription(v_ruling);
  end if;
  if v_found.id is null or v_ruling.is_live is not true then
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
  -- Before its first event the gateway charges the price that the row by hand names.
  if v_source.kind = 'manual' and v_found.goes_on then
    v_found.sold := (select billing.price_of(p) from public.plans p where p.id = v_source.plan_id and p.tier = v_source.tier);
  end if;
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create or replace function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
  p_payment jsonb, -- that failed; null: the event names none
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  -- The end of the paid time: of a change of plan before its first charge the end of what it follows.
  v_paid_until constant timestamptz := coalesce(p_subscription.period_end, case
    when num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0 then p_subscription.starts_at
  end);
  v_access_ends_at timestamptz;
begin
  -- Without a paid cycle there is no access that ends.
  if p_subscription.gateway_status is distinct from p_status or v_paid_until is null
    -- The customer cancelled it at once, and knows.
    or p_subscription.ended_at is not null
    -- Its last charge will say until when it is paid.
    or p_status = 'completed' and billing.unnamed_cycles(p_subscription) > 0
  then
    return;
  end if;
  v_access_ends_at := billing.access_end(p_subscription);
  -- A refund ends it when it arrives.
  if v_access_ends_at <= billing.clock() then
    v_access_ends_at := greatest(v_access_ends_at, (
      select s.cancelled_at from public.subscriptions s where s.user_id = p_subscription.user_id and s.status = 'cancelled'
    ));
  end if;
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged.
    concat_ws('/', v_id, case when p_status <> 'completed' then billing.iso_time(v_paid_until) end),
    jsonb_build_object(
      'access_ends_at', billing.iso_time(v_access_ends_at),
      -- The last of the attempts often fails in the moment in which the days of grace are over.
      'is_ended', coalesce(v_access_ends_at <= billing.clock(), false),
      'amount', coalesce(billing.json_integer(p_payment -> 'amount'), (p_subscription.sold).amount),
      'currency', billing.charged_currency(p_payment, (p_subscription.sold).currency),
      'manage_url', p_subscription.short_url,
      'ends_at', billing.iso_time(v_paid_until)
    ),
    p_subscription.plan_id
  );
end $$;

revoke execute on all functions in schema billing from public;
