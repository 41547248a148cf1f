-- What a client asks for: plans, subscription, order, verification; and how a payment becomes a source of access.

-- The subscription, tier and newest payments of a user. Contract: GET /api/subscriptions.
-- API: service_role only.

-- json, not jsonb: it is built to be sent, never looked into.
create function public.get_subscription(
  p_user_id uuid
)
returns json -- {subscription, currentTier, payments}: the answer itself
language plpgsql -- which keeps its plan
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  return row_to_json(answer)
  from (
    select
      (
        select record
        from (
          select
            s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
            s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
            row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(
        (select p.subscription_tier from public.profiles p where p.user_id = p_user_id),
        'free'
      ) as "currentTier",
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.gateway_order_id,
            p.gateway_payment_id, p.gateway_signature, p.meta, p.captured_at, p.confirmed_at, p.fulfilled_at,
            p.period_start, p.period_end, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments
  ) answer;
end
$$;
comment on function public.get_subscription(uuid) is 'A user''s subscription with its plan, current tier and ten newest payments.';
revoke execute on function public.get_subscription(uuid) from public, anon, authenticated;
grant execute on function public.get_subscription(uuid) to service_role;

-- What is on offer. GET /api/subscriptions/plans.
-- API: service_role only.

create function public.list_plans()
returns jsonb -- {plans}: the answer itself, cheapest first
language sql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
  select jsonb_build_object('plans', coalesce(jsonb_agg(to_jsonb(p) order by p.price, p.tier), '[]'))
  from public.plans p
  where p.is_active
$$;
comment on function public.list_plans() is 'The plans on offer, cheapest first.';
revoke execute on function public.list_plans() from public, anon, authenticated;
grant execute on function public.list_plans() to service_role;

-- Idempotency keys of POST /api/payments/orders.

create table private.order_keys (
  user_id uuid not null constraint order_keys_user_id_fkey references auth.users (id) on delete cascade,
  key text not null constraint order_keys_key_check check (char_length(key) <= 255),
  payment_id uuid not null constraint order_keys_payment_id_fkey references public.payments (id) on delete cascade,
  tier text not null,
  created_at timestamptz not null default private.clock(),
  primary key (user_id, key)
);
create index order_keys_payment_id_idx on private.order_keys (payment_id);
create index order_keys_user_id_created_at_idx on private.order_keys (user_id, created_at desc);
create index order_keys_created_at_idx on private.order_keys (created_at);
alter table private.order_keys enable row level security;
grant select, insert, update on private.order_keys to service_role;
comment on table private.order_keys is
  'Idempotency keys of order requests: the same key is the same order. Kept for 7 days, at most 20 of a user an hour.';

-- Deletes idempotency keys that are older than 7 days, a batch at a time.
create function private.delete_order_keys()
returns integer -- how many were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest('private.order_keys', 'created_at', private.clock() - interval '7 days');
end
$$;

-- Orders: the payment is inserted before the gateway is called, and gets the order's id afterwards.
-- POST /api/payments/orders.

-- An order for a checkout: the user's open one of this tier, else a new payment to order at the gateway.
-- API: service_role only.
create function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null -- under which the order is made; null: orders of any are given again
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, running: {tier, until, early_renewal} | null},
-- {outcome: plan_not_found | user_not_found | in_flight | key_conflict}, {outcome: rate_limited, retry_after}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_plan public.plans;
  v_months integer;
  v_key private.order_keys;
  v_payment public.payments;
  v_retry_after integer;
begin
  perform private.begin_request('order', p_idempotency_key);
  -- Two tabs at once: the second waits here and finds what the first wrote.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_key from private.order_keys k where k.user_id = p_user_id and k.key = p_idempotency_key;
  if v_key.tier <> p_tier then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if p_idempotency_key is not null and v_key.user_id is null then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select k.created_at
      from private.order_keys k
      where k.user_id = p_user_id
        and k.created_at > v_now - interval '1 hour'
      order by k.created_at desc
      limit 20
    ) recent
    having count(*) = 20;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;
  end if;
  select * into v_plan from public.plans p where p.tier = p_tier and (p.is_active or v_key.payment_id is not null);
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  v_months := coalesce(nullif(v_plan.duration_months, 0), 12);

  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_key.payment_id
      or p.tier = p_tier
        and p.amount = v_plan.price
        and p.currency = v_plan.currency
        and coalesce(p.plan_id = v_plan.id and p.duration_months = v_months, true)
        and p.status in ('created', 'failed')
        -- Paid and refunded: the gateway takes no second payment on it.
        and p.refunded_amount = 0
        and not exists (
          select
          from private.gateway_events e
          where e.subject_id = p.gateway_order_id
            and e.event in ('refund.created', 'refund.processed', 'refund.failed')
        )
        and p.created_at > v_now - interval '30 minutes'
    )
    -- A payment without an order after 30 seconds gets none: its request has ended.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
  order by p.id = v_key.payment_id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select p.created_at
      from public.payments p
      where p.user_id = p_user_id
        and p.created_at > v_now - interval '1 hour'
      order by p.created_at desc
      limit 10
    ) recent
    having count(*) = 10;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;

    -- The terms of the sale: a later change of the plan does not change them.
    insert into public.payments (user_id, amount, currency, tier, plan_id, duration_months, gateway_key_id, meta)
    values (
      p_user_id, v_plan.price, v_plan.currency, p_tier, v_plan.id, v_months, p_gateway_key_id,
      jsonb_build_object('tier', p_tier)
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  end if;

  if p_idempotency_key is not null then
    insert into private.order_keys (user_id, key, payment_id, tier)
    values (p_user_id, p_idempotency_key, v_payment.id, p_tier)
    on conflict (user_id, key) do update set payment_id = excluded.payment_id;
  end if;
  return jsonb_build_object(
    'outcome', case when v_payment.gateway_order_id is null then 'created' else 'existing' end,
    'payment_id', v_payment.id,
    'order_id', v_payment.gateway_order_id,
    'amount', v_payment.amount,
    'currency', v_payment.currency,
    'plan', to_jsonb(v_plan),
    'running', (
      select jsonb_build_object(
        'tier', s.tier,
        'until', private.iso_time(s.current_period_end),
        'early_renewal', private.early_renewal()
      )
      from public.subscriptions s
      where s.user_id = p_user_id
        and s.status = 'active'
        and s.current_period_end > v_now
    )
  );
end
$$;
comment on function public.create_order(uuid, text, text, text) is
  'A user''s open order of a tier, or a new payment that is to be ordered at the gateway.';
revoke execute on function public.create_order(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.create_order(uuid, text, text, text) to service_role;

-- Stores the id of the gateway's order. API: service_role only.
create function public.store_order(
  p_payment_id uuid,
  p_order_id text
)
returns jsonb -- {outcome: stored | payment_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform private.begin_request('order', p_order_id);
  -- Events that waited for this order are applied below, under the payment's lock: the user's lock comes before it.
  perform private.lock_user(p.user_id) from public.payments p where p.id = p_payment_id;
  update public.payments p
  set gateway_order_id = p_order_id
  where p.id = p_payment_id
    and (p.gateway_order_id is null or p.gateway_order_id = p_order_id);
  return jsonb_build_object('outcome', case when found then 'stored' else 'payment_not_found' end);
end
$$;
comment on function public.store_order(uuid, text) is 'Notes the gateway''s order id of a payment.';
revoke execute on function public.store_order(uuid, text) from public, anon, authenticated;
grant execute on function public.store_order(uuid, text) to service_role;

-- Security definer: service_role deletes no payments but those that no order was made for.
create function private.delete_unordered(
  p_payment_id uuid
)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from public.payments p
  where p.id = p_payment_id
    and p.status = 'created'
    and p.gateway_order_id is null
    and p.gateway_payment_id is null
$$;
grant execute on function private.delete_unordered(uuid) to service_role;

-- Deletes a payment for which the gateway created no order. API: service_role only.
create function public.discard_order(
  p_payment_id uuid
)
returns jsonb -- {outcome: discarded}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform private.delete_unordered(p_payment_id);
  return jsonb_build_object('outcome', 'discarded');
end
$$;
comment on function public.discard_order(uuid) is 'Forgets a payment that the gateway made no order for.';
revoke execute on function public.discard_order(uuid) from public, anon, authenticated;
grant execute on function public.discard_order(uuid) to service_role;

-- What a captured payment buys: a source of access with its period, once. Contract: POST /api/payments/verify, "Effect".

-- Calendar months in UTC in every time zone of the session, clamped to the last day of the month.
create function private.add_months(
  p_from timestamptz,
  p_months integer
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return (p_from at time zone 'UTC' + make_interval(months => p_months)) at time zone 'UTC';
end
$$;
grant execute on function private.add_months(timestamptz, integer) to service_role;

-- The tier that a payment is for. Contract: "What an order sells".
create function private.tier_bought(
  p_payment public.payments
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(nullif(p_payment.meta ->> 'tier', ''), nullif(p_payment.tier, ''), 'basic');
end
$$;
grant execute on function private.tier_bought(public.payments) to service_role;

-- The plan that a payment is for: the one it was sold as, else today's plan of its tier, on offer or not.
create function private.plan_bought(
  p_payment public.payments
)
returns public.plans -- all null: there is none
language plpgsql
stable
set search_path = ''
as $$
declare
  v_plan public.plans;
begin
  if p_payment.plan_id is null then
    select * into v_plan from public.plans p where p.tier = private.tier_bought(p_payment);
  else
    select * into v_plan from public.plans p where p.id = p_payment.plan_id;
  end if;
  return v_plan;
end
$$;
grant execute on function private.plan_bought(public.payments) to service_role;

-- Lays out the periods of a chain of early renewals: each begins where the one before ends, and a refunded one gives its
-- place to the next. Ends are counted from the first start of a run, so that no short month shortens those after it. The
-- caller holds the user's lock.
create function private.lay_out_chain(
  p_first_payment_id uuid
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_link public.payments;
  v_run_start timestamptz;
  v_shown_start timestamptz;
  v_months integer;
  v_start timestamptz;
  v_end timestamptz;
  v_since timestamptz;
begin
  for v_link in
    select p.*
    from public.payments p
    where (p.id = p_first_payment_id or p.chain_id = p_first_payment_id)
      and p.fulfilled_at is not null
      and p.ended_at is null
    order by p.fulfilled_at, p.since, p.id
  loop
    v_start := greatest(date_trunc('milliseconds', v_link.fulfilled_at), v_link.extends_from);
    if v_end >= v_start then
      v_months := v_months + v_link.duration_months;
      v_start := v_end;
    else
      v_run_start := v_start;
      v_shown_start := case when v_link.extends_from is null then v_start else v_link.chain_start end;
      v_months := v_link.duration_months;
    end if;
    v_end := private.add_months(v_run_start, v_months);
    -- A link rules over the one that it extends, also where that one is verified later.
    v_since := greatest(v_link.since, v_since + interval '1 microsecond');
    update public.payments p
    set period_start = v_start,
      period_end = v_end,
      chain_start = v_shown_start,
      since = v_since
    where p.id = v_link.id
      and (p.period_start, p.period_end, p.chain_start, p.since)
        is distinct from (v_start, v_end, v_shown_start, v_since);
  end loop;
end
$$;
grant execute on function private.lay_out_chain(uuid) to service_role;

-- Settles a user's access after a payment began or ceased to count: lays out the chain of early renewals that it belongs to,
-- then ranks the user's sources. The caller holds the user's lock.
create function private.settle_payment(
  p_payment public.payments,
  p_email text -- of the user
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_payment.chain_id is not null or p_payment.chain_start is not null then
    perform private.lay_out_chain(coalesce(p_payment.chain_id, p_payment.id));
  end if;
  perform private.settle_access(p_payment.user_id, p_email);
end
$$;
grant execute on function private.settle_payment(public.payments, text) to service_role;

-- Captures a payment and makes it a source of access. The caller holds the locks on the user and on the payment.
-- Without a plan for the tier the payment is captured all the same: the money is there. So is one whose user is gone, and
-- one that was refunded in full: they buy nothing.
create function private.fulfil_payment(
  p_payment public.payments, -- with the gateway's payment id as it is to be stored
  p_email text,
  p_signature text, -- null: not verified by the customer
  p_is_confirmed boolean -- the gateway confirms that the money was captured
)
returns jsonb -- {outcome: applied | plan_not_found | refunded | user_gone, tier, valid_until}
language plpgsql
set search_path = ''
as $$
declare
  v_clock constant timestamptz := private.clock();
  v_now constant timestamptz := date_trunc('milliseconds', v_clock);
  v_tier constant text := private.tier_bought(p_payment);
  v_is_refunded constant boolean := p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount;
  v_plan public.plans;
  v_grants boolean;
  v_months integer;
  v_mail jsonb; -- of payment-success, without the fields of the profile. Contract: "E-mails"
  v_valid_until text;
  v_locked record;
  v_newest_at timestamptz; -- of what is known of the user
  v_before public.subscriptions;
  v_found private.ruling;
  v_extended private.sources;
  v_ruling private.ruling := row(null, null, null, 0, 0, 0);
  v_subscription_id uuid;
begin
  -- As private.plan_bought, without a call.
  if p_payment.plan_id is null then
    select * into v_plan from public.plans p where p.tier = v_tier;
  else
    select * into v_plan from public.plans p where p.id = p_payment.plan_id;
  end if;
  v_grants := v_plan.id is not null and p_payment.user_id is not null and not v_is_refunded;
  v_months := coalesce(p_payment.duration_months, nullif(v_plan.duration_months, 0), 12);
  p_payment.since := greatest(p_payment.since, p_payment.created_at, p_payment.verified_at);
  if v_grants then
    select s as subscription,
      exists (select from private.gateway_subscriptions m where m.user_id = p_payment.user_id) as is_mirrored
    into v_locked
    from public.subscriptions s
    where s.user_id = p_payment.user_id
    for update of s;
    v_before := v_locked.subscription;
    v_newest_at := v_before.updated_at;
    if v_locked.is_mirrored is not false then
      select coalesce(max(m.billing), 0), coalesce(max(m.replaced), 0), coalesce(max(m.attaching), 0),
        greatest(v_newest_at, max(m.newest_at))
      into v_ruling.billing, v_ruling.replaced, v_ruling.attaching, v_newest_at
      from private.mirrored m
      where m.user_id = p_payment.user_id;
    end if;
    v_subscription_id := coalesce(v_before.id, gen_random_uuid());
    p_payment.period_start := v_now;
    p_payment.period_end := private.add_months(v_now, v_months);
    p_payment.chain_id := null;
    p_payment.chain_start := null;
    p_payment.extends_from := null;
    if v_before.status = 'active' and private.early_renewal() = 'extend' then
      v_found := private.find_ruling(p_payment.user_id);
      v_extended := v_found.source;
      if v_before.current_period_end > v_now then
        v_extended.tier := v_before.tier;
        v_extended.starts_at := v_before.current_period_start;
        v_extended.ends_at := v_before.current_period_end;
      elsif not v_found.is_live then
        -- Otherwise the row is stale: its source lapsed, the sweep did not expire it yet, and another source rules.
        v_extended.tier := null;
      end if;
    end if;
    if v_extended.tier = v_tier and v_extended.ends_at > v_now then
      if v_extended.kind = 'payment' then
        -- What extends a payment rules over it, also where its order is older.
        p_payment.since := greatest(p_payment.since, v_extended.since + interval '1 microsecond');
        select coalesce(p.chain_id, p.id) into p_payment.chain_id
        from public.payments p
        where p.id = v_extended.id::uuid;
      else
        p_payment.extends_from := date_trunc('milliseconds', v_extended.ends_at);
        p_payment.period_start := p_payment.extends_from;
        p_payment.period_end := private.add_months(p_payment.extends_from, v_months);
        p_payment.chain_start := v_extended.starts_at;
      end if;
    end if;
  end if;
  -- Strictly after every act of the customer before it, however two transactions overlap: a transaction's time is when it
  -- began, not when it got its lock.
  if p_signature is not null then
    p_payment.since := greatest(v_clock, v_newest_at + interval '1 microsecond');
  end if;

  -- Nothing was settled since this act of the customer: it ranks above every other source.
  if v_grants
    and p_payment.since > coalesce(v_newest_at, '-infinity')
    and p_payment.chain_id is null
    and v_ruling.attaching = 0
  then
    -- As private.sources will have it.
    v_ruling := row(
      row(
        p_payment.user_id, 'payment', p_payment.id::text, v_plan.id, v_tier,
        coalesce(p_payment.chain_start, p_payment.period_start), p_payment.period_end, p_payment.period_end,
        p_payment.since, v_clock, null, null, p_payment.cancel_at_period_end, null
      )::private.sources,
      true, false, v_ruling.billing, v_ruling.replaced, 0
    )::private.ruling;
  end if;
  if v_before.id is null and v_grants and v_ruling.is_live is null then
    -- The link needs a row. It is settled below, from all sources.
    insert into public.subscriptions (id, user_id, plan_id, tier, status, revision, created_at, updated_at)
    values (v_subscription_id, p_payment.user_id, v_plan.id, v_tier, 'cancelled', 1, v_clock, p_payment.since);
  end if;
  v_mail := jsonb_build_object(
    'plan_name', v_plan.name,
    'amount', p_payment.amount,
    'currency', p_payment.currency,
    'transaction_id', p_payment.gateway_payment_id
  );
  if v_ruling.is_live then
    v_valid_until := private.iso_time(p_payment.period_end);
    perform private.settle_access(
      p_payment.user_id, p_email, p_payment.id::text,
      p_subscription_id => v_subscription_id,
      p_mail => v_mail || jsonb_build_object('valid_until', v_valid_until),
      p_ruling => v_ruling,
      p_before => v_before
    );
  end if;

  update public.payments p
  set status = 'captured',
    gateway_payment_id = p_payment.gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature),
    refunded_amount = p_payment.refunded_amount,
    captured_at = coalesce(p.captured_at, v_clock),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, v_clock) else p.confirmed_at end,
    -- A verification that is refused is no act that counts.
    verified_at = coalesce(p.verified_at, case when p_signature is not null and not v_is_refunded then v_clock end),
    uncaptured_at = null,
    tier = v_tier,
    plan_id = coalesce(v_plan.id, p.plan_id),
    duration_months = case when v_grants then v_months else p.duration_months end,
    subscription_id = v_subscription_id,
    fulfilled_at = case when v_grants then v_clock end,
    period_start = p_payment.period_start,
    period_end = p_payment.period_end,
    chain_id = p_payment.chain_id,
    chain_start = p_payment.chain_start,
    extends_from = p_payment.extends_from,
    since = p_payment.since,
    ended_at = null,
    ended_reason = null,
    -- A payment that is only verified is reconciled from now on, however old its order is.
    next_reconcile_at = case when p_is_confirmed then p.next_reconcile_at else v_clock + interval '15 minutes' end
  where p.id = p_payment.id;

  if not v_grants then
    return jsonb_build_object(
      'outcome', case
        when v_is_refunded then 'refunded'
        when p_payment.user_id is null then 'user_gone'
        else 'plan_not_found'
      end,
      'tier', v_tier
    );
  end if;
  if v_ruling.is_live is not true then
    if p_payment.chain_id is not null then
      perform private.lay_out_chain(p_payment.chain_id);
      select p.period_end into p_payment.period_end from public.payments p where p.id = p_payment.id;
    end if;
    v_valid_until := private.iso_time(p_payment.period_end);
    perform private.settle_access(
      p_payment.user_id, p_email, p_payment.id::text,
      p_mail => v_mail || jsonb_build_object('valid_until', v_valid_until)
    );
  end if;
  return jsonb_build_object('outcome', 'applied', 'tier', v_tier, 'valid_until', v_valid_until);
end
$$;
grant execute on function private.fulfil_payment(public.payments, text, text, boolean) to service_role;

-- For an admin: payments of users with an address that no mail was enqueued for.

create view private.unmailed_payments
with (security_invoker = true)
as
select p.id as payment_id, p.user_id, u.email, p.gateway_payment_id, p.fulfilled_at
from public.payments p
cross join lateral private.find_user(p.user_id) u
-- Mail rows are kept for at least 30 days after their delivery: older payments are not listed.
where p.fulfilled_at > private.clock() - interval '30 days'
  and u.email <> ''
  and not exists (select from private.outbox o where o.key = 'payment-success/' || p.id);
comment on view private.unmailed_payments is
  'Payments fulfilled within 30 days whose user has an e-mail address and got no mail: their profile was missing then.';

-- Captures a payment that a customer verifies after the checkout, and grants its tier.
-- Contract: POST /api/payments/verify.
-- API: service_role only.

create function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb -- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_locked record;
  v_payment public.payments;
begin
  perform private.begin_request('payment', p_payment_id);
  v_email := private.lock_user(p_user_id);

  -- With the refunded total of this gateway payment, which may be known before the payment is.
  select p as payment, coalesce(
    (
      select sum(r.amount)
      from private.refunds r
      where r.gateway_payment_id = p_payment_id
        and r.status = 'processed'
    ),
    0
  ) as refunded_amount
  into v_locked
  from public.payments p
  where p.gateway_order_id = p_order_id
    and p.user_id = p_user_id
  for update;
  if not found then
    return jsonb_build_object('outcome', 'payment_not_found');
  end if;
  v_payment := v_locked.payment;

  if v_payment.uncaptured_at is not null then
    -- A signature stays valid for ever: it must not give the tier again for as long as the gateway takes to decide. Money
    -- that arrived meanwhile is fulfilled once the gateway confirms it, which is asked at once.
    update public.payments p set next_reconcile_at = private.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status <> 'captured' then
    if v_payment.gateway_payment_id is distinct from p_payment_id then
      v_payment.gateway_payment_id := p_payment_id;
      v_payment.refunded_amount := v_locked.refunded_amount;
    end if;
  elsif v_payment.gateway_payment_id <> p_payment_id then
    perform private.note_extra_payment(v_payment.id, p_payment_id, private.clock(), null);
    v_payment := private.count_best_payment(v_payment);
  end if;

  if v_payment.status = 'captured' and private.is_refunded(v_payment) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  if v_payment.fulfilled_at is null or v_payment.ended_reason = 'refunded' then
    return private.fulfil_payment(
      v_payment,
      v_email,
      case when v_payment.gateway_payment_id = p_payment_id then p_signature end,
      false
    );
  end if;

  if v_payment.verified_at is null and v_payment.gateway_payment_id = p_payment_id then
    -- The webhook came first. The verification is the customer's newest act.
    update public.payments p
    set gateway_signature = p_signature,
      verified_at = private.clock(),
      since = greatest(
        private.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      )
    where p.id = v_payment.id;
    if v_payment.chain_start is not null and v_payment.period_end > private.clock() then
      perform private.lay_out_chain(coalesce(v_payment.chain_id, v_payment.id));
    end if;
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied',
    'tier', v_payment.tier,
    'valid_until', private.iso_time(v_payment.period_end)
  );
end
$$;
comment on function public.verify_payment(uuid, text, text, text) is
  'Captures a user''s payment and grants its tier, once; a repeat answers what the payment bought.';
revoke execute on function public.verify_payment(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.verify_payment(uuid, text, text, text) to service_role;
