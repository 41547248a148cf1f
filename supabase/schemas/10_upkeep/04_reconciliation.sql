-- The function reads from the gateway what no webhook announced, one run at a time within the rate of the gateway's API, and
-- applies it here. Contract: POST /api/internal/reconcile, "Reconciliation".

-- If the caller crashes or gets no answer, a later call claims the payments again. API: service_role only.
create function public.claim_payments_to_reconcile()
returns jsonb
-- {settled, payments: [{id, order_id, amount}]}; settled: how many payments need no reconciliation. 0 and []: nothing is due
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_result jsonb;
begin
  with due as materialized (
    select p.id, p.next_reconcile_at, billing.is_settled(p) as is_settled
    from public.payments p
    where p.next_reconcile_at <= billing.clock() and p.gateway_order_id is not null
    order by p.next_reconcile_at
    limit 1000
    for no key update skip locked
  ),
  claimed as (
    update public.payments p
    set next_reconcile_at = case when not d.is_settled then billing.clock() + interval '5 minutes' end
    from (select due.*, row_number() over (partition by due.is_settled order by due.next_reconcile_at) as place from due) d
    where p.id = d.id and (d.is_settled or d.place <= 20)
    returning p.id, p.gateway_order_id, p.amount, d.is_settled
  )
  select jsonb_build_object(
    'settled', count(*) filter (where c.is_settled),
    'payments', coalesce(
      jsonb_agg(jsonb_build_object('id', c.id, 'order_id', c.gateway_order_id, 'amount', c.amount)) filter (where not c.is_settled), '[]'
    )
  )
  into v_result
  from claimed c;
  return v_result;
end $$;
comment on function public.claim_payments_to_reconcile is 'Claims up to 20 payments to reconcile, for five minutes.';

-- Applies an answer of the gateway as if a webhook had delivered it. Marks it as missed_webhook if no webhook announced it, but not
-- where the page of a customer asks: the webhook may still be under way.
create function billing.apply_answer(
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
  v_delivery billing.delivery;
begin
  perform billing.note_cause(p_event, null);
  v_delivery := billing.apply_delivery(
    v_key, p_key, jsonb_build_object('event', p_event, 'payload', p_payload, 'created_at', p_created_at), 0
  );
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

-- Applies the gateway's payments on an order, and ends access if no payment was captured in time. API: service_role only.
create function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended, as no payment was captured
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_payment public.payments;
  v_email text;
  v_applied integer;
  v_is_over boolean;
  v_next jsonb;
begin
  perform billing.begin_request('reconciliation', null);
  perform billing.lock_gateway_payment(refunded.id)
  from (
    select billing.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  v_email := billing.lock_user((select p.user_id from public.payments p where p.id = p_payment_id));
  -- Locks the payment until the end of the transaction. The rollback of a failed event releases the locks of its effect but
  -- not the lock on its ledger row, which comes after the payment in the lock order.
  select * into v_payment from public.payments p where p.id = p_payment_id for update;

  select count(*) filter (where billing.apply_answer(a.key, a.event, a.payload, null, v_payment.created_at))
  into v_applied
  from (
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral billing.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures come before failures, so that no mail about a failed attempt is sent for a paid order.
    order by array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event), e.key
  ) a;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := v_payment.status = 'captured'
    and not billing.is_settled(v_payment)
    and billing.next_reconciliation(v_payment) is null
    and (p_items::jsonb @> '[{"status": "captured"}]') is not true;
  update public.payments p
  set next_reconcile_at = case when not billing.is_settled(v_payment) then billing.next_reconciliation(v_payment) end
  where p.id = p_payment_id;
  if v_is_over then
    perform billing.note_cause('never captured', v_payment.gateway_payment_id);
    -- verified_at remains, but from now on only a confirmation by the gateway counts.
    update public.payments p
    set status = 'failed',
      captured_at = null, uncaptured_at = billing.clock(), ended_at = billing.clock(), ended_reason = 'never_captured'
    where p.id = p_payment_id;
    if v_payment.fulfilled_at is not null and v_payment.ended_at is null then
      v_next := billing.next_charge_answer(v_payment.user_id);
      perform billing.settle_payment(v_payment, v_email);
      perform billing.announce_other_charge(v_payment, v_email, v_next, false);
    end if;
  end if;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end $$;
comment on function public.apply_order_payments is 'Applies the gateway''s answer about the payments on an order.';

-- Subscriptions that were asked for and have no cycle yet, those whose period ends within a day, and those that are pending,
-- halted or paused at the gateway. Each is reconciled until it is renewed or cancelled. API: service_role only.
create function public.claim_subscriptions_to_reconcile()
returns jsonb
-- {settled, subscriptions: [{id, gateway_subscription_id}]}; settled: how many of those that were due need no call now.
-- subscriptions: at most 20. 0 and []: nothing is due
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_result jsonb;
begin
  -- The requests of these ended without an answer of the gateway.
  perform billing.forget_request(m.id)
  from billing.gateway_subscriptions m
  where m.next_check_at <= v_now and m.gateway_subscription_id is null
  limit 20;
  with due as materialized (
    select
      m.*, s.id is not null as has_row, m as subscription,
      m.period_end + make_interval(hours => 24 * (billing.grace_days(p.grace_days, false) + 14)) as given_up_at
    from billing.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now and m.gateway_subscription_id is not null
    order by m.next_check_at
    limit 200
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- One without an id cannot be read. A cancelled subscription has ended; for a day its last payments are looked for.
        when d.gateway_subscription_id = '' then null
        when d.next_check_at = '-infinity' then v_now
        when d.status = 'cancelled' or d.gateway_status = 'completed' then case
            when d.cancelled_arrived_at < v_now - interval '1 day' or billing.unnamed_cycles(d.subscription) = 0 then null
            else v_now
          end
        when d.asked_plan_id is not null and d.period_end is null then v_now
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when not d.has_row and d.gateway_status is distinct from 'unknown'
          then case when d.arrived_at > v_now - interval '30 days' then v_now + interval '1 day' end
        -- The gateway may bill it again at any time. So long after the last access it is read once a day.
        when d.gateway_status in ('pending', 'halted', 'paused')
          or d.gateway_status = 'active' and d.period_end <= v_now + interval '1 day'
          then case when d.checked_at > d.given_up_at then greatest(d.checked_at + interval '1 day', v_now) else v_now end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.given_up_at then null
        -- The gateway did not know it, such as under the key of another account. Without an end it is never given up.
        when d.gateway_status = 'unknown'
          then case when d.period_end is null then greatest(d.checked_at + interval '1 day', v_now) else v_now end
        -- If the subscription was renewed, later. A charge does not change next_check_at, so that it writes no index.
        else greatest(d.period_end - interval '1 day', v_now)
      end as next_at -- null: never
    from due d
  ),
  leased as (
    update billing.gateway_subscriptions m
    set next_check_at = case when p.is_now then v_now + interval '5 minutes' else p.next_at end
    from (
      select
        d.id, d.next_at, coalesce(d.next_at = v_now, false) as is_now,
        -- Neither a lot of requests nor a lot of ends of periods delays the others.
        row_number() over (partition by d.next_at = v_now order by d.next_check_at) as place
      from planned d
    ) p
    where m.id = p.id and (not p.is_now or p.place <= 20)
    returning m.id, m.gateway_subscription_id, p.is_now
  )
  select jsonb_build_object(
    'settled', count(*) filter (where not l.is_now),
    'subscriptions', coalesce(
      jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id))
        filter (where l.is_now),
      '[]'
    )
  )
  into v_result
  from leased l;
  return v_result;
end $$;
comment on function public.claim_subscriptions_to_reconcile is 'Claims up to 20 gateway subscriptions, for five minutes.';

-- Finds the event that the gateway's answer about a subscription stands for: a paid cycle, or the cancellation.
create function billing.missed_event(
  p_mirrored billing.gateway_subscriptions,
  inout entity jsonb, -- the answer; of a cycle whose successor could not be charged: with that cycle
  out event text -- null: no news
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_status constant text := billing.json_text(entity -> 'status');
  v_start constant timestamptz := billing.json_time(entity -> 'current_start');
  v_end constant timestamptz := billing.json_time(entity -> 'current_end');
  v_paid_count constant bigint := billing.json_integer(entity -> 'paid_count');
begin
  event := case
    when v_status in ('cancelled', 'expired')
      then case when p_mirrored.status is distinct from 'cancelled' then 'subscription.cancelled' end
    -- The current cycle may be unpaid. The number of paid cycles tells. Without any charge the first activation counts as one.
    -- After a halt an answer without that number says nothing about payment.
    when coalesce(
      v_paid_count <= coalesce(p_mirrored.paid_count, (p_mirrored.first_period_end is not null)::integer),
      p_mirrored.last_halted_at > p_mirrored.period_event_at
    ) then null
    when v_status in ('active', 'completed')
      and v_end > coalesce(
        p_mirrored.period_end,
        -- No cycle is known. After a halt only a number that grows tells that this one was paid.
        case
          when v_paid_count > coalesce(p_mirrored.paid_count, case when p_mirrored.last_halted_at is null then 0 end)
            then timestamptz '-infinity'
        end
      )
      -- Charged, and paused since.
      or v_status = 'paused' and v_start = p_mirrored.period_end
      -- The charge that failed is for the cycle that begins now. The one before it was paid.
      or v_status = 'pending' and v_start > p_mirrored.period_end
      then 'subscription.charged'
  end;
  if v_status = 'pending' and event is not null then
    entity := entity || jsonb_build_object(
      'current_start', extract(epoch from p_mirrored.period_end)::bigint, 'current_end', entity -> 'current_start'
    );
  end if;
end $$;

-- Access may lapse now that the gateway was asked: the sweep looks at it again.
create function billing.check_again(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.subscriptions s
  set due_at = billing.clock()
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end < billing.clock() and s.due_at > billing.clock();
end $$;

-- Applies the gateway's answer about a subscription, as the events would that it stands for. The caller holds the lock on the
-- user.
create function billing.apply_subscription_read(
  p_id uuid,
  p_entity jsonb, -- the subscription at the gateway; null: the gateway has no such subscription
  p_is_missed boolean -- an alert is due if no webhook announced it
)
returns jsonb -- {applied, lacks_payment}: whether it changed anything; whether apply_invoices is to name the payment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_mirrored billing.gateway_subscriptions;
  v_entity jsonb := p_entity;
  v_status constant text := billing.json_text(v_entity -> 'status');
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_paid_count constant bigint := billing.json_integer(p_entity -> 'paid_count');
  v_event text;
  v_applied boolean;
begin
  select * into v_mirrored from billing.gateway_subscriptions m where m.id = p_id for update;
  if not found
    -- Read before the charge that a webhook told meanwhile: it counts fewer cycles. The next claim reads it again. A gateway that
    -- counts less for longer is believed.
    or v_paid_count < v_mirrored.paid_count and v_mirrored.arrived_at > billing.clock() - interval '10 minutes'
  then
    return jsonb_build_object('applied', false, 'lacks_payment', false);
  end if;
  v_entity := v_entity || jsonb_build_object('id', v_mirrored.gateway_subscription_id, 'notes', billing.notes_of(v_mirrored));
  select e.event, e.entity into v_event, v_entity from billing.missed_event(v_mirrored, v_entity) e;
  select coalesce(bool_or(billing.apply_answer(
    concat_ws(':', 'reconcile', v_mirrored.gateway_subscription_id, v_status, a.mark), a.event,
    jsonb_build_object('subscription', jsonb_build_object('entity', a.entity)), a.at,
    case
      -- Not what happened before an import.
      when p_is_missed and (billing.json_time(a.at) < v_mirrored.written_at) is not true
        then coalesce(v_mirrored.period_end - interval '1 day', 'infinity')
    end
  )), false)
  into v_applied
  from (
    values
      -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
      (case when v_event = 'subscription.charged' then v_entity ->> 'current_end' end, v_event, v_entity,
        v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end,
        v_event is not null),
      (extract(epoch from v_now)::bigint::text,
        -- What is halted or paused already was not halted or paused now.
        'subscription.' || case when v_status in ('active', v_mirrored.gateway_status) then 'updated' else v_status end,
        p_entity || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes'), null,
        v_status is distinct from v_mirrored.gateway_status
          and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
          and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused'))
          -- Edited at the gateway. Read before an edit that a webhook told meanwhile, the answer is older than that.
          or v_status in ('active', 'pending', 'halted', 'paused')
            and v_mirrored.plan_id is not null
            and (v_mirrored.arrived_at > billing.clock() - interval '10 minutes') is not true
            and (p_entity ->> 'plan_id', billing.quantity_of(p_entity))
              is distinct from (v_mirrored.gateway_plan_id, v_mirrored.quantity))
  ) a (mark, event, entity, at, is_due)
  where a.is_due;

  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    noted_user_id = billing.noted_user(m, p_entity),
    next_check_at = case
      when m.status = 'cancelled' or m.gateway_status = 'completed'
        then case when billing.unnamed_cycles(m) > 0 then v_now + interval '6 hours' end
      -- The customer may pay or resume months later. Until then nothing changes by itself.
      when v_status in ('halted', 'paused') and m.period_end < v_now - interval '14 days' then v_now + interval '1 day'
      else v_now + interval '6 hours'
    end,
    -- So a later cycle that passes unpaid is not taken for a paid one.
    paid_count = case
      when v_status in ('active', 'completed', 'pending', 'halted') then greatest(m.paid_count, v_paid_count)
      else m.paid_count
    end,
    -- Of an import that no event has named: its invoices name no plan and no quantity.
    gateway_plan_id = coalesce(m.gateway_plan_id, left(billing.json_text(p_entity -> 'plan_id'), 200)),
    quantity = case when m.plan_id is null and p_entity ? 'quantity' then billing.quantity_of(p_entity) else m.quantity end,
    gateway_status = coalesce(v_status, 'unknown'),
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where m.id = p_id
  returning m.* into v_mirrored;
  perform billing.check_again(v_mirrored.user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

-- Applies the gateway's state of a subscription that a user asked for, as its events would: authorised, or activated with
-- the first charge.
create function billing.apply_request_state(
  p_subscription billing.gateway_subscriptions,
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- of the first cycle; null: not known
  p_is_missed boolean -- an alert is due if no webhook announced it
)
returns boolean -- whether the state changed anything
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_status constant text := billing.json_text(p_entity -> 'status');
  v_id constant text := p_subscription.gateway_subscription_id;
  v_is_known constant boolean := billing.is_known(p_subscription);
  v_entity constant jsonb := p_entity || jsonb_build_object('id', v_id, 'notes', billing.notes_of(p_subscription));
  -- The answer does not say when it was authorised. It ranks by its request then: a purchase since is newer, and replaces it.
  v_seen_at constant timestamptz := case when p_is_missed and not v_is_known then p_subscription.asked_at else v_now end;
  v_has_begun constant boolean := billing.json_time(p_entity -> 'current_end') is not null
    and v_status in ('active', 'pending', 'halted', 'paused', 'completed');
begin
  return coalesce(bool_or(billing.apply_answer(
    e.key, e.name, e.payment || jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)), e.at,
    case when p_is_missed then p_subscription.asked_at end
  )), false)
  from (
    values
      -- The same key as in billing.apply_subscription_read.
      (concat_ws(':', 'reconcile', v_id, 'active', p_entity ->> 'current_end'), 'subscription.activated',
        p_entity -> 'current_start', '{}'::jsonb, v_has_begun and v_status = 'active'),
      (concat_ws(':', 'reconcile', v_id, 'charged', p_payment ->> 'id'), 'subscription.charged', p_entity -> 'current_start',
        jsonb_build_object('payment', jsonb_build_object('entity', p_payment)), v_has_begun and p_payment is not null),
      -- Of the first cycle, the charge may have failed.
      (concat_ws(':', 'reconcile', v_id, v_status),
        'subscription.' || case v_status when 'expired' then 'cancelled' else v_status end,
        coalesce(
          nullif(p_entity -> 'ended_at', 'null'),
          to_jsonb(extract(epoch from case
            when v_status = 'authenticated' then v_seen_at
            when v_status in ('cancelled', 'expired') then v_now
          end)::bigint)
        ), '{}',
        -- Known already, it would be newer than a first charge whose event is under way.
        v_status = 'authenticated' and p_subscription.authenticated_at is null
        or v_status in ('pending', 'halted')
        or v_status in ('cancelled', 'expired') and v_is_known)
  ) e (key, name, at, payment, is_due)
  where e.is_due;
end $$;

-- Applies the gateway's answer about a subscription that was asked for and has no cycle yet. One that was not authorised in time
-- is cancelled, so that it never bills, and forgotten. The caller holds the locks on the user and on the subscription.
create function billing.apply_request_read(
  p_subscription billing.gateway_subscriptions,
  p_entity jsonb -- the subscription at the gateway; null: the gateway has no such subscription
)
returns jsonb -- as billing.apply_subscription_read
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_status constant text := billing.json_text(p_entity -> 'status');
  v_is_recent constant boolean := coalesce(p_subscription.starts_at, p_subscription.asked_at) > v_now - interval '30 days';
  v_subscription billing.gateway_subscriptions;
  v_applied boolean;
begin
  if p_subscription.expires_at <= billing.clock()
    -- One that is unknown there may be hidden by the key of another account, and authorised.
    and coalesce(v_status in ('created', 'expired', 'cancelled'), not v_is_recent)
  then
    if v_status = 'created' then perform billing.plan(p_subscription.user_id); end if;
    -- Not one whose authorisation arrived after the answer was read.
    if billing.forget_request(p_subscription.id) then
      return jsonb_build_object('applied', v_status is not distinct from 'created', 'lacks_payment', false);
    end if;
  end if;

  v_applied := billing.apply_request_state(p_subscription, p_entity, null, true);
  perform billing.check_again(p_subscription.user_id);
  -- It may renew a payment that never came.
  if v_status = 'authenticated' and p_subscription.payment_id is not null and p_subscription.stops_at is null then
    perform billing.plan(p_subscription.user_id);
    v_applied := v_applied
      or exists (select from billing.gateway_subscriptions m where m.id = p_subscription.id and m.stops_at is not null);
  end if;
  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    noted_user_id = billing.noted_user(m, p_entity),
    next_check_at = case
      when m.period_end is not null then m.next_check_at
      when v_status is null and v_is_recent and m.expires_at <= v_now and not billing.is_known(m) then v_now + interval '6 hours'
      when coalesce(v_status, 'created') = 'created' and v_is_recent
        then least(case when m.expires_at > v_now then m.expires_at end, v_now + interval '1 hour')
      -- Also an hour before the one that it replaces is told to stop.
      when v_status = 'authenticated' and m.starts_at > v_now + interval '49 hours'
        then least(v_now + interval '1 day', m.starts_at - interval '49 hours')
      -- Authorised: the first charge follows, or its next try.
      when v_status in ('authenticated', 'pending', 'halted') and v_is_recent
        then greatest(m.starts_at, v_now + interval '1 hour')
      when not billing.is_known(m) then m.expires_at -- then it is forgotten
    end
  where m.id = p_subscription.id
  returning * into v_subscription;
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_subscription));
end $$;

create function public.apply_gateway_subscription(
  p_id uuid,
  p_entity text default null -- as for billing.apply_subscription_read, JSON
)
returns jsonb -- as billing.apply_subscription_read
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_subscription billing.gateway_subscriptions;
begin
  select * into v_subscription from billing.gateway_subscriptions m where m.id = p_id;
  perform billing.begin_request('reconciliation', v_subscription.gateway_subscription_id);
  perform billing.lock_user(v_subscription.user_id);
  select * into v_subscription from billing.gateway_subscriptions m where m.id = p_id for update;
  -- A stop that found no subscription is planned again.
  if p_entity is not null and (v_subscription.stops_at is not null or v_subscription.gateway_status = 'unknown') then
    perform billing.plan(v_subscription.user_id);
    perform billing.apply_event_for_missing_user(v_subscription.user_id, v_subscription.gateway_subscription_id);
  end if;
  if v_subscription.asked_plan_id is not null and v_subscription.period_end is null then
    return billing.apply_request_read(v_subscription, p_entity::jsonb);
  end if;
  return billing.apply_subscription_read(p_id, p_entity::jsonb, true);
end $$;
comment on function public.apply_gateway_subscription is 'Applies the gateway''s answer about a subscription.';

-- Confirms that a claimed stop still stands, before the gateway is told what is final there: applies what was just read from
-- the gateway, plans again, and notes that the gateway may be told from now on. What was tried without an answer before, and
-- did not cancel it, is planned anew. API: service_role only.
create function public.confirm_stop(
  p_id bigint, -- of the claimed row of the outbox
  p_at_cycle_end boolean, -- as the row was claimed
  p_entity text default null, -- the subscription at the gateway, JSON; null: the gateway has no such subscription
  p_invoices text default null -- its invoices, a JSON array; null: not read
)
returns jsonb -- {outcome: stands | changed | unnamed}. unnamed: a paid cycle is not known here, the invoices name it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_id constant text := (select o.payload ->> 'gateway_subscription_id' from billing.outbox o where o.id = p_id);
  v_subscription billing.gateway_subscriptions;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  v_subscription := billing.find_subscription(v_id);
  if v_subscription.id is null and v_entity ->> 'status' not in ('created', 'expired', 'cancelled') then
    -- Authorised after its request was forgotten. Its notes name the user, as they do in its events.
    v_subscription.user_id := billing.json_uuid(v_entity #> '{notes,user_id}');
    v_subscription.gateway_subscription_id := v_id;
    -- Without one nothing paid is cut, and a finding asks an admin.
    if coalesce(billing.json_integer(v_entity -> 'paid_count') > 0, v_entity ->> 'current_end' is not null)
      and not billing.is_deleted(v_subscription.user_id)
      and not exists (select from billing.find_user(v_subscription.user_id))
    then
      return jsonb_build_object('outcome', 'changed');
    end if;
  end if;
  v_email := billing.lock_user(v_subscription.user_id);
  if v_email is not null and v_entity is not null then
    if exists (select from billing.gateway_subscriptions m where m.id = v_subscription.id and billing.is_known(m)) then
      perform billing.apply_subscription_read(v_subscription.id, v_entity, false);
    else
      perform billing.apply_request_state(v_subscription, v_entity, null, false);
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
    perform billing.settle_access(v_subscription.user_id, v_email);
    perform billing.release_cancellation_mail(v_subscription.user_id);
  elsif v_entity is null and v_subscription.period_end is not null then
    perform billing.apply_subscription_read(v_subscription.id, null, false);
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
    and o.parked_at is null
    and v_entity is not null; -- else nothing is told
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;
comment on function public.confirm_stop is 'Confirms that the gateway must still be told to stop billing a subscription.';

-- Applies the gateway's payments on an order, after get_order answered `read`. API: service_role only.
create function public.apply_order_read(
  p_payment_id uuid,
  p_items text default null -- as for apply_order_payments
)
returns jsonb -- {applied, order}: how many of the answers changed something, and the order afterwards
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_applied constant integer := public.apply_order_payments(p_payment_id, p_items) ->> 'applied';
  v_payment public.payments;
begin
  update public.payments p
  set read_attempts = greatest(p.read_attempts, jsonb_array_length(v_items)),
    is_attempt_open = coalesce(
      (
        select listed.item ->> 'status' in ('created', 'authorized')
        from jsonb_array_elements(v_items) with ordinality listed (item, place)
        order by billing.json_time(listed.item -> 'created_at') desc nulls last, listed.place
        limit 1
      ),
      false
    )
  where p.id = p_payment_id
  returning * into v_payment;
  return jsonb_build_object('applied', v_applied, 'order', billing.get_order_answer(v_payment));
end $$;
comment on function public.apply_order_read is 'Applies the gateway''s payments on an order, and returns the order.';

revoke execute on function
  public.claim_payments_to_reconcile, public.apply_order_payments, public.claim_subscriptions_to_reconcile,
  public.apply_gateway_subscription, public.apply_order_read, public.confirm_stop
from public, anon, authenticated;
grant execute on function
  public.claim_payments_to_reconcile, public.apply_order_payments, public.claim_subscriptions_to_reconcile,
  public.apply_gateway_subscription, public.apply_order_read, public.confirm_stop
to service_role;
