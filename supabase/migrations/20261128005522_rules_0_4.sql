-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.check_due_subscriptions();

drop function billing.announce_subscription_ends(pg_catalog.uuid[]);

drop function billing.expire_subscriptions();

drop function billing.start_purchases();

drop function billing.settle_lapsed(pg_catalog.uuid[]);

comment on column public.payments.settle_at is null;

comment on column public.subscriptions.due_at is null;

DROP INDEX "public"."payments_settle_at_idx";

DROP INDEX "public"."subscriptions_due_at_idx";

CREATE INDEX subscriptions_due_at_idx ON public.subscriptions USING btree (due_at)
  WHERE (due_at IS NOT NULL);

-- Locks a payment, and reads what decides about it. The caller holds the lock on the user.
create or replace function billing.lock_purchase(p_payment_id uuid, p_gateway_payment_id text)
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

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create or replace function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.updated_at is not distinct from old.updated_at then
    new.updated_at := billing.clock();
  end if;
  -- A row that was written by hand was not sold by a price.
  select null, null, null, null into new.price_key, new.price_amount, new.currency, new.duration_months;
  -- The entitlements of what ruled before are not those of another plan.
  if tg_op = 'UPDATE' and (new.tier, new.plan_id) is distinct from (old.tier, old.plan_id)
    and new.entitlements is not distinct from old.entitlements
  then
    new.entitlements := null;
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, billing.clock());
  new.due_at := case when new.status = 'active' then least(new.due_at, billing.clock()) else billing.next_start(new.user_id) end;
  delete from billing.manual_subscriptions w where w.user_id = new.user_id;
  insert into billing.manual_subscriptions (
    user_id, plan_id, tier, status, period_start, period_end, gateway_subscription_id, cancel_at_period_end,
    ended_at, ended_reason, at, entitlements
  )
  values (
    new.user_id, new.plan_id, new.tier, new.status, new.current_period_start, new.current_period_end,
    new.gateway_subscription_id, new.cancel_at_period_end,
    case when new.status = 'cancelled' then coalesce(new.cancelled_at, billing.clock()) end,
    new.ended_reason, billing.clock(), new.entitlements
  );
  -- A subscription in the mirror is reconciled, and is cancelled at the gateway when another source replaces it.
  if new.gateway_subscription_id is not null then
    insert into billing.gateway_subscriptions as g (
      user_id, gateway_subscription_id, period_start, period_end, next_check_at, asked_at, written_at
    )
    values (
      new.user_id, new.gateway_subscription_id, new.current_period_start, new.current_period_end,
      new.current_period_end - interval '1 day', billing.clock(), billing.clock()
    )
    on conflict (user_id, gateway_subscription_id) do update
    set written_at = excluded.written_at,
      (period_start, period_end, next_check_at) = row(
        case when g.arrived_at is null then excluded.period_start else g.period_start end,
        case when g.arrived_at is null then excluded.period_end else g.period_end end,
        case when g.arrived_at is null then excluded.next_check_at else g.next_check_at end
      );
  end if;
  return new;
end $$;

-- Writes only values that differ. The caller holds the lock on the user.
create or replace function billing.settle_access(
  p_user_id uuid,
  p_email text, -- of the user; null: sends no mail, and a new profile gets the default username
  p_new_source_id text default null, -- a source that was just created: if it rules, its tier is written in any case
  p_is_cancelled boolean default false, -- subscription.cancelled: without a running source the tier becomes free
  p_mail jsonb default null, -- payload of the success mail for the new source; sent to a user who has a profile
  p_ruling billing.ruling default null -- the ruling source, if the caller knows it and that nothing else is billed
)
returns boolean -- whether the subscription row changed; null: the user has no source
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_ruling billing.ruling := p_ruling;
  v_source billing.sources;
  v_before public.subscriptions;
  v_reason text; -- why access ended
  v_cancelled_at timestamptz;
  v_tier text;
  v_due_at timestamptz;
  v_is_changed boolean := false;
  v_ended_at text;
  v_end jsonb; -- see billing.announce_access
begin
  if p_ruling.is_live is null then
    v_ruling := billing.find_shown(p_user_id);
    if v_ruling.is_live and (v_ruling.source).kind = 'payment' and billing.await_periods(p_user_id) then
      v_ruling := billing.find_shown(p_user_id);
    end if;
    if v_ruling.may_stop and billing.plan(p_user_id) then v_ruling := billing.find_shown(p_user_id); end if;
  end if;
  if (v_ruling.source).id is not null then
    v_source := v_ruling.source;
    v_before := v_ruling.shown;
    if not v_ruling.is_live then
      v_reason := case
        when v_ruling.is_ended_by_gateway then 'cancelled'
        when v_source.ended_at is not null then v_source.ended_reason
        else coalesce(v_source.ended_reason, 'lapsed')
      end;
      v_cancelled_at := case
        when v_before.status = 'cancelled' and v_before.cancelled_at is not null then v_before.cancelled_at
        when v_reason = 'lapsed' then v_source.ends_at
        -- Cancelled for that day.
        when v_reason = 'cancelled' and v_source.cancel_at_period_end and v_source.ends_at <= least(v_now, v_source.ended_at)
          then v_source.ends_at
        else v_now
      end;
    end if;
    v_due_at := least(
      case when v_ruling.is_live then billing.next_check(
        v_source.ends_at, v_source.lapses_at,
        v_source.gateway_subscription_id is not null and not (v_source.cancel_at_period_end or v_source.is_failing)
      ) end,
      case when v_ruling.upcoming > 0 then billing.next_start(p_user_id) end
    );
    insert into public.subscriptions as s (
      user_id, plan_id, tier, status, current_period_start, current_period_end, cancelled_at, cancel_at_period_end,
      ended_reason, gateway_subscription_id, price_key, price_amount, currency, duration_months, entitlements, revision, created_at,
      updated_at, due_at
    )
    values (
      p_user_id, v_source.plan_id, v_source.tier, case when v_ruling.is_live then 'active' else 'cancelled' end,
      v_source.starts_at, v_source.ends_at, v_cancelled_at, v_source.cancel_at_period_end,
      v_reason, v_source.gateway_subscription_id, (v_source.sold).lookup_key, (v_source.sold).amount,
      (v_source.sold).currency, (v_source.sold).months, v_source.entitlements, 1, v_now, greatest(v_now, v_source.since), v_due_at
    )
    on conflict (user_id) do update
    set plan_id = excluded.plan_id, tier = excluded.tier, status = excluded.status,
      current_period_start = excluded.current_period_start, current_period_end = excluded.current_period_end,
      cancelled_at = excluded.cancelled_at, cancel_at_period_end = excluded.cancel_at_period_end,
      ended_reason = excluded.ended_reason, gateway_subscription_id = excluded.gateway_subscription_id,
      price_key = excluded.price_key, price_amount = excluded.price_amount, currency = excluded.currency, duration_months = excluded.duration_months,
      entitlements = excluded.entitlements,
      revision = s.revision + 1,
      updated_at = excluded.updated_at,
      due_at = case when excluded.status = 'active' then least(s.due_at, excluded.due_at) else excluded.due_at end
    -- updated_at is never before a known since, so billing.lock_purchase finds the newest act by updated_at.
    where s.updated_at < v_source.since
      or (
        s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at, s.cancel_at_period_end,
        s.ended_reason, s.gateway_subscription_id, s.price_key, s.price_amount, s.currency, s.duration_months, s.entitlements
      ) is distinct from (
        excluded.plan_id, excluded.tier, excluded.status, excluded.current_period_start, excluded.current_period_end,
        excluded.cancelled_at, excluded.cancel_at_period_end, excluded.ended_reason, excluded.gateway_subscription_id,
        excluded.price_key, excluded.price_amount, excluded.currency, excluded.duration_months, excluded.entitlements
      );
    v_is_changed := found;
    if not found and v_due_at < coalesce(v_before.due_at, 'infinity') then
      update public.subscriptions s set due_at = v_due_at where s.user_id = p_user_id;
    end if;
  end if;

  v_tier := billing.tier_to_write(v_ruling, v_before, p_new_source_id, p_is_cancelled);
  -- The mail about a cancellation names the end, too.
  if v_before.status = 'active' and not v_ruling.is_live
    and current_setting('subscriptions.cause', true) is distinct from 'cancellation'
  then
    v_ended_at := billing.iso_time(v_cancelled_at);
    v_end := jsonb_build_object(
      'key', format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
      'ends_at', v_ended_at
    ) || case
      when v_reason = 'refunded'
        then billing.refund_of(v_source) || jsonb_build_object('next_charge', billing.next_charge_answer(p_user_id))
      -- After the days of grace, as the mail about the failed charge says.
      when v_reason = 'lapsed' and v_source.lapses_at > v_source.ends_at and v_source.lapses_at <= v_now
        then jsonb_build_object('access_ended_at', billing.iso_time(v_source.lapses_at))
      else '{}'
    end;
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  if v_is_changed and v_source.cancel_at_period_end then perform billing.release_cancellation_mail(p_user_id); end if;
  return case when v_source.id is not null then v_is_changed end;
end $$;

-- Access ends after the paid period and the plan's days of grace, unless another source takes over; a mail announces the end
-- of a paid period. Contract: "End of a period", "E-mails".

-- Returns when the access that a row shows is settled next: at the end of its period, seven days before an end that is to be
-- announced, then when it lapses. What the gateway renews it charges within the hour; a renewal does not write due_at.
create or replace function billing.next_check(
  p_ends_at timestamptz, -- of the period
  p_lapses_at timestamptz, -- of access; infinity: not before the gateway was asked
  p_is_renewed boolean -- the gateway renews it, and no charge fails: its end is not announced
)
returns timestamptz -- null: never
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  return case
    when p_ends_at is null then null
    when p_ends_at > v_now and p_is_renewed and p_lapses_at = 'infinity' then p_ends_at + interval '1 hour'
    when p_ends_at > v_now
      then least(
        p_ends_at, p_lapses_at,
        case when not p_is_renewed and p_ends_at - interval '7 days' > v_now then p_ends_at - interval '7 days' end
      )
    when p_lapses_at > v_now and p_lapses_at < 'infinity' then p_lapses_at
    else v_now + interval '1 hour'
  end;
end $$;

create view billing.starts with (security_invoker = true) as
select p.user_id, p.settle_at as at, p.gateway_payment_id as reference
from public.payments p
where p.settle_at is not null and p.ended_at is null
union all
select m.user_id, m.starts_at, m.gateway_subscription_id
from billing.gateway_subscriptions m
where m.starts_at is not null and m.period_end is not null and not m.is_trial;

grant select on billing.starts to service_role;

create function billing.next_start(p_user_id uuid)
returns timestamptz -- null: nothing waits for its start
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return (select min(s.at) from billing.starts s where s.user_id = p_user_id and s.at > billing.clock()); end $$;

-- Enqueues the mail about an access that ends soon, one for each end of a period.
create function billing.announce_end(p_user_id uuid)
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
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', billing.iso_time(s.current_period_end),
      'early_renewal', billing.early_renewal()
    )
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join billing.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  where s.user_id = p_user_id
    and u.email <> ''
    and s.status = 'active'
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + interval '7 days'
    -- No mail if the gateway renews the subscription.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= interval '7 days')
    -- No mail if a subscription is authorised that the gateway charges from then on.
    and not exists (
      select from billing.gateway_subscriptions m
      where m.user_id = s.user_id
        and m.gateway_status = 'authenticated'
        and m.stops_at is null
        and m.charge_at <= s.current_period_end + interval '1 day'
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

-- Settles a batch of the users whose time has come: the period that is shown ends or lapses, its end is to be announced, or what
-- they bought begins. An error for one user, such as in an app's trigger, does not stop the others. A request of one of them
-- waits for the whole batch.
create function billing.settle_due()
returns integer -- how many users were due; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_due record;
  v_begun text;
  v_done integer := 0;
begin
  for v_due in
    select
      s.user_id, u.email, s.due_at, s.current_period_end as ends_at,
      s.status = 'active'
        and s.gateway_subscription_id is not null
        and not s.cancel_at_period_end
        and s.current_period_end > v_now as is_renewed
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    where s.due_at <= v_now
      and not exists (select from billing.recent_failures f where f.user_id = s.user_id::text)
    order by s.due_at
    limit 50 -- each is a subtransaction, and more than 64 slow down all others
    for no key update of u, s skip locked
  loop
    perform from billing.profiles p where p.user_id = v_due.user_id for no key update skip locked;
    -- An app holds it: the next run takes this user.
    continue when not found and exists (select from billing.profiles p where p.user_id = v_due.user_id);
    v_done := v_done + 1;
    begin
      v_begun := (
        select max(o.reference) from billing.starts o where o.user_id = v_due.user_id and o.at between v_due.due_at and v_now
      );
      -- Each user's side effects are enqueued in one statement, as in a request.
      perform billing.begin_request(case when v_begun is null then 'expiry' else 'start of a period' end, v_begun);
      -- Settling sets it anew.
      update public.subscriptions s
      set due_at = case
        when v_due.is_renewed and v_begun is null
          then least(billing.next_check(v_due.ends_at, 'infinity', true), billing.next_start(v_due.user_id))
      end
      where s.user_id = v_due.user_id;
      -- The usual one was renewed in time.
      continue when v_due.is_renewed and v_begun is null;
      perform billing.settle_access(v_due.user_id, v_due.email);
      perform billing.announce_end(s.user_id)
      from public.subscriptions s
      where s.user_id = v_due.user_id
        -- What is shown until another end than before was not announced.
        and (s.current_period_end <> v_due.ends_at or s.current_period_end - interval '7 days' >= v_due.due_at);
      if exists (
        select from public.subscriptions s
        where s.user_id = v_due.user_id and s.status = 'active' and s.current_period_end <= v_now and s.due_at is null
      ) then
        raise exception 'a lapsed subscription did not end' using errcode = 'PS500';
      end if;
    exception when others then
      perform billing.note_settle_failure(v_due.user_id, sqlstate);
    end;
  end loop;
  perform set_config('subscriptions.request', '', true);
  if current_setting('subscriptions.enqueued', true) = 'on' then perform billing.wake(); end if;
  return v_done;
end $$;

-- Stores the payment of a charged cycle, once. Without a user it waits for billing.adopt_charges. A payment id that another
-- row has is reused, as in a test account: then nothing is stored.
create or replace function billing.record_charge(
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

-- Applies the usual charge: the next cycle, in order, of the only subscription of a user that is not over. It reads the event
-- inline: a body of another shape is left to the general way, also by the error of a cast, and so is a delivery whose ledger
-- row exists. The values are those that billing.merge_gateway_subscription, billing.record_charge, billing.settle_access and
-- billing.announce_charge would write.
create or replace function billing.apply_next_charge(
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
    or array_position(v_types, null) is not null
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
    and m.gateway_plan_id = v_entity ->> 'plan_id'
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

-- Completes the gateway subscriptions of a user, and their charges, that arrived before the user or a plan was known.
create function billing.adopt_subscriptions(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set plan_id = coalesce(m.plan_id, own.plan_id), sold = coalesce(m.sold, own.sold), awaits_user = false,
    next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
  from billing.gateway_subscriptions w
  left join lateral billing.find_billed_price(w.gateway_plan_id, w.gateway_subscription_id) own on w.plan_id is null
  where w.user_id = p_user_id and m.id = w.id;
  perform billing.adopt_charges(p_user_id);
end $$;

-- Settles the access of a new user, because events may arrive before their user exists.
-- Security definer: the auth server's role inserts users and has no rights on the mirror.
create or replace function billing.settle_new_user()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  -- A backup or an import may restore a deleted user.
  delete from billing.deleted_users d where d.user_id in (new.id, billing.hash_user_id(new.id));
  if exists (select from billing.gateway_subscriptions m where m.user_id = new.id) then
    perform billing.note_cause('subscription of a new user', null);
    perform billing.adopt_subscriptions(new.id);
    perform billing.settle_access(new.id, new.email);
  end if;
  return null;
exception
  -- A sign-up must not fail because of its gateway subscription. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end $$;

-- Settles users whose gateway subscriptions waited for a plan or for the user, and the plan or the user now exists.
create or replace function billing.settle_waiting_subscriptions()
returns integer -- how many subscriptions were settled; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_waiting record;
  v_settled integer := 0;
begin
  for v_waiting in
    select m.user_id, m.gateway_subscription_id, u.email
    from (
      select w.user_id, w.gateway_subscription_id
      from public.plans o
      join billing.gateway_subscriptions w on w.gateway_plan_id = o.gateway_plan_id
      where w.plan_id is null
      union
      select w.user_id, w.gateway_subscription_id
      from billing.gateway_subscriptions w
      where w.awaits_user
    ) m
    join auth.users u on u.id = m.user_id
    where not exists (select from billing.recent_failures f where f.user_id = m.user_id::text)
    order by m.user_id
    limit 50
    for no key update of u skip locked
  loop
    begin
      perform billing.note_cause('plan', v_waiting.gateway_subscription_id);
      perform billing.adopt_subscriptions(v_waiting.user_id);
      perform billing.settle_access(v_waiting.user_id, v_waiting.email);
      v_settled := v_settled + 1;
    exception
      -- The error may come from an app's trigger on the profile. It must not stop the other users.
      when others then
        perform billing.note_settle_failure(v_waiting.user_id, sqlstate);
    end;
  end loop;
  return v_settled;
end $$;

-- Runs one batch of the first job that has work. Each call is a transaction, so a request waits for one batch at most.
create or replace function billing.sweep()
returns integer -- what the job returned, such as its number of rows; 0: no work is left
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_job text;
  v_done integer;
  v_results jsonb := '{}'; -- the jobs that ran, each with its error or null
begin
  foreach v_job in array array[
    'replay_missed_events', 'settle_waiting_subscriptions', 'settle_due', 'reduce_payloads', 'empty_payloads',
    'delete_messages', 'erase_deleted_users', 'create_profiles', 'issue_documents', 'run_passes'
  ] loop
    -- A failed job must not stop the other jobs.
    begin
      execute format('select billing.%I()', v_job) into v_done;
      v_results := v_results || jsonb_build_object(v_job, null);
    exception when others then
      raise warning 'sweep: % failed: %', v_job, sqlerrm;
      v_done := 0;
      v_results := v_results || jsonb_build_object(v_job, left(format('%s: %s', sqlstate, sqlerrm), 200));
    end;
    exit when v_done > 0;
  end loop;
  if v_done = 0 then
    perform billing.read_answers();
    perform pg_notify('outbox', '');
    perform billing.call_function('/api/internal/outbox');
  end if;
  -- Last, because another transaction may have locked the table.
  begin
    delete from billing.scheduled_jobs j where v_results -> j.name = 'null';
    insert into billing.scheduled_jobs (name, error)
    select r.key, r.value from jsonb_each_text(v_results) r where r.value is not null
    on conflict (name) do update
    set error = excluded.error;
    update billing.scheduled_jobs j
    set done_at = now(),
      replayed_until = case when v_results ->> 'replay_missed_events' is null then billing.clock() else j.replayed_until end
    where j.name = 'sweep' and v_done = 0;
  exception when lock_not_available then
    raise warning 'sweep: its end was not recorded: %', sqlerrm;
  end;
  return v_done;
end $$;

comment on column public.payments.settle_at is 'When this period begins, if that was not at once.';

comment on column public.subscriptions.due_at is 'When the sweep settles it next, or earlier. A renewal does not write it.';

comment on view billing.starts is 'When what was paid before its start begins, or began: purchases, and changes of the plan.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."adopt_subscriptions"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."adopt_subscriptions"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."announce_end"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_end"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."next_start"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."next_start"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settle_due"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settle_due"() TO "service_role";

GRANT SELECT ON TABLE "billing"."starts" TO "service_role";

revoke execute on all functions in schema billing from public;

-- A purchase that waits is settled by the row of its user from now on.
update public.subscriptions s
set due_at = least(s.due_at, waiting.at)
from (
  select o.user_id, min(o.at) as at from billing.starts o where o.at > billing.clock() group by o.user_id
) waiting
where s.user_id = waiting.user_id;
