-- Expiry: a paid period that ended, and the plan's grace days after it, ends access, unless another payment takes over.
-- Depends on: _hand_over, _subscription_mails, _wake.

create index subscriptions_current_period_end_idx on public.subscriptions (current_period_end)
where status = 'active';

-- Locks a batch of subscriptions whose time is over and that nothing has written to for an hour. A batch is small: who
-- verifies a payment of one of its users waits for the whole of it. Waits for nobody itself.
create function private.lock_lapsed_subscriptions()
returns uuid[] -- null: none is over
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ids uuid[];
begin
  with lapsed as materialized (
    select s.id, s.user_id
    from public.subscriptions s
    left join public.plans p on p.id = s.plan_id
    where s.status = 'active'
      and s.current_period_end < v_now
      and s.updated_at < v_now - interval '1 hour'
      -- What the gateway bills ends only when the gateway, asked since, knows of no further period.
      and (
        s.gateway_subscription_id is null
        or exists (
          select
          from private.subscription_checks c
          where c.subscription_id = s.id
            and c.gateway_subscription_id = s.gateway_subscription_id
            and c.checked_at > greatest(s.current_period_end, v_now - interval '1 day')
        )
      )
      and s.current_period_end
        + make_interval(days => case when s.cancel_at_period_end then 0 else coalesce(p.grace_days, 3) end) < v_now
    order by s.current_period_end
    limit 100
    for update of s skip locked
  ),
  -- Whoever holds a profile would hold up all renewals of the batch. The next run takes it.
  held as materialized (
    select p.user_id
    from public.profiles p
    join lapsed l on l.user_id = p.user_id
    for update of p skip locked
  )
  select array_agg(l.id)
  into v_ids
  from lapsed l
  where exists (select from held h where h.user_id = l.user_id)
    -- Has none. Not as an "exists", which may read all profiles into a hash.
    or (select p.user_id from public.profiles p where p.user_id = l.user_id) is null;
  return v_ids;
end
$$;
revoke execute on function private.lock_lapsed_subscriptions() from public;

-- Hands subscriptions over whose users paid for another period that still runs, or is in its grace: the newest.
create function private.hand_over_lapsed(
  p_subscription_ids uuid[] -- locked
)
returns uuid[] -- those that go on
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_lapsed record;
  v_continued uuid[] := '{}';
begin
  -- Rare, so one by one.
  for v_lapsed in
    select distinct on (s.id) s.id, heir, u.email
    from public.subscriptions s
    join private.paid_periods heir on heir.user_id = s.user_id
    join auth.users u on u.id = s.user_id
    where s.id = any (p_subscription_ids)
      and heir.period_end <> s.current_period_end
      and case when s.cancel_at_period_end then heir.period_end else heir.grace_end end > v_now
    order by s.id, heir.fulfilled_at desc, heir.payment_id
  loop
    perform private.hand_over(v_lapsed.id, v_lapsed.heir, v_lapsed.email);
    v_continued := v_continued || v_lapsed.id;
  end loop;
  -- The usual notice may have passed the end of such a period by already.
  perform private.announce_subscription_ends(v_continued);
  return v_continued;
end
$$;
revoke execute on function private.hand_over_lapsed(uuid[]) from public;

-- Ends a batch of lapsed subscriptions. Run it twice or twice at once: each is ended once, and a renewal in flight wins.
create function private.expire_subscriptions()
returns integer -- how many were over; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_lapsed constant uuid[] := private.lock_lapsed_subscriptions();
  v_ended uuid[];
  v_users uuid[];
begin
  if v_lapsed is null then
    -- An update of no row would still tell the app to refresh its pages.
    return 0;
  end if;
  perform private.note_cause('expiry', null);
  -- Statements of their own after the locks: they see what was paid or given back until then.
  v_ended := array(
    select unnest(v_lapsed)
    except
    select unnest(private.hand_over_lapsed(v_lapsed))
  );
  with ended as (
    update public.subscriptions s
    set status = 'cancelled',
      cancelled_at = s.current_period_end,
      ended_reason = 'lapsed'
    where s.id = any (v_ended)
    returning s.user_id
  )
  select array_agg(e.user_id) into v_users from ended e;
  if v_users is not null then
    update public.profiles p
    set subscription_tier = 'free'
    where p.user_id = any (v_users);
    perform private.enqueue_subscription_mails('subscription-ended', v_ended);
  end if;
  return cardinality(v_lapsed);
end
$$;
revoke execute on function private.expire_subscriptions() from public;
