-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.note_extra_payment(public.payments,pg_catalog.text,timestamp with time zone);

comment on column billing.support_actions.reference is null;

comment on view billing.outbox_stuck is null;

comment on view billing.purchases is null;

ALTER TABLE "billing"."refunds"
  ADD COLUMN "failed_at" timestamp WITH time zone;

ALTER TABLE "billing"."refunds"
  ADD COLUMN "support_action_id" bigint;

CREATE INDEX refunds_failed_idx ON billing.refunds USING btree (failed_at)
  WHERE (status = 'failed'::text);

update billing.refunds set failed_at = created_at where status = 'failed';

-- After the lease, rows that were neither completed nor failed may be claimed again.
create or replace function public.claim_outbox(p_destination text)
returns jsonb -- {token, rows: [{id, key, kind, payload}], parked}: at most 20 rows, with the parked ones
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  v_token constant uuid := gen_random_uuid();
  v_result jsonb;
begin
  with due as materialized (
    select
      o.id,
      -- Too old: tried for a day, or a mail that waited for a day. Then the provider no longer knows the idempotency key.
      o.queued_at <= billing.clock() - billing.tried_for(o.kind)
        and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over,
      o.kind = 'refund' and not billing.may_refund(o) as is_void
    from billing.outbox o
    where o.destination = p_destination
      and o.delivered_at is null
      and o.parked_at is null
      and o.next_attempt_at <= billing.clock()
      and not exists (
        select from billing.marks m where m.kind = 'pause' and m.key = p_destination and m.at > billing.clock()
      )
    order by o.next_attempt_at
    limit 20
    for update skip locked
  ),
  claimed as (
    update billing.outbox o
    -- Of the tokens the newest 20 remain: no older claim still runs, and repeated pauses must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = billing.clock() + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over or due.is_void then billing.clock() end,
      last_error = case
        when due.is_void then 'no longer refundable'
        when due.is_over then coalesce(o.last_error, 'not delivered within ' || to_char(billing.tried_for(o.kind), 'HH24') || ' hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'kind', c.kind, 'payload', c.payload) order by c.id)
        filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at)
  )
  into v_result
  from claimed c;
  return v_result;
end $$;

-- Also after the lease, or after another claim: the receiver has accepted them.
create or replace function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null, -- why no message was sent
  p_refund text default null -- of a single row: the refund that the gateway made, its entity, JSON
)
returns jsonb -- {completed}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  v_completed integer;
begin
  -- First, because it locks the payment and the user, whose locks come before those of messages.
  if p_refund is not null then
    perform billing.apply_refund_answer(o, p_refund::jsonb) from billing.outbox o where o.id = split_part(p_ids, ',', 1)::bigint;
  end if;
  -- Here and in fail_outbox the rows are locked in the order of their ids, so that two dispatchers do not deadlock.
  with delivered as materialized (
    select o.id
    from billing.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[]) and p_token = any (o.claims) and o.delivered_at is null
    order by o.id
    for no key update
  )
  update billing.outbox o
  set delivered_at = billing.clock(), last_error = coalesce(p_note, o.last_error), parked_at = null
  from delivered
  where o.id = delivered.id;
  get diagnostics v_completed = row_count;
  return jsonb_build_object('completed', v_completed);
end $$;

-- For an admin who repaired the cause: retries a parked side effect for another 24 hours.
create or replace function billing.requeue(p_id bigint)
returns boolean -- false: no such row, it is delivered, or it is a refund of more than is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.outbox o
  -- A claim that is still running may complete the row, but not fail it.
  set claims = o.claims || null::uuid,
    queued_at = billing.clock(), next_attempt_at = billing.clock(), attempts = 0, parked_at = null
  where o.id = p_id and o.delivered_at is null and (o.kind <> 'refund' or billing.may_refund(o));
  if found then perform billing.wake(); end if;
  return found;
end $$;

create function billing.newest_dispute(p_gateway_payment_id text)
returns text -- null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select d.dispute_id
    from billing.disputes d
    where d.gateway_payment_id = p_gateway_payment_id
    order by coalesce(d.event_at, d.arrived_at) desc, billing.decision_rank(d.status) desc, d.dispute_id desc
    limit 1
  );
end $$;

-- Shows the dispute with the newest event on its payment. A dispute that arrived before its payment is shown when the sweep
-- applies it again: a trigger would cost each purchase and each renewal a statement.
create or replace function billing.show_disputes(p_gateway_payment_id text)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.payments p
  set (dispute_status, dispute_event_at) = (
    select d.status, d.event_at
    from billing.disputes d
    where d.dispute_id = billing.newest_dispute(p_gateway_payment_id)
  )
  where p.gateway_payment_id = p_gateway_payment_id;
end $$;

-- Returns whether a refund that was asked for here was not made: the gateway refused it, or it was not sent.
create function billing.is_refused(p_message billing.outbox)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_message.delivered_at is null
    and p_message.parked_at is not null
    and (
      -- An earlier try without an answer may have made it.
      p_message.attempts <= 1
      or p_message.last_error = 'no longer refundable'
    );
end $$;

-- Returns what may still be asked back of a payment, in minor units: without what was lost in disputes, without the refunds
-- that did not fail, and without those that were asked for here, were not refused, and are not at the gateway yet.
create function billing.refundable_beside(
  p_payment public.payments,
  p_message_id bigint -- of a refund that was asked for here, which does not count; null: none
)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_payment.status = 'captured' and p_payment.gateway_payment_id is not null
      then greatest(
        coalesce(p_payment.paid_amount, p_payment.amount)
        - billing.lost_amount(p_payment.gateway_payment_id)
        - coalesce((
          select sum(r.amount)
          from billing.refunds r
          where r.gateway_payment_id = p_payment.gateway_payment_id and r.status <> 'failed'
        ), 0)
        - coalesce((
          select sum((o.payload ->> 'amount')::bigint)
          from billing.outbox o
          where o.kind = 'refund'
            and o.payload ->> 'gateway_payment_id' = p_payment.gateway_payment_id
            and o.delivered_at is null
            and o.id is distinct from p_message_id
            and not billing.is_refused(o)
        ), 0),
        0
      )
    else 0
  end;
end $$;

create or replace function billing.refundable_amount(p_payment public.payments)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return billing.refundable_beside(p_payment, null); end $$;

-- Returns whether a refund that was asked for here may be sent: since it was asked for, the payment may have been lost, or
-- refunded at the gateway. A retry may have been made at the first try, so that its own refund does not count against it.
create function billing.may_refund(p_message billing.outbox)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.gateway_payment_id = p_message.payload ->> 'gateway_payment_id'
      and (p_message.payload ->> 'amount')::bigint <= case
        when p_message.attempts = 0 or p_message.parked_at is not null then billing.refundable_beside(p, p_message.id)
        else coalesce(p.paid_amount, p.amount) - billing.lost_amount(p.gateway_payment_id)
      end
  );
end $$;

-- Returns whether a refund that failed or was refused is still owed: something is left, it was neither repeated, here or at
-- the gateway, nor settled with a note.
create function billing.is_refund_owed(
  p_gateway_payment_id text,
  p_amount bigint,
  p_failed_at timestamptz
)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.gateway_payment_id = p_gateway_payment_id
      and billing.refundable_amount(p) > 0
      and not exists (
        select from billing.support_actions a
        where a.action = 'note' and a.reference in (p.id::text, p_gateway_payment_id) and a.created_at >= p_failed_at
      )
  )
  and not exists (
    select from billing.refunds r
    where r.gateway_payment_id = p_gateway_payment_id
      and r.status <> 'failed'
      and r.amount >= p_amount
      and r.created_at >= p_failed_at
  )
  and not exists (
    select from billing.outbox o
    where o.kind = 'refund' and o.payload ->> 'gateway_payment_id' = p_gateway_payment_id and o.queued_at > p_failed_at
  );
end $$;

-- Returns whether as much was refunded as was paid, in minor units.
create or replace function billing.is_refunded(p_amount bigint, p_refunded_amount bigint)
returns boolean -- false: the amount is not known
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return coalesce(p_amount > 0 and p_refunded_amount >= p_amount, false); end $$;

-- Returns whether a payment was refunded in full: also where a part was lost in a dispute, and the rest was refunded.
create or replace function billing.is_refunded(p_payment public.payments)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- The usual payment.
  if (p_payment.refunded_amount > 0) is not true then return false; end if;
  return billing.is_refunded(
    coalesce(p_payment.paid_amount, p_payment.amount),
    p_payment.refunded_amount
      + case when p_payment.dispute_status is null then 0 else billing.lost_amount(p_payment.gateway_payment_id) end
  );
end $$;

-- Returns what was paid for a period, without what was refunded, is to be refunded, or was lost in a dispute. The credit of a
-- payment counts: it was paid for with an earlier period. Of several payments for one cycle one counts.
create or replace function billing.paid_for(
  p_user_id uuid,
  p_kind text, -- payment or gateway_subscription
  p_id text,
  p_until timestamptz, -- the end of the cycle; not used for a payment
  p_currency text -- a payment in another currency does not count
)
returns bigint -- minor currency units
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_kind = 'payment' then
    return coalesce((
      select billing.refundable_amount(p) + coalesce(p.credit, 0)
      from public.payments p
      where p.id = p_id::uuid and p.currency = p_currency and billing.refundable_amount(p) > 0
    ), 0);
  end if;
  return coalesce((
    select max(billing.refundable_amount(c))
    from public.payments c
    where c.user_id = p_user_id
      and c.gateway_subscription_id = p_id
      and c.period_end = p_until
      and c.currency = p_currency
  ), 0);
end $$;

-- Stores an extra payment on an order: one of its payments counts, and the others are to be refunded. The caller holds the
-- lock on the one that counts.
create function billing.note_extra_payment(
  p_payment public.payments, -- counts
  p_gateway_payment_id text,
  p_confirmed_at timestamptz, -- null: not confirmed by the gateway
  p_paid_amount bigint default null -- minor currency units; null: not known
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.payments as x (
    user_id, amount, paid_amount, currency, status, tier, plan_id, gateway_key_id, gateway_payment_id, extra_of, captured_at,
    confirmed_at, refunded_amount, next_reconcile_at
  )
  values (
    p_payment.user_id, p_payment.amount, p_paid_amount, p_payment.currency, 'captured', p_payment.tier, p_payment.plan_id,
    p_payment.gateway_key_id, p_gateway_payment_id, p_payment.id, billing.clock(), p_confirmed_at,
    billing.refunded_amount(p_gateway_payment_id), null
  )
  on conflict (gateway_payment_id) do update
  set confirmed_at = excluded.confirmed_at, paid_amount = coalesce(excluded.paid_amount, x.paid_amount)
  where x.extra_of = excluded.extra_of and x.confirmed_at is null and excluded.confirmed_at is not null;
end $$;

-- Chooses the payment that counts for an order. A payment that was not refunded in full comes before one that was, then a
-- captured payment before one that is only verified, then the payment that counts already. The caller holds its lock.
create or replace function billing.count_best_payment(p_payment public.payments)
returns public.payments -- the row after the choice
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_extra public.payments;
begin
  select * into v_extra
  from public.payments x
  where x.extra_of = p_payment.id
    and not billing.is_refunded(x)
    and (
      billing.is_refunded(p_payment)
      or p_payment.confirmed_at is null and x.confirmed_at is not null
    )
  order by x.confirmed_at is null, x.captured_at, x.gateway_payment_id
  limit 1;
  if not found then return p_payment; end if;

  -- The two rows exchange what belongs to the payment at the gateway.
  update public.payments x set gateway_payment_id = null where x.id = v_extra.id;
  update public.payments p
  set gateway_payment_id = v_extra.gateway_payment_id,
    gateway_signature = null, captured_at = v_extra.captured_at, confirmed_at = v_extra.confirmed_at,
    paid_amount = v_extra.paid_amount, refunded_amount = v_extra.refunded_amount,
    -- A payment that is only verified needs a confirmation by the gateway.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then billing.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id;
  update public.payments x
  set gateway_payment_id = p_payment.gateway_payment_id,
    captured_at = p_payment.captured_at, confirmed_at = p_payment.confirmed_at,
    paid_amount = p_payment.paid_amount, refunded_amount = p_payment.refunded_amount
  where x.id = v_extra.id;
  perform billing.show_disputes(p.gateway_payment_id)
  from public.payments p
  where p.id in (p_payment.id, v_extra.id);
  select * into p_payment from public.payments p where p.id = p_payment.id;
  return p_payment;
end $$;

-- Returns whether a payment needs no further reconciliation. One that waits for its plan is fulfilled from the ledger.
create or replace function billing.is_settled(p_payment public.payments)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_payment.confirmed_at is not null
    or billing.is_refunded(p_payment);
end $$;

-- Returns the end of the paid time of a gateway subscription whose newest cycle was refunded in full: the end of the newest
-- paid cycle before it, else the start of the first refunded cycle. A cycle with several payments is refunded when all are.
create or replace function billing.paid_until(p_subscription billing.gateway_subscriptions)
returns timestamptz -- null: the newest cycle is paid
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select case
      when bool_or(cycle.is_refunded and cycle.ends_at = p_subscription.period_end) then coalesce(
        max(cycle.ends_at) filter (where not cycle.is_refunded and cycle.ends_at < p_subscription.period_end),
        min(cycle.starts_at) filter (where cycle.is_refunded)
      )
    end
    from (
      select
        c.period_start as starts_at,
        c.period_end as ends_at,
        bool_and(billing.is_refunded(c)) as is_refunded
      from public.payments c
      where c.gateway_subscription_id = p_subscription.gateway_subscription_id
        -- Null: the user does not exist yet, or was deleted.
        and coalesce(c.user_id = p_subscription.user_id, c.gateway_subscription_id <> '')
      group by c.period_start, c.period_end
    ) cycle
  );
end $$;

-- Nothing is stored about the sources that a payment replaced: when it is refunded in full, they run again.
create or replace view billing.replacements with (security_invoker = true) as
select
  p.id as payment_id, p.user_id, p.credited_kind as kind, p.credited_id as id, p.credited_until as until, p.since,
  p.fulfilled_at
from public.payments p
where p.credited_id is not null
  and p.fulfilled_at is not null
  and not billing.is_refunded(p)
  and p.uncaptured_at is null
  and p.ended_reason is distinct from 'dispute_lost';

create or replace view billing.sources with (security_invoker = true) as
select s.*, s.ended_at is null and s.lapses_at > billing.clock() as is_running
from (
  select
    p.user_id, 'payment' as kind, p.id::text as id, pl.id as plan_id, p.tier,
    coalesce(p.chain_start, p.period_start) as starts_at,
    p.period_end as ends_at,
    -- No days of grace for what the customer cancelled, also below a source that ruled then.
    p.period_end + make_interval(hours => 24 * billing.grace_days(
      pl.grace_days, p.cancel_at_period_end or wished.at >= coalesce(p.since, p.fulfilled_at)
    )) as lapses_at,
    -- An import by the app may leave since empty.
    coalesce(p.since, p.fulfilled_at) as since,
    greatest(p.fulfilled_at, p.verified_at) as arrived_at,
    coalesce(p.ended_at, replaced.at) as ended_at,
    coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
      as ended_reason,
    p.cancel_at_period_end,
    null::text as gateway_subscription_id,
    p.ended_at is null and coalesce(p.settle_at > billing.clock(), false) as is_upcoming,
    billing.price_sold(p) as sold,
    null::jsonb as entitlements
  from public.payments p
  left join public.plans pl on pl.id = p.plan_id
  left join billing.ends_wished wished on wished.user_id = p.user_id
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
    -- Debited before it starts.
    coalesce(o.starts_at > billing.clock() and not o.is_trial, false),
    m.sold,
    null
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  left join billing.subscription_orders o
    on o.gateway_subscription_id = m.gateway_subscription_id
    and o.user_id = m.user_id
  left join public.payments renewed on renewed.id = o.payment_id
  left join billing.gateway_subscriptions kept
    on kept.user_id = o.user_id
    and kept.gateway_subscription_id = o.replaces
    and o.undone_at is not null
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
    g.at, g.at, g.ended_at, g.ended_reason, g.cancel_at_period_end, null, false, null, g.entitlements
  from billing.grants g
  left join public.plans pl on pl.tier = g.tier and pl.lookup_key is null
  union all
  select
    w.user_id, 'manual', w.user_id::text, pl.id, w.tier, w.period_start, w.period_end,
    case
      when w.gateway_subscription_id is not null then billing.billed_until(w.period_end, m.checked_at, grace.days)
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
    w.entitlements
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;

-- What the gateway must be told: for each subscription that it may still charge, whether it must stop, and when. Derived from
-- facts by billing.find_stop; only differences are written. The requests of the customer to cancel and to resume.
-- Contract: POST /api/subscriptions/cancel, POST /api/subscriptions/resume.

create or replace view billing.purchases with (security_invoker = true) as
select s.*
from billing.sources s
where case s.kind
  when 'payment' then exists (
    select from public.payments p
    where p.id = s.id::uuid
      and p.ended_reason is distinct from 'dispute_lost'
      and not billing.is_lost(p)
      and p.uncaptured_at is null
      and not billing.is_refunded(p)
  )
  when 'gateway_subscription' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.id)
      and not exists (
        select from billing.subscription_orders o
        where o.user_id = s.user_id and o.gateway_subscription_id = s.id and o.undone_at is not null
      )
      and (
        m.paid_until is null and not exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and c.period_end = m.period_end
            and c.period_start <= m.first_period_start
            and billing.is_lost(c)
        )
        -- After a refund of its newest cycle the cycles before still count, also if their payments are not known.
        or m.first_period_start < m.paid_until
        or exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and billing.kept(c) > 0
        )
      )
  )
  when 'manual' then s.gateway_subscription_id is not null
  else false
end;

-- Returns whether the purchase goes on that a subscription renews, or may still be paid.
create or replace function billing.renews_purchase(p_order billing.subscription_orders)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.id = p_order.payment_id
      and p.ended_at is null
      and not billing.is_lost(p)
      and (p.fulfilled_at is not null or p_order.created_at >= billing.clock() - interval '5 days')
      -- Paid later than it was ordered, it would be renewed before it ends.
      and coalesce(p.period_end <= p_order.starts_at + interval '1 day', true)
  );
end $$;

-- The price on offer, or of a request, in answers. Contract: "Price".
create function billing.offer_answer(
  p_plan_id uuid, -- the row of public.plans
  p_tier text,
  p_price billing.price, -- as it is sold
  p_gateway_plan_id text
)
returns jsonb language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object('id', p_plan_id, 'gateway_plan_id', p_gateway_plan_id, 'is_default', p_price.lookup_key is null)
    || billing.price_answer(p_tier, p_price);
end $$;

-- Returns a plan with its prices. Those that the gateway can't charge are left out, but not those of the plan "free".
create or replace function billing.offered_plan(
  p_plan public.plans,
  p_running public.subscriptions, -- of the user, active; all null: none
  p_held billing.held, -- see billing.find_held
  p_scheduled uuid[] -- see billing.find_scheduled. Null: there is no user, and no scenario
)
returns jsonb -- null: it has no such price
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_prices jsonb;
  v_scenario text;
begin
  select
    jsonb_agg(
      billing.offer_answer(p.id, p.tier, (own.wanted).price, p.gateway_plan_id)
        || case when own.scenario is null then '{}' else jsonb_build_object('scenario', own.scenario) end
      order by p.lookup_key is not null, ((own.wanted).price).months, p.price, p.lookup_key
    ) filter (where billing.is_payable(p.price, p.currency) or p.tier = 'free'),
    max(own.scenario) filter (where p.lookup_key is null)
  into v_prices, v_scenario
  from public.plans p
  cross join lateral (
    select
      w.wanted,
      case when p_scheduled is not null then billing.find_scenario(p_running, p_held, w.wanted, p_scheduled) end as scenario
    from (select billing.find_wanted(p) as wanted) w
  ) own
  where p.tier = p_plan.tier and p.is_active;
  if v_prices is null then return null; end if;
  return to_jsonb(p_plan) || jsonb_build_object('prices', v_prices)
    || case when v_scenario is null then '{}' else jsonb_build_object('scenario', v_scenario) end;
end $$;

-- A plan stays, with its tier, while a user has it or waits for it, and while the gateway may charge a user for it: a charge
-- without a plan gives no access. Security definer: an admin may have no other right here.
create function billing.keep_used_plan()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from billing.stoppable s
    join auth.users u on u.id = s.user_id
    where coalesce((s.mirrored).plan_id, (s.asked).plan_id) = old.id
      and case
        when (s.mirrored).user_id is null then (s.asked).expires_at > billing.clock()
        else s.is_open or coalesce((s.mirrored).paid_until, (s.mirrored).period_end) > billing.clock()
      end
  ) or exists (
    select from public.payments p
    where p.plan_id = old.id
      and p.user_id is not null
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_end > billing.clock()
  ) then
    raise exception 'the plan "%" is in use: add another one, and set is_active = false of this one', old.tier
      using errcode = 'foreign_key_violation';
  end if;
  return case tg_op when 'DELETE' then old else new end;
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
  v_tier constant text := billing.tier_bought(v_payment);
  v_months constant integer := coalesce(v_payment.duration_months, billing.sold_months(v_plan.duration_months));
  v_is_refunded constant boolean := billing.is_refunded(v_payment);
  v_grants constant boolean := v_plan.id is not null and v_payment.user_id is not null and not v_is_refunded;
  v_rules boolean; -- the usual purchase: the newest act of a user without a gateway subscription
begin
  v_payment.since := case
    when p_signature is null then greatest(v_payment.since, v_payment.created_at, v_payment.verified_at)
    -- A verification ranks after every earlier act of the customer, also one while this transaction waited for the lock.
    else greatest(v_now, p_purchase.newest_at + interval '1 microsecond')
  end;
  if v_grants then
    v_payment := billing.set_period(p_purchase, v_payment, v_tier, v_months);
    v_payment.tier := v_tier;
    v_payment.duration_months := v_months;
    v_rules := not p_purchase.is_mirrored
      and v_payment.since > coalesce(p_purchase.newest_at, '-infinity')
      and v_payment.chain_id is null
      and (v_payment.chain_start > v_now) is not true;
    -- payments.subscription_id needs a row.
    if v_rules then
      perform billing.settle_purchase(p_purchase, v_payment, v_tier, p_email, true);
    elsif (p_purchase.shown).id is null then
      -- billing.settle_access writes other values.
      insert into public.subscriptions (user_id, tier, status, revision, updated_at)
      values (v_payment.user_id, v_tier, 'cancelled', 1, greatest(v_now, v_payment.since));
    end if;
  end if;
  update public.payments p
  set status = 'captured', gateway_payment_id = v_payment.gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature), refunded_amount = v_payment.refunded_amount,
    paid_amount = coalesce(v_payment.paid_amount, p.paid_amount),
    captured_at = coalesce(p.captured_at, v_now),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, v_now) else p.confirmed_at end,
    -- A verification of a refunded payment is refused and does not count.
    verified_at = coalesce(p.verified_at, case when p_signature is not null and not v_is_refunded then v_now end),
    uncaptured_at = null, ended_at = null, ended_reason = null,
    tier = v_tier, plan_id = coalesce(v_plan.id, p.plan_id),
    duration_months = case when v_grants then v_months else p.duration_months end,
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
    return jsonb_build_object('tier', v_tier, 'outcome', case
      when v_is_refunded then 'refunded'
      when v_payment.user_id is null then 'user_gone'
      else 'plan_not_found'
    end);
  end if;
  if v_payment.chain_id is not null then
    perform billing.lay_out_chain(v_payment.chain_id);
    select p.period_end into v_payment.period_end from public.payments p where p.id = v_payment.id;
  end if;
  if not v_rules then perform billing.settle_purchase(p_purchase, v_payment, v_tier, p_email, false); end if;
  return jsonb_build_object('outcome', 'applied', 'tier', v_tier, 'valid_until', billing.iso_time(v_payment.period_end));
end $$;

create or replace function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb
-- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
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
  elsif v_payment.gateway_payment_id is distinct from p_payment_id and v_payment.status <> 'captured' then
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

  if v_payment.verified_at is null and v_payment.gateway_payment_id = p_payment_id then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act.
    update public.payments p
    set gateway_signature = p_signature,
      verified_at = billing.clock(),
      since = greatest(
        billing.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      )
    where p.id = v_payment.id;
    perform billing.settle_payment(v_payment, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end)
  );
end $$;

-- The answer to an order: what it sells, and from when to when.
create or replace function billing.create_order_answer(
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

-- The body of GET /api/payments/orders/:order_id. Attempts are those in the ledger, in the gateway's last answer, and those
-- that were verified.
create or replace function billing.get_order_answer(p_payment public.payments)
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

-- Subscriptions that the gateway bills: their start, the verification of their first payment, and changes of the plan.
-- Contract: POST /api/subscriptions, POST /api/subscriptions/change.

-- The result of create_subscription.
create or replace function billing.subscription_order(p_outcome text, p_order billing.subscription_orders, p_plan public.plans)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'outcome', p_outcome, 'id', p_order.id, 'gateway_plan_id', p_order.gateway_plan_id,
    'billing_cycles', coalesce(
      p_plan.billing_cycles, greatest(120 / billing.sold_months(p_plan.duration_months), 1)
    ),
    'expire_by', extract(epoch from p_order.expires_at)::bigint,
    'start_at', extract(epoch from p_order.starts_at)::bigint,
    'gateway_subscription_id', p_order.gateway_subscription_id, 'short_url', p_order.short_url,
    'status', coalesce(
      (
        select coalesce(m.gateway_status, m.status)
        from billing.gateway_subscriptions m
        where m.user_id = p_order.user_id and m.gateway_subscription_id = p_order.gateway_subscription_id
      ),
      case when p_order.stops_at is null then 'created' else 'cancelled' end
    ),
    'plan', to_jsonb(p_plan),
    'price', billing.offer_answer(p_order.plan_id, p_order.tier, p_order.sold, p_order.gateway_plan_id),
    'running', billing.running(p_order.user_id)
  );
end $$;

-- Without the gateway's answer it says whether one is needed. Contract: POST /api/payments/verify.
create or replace function public.verify_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_payment_id text, -- its signature was checked by the route
  p_entity text default null, -- the subscription at the gateway, JSON; null: not read yet
  p_payment text default null -- the payment at the gateway, JSON; null: not read, or unknown there
)
returns jsonb
-- {outcome: applied | already_applied, tier, valid_until, starts_at (null: it runs)},
-- {outcome: unread | refunded | subscription_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_payment constant jsonb := p_payment::jsonb;
  v_order billing.subscription_orders;
  v_mirrored billing.gateway_subscriptions;
  v_is_applied boolean := false;
begin
  perform billing.begin_request('payment', p_payment_id);
  perform billing.lock_user(p_user_id);
  select * into v_order
  from billing.subscription_orders o
  where o.gateway_subscription_id = p_gateway_subscription_id and o.user_id = p_user_id
  for update;
  if not found then return jsonb_build_object('outcome', 'subscription_not_found'); end if;
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id;

  if v_mirrored.period_end is null or v_order.is_trial and v_mirrored.authenticated_at is null then
    if p_entity is null then return jsonb_build_object('outcome', 'unread'); end if;
    v_is_applied := billing.apply_order_state(
      v_order, p_entity::jsonb, case
        when billing.json_text(v_payment -> 'id') = p_payment_id
          and billing.json_text(v_payment -> 'status') in ('captured', 'refunded')
          and billing.json_integer(v_payment -> 'amount') is not null
          then v_payment
      end, false
    );
    -- The gateway may need a moment. Its events or the next reconciliation tell.
    update billing.subscription_orders o
    set next_check_at = least(o.next_check_at, billing.clock() + interval '1 minute')
    where o.id = v_order.id;
    select * into v_mirrored
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id;
  end if;
  -- A signature never expires. So it does not count after a refund, or after a cancellation at once.
  if v_mirrored.ended_at is not null or exists (
    select from public.payments c
    where c.gateway_payment_id = p_payment_id and billing.is_refunded(c)
  ) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_applied then 'applied' else 'already_applied' end,
    'tier', v_order.tier, 'valid_until', billing.iso_time(v_mirrored.period_end),
    'starts_at', case when v_mirrored.period_end is null then billing.iso_time(v_order.starts_at) end
  );
end $$;

create or replace function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text -- the lookup key of the price; null: the default price of the tier
)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_months constant integer := billing.sold_months(v_plan.duration_months);
  v_held billing.held;
  v_is_same boolean; -- a renewal, not a change
  v_running public.subscriptions;
  v_billed billing.gateway_subscriptions;
  v_successor billing.subscription_orders;
  v_renewed public.payments;
  v_credit record;
  v_change billing.change;
begin
  select * into v_running
  from public.subscriptions s
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end > v_now;
  v_held := billing.find_held(v_running.plan_id, v_running.tier, billing.price_shown(v_running));
  v_change.outcome := case
    when billing.is_on_offer(v_plan) is not true then 'plan_not_found'
    when v_plan.tier <> p_tier then 'price_conflict'
    when v_held.plan_id is null then 'subscription_not_found'
  end;
  if v_change.outcome is not null then return v_change; end if;
  v_is_same := v_held.plan_id = v_plan.id;
  select * into v_billed
  from billing.gateway_subscriptions m
  where m.user_id = p_user_id
    and m.gateway_subscription_id = v_running.gateway_subscription_id
    and billing.is_billed(m)
    and m.period_end > v_now;
  v_successor := billing.find_successor(p_user_id, v_billed.gateway_subscription_id);
  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_when = 'now';
  if p_when = 'now' then
    v_change.reason := billing.refuse_now(v_held, billing.find_wanted(v_plan), v_credit.is_excess);
  end if;
  v_change.outcome := case
    when v_change.reason is not null then 'not_now'
    when v_billed.user_id is null or not v_is_same then 'change'
    when v_successor.id is not null then 'undo'
    else 'already_subscribed'
  end;
  v_change.plan := v_plan;
  v_change.from_tier := v_running.tier;
  v_change.from_price := case when v_running.price_amount is not null then coalesce(v_running.price_key, v_running.tier) end;
  if v_billed.user_id is null and v_is_same and p_when = 'period_end' then
    -- A renewal that the customer cancelled or never authorised is made again.
    v_renewed := billing.find_unrenewed(p_user_id, v_running.current_period_end);
  end if;
  v_change.is_billed := v_plan.gateway_plan_id is not null and num_nonnulls(v_billed.user_id, v_renewed.id) > 0;

  v_change.credit := 0;
  v_change.starts_at := v_now;
  if v_change.is_billed and v_renewed.id is not null then
    v_change.renews := v_renewed.id;
    v_change.charge_at := v_renewed.period_end;
    v_change.starts_at := v_renewed.period_end;
  elsif p_when = 'now' then
    v_change.credit := coalesce(v_credit.credit, 0);
    if not v_change.is_billed or v_change.credit > 0 then
      v_change.order_start := 'now';
      v_change.charge_at := billing.add_months(v_now, v_months);
    end if;
  elsif v_change.is_billed then
    v_change.replaces := v_billed.gateway_subscription_id;
    v_change.starts_at := v_billed.period_end;
    v_change.charge_at := v_change.starts_at;
    -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
    if v_change.outcome = 'change' and v_change.starts_at < v_now + interval '80 hours' then
      v_change.outcome := 'too_late';
    end if;
  else
    v_change.order_start := 'after_current';
    v_change.starts_at := coalesce(
      (billing.find_followed(p_user_id, v_plan.tier, null, null, v_change.order_start, null)).ends_at, v_now
    );
  end if;
  v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
  v_change.amount_due := v_plan.price - v_change.credit;
  if v_change.outcome = 'undo' then
    -- What runs goes on.
    v_change.starts_at := v_billed.period_end;
    v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
    if billing.is_told(v_billed.gateway_subscription_id) then
      -- What runs ends, so what follows it must start.
      v_change.outcome := 'too_late';
      v_change.starts_at := v_successor.starts_at;
    end if;
    v_change.order_start := null;
    v_change.credit := 0;
    v_change.amount_due := 0;
  end if;
  return v_change;
end $$;

create or replace function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, not signed
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to read
  p_account_id text default null -- the gateway account whose events are applied; null: all accounts
)
returns jsonb -- {outcome, enqueued}: see billing.gateway_events.outcome; for "failed: …" the gateway must retry. enqueued:
-- whether there is a side effect to dispatch. With an order to read at once also {read: {payment_id, order_id, amount}}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_outcome text;
  v_read jsonb;
begin
  if v_body ->> 'account_id' <> p_account_id then
    -- The payload is not stored: it holds personal data of another business's customers.
    insert into billing.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, billing.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome, 'enqueued', false);
  end if;
  perform billing.begin_request(v_body ->> 'event', null); -- but for the usual renewal, billing.try_event sets the cause
  v_outcome := (billing.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome;
  if v_outcome = 'mismatch' then
    -- Another amount than was sold: if its order is due, the caller reads it at once, and the schedule if that fails.
    select jsonb_build_object('read', jsonb_build_object('payment_id', p.id, 'order_id', p.gateway_order_id, 'amount', p.amount))
    into v_read
    from public.payments p
    where p.gateway_order_id = coalesce(v_body #>> '{payload,payment,entity,order_id}', v_body #>> '{payload,order,entity,id}')
      and p.status <> 'captured'
      and p.next_reconcile_at <= billing.clock();
  end if;
  return jsonb_build_object(
    'outcome', v_outcome, 'enqueued', coalesce(current_setting('subscriptions.enqueued', true) = 'on', false)
  ) || coalesce(v_read, '{}');
end $$;

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
  v_payment public.payments := billing.find_payment(p_entity, p_order);
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

  -- If this gateway payment already fulfilled the payment, access does not change, and the user's lock is not needed. With
  -- another amount than was sold, an earlier refund may turn out to be a full one.
  if v_payment.fulfilled_at is null
    or v_payment.ended_at is not null
    or v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_amount <> v_payment.amount
  then
    v_email := billing.lock_user(v_payment.user_id);
  end if;
  v_purchase := billing.lock_purchase(v_payment.id, v_gateway_payment_id);
  v_payment := v_purchase.payment;
  v_is_same := v_payment.gateway_payment_id is not distinct from v_gateway_payment_id;
  v_is_exact := billing.is_paid(v_payment, p_entity, p_order);
  if not v_is_same and not v_is_exact then
    -- The order itself is read at once: only it says whether that was its payment.
    update public.payments p
    set next_reconcile_at = billing.clock()
    where p.id = v_payment.id and p.gateway_order_id = v_gateway_order_id and p.status <> 'captured';
    return 'mismatch';
  end if;
  if v_is_same or v_payment.status <> 'captured' then v_payment.paid_amount := coalesce(v_amount, v_payment.paid_amount); end if;

  if not v_is_same and v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := v_gateway_payment_id;
    -- Its refunds may arrive before the capture.
    v_payment.refunded_amount := v_purchase.refunded_amount;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform billing.note_extra_payment(v_payment, v_gateway_payment_id, billing.clock(), v_amount);
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
    paid_amount = coalesce(v_amount, p.paid_amount)
  where p.id = v_payment.id
  returning * into v_payment;
  if v_amount <> v_payment.amount then perform billing.settle_full_refund(v_payment, v_email); end if;
  return 'applied';
end $$;

-- Ends the source of a fulfilled payment that was refunded in full, or lets it run again; also one that an admin ended after
-- a lost dispute, if nothing is lost any more.
create or replace function billing.settle_full_refund(p_payment public.payments, p_email text)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_is_refunded constant boolean := billing.is_refunded(p_payment);
begin
  update public.payments p
  set ended_at = case when v_is_refunded then billing.clock() end,
    ended_reason = case when v_is_refunded then 'refunded' end
  where p.id = p_payment.id
    and p.fulfilled_at is not null
    and case
      when v_is_refunded then p.ended_at is null
      else
        p.ended_reason = 'refunded'
        or p.ended_reason = 'dispute_lost' and billing.lost_amount(p.gateway_payment_id) = 0
    end;
  if found then perform billing.settle_payment(p_payment, p_email); end if;
end $$;

-- Applies a payment's refunds to its access. A full refund ends the source, and that of a charge the time that its cycle
-- paid. If the refund fails later, the source runs again. The caller holds the locks on the user and on the payment.
create or replace function billing.settle_refunds(p_payment public.payments, p_email text)
returns boolean -- whether a refunded amount changed
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.payments p
  set refunded_amount = billing.refunded_amount(p.gateway_payment_id)
  where (p.id = p_payment.id or p.extra_of = p_payment.id)
    and p.refunded_amount <> billing.refunded_amount(p.gateway_payment_id);
  if not found then return false; end if;
  perform billing.settle_kept(p_payment, p_email);
  return true;
end $$;

-- Applies what is kept of a payment to its access, after a refund, a lost dispute, or the end of one. The caller holds the
-- locks on the user and on the payment.
create function billing.settle_kept(p_payment public.payments, p_email text) -- the payment as it was before
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment public.payments;
  v_is_refunded boolean;
begin
  select * into v_payment from public.payments p where p.id = p_payment.id for update;
  if v_payment.gateway_subscription_id is not null then
    update billing.gateway_subscriptions m
    set has_refunds = true, paid_until = billing.paid_until(m)
    where m.gateway_subscription_id = v_payment.gateway_subscription_id
      and coalesce(m.user_id = v_payment.user_id, m.gateway_subscription_id <> '');
    if p_email is not null then perform billing.settle_access(v_payment.user_id, p_email); end if;
    return;
  end if;
  if v_payment.status = 'captured' then v_payment := billing.count_best_payment(v_payment); end if;
  v_is_refunded := billing.is_refunded(v_payment);

  -- The capture arrived while the payment was refunded in full. If the refund failed since, the payment is fulfilled now.
  if v_payment.fulfilled_at is null then
    if v_payment.status = 'captured'
      and billing.is_refunded(p_payment)
      and not v_is_refunded
    then
      perform billing.fulfil_payment(
        billing.lock_purchase(v_payment.id, v_payment.gateway_payment_id), p_email, null, v_payment.confirmed_at is not null
      );
    end if;
    return;
  end if;

  perform billing.settle_full_refund(v_payment, p_email);
end $$;

-- Applies refund.created, refund.processed or refund.failed, in any order, before or after their payment arrives.
-- Contract: "Refunds".
create or replace function billing.apply_refund(p_refund jsonb, p_payment jsonb) -- the entities; null: the event has none
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_refund_id constant text := billing.json_text(p_refund -> 'id');
  v_gateway_payment_id constant text := coalesce(
    billing.json_text(p_refund -> 'payment_id'), billing.json_text(p_payment -> 'id')
  );
  v_amount constant bigint := billing.json_integer(p_refund -> 'amount');
  v_status constant text := billing.json_text(p_refund -> 'status');
  v_statuses constant text[] := array['pending', 'processed', 'failed'];
  v_payment public.payments;
  v_email text;
  v_is_news boolean;
  v_is_settled boolean;
  v_had_access boolean;
begin
  if v_refund_id is null or v_gateway_payment_id is null or v_amount is null or v_amount < 0
    or (v_status = any (v_statuses)) is not true
  then
    return 'ignored: refund.entity';
  end if;
  perform billing.lock_gateway_payment(v_gateway_payment_id);
  v_payment := billing.find_payment(coalesce(p_payment, '{}') || jsonb_build_object('id', v_gateway_payment_id), null);
  perform billing.note_missing_user(v_payment);
  v_email := billing.lock_user(v_payment.user_id);
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  update public.payments p
  set paid_amount = billing.json_integer(p_payment -> 'amount')
  where p.id = v_payment.id
    and p.gateway_payment_id = v_gateway_payment_id
    and p.gateway_subscription_id is null
    and p.paid_amount is null
    and billing.json_integer(p_payment -> 'amount') > 0;
  -- The refund is stored even without its payment, which reads its refunds when it arrives.
  insert into billing.refunds as r (refund_id, gateway_payment_id, amount, status, failed_at, support_action_id)
  values (
    v_refund_id, v_gateway_payment_id, v_amount, v_status, case when v_status = 'failed' then billing.clock() end,
    billing.number_of(p_refund #>> '{notes,support_action}')
  )
  on conflict (refund_id) do update
  set status = excluded.status, failed_at = excluded.failed_at,
    support_action_id = coalesce(r.support_action_id, excluded.support_action_id)
  -- A pending refund becomes processed or failed. A processed refund may still fail.
  where array_position(v_statuses, r.status) < array_position(v_statuses, excluded.status);
  v_is_news := found;
  -- The status is no condition: an index of all active rows would be read.
  v_had_access := (select s.status = 'active' from public.subscriptions s where s.user_id = v_payment.user_id);
  v_is_settled := v_payment.id is not null and billing.settle_refunds(v_payment, v_email);
  if v_is_news and v_email is not null then
    -- Of several payments on an order the one that was refunded.
    v_payment := coalesce(
      (select p from public.payments p where p.gateway_payment_id = v_gateway_payment_id), v_payment
    );
    perform billing.announce_refund(p_refund, v_payment, v_email, v_had_access);
  end if;
  return case when v_payment.id is null then 'unmatched' when v_is_settled or v_is_news then 'applied' else 'already' end;
end $$;

-- Applies the gateway's answer to a refund that was asked for here. What it does not say is known, and a status that is not
-- known here is pending: the refund was made.
create function billing.apply_refund_answer(p_message billing.outbox, p_refund jsonb) -- the entity
returns text -- the outcome
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment_id constant text := p_message.payload ->> 'gateway_payment_id';
  v_status text := billing.json_text(p_refund -> 'status');
begin
  if (v_status in ('processed', 'failed')) is not true then v_status := 'pending'; end if;
  perform billing.note_cause('refund.' || v_status, v_payment_id);
  return billing.apply_refund(
    p_refund || jsonb_build_object(
      'payment_id', v_payment_id, 'status', v_status,
      'notes', jsonb_build_object('support_action', p_message.payload -> 'support_action'),
      'amount', coalesce(billing.json_integer(p_refund -> 'amount'), (p_message.payload ->> 'amount')::bigint)
    ),
    null
  );
end $$;

-- Applies an event of a dispute. The newest event of each dispute counts, also after a decision; of two in one second the
-- decided one. An event without a time may be a repeat of an old one: it counts if it is the first one or has the decision, as
-- of its arrival. One without an id is about the newest dispute of its payment.
-- Contract: "Disputes".
create or replace function billing.apply_dispute(
  p_dispute jsonb,
  p_entity jsonb, -- the payment's entity, if the event has one
  p_gateway_payment_id text, -- null: the event names none
  p_created_at timestamptz -- of the event; null: it has none
)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_status constant text := left(billing.json_text(p_dispute -> 'status'), 100);
  v_dispute_id text := billing.json_text(p_dispute -> 'id');
  v_payment public.payments;
  v_email text;
  v_lost bigint;
  v_is_news boolean;
begin
  if v_status is null then return 'ignored: dispute.entity.status'; end if;
  if p_gateway_payment_id is null then return 'unmatched'; end if;
  perform billing.lock_gateway_payment(p_gateway_payment_id);
  v_payment := billing.find_payment(coalesce(p_entity, '{}') || jsonb_build_object('id', p_gateway_payment_id), null);
  perform billing.note_missing_user(v_payment);
  v_email := billing.lock_user(v_payment.user_id);
  v_lost := billing.lost_amount(p_gateway_payment_id);
  -- Now the dispute has its id.
  update billing.disputes d
  set dispute_id = v_dispute_id
  where d.dispute_id = p_gateway_payment_id
    and v_dispute_id is not null
    and not exists (select from billing.disputes named where named.dispute_id = v_dispute_id);
  v_dispute_id := coalesce(v_dispute_id, billing.newest_dispute(p_gateway_payment_id), p_gateway_payment_id);
  -- The dispute is stored even without its payment, which shows it when it arrives.
  insert into billing.disputes as d (dispute_id, gateway_payment_id, phase, amount, amount_deducted, status, event_at)
  values (
    v_dispute_id, p_gateway_payment_id, left(billing.json_text(p_dispute -> 'phase'), 100),
    nullif(greatest(billing.json_integer(p_dispute -> 'amount'), 0), 0),
    nullif(greatest(billing.json_integer(p_dispute -> 'amount_deducted'), 0), 0), v_status, p_created_at
  )
  on conflict (dispute_id) do update
  set phase = excluded.phase, amount = excluded.amount, amount_deducted = excluded.amount_deducted,
    status = excluded.status, event_at = coalesce(excluded.event_at, d.event_at), arrived_at = excluded.arrived_at
  where d.gateway_payment_id = excluded.gateway_payment_id
    and case
      when excluded.event_at is null or d.event_at is null
        then billing.decision_rank(excluded.status) > billing.decision_rank(d.status)
          or excluded.event_at > d.arrived_at
      else (excluded.event_at, billing.decision_rank(excluded.status), excluded.status)
        > (d.event_at, billing.decision_rank(d.status), d.status)
    end;
  v_is_news := found;

  perform billing.show_disputes(p_gateway_payment_id);
  if not exists (select from public.payments p where p.gateway_payment_id = p_gateway_payment_id) then
    return 'unmatched';
  end if;
  if v_email is not null and (v_status = 'lost' or v_lost <> billing.lost_amount(p_gateway_payment_id)) then
    perform billing.settle_kept(v_payment, v_email);
    -- The renewal of a lost purchase is stopped, and goes on if the purchase is not lost any more.
    perform billing.settle_access(v_payment.user_id, v_email);
  end if;
  return case
    when v_is_news then 'applied'
    when exists (
      select from billing.disputes d
      where d.dispute_id = v_dispute_id and d.status = v_status and d.event_at is not distinct from p_created_at
    ) then 'already'
    else 'stale'
  end;
end $$;

-- Applies an event about a gateway subscription. Contract: "Fields that an event needs", "Gateway subscriptions".
create or replace function billing.apply_subscription_event(
  p_event text,
  p_entity jsonb,
  p_payment jsonb, -- of the cycle, if the event has it
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_status constant text := substr(p_event, length('subscription.') + 1);
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_has_cycle constant boolean := p_event in ('subscription.activated', 'subscription.charged');
  -- No real id has more than 200 characters, and the index cannot hold it.
  v_id constant text := coalesce(substring(billing.json_text(p_entity -> 'id') from '^.{1,200}$'), '');
  v_noted_user_id constant uuid := billing.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_user_id uuid;
  v_asked billing.subscription_orders;
  v_start constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_end') end;
  v_payment_id constant text := case when p_event = 'subscription.charged' then billing.json_text(p_payment -> 'id') end;
  v_gateway_plan_id constant text := billing.json_text(p_entity -> 'plan_id');
  v_email text;
  v_merged billing.gateway_subscriptions;
  v_is_changed boolean;
begin
  -- The user who asked for it here keeps it, also if its notes were edited at the gateway.
  select * into v_asked from billing.subscription_orders o where o.gateway_subscription_id = v_id;
  v_user_id := coalesce(v_asked.user_id, v_noted_user_id);
  if v_user_id is null then return 'ignored: subscription.entity.notes.user_id'; end if;
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

  perform billing.lock_gateway_payment(v_payment_id);
  v_email := billing.lock_user(v_user_id);
  if v_email is null and billing.is_deleted(v_user_id) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
  if v_email is null and billing.lock_missing_user(v_user_id) then
    -- Nothing but the payment is stored of an erased user, for a finding, and the subscription is cancelled at the gateway.
    v_merged.user_id := v_user_id;
    v_merged.gateway_subscription_id := v_id;
    if p_event = 'subscription.charged' then
      perform billing.record_charge(
        v_merged, v_gateway_plan_id, v_start, v_end, p_payment, billing.charged_at(p_created_at, p_arrived_at)
      );
    end if;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  -- For a finding.
  if v_asked.noted_user_id is distinct from nullif(v_noted_user_id, v_asked.user_id) and v_asked.id is not null then
    update billing.subscription_orders o set noted_user_id = nullif(v_noted_user_id, o.user_id) where o.id = v_asked.id;
  end if;
  v_merged := billing.merge_gateway_subscription(
    v_user_id, v_id, p_event, p_entity, v_gateway_plan_id, v_start, v_end, p_payment, p_created_at, p_arrived_at
  );
  if v_email is null then
    update billing.gateway_subscriptions m
    set is_waiting = true
    where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id) and not m.is_waiting;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_merged.user_id is null then return 'stale'; end if;
  v_is_changed := billing.settle_access(v_user_id, v_email, p_is_cancelled => v_cancelled);
  if v_merged.plan_id is not null and p_event = 'subscription.charged' then
    -- This charge may be the cause of a stop.
    v_merged.stops_at := (
      select m.stops_at from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    );
    perform billing.announce_charge(v_merged, p_entity, p_payment, v_email);
  elsif v_merged.plan_id is not null and v_status in ('pending', 'halted', 'completed') then
    perform billing.announce_problem(v_status, v_merged, p_payment, v_email);
  elsif v_status = 'authenticated' then
    perform billing.announce_change(v_merged, v_email);
  end if;
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
end $$;

-- Cancels what a deleted user asked for and did not authorise yet. The order goes with its user, before billing.note_deleted_user
-- looks for it.
create function billing.stop_deleted_request()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from auth.users u where u.id = old.user_id)
    and not exists (
      select from billing.gateway_subscriptions m where m.gateway_subscription_id = old.gateway_subscription_id
    )
  then
    perform billing.tell_stop(old.gateway_subscription_id, row(billing.clock(), false, false)::billing.stop);
  end if;
  return null;
end $$;

-- Erases the remaining data of users who were deleted more than 90 days ago: the mirror, tier changes, support actions,
-- the payloads of events, and the id. Foreign keys, billing.erase_payment_meta, billing.empty_payloads and
-- billing.delete_messages erase the rest. Payments remain for accounting, with amounts, times and the gateway's ids.
create or replace function billing.erase_deleted_users()
returns integer -- how many users and payments were processed; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gone public.payments[];
  v_deleted record;
  v_done integer;
begin
  -- Some events about their payments arrived after the deletion, so billing.empty_payloads would keep them for longer.
  v_gone := array(
    select p
    from public.payments p
    where p.user_deleted_at < billing.clock() - interval '90 days'
      -- A later charge remains a finding.
      and (p.captured_at < billing.clock() - interval '90 days') is not false
    order by p.user_deleted_at
    limit 1000
    for no key update skip locked
  );
  perform billing.erase_events(array_agg(p.gateway_order_id) || array_agg(p.gateway_payment_id)) from unnest(v_gone) p;
  update public.payments p
  set user_deleted_at = null
  where p.id in (select gone.id from unnest(v_gone) gone);
  v_done := cardinality(v_gone);

  for v_deleted in
    select d.user_id, d.deleted_at
    from billing.deleted_users d
    where d.erased_at is null and d.deleted_at < billing.clock() - interval '90 days'
    order by d.deleted_at
    limit 100
    for update skip locked
  loop
    v_done := v_done + 1;
    perform billing.lock_missing_user(v_deleted.user_id);
    delete from billing.deleted_users d where d.user_id = v_deleted.user_id;
    -- A user who was restored, from a backup or by an import, is not erased.
    continue when exists (select from auth.users u where u.id = v_deleted.user_id);

    perform billing.erase_events(array_agg(m.gateway_subscription_id))
    from billing.gateway_subscriptions m
    where m.user_id = v_deleted.user_id;
    delete from billing.gateway_subscriptions m where m.user_id = v_deleted.user_id;
    delete from billing.tier_changes c where c.user_id = v_deleted.user_id;
    update billing.support_actions a
    set email = null, user_id = null, reason = 'erased with the user'
    where a.user_id = v_deleted.user_id;

    insert into billing.deleted_users (user_id, deleted_at, erased_at)
    values (billing.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, billing.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end $$;

-- Applies an answer of the gateway as if a webhook had delivered it. Marks it as missed_webhook if no webhook announced it, but not
-- where the page of a customer asks: the webhook may still be under way.
create or replace function billing.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_event text,
  p_payload jsonb,
  p_created_at jsonb, -- of the event; null: it has none
  p_since timestamptz -- webhooks that arrived before this time announced something else; null: no mark
)
returns boolean -- whether the answer changed anything
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_cause constant text := billing.note_cause(p_event, null);
  v_delivery constant billing.delivery := billing.apply_delivery(
    v_key, p_key, jsonb_build_object('event', p_event, 'payload', p_payload, 'created_at', p_created_at), 0
  );
begin
  if not v_delivery.is_applied or v_delivery.outcome <> 'applied' then return false; end if;
  insert into billing.marks (kind, key)
  select 'missed_webhook', answer.subject_id
  from billing.gateway_events answer
  where answer.body_sha256 = v_key
    and p_since is not null
    and not exists (
      select from billing.gateway_events e
      where e.subject_id = answer.subject_id
        and e.deliveries > 0
        and e.received_at >= p_since
        and (e.event = p_event or e.event = 'order.paid' and p_event = 'payment.captured')
    )
    and not exists (
      select from public.payments p
      where p.gateway_order_id = answer.subject_id and p.read_at > billing.clock() - interval '1 minute'
    )
  on conflict do nothing;
  return true;
end $$;

-- Confirms that a claimed stop still stands, before the gateway is told what is final there: applies what was just read from
-- the gateway, plans again, and notes that the gateway may be told from now on. What was tried without an answer before, and
-- did not cancel it, is planned anew. API: service_role only.
create or replace function public.confirm_stop(
  p_id bigint, -- of the claimed row of the outbox
  p_at_cycle_end boolean, -- as the row was claimed
  p_entity text default null, -- the subscription at the gateway, JSON; null: the gateway has no such subscription
  p_invoices text default null -- its invoices, a JSON array; null: not read
)
returns jsonb -- {outcome: stands | changed | unnamed}. unnamed: a paid cycle is not known here, the invoices name it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_id constant text := (select o.payload ->> 'gateway_subscription_id' from billing.outbox o where o.id = p_id);
  v_user_id uuid := (
    select m.user_id from billing.gateway_subscriptions m where m.gateway_subscription_id = v_id order by m.user_id limit 1
  );
  v_order billing.subscription_orders;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  select * into v_order from billing.subscription_orders o where o.gateway_subscription_id = v_id;
  v_user_id := coalesce(v_user_id, v_order.user_id);
  v_email := billing.lock_user(v_user_id);
  if v_email is not null and v_entity is not null then
    if exists (
      select from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    ) then
      perform billing.apply_subscription_read(v_user_id, v_id, v_entity, false);
    else
      perform billing.apply_order_state(v_order, v_entity, null, false);
    end if;
    if p_invoices is null and billing.json_integer(v_entity -> 'paid_count') > (
      select count(distinct p.period_end) from public.payments p where p.gateway_subscription_id = v_id
    ) then
      return jsonb_build_object('outcome', 'unnamed');
    end if;
    update billing.outbox o
    set told_at = null
    where o.id = p_id
      and o.payload @> '{"at_cycle_end": false}'
      and v_entity ->> 'status' is distinct from 'cancelled';
    perform billing.settle_access(v_user_id, v_email);
  end if;
  -- What no plan wants any more: of a subscription that was resumed, or whose user is back.
  if v_email is not null and not exists (
    select from billing.stoppable s where s.gateway_subscription_id = v_id and s.stops_at is not null
  ) then
    update billing.outbox o set parked_at = v_now, last_error = 'withdrawn' where o.id = p_id and o.delivered_at is null;
    return jsonb_build_object('outcome', 'changed');
  end if;
  update billing.outbox o
  set told_at = v_now
  where o.id = p_id
    and o.payload @> jsonb_build_object('at_cycle_end', p_at_cycle_end)
    and o.claims[cardinality(o.claims)] is not null
    and o.next_attempt_at > v_now
    and o.delivered_at is null
    and o.parked_at is null;
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;

-- Returns since when something in a list may have been created whose end is not known: a dispute comes after its payment, and a
-- refund was known ten days after it was created. Disputes take weeks.
create function billing.undecided_since(p_list text)
returns timestamptz -- null: nothing is undecided
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_list
    when 'disputes' then (
      select min(p.created_at)
      from billing.disputes d
      join public.payments p using (gateway_payment_id)
      where billing.decision_rank(d.status) = 0
    )
    when 'refunds' then (select min(r.created_at) - interval '10 days' from billing.refunds r where r.status = 'pending')
  end;
end $$;

-- The newest ten minutes are left out, because lists at the gateway lag. API: service_role only.
create or replace function public.claim_statement_pages()
returns jsonb -- {pages: [{list, pass, from, to, skip}]}; from, to: Unix seconds
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_end constant timestamptz := date_trunc('second', v_now) - interval '10 minutes';
  v_pages jsonb;
begin
  with claimed as (
    update billing.statement_windows w
    set next_read_at = v_now + interval '5 minutes',
      window_end = coalesce(w.window_end, v_end),
      -- What is decided meanwhile does not move the pages of a window.
      read_until = case
        when w.pass = 'again' and w.window_end is null then least(
          v_end - interval '10 days',
          greatest(v_end - interval '180 days', coalesce(billing.undecided_since(w.list), v_end))
        )
        else w.read_until
      end
    where (w.list, w.pass) in (
      select d.list, d.pass
      from billing.statement_windows d
      where d.next_read_at <= v_now
      for update skip locked
    )
    returning w.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'list', c.list,
    'pass', c.pass,
    'from', floor(extract(epoch from least(c.window_end, c.read_until)))::bigint,
    'to', extract(epoch from c.window_end)::bigint,
    'skip', c.skip
  )), '[]')
  into v_pages
  from claimed c;
  return jsonb_build_object('pages', v_pages);
end $$;

-- Returns what is new in a page. Of payments: captured ones on an order of ours, and those of a billed cycle; one that was read
-- before is in the ledger, also if it belongs to another app with the same gateway account. Of refunds: another status than the
-- known one; a pending one only if it is not known at all. Of disputes: another state than the known one.
create or replace function billing.find_news(p_list text, p_items jsonb)
returns jsonb -- [{item, payment}]; payment: {id, order_id, amount} of the order; null: none. Null: nothing is new
language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_agg(jsonb_build_object('item', i.item, 'payment', case
    when p.id is not null then jsonb_build_object('id', p.id, 'order_id', p.gateway_order_id, 'amount', p.amount)
  end))
  from jsonb_array_elements(p_items) i (item)
  cross join lateral (
    select
      billing.json_text(i.item -> 'id') as id, i.item ->> 'status' as status,
      billing.json_text(i.item -> 'payment_id') as payment_id
  ) its
  left join public.payments p on p_list = 'payments' and p.gateway_order_id = billing.json_text(i.item -> 'order_id')
  where its.id is not null and case p_list
    when 'payments' then (its.status = 'captured' or its.status = 'refunded' and i.item ->> 'captured' in ('true', '1'))
      and (p.id is not null or billing.json_text(i.item -> 'invoice_id') is not null)
      and not exists (
        select from public.payments known where known.gateway_payment_id = its.id and known.confirmed_at is not null
      )
      and not exists (
        select from billing.gateway_events e
        where e.subject_id = p.gateway_order_id
          and e.deliveries = 0
          and starts_with(e.event_id, 'reconcile:' || its.id || ':')
          and e.outcome not like 'failed: %'
      )
      and not billing.is_read('reconcile:cycle:' || its.id)
    when 'refunds' then its.status in ('pending', 'processed', 'failed')
      and its.payment_id is not null
      and billing.json_integer(i.item -> 'amount') >= 0
      and not exists (
        select from billing.refunds r
        where r.refund_id = its.id and (r.status = its.status or r.status = 'failed' or its.status = 'pending')
      )
      and not billing.is_read(concat_ws(':', 'reconcile', its.id, its.status))
    else its.status in ('open', 'under_review', 'won', 'lost', 'closed')
      and its.payment_id is not null
      and not exists (
        select from billing.disputes d
        where d.dispute_id = its.id
          and (
            d.gateway_payment_id <> its.payment_id
            or (d.status, d.phase, d.amount_deducted) is not distinct from (
              its.status, billing.json_text(i.item -> 'phase'),
              nullif(greatest(billing.json_integer(i.item -> 'amount_deducted'), 0), 0)
            )
            -- A newer event is known. The list may lag.
            or coalesce(d.event_at, d.arrived_at) > billing.clock() - interval '20 minutes'
          )
      )
      and not billing.is_read(billing.dispute_key(i.item))
  end
$$;

-- Finds what is new in a page that was read. If nothing is, the next page follows, or the window ends and its mark moves. So
-- the caller applies what is new and calls again: a crash in between only repeats. API: service_role only.
create or replace function public.apply_statement_page(
  p_list text,
  p_pass text,
  p_to bigint, -- as it was claimed, here and below
  p_skip integer,
  p_items text default null, -- the page, a JSON array; null: the gateway has no such list, if it says so of the first page
  p_applied integer default 0 -- how many of the page were new before
)
returns jsonb -- {news: [{item, payment}]}: see billing.find_news. []: also if another run has read the page
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_count constant integer := jsonb_array_length(v_items);
  v_news jsonb;
begin
  perform from billing.statement_windows w
  where (w.list, w.pass, w.window_end, w.skip) = (p_list, p_pass, to_timestamp(p_to), p_skip)
  for update;
  -- A later page that the gateway refused is read again.
  if not found or p_items is null and p_skip > 0 then return jsonb_build_object('news', '[]'::jsonb); end if;

  v_news := billing.find_news(p_list, v_items);
  if v_news is not null then return jsonb_build_object('news', v_news); end if;

  update billing.statement_windows w
  set skip = w.skip + v_count, items = w.items + v_count, news = w.news + p_applied, next_read_at = v_now, answered_at = now()
  where (w.list, w.pass) = (p_list, p_pass);
  if v_count < 100 then
    update billing.statement_windows w
    set read_until = greatest(w.read_until, w.window_end),
      -- An hour after it was claimed first: after an outage the next one follows at once.
      next_read_at = greatest(
        v_now, w.window_end + interval '10 minutes' + case w.pass when 'new' then interval '1 hour' else interval '1 day' end
      ),
      completed_at = v_now, completed_items = w.items, completed_news = w.news,
      window_end = null, skip = 0, items = 0, news = 0
    where (w.list, w.pass) = (p_list, p_pass);
  end if;
  return jsonb_build_object('news', '[]'::jsonb);
end $$;

-- Asks the gateway for a refund: of all that is left, or of a part. Access follows from the refund, as from any other.
create or replace function billing.perform_refund(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant uuid := billing.payment_id_of(p_action.reference);
  v_payment public.payments;
  v_left bigint;
  v_most bigint;
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
  if not billing.acts_as_owner(p_action) then
    select s.support_refund_amount into v_most from billing.settings s;
    perform billing.require(
      v_most is null or p_action.amount <= v_most, 'PS403',
      format(
        'support may refund %s at most: the setting support_refund_amount', billing.amount_text(v_most, v_payment.currency)
      )
    );
  end if;
  p_action.reference := v_payment.gateway_payment_id;
  p_action.user_id := v_payment.user_id;
  perform billing.enqueue(
    'refund-' || gen_random_uuid(), 'gateway', 'refund',
    jsonb_build_object(
      'gateway_payment_id', v_payment.gateway_payment_id, 'amount', p_action.amount, 'currency', v_payment.currency,
      'support_action', p_action.id::text
    )
  );
  p_action.result := format(
    'The gateway is asked to refund %s of payment %s. %s',
    billing.amount_text(p_action.amount, v_payment.currency), v_payment.gateway_payment_id,
    case
      when v_payment.extra_of is not null then 'Access does not depend on it.'
      when p_action.amount < v_left then 'Access stays.'
      when v_payment.gateway_subscription_id is not null
        then 'The paid time of its cycle ends when the refund is processed. The gateway goes on billing the subscription.'
      else 'Its access ends when the refund is processed.'
    end
  );
  return p_action;
end $$;

create or replace function billing.perform_requeue_mail(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_row billing.outbox;
begin
  select * into v_row
  from billing.outbox o
  where o.id = billing.number_of(p_action.reference) or o.key = p_action.reference
  for update;
  perform billing.require(
    v_row.id is not null, 'PS404', format('requeue_mail needs reference: no message "%s"', p_action.reference)
  );
  perform billing.require(
    v_row.delivered_at is null, 'PS409',
    format('message %s was delivered at %s', v_row.id, billing.iso_time(v_row.delivered_at))
  );
  perform billing.require(
    v_row.parked_at is null or v_row.claims <> '{}' and v_row.last_error is distinct from 'withdrawn', 'PS409',
    format('message %s was withdrawn: %s', v_row.id, v_row.last_error)
  );
  perform billing.require(
    v_row.parked_at is not null or v_row.attempts > 0, 'PS409',
    format('message %s is queued already, for %s', v_row.id, billing.iso_time(v_row.next_attempt_at))
  );
  perform billing.require(
    billing.requeue(v_row.id), 'PS409',
    format('message %s cannot be sent: that much of the payment is no longer left to refund', v_row.id)
  );
  p_action.reference := v_row.id;
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_message(v_row));
  p_action.result := format('Message %s (%s) is queued again.', v_row.id, v_row.kind);
  return p_action;
end $$;

-- What the role reads: the views of an admin, and below them the tables that they read with the rights of the caller.
create or replace function billing.support_tables()
returns text[] language sql stable set search_path = pg_catalog, pg_temp
return '{public.plans, public.subscriptions, public.payments}'::text[] || billing.profiles_table()::text || array(
  select 'billing.' || name
  from unnest('{
    users, customers, timeline, periods, findings, webhooks, messages, customer_payments, service_state,
    revenue_monthly, active_monthly, paid_periods, revenue_sums, customer_findings, service_findings,
    checked_findings, passes, received_by_hour, receipts, subjects, sources, replacements, support_actions,
    paid_not_entitled, entitled_not_paid, captured_not_fulfilled, tier_mismatch, paid_twice, unexpected_charges,
    unearned_credits, dispute_lost, outbox_stuck, failed_refunds, failed_events, unmailed_payments, reconciliations,
    profiles, settings, gateway_subscriptions, subscription_orders, wishes, ends_wished, stoppable,
    purchases, manual_subscriptions, grants, refunds, refund_requests, disputes, lost_disputes, tier_changes,
    gateway_events, unsettled_events, outbox, marks, expected_triggers, scheduled_jobs, statement, statement_windows
  }'::text[]) name
);

-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create or replace function billing.set_up_support()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
begin
  -- No login is possible: an admin gives it a password, or makes a login role for each person in it.
  begin
    if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
      create role subscriptions_support nologin;
      alter role subscriptions_support set statement_timeout = '60s';
      -- An open support action locks the customer, whose orders wait.
      alter role subscriptions_support set idle_in_transaction_session_timeout = '60s';
    end if;
  exception
    -- Roles belong to the whole server: another of its databases was set up at the same time.
    when duplicate_object or unique_violation then
      null;
  end;
  grant usage on schema billing, public to subscriptions_support;
  foreach v_name in array billing.support_tables() loop
    execute format('grant select on %s to subscriptions_support', v_name);
    if (select c.relkind = 'r' from pg_catalog.pg_class c where c.oid = v_name::regclass)
      and not billing.has_policy(v_name::regclass, 'Support reads all rows')
    then
      execute format(
        'create policy "Support reads all rows" on %s for select to subscriptions_support using (true)', v_name
      );
    end if;
  end loop;
  -- The functions that the views call.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.proname = any ('{
        clock, findings_of, find_ruling, find_shown, attach_gateway_subscription, since_of, find_stop,
        newest_purchase, is_superseded, renews_purchase, find_user, kept, is_lost, lost_amount, paid_for,
        purchases_on_credit, is_bought, tier_bought, json_text, json_uuid, json_integer, grace_days, billed_until,
        is_refunded, user_of_message, refunded_amount, refundable_amount, refundable_beside, is_refused, is_refund_owed,
        is_waiting, why_text, amount_text,
        day_text, gateway_link, outbox_state, missing_parts, schedule_faults, search_customers, user_id_of,
        authorised_at, cancelled_by_user_at, is_cancelled_for_end, unnamed_cycles, requested_at, state_of_billing,
        next_change, is_told, price_answer, interval_answer, iso_time, find_successor, mirrored_end, is_billed,
        price_sold
      }')
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, reason) on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
end $$;

create or replace view billing.captured_not_fulfilled with (security_invoker = true) as
select
  p.user_id, p.captured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id,
  case
    when p.user_id is null then 'paid, user gone'
    when not exists (select from public.plans pl where billing.is_bought(pl, p)) then 'no plan of this tier'
    else 'not confirmed with its amount'
  end as reason
from public.payments p
where p.status = 'captured'
  and p.fulfilled_at is null
  and p.gateway_subscription_id is null
  and p.extra_of is null
  and not billing.is_refunded(p);

create or replace view billing.unexpected_charges with (security_invoker = true) as
select
  m.user_id, c.captured_at as since, found.finding, m.gateway_subscription_id, c.gateway_payment_id, c.amount,
  c.period_start, c.period_end
from billing.gateway_subscriptions m
-- Of most subscriptions no charge but the newest is read: the rest would take most of the time of this view.
cross join lateral (
  select
    case
      when m.cancel_at_period_end or m.status = 'cancelled' or m.gateway_status in ('completed', 'expired')
        or num_nonnulls(m.stops_at, m.ended_at) > 0
        then least(billing.cancelled_by_user_at(m.user_id, m.asked_at), (
          select o.undone_at
          from billing.subscription_orders o
          where o.user_id = m.user_id and o.gateway_subscription_id = m.gateway_subscription_id
        ))
    end as cancelled_at,
    exists (
      select from billing.gateway_subscriptions o
      where o.user_id = m.user_id and o.gateway_subscription_id <> m.gateway_subscription_id
    )
    or exists (select from public.payments p where p.user_id = m.user_id and p.fulfilled_at is not null) as is_one_of_several,
    (
      select count(*) > count(distinct d.period_end)
      from public.payments d
      where d.user_id = m.user_id and d.gateway_subscription_id = m.gateway_subscription_id
    ) as is_charged_twice
  offset 0
) known
cross join lateral (
  select p as payment, p.*
  from public.payments p
  where (p.user_id, p.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
    and (
      known.is_one_of_several or known.is_charged_twice or known.cancelled_at is not null or m.status = 'cancelled'
      or p.period_end > (select billing.clock())
    )
  offset 0
) c
cross join lateral (
  select known.cancelled_at < c.captured_at or m.status = 'cancelled' and m.cancelled_at < c.captured_at as is_before
) cancelled
cross join lateral (
  select case when cancelled.is_before then 'charged_after_cancellation' else 'charged_after_replacement' end as finding
  where cancelled.is_before
    or known.is_one_of_several and exists (
      select from billing.purchases newer
      left join billing.gateway_subscriptions s
        on (s.user_id, s.gateway_subscription_id) = (newer.user_id, newer.id)
        and newer.kind = 'gateway_subscription'
      -- Checks the authorisation, too, because a later activation moves newer.since past the charge.
      cross join lateral (values (newer.since), (billing.authorised_at(s))) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        -- The renewal of a purchase follows it, as in billing.sources.
        and there.since > (
          select greatest(billing.since_of(m), max(renewed.since))
          from billing.subscription_orders o
          join public.payments renewed on renewed.id = o.payment_id
          where o.user_id = m.user_id and o.gateway_subscription_id = m.gateway_subscription_id
        )
        and there.since < c.captured_at
        -- It is known a day after it was paid at the latest. Its order may be older.
        and (newer.kind <> 'payment' or newer.arrived_at - interval '1 day' < c.captured_at)
        and coalesce(newer.ended_at > c.captured_at, true)
    )
  union all
  select 'charged_twice'
  where c.period_end > (select billing.clock())
    and m.ended_at is null
    and known.is_one_of_several
    and exists (
      select from billing.gateway_subscriptions newer
      join public.payments n using (user_id, gateway_subscription_id)
      where newer.user_id = m.user_id
        and newer.plan_id = m.plan_id
        and newer.gateway_subscription_id <> m.gateway_subscription_id
        and newer.ended_at is null
        and not billing.is_refunded(n)
        and n.period_start < c.period_end
        and n.period_end > c.period_start
        -- Of two in one second the one that goes on is the newer one.
        and (n.captured_at, newer.status is distinct from 'cancelled', newer.gateway_subscription_id)
          > (c.captured_at, m.status is distinct from 'cancelled', m.gateway_subscription_id)
        -- The customer may start another one after a cancellation.
        and coalesce(known.cancelled_at > n.captured_at, true)
        and coalesce(m.cancelled_at > n.captured_at, true)
        -- Subscriptions that the app makes itself may overlap on purpose.
        and exists (
          select from billing.subscription_orders o
          where o.user_id = m.user_id
            and o.gateway_subscription_id in (m.gateway_subscription_id, newer.gateway_subscription_id)
        )
        -- The customer changed to another plan in between, and back.
        and not exists (
          select from billing.sources other
          where other.user_id = m.user_id
            and other.plan_id is distinct from m.plan_id
            and other.kind in ('payment', 'gateway_subscription')
            and other.since between c.captured_at and n.captured_at
        )
    )
  union
  select 'charged_twice'
  where known.is_charged_twice and exists (
    select from public.payments first
    where first.gateway_subscription_id = c.gateway_subscription_id
      and first.user_id = c.user_id
      and first.period_end = c.period_end
      and (first.captured_at, first.gateway_payment_id) < (c.captured_at, c.gateway_payment_id)
      and billing.kept(first) > 0
  )
  union all
  select 'mismatch'
  where c.period_end > (select billing.clock())
    and c.plan_id = m.plan_id
    and c.price_key is not distinct from (m.sold).lookup_key
    and (c.amount, c.currency) <> ((m.sold).amount, (m.sold).currency)
) found
where billing.kept(c.payment) > 0;

create or replace view billing.outbox_stuck with (security_invoker = true) as
select
  billing.user_of_message(o) as user_id,
  coalesce(o.parked_at, o.next_attempt_at) as since,
  o.id, o.key, o.destination,
  case when o.parked_at is null then 'due' else 'parked' end as state,
  o.attempts, o.last_error, p.at as paused_until
from billing.outbox o
left join billing.marks p on p.kind = 'pause' and p.key = o.destination
where o.delivered_at is null
  and o.parked_at is null
  and o.next_attempt_at < (select billing.clock()) - interval '15 minutes'
  or o.delivered_at is null
  and o.parked_at is not null
  and o.last_error is distinct from 'withdrawn'
  and (
    o.kind <> 'refund'
    or not billing.is_refused(o)
    or billing.is_refund_owed(o.payload ->> 'gateway_payment_id', (o.payload ->> 'amount')::bigint, o.parked_at)
  );

create view billing.failed_refunds with (security_invoker = true) as
select p.user_id, r.failed_at as since, r.refund_id, r.gateway_payment_id, r.amount, p.currency
from billing.refunds r
join public.payments p using (gateway_payment_id)
where r.status = 'failed' and billing.is_refund_owed(r.gateway_payment_id, r.amount, r.failed_at);

create or replace view billing.failed_events with (security_invoker = true) as
select
  coalesce(p.user_id, billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  e.received_at as since, e.body_sha256, e.event, e.subject_id, e.outcome, e.attempts, p.id as payment_id
from billing.unsettled_events u
-- By its key: few events are unsettled, and many are stored.
cross join lateral (select g.* from billing.gateway_events g where g.body_sha256 = u.body_sha256 offset 0) e
left join public.payments p on p.gateway_order_id = e.subject_id
cross join lateral (
  select
    billing.json_text(e.payload #> '{payload,payment,entity,id}') as id,
    billing.json_integer(e.payload #> '{payload,payment,entity,amount}') as amount
) paid
where (e.outcome like 'failed: %' or e.outcome in ('parked', 'plan_not_found', 'mismatch'))
  -- An event without its payload cannot be applied again.
  and e.payload is not null
  and case e.outcome
    -- Until the payment is fulfilled or refunded.
    when 'plan_not_found' then p.fulfilled_at is null and not billing.is_refunded(p)
    when 'mismatch' then
      -- A mismatch is normal for refunds and disputes of an extra payment, and for cancellations of a gateway subscription
      -- that is not attached. After a charge the activation may still arrive within 15 minutes.
      case e.event
        when 'subscription.charged' then e.received_at < (select billing.clock()) - interval '15 minutes'
        else e.event in ('payment.captured', 'order.paid')
      end
      and (p.gateway_payment_id = paid.id and p.fulfilled_at is not null) is not true
      and (paid.amount > 0 and billing.refunded_amount(paid.id) >= paid.amount) is not true
    else true
  end;

create or replace view billing.service_findings with (security_invoker = true) as
select 'captured_not_fulfilled' as finding, v.payment_id::text as subject, v.user_id, v.since, to_jsonb(v) as detail,
  case v.reason
    when 'no plan of this tier' then 'Add the plan, then replay the webhook of the payment.'
    when 'paid, user gone' then 'Refund the payment at the gateway.'
    else 'Look the payment up at the gateway, and refund it if it is not the amount of the order.'
  end as remedy
from billing.captured_not_fulfilled v
union all
select 'never_captured', p.id::text, p.user_id, p.uncaptured_at,
  jsonb_build_object(
    'payment_id', p.id, 'tier', p.tier, 'amount', p.amount, 'gateway_payment_id', p.gateway_payment_id
  ),
  'Look the payment up at the gateway: access has ended until it is captured.'
from public.payments p
where p.uncaptured_at is not null
union all
-- Until 90 days after the charge.
select 'charged_after_deletion', p.gateway_payment_id, null, p.captured_at,
  jsonb_build_object(
    'gateway_payment_id', p.gateway_payment_id, 'gateway_subscription_id', p.gateway_subscription_id,
    'amount', p.amount, 'currency', p.currency
  ),
  'Refund the payment, and check that the subscription is cancelled at the gateway.'
from public.payments p
where p.gateway_subscription_id is not null and p.captured_at > p.user_deleted_at and billing.kept(p) > 0
union all
-- PS500: the subscription still runs.
select 'expiry_failed', u.id::text, u.id, f.at, jsonb_build_object('error', f.detail),
  'Repair what raises the SQLSTATE, usually a trigger of the app on profiles; the sweep retries each hour.'
from billing.marks f
cross join billing.json_uuid(to_jsonb(f.key)) u (id)
left join public.subscriptions s on s.user_id = u.id
where f.kind = 'settle_failure'
  and f.detail <> 'PS500'
  and (
    s.status = 'active' and s.current_period_end < (select billing.clock())
    or exists (select from billing.gateway_subscriptions m where m.user_id = u.id and m.is_waiting)
  )
union all
select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v),
  case v.state
    when 'parked' then 'Repair the cause in last_error, then requeue the message.'
    else 'Check that the schedule runs and that the destination of the message is configured.'
  end
from billing.outbox_stuck v
union all
select 'refund_failed', v.refund_id, v.user_id, v.since, to_jsonb(v),
  'Refund the payment again, or pay the customer in another way and insert a note about the payment.'
from billing.failed_refunds v
union all
-- It must stop within two hours, and the gateway is not told yet: it may charge it.
select 'untold_stop', g.gateway_subscription_id, g.user_id, o.queued_at,
  jsonb_build_object(
    'gateway_subscription_id', g.gateway_subscription_id, 'stops_at', g.stops_at, 'attempts', o.attempts,
    'last_error', o.last_error
  ),
  'Cancel the subscription in the dashboard of the gateway, then look at why the message fails.'
from (
  -- Two parts, each of which reads an index of few rows.
  select o.*
  from billing.outbox o
  where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is null
  union all
  select o.*
  from billing.outbox o
  where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is not null and o.told_at is not null
) o
cross join lateral (
  select m.user_id, m.gateway_subscription_id, m.stops_at
  from billing.gateway_subscriptions m
  where m.gateway_subscription_id = o.payload ->> 'gateway_subscription_id' and billing.is_billed(m)
  union
  select r.user_id, r.gateway_subscription_id, r.stops_at
  from billing.subscription_orders r
  where r.gateway_subscription_id = o.payload ->> 'gateway_subscription_id'
    and not exists (
      select from billing.gateway_subscriptions m where m.gateway_subscription_id = r.gateway_subscription_id
    )
) g
where o.kind = 'cancel-subscription'
  and g.stops_at < billing.clock() + interval '2 hours'
  and o.queued_at < billing.clock() - interval '1 hour'
union all
select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v),
  case v.outcome
    when 'plan_not_found' then 'Add the plan, then replay the webhook.'
    when 'mismatch' then 'Refund the payment at the gateway: its amount is not that of the order. Or ignore the webhook.'
    else 'Repair the cause of the error, then replay the webhook, or ignore it.'
  end
from billing.failed_events v
union all
-- What was read from the gateway since the newest webhook.
select 'missed_webhook', 'webhooks', null, min(a.at),
  jsonb_build_object('alerts', count(*), 'newest', (array_agg(a.key order by a.at desc))[:10]),
  'Switch the webhook endpoint on at the gateway; the next webhook ends the finding, or a note about "webhooks".'
from billing.marks a
where a.kind = 'missed_webhook'
  and a.at > billing.clock() - interval '30 days'
  and a.at > coalesce((select max(e.received_at) from billing.gateway_events e where e.deliveries > 0), '-infinity')
  and not exists (
    select from billing.support_actions n
    where n.action = 'note' and n.reference = 'webhooks' and n.created_at >= a.at
  )
having count(*) > 0
union all
-- Due for two hours although the runs get answers. A run that used up its time counts as done, so billing.schedule_faults does
-- not see a backlog that grows.
select 'reconciliation_backlog', r.kind, null, min(r.at), jsonb_build_object('due', count(*)),
  'Raise RECONCILE_CALLS_PER_SECOND if the gateway allows more calls, else wait until fewer periods end at once.'
from billing.scheduled_jobs j
join billing.reconciliations r on r.at < billing.clock() - interval '2 hours'
where j.name = 'reconciliation' and j.done_at > now() - interval '15 minutes'
group by r.kind
union all
select 'missing_part', m.part, null, null, to_jsonb(m) - 'part', null
from billing.missing_parts() m
union all
-- Postgres lets PUBLIC execute each new function. To revoke this default would close functions of the app, too.
select 'open_function', signature.text, null, null,
  jsonb_build_object('remedy', format(
    'Run "revoke execute on function %s from public, anon;", or mark it as meant: '
    '"comment on function %1$s is ''Open to everybody: why'';"',
    signature.text
  )), null
from pg_catalog.pg_proc p
cross join lateral (
  select format('public.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as text
) signature
where p.pronamespace = 'public'::regnamespace
  and p.prosecdef
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and has_function_privilege('anon', p.oid, 'execute')
  and coalesce(obj_description(p.oid, 'pg_proc'), '') not like 'Open to everybody%'
  and not exists (
    select from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
  )
union all
select f.finding, f.subject, null, f.since, f.detail, null
from billing.schedule_faults() f;

create view billing.refund_requests with (security_invoker = true) as
select
  a.id as action_id, p.id as payment_id, r.refund_id, a.amount, p.currency,
  coalesce(r.status, case when billing.is_refused(o) then 'failed' else 'pending' end) as status,
  o.last_error, a.created_at
from billing.support_actions a
left join public.payments p on p.gateway_payment_id = a.reference
left join billing.refunds r on r.gateway_payment_id = a.reference and r.support_action_id = a.id
left join billing.outbox o
  on o.kind = 'refund'
  and o.payload ->> 'gateway_payment_id' = a.reference
  and o.payload ->> 'support_action' = a.id::text
where a.action = 'refund';

-- Revenue by month, summed up in passes over all customers. Operations: "Revenue".

create or replace view billing.periods with (security_invoker = true) as
select
  u.user_id, line.kind, line.source_id, line.tier, line.starts_at, line.ends_at, line.ended_at,
  coalesce(
    (line.kind, line.source_id) = (live.kind, live.id) and line.starts_at < live.ends_at and line.ends_at >= live.ends_at,
    false
  ) as is_ruling
from billing.users u
cross join lateral (select billing.find_shown(u.user_id) as ruling offset 0) found
left join lateral (select ((found.ruling).source).* where (found.ruling).is_live) live on true
cross join lateral (
  select
    s.kind, s.id as source_id, s.tier,
    case
      when s.kind = 'payment' then (select p.period_start from public.payments p where p.id = s.id::uuid)
      else s.starts_at
    end as starts_at,
    s.ends_at, s.ended_at
  from billing.sources s
  where s.user_id = u.user_id
    and (
      s.kind <> 'gateway_subscription'
      -- A trial, or a first cycle that was announced by its activation alone.
      or not exists (
        select from public.payments c
        where (c.user_id, c.gateway_subscription_id) = (s.user_id, s.id) and c.period_end = s.ends_at
      )
    )
  union all
  select
    'gateway_subscription', c.gateway_subscription_id, s.tier, c.period_start, c.period_end,
    case
      when bool_and(billing.is_refunded(c)) then least(c.period_end, max(f.created_at))
      when max(s.ended_at) < c.period_end then greatest(max(s.ended_at), c.period_start)
    end
  from public.payments c
  left join billing.sources s
    on s.user_id = c.user_id
    and s.kind = 'gateway_subscription'
    and s.id = c.gateway_subscription_id
  left join billing.refunds f on f.gateway_payment_id = c.gateway_payment_id and f.status = 'processed'
  where c.user_id = u.user_id and c.gateway_subscription_id is not null
  group by c.gateway_subscription_id, s.tier, c.period_start, c.period_end
) line;

create or replace view billing.paid_periods with (security_invoker = true) as
select period.user_id, period.tier, period.currency, period.starts_at, period.ends_at,
  -- A period shorter than four weeks counts by its days.
  round(
    period.price / case
      when period.days < 28 then period.days / 30.4375
      else greatest(1, round(period.days / 30.4375))
    end
  )::bigint as monthly_amount
from (
  select
    p.user_id, p.tier, p.currency, p.amount + coalesce(p.credit, 0) as price, p.period_start as starts_at,
    case
      when p.gateway_subscription_id is not null and billing.is_refunded(p) then p.period_start
      else least(
        p.period_end, p.ended_at, m.ended_at,
        case when m.status = 'cancelled' and not m.cancel_at_period_end then m.cancelled_at end,
        replaced.at
      )
    end as ends_at,
    extract(epoch from p.period_end - p.period_start)::float8 / 86400 as days
  from public.payments p
  left join billing.gateway_subscriptions m using (user_id, gateway_subscription_id)
  left join lateral (
    select min(r.since) as at
    from billing.replacements r
    where r.user_id = p.user_id
      and r.id = coalesce(p.gateway_subscription_id, p.id::text)
      and (p.gateway_subscription_id is null or r.until = p.period_end)
  ) replaced on true
  where p.fulfilled_at is not null or p.gateway_subscription_id is not null
) period
where period.ends_at > period.starts_at
  and period.starts_at <= (select billing.clock())
  and period.days > 0
  and period.user_id is not null;

-- Returns why access changed, by the cause and what it names. A charge of a subscription that was charged before, or that
-- goes on after a purchase, is a renewal. What was asked for while another price ran, as a subscription beside one that the
-- gateway bills or as an order with a start, is a change.
create function billing.find_reason(
  p_cause text,
  p_reference text -- the gateway's id of the subscription, order or payment. Empty: see public.apply_gateway_event
)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_reason constant text := billing.reason_of(p_cause);
  v_mirrored billing.gateway_subscriptions;
begin
  if v_reason not in ('purchase', 'renewal') or coalesce(p_reference, '') = '' then return v_reason; end if;
  select * into v_mirrored from billing.gateway_subscriptions m where m.gateway_subscription_id = p_reference;
  return case
    when not found and v_reason = 'renewal'
      or v_mirrored.paid_count > 1
      or v_mirrored.first_charged_at < v_mirrored.paid_period_event_at
      or exists (
        select from billing.subscription_orders o where o.gateway_subscription_id = p_reference and o.payment_id is not null
      )
      then 'renewal'
    when exists (
      select from (
        select o.user_id, o.plan_id, o.created_at, true as is_billed
        from billing.subscription_orders o
        where o.gateway_subscription_id = p_reference
        union all
        select p.user_id, p.plan_id, p.created_at, false
        from public.payments p
        where p_reference in (p.gateway_order_id, p.gateway_payment_id) and p.starts is not null
      ) asked
      cross join lateral (
        select p.plan_id, p.gateway_subscription_id is not null as is_billed
        from public.payments p
        where p.user_id = asked.user_id
          and p.created_at < asked.created_at
          and p.period_start <= asked.created_at
          and least(p.period_end, p.ended_at) > asked.created_at
        order by p.created_at desc
        limit 1
      ) running
      where running.plan_id <> asked.plan_id and running.is_billed >= asked.is_billed
    ) then 'change'
    else 'purchase'
  end;
end $$;

-- Returns what an event about a user's access says: what GET /api/subscriptions answers, without the payments and without
-- the page on which the customer changes the method of payment.
create or replace function billing.subscription_event(p_user_id uuid)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_answer constant jsonb := public.get_subscription(p_user_id)::jsonb #- '{billing,manage_url}';
begin
  return jsonb_build_object(
    'user_id', p_user_id, 'reason', billing.find_reason(
      current_setting('subscriptions.cause', true), current_setting('subscriptions.reference', true)
    ),
    'tier', v_answer -> 'currentTier', 'entitlements', v_answer -> 'entitlements', 'billing', v_answer -> 'billing'
  ) || (
    select jsonb_object_agg(f.field, v_answer -> 'subscription' -> f.field)
    from unnest(array[
      'status', 'price', 'current_period_start', 'current_period_end', 'cancel_at_period_end', 'ended_reason'
    ]) f (field)
  );
end $$;

-- Enqueues an event, once in a transaction. Runs at the end of the transaction, so that the event says what is true after
-- it. The id of the row grows with each event about a user, because the user is locked: it is the event's version.
-- Nothing is sent about a deleted user, who is to be forgotten, or about a payment that is gone.
create or replace function billing.enqueue_event(
  p_type text,
  p_subject uuid, -- the user of subscription.updated, else the payment
  p_refund_id text default null
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_transaction constant text := concat_ws(' ', p_type, p_subject, p_refund_id, pg_current_xact_id(), extract(epoch from now()));
  -- Also the receiver's webhook-id: at most 64 letters, digits, hyphens and underscores.
  v_key constant text := 'evt_' || encode(substr(sha256(convert_to(v_transaction, 'UTF8')), 1, 16), 'hex');
  v_data jsonb;
begin
  if exists (select from billing.outbox o where o.key = v_key) then return; end if;
  if p_type <> 'subscription.updated' then
    v_data := billing.payment_event(p_subject, p_type, p_refund_id);
  elsif billing.lock_user(p_subject) is not null then
    v_data := billing.subscription_event(p_subject);
    -- Nothing of what it says changed.
    if v_data - 'reason' = (
      select (o.payload -> 'data') - 'reason'
      from billing.outbox o
      where o.destination = 'event' and o.payload #>> '{data,user_id}' = p_subject::text and o.kind = p_type
      order by o.id desc
      limit 1
    ) then
      return;
    end if;
  end if;
  if v_data is null then return; end if;
  perform billing.enqueue(
    v_key, 'event', p_type,
    jsonb_build_object('type', p_type, 'timestamp', billing.iso_time(billing.clock()), 'data', v_data)
  );
end $$;

-- Security definer, as the functions below: the role of an admin or of the app may write these tables but not the outbox.
create or replace function billing.note_subscription_event()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_not_shown constant text[] := '{revision, updated_at, due_at, cancelled_at}';
begin
  -- billing.enqueue_event compares with the event before, which may be deleted by now.
  if tg_op = 'INSERT' or to_jsonb(new) - v_not_shown <> to_jsonb(old) - v_not_shown then
    perform billing.enqueue_event('subscription.updated', new.user_id);
  end if;
  return null;
end $$;

comment on column billing.support_actions.reference is 'What it is about. A note about missed_webhook, unmailed_payment or refund_failed ends it.';

comment on view billing.failed_refunds is 'Refunds that failed at the gateway, also after they were processed: the customer did not get the money. A further refund of the payment, or a support action note about it, ends the finding.';

comment on view billing.outbox_stuck is 'Side effects that are due for more than 15 minutes (the destination is not configured, or paused until paused_until), or parked, with the cause in last_error. billing.requeue(id) retries one. A refund that was refused is not listed if the payment was refunded since, or has a newer support action note.';

comment on view billing.purchases is 'The acts of users that bought a tier. The newest one replaced what is older and still billed, also after it lapsed, failed or was cancelled. Only its refund, a lost dispute, or that it was never captured takes that back. A grant or a row that was written by hand replaces nothing, unless the row names a gateway subscription. A change of plan that was undone is none.';

comment on view billing.refund_requests is 'Refunds that were asked for here: pending, processed or failed, which may be asked for again. refund_id: once the gateway named it. last_error: of the newest try.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

CREATE TRIGGER stop_deleted_request
  AFTER DELETE ON billing.subscription_orders
  FOR EACH ROW
  WHEN ((old.gateway_subscription_id IS NOT NULL))
  EXECUTE FUNCTION billing.stop_deleted_request();

CREATE TRIGGER keep_used_plan
  BEFORE DELETE ON public.plans
  FOR EACH ROW
  EXECUTE FUNCTION billing.keep_used_plan();

CREATE TRIGGER keep_used_tier
  BEFORE UPDATE OF tier ON public.plans
  FOR EACH ROW
  WHEN ((new.tier <> old.tier))
  EXECUTE FUNCTION billing.keep_used_plan();

REVOKE ALL ON FUNCTION "billing"."apply_refund_answer"(billing.outbox, jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."apply_refund_answer"(billing.outbox, jsonb) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_reason"(text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_reason"(text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_refund_owed"(text, bigint, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_refund_owed"(text, bigint, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_refunded"(public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_refunded"(public.payments) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_refused"(billing.outbox) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_refused"(billing.outbox) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."keep_used_plan"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."keep_used_plan"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."may_refund"(billing.outbox) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."may_refund"(billing.outbox) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."newest_dispute"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."newest_dispute"(text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."note_extra_payment"(public.payments, text, timestamp WITH time zone, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_extra_payment"(public.payments, text, timestamp WITH time zone, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."offer_answer"(uuid, text, billing.price, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."offer_answer"(uuid, text, billing.price, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refundable_beside"(public.payments, bigint) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refundable_beside"(public.payments, bigint) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settle_kept"(public.payments, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settle_kept"(public.payments, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."stop_deleted_request"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."stop_deleted_request"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."undecided_since"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."undecided_since"(text) TO "service_role";

revoke execute on all functions in schema billing from public;
