-- The events about gateway subscriptions, in any order: each is merged into the mirror, then the user's access is settled.
-- Contract: "Gateway subscriptions".

-- Returns when the access that a source gives ends, unless it is charged again.
create function billing.grace_end(p_source billing.sources)
returns timestamptz -- null: never
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Once the gateway is told of a cancellation, no days of grace follow. What has lapsed had them.
  if p_source.lapses_at > greatest(p_source.ends_at, billing.clock()) and p_source.kind = 'gateway_subscription' and exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (p_source.user_id, p_source.id)
      and m.stops_at is not null
      and billing.cancelled_by_user_at(m.user_id, m.asked_at) is not null
  ) then
    return p_source.ends_at;
  end if;
  if p_source.lapses_at < 'infinity' then return p_source.lapses_at; end if;
  -- A reconciliation confirms the end.
  return p_source.ends_at + make_interval(hours => 24 * billing.grace_days(
    (select p.grace_days from public.plans p where p.id = p_source.plan_id), p_source.cancel_at_period_end
  ));
end $$;

-- Returns when the access of a user ends or ended after the end of the paid period that is shown.
create function billing.shown_grace_end(p_shown public.subscriptions)
returns timestamptz -- null: the period runs, has no end, or was ended
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if (p_shown.current_period_end < billing.clock() and coalesce(p_shown.ended_reason, 'lapsed') = 'lapsed') is not true then
    return null;
  end if;
  return billing.grace_end((billing.find_shown(p_shown.user_id)).source);
end $$;

create view billing.shown_subscriptions with (security_invoker = true) as
select
  s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
  s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
  case when s.current_period_end < billing.clock() then billing.shown_grace_end(s) end as access_ends_at,
  billing.price_answer(s.tier, billing.price_shown(s)) as price, row_to_json(p) as plan
from public.subscriptions s
left join public.plans p on p.id = s.plan_id;
grant select on billing.shown_subscriptions to service_role;
comment on view billing.shown_subscriptions is 'The subscriptions of users, as the API answers them.';

-- Returns when a user's access ends unless a gateway subscription is charged again. Only the ruling source ends access, and
-- only if no other running source ends later. Another gateway subscription ends with its cycle if it is not renewed, or its
-- charge has been missing for a day.
create function billing.access_end(p_subscription billing.gateway_subscriptions)
returns timestamptz -- null: access does not depend on the subscription, or its end is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := (billing.find_ruling(p_subscription.user_id)).source;
  v_end constant timestamptz := billing.grace_end(v_source);
begin
  if v_source.ended_at is not null
    or not (
      v_source.kind = 'gateway_subscription' and v_source.id = p_subscription.gateway_subscription_id
      -- Before the first charge of a change of plan.
      or p_subscription.period_end is null and v_source.id in (p_subscription.replaces, p_subscription.payment_id::text)
    )
    or exists (
      select from billing.sources s
      left join billing.gateway_subscriptions m
        on m.user_id = s.user_id
        and m.gateway_subscription_id = s.gateway_subscription_id
      left join billing.manual_subscriptions w on w.user_id = s.user_id
      where s.user_id = p_subscription.user_id
        and (s.kind, s.id) <> (v_source.kind, v_source.id)
        and s.ended_at is null
        -- A cancelled row by hand ended what arrived before it.
        and (w.status = 'cancelled' and s.arrived_at < w.at) is not true
        and (
          s.lapses_at = 'infinity' and (m.stops_at is not null or m.gateway_status = 'pending' or s.is_in_grace) is not true
          or billing.grace_end(s) > v_end
        )
    )
  then
    return null;
  end if;
  return v_end;
end $$;

create function billing.announce_charge(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- of the cycle
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment_id constant text := billing.json_text(p_payment -> 'id');
begin
  if v_payment_id is not null then
    perform billing.enqueue_mail(
      p_subscription.user_id, p_email,
      case when billing.json_integer(p_entity -> 'paid_count') > 1 then 'subscription-renewed' else 'payment-success' end,
      v_payment_id,
      jsonb_build_object(
        'amount', billing.json_integer(p_payment -> 'amount'),
        'currency', billing.json_text(p_payment -> 'currency'),
        'transaction_id', v_payment_id,
        'valid_until', billing.iso_time(billing.json_time(p_entity -> 'current_end')),
        'next_charge_at', case
          when num_nonnulls(p_subscription.stops_at, p_subscription.ended_at) = 0
            and p_entity ? 'charge_at'
            then billing.iso_time(billing.next_charge_at(p_entity, p_subscription.paid_period_event_at))
        end
      ),
      p_subscription.plan_id, case when not exists (
        -- Who was told that it failed is told that it was paid.
        select from billing.outbox o
        where o.key = concat_ws(
          '/', 'payment-pending', p_subscription.gateway_subscription_id,
          billing.iso_time(billing.json_time(p_entity -> 'current_start'))
        )
      ) then p_subscription.gateway_subscription_id end
    );
  end if;
end $$;

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
  p_entity jsonb, -- the subscription
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
  v_started_at constant timestamptz := billing.json_time(p_entity -> 'current_start');
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
    -- One mail for each cycle that was not charged: a new card may come without a charge. Not each event names the cycle, which may
    -- begin some hours after the end of the paid time.
    concat_ws('/', v_id, case
      when p_status <> 'completed'
        then billing.iso_time(case when v_started_at > v_paid_until + interval '1 day' then v_started_at else v_paid_until end)
    end),
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

create function billing.charged_currency(
  p_payment jsonb,
  p_currency text -- of the plan; null: there is none
)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(substring(billing.json_text(p_payment -> 'currency') from '^[A-Z]{3}$'), p_currency, 'INR');
end $$;

-- Stores the payment of a charged cycle, once. Without a user it waits for billing.adopt_charges. A payment id that another
-- row has is reused, as in a test account: then nothing is stored.
create function billing.record_charge(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_gateway_plan_id text, -- of the charge; null: the event named none
  p_period_start timestamptz,
  p_period_end timestamptz,
  p_payment jsonb, -- null, or without an id and an amount: the gateway named no payment, and none is stored
  p_charged_at timestamptz
)
returns boolean -- whether the payment is new
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := billing.json_text(p_payment -> 'id');
  v_user_id constant uuid := (select p_subscription.user_id from billing.find_user(p_subscription.user_id));
  v_billed record;
begin
  -- Without a user and without an id nothing tells later whose charge it is.
  if v_gateway_payment_id is null or v_user_id is null and p_subscription.gateway_subscription_id = '' then
    return false;
  end if;
  select * into v_billed
  from billing.find_billed_price(p_gateway_plan_id, p_subscription.gateway_subscription_id)
  where p_gateway_plan_id is distinct from p_subscription.gateway_plan_id;
  if not found then select p_subscription.plan_id, p_subscription.sold into v_billed; end if;
  insert into public.payments (
    user_id, amount, currency, status, tier, plan_id, price_key, duration_months, gateway_key_id, gateway_payment_id, gateway_subscription_id,
    captured_at, confirmed_at, period_start, period_end, refunded_amount, next_reconcile_at, created_at, user_deleted_at,
    base_amount
  )
  select
    v_user_id, charge.amount, -- the currency may differ from that of the plan
    billing.charged_currency(p_payment, (v_billed.sold).currency), 'captured',
    (select p.tier from public.plans p where p.id = v_billed.plan_id), v_billed.plan_id, (v_billed.sold).lookup_key,
    (v_billed.sold).months, p_subscription.gateway_key_id,
    v_gateway_payment_id, p_subscription.gateway_subscription_id, p_charged_at, p_charged_at, p_period_start, p_period_end,
    billing.refunded_amount(v_gateway_payment_id), null, p_charged_at,
    case when v_user_id is null then (
      select d.deleted_at
      from billing.deleted_users d
      where d.user_id in (p_subscription.user_id, billing.hash_user_id(p_subscription.user_id))
    ) end,
    billing.json_integer(p_payment -> 'base_amount')
  from (select billing.json_integer(p_payment -> 'amount') as amount) charge
  where charge.amount >= 0
  on conflict (gateway_payment_id) do nothing;
  if found then return true; end if;
  update public.payments c
  set captured_at = p_charged_at, confirmed_at = p_charged_at, created_at = p_charged_at
  where c.gateway_payment_id = v_gateway_payment_id
    and c.gateway_subscription_id = p_subscription.gateway_subscription_id
    and c.captured_at > p_charged_at;
  return false;
end $$;

-- Stores a renewal that failed among the payments of its user, once for each cycle, in any order of events.
create function billing.record_failure(
  p_user_id uuid,
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- that failed; null: the event names none
  p_failed_at timestamptz
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.payments as p (
    id, user_id, amount, currency, status, tier, plan_id, price_key, duration_months, gateway_key_id,
    failed_subscription_id, next_reconcile_at, created_at
  )
  select
    md5(concat_ws('/', m.gateway_subscription_id, p_entity ->> 'current_start', p_entity ->> 'paid_count'))::uuid,
    m.user_id, charge.amount, billing.charged_currency(p_payment, (m.sold).currency), 'failed', pl.tier, pl.id,
    (m.sold).lookup_key, (m.sold).months, m.gateway_key_id, m.gateway_subscription_id, null, p_failed_at
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  cross join lateral (
    select coalesce(billing.json_integer(p_payment -> 'amount'), (m.sold).amount) as amount
  ) charge
  where m.user_id = p_user_id
    and m.gateway_subscription_id = billing.json_text(p_entity -> 'id')
    and charge.amount >= 0
  on conflict (id) do update set created_at = excluded.created_at
  where p.created_at > excluded.created_at;
end $$;

-- Completes the charges of a user's gateway subscriptions that arrived before their user or their plan was known.
create function billing.adopt_charges(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.payments c
  set user_id = m.user_id,
    plan_id = coalesce(c.plan_id, m.plan_id),
    tier = coalesce(c.tier, pl.tier),
    price_key = case when c.plan_id is null then (m.sold).lookup_key else c.price_key end,
    duration_months = coalesce(c.duration_months, (m.sold).months),
    -- A backup or an import may restore a deleted user.
    user_deleted_at = null
  from billing.gateway_subscriptions m
  left join public.plans pl on pl.id = m.plan_id
  where m.user_id = p_user_id
    and c.gateway_subscription_id = m.gateway_subscription_id
    and case
      when c.user_id is null then m.gateway_subscription_id <> ''
      else c.user_id = m.user_id and c.plan_id is null and m.plan_id is not null
    end;
end $$;

-- Returns how many paid cycles of a subscription that was asked for here have no payment: the number of the gateway is a promise.
create function billing.unnamed_cycles(p_subscription billing.gateway_subscriptions)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_subscription.asked_plan_id is null then return 0; end if;
  return greatest(coalesce(p_subscription.paid_count, 0) - (
    select count(distinct c.period_end)
    from public.payments c
    where c.gateway_subscription_id = p_subscription.gateway_subscription_id
  ), 0);
end $$;

-- Returns whether the gateway charged a cycle with a payment that it did not name yet.
create function billing.lacks_payment(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_subscription.gateway_subscription_id <> ''
    and (
      p_subscription.period_end is not null
      and (
        num_nonnulls(p_subscription.activated_at, p_subscription.first_charged_at) > 0
        -- An import, as it was read.
        or p_subscription.arrived_at is null and p_subscription.gateway_status = 'active'
      )
      and not exists (
        select from public.payments c
        where c.gateway_subscription_id = p_subscription.gateway_subscription_id
          and c.period_end = p_subscription.period_end
      )
      or billing.unnamed_cycles(p_subscription) > 0
    );
end $$;

-- Locks a gateway payment, then its user, as billing.lock_gateway_payment and billing.lock_user do, in one call.
create function billing.lock_charge(p_gateway_payment_id text, p_user_id uuid)
returns text -- as billing.lock_user
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_gateway_payment_id, 0));
  return (select coalesce(u.email, '') from auth.users u where u.id = p_user_id for no key update);
end $$;

-- Applies the usual charge: the next cycle, in order, of the only subscription of a user that is not over. It reads the event
-- inline: a body of another shape is left to the general way, also by the error of a cast, and so is a delivery whose ledger
-- row exists. The values are those that billing.merge_gateway_subscription, billing.record_charge, billing.settle_access and
-- billing.announce_charge would write.
create function billing.apply_next_charge(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb
)
returns boolean -- false: it is not the usual charge. Then, as after an error, the caller undoes what was written
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_entity constant jsonb := p_body #> '{payload,subscription,entity}';
  v_payment constant jsonb := p_body #> '{payload,payment,entity}';
  v_id constant text := v_entity ->> 'id';
  v_payment_id constant text := v_payment ->> 'id';
  v_page constant text := v_entity ->> 'short_url';
  v_types constant text[] := array[
    jsonb_typeof(v_entity -> 'id'), jsonb_typeof(v_entity -> 'plan_id'), jsonb_typeof(v_entity #> '{notes,user_id}'),
    jsonb_typeof(v_payment -> 'id'), jsonb_typeof(v_payment -> 'currency'),
    coalesce(nullif(jsonb_typeof(v_entity -> 'short_url'), 'null'), 'string'),
    jsonb_typeof(p_body -> 'created_at'), jsonb_typeof(v_entity -> 'current_start'), jsonb_typeof(v_entity -> 'current_end'),
    jsonb_typeof(v_payment -> 'amount'), jsonb_typeof(v_entity -> 'paid_count'),
    coalesce(jsonb_typeof(v_entity -> 'remaining_count'), 'number'),
    -- Null: the gateway charges no more, or names no amount of its own.
    replace(jsonb_typeof(v_entity -> 'charge_at'), 'null', 'number'),
    coalesce(nullif(jsonb_typeof(v_payment -> 'base_amount'), 'null'), 'number')
  ];
  v_now constant timestamptz := billing.clock();
  v_user_id uuid;
  v_amount bigint;
  v_at timestamptz;
  v_start timestamptz;
  v_end timestamptz;
  v_charge_at timestamptz;
  v_charged_at timestamptz;
  v_email text;
  v_billed record;
  v_shown record;
begin
  if v_types <> '{string,string,string,string,string,string,number,number,number,number,number,number,number,number}'
    or length(v_id) not between 1 and 200
    or v_page not like 'https://%'
    or length(v_page) > 500
  then
    return false;
  end if;
  v_user_id := v_entity #>> '{notes,user_id}';
  v_amount := v_payment ->> 'amount';
  v_at := to_timestamp((p_body ->> 'created_at')::bigint);
  v_start := to_timestamp((v_entity ->> 'current_start')::bigint);
  v_end := to_timestamp((v_entity ->> 'current_end')::bigint);
  v_charge_at := to_timestamp((v_entity ->> 'charge_at')::bigint);
  v_charged_at := least(v_at + interval '999999 microseconds', v_now);
  -- As billing.json_time and billing.json_integer.
  if least(v_start, v_charge_at) < 'epoch'
    or greatest(v_at, v_start, v_end, v_charge_at) >= '10000-01-01'
    or greatest(v_amount, (v_payment ->> 'base_amount')::bigint, (v_entity ->> 'paid_count')::bigint) > 9007199254740991
    or v_end <= v_now
  then
    return false;
  end if;
  -- As billing.next_charge_at.
  if (v_entity ->> 'remaining_count')::bigint = 0 and v_entity ->> 'status' is distinct from 'pending' then
    v_charge_at := null;
  elsif v_charge_at <= v_charged_at then
    v_charge_at := v_end;
  end if;
  v_email := billing.lock_charge(v_payment_id, v_user_id);

  update billing.gateway_subscriptions m
  set period_start = v_start, period_end = v_end, period_event_at = v_at,
    paid_period_start = v_start, paid_period_end = v_end, paid_period_event_at = v_charged_at,
    plan_event_at = v_at, gateway_status = 'active', gateway_status_event_at = v_at,
    charge_at = v_charge_at, short_url = greatest(m.short_url, v_page), arrived_at = v_now,
    paid_count = greatest(m.paid_count, (v_entity ->> 'paid_count')::bigint)
  where m.user_id = v_user_id
    and m.gateway_subscription_id = v_id
    and (m.gateway_plan_id, coalesce(m.quantity, 1))
      = (v_entity ->> 'plan_id', coalesce((v_entity ->> 'quantity')::bigint, m.quantity, 1))
    -- It goes on, and it was charged before. This charge is the newest event.
    and m.status = 'active'
    -- After another state the charge may be the cause of a stop, or older than the reconciliation.
    and m.gateway_status = 'active'
    and m.first_halted_at is null
    and m.first_charged_at is not null
    and m.stops_at is null
    and m.ended_at is null
    and not m.has_refunds
    and not m.cancel_at_period_end
    and greatest(m.plan_event_at, m.period_event_at, m.gateway_status_event_at) < v_at
    and greatest(m.asked_at, m.first_charged_at, m.paid_period_event_at) < v_charged_at
    and coalesce(m.paid_count <= (v_entity ->> 'paid_count')::bigint, true)
    and m.period_end < v_end
    and m.next_check_at <= v_end - interval '1 day'
    and not exists (
      select from billing.gateway_subscriptions other
      where other.user_id = v_user_id
        and other.id <> m.id
        -- One that is over gives nothing and is not billed, nor does one that was only asked for.
        and num_nonnulls(other.arrived_at, other.written_at) > 0
        and (other.gateway_status in ('cancelled', 'completed', 'expired') and other.period_end < v_now) is not true
    )
    and not exists (select from billing.refunds b where b.gateway_payment_id = v_payment_id)
    -- Its user keeps it, and a finding about its notes is over.
    and m.noted_user_id is null
    and not exists (
      select from billing.gateway_subscriptions other where other.gateway_subscription_id = v_id and other.id <> m.id
    )
  returning m.plan_id, (m.sold).lookup_key, (m.sold).months, m.gateway_key_id, m.asked_plan_id is not null as is_asked
  into v_billed;
  if not found then return false; end if;
  -- It rules. If access begins again, the tier is to be written.
  update public.subscriptions s
  set current_period_start = v_start, current_period_end = v_end, revision = s.revision + 1,
    updated_at = greatest(s.updated_at, v_now)
  from public.plans p, billing.profiles f
  where s.user_id = v_user_id
    and p.id = v_billed.plan_id
    and f.user_id = v_user_id
    and (s.gateway_subscription_id, s.plan_id, s.tier) = (v_id, p.id, p.tier)
    and s.status = 'active'
    and s.revision > 0
    -- Null: the row was written by hand since.
    and s.price_amount is not null
    and not s.cancel_at_period_end
    and (s.current_period_end > v_now or f.subscription_tier = p.tier)
  returning p.tier, p.name as plan_name, coalesce(nullif(f.display_name, ''), f.username, '') as display_name
  into v_shown;
  if not found then return false; end if;
  insert into public.payments (
    user_id, amount, currency, status, tier, plan_id, price_key, duration_months, gateway_key_id, gateway_payment_id,
    gateway_subscription_id, captured_at, confirmed_at, period_start, period_end, next_reconcile_at, created_at, base_amount
  )
  values (
    v_user_id, v_amount, v_payment ->> 'currency', 'captured', v_shown.tier, v_billed.plan_id, v_billed.lookup_key,
    v_billed.months, v_billed.gateway_key_id, v_payment_id, v_id, v_charged_at, v_charged_at, v_start, v_end, null,
    v_charged_at, (v_payment ->> 'base_amount')::bigint
  );
  insert into billing.gateway_events (
    body_sha256, event_id, event, subject_id, event_at, payload, outcome, deliveries, attempts, received_at
  )
  values (p_body_sha256, p_event_id, 'subscription.charged', v_id, v_at, p_body, 'applied', 1, 1, v_now);
  if v_billed.is_asked and v_email <> '' then
    insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
    select
      k.kind || '/' || v_payment_id, case k.kind when 'payment-success' then 'email' else 'notice' end, k.kind,
      jsonb_build_object(
        'to', v_email, 'display_name', v_shown.display_name, 'plan_name', v_shown.plan_name, 'amount', v_amount,
        'currency', v_payment -> 'currency', 'transaction_id', v_payment_id, 'valid_until', billing.iso_time(v_end),
        'next_charge_at', billing.iso_time(v_charge_at)
      ),
      v_now, v_now, v_now
    from (
      select case when (v_entity ->> 'paid_count')::bigint > 1 then 'subscription-renewed' else 'payment-success' end as kind
    ) k;
  end if;
  return true;
end $$;

-- Returns what rules after the first activation of a user who has nothing else. A ranking and a plan would take half of the time.
create function billing.first_ruling(p_subscription billing.gateway_subscriptions)
returns billing.ruling -- null: something else is known of the user
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan record;
  v_source billing.sources;
begin
  select p.tier, p.grace_days into v_plan
  from public.plans p
  where p.id = p_subscription.plan_id
    and (p_subscription.status, p_subscription.gateway_status) = ('active', 'active')
    and p_subscription.period_end > v_now
    and num_nonnulls(
      p_subscription.ended_at, p_subscription.stops_at, p_subscription.written_at, p_subscription.last_halted_at,
      p_subscription.last_resumed_at, p_subscription.starts_at
    ) = 0
    and not p_subscription.cancel_at_period_end
    and not exists (
      select from billing.gateway_subscriptions m where m.user_id = p_subscription.user_id and m.id <> p_subscription.id
    )
    and not exists (select from public.subscriptions s where s.user_id = p_subscription.user_id)
    and not exists (select from public.payments c where c.user_id = p_subscription.user_id)
    and not exists (select from billing.grants g where g.user_id = p_subscription.user_id)
    and not exists (select from billing.manual_subscriptions w where w.user_id = p_subscription.user_id)
    and not exists (select from billing.wishes w where w.user_id = p_subscription.user_id);
  if not found then return null; end if;
  v_source.user_id := p_subscription.user_id;
  v_source.kind := 'gateway_subscription';
  v_source.id := p_subscription.gateway_subscription_id;
  v_source.plan_id := p_subscription.plan_id;
  v_source.tier := v_plan.tier;
  v_source.starts_at := p_subscription.period_start;
  v_source.ends_at := p_subscription.period_end;
  v_source.lapses_at := billing.billed_until(p_subscription.period_end, p_subscription.checked_at, v_plan.grace_days);
  v_source.since := billing.since_of(p_subscription);
  v_source.cancel_at_period_end := false;
  v_source.gateway_subscription_id := nullif(p_subscription.gateway_subscription_id, '');
  v_source.sold := p_subscription.sold;
  v_source.is_failing := p_subscription.charge_at is null;
  return billing.sole_ruling(v_source);
end $$;

-- Enqueues the mail about an edit of plan or quantity at the gateway. The caller has settled the user's access.
create function billing.announce_edit(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_before public.subscriptions, -- the row that it gave before
  p_email text, -- of the user
  p_arrived_at timestamptz
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- What ends with its cycle is not charged for a new quantity.
  if p_subscription.plan_id = p_before.plan_id
      and ((p_subscription.sold).amount = p_before.price_amount or p_subscription.stops_at is not null)
    or not exists (
      select from public.subscriptions s
      where (s.user_id, s.gateway_subscription_id, s.plan_id, s.status)
        = (p_subscription.user_id, p_subscription.gateway_subscription_id, p_subscription.plan_id, 'active')
    )
  then
    return;
  end if;
  perform billing.withdraw_outlook(
    p_subscription.user_id,
    'change-scheduled/' || (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).gateway_subscription_id
  );
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email, 'plan-changed',
    concat_ws('/', p_subscription.gateway_subscription_id, billing.iso_time(p_arrived_at)),
    jsonb_build_object(
      'plan_name', billing.plan_name(p_subscription.plan_id, null), 'old_plan_name', billing.plan_name(p_before.plan_id, null),
      'credit', null, 'amount', null, 'currency', (p_subscription.sold).currency,
      'valid_until', billing.iso_time(p_subscription.period_end), 'is_authorised', true
    ) || billing.outlook(p_subscription.user_id)
  );
end $$;

-- Applies an event about a gateway subscription. Contract: "Fields that an event needs", "Gateway subscriptions".
create function billing.apply_subscription_event(
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
  v_owned billing.gateway_subscriptions := billing.find_subscription(v_id);
  v_start constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_end') end;
  v_gateway_plan_id constant text := billing.json_text(p_entity -> 'plan_id');
  v_email text;
  v_before public.subscriptions; -- the row that it gives, if it is edited
  v_merged billing.gateway_subscriptions;
  v_is_changed boolean;
begin
  -- Its user keeps it, also if its notes were edited at the gateway. Until a user exists they may be corrected.
  if v_owned.asked_plan_id is null and not exists (select from billing.find_user(v_owned.user_id)) then v_owned := null; end if;
  v_user_id := coalesce(v_owned.user_id, v_noted_user_id);
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

  if p_event = 'subscription.charged' then perform billing.lock_gateway_payment(billing.json_text(p_payment -> 'id')); end if;
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
  -- For a finding. An older event that arrives late says nothing of them.
  if v_owned.noted_user_id is distinct from nullif(v_noted_user_id, v_owned.user_id) and v_owned.id is not null
    and (p_created_at < v_owned.gateway_status_event_at) is not true
  then
    update billing.gateway_subscriptions m set noted_user_id = nullif(v_noted_user_id, m.user_id) where m.id = v_owned.id;
  end if;
  v_merged := billing.merge_gateway_subscription(
    v_user_id, v_id, p_event, p_entity, v_gateway_plan_id, v_start, v_end, p_payment, p_created_at, p_arrived_at
  );
  if v_email is null then
    update billing.gateway_subscriptions m
    set awaits_user = true
    where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id) and not m.awaits_user;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_status in ('pending', 'halted') then
    perform billing.record_failure(v_user_id, p_entity, p_payment, billing.charged_at(p_created_at, p_arrived_at));
  end if;
  if v_merged.user_id is null then return 'stale'; end if;
  if v_status = 'updated' then
    select * into v_before
    from public.subscriptions s
    where (s.user_id, s.gateway_subscription_id, s.status) = (v_user_id, v_id, 'active') and s.price_amount is not null;
  end if;
  v_is_changed := billing.settle_access(
    v_user_id, v_email, p_is_cancelled => v_cancelled,
    p_ruling => case when v_status = 'activated' then billing.first_ruling(v_merged) end
  );
  if v_merged.plan_id is not null and p_event = 'subscription.charged' then
    -- This charge may be the cause of a stop.
    v_merged.stops_at := (
      select m.stops_at from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    );
    perform billing.announce_charge(v_merged, p_entity, p_payment, v_email);
    perform billing.announce_problem('completed', v_merged, p_entity, p_payment, v_email);
  elsif v_merged.plan_id is not null and v_status in ('pending', 'halted', 'completed') then
    perform billing.announce_problem(v_status, v_merged, p_entity, p_payment, v_email);
  elsif v_status = 'authenticated' then
    perform billing.announce_change(v_merged, v_email);
  elsif v_before.id is not null then
    perform billing.announce_edit(v_merged, v_before, v_email, p_arrived_at);
  elsif v_cancelled then
    perform billing.announce_lost_change(v_merged, v_email);
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

-- Applies the payment of a cycle as its charge would be announced. The invoice has the cycle.
create function billing.apply_invoice(
  p_subscription jsonb, -- with its id, and its user in the notes
  p_invoice jsonb,
  p_payment jsonb,
  p_since timestamptz default null -- as for billing.apply_answer
)
returns boolean -- whether it changed anything
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return billing.apply_answer(
    'reconcile:cycle:' || (p_payment ->> 'id'),
    'subscription.charged',
    jsonb_build_object(
      'payment', jsonb_build_object('entity', p_payment),
      'subscription', jsonb_build_object('entity', p_subscription || jsonb_build_object(
        -- An invoice names no plan. One of an earlier cycle with another amount is of the price that has this amount.
        'plan_id', coalesce(to_jsonb((
          select min(p.gateway_plan_id)
          from billing.gateway_subscriptions m
          join public.plans p
            on (p.price, p.currency) = (billing.json_integer(p_invoice -> 'amount'), billing.json_text(p_invoice -> 'currency'))
          where m.gateway_subscription_id = p_subscription ->> 'id'
            and m.period_start >= billing.json_time(p_invoice -> 'billing_end')
            and (m.sold).amount <> p.price
          having count(*) = 1
        )), p_subscription -> 'plan_id'),
        'current_start', p_invoice -> 'billing_start',
        'current_end', p_invoice -> 'billing_end',
        'paid_count', 1 + (
          select count(distinct c.period_end)
          from public.payments c
          where c.gateway_subscription_id = p_subscription ->> 'id'
            and c.period_end < billing.json_time(p_invoice -> 'billing_end')
        )
      ))
    ),
    p_invoice -> 'paid_at',
    p_since
  );
end $$;

-- Stores the payments of cycles that no webhook named, each as its charge would be announced. API: service_role only.
create function public.apply_invoices(
  p_gateway_subscription_id text,
  p_items text default null -- the gateway's invoices of the subscription, a JSON array; null: it has none
)
returns jsonb -- {applied}: how many of the payments were new
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_mirrored billing.gateway_subscriptions;
  v_invoice jsonb;
  v_applied integer := 0;
begin
  perform billing.begin_request('reconciliation', p_gateway_subscription_id);
  v_mirrored := billing.find_subscription(p_gateway_subscription_id);
  perform billing.lock_gateway_payment(i.item ->> 'payment_id')
  from (select item from jsonb_array_elements(p_items::jsonb) item order by item ->> 'payment_id') i;
  perform billing.lock_user(v_mirrored.user_id);
  for v_invoice in
    select i.item
    from jsonb_array_elements(p_items::jsonb) i (item)
    where v_mirrored.user_id is not null
      and i.item ->> 'status' = 'paid'
      and billing.json_text(i.item -> 'payment_id') is not null
      and not exists (select from public.payments p where p.gateway_payment_id = i.item ->> 'payment_id')
    order by billing.json_time(i.item -> 'billing_start')
  loop
    v_applied := v_applied + billing.apply_invoice(
      jsonb_build_object(
        'id', p_gateway_subscription_id,
        'plan_id', v_mirrored.gateway_plan_id,
        'charge_at', extract(epoch from v_mirrored.charge_at)::bigint,
        'notes', billing.notes_of(v_mirrored)
      ),
      v_invoice,
      jsonb_build_object(
        'id', v_invoice -> 'payment_id', 'amount', v_invoice -> 'amount', 'currency', v_invoice -> 'currency'
      )
    )::integer;
  end loop;
  return jsonb_build_object('applied', v_applied);
end $$;
comment on function public.apply_invoices is 'Applies the gateway''s invoices of a subscription that it bills.';

revoke execute on function public.apply_invoices from public, anon, authenticated;
grant execute on function public.apply_invoices to service_role;
