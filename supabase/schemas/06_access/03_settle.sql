-- Writes the ruling source to the subscription row and the profile's tier, and enqueues the side effects.
-- billing.settle_access is the only function that decides them.

-- Finds the tier that settling writes to the profile. It is written only when access begins, ends or gets another tier. So a
-- charge does not overwrite a tier that an admin edited.
create function billing.tier_to_write(
  p_ruling billing.ruling,
  p_before public.subscriptions, -- the subscription row; all null: there was none
  p_new_source_id text, -- see billing.settle_access
  p_is_cancelled boolean
)
returns text -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_source constant billing.sources := p_ruling.source;
  v_has_access boolean := p_ruling.is_live;
begin
  if v_has_access and v_source.ends_at <= v_now then
    -- The period is over, but the source still runs: the gateway was not read yet, or a late event shows it for an hour.
    -- Such a source keeps the tier, and restores it after a failed refund. After the days of grace it gives no new tier.
    v_has_access := v_source.ended_at is null
      and v_source.ends_at + make_interval(
        hours => 24 * billing.grace_days((select p.grace_days from public.plans p where p.id = v_source.plan_id), false)
      ) > v_now
      or v_source.kind = 'gateway_subscription' and exists (
        select from billing.gateway_subscriptions m
        where m.user_id = v_source.user_id
          and m.gateway_subscription_id = v_source.gateway_subscription_id
          and m.has_refunds
      );
  end if;
  if p_ruling.is_live then
    if v_source.id = p_new_source_id
      or v_has_access and (p_before.status = 'active' and p_before.current_period_end > v_now) is not true
      or p_before.status = 'active' and p_before.tier <> v_source.tier
    then
      return v_source.tier;
    elsif not v_has_access and v_source.ended_reason = 'refunded' and p_before.current_period_end > v_now then
      return 'free';
    end if;
  elsif p_is_cancelled or v_source.id is not null and p_before.id is null or p_before.status = 'active' then
    return 'free';
  end if;
  return null;
end $$;

-- Writes a tier to the user's profile where it differs, and creates a missing profile. Enqueues what follows: the refresh of
-- the app's pages, and the mails to a user who had a profile.
create function billing.announce_access(
  p_user_id uuid,
  p_email text, -- also for the username of a new profile
  p_tier text, -- null: it remains
  p_new_source_id text,
  p_mail jsonb, -- see billing.settle_access
  p_end jsonb -- {key, plan_name, ends_at}, of a refund {amount, currency, next_charge}, after days of grace {access_ended_at}; null: access did not end
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_has_profile boolean;
begin
  with profile as materialized (
    select coalesce(nullif(p.display_name, ''), p.username, '') as display_name
    from billing.profiles p
    where p.user_id = p_user_id
  ),
  written as (
    update billing.profiles p
    set subscription_tier = p_tier
    where p.user_id = p_user_id and p.subscription_tier is distinct from p_tier and p_tier is not null
  ),
  enqueued as (
    insert into billing.outbox (key, destination, kind, payload)
    select r.* from billing.page_refresh() r where p_tier is not null and current_setting('subscriptions.request', true) = 'on'
    union all
    select m.key, m.destination, m.kind, m.payload || jsonb_build_object('to', p_email, 'display_name', p.display_name)
    from profile p
    cross join lateral (
      values
        ('payment-success/' || p_new_source_id, 'email', 'payment-success', p_mail),
        (p_end ->> 'key', 'notice', 'subscription-ended', p_end - 'key')
    ) m (key, destination, kind, payload)
    where m.payload is not null and p_email <> ''
    on conflict (key) do nothing
  )
  select count(*) > 0 into v_has_profile from profile;
  if p_tier is not null and not v_has_profile then
    insert into billing.profiles (user_id, subscription_tier, username)
    values (p_user_id, p_tier, billing.default_username(p_email))
    on conflict (user_id) do update set subscription_tier = excluded.subscription_tier;
  end if;
end $$;

-- Gives the tier of a row that was written by hand and begins to name a gateway subscription, such as one of an import, to a user
-- whose profile has none: the customer pays for it. A period that is over is read from the gateway first. After the statement,
-- which may write the profile itself. Security definer: the role of an admin or of the app may write subscriptions alone.
create function billing.give_billed_tier()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.announce_access(u.id, u.email, new.tier, null, null, null)
  from auth.users u
  where u.id = new.user_id
    and new.status = 'active'
    and coalesce(new.current_period_end > billing.clock(), true)
    and not exists (select from billing.profiles p where p.user_id = new.user_id and p.subscription_tier <> 'free');
  return null;
end $$;

create trigger give_billed_tier
after update of gateway_subscription_id on public.subscriptions
for each row
when (new.revision = old.revision and new.gateway_subscription_id <> coalesce(old.gateway_subscription_id, ''))
execute function billing.give_billed_tier();

create trigger give_billed_tier_insert
after insert on public.subscriptions
for each row
when (new.revision = 0 and new.gateway_subscription_id is not null)
execute function billing.give_billed_tier();

-- Enqueues a mail about one user to this user, who has an address and a profile.
create function billing.enqueue_mail(
  p_user_id uuid,
  p_email text, -- of the user
  p_kind text,
  p_subject text, -- with the kind, the key: names the fact
  p_payload jsonb,
  p_plan_id uuid default null, -- its name is added; without such a plan no mail is sent. Null: the payload has a name
  -- The mails about the charges of other subscriptions than those that were asked for here are the gateway's own.
  p_asked_for text default null -- the gateway subscription; null: any
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.outbox (key, destination, kind, payload)
  select
    p_kind || '/' || p_subject,
    case when p_plan_id is null or p_kind = 'payment-success' then 'email' else 'notice' end,
    p_kind,
    p_payload || jsonb_build_object('to', p_email, 'display_name', coalesce(nullif(p.display_name, ''), p.username, ''))
      || case when p_plan_id is null then '{}' else jsonb_build_object('plan_name', pl.name) end
  from billing.profiles p
  left join public.plans pl on pl.id = p_plan_id
  where p.user_id = p_user_id
    and p_email <> ''
    and (p_plan_id is null or pl.id is not null)
    and (
      p_asked_for is null
      or exists (
        select from billing.gateway_subscriptions m
        where m.user_id = p_user_id and m.gateway_subscription_id = p_asked_for and m.asked_plan_id is not null
      )
    )
  on conflict (key) do nothing;
end $$;

-- Returns what the mail about an end says: of a refund what was refunded of the payment that the source is, or of the newest
-- refunded cycle.
create function billing.end_mail(
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

-- Writes only values that differ. The caller holds the lock on the user.
create function billing.settle_access(
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
    v_end := billing.end_mail(v_before, v_source, v_reason, v_cancelled_at);
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  if v_is_changed and v_source.cancel_at_period_end then perform billing.release_cancellation_mail(p_user_id); end if;
  return case when v_source.id is not null then v_is_changed end;
end $$;

-- Settles a user's access after a payment became or stopped being a running source: computes its chain of early renewals,
-- then ranks the user's sources. The caller holds the lock on the user.
create function billing.settle_payment(
  p_payment public.payments,
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_payment.chain_id is not null or p_payment.chain_start is not null then
    perform billing.lay_out_chain(coalesce(p_payment.chain_id, p_payment.id));
  end if;
  perform billing.settle_access(p_payment.user_id, p_email);
end $$;
