-- Subscriptions that the gateway bills: their start, the verification of their first payment, and changes of the plan.
-- Contract: POST /api/subscriptions, POST /api/subscriptions/change.

-- The result of create_subscription.
create function billing.requested_answer(p_outcome text, p_request billing.gateway_subscriptions, p_plan public.plans)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'outcome', p_outcome, 'id', p_request.id, 'gateway_plan_id', p_request.asked_gateway_plan_id,
    'billing_cycles', coalesce(
      p_plan.billing_cycles, greatest(120 / billing.sold_months(p_plan.duration_months), 1)
    ),
    'expire_by', extract(epoch from p_request.expires_at)::bigint,
    'start_at', extract(epoch from p_request.starts_at)::bigint,
    'gateway_subscription_id', p_request.gateway_subscription_id, 'short_url', p_request.short_url,
    'status', coalesce(
      p_request.gateway_status, p_request.status, case when p_request.stops_at is null then 'created' else 'cancelled' end
    ),
    'plan', to_jsonb(p_plan),
    'price', billing.offer_answer(
      p_request.asked_plan_id, p_request.asked_tier, p_request.asked_price, p_request.asked_gateway_plan_id
    ),
    'running', billing.running(p_request.user_id)
  );
end $$;

-- Returns when a request was made, by the clock of then. asked_at is its place among the acts that are known, and may lie ahead.
create function billing.made_at(p_request billing.gateway_subscriptions)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return p_request.expires_at - interval '24 hours'; end $$;

-- Returns whether the gateway may still answer a request. One that was made while the clock was ahead has ended.
create function billing.is_in_flight(p_request billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_request.gateway_subscription_id is null
    and billing.made_at(p_request) > billing.clock() - interval '30 seconds'
    and billing.made_at(p_request) < billing.clock() + interval '30 seconds';
end $$;

-- Returns the user's open request of a subscription at a price, else a new one to make at the gateway. The caller holds the
-- lock on the user.
create function billing.request_subscription(
  p_user_id uuid,
  p_plan public.plans,
  p_request billing.gateway_subscriptions, -- that the idempotency key names
  p_idempotency_key text,
  p_gateway_key_id text,
  p_starts_at timestamptz default null, -- null: at the authorisation
  p_replaces text default null, -- the gateway subscription that ends when this one starts
  p_payment_id uuid default null -- pays for the time until p_starts_at
)
returns jsonb -- as public.create_subscription
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_request billing.gateway_subscriptions := p_request;
  v_refusal jsonb;
  v_sold constant billing.price := billing.price_of(p_plan);
  v_is_trial boolean := false;
begin
  if v_request.id is null then
    select * into v_request
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and (m.asked_plan_id, m.asked_gateway_plan_id) = (p_plan.id, p_plan.gateway_plan_id)
      and m.asked_price is not distinct from v_sold
      and m.replaces is not distinct from p_replaces
      and m.payment_id is not distinct from p_payment_id
      and coalesce(m.gateway_key_id = p_gateway_key_id, true)
      and billing.made_at(m) > v_now - interval '30 minutes'
      and num_nonnulls(m.undone_at, m.stops_at) = 0
      and not billing.is_known(m)
      and (m.gateway_subscription_id is not null or billing.is_in_flight(m))
    order by m.gateway_subscription_id is not null desc, m.asked_at desc
    limit 1;
  elsif v_request.gateway_subscription_id is null and not billing.is_in_flight(v_request) then
    -- It ended without an answer of the gateway. What it may have made there expires without an authorisation.
    perform billing.forget_request(v_request.id);
    v_request := null;
  end if;
  if v_request.id is not null then
    if v_request.gateway_subscription_id is null then return jsonb_build_object('outcome', 'in_flight'); end if;
    if p_idempotency_key is not null and p_idempotency_key <> all (v_request.idempotency_keys) then
      if cardinality(v_request.idempotency_keys) = 20 then
        return billing.rate_limited(billing.made_at(v_request) + interval '30 minutes');
      end if;
      update billing.gateway_subscriptions m
      set idempotency_keys = m.idempotency_keys || p_idempotency_key
      where m.id = v_request.id;
    end if;
    return billing.requested_answer('existing', v_request, p_plan);
  end if;

  v_refusal := billing.rate_limited((
    select billing.made_at(m) + interval '1 hour'
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.asked_plan_id is not null
    order by m.expires_at desc
    offset 9
    limit 1
  ));
  if v_refusal is not null then return v_refusal; end if;
  if p_starts_at is null and p_plan.trial_days > 0 and billing.may_try(p_user_id) then
    p_starts_at := date_trunc('second', v_now) + make_interval(hours => 24 * p_plan.trial_days);
    v_is_trial := true;
  end if;
  insert into billing.gateway_subscriptions (
    user_id, asked_at, asked_plan_id, asked_tier, asked_gateway_plan_id, asked_price, gateway_key_id, idempotency_keys,
    expires_at, starts_at, is_trial, replaces, payment_id, next_check_at
  )
  values (
    p_user_id, greatest(v_now, billing.last_act_at(p_user_id) + interval '1 microsecond'),
    p_plan.id, p_plan.tier, p_plan.gateway_plan_id, v_sold, p_gateway_key_id,
    array_remove(array[p_idempotency_key], null), v_now + interval '24 hours', p_starts_at, v_is_trial, p_replaces, p_payment_id,
    v_now + interval '25 hours'
  )
  returning * into v_request;
  return billing.requested_answer('created', v_request, p_plan);
end $$;

create function public.create_subscription(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- under which it is made; null: those of any are given again
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: created | existing, id, gateway_plan_id, billing_cycles, expire_by, start_at (Unix seconds; null: at once),
-- gateway_subscription_id, short_url, status, plan, price, running: {tier, until, early_renewal, price} | null},
-- {outcome: plan_not_found | not_at_gateway | price_conflict | user_not_found | in_flight | key_conflict |
-- already_subscribed},
-- {outcome: rate_limited, retry_after}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_request billing.gateway_subscriptions;
begin
  perform billing.begin_request('subscription', p_idempotency_key);
  -- Of two requests at once the second waits here and finds what the first wrote.
  if billing.lock_user(p_user_id) is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  select * into v_request
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id and p_idempotency_key = any (m.idempotency_keys);
  if coalesce((v_request.asked_price).lookup_key, v_request.asked_tier) <> coalesce(p_price, p_tier) then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_request.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  if v_plan.gateway_plan_id is null then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  if v_request.id is null and exists (
    select from billing.find_billed(p_user_id) b
    join billing.gateway_subscriptions m
      on m.user_id = p_user_id
      and m.gateway_subscription_id = b.gateway_subscription_id
    -- Without a plan of ours it has that of what it is attached to.
    cross join billing.find_commitment(p_user_id) own
    where coalesce(b.plan_id, case when own.gateway_subscription_id = b.id then own.plan_id end) = v_plan.id
      and b.goes_on
      and m.stops_at is null
      and m.gateway_status is distinct from 'halted'
  ) then
    return jsonb_build_object('outcome', 'already_subscribed');
  end if;
  return billing.request_subscription(p_user_id, v_plan, v_request, p_idempotency_key, p_gateway_key_id);
end $$;
comment on function public.create_subscription is 'A user''s open subscription to a tier, or one to make at the gateway.';

-- What was made for a request that was withdrawn or forgotten in the meantime is cancelled, so that it is never authorised.
create function public.store_subscription(
  p_id uuid,
  p_gateway_subscription_id text default null, -- null: the gateway made none
  p_short_url text default null
)
returns jsonb -- {outcome: stored | withdrawn | discarded | order_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_user_id constant uuid := (select m.user_id from billing.gateway_subscriptions m where m.id = p_id);
begin
  if p_gateway_subscription_id is null then
    perform billing.forget_request(p_id);
    return jsonb_build_object('outcome', 'discarded');
  end if;
  perform billing.lock_user(v_user_id);
  update billing.gateway_subscriptions m
  set gateway_subscription_id = p_gateway_subscription_id,
    short_url = p_short_url,
    next_check_at = billing.clock() + interval '10 minutes'
  where m.id = p_id
    and coalesce(m.gateway_subscription_id = p_gateway_subscription_id, true)
    -- A row that was written by hand may name it already.
    and not exists (
      select from billing.gateway_subscriptions o
      where o.user_id = m.user_id and o.gateway_subscription_id = p_gateway_subscription_id and o.id <> m.id
    );
  if not found then
    -- A stop at once stays: its user was deleted.
    perform billing.send_stop(p_gateway_subscription_id, row(billing.clock(), true, false, 'expired')::billing.stop)
    where not exists (
      select from billing.outbox o
      where o.key = 'cancel-subscription/' || p_gateway_subscription_id and o.payload @> '{"at_cycle_end": false}'
    );
    return jsonb_build_object('outcome', 'order_not_found');
  end if;
  perform billing.plan(v_user_id);
  return (
    select jsonb_build_object('outcome', case when m.stops_at is null then 'stored' else 'withdrawn' end)
    from billing.gateway_subscriptions m
    where m.id = p_id
  );
end $$;
comment on function public.store_subscription is 'Stores what the gateway made for a request, or forgets the request.';

-- Forgets a request that can no longer be authorised, or for which the gateway made no subscription.
-- Security definer: service_role may delete no subscription.
create function billing.forget_request(p_id uuid)
returns boolean -- whether it was one
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from billing.gateway_subscriptions m
  where m.id = p_id
    and (m.gateway_subscription_id is null or m.expires_at <= billing.clock())
    and not billing.is_known(m);
  return found;
end $$;

-- Without the gateway's answer it says whether one is needed. Contract: POST /api/payments/verify.
create function public.verify_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_payment_id text, -- its signature was checked by the route
  p_entity text default null, -- the subscription at the gateway, JSON; null: not read yet
  p_payment text default null -- the payment at the gateway, JSON; null: not read, or unknown there
)
returns jsonb
-- {outcome: applied | already_applied, tier, valid_until, starts_at (null: it runs)},
-- {outcome: unread | refunded | subscription_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_payment constant jsonb := p_payment::jsonb;
  v_subscription billing.gateway_subscriptions;
  v_is_applied boolean := false;
begin
  perform billing.begin_request('payment', p_payment_id);
  perform billing.lock_gateway_payment(p_payment_id);
  perform billing.lock_user(p_user_id);
  select * into v_subscription
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id and m.asked_plan_id is not null
  for update;
  if not found then return jsonb_build_object('outcome', 'subscription_not_found'); end if;

  if v_subscription.period_end is null or v_subscription.is_trial and v_subscription.authenticated_at is null then
    if p_entity is null then return jsonb_build_object('outcome', 'unread'); end if;
    v_is_applied := billing.apply_request_state(
      v_subscription, p_entity::jsonb, case
        when billing.json_text(v_payment -> 'id') = p_payment_id
          and billing.json_text(v_payment -> 'status') in ('captured', 'refunded')
          and billing.json_integer(v_payment -> 'amount') is not null
          then v_payment
      end, false
    );
    -- The gateway may need a moment. Its events or the next reconciliation tell.
    update billing.gateway_subscriptions m
    set next_check_at = least(m.next_check_at, billing.clock() + interval '1 minute')
    where m.id = v_subscription.id
    returning * into v_subscription;
  end if;
  -- A signature never expires. So it does not count after a refund, or after a cancellation at once.
  if v_subscription.ended_at is not null or exists (
    select from public.payments c
    where c.gateway_payment_id = p_payment_id and billing.is_refunded(c)
  ) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_applied then 'applied' else 'already_applied' end,
    'tier', v_subscription.asked_tier, 'valid_until', billing.iso_time(v_subscription.period_end),
    'starts_at', case when v_subscription.period_end is null then billing.iso_time(v_subscription.starts_at) end
  );
end $$;
comment on function public.verify_subscription is 'Grants the first cycle of a subscription that was authorised, once.';

-- The terms of a change, which adds a purchase, a subscription at the gateway, or both.
create type billing.change as (
  outcome text, -- change | undo | too_late | not_now | plan_not_found | price_conflict | already_subscribed |
  -- subscription_not_found | unread
  unread uuid, -- see billing.find_credit
  reason text, -- of not_now: currency | downgrade | credit
  plan public.plans, -- the row to sell
  from_tier text,
  from_price text, -- the lookup key of what the user pays for; null: nothing was sold by a price
  order_start text, -- the order to pay: now or after_current; null: none
  is_billed boolean, -- the gateway bills a new subscription
  replaces text, -- the subscription that ends when the new one starts
  renews uuid, -- the payment after whose period the new subscription is charged
  starts_at timestamptz, -- when the new tier begins
  ends_at timestamptz, -- the end of its first period
  credit bigint, -- minor currency units
  amount_due bigint, -- minor currency units
  due_at timestamptz, -- when amount_due is paid; null: nothing is due
  next_charge_at timestamptz, -- the first charge after what is paid now; null: none
  next_amount bigint -- of that charge, minor currency units
);

-- Sets the terms of a change that withdraws the one that waits: what the user pays for goes on.
create function billing.undo_change(p_change billing.change, p_from billing.commitment)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_sold constant billing.price := case when (p_from.sold).amount is null then billing.price_of(p_change.plan) else p_from.sold end;
  v_kept billing.stoppable;
begin
  p_change.outcome := 'undo';
  p_change.is_billed := false;
  p_change.credit := 0;
  p_change.amount_due := 0;
  p_change.starts_at := p_from.ends_at;
  -- What goes on is what was sold, also if its price was edited since.
  p_change.plan.currency := v_sold.currency;
  p_change.ends_at := billing.add_months(p_from.ends_at, v_sold.months);
  -- Without the change an earlier cancellation counts again, and a purchase that replaced what goes on.
  select s.* into v_kept
  from billing.stoppable s
  where (s.user_id, s.gateway_subscription_id) = (p_from.user_id, p_from.gateway_subscription_id);
  v_kept.succeeded_at := null;
  p_change.next_charge_at := case
    when (billing.find_stop(v_kept)).stops_at is null and billing.has_next_charge(v_kept.subscription) then p_from.ends_at
  end;
  p_change.next_amount := v_sold.amount;
  if p_from.undo_until is null then
    -- What runs ends, so what follows it must start.
    p_change.outcome := 'too_late';
    p_change.starts_at := (p_from.next).starts_at;
  end if;
  return p_change;
end $$;

create function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean -- whether the gateway was read: else the outcome may be unread
)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_from constant billing.commitment := billing.find_commitment(p_user_id);
  v_held constant billing.ranked_price := billing.rank_commitment(v_from);
  v_is_same constant boolean := coalesce(v_held.plan_id = v_plan.id, false); -- a renewal, not a change
  v_is_undo constant boolean := v_is_same and (v_from.next).id is not null;
  v_credit record;
  v_change billing.change;
begin
  v_change.outcome := case
    -- What a customer has is undone to, also where it is off sale.
    when v_plan.id is null or not v_is_undo and not billing.is_on_offer(v_plan) then 'plan_not_found'
    when v_plan.tier <> p_tier then 'price_conflict'
    -- In the days of grace nothing has an end to wait for. While a charge is under way, another payment might be one too much.
    when v_held.plan_id is null or v_from.ends_at <= v_now and (p_when <> 'now' or coalesce(v_from.charge_at <= v_now, false))
      then 'subscription_not_found'
  end;
  if v_change.outcome is not null then return v_change; end if;
  v_change.plan := v_plan;
  v_change.from_tier := v_from.tier;
  v_change.from_price := case when (v_from.sold).amount is not null then coalesce((v_from.sold).lookup_key, v_from.tier) end;
  if v_is_undo then return billing.undo_change(v_change, v_from); end if;

  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_when = 'now';
  v_change.unread := v_credit.unread;
  -- Why it cannot begin before the end of the period.
  v_change.reason := case
    when p_when <> 'now' or v_is_same then null
    when (v_held.price).currency <> v_plan.currency then 'currency'
    when v_held.tier = v_plan.tier and billing.compare_prices(v_held, billing.rank_plan(v_plan)) = 'downgrade' then 'downgrade'
    when v_credit.is_excess then 'credit'
  end;
  v_change.outcome := case
    when v_change.reason is not null then 'not_now'
    when v_is_same and v_from.gateway_subscription_id is not null then 'already_subscribed'
    -- It waits already: asked for again it changes nothing.
    when p_when = 'period_end' and v_plan.id = coalesce((v_from.next).plan_id, (v_from.next).asked_plan_id) then 'already_subscribed'
    -- A purchase of the tier outlasts what the gateway charges: nothing more is to be charged for that time.
    when p_when = 'period_end'
      and num_nonnulls(v_plan.gateway_plan_id, v_from.gateway_subscription_id) = 2
      and exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.kind = 'payment'
          and s.tier = v_plan.tier
          and s.ends_at > v_from.ends_at
          and (s.is_running or s.is_upcoming)
      )
      then 'already_subscribed'
    when v_credit.unread is not null and not p_is_read then 'unread'
    else 'change'
  end;
  -- A renewal that the customer cancelled or never authorised is made again. A change of one that waits renews the same
  -- purchase.
  if p_when = 'period_end' and (
    v_from.kind = 'renewal'
    or v_from.kind = 'purchase' and v_is_same and exists (
      select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.payment_id::text = v_from.id
    )
  ) then
    v_change.renews := v_from.paid_by_id::uuid;
  end if;
  v_change.is_billed := v_plan.gateway_plan_id is not null and num_nonnulls(v_from.gateway_subscription_id, v_change.renews) > 0;

  v_change.credit := coalesce(v_credit.credit, 0);
  v_change.starts_at := v_now;
  v_change.due_at := v_now;
  if p_when = 'now' then
    if not v_change.is_billed or v_change.credit > 0 then v_change.order_start := 'now'; end if;
  elsif v_change.is_billed then
    v_change.replaces := v_from.gateway_subscription_id;
    v_change.starts_at := v_from.ends_at;
    v_change.due_at := v_from.ends_at;
    -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
    if v_change.outcome = 'change' and v_change.replaces is not null and v_change.starts_at < v_now + interval '80 hours' then
      v_change.outcome := 'too_late';
    end if;
  else
    v_change.order_start := 'after_current';
    v_change.starts_at := coalesce(
      (billing.find_followed(p_user_id, v_plan.tier, null, null, v_change.order_start, null)).ends_at, v_now
    );
  end if;
  v_change.ends_at := billing.add_months(v_change.starts_at, billing.sold_months(v_plan.duration_months));
  v_change.amount_due := v_plan.price - v_change.credit;
  v_change.next_charge_at := case
    when v_change.is_billed then case p_when when 'now' then v_change.ends_at else v_change.starts_at end
  end;
  v_change.next_amount := v_plan.price;
  return v_change;
end $$;

-- Enqueues the mail about a change at the end of the period, once it is authorised, or about the renewal of a purchase that is
-- made again after its cancellation. The caller has settled the user's access.
create function billing.announce_change(
  p_subscription billing.gateway_subscriptions, -- that starts then
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_undo_until timestamptz;
  v_wish_id bigint;
begin
  -- The outbox remembers a mail for at least that long.
  if p_subscription.asked_at <= billing.clock() - interval '30 days' then return; end if;
  select w.id into v_wish_id
  from public.payments p
  join billing.wishes w on w.user_id = p.user_id and w.at >= p.since
  where p.id = p_subscription.payment_id
    and p_subscription.replaces is null
    and w.at_period_end
    and w.withdrawn_at is null
    and billing.is_renewed_since(p.id, w.at)
  order by w.at desc
  limit 1;
  if found then
    perform billing.withdraw_mails(array['subscription-cancelled/' || v_wish_id]);
    perform billing.announce_going_on(p_subscription.user_id, p_email, 'subscription-resumed', v_wish_id::text);
    return;
  end if;
  select b.undo_until into v_undo_until
  from billing.find_billed(p_subscription.user_id) b
  where (b.next).id = p_subscription.id;
  if not found then return; end if;
  -- Of several changes the newest one counts.
  perform billing.withdraw_outlook(p_subscription.user_id, 'change-scheduled/' || p_subscription.gateway_subscription_id);
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email, 'change-scheduled', p_subscription.gateway_subscription_id,
    jsonb_build_object(
      'plan_name', billing.plan_name(p_subscription.asked_plan_id, p_subscription.asked_tier),
      'amount', (p_subscription.asked_price).amount, 'currency', (p_subscription.asked_price).currency,
      'starts_at', billing.iso_time(p_subscription.starts_at), 'undo_until', billing.iso_time(v_undo_until)
    ) || billing.interval_answer((p_subscription.asked_price).months)
  );
end $$;

-- Enqueues the mail that what the customer pays for goes on: after a resumption, or after a change was undone. The caller has
-- settled the user's access.
create function billing.announce_going_on(
  p_user_id uuid,
  p_email text, -- of the user
  p_kind text, -- subscription-resumed or change-undone
  p_subject text -- with the kind, the key
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_commitment constant billing.commitment := billing.find_commitment(p_user_id);
  v_next_tier constant text := billing.next_change(p_user_id) ->> 'tier';
begin
  perform billing.enqueue_mail(p_user_id, p_email, p_kind, p_subject, jsonb_build_object(
    'plan_name', billing.plan_name(v_commitment.plan_id, v_commitment.tier),
    -- The end of what runs, where nothing is charged for what follows.
    'valid_until', billing.iso_time(v_commitment.ends_at)
  ) || billing.outlook(p_user_id) || case
    -- A change that waits goes on, too.
    when v_next_tier is not null then jsonb_build_object('next_plan_name', billing.plan_name(null, v_next_tier))
    else '{}'
  end);
end $$;

-- Enqueues the mail about a change that was authorised, and that the gateway has cancelled before its start without being told
-- to: what the customer pays for goes on. The caller has settled the user's access.
create function billing.announce_lost_change(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_subscription.authenticated_at is null
    or num_nonnulls(p_subscription.undone_at, p_subscription.stops_at) > 0
    or (p_subscription.starts_at > billing.clock()) is not true
    or not exists (
      select from billing.find_billed(p_subscription.user_id) b where b.id = p_subscription.replaces and b.goes_on
    )
  then
    return;
  end if;
  perform billing.withdraw_outlook(p_subscription.user_id);
  perform billing.announce_going_on(p_subscription.user_id, p_email, 'change-undone', p_subscription.id::text);
end $$;

-- Enqueues the mail that something else goes on, and what is charged next, because a payment was taken back, or is kept after
-- all: of one that is kept also that nothing is, since its renewal was stopped. The caller has settled the user's access.
create function billing.announce_other_charge(
  p_payment public.payments,
  p_email text, -- of the user
  p_before jsonb, -- billing.next_charge_answer, before
  p_is_kept boolean -- false: it is taken back
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_after constant jsonb := billing.next_charge_answer(p_payment.user_id);
begin
  if v_after is distinct from p_before and (v_after is not null or p_is_kept) then
    perform billing.withdraw_outlook(p_payment.user_id);
    perform billing.withdraw_mails(array['plan-changed/' || p_payment.id]);
    perform billing.announce_going_on(p_payment.user_id, p_email, 'change-undone', n.subject)
    from billing.other_charge_subjects(p_payment.id) n (subject)
    where not exists (select from billing.outbox o where o.key = 'change-undone/' || n.subject)
    limit 1;
  end if;
end $$;

-- Returns the terms of a change in answers, or why it is refused.
create function billing.change_answer(p_change billing.change)
returns jsonb -- see public.preview_change
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_change.outcome = 'unread' then return billing.unread_answer(p_change.unread); end if;
  if p_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', p_change.outcome,
      'reason', p_change.reason,
      'possible_from', case when p_change.outcome = 'too_late' then billing.iso_time(p_change.starts_at) end
    ));
  end if;
  return jsonb_build_object(
    'outcome', p_change.outcome, 'order_start', p_change.order_start, 'is_billed', p_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', p_change.amount_due, 'due_at', billing.iso_time(p_change.due_at), 'credit', p_change.credit,
      'currency', (p_change.plan).currency,
      'starts_at', billing.iso_time(p_change.starts_at),
      'ends_at', billing.iso_time(p_change.ends_at),
      'from', p_change.from_tier,
      'to', (p_change.plan).tier,
      'from_price', p_change.from_price,
      'to_price', coalesce((p_change.plan).lookup_key, (p_change.plan).tier),
      'renews', p_change.is_billed or p_change.next_charge_at is not null,
      'next_charge', case
        when p_change.next_charge_at is not null
          then jsonb_build_object('at', billing.iso_time(p_change.next_charge_at), 'amount', p_change.next_amount)
      end
    )
  );
end $$;

create function public.preview_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text default null, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean default true -- see billing.plan_change
)
returns jsonb
-- {outcome: change | undo, order_start: now | after_current | null, is_billed, change: {amount_due, due_at, credit, currency,
-- starts_at, ends_at, from, to, from_price, to_price, renews, next_charge: {at, amount} | null}},
-- {outcome: plan_not_found | price_conflict | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason: currency | downgrade | credit}, {outcome: too_late, possible_from},
-- {outcome: unread, subscription}: see billing.unread_answer
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$ begin return billing.change_answer(billing.plan_change(p_user_id, p_tier, p_when, p_price, p_is_read)); end $$;
comment on function public.preview_change is 'What a change of the plan would cost, and when it begins.';

create function public.create_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_payment_id uuid default null, -- pays for the first period
  p_gateway_key_id text default null,
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- as create_subscription, or {outcome: undone | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason}, {outcome: too_late, possible_from}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_change billing.change;
  v_undone_id uuid;
begin
  perform billing.begin_request('change', null);
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  v_change := billing.plan_change(p_user_id, p_tier, p_when, p_price, true);
  if v_change.outcome = 'undo' then
    with undone as (
      update billing.gateway_subscriptions m
      set undone_at = billing.clock()
      where m.user_id = p_user_id and m.replaces is not null and m.starts_at > billing.clock() and m.undone_at is null
      returning m.id, m.asked_at
    )
    select u.id into v_undone_id from undone u order by u.asked_at desc, u.id limit 1;
    perform billing.withdraw_outlook(p_user_id);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(p_user_id, v_email, 'change-undone', v_undone_id::text);
    return jsonb_build_object('outcome', 'undone');
  end if;
  if v_change.outcome <> 'change' then return billing.change_answer(v_change); end if;
  if not v_change.is_billed then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  return billing.request_subscription(
    p_user_id, v_change.plan, null, null, p_gateway_key_id,
    case
      -- The order was sold for a time of its own, also if no credit is left by now.
      when p_payment_id is not null then (
        select coalesce(p.period_end, billing.add_months(billing.clock(), p.duration_months))
        from public.payments p
        where p.id = p_payment_id
      )
      when p_when = 'period_end' then v_change.starts_at
    end,
    v_change.replaces, coalesce(p_payment_id, v_change.renews)
  );
end $$;
comment on function public.create_change is 'The subscription to make for a change of the plan, or undoes the change.';

revoke execute on function
  public.create_subscription, public.store_subscription, public.verify_subscription, public.preview_change,
  public.create_change
from public, anon, authenticated;
grant execute on function
  public.create_subscription, public.store_subscription, public.verify_subscription, public.preview_change,
  public.create_change
to service_role;
