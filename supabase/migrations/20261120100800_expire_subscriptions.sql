-- Expiry: a paid period that ended, and the plan's grace days after it, ends access.
-- Depends on: _fulfil_payment, _wake.

-- Ends a batch of subscriptions whose time is over and that nothing has written to for an hour. Run it twice or twice at
-- once: each is ended once, and a renewal in flight wins.
create function private.expire_subscriptions()
returns integer -- how many were ended; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_users uuid[];
begin
  perform private.note_cause('expiry', null);
  with over as materialized (
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
    limit 1000
    for update of s skip locked
  ),
  -- Waits for nobody: whoever holds a profile would hold up a thousand renewals. The next run takes it.
  held as materialized (
    select p.user_id
    from public.profiles p
    join over on over.user_id = p.user_id
    for update of p skip locked
  ),
  ended as (
    update public.subscriptions s
    set status = 'cancelled',
      cancelled_at = s.current_period_end,
      ended_reason = 'lapsed'
    from over
    where s.id = over.id
      -- Read again under the lock.
      and s.status = 'active'
      and s.current_period_end < v_now
      and s.updated_at < v_now - interval '1 hour'
      and (
        exists (select from held where held.user_id = s.user_id)
        or not exists (select from public.profiles p where p.user_id = s.user_id)
      )
    returning s.user_id
  )
  select array_agg(e.user_id) into v_users from ended e;
  if v_users is null then
    -- An update of no row would still tell the app to refresh its pages.
    return 0;
  end if;

  update public.profiles p
  set subscription_tier = 'free'
  where p.user_id = any (v_users);
  return cardinality(v_users);
end
$$;
revoke execute on function private.expire_subscriptions() from public;

create index subscriptions_current_period_end_idx on public.subscriptions (current_period_end)
where status = 'active';
