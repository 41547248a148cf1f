-- Facts about payments: refunds, disputes, extra payments on an order, what was sold.
-- Contract: "Refunds", "Disputes", "Second payment on an order".

-- Refunds are stored by their ids, and only processed refunds count. The gateway's total in the payment is not used: it
-- includes pending refunds, and a refund that fails returns no money.

create table billing.refunds (
  refund_id text primary key,
  gateway_payment_id text not null,
  amount bigint not null, -- minor currency units
  status text not null constraint refunds_status_check check (status in ('pending', 'processed', 'failed')),
  created_at timestamptz not null default billing.clock(),
  failed_at timestamptz, -- when it became known here
  support_action_id bigint -- null: it was not asked for here
);
create index refunds_failed_idx on billing.refunds (failed_at) where status = 'failed';
create index refunds_gateway_payment_id_idx on billing.refunds (gateway_payment_id);
alter table billing.refunds enable row level security;
grant select, insert, update on billing.refunds to service_role;
comment on table billing.refunds is 'The refunds at the gateway. A refund may arrive before its payment.';

create view billing.refunded with (security_invoker = true) as
select r.gateway_payment_id, sum(r.amount)::bigint as amount
from billing.refunds r
where r.status = 'processed'
group by r.gateway_payment_id;
grant select on billing.refunded to service_role;
comment on view billing.refunded is 'The sum of the processed refunds of each gateway payment, in minor currency units.';

create function billing.refunded_amount(p_gateway_payment_id text)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select r.amount from billing.refunded r where r.gateway_payment_id = p_gateway_payment_id), 0);
end $$;

-- Disputes are stored by their ids, because several may be about one payment: a retrieval that was closed comes back as a
-- chargeback, and the bank may challenge what was won.

create table billing.disputes (
  dispute_id text primary key, -- the payment's id where the gateway named no dispute
  gateway_payment_id text not null,
  phase text, -- retrieval, chargeback, pre_arbitration, arbitration or fraud
  amount bigint constraint disputes_amount_check check (amount > 0), -- disputed, minor units. Null: not named
  amount_deducted bigint constraint disputes_amount_deducted_check check (amount_deducted > 0), -- null: not named
  status text not null,
  event_at timestamptz, -- created_at of the newest event. Null: it has none
  arrived_at timestamptz not null default billing.clock()
);
create index disputes_gateway_payment_id_idx on billing.disputes (gateway_payment_id);
alter table billing.disputes enable row level security;
grant select, insert, update on billing.disputes to service_role;
comment on table billing.disputes is
  'The disputes at the gateway, as the newest event of each says. A dispute may arrive before its payment.';

create view billing.lost_disputes with (security_invoker = true) as
select
  d.gateway_payment_id, d.dispute_id,
  coalesce(d.event_at, d.arrived_at) as at,
  coalesce(d.amount_deducted, d.amount, p.paid_amount, p.amount) as amount,
  coalesce(p.paid_amount, p.amount) as paid
from billing.disputes d
join public.payments p using (gateway_payment_id)
where d.status = 'lost';
grant select on billing.lost_disputes to service_role;
comment on view billing.lost_disputes is
  'What each lost dispute took of a known payment, in minor units: what was deducted, else what was disputed, else all.';

-- Returns what was lost in disputes about a gateway payment, in minor units: at most the payment's amount.
create function billing.lost_amount(p_gateway_payment_id text)
returns bigint -- 0: nothing was lost, or the payment is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select least(sum(l.amount), max(l.paid))::bigint
    from billing.lost_disputes l
    where l.gateway_payment_id = p_gateway_payment_id
  ), 0);
end $$;

-- Returns which of two statuses of one second counts: the decided one.
create function billing.decision_rank(p_status text)
returns integer -- 0: not decided
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return coalesce(array_position(array['closed', 'won', 'lost'], p_status), 0); end $$;

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
create function billing.show_disputes(p_gateway_payment_id text)
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
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
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
create function billing.refundable_amount(
  p_payment public.payments,
  p_message_id bigint default null -- of a refund that was asked for here, which does not count; null: none
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
            -- Of those that wait for their first try the older one is sent.
            and (
              o.id < p_message_id
              or o.attempts > 0
              or not exists (select from billing.outbox m where m.id = p_message_id and m.parked_at is null)
            )
            and not billing.is_refused(o)
            and not exists (
              select from billing.refunds r
              where r.gateway_payment_id = p_payment.gateway_payment_id
                and r.support_action_id::text = o.payload ->> 'support_action'
            )
        ), 0),
        0
      )
    else 0
  end;
end $$;

-- Returns whether a refund that was asked for here may be sent: since it was asked for, the payment may have been lost, or
-- refunded at the gateway. A retry may have been made at the first try, so that its own refund does not count against it.
create function billing.may_refund(p_message billing.outbox)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.gateway_payment_id = p_message.payload ->> 'gateway_payment_id'
      and (p_message.payload ->> 'amount')::bigint <= case
        when p_message.attempts = 0 or p_message.parked_at is not null then billing.refundable_amount(p, p_message.id)
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

-- Returns whether a payment was refunded in full: also where a part was lost in a dispute, and the rest was refunded.
create function billing.is_refunded(p_payment public.payments)
returns boolean -- false: what was paid is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- The usual payment.
  if (p_payment.refunded_amount > 0) is not true then return false; end if;
  p_payment.status := 'captured'; -- its refund may be known first
  return coalesce(p_payment.paid_amount, p_payment.amount) > 0 and billing.kept(p_payment) = 0;
end $$;

-- Returns what was paid with a payment and kept: without its refunds, and without what was lost in disputes.
create function billing.kept(p_payment public.payments)
returns bigint -- minor currency units of the payment's currency; never below 0
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_payment.status <> 'captured' then return 0; end if;
  return greatest(
    coalesce(p_payment.paid_amount, p_payment.amount) - p_payment.refunded_amount
    - case when p_payment.dispute_status is null then 0 else billing.lost_amount(p_payment.gateway_payment_id) end,
    0
  );
end $$;

-- Returns whether a dispute took what was left of a payment.
create function billing.is_lost(p_payment public.payments)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_payment.dispute_status is not null
    and billing.lost_amount(p_payment.gateway_payment_id) > 0
    and billing.kept(p_payment) = 0;
end $$;

-- Returns when a payment lost how much, in minor units: no more in all than what was not refunded.
create function billing.losses(p_payment public.payments)
returns table (at timestamptz, amount bigint) language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_most constant bigint := greatest(coalesce(p_payment.paid_amount, p_payment.amount) - p_payment.refunded_amount, 0);
begin
  return query
  select l.at, (least(sum(l.amount) over w, v_most) - least(sum(l.amount) over w - l.amount, v_most))::bigint
  from billing.lost_disputes l
  where l.gateway_payment_id = p_payment.gateway_payment_id
  window w as (order by l.at, l.dispute_id);
end $$;

-- Returns what was paid for a period, without what was refunded, is to be refunded, or was lost in a dispute. The credit of a
-- payment counts: it was paid for with an earlier period. Of several payments for one cycle one counts.
create function billing.paid_for(
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

-- The payments whose documents are to be looked at, in the order of their confirmation.
create table billing.documents_due (
  payment_id uuid primary key,
  confirmed_at timestamptz not null,
  due_at timestamptz not null default billing.clock(),
  buyer jsonb -- see billing.buyer_of; read once the user is deleted
);
create index documents_due_confirmed_at_idx on billing.documents_due (confirmed_at, payment_id);
alter table billing.documents_due enable row level security;
comment on table billing.documents_due is 'Payments that wait for a receipt or a credit note.';

-- Serializes the transactions about a gateway payment. A refund and its charge may arrive at the same time, and without the
-- lock neither transaction would see the other's row. The lock comes before the user's lock, because a refund does not name
-- its user. Use it once for each event, not for each row of a bulk insert: the server's lock table has a fixed size.
create function billing.lock_gateway_payment(p_gateway_payment_id text) -- null: nothing to lock
returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$ begin perform pg_advisory_xact_lock(hashtextextended(p_gateway_payment_id, 0)); end $$;

-- Stores an extra payment on an order: one of its payments counts, and the others are to be refunded. The caller holds the
-- lock on the one that counts.
create function billing.note_extra_payment(
  p_payment public.payments, -- counts
  p_gateway_payment_id text,
  p_confirmed_at timestamptz, -- null: not confirmed by the gateway
  p_paid_amount bigint default null, -- minor currency units; null: not known
  p_base_amount bigint default null -- what the gateway booked in INR; null: not known
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.payments as x (
    user_id, amount, paid_amount, base_amount, currency, status, tier, plan_id, gateway_key_id, gateway_payment_id, extra_of, captured_at,
    confirmed_at, refunded_amount, next_reconcile_at
  )
  values (
    p_payment.user_id, p_payment.amount, p_paid_amount, p_base_amount, p_payment.currency, 'captured', p_payment.tier, p_payment.plan_id,
    p_payment.gateway_key_id, p_gateway_payment_id, p_payment.id, billing.clock(), p_confirmed_at,
    billing.refunded_amount(p_gateway_payment_id), null
  )
  on conflict (gateway_payment_id) do update
  set confirmed_at = excluded.confirmed_at, paid_amount = coalesce(excluded.paid_amount, x.paid_amount),
    base_amount = coalesce(excluded.base_amount, x.base_amount)
  where x.extra_of = excluded.extra_of and x.confirmed_at is null and excluded.confirmed_at is not null;
end $$;

-- Chooses the payment that counts for an order. A payment that was not refunded in full comes before one that was, then a
-- captured payment before one that is only verified, then the payment that counts already. The caller holds its lock.
create function billing.count_best_payment(p_payment public.payments)
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
    paid_amount = v_extra.paid_amount, base_amount = v_extra.base_amount, refunded_amount = v_extra.refunded_amount,
    -- A payment that is only verified needs a confirmation by the gateway.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then billing.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id;
  update public.payments x
  set gateway_payment_id = p_payment.gateway_payment_id,
    captured_at = p_payment.captured_at, confirmed_at = p_payment.confirmed_at,
    paid_amount = p_payment.paid_amount, base_amount = p_payment.base_amount, refunded_amount = p_payment.refunded_amount
  where x.id = v_extra.id;
  perform billing.show_disputes(p.gateway_payment_id)
  from public.payments p
  where p.id in (p_payment.id, v_extra.id);
  perform billing.exchange_documents(p_payment.id, v_extra.id);
  select * into p_payment from public.payments p where p.id = p_payment.id;
  return p_payment;
end $$;

-- Returns whether a payment needs no further reconciliation. One that waits for its plan is fulfilled from the ledger.
create function billing.is_settled(p_payment public.payments)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_payment.confirmed_at is not null
    or billing.is_refunded(p_payment);
end $$;

-- Returns when to reconcile a payment again, counted from its order or its verification. What is paid later the statement
-- finds. Access that rests on a verification alone ends after five days: the gateway refunds a payment that is only authorised
-- by then.
create function billing.next_reconciliation(p_payment public.payments)
returns timestamptz -- null: no further reconciliation
language sql stable set search_path = pg_catalog, pg_temp as $$
  select min(due.at)
  from unnest(array[15, 60, case when p_payment.status = 'captured' then 120 * 60 end]) minutes
  cross join lateral (
    select greatest(p_payment.created_at, p_payment.captured_at) + make_interval(mins => minutes) as at
  ) due
  where due.at > billing.clock()
$$;

-- Returns the tier that a payment buys. Contract: "What an order sells".
create function billing.tier_bought(p_payment public.payments)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return coalesce(nullif(p_payment.meta ->> 'tier', ''), nullif(p_payment.tier, ''), 'basic'); end $$;

-- Returns whether a payment buys a plan: the plan that was sold, else the present plan of its tier, on offer or not.
create function billing.is_bought(p_plan public.plans, p_payment public.payments)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return p_plan.id = p_payment.plan_id
    or p_payment.plan_id is null and p_plan.tier = billing.tier_bought(p_payment) and p_plan.lookup_key is null;
end $$;

create function billing.price_sold(p_payment public.payments)
returns billing.price -- null: no price, as of an order of the app's own
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_payment.price_amount is null then return null; end if;
  return row(
    p_payment.price_key, p_payment.price_amount, p_payment.currency, p_payment.duration_months
  )::billing.price;
end $$;

-- What decides about a purchase.
create type billing.purchase as (
  payment public.payments,
  plan public.plans, -- that it buys. All null: no such plan
  shown public.subscriptions, -- the row of its user. All null: none
  is_mirrored boolean, -- whether its user has a gateway subscription
  newest_at timestamptz, -- the newest known act of its user
  written_at timestamptz, -- when the row of its user was last written by hand. Null: never
  early_renewal text,
  time_zone text,
  refunded_amount bigint -- of the gateway payment
);

-- Locks a payment, and reads what decides about it. The caller holds the lock on the user.
create function billing.lock_purchase(p_payment_id uuid, p_gateway_payment_id text)
returns billing.purchase language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_purchase billing.purchase;
begin
  -- Subqueries, because a row that waited for its lock is not joined again.
  select
    p,
    (select pl from public.plans pl where billing.is_bought(pl, p)),
    (select s from public.subscriptions s where s.user_id = p.user_id),
    exists (select from billing.gateway_subscriptions m where m.user_id = p.user_id and billing.is_known(m)),
    greatest(
      (select s.updated_at from public.subscriptions s where s.user_id = p.user_id),
      (select max(m.arrived_at) from billing.gateway_subscriptions m where m.user_id = p.user_id),
      (
        select max(later.since)
        from public.payments later
        where later.user_id = p.user_id and later.settle_at > billing.clock()
      )
    ),
    (select w.at from billing.manual_subscriptions w where w.user_id = p.user_id),
    (select e.early_renewal from billing.settings e),
    (select e.time_zone from billing.settings e),
    coalesce((select r.amount from billing.refunded r where r.gateway_payment_id = p_gateway_payment_id), 0)
  into v_purchase
  from public.payments p
  where p.id = p_payment_id
  for update of p;
  return v_purchase;
end $$;
