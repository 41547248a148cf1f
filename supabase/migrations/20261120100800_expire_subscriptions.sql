-- Expiry: a paid period that ended, and the plan's grace days after it, ends access, unless another source takes over.
-- Depends on: _settle_access, _subscription_mails, _wake.

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
      -- What was refunded has no days of grace.
      and (m.paid_until is not null or s.current_period_end + make_interval(days => grace.days) < v_now)
      -- What the gateway bills ends only when the gateway, asked since, knows of no further period.
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
revoke execute on function private.lock_lapsed_subscriptions() from public;

-- Ends the subscriptions of locked users that no other source carries, in a few statements for all of them. It writes what
-- private.settle_access would.
create function private.expire_batch(
  p_user_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_simple uuid[];
  v_ended uuid[];
  v_user record;
begin
  -- A statement of its own after the locks: it sees what was paid or refunded until then.
  select array_agg(s.user_id)
  into v_simple
  from public.subscriptions s
  where s.user_id = any (p_user_ids)
    and s.status = 'active'
    and s.current_period_end < v_now
    and not exists (
      select
      from private.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        and o.lapses_at > v_now
      -- Keeps it a look at one user: as a join it would read all sources.
      offset 0
    )
    and not exists (select from private.gateway_subscriptions m where m.user_id = s.user_id);

  with ended as (
    update public.subscriptions s
    set status = 'cancelled',
      cancelled_at = s.current_period_end,
      ended_reason = 'lapsed',
      revision = s.revision + 1,
      updated_at = v_now
    where s.user_id = any (v_simple)
    returning s.id
  )
  select array_agg(e.id) into v_ended from ended e;
  -- An update of no row would still refresh the app's pages.
  if v_ended is not null then
    update public.profiles p
    set subscription_tier = 'free'
    where p.user_id = any (v_simple);
    perform private.enqueue_subscription_mails('subscription-ended', v_ended);
  end if;

  for v_user in
    select u.id, u.email
    from auth.users u
    where u.id = any (p_user_ids)
      and (v_simple is null or u.id <> all (v_simple))
    order by u.id
  loop
    if private.settle_access(v_user.id, v_user.email) is not true
      -- Not one that was renewed after it was found.
      and exists (
        select
        from public.subscriptions s
        where s.user_id = v_user.id
          and s.status = 'active'
          and s.current_period_end < v_now
      )
    then
      raise exception 'a lapsed subscription did not end' using errcode = 'PS500';
    end if;
    -- The usual notice may have passed the end of what took over already.
    perform private.announce_subscription_ends(array_agg(s.id))
    from public.subscriptions s
    where s.user_id = v_user.id
      and s.status = 'active';
  end loop;
end
$$;
revoke execute on function private.expire_batch(uuid[]) from public;

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
  perform private.note_cause('expiry', null);
  begin
    perform private.expire_batch(v_lapsed);
    return cardinality(v_lapsed);
  exception
    when others then
      if not private.is_error_of_event(sqlstate) and sqlstate <> '55P03' then
        raise;
      end if;
  end;

  foreach v_user_id in array v_lapsed loop
    begin
      perform private.expire_batch(array[v_user_id]);
    exception
      when others then
        perform private.note_settle_failure(v_user_id, sqlstate);
    end;
  end loop;
  return cardinality(v_lapsed);
end
$$;
revoke execute on function private.expire_subscriptions() from public;
