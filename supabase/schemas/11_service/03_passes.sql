-- What pages would else read from all customers is computed in passes: the sweep goes through the customers in the order of
-- their ids, for part of a second each minute. Operations: "Findings", "Revenue".

create view billing.customer_findings with (security_invoker = true) as
select 'paid_not_entitled' as finding, v.payment_id as subject, v.user_id, v.since, to_jsonb(v) as detail,
  'Read the timeline; then grant the tier until the end of the period, or refund the payment at the gateway.' as remedy
from billing.paid_not_entitled v
union all
select 'entitled_not_paid', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Grant the tier to make it complimentary, or set the subscription to cancelled and the profile to free.'
from billing.entitled_not_paid v
union all
select 'tier_mismatch', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Read in the timeline what wrote the tier, then set the tier of the profile.'
from billing.tier_mismatch v
union all
select 'paid_twice', coalesce(v.gateway_payment_id, v.payment_id::text), v.user_id, v.since, to_jsonb(v),
  'Refund the payment. A grant can give the customer the time, but does not end the finding.'
from billing.paid_twice v
union all
select v.finding, coalesce(nullif(v.gateway_payment_id, ''), v.gateway_subscription_id), v.user_id, v.since, to_jsonb(v),
  case v.finding
    when 'charged_twice' then 'Refund the charge at the gateway. Of two subscriptions the service cancels the older one.'
    when 'mismatch' then 'Compare the plan at the gateway with the price: the charge has another amount or currency.'
    else 'Cancel the subscription at the gateway, and refund the charge if the customer asks for it.'
  end
from billing.unexpected_charges v
union all
-- One of the subscription, and none of each charge.
select 'mismatch', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object(
    'gateway_subscription_id', m.gateway_subscription_id, 'quantity', m.quantity, 'amount', (m.sold).amount,
    'currency', (m.sold).currency
  ),
  'Set the quantity at the gateway to 1, or insert a note about the subscription: its customer sees what is charged.'
from billing.gateway_subscriptions m
where m.quantity > 1
  and m.plan_id is not null -- else it is not sold here
  and billing.is_billed(m)
  and not exists (
    select from billing.support_actions a where a.action = 'note' and a.reference = m.gateway_subscription_id
  )
union all
-- The gateway was told to end it with its cycle, although nothing asks for that any more: the purchase that replaced it was
-- refunded, or it was authorised while its cancellation was under way.
select 'stopped_in_error', m.gateway_subscription_id, m.user_id, m.stops_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'period_end', m.period_end),
  'Ask the customer whether the subscription shall go on, and to start another one before it ends.'
from billing.gateway_subscriptions m
where m.stops_at is not null
  and m.cancel_at_period_end
  and billing.is_billed(m)
  and exists (
    select from billing.stoppable g
    where (g.user_id, g.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      and (billing.find_stop(g)).stops_at is null
  )
union all
select 'notes_edited', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'noted_user_id', m.noted_user_id),
  'Write the user back into the notes at the gateway, or clear its id in the row by hand of this user if another row names it. '
    'To give the access to another user, grant it.'
from billing.gateway_subscriptions m
where m.noted_user_id is not null
union all
-- For more than a day, although the invoices were read.
select 'unnamed_charge', m.gateway_subscription_id, m.user_id, coalesce(m.cancelled_arrived_at, m.arrived_at),
  jsonb_build_object(
    'gateway_subscription_id', m.gateway_subscription_id, 'paid_count', m.paid_count, 'cycles', unnamed.cycles
  ),
  'Look its payments up at the gateway, and compare them with those in the timeline.'
from billing.gateway_subscriptions m
cross join lateral (select billing.unnamed_cycles(m) as cycles offset 0) unnamed
where m.paid_count > 0 and m.arrived_at < (select billing.clock()) - interval '1 day' and unnamed.cycles > 0
union all
select 'unearned_credit', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Refund the payment at the gateway, or accept the loss: the finding ends with the period.'
from billing.unearned_credits v
union all
select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since, to_jsonb(v),
  case when v.payment_id is null then 'Cancel the subscription at the gateway' else 'End the access of the payment' end
    || case when v.kept > 0 then ', or insert a note about the payment: a part was kept.' else '.' end
from billing.dispute_lost v
union all
select 'returned_too_much', v.gateway_payment_id, v.user_id, v.since, to_jsonb(v),
  case
    when v.lost > 0 then 'Contest the dispute at the gateway with the refund, then insert a note about the payment.'
    else 'Compare the refunds at the gateway with the payment, then insert a note about it.'
  end
from billing.returned_too_much v
union all
select 'unmailed_payment', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Write to the customer that the payment arrived, then insert a note about the payment.'
from billing.unmailed_payments v;
comment on view billing.customer_findings is
  'What is wrong about customers now, by what was paid and granted. Filter it by user_id: of all customers it takes minutes.';

-- Of settlements: few wait. The books are defined later, so that a function reads them.
create function billing.settlement_faults()
returns table (finding text, subject text, since timestamptz, detail jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select v.problem, v.settlement_id, v.since, to_jsonb(v) from billing.settlement_problems v;
end $$;

create view billing.service_findings with (security_invoker = true) as
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
    or exists (select from billing.gateway_subscriptions m where m.user_id = u.id and m.awaits_user)
  )
union all
select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v),
  case
    when v.state = 'parked' then 'Repair the cause in last_error, then requeue the message.'
    when v.last_error is not null then 'Repair the cause in last_error. The message is tried again by itself.'
    else 'Check that the schedule runs and that the destination of the message is configured.'
  end
from billing.outbox_stuck v
union all
select 'refund_failed', v.refund_id, v.user_id, v.since, to_jsonb(v),
  'Refund the payment again, or pay the customer in another way and insert a note about the payment.'
from billing.failed_refunds v
union all
select 'document_waiting', d.payment_id::text, p.user_id, d.due_at, jsonb_build_object('payment_id', d.payment_id),
  'Check that the schedule runs: billing.sweep() gives the numbers. If it runs, read its warning in the log of Postgres.'
from billing.documents_due d
left join public.payments p on p.id = d.payment_id
where d.due_at < (select billing.clock()) - interval '1 hour'
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
join billing.gateway_subscriptions g
  on g.gateway_subscription_id = o.payload ->> 'gateway_subscription_id'
  and (billing.is_billed(g) or not billing.is_known(g))
where o.kind = 'cancel-subscription'
  and g.stops_at < billing.clock() + interval '2 hours'
  and o.queued_at < billing.clock() - interval '1 hour'
union all
select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v),
  case v.outcome
    when 'plan_not_found' then 'Add the plan, then replay the webhook.'
    when 'mismatch' then case
      when v.event like 'refund.%' then 'Compare the refund with the gateway''s dashboard, then ignore the webhook.'
      else 'Refund the payment at the gateway: its amount is not that of the order. Or ignore the webhook.'
    end
    else 'Repair the cause of the error, then replay the webhook, or ignore it.'
  end
from billing.failed_events v
union all
-- What was read from the gateway since the newest webhook.
select 'missed_webhook', 'webhooks', null, min(a.at),
  jsonb_build_object('alerts', count(*), 'newest', (array_agg(a.key order by a.at desc))[:10]),
  'Switch the webhook endpoint on at the gateway. If it is on, set its secret there to GATEWAY_WEBHOOK_SECRET: the log has '
    'invalidSignature. The next webhook ends the finding, or a note about "webhooks".'
from billing.marks a
where a.kind = 'missed_webhook'
  and a.at > billing.clock() - interval '30 days'
  and a.at > coalesce((select billing.last_webhook_at()), '-infinity')
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
from billing.schedule_faults() f
union all
select f.finding, f.subject, null, f.since, f.detail,
  'Compare the settlement with its report at the gateway, and store the lines that are missing.'
from billing.settlement_faults() f;
comment on view billing.service_findings is
  'What is wrong with the service now, and single records that wait for an admin: few rows, each found by an index.';

select billing.lock_users();

create table billing.checked_findings (
  user_id uuid not null constraint checked_findings_user_id_fkey references auth.users (id) on delete cascade,
  finding text not null,
  subject text not null,
  since timestamptz,
  detail jsonb not null,
  remedy text,
  first_seen_at timestamptz not null default billing.clock(),
  resolved_at timestamptz,
  primary key (user_id, finding, subject)
);
create index checked_findings_open_idx on billing.checked_findings (since) where resolved_at is null;
alter table billing.checked_findings enable row level security;
comment on table billing.checked_findings is
  'The rows of billing.customer_findings as the last pass found them, and for 90 days those that are resolved.';

create table billing.checked_books (
  payment_id uuid not null constraint checked_books_payment_id_fkey references public.payments (id) on delete cascade,
  finding text not null,
  subject text not null,
  since timestamptz,
  detail jsonb not null,
  remedy text not null,
  first_seen_at timestamptz not null default billing.clock(),
  primary key (payment_id, finding, subject)
);
alter table billing.checked_books enable row level security;
comment on table billing.checked_books is 'The rows of billing.book_findings as the last pass found them.';

create view billing.findings with (security_invoker = true) as
select
  f.finding, f.subject, f.user_id, f.since,
  f.detail - '{user_id, since, finding}'::text[] as detail,
  coalesce(f.detail ->> 'remedy', f.remedy) as remedy,
  (select u.email from billing.users u where u.user_id = f.user_id limit 1) as email,
  f.first_seen_at
from (
  select c.finding, c.subject, c.user_id, c.since, c.detail, c.remedy, c.first_seen_at
  from billing.checked_findings c
  where c.resolved_at is null
  union all
  select b.finding, b.subject, p.user_id, b.since, b.detail, b.remedy, b.first_seen_at
  from billing.checked_books b
  join public.payments p on p.id = b.payment_id
  union all
  select s.finding, s.subject, s.user_id, s.since, s.detail, s.remedy, null
  from billing.service_findings s
) f;
comment on view billing.findings is
  'Everything that needs an admin, with what to do. No rows: nothing needs attention. Findings about customers and documents '
  'are as old as the last pass: billing.service_state.';
comment on column billing.findings.first_seen_at is 'When a pass found it first. Null: found as it is read.';

create table billing.passes (
  name text primary key,
  until uuid not null default '00000000-0000-0000-0000-000000000000', -- customers, or payments, up to this one are done
  began_at timestamptz,
  complete_as_of timestamptz
);
alter table billing.passes enable row level security;
comment on table billing.passes is 'The passes over all customers, findings and revenue, and over all payments, books.';
comment on column billing.passes.complete_as_of is 'When the last complete pass began. Null: the first one runs.';
insert into billing.passes (name) values ('findings'), ('revenue'), ('books');

-- Stores what is wrong about the customers of a range, and what is not any more.
create function billing.check_customers(p_first uuid, p_last uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp
-- A bitmap of an index that knows no customers would be as large as the table.
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  with found as materialized (
    select distinct on (f.user_id, f.finding, f.subject)
      f.user_id, f.finding, coalesce(f.subject, '') as subject, f.since, f.detail, f.remedy
    from billing.customer_findings f
    where f.user_id between p_first and p_last
      -- Of a deleted user the mirror is kept for 90 days.
      and exists (select from auth.users u where u.id = f.user_id)
    order by f.user_id, f.finding, f.subject, f.since
  ),
  resolved as (
    update billing.checked_findings c
    set resolved_at = v_now
    where c.user_id between p_first and p_last
      and c.resolved_at is null
      and not exists (
        select from found f where (f.user_id, f.finding, f.subject) = (c.user_id, c.finding, c.subject)
      )
  )
  insert into billing.checked_findings as c (user_id, finding, subject, since, detail, remedy, first_seen_at)
  select f.*, v_now from found f
  on conflict (user_id, finding, subject) do update
  set since = excluded.since, detail = excluded.detail, remedy = excluded.remedy, resolved_at = null,
    first_seen_at = case when c.resolved_at is null then c.first_seen_at else v_now end
  where c.resolved_at is not null
    or (c.since, c.detail, c.remedy) is distinct from (excluded.since, excluded.detail, excluded.remedy);
  delete from billing.checked_findings c
  where c.user_id between p_first and p_last and c.resolved_at < v_now - interval '90 days';
end $$;

-- Stores what is wrong in the books about the payments of a range, and forgets what is not any more.
create function billing.check_books(p_first uuid, p_last uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  with found as materialized (
    select distinct on (f.payment_id, f.finding, f.subject) f.payment_id, f.finding, f.subject, f.since, f.detail, f.remedy
    from billing.book_findings f
    where f.payment_id between p_first and p_last
    order by f.payment_id, f.finding, f.subject, f.since
  ),
  resolved as (
    delete from billing.checked_books c
    where c.payment_id between p_first and p_last
      and not exists (
        select from found f where (f.payment_id, f.finding, f.subject) = (c.payment_id, c.finding, c.subject)
      )
  )
  insert into billing.checked_books as c (payment_id, finding, subject, since, detail, remedy)
  select f.* from found f
  on conflict (payment_id, finding, subject) do update
  set since = excluded.since, detail = excluded.detail, remedy = excluded.remedy
  where (c.since, c.detail, c.remedy) is distinct from (excluded.since, excluded.detail, excluded.remedy);
end $$;

-- Goes on with a pass for some time, and ends with its last customer or payment.
create function billing.run_pass(p_name text, p_time interval)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_stops_at constant timestamptz := clock_timestamp() + p_time;
  v_first constant uuid := '00000000-0000-0000-0000-000000000000';
  v_last constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  v_pass billing.passes;
  v_until uuid;
begin
  select * into v_pass from billing.passes p where p.name = p_name for update skip locked;
  if not found then return; end if;
  loop
    if v_pass.until = v_first then v_pass.began_at := billing.clock(); end if;
    if p_name = 'books' then
      select p.id into v_until from public.payments p where p.id > v_pass.until order by p.id offset 300 limit 1;
    else
      select p.user_id into v_until
      from billing.profiles p
      where p.user_id > v_pass.until
      order by p.user_id
      offset 300
      limit 1;
    end if;
    -- A range ends after a few hundred, with all ids that begin with the same three digits.
    v_until := coalesce(overlay(v_last::text placing left(v_until::text, 3) from 1)::uuid, v_last);
    case p_name
      when 'books' then perform billing.check_books(v_pass.until, v_until);
      when 'findings' then perform billing.check_customers(v_pass.until, v_until);
      when 'revenue' then perform billing.sum_customers(v_pass.until, v_until);
    end case;
    v_pass.until := v_until;
    exit when v_until = v_last or clock_timestamp() > v_stops_at;
  end loop;
  update billing.passes p
  set began_at = v_pass.began_at,
    until = case when v_until = v_last then v_first else v_until end,
    complete_as_of = case when v_until = v_last then v_pass.began_at else p.complete_as_of end
  where p.name = p_name;
end $$;

create table billing.received_by_hour (
  hour timestamptz,
  currency text,
  payments bigint not null,
  amount bigint not null, -- minor currency units
  primary key (hour, currency)
);
alter table billing.received_by_hour enable row level security;
comment on table billing.received_by_hour is 'What was received in each hour of today and yesterday, in the seller''s time zone.';

-- Sums up what was received in the last two hours, and once an hour the whole day: the gateway may tell of a payment late.
create function billing.sum_hours()
returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_zone constant text := billing.time_zone();
  v_hour constant timestamptz := date_trunc('hour', billing.clock(), v_zone);
  v_day constant timestamptz := date_trunc('day', v_hour, v_zone);
  v_from constant timestamptz := case
    when exists (select from billing.received_by_hour h where h.hour = v_hour) then v_hour - interval '1 hour'
    else v_day
  end;
begin
  delete from billing.received_by_hour h where h.hour >= v_from or h.hour < v_day - interval '1 day';
  insert into billing.received_by_hour
  select date_trunc('hour', r.received_at, v_zone), r.currency, count(*), sum(r.amount)
  from billing.received r
  where r.received_at >= v_from
  group by 1, 2
  -- Another sweep may run at the same time.
  on conflict (hour, currency) do update set payments = excluded.payments, amount = excluded.amount;
end $$;

-- The last job of the sweep.
create function billing.run_passes()
returns integer -- 0: the next sweep goes on
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.sum_hours();
  perform billing.run_pass('findings', interval '0.4 seconds');
  perform billing.run_pass('revenue', interval '0.3 seconds');
  if exists (select from public.receipts) or exists (select from billing.settlements) then
    perform billing.run_pass('books', interval '0.3 seconds');
  end if;
  return 0;
end $$;
