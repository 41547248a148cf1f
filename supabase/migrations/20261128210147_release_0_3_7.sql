-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.undo_change(billing.change,billing.commitment);

drop function billing.plan_change(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text);

drop function public.preview_change(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text);

drop function billing.change_answer(billing.change);

drop function public.create_order(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text,pg_catalog.text,pg_catalog.text);

drop function billing.find_credit(pg_catalog.uuid,public.plans);

drop type billing.change;

comment on column billing.customer_payments.refund_effect is null;

comment on view billing.dispute_lost is null;

ALTER TABLE "billing"."documents_due"
  ADD COLUMN "buyer" jsonb;

CREATE TYPE "billing"."change" AS (
  "outcome"        text,
  "unread"         text,
  "reason"         text,
  "plan"           public.plans,
  "from_tier"      text,
  "from_price"     text,
  "order_start"    text,
  "is_billed"      boolean,
  "replaces"       text,
  "renews"         uuid,
  "starts_at"      timestamp WITH time zone,
  "ends_at"        timestamp WITH time zone,
  "credit"         bigint,
  "amount_due"     bigint,
  "due_at"         timestamp WITH time zone,
  "next_charge_at" timestamp WITH time zone,
  "next_amount"    bigint
);

REVOKE ALL ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."grace_end"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."grace_end"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."newest_purchase"(uuid, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."newest_purchase"(uuid, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."sole_ruling"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."sole_ruling"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."state_of_billing"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."state_of_billing"(billing.sources) TO "service_role";

GRANT SELECT ON TABLE "billing"."purchases" TO "service_role";

GRANT SELECT ON TABLE "billing"."sources" TO "service_role";

-- Returns the name of a plan in mails: of the row that was sold, else of its tier.
create function billing.plan_name(p_plan_id uuid, p_tier text)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select p.name from public.plans p where p.id = p_plan_id),
    (select p.name from public.plans p where p.tier = p_tier and p.lookup_key is null),
    p_tier,
    'basic'
  );
end $$;

create or replace view billing.sources with (security_invoker = true) as
select
  s.*,
  s.ended_at is null and s.lapses_at > billing.clock() as is_running,
  -- What the gateway bills has a day until its next charge is known to fail, or to be missing.
  coalesce(s.ends_at, 'infinity') <= billing.clock()
    and (s.lapses_at < 'infinity' or s.is_failing or s.ends_at <= billing.clock() - interval '1 day') as is_in_grace
from (
  select
    p.user_id, 'payment' as kind, p.id::text as id, pl.id as plan_id, p.tier,
    coalesce(p.chain_start, p.period_start) as starts_at,
    p.period_end as ends_at,
    -- No days of grace for what the customer cancelled, also below a source that ruled then.
    p.period_end + make_interval(hours => 24 * billing.grace_days(pl.grace_days, own.is_cancelled)) as lapses_at,
    -- An import by the app may leave since empty.
    coalesce(p.since, p.fulfilled_at) as since,
    greatest(p.fulfilled_at, p.verified_at) as arrived_at,
    least(p.ended_at, replaced.at) as ended_at,
    coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
      as ended_reason,
    p.cancel_at_period_end and own.is_cancelled as cancel_at_period_end,
    null::text as gateway_subscription_id,
    p.ended_at is null and coalesce(p.settle_at > billing.clock(), false) as is_upcoming,
    billing.price_sold(p) as sold,
    null::jsonb as entitlements,
    false as is_failing
  from public.payments p
  left join public.plans pl on pl.id = p.plan_id
  left join billing.ends_wished wished on wished.user_id = p.user_id
  cross join lateral (
    select case
      when p.cancel_at_period_end
        -- What has lapsed is not cancelled any more.
        or wished.at >= coalesce(p.since, p.fulfilled_at)
        and wished.at < p.period_end + make_interval(hours => 24 * billing.grace_days(pl.grace_days, false))
        then not billing.is_renewed_since(p.id, wished.at)
      else false
    end as is_cancelled
  ) own
  left join lateral (
    select min(r.since) as at from billing.replacements r where r.kind = 'payment' and r.id = p.id::text
  ) replaced on true
  where p.fulfilled_at is not null
  union all
  select
    m.user_id, 'gateway_subscription', m.gateway_subscription_id, m.plan_id, pl.tier,
    least(m.period_start, m.paid_until),
    coalesce(m.paid_until, m.period_end),
    own.lapses_at,
    -- The renewal of a purchase follows it, also where the customer authorised it first. A change of plan that was undone, and
    -- charged all the same, ranks below what was kept.
    greatest(coalesce(billing.since_of(kept) - interval '1 microsecond', billing.since_of(m)), renewed.since + interval '1 microsecond'),
    m.arrived_at,
    coalesce(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts, by the whole seconds of the gateway.
    coalesce(date_trunc('second', m.starts_at) > billing.clock() and not m.is_trial, false),
    m.sold,
    null,
    -- Or it is not charged again.
    coalesce(m.gateway_status in ('pending', 'halted'), false) or not billing.has_next_charge(m)
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  left join public.payments renewed on renewed.id = m.payment_id
  left join billing.gateway_subscriptions kept
    on kept.user_id = m.user_id
    and kept.gateway_subscription_id = m.replaces
    and m.undone_at is not null
  cross join lateral billing.mirrored_end(m, pl.grace_days) own
  -- Only the credited cycle has ended. A later one is a source again.
  left join lateral (
    select min(r.since) as at
    from billing.replacements r
    where r.kind = 'gateway_subscription'
      and r.id = m.gateway_subscription_id
      and r.user_id = m.user_id
      and r.until = m.period_end
  ) replaced on true
  where m.period_end is not null
  union all
  select
    g.user_id, 'grant', g.id::text, pl.id, g.tier, g.at, g.until,
    g.until + make_interval(hours => 24 * billing.grace_days(pl.grace_days, g.cancel_at_period_end)),
    g.at, g.at, g.ended_at, g.ended_reason, g.cancel_at_period_end, null, false, null, g.entitlements,
    false
  from billing.grants g
  left join public.plans pl on pl.tier = g.tier and pl.lookup_key is null
  union all
  select
    w.user_id, 'manual', w.user_id::text, pl.id, w.tier, w.period_start, w.period_end,
    case
      -- The gateway is not read again once it says completed or cancelled.
      when w.gateway_subscription_id is not null and (m.id is null or billing.is_billed(m))
        then billing.billed_until(w.period_end, m.checked_at, grace.days)
      else coalesce(w.period_end + make_interval(hours => 24 * grace.days), 'infinity')
    end,
    w.at,
    w.at,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
    w.cancel_at_period_end,
    w.gateway_subscription_id,
    false,
    null,
    w.entitlements,
    coalesce(m.gateway_status in ('pending', 'halted'), false) or not billing.has_next_charge(m)
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;

-- Returns what the mail about an end says: of a refund what was refunded of the payment that the source is, or of the newest
-- refunded cycle.
create or replace function billing.end_mail(
  p_before public.subscriptions,
  p_source billing.sources,
  p_reason text,
  p_ended_at timestamptz
)
returns jsonb -- see billing.announce_access
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'key', format('subscription-ended/%s/%s', p_before.id, billing.iso_time(p_ended_at)),
    'plan_name', billing.plan_name(p_source.plan_id, p_source.tier),
    'ends_at', billing.iso_time(p_ended_at)
  ) || case
    when p_reason = 'refunded' then billing.outlook(p_source.user_id) || coalesce((
      -- Else the rest was lost in a dispute.
      select case when billing.lost_amount(p.gateway_payment_id) = 0
        then jsonb_build_object('amount', p.refunded_amount, 'currency', p.currency)
      end
      from public.payments p
      where p.user_id = p_source.user_id
        and p.refunded_amount > 0
        and (p.id::text = p_source.id or p.gateway_subscription_id = p_source.gateway_subscription_id)
      order by p.period_end desc nulls last
      limit 1
    ), '{}')
    -- After the days of grace, as the mail about the failed charge says.
    when p_reason = 'lapsed' and p_source.lapses_at > p_source.ends_at and p_source.lapses_at <= billing.clock()
      then jsonb_build_object('access_ended_at', billing.iso_time(p_source.lapses_at))
    else '{}'
  end;
end $$;

-- A change of a plan's days of grace acts at once on the periods that are over, also on those that lapsed and would still run.
create or replace function billing.check_grace()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.subscriptions s
  set due_at = billing.clock()
  where s.plan_id = new.id
    and s.current_period_end < billing.clock()
    and (
      s.status = 'active'
      or s.ended_reason = 'lapsed' and s.current_period_end + make_interval(hours => 24 * new.grace_days) > billing.clock()
    );
  return null;
end $$;

-- Enqueues the mail about an access that ends soon, one for each end of a period.
create or replace function billing.announce_end(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  insert into billing.outbox (key, destination, kind, payload)
  select
    format('subscription-ending/%s/%s', s.id, billing.iso_time(s.current_period_end)),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', billing.plan_name(s.plan_id, s.tier),
      'ends_at', billing.iso_time(s.current_period_end),
      'early_renewal', billing.early_renewal()
    ) || case when s.tier = any (billing.tiers_on_offer()) then '{}' else '{"is_on_sale": false}' end::jsonb
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join billing.profiles p on p.user_id = s.user_id
  where s.user_id = p_user_id
    and u.email <> ''
    and s.status = 'active'
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + interval '7 days'
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= interval '7 days')
    -- No mail if the gateway charges what runs, or what follows it.
    and not exists (
      select from billing.find_billed(s.user_id) b
      where b.charge_at <= s.current_period_end + interval '1 day'
        -- A row that was written by hand may say that it ends.
        and not (s.cancel_at_period_end and b.id = s.gateway_subscription_id)
    )
    -- No mail if another source takes over.
    and not exists (
      select from billing.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    )
  on conflict (key) do nothing;
end $$;

-- Returns whether the user has authorised another subscription since: of several that wait only one starts. Of two changes
-- that is the one that was asked for last. One that waits for the end of this one, or whose purchase does not go on, is none.
-- While this one runs, only one counts that was authorised after the last act on this one, and starts by its next charge: this
-- one was not known when that was asked for.
create or replace function billing.is_superseded(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.gateway_subscriptions o
    where o.user_id = p_subscription.user_id
      and o.id <> p_subscription.id
      and o.asked_plan_id is not null
      and o.gateway_subscription_id is distinct from p_subscription.replaces
      and o.replaces is distinct from p_subscription.gateway_subscription_id
      and (o.payment_id is null or billing.renews_purchase(o))
      and o.undone_at is null
      and billing.is_billed(o)
      and (
        p_subscription.period_end is null
        or o.period_end is null
          and o.starts_at <= p_subscription.period_end + interval '1 day'
          and billing.authorised_at(o) > billing.since_of(p_subscription)
          and billing.cancelled_by_user_at(o.user_id, o.asked_at) is null
          and (o.payment_id is null or exists (select from public.payments p where p.id = o.payment_id and p.fulfilled_at is not null))
      )
      and case
        when num_nonnulls(o.replaces, o.payment_id) > 0
          and num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0
          then (o.asked_at, o.id) > (p_subscription.asked_at, p_subscription.id)
        else (billing.authorised_at(o), o.asked_at, o.id)
          > (coalesce(billing.authorised_at(p_subscription), p_subscription.asked_at), p_subscription.asked_at, p_subscription.id)
      end
  );
end $$;

-- Enqueues the mail about a cancellation, and withdraws what it makes untrue. The caller has settled the user's access.
create or replace function billing.announce_cancellation(
  p_wish billing.wishes,
  p_email text, -- of the user
  p_before public.subscriptions -- before the cancellation; all null: none
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_had_access constant boolean := p_before.status is not distinct from 'active';
  v_plan_id uuid;
  v_plan_name text;
begin
  perform billing.withdraw_outlook(p_wish.user_id);
  perform billing.withdraw_mails(array(
    select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_wish.user_id and w.at_period_end
  ));
  -- For the period's end what is paid for is cancelled, also below a gift. At once all access ends.
  v_plan_id := coalesce(
    (
      select c.plan_id
      from billing.find_commitment(p_wish.user_id) c
      where p_wish.at_period_end and c.gateway_subscription_id is not null
    ),
    p_before.plan_id
  );
  v_plan_name := case
    when v_had_access then billing.plan_name(v_plan_id, p_before.tier)
    else (
      select p.name
      from billing.stoppable s
      join public.plans p on p.id = coalesce((s.subscription).plan_id, (s.subscription).asked_plan_id)
      where s.user_id = p_wish.user_id and s.is_open
      order by s.authorised_at desc nulls last
      limit 1
    )
  end;
  perform billing.enqueue_mail(
    p_wish.user_id, p_email, 'subscription-cancelled', p_wish.id::text,
    jsonb_build_object('plan_name', coalesce(v_plan_name, billing.plan_name(null, p_before.tier)))
      || billing.cancellation_terms(p_wish.user_id, p_wish.at_period_end, v_had_access)
  );
  -- The gateway is read now, before it is told. It may have charged a cycle that is not known here.
  update billing.outbox o
  set next_attempt_at = billing.clock() + interval '5 minutes'
  where o.key = 'subscription-cancelled/' || p_wish.id
    and p_wish.at_period_end
    and exists (
      select from billing.stoppable s
      join billing.outbox stop on stop.key = 'cancel-subscription/' || s.gateway_subscription_id
      where s.user_id = p_wish.user_id
        and s.is_open
        and billing.is_known(s.subscription)
        and stop.next_attempt_at <= billing.clock()
        and num_nonnulls(stop.delivered_at, stop.parked_at) = 0
    );
end $$;

-- Returns what a mail says about the next charge.
create or replace function billing.outlook(p_user_id uuid)
returns jsonb
-- {next_charge: see billing.next_charge_answer, is_open: true if there is none, and the customer may authorise one,
-- next_charge_at: if the amount of that charge is not known}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant jsonb := billing.next_charge_answer(p_user_id);
begin
  -- The customer may have authorised it, and the gateway's word is late.
  if v_next is null and exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.expires_at > billing.clock()
      and not billing.is_known(m)
      and num_nonnulls(m.undone_at, m.stops_at) = 0
  ) then
    return '{"next_charge": null, "is_open": true}';
  end if;
  return jsonb_build_object('next_charge', v_next) || case
    when v_next is null then jsonb_strip_nulls(jsonb_build_object(
      'next_charge_at', (select billing.iso_time(min(b.charge_at)) from billing.find_billed(p_user_id) b)
    ))
    else '{}'
  end;
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
  out unread text -- the gateway subscription whose running cycle was paid by a payment that is not known yet; null: none
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
      case when billing.lacks_payment(m) then m.gateway_subscription_id end
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

-- Settles the access of a user whose payment is fulfilled, with the success mail.
create or replace function billing.settle_purchase(
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

-- Returns whether what is paid may differ from what was ordered, by a fee on top or an offer: it did lately.
create function billing.amounts_vary()
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from (
      select p.amount, p.paid_amount from public.payments p where p.status = 'captured' order by p.captured_at desc limit 20
    ) newest
    where newest.paid_amount <> newest.amount
  );
end $$;

-- Lets the mails about a purchase wait a minute for the amount that was paid, or gives it to those that wait.
create function billing.set_mailed_amount(
  p_payment_id uuid,
  p_paid_amount bigint -- minor currency units; null: the gateway has not said it yet
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_paid_amount is null and not billing.amounts_vary() then return; end if;
  update billing.outbox o
  set payload = o.payload || jsonb_strip_nulls(jsonb_build_object('amount', p_paid_amount)),
    next_attempt_at = case when p_paid_amount is null then o.queued_at + interval '1 minute' else o.queued_at end
  where o.key = any (array['payment-success/' || p_payment_id, 'plan-changed/' || p_payment_id])
    and num_nonnulls(o.delivered_at, o.parked_at) + cardinality(o.claims) = 0
    and (p_paid_amount is null or o.next_attempt_at > o.queued_at or o.payload -> 'amount' <> to_jsonb(p_paid_amount));
end $$;

-- Enqueues the mail about a change now whose payment got credit: what it replaced, and what is charged from its end on.
create or replace function billing.announce_replacement(
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
        (select c.plan_id from public.payments c where p_payment.credited_kind = 'payment' and c.id::text = p_payment.credited_id),
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
create or replace function billing.fulfil_payment(
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
-- {outcome: unread, gateway_subscription_id}: its invoices name the payment that gives a credit
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
    return jsonb_build_object('outcome', 'unread', 'gateway_subscription_id', v_credit.unread);
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
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
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

revoke execute on function
  public.create_order, public.store_order, public.discard_order, public.get_order
from public, anon, authenticated;

grant execute on function
  public.create_order, public.store_order, public.discard_order, public.get_order
to service_role;

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
  p_is_read boolean -- whether the gateway's invoices were read: else the outcome may be unread
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
    when p_when = 'period_end' and v_plan.id = (v_from.next).asked_plan_id then 'already_subscribed'
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

  v_change.credit := 0;
  v_change.starts_at := v_now;
  v_change.due_at := v_now;
  if p_when = 'now' then
    v_change.credit := coalesce(v_credit.credit, 0);
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
create or replace function billing.announce_change(
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
create or replace function billing.announce_going_on(
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

-- Returns the terms of a change in answers, or why it is refused.
create function billing.change_answer(p_change billing.change)
returns jsonb -- see public.preview_change
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', p_change.outcome,
      'reason', p_change.reason,
      'gateway_subscription_id', case when p_change.outcome = 'unread' then p_change.unread end,
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
-- {outcome: unread, gateway_subscription_id}
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$ begin return billing.change_answer(billing.plan_change(p_user_id, p_tier, p_when, p_price, p_is_read)); end $$;

create or replace function public.create_change(
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

revoke execute on function
  public.create_subscription, public.store_subscription, public.verify_subscription, public.preview_change,
  public.create_change
from public, anon, authenticated;

grant execute on function
  public.create_subscription, public.store_subscription, public.verify_subscription, public.preview_change,
  public.create_change
to service_role;

-- Applies payment.captured or order.paid: fulfils the payment as verify would, whichever comes first. The gateway must say that
-- the order is paid, or the payment must have exactly the amount of the order: the customer may bear the gateway's fee, or have
-- an offer. Contract: "Closed browser".
create or replace function billing.apply_payment_captured(p_entity jsonb, p_order jsonb)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := billing.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    billing.json_text(p_entity -> 'order_id'), billing.json_text(p_order -> 'id')
  );
  v_amount constant bigint := billing.json_integer(p_entity -> 'amount');
  v_base_amount bigint; -- what the gateway booked in INR
  v_payment public.payments := billing.find_payment(p_entity, p_order);
  v_settles constant boolean := billing.capture_settles(v_payment, v_gateway_payment_id, v_amount);
  v_purchase billing.purchase;
  v_is_same boolean;
  v_is_exact boolean;
  v_counts_now boolean := false;
  v_email text;
  v_outcome text;
begin
  if v_gateway_payment_id is null then return 'ignored: payment.entity.id'; end if;
  perform billing.note_missing_user(v_payment);
  if v_payment.gateway_subscription_id is not null then
    return 'already'; -- subscription.charged stored the charge
  end if;
  if v_payment.id is null or v_payment.gateway_payment_id is distinct from v_gateway_payment_id and v_amount is null then
    return 'unmatched';
  end if;

  if v_settles then
    v_email := billing.lock_user(v_payment.user_id);
  end if;
  v_purchase := billing.lock_purchase(v_payment.id, v_gateway_payment_id);
  v_payment := v_purchase.payment;
  if not v_settles and billing.capture_settles(v_payment, v_gateway_payment_id, v_amount) then
    -- It changed before it was locked. The lock of the user comes before that of the payment, so the caller starts over.
    raise serialization_failure using message = 'the payment changed before it was locked';
  end if;
  v_is_same := v_payment.gateway_payment_id is not distinct from v_gateway_payment_id;
  v_is_exact := billing.is_paid(v_payment, p_entity, p_order);
  if not v_is_same and not v_is_exact then
    -- The order itself is read at once: only it says whether that was its payment.
    update public.payments p
    set next_reconcile_at = billing.clock()
    where p.id = v_payment.id and p.gateway_order_id = v_gateway_order_id and p.status <> 'captured';
    return 'mismatch';
  end if;
  if v_payment.currency <> 'INR' then v_base_amount := billing.json_integer(p_entity -> 'base_amount'); end if;
  if v_is_same or v_payment.status <> 'captured' then
    v_payment.paid_amount := coalesce(v_amount, v_payment.paid_amount);
    v_payment.base_amount := coalesce(v_base_amount, v_payment.base_amount);
  end if;

  if not v_is_same and v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := v_gateway_payment_id;
    -- Its refunds may arrive before the capture.
    v_payment.refunded_amount := v_purchase.refunded_amount;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform billing.note_extra_payment(v_payment, v_gateway_payment_id, billing.clock(), v_amount, v_base_amount);
    v_payment := billing.count_best_payment(v_payment);
    v_counts_now := v_payment.gateway_payment_id = v_gateway_payment_id;
  end if;

  if v_is_exact
    and (v_payment.fulfilled_at is null or v_payment.uncaptured_at is not null or v_payment.ended_reason = 'refunded')
    and (v_payment.status <> 'captured' or not billing.is_refunded(v_payment))
  then
    v_is_same := v_payment.gateway_payment_id = v_gateway_payment_id;
    v_purchase.payment := v_payment;
    v_outcome := billing.fulfil_payment(v_purchase, v_email, null, v_is_same) ->> 'outcome';
    if v_payment.gateway_order_id is null then
      -- The update applies the events that wait for the order.
      update public.payments p set gateway_order_id = v_gateway_order_id where p.id = v_payment.id;
    end if;
    return case v_outcome when 'plan_not_found' then 'plan_not_found' else 'applied' end;
  end if;

  if v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_payment.status = 'captured' and v_payment.confirmed_at is not null
  then
    return case when v_counts_now then 'applied' else 'already' end;
  end if;
  update public.payments p
  set status = 'captured',
    captured_at = coalesce(p.captured_at, billing.clock()),
    confirmed_at = coalesce(p.confirmed_at, billing.clock()),
    paid_amount = coalesce(v_amount, p.paid_amount),
    base_amount = coalesce(v_payment.base_amount, p.base_amount)
  where p.id = v_payment.id
  returning * into v_payment;
  if v_amount <> v_payment.amount then perform billing.settle_full_refund(v_payment, v_email); end if;
  -- Last, since the lock of a mail comes after that of the subscription.
  perform billing.set_mailed_amount(v_payment.id, v_payment.paid_amount);
  return 'applied';
end $$;

-- Enqueues the mail about a refund, and withdraws it if the refund failed. Withdraws what a full refund makes untrue. The caller
-- has settled the user's access.
create or replace function billing.announce_refund(
  p_refund jsonb, -- the entity
  p_payment public.payments,
  p_email text, -- of the user
  p_had_access boolean -- before the refund
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant text := billing.json_text(p_refund -> 'id');
  v_after public.subscriptions;
begin
  if p_refund ->> 'status' = 'failed' then perform billing.withdraw_mails(array['payment-refunded/' || v_id]); end if;
  if billing.is_refunded(p_payment) then perform billing.withdraw_mails(array['plan-changed/' || p_payment.id]); end if;
  select * into v_after from public.subscriptions s where s.user_id = p_payment.user_id;
  if p_refund ->> 'status' <> 'processed'
    -- The mail about the end names the refund.
    or p_had_access is true and v_after.status = 'cancelled' and v_after.ended_reason = 'refunded'
    -- An import finds old refunds.
    or billing.json_time(p_refund -> 'created_at') < billing.clock() - interval '30 days'
  then
    return;
  end if;
  perform billing.enqueue_mail(p_payment.user_id, p_email, 'payment-refunded', v_id, jsonb_build_object(
    'amount', billing.json_integer(p_refund -> 'amount'), 'currency', p_payment.currency,
    'plan_name', billing.plan_name(p_payment.plan_id, p_payment.tier),
    'paid_amount', coalesce(p_payment.paid_amount, p_payment.amount),
    'paid_at', billing.iso_time(coalesce(p_payment.captured_at, p_payment.fulfilled_at, p_payment.created_at)),
    'transaction_id', p_payment.gateway_payment_id,
    'access_plan_name', case when v_after.status = 'active' then billing.plan_name(v_after.plan_id, v_after.tier) end,
    'access_ends_at', case when v_after.status = 'active' then billing.iso_time(v_after.current_period_end) end
  ) || billing.outlook(p_payment.user_id));
end $$;

-- Returns what a refund of all that is left of a payment changes of what the gateway charges.
create or replace function billing.refund_effect(p_payment public.payments)
-- uncovers_credit: also of a part, because a later purchase got a credit for it; ends_renewal; resumes_replaced: a subscription
-- that it replaced is charged again; null: nothing
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_payment.extra_of is not null then null
    when exists (select from billing.purchases_on_credit(p_payment)) then 'uncovers_credit'
    when p_payment.gateway_subscription_id is not null then null
    when exists (
      select from billing.next_charge(p_payment.user_id) n
      join billing.gateway_subscriptions m
        on m.user_id = n.user_id
        and m.gateway_subscription_id = n.id
        and m.payment_id = p_payment.id
      where n.kind <> 'subscription'
    ) then 'ends_renewal'
    when exists (
      select from billing.commitments(p_payment.user_id) c
      join billing.gateway_subscriptions m
        on m.user_id = p_payment.user_id
        and m.gateway_subscription_id = c.id
      where c.stop_reason = 'replaced'
        and not billing.is_stop_sent(c.id)
        -- Nothing else replaced it.
        and not exists (
          select from billing.purchases o
          where o.user_id = m.user_id
            and o.id <> p_payment.id::text
            and o.gateway_subscription_id is distinct from c.id
            and o.since > billing.since_of(m)
        )
    ) then 'resumes_replaced'
  end;
end $$;

-- Asks the gateway for a refund: of all that is left, or of a part. Access follows from the refund, as from any other.
create or replace function billing.perform_refund(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant uuid := billing.payment_id_of(p_action.reference);
  v_payment public.payments;
  v_left bigint;
  v_most bigint;
  v_effect text;
begin
  perform billing.require(p_action.reference is not null, 'PS400', 'refund needs reference: the payment');
  perform billing.require((p_action.amount > 0) is not false, 'PS400', 'refund needs an amount above 0');
  select * into v_payment
  from public.payments p
  where p.id = v_id and p.user_id is not distinct from coalesce(p_action.user_id, p.user_id);
  perform billing.require(
    v_payment.id is not null, 'PS404', format('refund needs reference: no payment "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    v_payment.status = 'captured' and v_payment.gateway_payment_id is not null, 'PS409',
    format('payment %s was not captured', p_action.reference)
  );
  -- Two at once would each find all of it left. Read again by the gateway's id: of two payments on an order the other one
  -- may count by now.
  perform billing.lock_gateway_payment(v_payment.gateway_payment_id);
  select * into v_payment from public.payments p where p.gateway_payment_id = v_payment.gateway_payment_id;
  v_left := billing.refundable_amount(v_payment);
  p_action.amount := coalesce(p_action.amount, v_left);
  perform billing.require(
    p_action.amount between 1 and v_left, 'PS409',
    format(
      'of payment %s %s can be refunded: the rest was refunded or asked for before', v_payment.gateway_payment_id,
      billing.amount_text(v_left, v_payment.currency)
    )
  );
  perform billing.require(
    p_action.amount >= 100, 'PS400',
    format('the gateway refunds %s at least', billing.amount_text(100, v_payment.currency))
  );
  if not billing.acts_as_owner(p_action) then
    select s.support_refund_amount into v_most from billing.settings s;
    perform billing.require(
      v_most is null or v_most >= p_action.amount + (
        select coalesce(sum(r.amount), 0)
        from billing.refund_requests r
        where r.payment_id = v_payment.id and r.status <> 'failed'
      ),
      'PS403', format(
        'support may refund %s of a payment at most: the setting support_refund_amount',
        billing.amount_text(v_most, v_payment.currency)
      )
    );
  end if;
  p_action.reference := v_payment.gateway_payment_id;
  p_action.user_id := v_payment.user_id;
  v_effect := billing.refund_effect(v_payment);
  perform billing.enqueue(
    'refund-' || gen_random_uuid(), 'gateway', 'refund',
    jsonb_build_object(
      'gateway_payment_id', v_payment.gateway_payment_id, 'amount', p_action.amount, 'currency', v_payment.currency,
      'support_action', p_action.id::text
    )
  );
  p_action.result := format(
    'The gateway is asked to refund %s of payment %s. %s%s',
    billing.amount_text(p_action.amount, v_payment.currency), v_payment.gateway_payment_id,
    (
      select format('Dispute %s of it is open: if it is lost, the money is gone twice. ', min(d.dispute_id))
      from billing.disputes d
      where d.gateway_payment_id = v_payment.gateway_payment_id and billing.decision_rank(d.status) = 0
      having count(*) > 0
    ),
    case
      when v_payment.extra_of is not null then 'Access does not depend on it.'
      when v_effect = 'uncovers_credit' then (
        select format(
          'Access stays: its unused time was credited to payment %s, which is not covered then (unearned_credit). ',
          string_agg(p.gateway_payment_id, ', ' order by p.fulfilled_at)
        )
        from billing.purchases_on_credit(v_payment) p
      ) || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when p_action.amount < v_left then 'Access stays.'
      when v_payment.gateway_subscription_id is not null
        then 'The paid time of its cycle ends when the refund is processed. '
          || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when v_effect = 'ends_renewal' then 'Its access and its renewal end when the refund is processed.'
      when v_effect = 'resumes_replaced' then 'Its access ends when the refund is processed, and what it replaced goes on.'
      else 'Its access ends when the refund is processed. ' || coalesce(billing.next_charge_text(v_payment.user_id), '')
    end
  );
  return p_action;
end $$;

create or replace view billing.dispute_lost with (security_invoker = true) as
select
  p.user_id,
  p.captured_at as since,
  case when p.gateway_subscription_id is null then p.id end as payment_id,
  p.tier, p.amount, lost.amount as lost, billing.kept(p) as kept, p.gateway_payment_id
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.dispute_status is not null
  and lost.amount > 0
  -- An admin accepted that a part was lost.
  and not (billing.kept(p) > 0 and billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at)))
  and (
    p.period_end > (select billing.clock()) and (
      p.fulfilled_at is not null
      and p.ended_at is null
      or exists (
        select from billing.sources s
        where (s.user_id, s.kind, s.id) = (p.user_id, 'gateway_subscription', p.gateway_subscription_id) and s.is_running
      )
    )
    or exists (select from billing.purchases_on_credit(p))
  );

-- Security definer, as the function below: the role of an app may write these tables but not the list.
create or replace function billing.note_payment_document()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.documents_due (payment_id, confirmed_at, buyer)
  values (new.id, new.confirmed_at, billing.buyer_of(new.user_id))
  on conflict (payment_id) do nothing;
  return null;
end $$;

-- A user may be deleted before the receipt is issued, and the details with the user. Security definer, as above.
create function billing.note_buyer()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update billing.documents_due d
  set buyer = billing.buyer_of(new.user_id)
  from public.payments p
  where p.id = d.payment_id and p.user_id = new.user_id;
  return null;
end $$;

-- Lets documents follow their payments when two rows exchange these, and lists what each row lacks then.
-- Security definer, as above.
create or replace function billing.exchange_documents(p_one uuid, p_other uuid)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_of_one uuid[];
begin
  if (select s.receipts_from from billing.settings s) is null then return; end if;
  -- A batch that numbers documents has read the rows as they were.
  perform billing.lock_numbers();
  v_of_one := array(select r.id from public.receipts r where r.payment_id = p_one);
  perform set_config('subscriptions.documents_follow', 'on', true);
  -- No two receipts may name one payment meanwhile.
  update public.receipts r set payment_id = r.id where r.id = any (v_of_one);
  update public.receipts r set payment_id = p_one where r.payment_id = p_other;
  update public.receipts r set payment_id = p_other where r.id = any (v_of_one);
  perform set_config('subscriptions.documents_follow', null, true);
  insert into billing.documents_due as d (payment_id, confirmed_at, buyer)
  select p.id, p.confirmed_at, billing.buyer_of(p.user_id)
  from public.payments p
  where p.id in (p_one, p_other) and p.confirmed_at is not null
  on conflict (payment_id) do update set confirmed_at = excluded.confirmed_at, due_at = least(d.due_at, excluded.due_at);
end $$;

-- Lists the next payments that were confirmed before receipts were switched on. Those that are confirmed later list themselves.
create or replace function billing.list_documents(p_from timestamptz, p_receipts_from timestamptz)
returns integer -- at least 1
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_until constant timestamptz := (
    select p.captured_at from public.payments p where p.status = 'captured' and p.captured_at > p_from order by p.captured_at offset 9999 limit 1
  );
  v_listed integer;
begin
  insert into billing.documents_due (payment_id, confirmed_at, buyer)
  select p.id, p.confirmed_at, billing.buyer_of(p.user_id)
  from public.payments p
  where p.status = 'captured'
    and p.captured_at > p_from
    and p.captured_at <= coalesce(v_until, 'infinity')
    and p.confirmed_at >= p_receipts_from
  on conflict (payment_id) do nothing;
  get diagnostics v_listed = row_count;
  update billing.scheduled_jobs j set listed_until = v_until where j.name = 'sweep';
  return v_listed + 1;
end $$;

-- Issues the receipt of a payment. The caller holds the lock of the numbers.
create or replace function billing.issue_receipt(
  p_payment public.payments,
  p_settings billing.settings,
  p_replaced public.receipts default null -- that the new receipt replaces
)
returns public.receipts language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := coalesce(
    -- Of what is replaced the rest that no note took before.
    (p_replaced.totals ->> 'total')::bigint - billing.noted_total(p_replaced.id),
    least(coalesce(p_payment.paid_amount, p_payment.amount), p_payment.amount)
  );
  v_buyer constant jsonb := case
    when p_payment.user_id is null then coalesce(
      p_replaced.buyer, (select d.buyer from billing.documents_due d where d.payment_id = p_payment.id), billing.buyer_of(null)
    )
    else billing.buyer_of(p_payment.user_id)
  end;
  v_place constant text := case
    when p_settings.seller_gstin is not null then coalesce(v_buyer ->> 'state', p_settings.seller_state)
  end;
  v_heads constant jsonb := billing.tax_heads(p_settings, v_place);
  v_item constant text := coalesce((select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'Payment');
  v_rupees bigint;
  v_document public.receipts;
begin
  v_rupees := case
    when p_payment.currency = 'INR' then v_total
    -- What the gateway booked is the whole payment.
    else round(p_payment.base_amount::numeric * v_total / nullif(coalesce(p_payment.paid_amount, p_payment.amount), 0))
  end;
  v_document.kind := 'receipt';
  v_document.title := case when p_settings.seller_gstin is null then 'Receipt' else 'Tax invoice' end;
  v_document.issued_at := case when p_replaced.id is null then p_payment.confirmed_at else billing.clock() end;
  v_document.reissue_of := p_replaced.id;
  v_document.payment_id := p_payment.id;
  v_document.user_id := p_payment.user_id;
  v_document.place_of_supply := v_place;
  v_document.currency := p_payment.currency;
  v_document.seller := jsonb_build_object(
    'name', p_settings.seller_name, 'address', p_settings.seller_address, 'gstin', p_settings.seller_gstin,
    'state', p_settings.seller_state
  ) || case when v_place = '96' and p_settings.export_lut is not null then jsonb_build_object('lut', p_settings.export_lut) else '{}' end;
  v_document.buyer := v_buyer;
  v_document.totals := billing.split_tax(v_total, v_heads);
  v_document.category := case
    when p_settings.seller_gstin is null then 'none'
    when v_place = '96' then case when v_heads = '[]' then 'expwop' else 'expwp' end
    when v_buyer ->> 'gstin' is not null then 'b2b'
    when v_place <> p_settings.seller_state and v_rupees > 10000000 then 'b2cl'
    else 'b2cs'
  end;
  v_document.lines := jsonb_build_array(jsonb_build_object(
    'description', concat_ws(
      ', ', v_item,
      billing.document_day(billing.day_in_india(p_payment.period_start)) || ' – '
        || billing.document_day(billing.day_in_india(p_payment.period_end))
    ),
    'item', v_item, 'sac', p_settings.sac, 'quantity', 1, 'amount', v_total
  ));
  if p_payment.currency <> 'INR' and v_rupees is not null then
    v_document.rupees := billing.split_tax(v_rupees, v_heads) || jsonb_build_object(
      'rate', trim_scale(round(
        v_rupees / 100.0 / (nullif(v_total, 0) / 10::numeric ^ billing.minor_units(p_payment.currency)), 10
      ))::text,
      'source', 'gateway'
    );
  end if;
  return billing.issue_document(v_document, p_settings.receipt_prefix);
end $$;

-- Issues a credit note of at most the rest of a receipt. The caller holds the lock of the numbers.
create or replace function billing.issue_note(
  p_receipt public.receipts,
  p_settings billing.settings,
  p_amount bigint, -- minor units
  p_refund_id text,
  p_dispute_id text
)
returns public.receipts -- all null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := least(p_amount, (p_receipt.totals ->> 'total')::bigint - billing.noted_total(p_receipt.id));
  v_is_commercial constant boolean := p_receipt.seller ->> 'gstin' is not null and (
    billing.day_in_india(billing.clock()) > billing.last_note_day(p_receipt.document_date)
    or p_dispute_id is not null and not p_settings.dispute_notes
  );
  v_noted jsonb[];
  v_noted_rupees jsonb[];
  v_rupees bigint;
  v_note public.receipts := p_receipt;
begin
  if v_total <= 0 then return null; end if;
  select array_agg(n.totals order by n.issued_at, n.number), array_agg(n.rupees order by n.issued_at, n.number)
  into v_noted, v_noted_rupees
  from public.receipts n
  where n.receipt_id = p_receipt.id and n.title = 'Credit note';
  v_note.kind := 'credit_note';
  v_note.title := case when v_is_commercial then 'Credit note without GST' else 'Credit note' end;
  v_note.issued_at := billing.clock();
  v_note.receipt_id := p_receipt.id;
  v_note.reissue_of := null;
  v_note.refund_id := p_refund_id;
  v_note.dispute_id := p_dispute_id;
  v_note.lines := jsonb_build_array((p_receipt.lines -> 0) || jsonb_build_object(
    'description', format(
      '%s, %s %s of %s',
      case when p_refund_id is not null then 'Refund' when p_dispute_id is not null then 'Lost dispute' else 'Correction' end,
      lower(p_receipt.title), p_receipt.document_number, billing.document_day(p_receipt.document_date)
    ),
    'amount', v_total
  ));
  if v_is_commercial then
    v_note.category := 'none';
    v_note.totals := billing.split_tax(v_total, '[]');
    v_note.rupees := null;
  else
    v_note.totals := billing.split_note(p_receipt.totals, v_noted, v_total);
    if p_receipt.rupees is not null then
      v_rupees := round(
        (p_receipt.rupees ->> 'total')::numeric
          * (v_total + (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted) n)) / (p_receipt.totals ->> 'total')::bigint
      ) - (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted_rupees) n);
      v_note.rupees := billing.split_note(p_receipt.rupees, v_noted_rupees, v_rupees)
        || jsonb_build_object('rate', p_receipt.rupees -> 'rate', 'source', p_receipt.rupees -> 'source');
    end if;
  end if;
  return billing.issue_document(
    v_note, case when v_is_commercial then p_settings.commercial_note_prefix else p_settings.credit_note_prefix end
  );
end $$;

create or replace view billing.book_problems with (security_invoker = true) as
select d.tax_period as month, doubt.problem, d.document_number, d.payment_id, doubt.detail, d.issued_at as since
from billing.book_documents d
cross join lateral (
  select 'state_missing' as problem, 'The buyer''s state is not known: the seller''s was taken.' as detail
  where d.category = 'b2cs' and d.kind = 'receipt' and d.buyer ->> 'state' is null
  union all
  select 'buyer_incomplete', 'The invoice needs the name and the address of its buyer.'
  where d.kind = 'receipt'
    and (d.category in ('b2b', 'expwp', 'expwop') or d.category in ('b2cl', 'b2cs') and d.taxable >= 5000000)
    and (d.buyer ->> 'name' is null or d.buyer ->> 'address' is null)
  union all
  select 'rupees_missing', 'Its value in rupees is not known: the return lacks it.'
  where d.category <> 'none' and d.taxable is null
  union all
  select 'export_paid_in_rupees', 'Abroad, but not paid in foreign exchange: no export.'
  where d.category in ('expwp', 'expwop') and d.kind = 'receipt' and d.currency = 'INR'
  union all
  select 'sac_missing', 'The setting sac was not made.'
  where d.category <> 'none' and d.sac is null
  union all
  select 'einvoice_needed', 'Without the number of an e-invoice it does not count.'
  where d.category in ('b2b', 'expwp', 'expwop') and (select s.over_5_crore from billing.settings s)
  union all
  select 'note_too_late', 'Its tax cannot be adjusted any more.'
  where d.title = 'Credit note without GST' and d.document_date > billing.last_note_day(d.against_date)
) doubt
where not exists (select from public.receipts n where n.reissue_of = d.id)
  -- Only a receipt can be reissued, and not after notes took all of it.
  and (
    doubt.problem not in ('state_missing', 'buyer_incomplete', 'sac_missing')
    or d.kind = 'receipt' and billing.noted_total(d.id) < d.total
  )
union all
select n.tax_period, 'note_of_failed_refund', n.document_number, n.payment_id, 'The refund failed afterwards: the note stands.',
  f.failed_at
from billing.refunds f
join public.receipts n on n.refund_id = f.refund_id
where f.status = 'failed'
union all
-- The tax is due in the month in which the money came back.
select
  date_trunc('month', billing.day_in_india(d.decided_at))::date, 'note_of_won_dispute', n.document_number, n.payment_id,
  'The dispute was won afterwards: the note stands.', d.decided_at
from (select w.*, coalesce(w.event_at, w.arrived_at) as decided_at from billing.disputes w where w.status in ('won', 'closed')) d
join public.receipts n on n.dispute_id = d.dispute_id
union all
select
  date_trunc('month', billing.day_in_india(d.confirmed_at))::date, 'document_waiting', null, d.payment_id,
  'The payment has no document yet.', d.due_at
from billing.documents_due d
where not exists (select from public.receipts r where r.payment_id = d.payment_id)
union all
select v.month, v.problem, null, null, v.settlement_id, v.since
from billing.settlement_problems v
union all
select
  date_trunc('month', billing.day_in_india(p.captured_at))::date, 'payment_unsettled', null, p.id, p.gateway_payment_id,
  p.captured_at
from public.payments p
where p.status = 'captured'
  and p.gateway_payment_id is not null
  -- Since settlements are read.
  and p.captured_at >= (select min(s.created_at) from billing.settlements s)
  and p.captured_at < (select billing.clock()) - interval '240 hours'
  and not exists (
    select from billing.standing_lines l where l.entity_id = p.gateway_payment_id and l.status <> 'failed'
  );

-- Of the last two months: later ones are in a return.
create or replace view billing.book_findings with (security_invoker = true) as
select
  v.problem as finding, coalesce(v.document_number, v.detail) as subject, v.payment_id, v.since,
  jsonb_build_object(
    'document_number', v.document_number, 'payment_id', v.payment_id, 'month', to_char(v.month, 'YYYY-MM'), 'detail', v.detail
  ) as detail,
  case v.problem
    when 'state_missing' then 'Ask the customer for the state, then reissue the receipt.'
    when 'buyer_incomplete' then 'Ask the customer for name and address, then reissue the receipt.'
    when 'rupees_missing' then 'Look the rupees up at the gateway, and add the document to the return by hand.'
    when 'export_paid_in_rupees' then 'Ask an accountant: the tax of a sale inside India may be due.'
    when 'sac_missing' then 'Set sac in billing.settings, then reissue the receipt.'
    when 'einvoice_needed' then 'Make the e-invoice at the portal: without its number this is no invoice.'
    when 'note_too_late' then 'Tell the accountant: the refund does not reduce the tax.'
    when 'note_of_failed_refund' then 'Refund the payment again: the note stands.'
    when 'note_of_won_dispute' then 'Ask the accountant for a debit note: the money is back, and the note stands.'
    when 'payment_unsettled' then 'Look at the gateway why it holds the payment back, and ask it when it settles.'
  end as remedy
from billing.book_problems v
where v.payment_id is not null
  and v.problem <> 'document_waiting'
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

comment on column billing.customer_payments.refund_effect is 'What a refund of all that is left changes: uncovers_credit, or of the next charges ends_renewal, resumes_replaced. Null: nothing.';

comment on function public.create_order(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text,pg_catalog.text,pg_catalog.text,boolean) is 'A user''s open order for a tier, or a new one to make at the gateway.';

comment on function public.preview_change(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text,boolean) is 'What a change of the plan would cost, and when it begins.';

comment on view billing.dispute_lost is 'Payments of which something was lost in disputes, until the support action end_access, or until the period is over or the gateway subscription is cancelled (a cycle has no payment_id); also while a purchase runs that was paid for with the credit of the payment. If a part was kept, a support action note about the payment ends it, too.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "public"."create_order"(uuid, text, text, text, text, text, boolean) FROM PUBLIC, "anon", "authenticated";

REVOKE ALL ON FUNCTION "public"."preview_change"(uuid, text, text, text, boolean) FROM PUBLIC, "anon", "authenticated";

CREATE TRIGGER note_document
  AFTER INSERT OR UPDATE ON public.billing_details
  FOR EACH ROW
  EXECUTE FUNCTION billing.note_buyer();

ALTER TABLE "public"."billing_details"
  DISABLE TRIGGER "note_document";

REVOKE ALL ON FUNCTION "billing"."amounts_vary"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."amounts_vary"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."change_answer"(billing.change) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."change_answer"(billing.change) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_credit"(uuid, public.plans) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_credit"(uuid, public.plans) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."note_buyer"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_buyer"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."plan_change"(uuid, text, text, text, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."plan_change"(uuid, text, text, text, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."plan_name"(uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."plan_name"(uuid, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."set_mailed_amount"(uuid, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."set_mailed_amount"(uuid, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_order"(uuid, text, text, text, text, text, boolean) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."preview_change"(uuid, text, text, text, boolean) TO "service_role";

revoke execute on all functions in schema billing from public;

-- The new trigger is on where documents are.
select billing.switch_triggers('note_document', s.receipts_from is not null) from billing.settings s;
update billing.documents_due d
set buyer = billing.buyer_of(p.user_id)
from public.payments p
where p.id = d.payment_id and p.user_id is not null;
