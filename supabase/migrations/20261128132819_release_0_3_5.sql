-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

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
    -- First, since what is to end with its cycle has no days of grace.
    if exists (select from billing.gateway_subscriptions m where m.user_id = p_user_id) then
      perform billing.plan(p_user_id);
    end if;
    v_ruling := billing.find_shown(p_user_id);
    if v_ruling.is_live and (v_ruling.source).kind = 'payment' and billing.await_periods(p_user_id) then
      v_ruling := billing.find_shown(p_user_id);
    end if;
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
        v_source.gateway_subscription_id is not null
          and not (v_source.cancel_at_period_end or v_source.is_failing)
          and coalesce(p_ruling.is_live, billing.is_sole(p_user_id, v_source.gateway_subscription_id))
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
        then billing.refund_of(v_source) || billing.outlook(p_user_id)
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

-- Returns what a mail says about the next charge.
create function billing.outlook(p_user_id uuid)
returns jsonb -- {next_charge}: see billing.next_charge_answer; {}: there is none yet, and an authorisation is open
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
    return '{}';
  end if;
  return jsonb_build_object('next_charge', v_next);
end $$;

-- Sets the period of a purchase: from now, or from the end of what it follows. It extends what it follows, if that was sold
-- for the same tier, currency and months, and rules or begins later: both are shown as one period. Else it begins, and rules,
-- when the other one ends.
create or replace function billing.set_period(
  p_purchase billing.purchase,
  p_payment public.payments,
  p_tier text,
  p_months integer
)
returns public.payments language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_followed billing.sources;
begin
  v_followed := billing.find_followed(
    p_payment.user_id, p_tier, p_payment.plan_id, billing.price_sold(p_payment), p_payment.starts,
    case when p_payment.credit is null then p_purchase.early_renewal end
  );
  p_payment.chain_id := null;
  p_payment.extends_from := date_trunc('milliseconds', v_followed.ends_at);
  p_payment.chain_start := p_payment.extends_from;
  if v_followed.tier = p_tier
    -- Of what was not sold by a price they are not known.
    and (((v_followed.sold).currency, (v_followed.sold).months) = (p_payment.currency, p_months)) is not false
    -- The row may show what has ended since.
    and (v_followed.is_upcoming or ((billing.find_ruling(p_payment.user_id)).source).tier = p_tier)
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
  p_payment.period_end := billing.add_months(p_payment.period_start, p_months, p_purchase.time_zone);
  return p_payment;
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
    'plan_name', coalesce((select p.name from public.plans p where p.id = v_commitment.plan_id), v_commitment.tier, 'basic'),
    -- The end of what runs, where nothing is charged for what follows.
    'valid_until', billing.iso_time(v_commitment.ends_at)
  ) || billing.outlook(p_user_id) || case
    -- A change that waits goes on, too.
    when v_next_tier is not null then jsonb_build_object('next_plan_name', coalesce(
      (select p.name from public.plans p where p.tier = v_next_tier and p.lookup_key is null), v_next_tier
    ))
    else '{}'
  end);
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
    'plan_name', coalesce((select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'basic'),
    'paid_amount', coalesce(p_payment.paid_amount, p_payment.amount),
    'paid_at', billing.iso_time(coalesce(p_payment.captured_at, p_payment.fulfilled_at, p_payment.created_at)),
    'transaction_id', p_payment.gateway_payment_id,
    'access_plan_name', case when v_after.status = 'active' then coalesce(
      (select p.name from public.plans p where p.id = v_after.plan_id), v_after.tier
    ) end,
    'access_ends_at', case when v_after.status = 'active' then billing.iso_time(v_after.current_period_end) end
  ) || billing.outlook(p_payment.user_id));
end $$;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."outlook"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."outlook"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
