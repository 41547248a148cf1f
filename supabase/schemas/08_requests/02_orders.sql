-- Orders, and the state of an order for the page of its customer. The payment is inserted before the
-- gateway is called, and gets the order's id afterwards. Contract: POST /api/payments/orders.

create function billing.rate_limited(p_until timestamptz) -- null: allows it
returns jsonb -- {outcome: rate_limited, retry_after (seconds)}; null: the request is allowed
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_wait constant numeric := extract(epoch from p_until - billing.clock());
begin
  return case when v_wait > 0 then jsonb_build_object('outcome', 'rate_limited', 'retry_after', ceil(v_wait)) end;
end $$;

-- Returns what a user has while a purchase or a subscription is made.
create function billing.running(p_user_id uuid)
returns jsonb -- {tier, until, early_renewal, price}; null: nothing runs
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select jsonb_build_object(
      'tier', s.tier, 'until', billing.iso_time(s.current_period_end), 'early_renewal', billing.early_renewal(),
      'price', billing.price_answer(s.tier, billing.price_shown(s))
    )
    from public.subscriptions s
    where s.user_id = p_user_id and s.status = 'active' and s.current_period_end > billing.clock()
  );
end $$;

-- Returns whether an order can still be paid and sells a price as the price is now.
create function billing.is_open_for(p_payment public.payments, p_plan public.plans)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_payment.status in ('created', 'failed')
    and (p_payment.amount + coalesce(p_payment.credit, 0), p_payment.currency) = (p_plan.price, p_plan.currency)
    and p_payment.price_key is not distinct from p_plan.lookup_key
    and coalesce(
      (p_payment.plan_id, p_payment.duration_months) = (p_plan.id, billing.sold_months(p_plan.duration_months)), true
    )
    -- The gateway accepts no payment on an order that was paid and refunded.
    and p_payment.refunded_amount = 0
    and not exists (
      select from billing.gateway_events e
      where e.subject_id = p_payment.gateway_order_id
        and e.event in ('refund.created', 'refund.processed', 'refund.failed')
    );
end $$;

-- The answer to an order: what it sells, and from when to when.
create function billing.create_order_answer(
  p_payment public.payments,
  p_start text, -- see public.create_order
  p_email text -- of the user
)
returns jsonb -- created or existing: see public.create_order
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_running constant jsonb := billing.running(p_payment.user_id);
  v_sold constant billing.price := billing.price_sold(p_payment);
  v_plan constant public.plans := (select p from public.plans p where billing.is_bought(p, p_payment));
  v_starts_at constant timestamptz := coalesce(
    p_payment.period_start,
    (billing.find_followed(
      p_payment.user_id, p_payment.tier, p_payment.plan_id, v_sold, p_start, case when p_payment.credit is null then billing.early_renewal() end
    )).ends_at,
    billing.clock()
  );
begin
  return jsonb_build_object(
    'outcome', case when p_payment.gateway_order_id is null then 'created' else 'existing' end,
    'payment_id', p_payment.id, 'order_id', p_payment.gateway_order_id, 'amount', p_payment.amount,
    'currency', p_payment.currency,
    'plan', to_jsonb(v_plan),
    'price', billing.offer_answer(v_plan.id, p_payment.tier, v_sold, v_plan.gateway_plan_id),
    'running', v_running || jsonb_build_object('starts_at', billing.iso_time(v_starts_at)),
    'prefill', jsonb_build_object(
      'email', nullif(p_email, ''),
      'name', (
        select coalesce(nullif(p.display_name, ''), nullif(p.username, ''))
        from billing.profiles p
        where p.user_id = p_payment.user_id
      )
    )
  ) || case
    when p_start is null then '{}'
    else jsonb_build_object(
      'credit', coalesce(p_payment.credit, 0),
      'starts_at', billing.iso_time(v_starts_at),
      'ends_at', billing.iso_time(coalesce(p_payment.period_end, billing.add_months(v_starts_at, p_payment.duration_months)))
    )
  end;
end $$;

create function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- the API key of the order; null: an open order of any key is returned
  p_start text default null, -- now or after_current; null: not said, and there is no credit
  p_price text default null, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean default true -- see billing.plan_change
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, price,
-- running: {tier, until, early_renewal, price, starts_at} | null, prefill: {email, name}},
-- with p_start also {credit, starts_at, ends_at},
-- {outcome: plan_not_found | price_conflict | user_not_found | in_flight | key_conflict},
-- {outcome: not_now, reason: credit}, {outcome: rate_limited, retry_after},
-- {outcome: unread, subscription}: see billing.unread_answer
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_email text;
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_keyed public.payments; -- the order of the idempotency key
  v_payment public.payments;
  v_refusal jsonb;
  v_credit record;
begin
  perform billing.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  -- A key is on several payments where the first got no order, or where its order is of another API key.
  select * into v_keyed
  from public.payments p
  where p.user_id = p_user_id
    and p.created_at > v_now - interval '7 days'
    and p_idempotency_key = any (p.idempotency_keys)
  order by p.gateway_order_id is not null desc, p.created_at desc
  limit 1;
  if v_keyed.id is not null
    and (coalesce(v_keyed.price_key, v_keyed.tier), v_keyed.starts) is distinct from (coalesce(p_price, p_tier), p_start)
  then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_keyed.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_start = 'now';
  if v_keyed.id is null and v_credit.is_excess then
    return jsonb_build_object('outcome', 'not_now', 'reason', 'credit');
  end if;
  if v_keyed.id is null and not p_is_read and v_credit.unread is not null then
    return billing.unread_answer(v_credit.unread);
  end if;
  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and p.failed_subscription_id is null
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_keyed.id
      or p.tier = v_plan.tier
        and p.starts is not distinct from p_start
        -- The credit is that of the time when the order was made.
        and (p.credited_kind, p.credited_id, p.credited_until)
          is not distinct from (v_credit.kind, v_credit.id, v_credit.until)
        and p.created_at > v_now - interval '30 minutes'
        and billing.is_open_for(p, v_plan)
    )
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow. Nor does one that was made
    -- while the clock was ahead.
    and (
      p.gateway_order_id is not null
      or p.created_at > v_now - interval '30 seconds' and p.created_at < v_now + interval '30 seconds'
    )
  order by p.id = v_keyed.id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    -- At most ten orders an hour.
    v_refusal := billing.rate_limited((
      select p.created_at + interval '1 hour'
      from public.payments p
      where p.user_id = p_user_id and p.failed_subscription_id is null
      order by p.created_at desc
      offset 9
      limit 1
    ));
    if v_refusal is not null then return v_refusal; end if;
    -- The payment stores the terms of the sale. A later change of the plan, or of what was credited, does not change them.
    insert into public.payments (
      user_id, amount, currency, tier, plan_id, price_key, price_amount, duration_months, gateway_key_id, idempotency_keys,
      meta, starts,
      credit, credited_kind, credited_id, credited_until, credited_amount
    )
    values (
      p_user_id, v_plan.price - coalesce(v_credit.credit, 0), v_plan.currency, v_plan.tier, v_plan.id,
      v_plan.lookup_key, v_plan.price, billing.sold_months(v_plan.duration_months), p_gateway_key_id,
      array_remove(array[p_idempotency_key], null), jsonb_build_object('tier', v_plan.tier), p_start,
      v_credit.credit, v_credit.kind, v_credit.id, v_credit.until, v_credit.amount
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  elsif p_idempotency_key is not null and p_idempotency_key <> all (v_payment.idempotency_keys) then
    if cardinality(v_payment.idempotency_keys) = 20 then
      -- Then the order is not open any more, and the key may name a new one.
      return billing.rate_limited(v_payment.created_at + interval '30 minutes');
    end if;
    update public.payments p
    set idempotency_keys = p.idempotency_keys || p_idempotency_key
    where p.id = v_payment.id;
  end if;

  return billing.create_order_answer(v_payment, p_start, v_email);
end $$;
comment on function public.create_order is 'A user''s open order for a tier, or a new one to make at the gateway.';

create function public.store_order(p_payment_id uuid, p_order_id text)
returns jsonb -- {outcome: stored | payment_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  perform billing.begin_request('order', p_order_id);
  -- The update applies the events that waited for this order. They need the user's lock, which comes before the payment's.
  perform billing.lock_user(p.user_id) from public.payments p where p.id = p_payment_id;
  update public.payments p
  set gateway_order_id = p_order_id
  where p.id = p_payment_id and (p.gateway_order_id is null or p.gateway_order_id = p_order_id);
  return jsonb_build_object('outcome', case when found then 'stored' else 'payment_not_found' end);
end $$;
comment on function public.store_order is 'Stores the gateway''s order id of a payment.';

-- Deletes a payment that has no order. Security definer: service_role has no right to delete payments.
create function billing.delete_unordered(p_payment_id uuid)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from public.payments p
  where p.id = p_payment_id and p.status = 'created' and p.gateway_order_id is null and p.gateway_payment_id is null
$$;

create function public.discard_order(p_payment_id uuid)
returns jsonb -- {outcome: discarded}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  perform billing.delete_unordered(p_payment_id);
  return jsonb_build_object('outcome', 'discarded');
end $$;
comment on function public.discard_order is 'Deletes a payment for which the gateway created no order.';

-- The body of GET /api/payments/orders/:order_id. Attempts are those in the ledger, in the gateway's last answer, and those
-- that were verified.
create function billing.get_order_answer(p_payment public.payments)
returns jsonb -- {order_id, status: open | paid | failed, tier, amount, currency, valid_until, attempts, last_error}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_attempts integer;
  v_last_error text;
begin
  select
    count(distinct attempt.id),
    -- Events arrive in any order, and `meta` has the error of the last one to arrive.
    (array_agg(
      billing.json_text(attempt.failed -> 'error_description')
      order by billing.json_time(attempt.failed -> 'created_at') desc nulls last, attempt.received_at desc
    ) filter (where attempt.received_at is not null))[1]
  into v_attempts, v_last_error
  from (
    select
      e.payload #>> '{payload,payment,entity,id}' as id, e.payload #> '{payload,payment,entity}' as failed,
      case when e.event = 'payment.failed' then e.received_at end as received_at
    from billing.gateway_events e
    where e.subject_id = left(p_payment.gateway_order_id, 200)
      and e.event in ('payment.authorized', 'payment.captured', 'payment.failed', 'order.paid')
    union all
    select p_payment.gateway_payment_id, null, null
    union all
    select x.gateway_payment_id, null, null from public.payments x where x.extra_of = p_payment.id
  ) attempt;
  return jsonb_build_object(
    'order_id', p_payment.gateway_order_id,
    'status', case
      when p_payment.status = 'captured' and not billing.is_refunded(p_payment) then 'paid'
      -- Another attempt may follow one that failed. Its state is known for as long as the order is read.
      when p_payment.status = 'created' or p_payment.status = 'failed' and p_payment.uncaptured_at is null
        and p_payment.is_attempt_open and p_payment.reads < 20 then 'open'
      else 'failed'
    end,
    'tier', billing.tier_bought(p_payment),
    'amount', p_payment.amount, 'currency', p_payment.currency,
    'valid_until', case
      when p_payment.fulfilled_at is not null and p_payment.ended_at is null then billing.iso_time(p_payment.period_end)
    end,
    'attempts', greatest(v_attempts, p_payment.read_attempts, (p_payment.status <> 'created')::integer),
    'last_error', coalesce(nullif(v_last_error, ''), nullif(billing.json_text(p_payment.meta -> 'error_description'), ''))
  );
end $$;

-- After the outcome read the caller reads the payments from the gateway and passes them to apply_order_read. Of several
-- calls at once, one gets that outcome. Contract: GET /api/payments/orders/:order_id.
create function public.get_order(
  p_user_id uuid,
  p_order_id text, -- the gateway's
  p_can_read boolean -- whether the gateway is configured
)
returns jsonb -- {outcome: known | read, payment_id, order}, {outcome: order_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_payment public.payments;
  v_is_leased boolean := false;
begin
  select * into v_payment from public.payments p where p.gateway_order_id = p_order_id and p.user_id = p_user_id;
  if not found then return jsonb_build_object('outcome', 'order_not_found'); end if;
  -- After five days the result is final: see billing.next_reconciliation.
  if p_can_read and v_payment.status <> 'captured' and v_payment.created_at > v_now - interval '120 hours' then
    update public.payments p
    set reads = p.reads + 1, read_at = v_now
    where p.id = v_payment.id and p.reads < 20 and coalesce(p.read_at <= v_now - interval '5 seconds', true);
    v_is_leased := found;
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_leased then 'read' else 'known' end,
    'payment_id', v_payment.id,
    'order', billing.get_order_answer(v_payment)
  );
end $$;
comment on function public.get_order is 'The state of a user''s order, and whether to read it from the gateway.';

revoke execute on function
  public.create_order, public.store_order, public.discard_order, public.get_order
from public, anon, authenticated;
grant execute on function
  public.create_order, public.store_order, public.discard_order, public.get_order
to service_role;
