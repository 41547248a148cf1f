-- Expiry: access ends after the paid period and the plan's days of grace, unless another source takes over.
-- Contract: "End of a period".

create table private.settle_failures (
  user_id uuid primary key constraint settle_failures_user_id_fkey references auth.users (id) on delete cascade,
  error text not null,
  failed_at timestamptz not null
);
alter table private.settle_failures enable row level security;
comment on table private.settle_failures is
  'Users whose access a scheduled job could not settle. The job retries each of them after an hour, so that they do not '
  'delay other users.';
comment on column private.settle_failures.error is
  'The SQLSTATE, for example from an app''s trigger on the profile. PS500: the subscription is still running.';

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

create index subscriptions_current_period_end_idx on public.subscriptions (current_period_end)
where status = 'active';

-- Locks a batch of users whose subscription lapsed. Skips users that are locked: the next run takes them. The batch is
-- small, because a request of one of these users waits for the whole batch.
create function private.lock_lapsed_subscriptions()
returns uuid[] -- the ids of the users; null: none
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
      -- A subscription that the gateway bills ends only after a reconciliation that found no further cycle.
      and (
        s.gateway_subscription_id is null
        -- Before its first cycle there is no period to reconcile.
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
    -- The user has no profile. A scalar subquery, because for "not exists" the planner may hash all profiles.
    or (select p.user_id from public.profiles p where p.user_id = h.user_id) is null;
  return v_users;
end
$$;

-- Settles the access of locked users whose subscription lapsed. A separate statement after the locks sees all payments and
-- refunds that were committed before.
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
      -- Skips subscriptions that were renewed before the lock.
      and s.status = 'active'
      and s.current_period_end < private.clock()
    order by u.id
  loop
    if private.settle_access(v_user.id, v_user.email, p_before => v_user.subscription) is not true then
      raise exception 'a lapsed subscription did not end' using errcode = 'PS500';
    end if;
  end loop;
  -- Another source may have taken over. If its end is less than seven days away, private.announce_ends has passed it.
  perform private.announce_subscription_ends(array_agg(s.id))
  from public.subscriptions s
  where s.user_id = any (p_user_ids)
    and s.status = 'active'
  having count(*) > 0;
  perform set_config('subscriptions.request', '', true);
  perform private.wake();
end
$$;

-- Ends a batch of lapsed subscriptions. Repeated or concurrent runs end each subscription once, and a concurrent renewal
-- wins. An error for one user, such as in an app's trigger on the profile, does not delay the other users.
create function private.expire_subscriptions()
returns integer -- how many subscriptions had lapsed; call again until it is 0
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
