-- What no webhook announced is read from the gateway.

-- Reconciliation of payments: what no webhook announced is read from the gateway.
-- POST /api/internal/reconcile.

create index payments_next_reconcile_at_idx on public.payments (next_reconcile_at)
where next_reconcile_at is not null and gateway_order_id is not null;

create table private.alerts (
  kind text not null,
  subject_id text not null,
  message text not null,
  raised_at timestamptz not null default private.clock(),
  primary key (kind, subject_id)
);
alter table private.alerts enable row level security;
grant select, insert on private.alerts to service_role;
comment on table private.alerts is 'What an admin should look into: raised by reconciliation, once a subject.';
comment on column private.alerts.kind is 'missed_webhook.';
comment on column private.alerts.subject_id is 'The order or subscription, as the gateway calls it.';

-- Whether a payment needs no reconciliation any more.
create function private.is_settled(
  p_payment public.payments
)
returns boolean
language sql
immutable
set search_path = ''
return coalesce(
  p_payment.confirmed_at is not null and (p_payment.fulfilled_at is not null or p_payment.user_id is null)
    or p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount,
  false
);
grant execute on function private.is_settled(public.payments) to service_role;

-- When to reconcile a payment again, counted from its order or its verification. After five days the result is final: a
-- payment that is only authorised by then is refunded by the gateway.
create function private.next_reconciliation(
  p_payment public.payments
)
returns timestamptz -- null: no more
language sql
stable
set search_path = ''
as $$
  select min(due.at)
  from unnest(array[15, 60, 6 * 60, 24 * 60, 72 * 60, 120 * 60]) minutes
  cross join lateral (
    select greatest(p_payment.created_at, p_payment.captured_at) + make_interval(mins => minutes) as at
  ) due
  where due.at > private.clock()
$$;
grant execute on function private.next_reconciliation(public.payments) to service_role;

-- Payments to reconcile, leased for five minutes: where the caller dies, or gets no answer, the next one claims them.
-- API: service_role only.
create function public.claim_payments_to_reconcile()
returns jsonb -- {settled, payments: [{id, order_id}]}; settled: how many needed no asking. Both none: nothing is due
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_settled integer;
  v_payments jsonb;
begin
  with due as materialized (
    select p.id, private.is_settled(p) as is_settled
    from public.payments p
    where p.next_reconcile_at <= private.clock()
      and p.gateway_order_id is not null
    order by p.next_reconcile_at
    limit 1000
    for no key update skip locked
  ),
  asked as materialized (
    select due.id from due where not due.is_settled limit 20
  ),
  settled as (
    update public.payments p
    set next_reconcile_at = null
    from due
    where p.id = due.id
      and due.is_settled
    returning p.id
  ),
  leased as (
    update public.payments p
    set next_reconcile_at = private.clock() + interval '5 minutes'
    from asked
    where p.id = asked.id
    returning p.id, p.gateway_order_id
  )
  select
    (select count(*) from settled),
    coalesce(
      (select jsonb_agg(jsonb_build_object('id', l.id, 'order_id', l.gateway_order_id)) from leased l),
      '[]'
    )
  into v_settled, v_payments;
  return jsonb_build_object('settled', v_settled, 'payments', v_payments);
end
$$;
comment on function public.claim_payments_to_reconcile() is 'Leases up to 20 payments to reconcile.';
revoke execute on function public.claim_payments_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_payments_to_reconcile() to service_role;

-- Applies an answer of the gateway as if a webhook had delivered it; raises an alert where no webhook ever announced it.
create function private.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_body jsonb,
  p_since timestamptz -- a webhook that came since then would have announced it
)
returns boolean -- whether it changed anything
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := p_body ->> 'event';
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_delivery constant private.delivery := private.apply_delivery(v_key, p_key, p_body, 0);
begin
  if not v_delivery.is_applied or v_delivery.outcome <> 'applied' then
    return false;
  end if;
  insert into private.alerts (kind, subject_id, message)
  select
    'missed_webhook',
    answer.subject_id,
    format('No webhook announced %s: your webhook endpoint is probably switched off at the gateway.', v_event)
  from private.gateway_events answer
  where answer.body_sha256 = v_key
    and not exists (
      select
      from private.gateway_events e
      where e.subject_id = answer.subject_id
        and e.deliveries > 0
        and e.received_at >= p_since
        and (e.event = v_event or e.event = 'order.paid' and v_event = 'payment.captured')
    )
  on conflict do nothing;
  return true;
end
$$;
grant execute on function private.apply_answer(text, jsonb, timestamptz) to service_role;

-- Applies what the gateway answers about the payments on an order: as webhooks would, and where no webhook will come.
-- POST /api/internal/reconcile.

-- Ends the access of a payment that was verified with a valid signature and never captured. Its verification stays, but
-- from now on only the gateway's confirmation counts. The caller holds the locks on the user and on the payment.
create function private.end_uncaptured_access(
  p_payment public.payments,
  p_email text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.note_cause('never captured', p_payment.gateway_payment_id);
  update public.payments p
  set status = 'failed',
    captured_at = null,
    uncaptured_at = private.clock(),
    ended_at = private.clock(),
    ended_reason = 'never_captured'
  where p.id = p_payment.id;
  if p_payment.fulfilled_at is not null and p_payment.ended_at is null then
    perform private.settle_payment(p_payment, p_email);
  end if;
end
$$;
grant execute on function private.end_uncaptured_access(public.payments, text) to service_role;

-- The events that would have announced a gateway's payment and its refunds, with their keys; a payment that is neither
-- captured nor failed yet has none. Refunds come from their own list: a payment's total counts pending ones, too.
create function private.events_of(
  p_entity jsonb -- the payment, with its refunds where it has any
)
returns table (key text, event text, payload jsonb)
language sql
immutable
set search_path = ''
as $$
  select
    'reconcile:' || (p_entity ->> 'id') || ':' || (p_entity ->> 'status'),
    'payment.' || (p_entity ->> 'status'),
    jsonb_build_object('payment', jsonb_build_object('entity', p_entity - 'refunds'))
  where p_entity ->> 'status' in ('captured', 'failed')
    and private.json_text(p_entity -> 'id') is not null
  union all
  select
    'reconcile:' || (r.refund ->> 'id') || ':' || (r.refund ->> 'status'),
    'refund.' || (r.refund ->> 'status'),
    jsonb_build_object(
      'payment', jsonb_build_object('entity', p_entity - 'refunds'),
      'refund', jsonb_build_object('entity', r.refund || jsonb_build_object('payment_id', p_entity -> 'id'))
    )
  from jsonb_array_elements(case when jsonb_typeof(p_entity -> 'refunds') = 'array' then p_entity -> 'refunds' else '[]' end)
    r (refund)
  where jsonb_typeof(r.refund) = 'object'
    and r.refund ->> 'status' in ('processed', 'failed')
    and private.json_text(r.refund -> 'id') is not null
    and private.json_text(p_entity -> 'id') is not null
$$;
grant execute on function private.events_of(jsonb) to service_role;

-- API: service_role only.
create function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended since nothing was captured
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_payment public.payments;
  v_email text;
  v_answer record;
  v_applied integer := 0;
  v_is_over boolean;
begin
  perform private.begin_request('reconciliation', null);
  perform private.lock_gateway_payment(refunded.id)
  from (
    select private.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);
  -- For the whole transaction: an event that fails releases the locks of its own effect and leaves its ledger row.
  select * into v_payment from public.payments p where p.id = p_payment_id for update;

  for v_answer in
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral private.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures before failures: no mail about a failed attempt on an order that is paid.
    order by
      array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event),
      e.key
  loop
    v_applied := v_applied + private.apply_answer(
      v_answer.key,
      jsonb_build_object('event', v_answer.event, 'payload', v_answer.payload),
      v_payment.created_at
    )::integer;
  end loop;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := v_payment.status = 'captured'
    and not private.is_settled(v_payment)
    and v_payment.confirmed_at is null
    and private.next_reconciliation(v_payment) is null
    and (p_items::jsonb @> '[{"status": "captured"}]') is not true;
  if v_is_over then
    perform private.end_uncaptured_access(v_payment, v_email);
  end if;
  update public.payments p
  set next_reconcile_at = case
      when not private.is_settled(v_payment) then private.next_reconciliation(v_payment)
    end
  where p.id = p_payment_id;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end
$$;
comment on function public.apply_order_payments(uuid, text) is
  'Applies what the gateway answers about the payments on an order, and plans the next reconciliation.';
revoke execute on function public.apply_order_payments(uuid, text) from public, anon, authenticated;
grant execute on function public.apply_order_payments(uuid, text) to service_role;

-- Reconciliation of gateway subscriptions: each is read from the gateway before its access may lapse.
-- POST /api/internal/reconcile.

-- Gateway subscriptions whose period ends within a day, leased for five minutes; each is reconciled every six hours until
-- it is renewed or cancelled. API: service_role only.
create function public.claim_subscriptions_to_reconcile()
returns jsonb -- {subscriptions: [{id, gateway_subscription_id}]}: at most 20; id: of the user's subscription
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subscriptions jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.period_end, m.checked_at, m.arrived_at,
      coalesce(p.grace_days, 3) as grace_days
    from private.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
    order by m.next_check_at
    limit 1000
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- Over, unknown here, or without access for so long that nothing more is expected.
        when d.status = 'cancelled' or d.gateway_subscription_id = '' then 'never'
        -- Its user may still arrive. It may also belong to another app of the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then 'tomorrow' else 'never' end
        when d.checked_at > d.period_end + make_interval(days => d.grace_days + 14) then 'never'
        -- Renewed since: a charge leaves the plan as it is, so that it writes no index.
        when d.period_end > v_now + interval '1 day' then 'later'
        else 'now'
      end as turn
    from due d
  ),
  asked as (
    select p.* from planned p where p.turn = 'now' order by p.period_end limit 20
  ),
  leased as (
    update private.gateway_subscriptions m
    set next_check_at = case
        when p.turn = 'tomorrow' then v_now + interval '1 day'
        when p.turn = 'later' then p.period_end - interval '1 day'
        when p.turn = 'now' then v_now + interval '5 minutes'
      end
    from planned p
    where m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
      and (
        p.turn <> 'now'
        or exists (
          select
          from asked a
          where a.user_id = p.user_id
            and a.gateway_subscription_id = p.gateway_subscription_id
        )
      )
    returning p.id, m.gateway_subscription_id, p.turn
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_subscriptions
  from leased l
  where l.turn = 'now';
  return jsonb_build_object('subscriptions', v_subscriptions);
end
$$;
comment on function public.claim_subscriptions_to_reconcile() is
  'Leases up to 20 gateway subscriptions that are to be reconciled before their period ends.';
revoke execute on function public.claim_subscriptions_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_subscriptions_to_reconcile() to service_role;

-- API: service_role only.
create function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null -- the subscription as the gateway has it, JSON; null: it knows no such one
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_user_id uuid;
  v_email text;
  v_mirrored private.gateway_subscriptions;
  v_entity jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_event text;
  v_applied boolean := false;
begin
  perform private.begin_request('reconciliation', p_gateway_subscription_id);
  select s.user_id into v_user_id from public.subscriptions s where s.id = p_subscription_id;
  v_email := private.lock_user(v_user_id);
  select * into v_mirrored
  from private.gateway_subscriptions m
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  for update;
  if not found then
    return jsonb_build_object('applied', false);
  end if;
  v_event := case
    when v_status = 'active' and private.json_time(v_entity -> 'current_end') > v_mirrored.period_end
      then 'subscription.charged'
    when v_status in ('cancelled', 'expired') and v_mirrored.status is distinct from 'cancelled'
      then 'subscription.cancelled'
  end;

  if v_event is not null then
    -- Its user is known: the notes decide nothing.
    v_entity := v_entity || jsonb_build_object(
      'id', p_gateway_subscription_id,
      'notes', jsonb_build_object('user_id', v_user_id)
    );
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, case
        when v_event = 'subscription.charged' then v_entity ->> 'current_end'
      end),
      jsonb_build_object(
        'event', v_event,
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        -- A charge happens when its period begins: its own webhook, should it still come, changes nothing more.
        'created_at', v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end
      ),
      v_mirrored.period_end - interval '1 day'
    );
  end if;

  update private.gateway_subscriptions m
  set checked_at = private.clock(),
    next_check_at = case when m.status is distinct from 'cancelled' then private.clock() + interval '6 hours' end,
    gateway_status = coalesce(v_status, 'unknown')
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
  return jsonb_build_object('applied', v_applied);
end
$$;
comment on function public.apply_gateway_subscription(uuid, text, text) is
  'Applies what the gateway answers about a subscription that it bills.';
revoke execute on function public.apply_gateway_subscription(uuid, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_subscription(uuid, text, text) to service_role;
