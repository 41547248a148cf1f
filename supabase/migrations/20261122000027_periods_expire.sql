-- Expiry: access ends with the paid period and the plan's days of grace.

-- Who has which tier: private.settle_access ranks a user's sources of access and writes the result. It is the only writer
-- of public.subscriptions and of a profile's tier.

create table private.settle_failures (
  user_id uuid primary key constraint settle_failures_user_id_fkey references auth.users (id) on delete cascade,
  error text not null,
  failed_at timestamptz not null
);
alter table private.settle_failures enable row level security;
comment on table private.settle_failures is
  'Users whose access a scheduled job could not settle: tried again after an hour, so that they hold up no others.';
comment on column private.settle_failures.error is
  'SQLSTATE, such as that of an app''s own trigger on the profile. PS500: the subscription is still live.';

-- Stores why a scheduled job could not settle a user.
create function private.note_settle_failure(
  p_user_id uuid,
  p_sqlstate text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.settle_failures as f (user_id, error, failed_at)
  values (p_user_id, p_sqlstate, private.clock())
  on conflict (user_id) do update
  set error = excluded.error,
    failed_at = excluded.failed_at;
  raise warning 'the access of user % was not settled: %', p_user_id, p_sqlstate;
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
