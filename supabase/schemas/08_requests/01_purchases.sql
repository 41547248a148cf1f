-- Makes a captured payment a source of access with a period, once, and the answer about the subscription. Contract:
-- POST /api/payments/verify, GET /api/subscriptions.

-- Computes the periods of a chain of early renewals, each from the end of the previous one. If a payment is refunded, the
-- later periods move up. The ends of an unbroken run are counted from its first start, so that a short month does not
-- shorten the later periods. The caller holds the lock on the user.
create function billing.lay_out_chain(p_first_payment_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
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
      v_shown_start := case when v_start = v_link.extends_from then v_link.chain_start else v_start end;
      v_months := v_link.duration_months;
    end if;
    v_end := billing.add_months(v_run_start, v_months);
    -- A payment rules over the payment that it extends, even if the latter is verified later.
    v_since := greatest(v_link.since, v_since + interval '1 microsecond');
    update public.payments p
    set period_start = v_start, period_end = v_end, chain_start = v_shown_start, since = v_since
    where p.id = v_link.id
      and (p.period_start, p.period_end, p.chain_start, p.since)
        is distinct from (v_start, v_end, v_shown_start, v_since);
  end loop;
end $$;

-- A purchase that extends what runs gives that time only while that runs. Where it ended early (refunded, credited, revoked,
-- cancelled by the gateway), the purchase begins with its own period. The caller holds the lock on the user.
create function billing.await_periods(p_user_id uuid)
returns boolean -- whether a purchase waits from now on
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_is_changed boolean := false;
  v_waiting public.payments;
begin
  loop
    select p.* into v_waiting
    from public.payments p
    where p.user_id = p_user_id
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_start > v_now
      and p.chain_start <= v_now
      and not exists (
        select from billing.sources s
        left join public.payments o on o.user_id = p_user_id and o.id::text = s.id
        where s.user_id = p_user_id
          and s.is_running
          and s.starts_at <= v_now
          and coalesce(s.ends_at, 'infinity') >= p.period_start
          and coalesce(o.period_start, '-infinity') < p.period_start
      )
      -- It may also extend the period of an attached subscription.
      and not exists (
        select from billing.gateway_subscriptions m
        where m.user_id = p_user_id and m.plan_id is null and billing.is_billed(m) and m.period_end >= p.period_start
      )
    order by p.period_start
    limit 1;
    exit when not found;
    update public.payments p
    set chain_start = v_waiting.period_start, settle_at = v_waiting.period_start
    where p.user_id = p_user_id
      and coalesce(p.chain_id, p.id) = coalesce(v_waiting.chain_id, v_waiting.id)
      and p.period_start >= v_waiting.period_start;
    v_is_changed := true;
  end loop;
  return v_is_changed;
end $$;

-- Finds the credit that an upgrade in one currency gets: for the unused time of what the user pays for. Of a chain of early
-- renewals, the period that runs counts. The caller holds the lock on the user.
create function billing.find_credit(
  p_user_id uuid,
  p_plan public.plans,
  out credit bigint, -- minor currency units; null, as all others: there is none
  out kind text,
  out id text,
  out until timestamptz,
  out amount bigint, -- what was paid for the period
  out is_excess boolean, -- the unused time is worth more than the price can take, so the upgrade cannot start now
  -- The row of the gateway subscription whose running cycle was paid by a payment that may still be read; null: none.
  out unread uuid
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_from billing.commitment;
  v_starts_at timestamptz;
begin
  is_excess := false;
  if exists (select from billing.settings s where s.credit = 'off') then return; end if;
  v_from := billing.find_commitment(p_user_id);
  if billing.compare_prices(billing.rank_commitment(v_from), billing.rank_plan(p_plan)) <> 'upgrade' then return; end if;

  if v_from.paid_by_kind = 'payment' then
    select p.id::text, p.period_start, p.period_end
    into id, v_starts_at, until
    from public.payments paid
    join public.payments p
      on p.user_id = paid.user_id
      and coalesce(p.chain_id, p.id) = coalesce(paid.chain_id, paid.id)
    where paid.id = v_from.paid_by_id::uuid
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_end > v_now
      and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
    order by p.period_start
    limit 1;
  elsif v_from.paid_by_kind = 'gateway_subscription' then
    select m.gateway_subscription_id, m.period_start, m.period_end,
      case
        -- An import of which nothing was read.
        when num_nonnulls(m.arrived_at, m.checked_at) = 0 then m.id
        -- After three days the reconciliation has asked in vain.
        when coalesce(m.arrived_at > v_now - interval '3 days', true) and billing.lacks_payment(m) then m.id
      end
    into id, v_starts_at, until, unread
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id = v_from.paid_by_id
      and m.paid_until is null
      and m.period_end > v_now;
  end if;
  if v_starts_at < until then
    kind := v_from.paid_by_kind;
    amount := billing.paid_for(p_user_id, kind, id, until, p_plan.currency);
    if amount > 0 then unread := null; end if;
    credit := floor(
      amount * extract(epoch from until - greatest(v_now, v_starts_at)) / extract(epoch from until - v_starts_at)
    );
    credit := credit - credit % billing.amount_step(p_plan.currency);
  end if;
  -- The gateway accepts no order of less than 100.
  is_excess := coalesce(credit >= 1 and credit > p_plan.price - 100, false);
  if is_excess or (credit >= 1) is not true then
    select null, null, null, null, null into credit, kind, id, until, amount;
  end if;
end $$;

-- Says which subscription to read from the gateway, as the reconciliation does, before a credit is known.
create function billing.unread_answer(p_id uuid)
returns jsonb -- {outcome: unread, subscription: {id, gateway_subscription_id}}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select jsonb_build_object(
      'outcome', 'unread',
      -- Read by a function that is older than this schema.
      'gateway_subscription_id', m.gateway_subscription_id,
      'subscription', jsonb_build_object('id', m.id, 'gateway_subscription_id', m.gateway_subscription_id)
    )
    from billing.gateway_subscriptions m
    where m.id = p_id
  );
end $$;

-- Finds what a purchase follows: of all that runs or begins later, what ends last; a grant only if it rules. A purchase
-- follows if its order says so, and under the setting extend if it is for the running tier and gets no credit, unless its
-- order says now for an upgrade within the tier. since is the newest of all that runs. The caller holds the lock on the user.
create function billing.find_followed(
  p_user_id uuid,
  p_tier text,
  p_plan_id uuid, -- with p_sold: the price of the purchase
  p_sold billing.price,
  p_starts text,
  p_early_renewal text -- the setting; null: the purchase gets a credit
)
returns billing.sources -- null: the purchase starts now
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_ruling billing.ruling;
  v_shown public.subscriptions;
  v_followed billing.sources;
begin
  if p_starts is distinct from 'after_current' and p_early_renewal is distinct from 'extend' then return null; end if;
  v_ruling := billing.find_ruling(p_user_id);
  v_shown := v_ruling.shown;
  if (
    v_ruling.is_live and v_shown.status = 'active' and (p_starts = 'after_current' or (v_ruling.source).tier = p_tier)
  ) is not true then
    return null;
  end if;
  if p_starts = 'now' and billing.compare_prices(
    billing.rank_price((v_ruling.source).plan_id, p_tier, (v_ruling.source).sold), billing.rank_price(p_plan_id, p_tier, p_sold)
  ) = 'upgrade' then
    return null;
  end if;
  select s.* into v_followed
  from billing.sources s
  where s.user_id = p_user_id and s.is_running
  order by
    s.kind <> 'grant' or s.id = (v_ruling.source).id desc, s.ends_at desc nulls last, s.id = (v_ruling.source).id desc
  limit 1;
  -- The row may show the period of an attached gateway subscription.
  if v_shown.current_period_end > v_followed.ends_at or v_followed.ends_at is null then
    v_followed := v_ruling.source;
    v_followed.kind := 'gateway_subscription';
    v_followed.starts_at := v_shown.current_period_start;
    v_followed.ends_at := v_shown.current_period_end;
  end if;
  v_followed.since := (select max(s.since) from billing.sources s where s.user_id = p_user_id and s.is_running);
  return case when v_followed.ends_at > billing.clock() then v_followed end;
end $$;

-- Sets the period of a purchase: from now, or from the end of what it follows. It extends what it follows, if that was sold
-- for the same tier, currency and months, and rules or begins later: both are shown as one period. Else it begins, and rules,
-- when the other one ends.
create function billing.set_period(p_purchase billing.purchase, p_payment public.payments)
returns public.payments language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_followed billing.sources;
begin
  v_followed := billing.find_followed(
    p_payment.user_id, p_payment.tier, p_payment.plan_id, billing.price_sold(p_payment), p_payment.starts,
    case when p_payment.credit is null then p_purchase.early_renewal end
  );
  p_payment.chain_id := null;
  p_payment.extends_from := date_trunc('milliseconds', v_followed.ends_at);
  p_payment.chain_start := p_payment.extends_from;
  -- The id first: after a null the ruling would be sought in vain.
  if v_followed.id is not null
    and v_followed.tier = p_payment.tier
    -- Of what was not sold by a price they are not known.
    and (((v_followed.sold).currency, (v_followed.sold).months) = (p_payment.currency, p_payment.duration_months)) is not false
    -- The row may show what has ended since.
    and (v_followed.is_upcoming or ((billing.find_ruling(p_payment.user_id)).source).tier = p_payment.tier)
  then
    p_payment.chain_start := v_followed.starts_at;
    if v_followed.kind = 'payment' then
      select coalesce(p.chain_id, p.id), p.extends_from
      into p_payment.chain_id, p_payment.extends_from
      from public.payments p
      where p.id = v_followed.id::uuid;
    end if;
  end if;
  -- From its start it rules over what it follows, even if its order is older.
  p_payment.since := greatest(p_payment.since, v_followed.since + interval '1 microsecond');
  p_payment.period_start := coalesce(p_payment.extends_from, date_trunc('milliseconds', billing.clock()));
  p_payment.period_end := billing.add_months(p_payment.period_start, p_payment.duration_months, p_purchase.time_zone);
  return p_payment;
end $$;

-- Settles the access of a user whose payment is fulfilled, with the success mail.
create function billing.settle_purchase(
  p_purchase billing.purchase,
  p_payment public.payments, -- as it is fulfilled
  p_email text, -- of the user
  p_rules boolean -- whether it is known to rule
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_plan constant public.plans := p_purchase.plan;
  v_source billing.sources;
  v_ruling billing.ruling;
begin
  -- A ranking would take half of the time.
  if p_rules then
    v_source.user_id := p_payment.user_id;
    v_source.kind := 'payment';
    v_source.id := p_payment.id;
    v_source.plan_id := v_plan.id;
    v_source.tier := p_payment.tier;
    v_source.starts_at := coalesce(p_payment.chain_start, p_payment.period_start);
    v_source.ends_at := p_payment.period_end;
    v_source.lapses_at := p_payment.period_end;
    v_source.since := p_payment.since;
    v_source.cancel_at_period_end := p_payment.cancel_at_period_end;
    v_source.sold := billing.price_sold(p_payment);
    v_ruling := billing.sole_ruling(v_source);
    v_ruling.shown := p_purchase.shown;
  end if;
  perform billing.settle_access(
    p_payment.user_id, p_email, p_payment.id::text, p_ruling => v_ruling, p_mail => jsonb_build_object(
      'plan_name', v_plan.name, 'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
      'transaction_id', p_payment.gateway_payment_id, 'valid_until', billing.iso_time(p_payment.period_end)
    ) || case
      -- It waits, and something else runs until then.
      when p_payment.period_start > billing.clock() and (p_purchase.shown).tier is distinct from p_payment.tier
        then jsonb_build_object('starts_at', billing.iso_time(p_payment.period_start))
      else '{}'
    end
  );
end $$;

-- Lets the mails about a purchase wait a minute for the amount that was paid, or gives it to those that wait.
create function billing.set_mailed_amount(
  p_payment_id uuid,
  p_paid_amount bigint -- minor currency units; null: the gateway has not said it yet
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- A mail waits only where a recent payment had another amount than its order, by a fee on top or an offer.
  if p_paid_amount is null and not exists (
    select from (
      select p.amount, p.paid_amount from public.payments p where p.status = 'captured' order by p.captured_at desc limit 20
    ) newest
    where newest.paid_amount <> newest.amount
  ) then
    return;
  end if;
  update billing.outbox o
  set payload = o.payload || jsonb_strip_nulls(jsonb_build_object('amount', p_paid_amount)),
    next_attempt_at = case when p_paid_amount is null then o.queued_at + interval '1 minute' else o.queued_at end
  where o.key = any (array['payment-success/' || p_payment_id, 'plan-changed/' || p_payment_id])
    and num_nonnulls(o.delivered_at, o.parked_at) + cardinality(o.claims) = 0
    and (p_paid_amount is null or o.next_attempt_at > o.queued_at or o.payload -> 'amount' <> to_jsonb(p_paid_amount));
end $$;

-- Enqueues the mail about a change now whose payment got credit: what it replaced, and what is charged from its end on.
create function billing.announce_replacement(
  p_payment public.payments, -- as it is fulfilled
  p_plan public.plans,
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_renewal billing.gateway_subscriptions;
begin
  if p_payment.credit is null then return; end if;
  perform billing.withdraw_outlook(p_payment.user_id);
  select * into v_renewal
  from billing.gateway_subscriptions m
  where m.user_id = p_payment.user_id
    and m.payment_id = p_payment.id
    and m.undone_at is null
    and m.stops_at is null
    -- In another tab the customer may have cancelled it.
    and m.status is distinct from 'cancelled'
  order by m.asked_at desc, m.id
  limit 1;
  perform billing.enqueue_mail(p_payment.user_id, p_email, 'plan-changed', p_payment.id::text, jsonb_build_object(
    'plan_name', p_plan.name,
    'old_plan_name', billing.plan_name(
      coalesce(
        (
          select c.plan_id
          from public.payments c
          where c.user_id = p_payment.user_id and c.id::text = p_payment.credited_id
        ),
        (
          select m.plan_id
          from billing.gateway_subscriptions m
          where m.user_id = p_payment.user_id and m.gateway_subscription_id = p_payment.credited_id
        )
      ),
      p_payment.tier
    ),
    'credit', p_payment.credit,
    'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
    'valid_until', billing.iso_time(p_payment.period_end),
    'next_charge', case when v_renewal.id is not null then jsonb_build_object(
      'at', billing.iso_time(coalesce(v_renewal.starts_at, p_payment.period_end)),
      'amount', (v_renewal.asked_price).amount, 'currency', (v_renewal.asked_price).currency
    ) end,
    'is_authorised', coalesce(v_renewal.authenticated_at is not null or v_renewal.gateway_status = 'authenticated', false)
  ));
end $$;

-- Captures a payment and makes it a source of access. The caller holds the locks on the user and on the payment.
-- A payment is captured but not fulfilled if its tier has no plan, its user is deleted, or it was refunded in full.
create function billing.fulfil_payment(
  p_purchase billing.purchase, -- its payment has the gateway's payment id to store
  p_email text,
  p_signature text, -- null: not verified by the customer
  p_is_confirmed boolean -- the gateway confirms the capture
)
returns jsonb -- {outcome: applied | plan_not_found | refunded | user_gone, tier, valid_until}
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_payment public.payments := p_purchase.payment;
  v_plan constant public.plans := p_purchase.plan;
  v_is_refunded constant boolean := billing.is_refunded(v_payment);
  v_grants constant boolean := v_plan.id is not null and v_payment.user_id is not null and not v_is_refunded;
  v_rules boolean; -- the usual purchase: the newest act of a user without a gateway subscription
begin
  v_payment.tier := billing.tier_bought(v_payment);
  v_payment.since := case
    when p_signature is null then greatest(
      v_payment.since, v_payment.created_at, v_payment.verified_at,
      -- A fact that arrives after a row was written by hand ranks above it.
      p_purchase.written_at + interval '1 microsecond'
    )
    -- A verification ranks after every earlier act of the customer, also one while this transaction waited for the lock.
    else greatest(v_now, p_purchase.newest_at + interval '1 microsecond')
  end;
  if v_grants then
    v_payment.duration_months := coalesce(v_payment.duration_months, billing.sold_months(v_plan.duration_months));
    v_payment := billing.set_period(p_purchase, v_payment);
    v_rules := not p_purchase.is_mirrored
      and v_payment.since > coalesce(p_purchase.newest_at, '-infinity')
      and v_payment.chain_id is null
      and (v_payment.chain_start > v_now) is not true;
    -- payments.subscription_id needs a row.
    if v_rules then
      perform billing.settle_purchase(p_purchase, v_payment, p_email, true);
    elsif (p_purchase.shown).id is null then
      -- billing.settle_access writes other values.
      insert into public.subscriptions (user_id, tier, status, revision, updated_at)
      values (v_payment.user_id, v_payment.tier, 'cancelled', 1, greatest(v_now, v_payment.since));
    end if;
  end if;
  update public.payments p
  set status = 'captured', gateway_payment_id = v_payment.gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature), refunded_amount = v_payment.refunded_amount,
    paid_amount = coalesce(v_payment.paid_amount, p.paid_amount),
    base_amount = coalesce(v_payment.base_amount, p.base_amount),
    captured_at = coalesce(p.captured_at, v_now),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, v_now) else p.confirmed_at end,
    -- A verification of a refunded payment is refused and does not count.
    verified_at = coalesce(p.verified_at, case when p_signature is not null and not v_is_refunded then v_now end),
    uncaptured_at = null, ended_at = null, ended_reason = null,
    tier = v_payment.tier, plan_id = coalesce(v_plan.id, p.plan_id), duration_months = v_payment.duration_months,
    subscription_id = case
      when v_grants then (select s.id from public.subscriptions s where s.user_id = v_payment.user_id)
    end,
    fulfilled_at = case when v_grants then v_now end,
    period_start = v_payment.period_start, period_end = v_payment.period_end, chain_id = v_payment.chain_id,
    chain_start = v_payment.chain_start, extends_from = v_payment.extends_from, since = v_payment.since,
    -- Without extends_from the chain has begun, also where it did so while this transaction waited for the lock.
    settle_at = case when v_payment.extends_from is not null and v_payment.chain_start > v_now then v_payment.chain_start end,
    -- A payment that is only verified needs a confirmation by the gateway, however old its order is.
    next_reconcile_at = case when p_is_confirmed then p.next_reconcile_at else v_now + interval '15 minutes' end
  where p.id = v_payment.id;

  if not v_grants then
    return jsonb_build_object('tier', v_payment.tier, 'outcome', case
      when v_is_refunded then 'refunded'
      when v_payment.user_id is null then 'user_gone'
      else 'plan_not_found'
    end);
  end if;
  if v_payment.chain_id is not null then
    perform billing.lay_out_chain(v_payment.chain_id);
    select p.period_end into v_payment.period_end from public.payments p where p.id = v_payment.id;
  end if;
  if not v_rules then perform billing.settle_purchase(p_purchase, v_payment, p_email, false); end if;
  perform billing.announce_replacement(v_payment, v_plan, p_email);
  if v_payment.paid_amount is null then perform billing.set_mailed_amount(v_payment.id, null); end if;
  return jsonb_build_object('outcome', 'applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end));
end $$;

create function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb
-- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_purchase billing.purchase;
  v_payment public.payments;
begin
  perform billing.begin_request('payment', p_payment_id);
  v_email := billing.lock_user(p_user_id);
  v_purchase := billing.lock_purchase(
    (select p.id from public.payments p where p.gateway_order_id = p_order_id and p.user_id = p_user_id), p_payment_id
  );
  v_payment := v_purchase.payment;
  if v_payment.id is null then return jsonb_build_object('outcome', 'payment_not_found'); end if;

  if v_payment.uncaptured_at is not null then
    -- A signature never expires, so it must not grant the tier again. A confirmation by the gateway would.
    update public.payments p set next_reconcile_at = billing.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status = 'captured' and v_payment.gateway_payment_id <> p_payment_id then
    perform billing.note_extra_payment(v_payment, p_payment_id, null);
    v_payment := billing.count_best_payment(v_payment);
  elsif v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := p_payment_id;
    v_payment.refunded_amount := v_purchase.refunded_amount;
  end if;

  if v_payment.status = 'captured' and billing.is_refunded(v_payment) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  if v_payment.fulfilled_at is null or v_payment.ended_reason = 'refunded' then
    v_purchase.payment := v_payment;
    return billing.fulfil_payment(
      v_purchase, v_email, case when v_payment.gateway_payment_id = p_payment_id then p_signature end, false
    );
  end if;

  if (v_payment.verified_at is null or v_payment.gateway_payment_id = p_payment_id and v_payment.gateway_signature is null)
    and not exists (select from public.payments x where x.gateway_payment_id = p_payment_id and billing.is_refunded(x))
  then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act, also of a second payment that
    -- was not refunded.
    update public.payments p
    set gateway_signature = case when p.gateway_payment_id = p_payment_id then p_signature else p.gateway_signature end,
      verified_at = coalesce(p.verified_at, billing.clock()),
      since = case when p.verified_at is null then greatest(
        billing.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      ) else p.since end
    where p.id = v_payment.id;
    perform billing.settle_payment(v_payment, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end)
  );
end $$;
comment on function public.verify_payment is 'Captures a user''s payment and grants its tier, once.';

-- The signature proves that order and payment belong together. Contract: POST /api/payments/return.
create function public.verify_returned_payment(
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb -- as verify_payment
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  return public.verify_payment(
    (select p.user_id from public.payments p where p.gateway_order_id = p_order_id), p_order_id, p_payment_id, p_signature
  );
end $$;
comment on function public.verify_returned_payment is 'As verify_payment, for the user of the order.';

-- Returns the change of plan that waits for the end of what the user pays for. Contract: GET /api/subscriptions.
create function billing.next_change(p_user_id uuid)
returns jsonb -- {tier, price, amount, currency, starts_at, undo_until}; null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Nearly no user has one: this lookup saves the functions below on each read.
  if not exists (
    select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.starts_at > billing.clock()
  ) then
    return null;
  end if;
  return (
    select jsonb_build_object(
      'tier', its.tier, 'price', billing.price_answer(its.tier, its.sold),
      'amount', (its.sold).amount, 'currency', (its.sold).currency,
      'starts_at', billing.iso_time((b.next).starts_at), 'undo_until', billing.iso_time(b.undo_until)
    )
    from billing.find_billed(p_user_id) b
    -- It may have been edited at the gateway.
    cross join lateral (
      select
        coalesce((select p.tier from public.plans p where p.id = (b.next).plan_id), (b.next).asked_tier) as tier,
        coalesce((b.next).sold, (b.next).asked_price) as sold
    ) its
    where (b.next).id is not null
    order by (b.next).starts_at
    limit 1
  );
end $$;

-- Each connection plans it once, and not again at its first five calls.
create function public.get_subscription(p_user_id uuid)
returns json -- {subscription, currentTier, entitlements, payments, billing}: the answer's body
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return row_to_json(answer)
  from (
    select
      (select s from billing.shown_subscriptions s where s.user_id = p_user_id) as subscription,
      coalesce(a.tier, 'free') as "currentTier",
      coalesce(a.entitlements, (
        select p.entitlements from public.plans p where p.tier = 'free' and p.lookup_key is null
      ), '{}') as entitlements,
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.price_key,
            -- As billing.interval_answer, which would be called twice for each payment: a tenth of the read.
            case when p.duration_months % 12 = 0 then 'year' when p.duration_months is not null then 'month' end as "interval",
            case when p.duration_months % 12 = 0 then p.duration_months / 12 else p.duration_months end as interval_count,
            p.gateway_order_id, p.gateway_payment_id, p.gateway_signature,
            coalesce(p.gateway_subscription_id, p.failed_subscription_id) as gateway_subscription_id, p.meta, p.captured_at,
            p.confirmed_at, p.fulfilled_at, p.period_start, p.period_end, p.paid_amount, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id and p.extra_of is null
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments,
      (
        select record
        from (
          select
            b.gateway_subscription_id, coalesce(m.gateway_status, m.status, 'active') as status,
            b.charge_at as next_charge_at,
            coalesce(m.gateway_status in ('pending', 'halted') and m.stops_at is null, false) as payment_attention,
            m.short_url as manage_url,
            billing.price_answer(b.tier, b.sold) as price,
            billing.next_change(p_user_id) as next
          from billing.find_billed(p_user_id) b
          join billing.gateway_subscriptions m
            on m.user_id = p_user_id
            and m.gateway_subscription_id = b.gateway_subscription_id
          where billing.is_billed(m)
          -- What is charged next; else the running one before one that starts later; of two the one that would rule.
          order by
            b.charge_at > billing.clock() desc nulls last, b.charge_at, m.period_end > billing.clock() desc nulls last, b.since desc,
            b.id desc
          limit 1
        ) record
      ) as billing
    from (values (p_user_id)) one (user_id)
    left join billing.access a on a.user_id = one.user_id
  ) answer;
end $$;
comment on function public.get_subscription is 'A user''s subscription with its plan, tier and newest payments.';

revoke execute on function public.verify_payment, public.verify_returned_payment, public.get_subscription
from public, anon, authenticated;
grant execute on function public.verify_payment, public.verify_returned_payment, public.get_subscription to service_role;
