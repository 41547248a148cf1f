-- The end of a period: mails about it, expiry, announcements, cancellation by the user.

-- The mail subscription-ending, before a paid period ends. private.settle_access enqueues subscription-ended.

-- How long before the end of a paid period the mail about it is sent.
create function private.end_notice()
returns interval
language sql
immutable
set search_path = ''
return interval '7 days';

-- Enqueues a mail for each of the subscriptions that ends soon and for good, if its user has an address and a profile. One
-- mail for each end of a period.
create function private.announce_subscription_ends(
  p_subscription_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_notice constant interval := private.end_notice();
  v_early_renewal constant text := private.early_renewal();
  v_ending uuid[];
begin
  select array_agg(s.id)
  into v_ending
  from public.subscriptions s
  where s.id = any (p_subscription_ids)
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + v_notice
    -- A subscription that renews itself does not end.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- A period shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= v_notice)
    -- Another source takes over then.
    and not exists (
      select
      from private.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression, so that the user's payments are read, not all whose period runs.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    );
  -- An insert of no row would still wake the dispatcher.
  if v_ending is null then
    return;
  end if;
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select
    format('subscription-ending/%s/%s', s.id, period.ends_at),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', period.ends_at,
      'early_renewal', v_early_renewal
    ),
    -- As the defaults are, which would ask for the time three times a row.
    v_now,
    v_now,
    v_now
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join public.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  cross join lateral (select private.iso_time(s.current_period_end) as ends_at offset 0) period
  where s.id = any (v_ending)
    and u.email <> ''
  on conflict (key) do nothing;
end
$$;

-- Expiry: a paid period that ended, and the plan's grace days after it, ends access, unless another source takes over.

create index subscriptions_current_period_end_idx on public.subscriptions (current_period_end)
where status = 'active';

-- Locks a batch of users whose subscription lapsed. Locked rows are skipped: the next run takes them. A batch is small,
-- since a request of one of its users waits for all of it.
create function private.lock_lapsed_subscriptions()
returns uuid[] -- of the users; null: none
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_users uuid[];
begin
  with lapsed as materialized (
    select s.id, s.user_id
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    left join public.plans p on p.id = s.plan_id
    left join private.gateway_subscriptions m
      on m.user_id = s.user_id
      and m.gateway_subscription_id = s.gateway_subscription_id
    cross join lateral (
      select case when s.cancel_at_period_end then 0 else coalesce(p.grace_days, 3) end as days
    ) grace
    where s.status = 'active'
      and s.current_period_end < v_now
      -- A refunded cycle has no days of grace.
      and (m.paid_until is not null or s.current_period_end + make_interval(days => grace.days) < v_now)
      -- A billed subscription ends only after a reconciliation that found no further period.
      and (
        s.gateway_subscription_id is null
        -- Before its first cycle there is nothing to ask.
        or m.user_id is not null and m.period_end is null
        or m.paid_until <= v_now
        or m.checked_at > s.current_period_end + make_interval(days => greatest(grace.days - 1, 0))
      )
      and not exists (
        select
        from private.settle_failures f
        where f.user_id = s.user_id
          and f.failed_at > v_now - interval '1 hour'
      )
    order by s.current_period_end
    limit 100
    for no key update of u skip locked
  ),
  held as materialized (
    select s.user_id
    from public.subscriptions s
    join lapsed l on l.id = s.id
    for no key update of s skip locked
  ),
  profiled as materialized (
    select p.user_id
    from public.profiles p
    join held h on h.user_id = p.user_id
    for no key update of p skip locked
  )
  select array_agg(h.user_id)
  into v_users
  from held h
  where exists (select from profiled p where p.user_id = h.user_id)
    -- Has no profile. Not as an "exists", which may read all profiles into a hash.
    or (select p.user_id from public.profiles p where p.user_id = h.user_id) is null;
  return v_users;
end
$$;

-- Settles the access of locked users whose subscription lapsed. A separate statement after the locks, which sees what was
-- paid or refunded before.
create function private.settle_lapsed(
  p_user_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_user record;
begin
  -- Each user's side effects are enqueued in one statement, as in a request.
  perform private.begin_request('expiry', null);
  for v_user in
    select u.id, u.email, s as subscription
    from auth.users u
    join public.subscriptions s on s.user_id = u.id
    where u.id = any (p_user_ids)
      -- Not one that was renewed after it was found.
      and s.status = 'active'
      and s.current_period_end < private.clock()
    order by u.id
  loop
    if private.settle_access(v_user.id, v_user.email, p_before => v_user.subscription) is not true then
      raise exception 'a lapsed subscription did not end' using errcode = 'PS500';
    end if;
  end loop;
  -- Another source may have taken over, and the usual notice of its end may be over.
  perform private.announce_subscription_ends(array_agg(s.id))
  from public.subscriptions s
  where s.user_id = any (p_user_ids)
    and s.status = 'active'
  having count(*) > 0;
  perform set_config('subscriptions.request', '', true);
  perform private.wake();
end
$$;

-- Ends a batch of lapsed subscriptions. Run it twice or twice at once: each is ended once, and a renewal in flight wins. A
-- user whose data make it fail, such as by an app's trigger on the profile, holds up no others.
create function private.expire_subscriptions()
returns integer -- how many were over; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_lapsed constant uuid[] := private.lock_lapsed_subscriptions();
  v_user_id uuid;
begin
  if v_lapsed is null then
    return 0;
  end if;
  begin
    perform private.settle_lapsed(v_lapsed);
    return cardinality(v_lapsed);
  exception
    when others then
      if not private.is_error_of_event(sqlstate) and sqlstate <> '55P03' then
        raise;
      end if;
  end;

  foreach v_user_id in array v_lapsed loop
    begin
      perform private.settle_lapsed(array[v_user_id]);
    exception
      when others then
        perform private.note_settle_failure(v_user_id, sqlstate);
    end;
  end loop;
  return cardinality(v_lapsed);
end
$$;

-- Enqueues the mails about paid periods that end within seven days.

create table private.announced_ends (
  is_only boolean primary key default true constraint announced_ends_is_only_check check (is_only),
  until timestamptz not null
);
alter table private.announced_ends enable row level security;
insert into private.announced_ends (until) values ('-infinity');
comment on table private.announced_ends is 'Up to which period end users were told, so that each period is looked at once.';

-- Announces the next batch of periods that end soon. It locks its own mark alone; a second run at the same time does
-- nothing.
create function private.announce_ends()
returns integer -- how many periods were looked at; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_until constant timestamptz := v_now + private.end_notice();
  v_mark timestamptz;
  v_ids uuid[];
  v_last timestamptz;
begin
  select a.until into v_mark from private.announced_ends a for update skip locked;
  if not found then
    return 0;
  end if;

  with due as materialized (
    select s.id, s.current_period_end
    from public.subscriptions s
    where s.status = 'active'
      and s.current_period_end > greatest(v_mark, v_now)
      and s.current_period_end <= v_until
    order by s.current_period_end
    -- Many periods may end in one moment, and the mark can't stand among them.
    fetch first 1000 rows with ties
  )
  select coalesce(array_agg(d.id), '{}'), max(d.current_period_end) into v_ids, v_last from due d;

  perform private.announce_subscription_ends(v_ids);
  update private.announced_ends a
  set until = case when cardinality(v_ids) < 1000 then v_until else v_last end
  where true;
  return cardinality(v_ids);
end
$$;

-- Cancellation by the user: stored here first, then sent to the gateway through the outbox until it is confirmed.
-- POST /api/subscriptions/cancel and /resume.

-- Marks the source that rules, and the gateway subscription attached to it, to end with its period, or takes the mark away.
-- The caller holds the lock on the user.
create function private.mark_ruling_source(
  p_user_id uuid,
  p_gateway_subscription_id text, -- of the subscription as it is
  p_cancel_at_period_end boolean
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_source constant private.sources := (private.find_ruling(p_user_id)).source;
begin
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'payment'
    and p.id = case when v_source.kind = 'payment' then v_source.id::uuid end;
  update private.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'grant'
    and g.id = case when v_source.kind = 'grant' then v_source.id::bigint end;
  update private.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'manual'
    and w.user_id = p_user_id;
  update private.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end,
    user_cancelled_at = case when p_cancel_at_period_end then private.clock() end
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
end
$$;
grant execute on function private.mark_ruling_source(uuid, text, boolean) to service_role;

-- Ends every live source of a user at once. The caller holds the lock on the user.
create function private.end_sources(
  p_user_id uuid,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources;
begin
  for v_source in
    select s.*
    from private.sources s
    where s.user_id = p_user_id
      and s.ended_at is null
      and s.lapses_at > v_now
    order by s.kind, s.id
  loop
    case v_source.kind
      when 'payment' then
        update public.payments p
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where p.id = v_source.id::uuid;
      when 'grant' then
        update private.grants g
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where g.id = v_source.id::bigint;
      when 'manual' then
        update private.manual_subscriptions w
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where w.user_id = p_user_id;
      else
        null; -- below, with those that are no sources
    end case;
  end loop;
  insert into private.user_cancellations as c (user_id, at)
  values (p_user_id, v_now)
  on conflict (user_id) do update set at = excluded.at;
  update private.gateway_subscriptions m
  set ended_at = v_now,
    ended_reason = p_reason,
    cancel_at_period_end = false,
    user_cancelled_at = least(m.user_cancelled_at, v_now)
  where m.user_id = p_user_id
    and m.ended_at is null
    and m.status is distinct from 'cancelled';
end
$$;
grant execute on function private.end_sources(uuid, text) to service_role;

-- API: service_role only.
create function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- the tier stays until the paid period ends; else access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform private.begin_request('cancellation', null);
  v_email := private.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found or v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeat writes nothing.
  if not (p_at_period_end and v_subscription.cancel_at_period_end) then
    if p_at_period_end then
      perform private.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, true);
      if v_subscription.gateway_subscription_id is not null then
        perform private.enqueue_cancellation(
          v_subscription.gateway_subscription_id,
          true,
          private.cancellation_time(v_subscription.current_period_end)
        );
      end if;
    else
      perform private.enqueue_cancellation(m.gateway_subscription_id)
      from private.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.gateway_subscription_id <> ''
        and m.status is distinct from 'cancelled'
        and m.ended_at is null;
      perform private.end_sources(p_user_id, 'cancelled');
    end if;
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'cancelled',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$;
comment on function public.cancel_subscription(uuid, boolean) is
  'Ends a user''s subscription, now or when the paid period ends.';
revoke execute on function public.cancel_subscription(uuid, boolean) from public, anon, authenticated;
grant execute on function public.cancel_subscription(uuid, boolean) to service_role;

-- Withdraws a cancellation that the gateway has not received yet: there it is final.
-- API: service_role only.
create function public.resume_subscription(
  p_user_id uuid
)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform private.begin_request('resumption', null);
  v_email := private.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  if v_subscription.cancel_at_period_end then
    if v_subscription.gateway_subscription_id is not null
      and not private.withdraw_cancellation(v_subscription.gateway_subscription_id, 'by the user')
    then
      return jsonb_build_object('outcome', 'cannot_be_resumed');
    end if;
    perform private.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, false);
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'resumed',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$;
comment on function public.resume_subscription(uuid) is 'Drops a user''s intent to cancel, if the gateway was not told yet.';
revoke execute on function public.resume_subscription(uuid) from public, anon, authenticated;
grant execute on function public.resume_subscription(uuid) to service_role;
