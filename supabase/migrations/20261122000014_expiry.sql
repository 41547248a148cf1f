set local lock_timeout = '2s';

-- Access ends after the paid period and the plan's days of grace, unless another source takes over; a mail announces the end
-- of a paid period. Contract: "End of a period", "E-mails".

-- When the sweep looks at a subscription next: its due_at. At the end of its period, seven days before an end that is to be
-- announced, then when access lapses. A renewal does not write due_at, so the look after it finds a later end.
create function billing.next_check(
  p_ends_at timestamptz, -- of the period
  p_lapses_at timestamptz, -- of access; infinity: not before the gateway was asked
  p_is_renewed boolean -- the gateway renews it: its end is not announced
)
returns timestamptz -- null: never
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_lapsed_at constant timestamptz := p_lapses_at + interval '1 microsecond'; -- it has lapsed after p_lapses_at
begin
  return case
    when p_ends_at is null then null
    when p_ends_at > v_now
      then least(
        p_ends_at, v_lapsed_at,
        case when not p_is_renewed and p_ends_at - interval '7 days' > v_now then p_ends_at - interval '7 days' end
      )
    when v_lapsed_at > v_now and v_lapsed_at < 'infinity' then v_lapsed_at
    else v_now + interval '1 hour'
  end;
end $$;

-- A change of a plan's days of grace acts at once on the periods that are over.
create function billing.check_grace()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.subscriptions s
  set due_at = billing.clock()
  where s.plan_id = new.id and s.status = 'active' and s.current_period_end < billing.clock();
  return null;
end $$;

create trigger check_grace
after update of grace_days on public.plans
for each row
when (new.grace_days <> old.grace_days)
execute function billing.check_grace();

-- Enqueues a mail for each of the subscriptions whose access ends soon, one for each end of a period.
create function billing.announce_subscription_ends(p_subscription_ids uuid[])
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_notice constant interval := '7 days';
  v_ending uuid[];
begin
  select array_agg(s.id)
  into v_ending
  from public.subscriptions s
  where s.id = any (p_subscription_ids)
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + v_notice
    -- No mail if the gateway renews the subscription.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= v_notice)
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
    );
  -- An insert without rows would still fire the trigger that wakes the dispatcher.
  if v_ending is null then return; end if;
  insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select
    format('subscription-ending/%s/%s', s.id, period.ends_at),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', period.ends_at,
      'early_renewal', (select billing.early_renewal())
    ),
    -- Same as the defaults, which would call the clock three times for each row.
    v_now, v_now, v_now
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join billing.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  cross join lateral (select billing.iso_time(s.current_period_end) as ends_at offset 0) period
  where s.id = any (v_ending) and u.email <> ''
  on conflict (key) do nothing;
end $$;

create view billing.recent_failures with (security_invoker = true) as
select m.key as user_id
from billing.marks m
where m.kind = 'settle_failure' and m.at > billing.clock() - interval '1 hour';
comment on view billing.recent_failures is 'Users whom the scheduled jobs leave out: they failed less than an hour ago.';

create function billing.note_settle_failure(p_user_id uuid, p_sqlstate text)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.marks (kind, key, detail)
  values ('settle_failure', p_user_id, p_sqlstate)
  on conflict (kind, key) do update
  set at = excluded.at, detail = excluded.detail;
  raise warning 'the access of user % was not settled: %', p_user_id, p_sqlstate;
end $$;

-- Looks at a small batch of subscriptions that are due, and says when to look at the others again. Locks their users: a request
-- of one of them waits for the whole batch.
create function billing.check_due_subscriptions(
  out lapsed_user_ids uuid[],
  out ending_ids uuid[], -- the subscriptions that end within the notice
  out checked integer
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  with due as materialized (
    select
      s.id, s.user_id, s.due_at, s.current_period_end as ends_at,
      s.gateway_subscription_id is not null and not s.cancel_at_period_end as is_renewed,
      case
        -- Also before the first cycle of a subscription: there is no period to reconcile.
        when s.gateway_subscription_id is null or m.user_id is not null and m.period_end is null
          then s.current_period_end + make_interval(hours => 24 * grace.days)
        -- The row was written by hand since then, or the subscription is attached.
        when m.plan_id is null or exists (
          select from billing.manual_subscriptions w where w.user_id = s.user_id and w.at > m.arrived_at
        ) then billing.billed_until(s.current_period_end, m.checked_at, grace.days)
        else (select least(own.ended_at, own.lapses_at) from billing.mirrored_end(m, p.grace_days) own)
      end as lapses_at
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    left join public.plans p on p.id = s.plan_id
    left join billing.gateway_subscriptions m using (user_id, gateway_subscription_id)
    cross join lateral (
      select billing.grace_days(p.grace_days, s.cancel_at_period_end or exists (
        select from public.payments shown
        where shown.user_id = s.user_id
          and shown.period_end = s.current_period_end
          and s.gateway_subscription_id is null
          and billing.is_cancelled_for_end(s.user_id, coalesce(shown.since, shown.fulfilled_at))
      )) as days
    ) grace
    where s.status = 'active'
      and s.due_at <= v_now
      and not exists (select from billing.recent_failures f where f.user_id = s.user_id::text)
    order by s.due_at
    limit 100
    for no key update of u, s skip locked
  ),
  looked as (
    select
      d.*,
      case
        when d.ends_at <= v_now and d.lapses_at >= v_now
          -- In days of grace: what is paid or granted for now takes over.
          then ((billing.find_shown(d.user_id)).source).ends_at is distinct from d.ends_at
        else d.ends_at < v_now and d.lapses_at < v_now
      end as is_lapsed,
      d.ends_at > v_now and d.ends_at - interval '7 days' between d.due_at and v_now as is_ending
    from due d
  ),
  profiled as materialized (
    select p.user_id
    from billing.profiles p
    join looked l on l.user_id = p.user_id
    where l.is_lapsed
    for no key update of p skip locked
  ),
  kept as (
    update public.subscriptions s
    set due_at = billing.next_check(l.ends_at, l.lapses_at, l.is_renewed)
    from looked l
    where s.id = l.id and l.is_lapsed is not true
  )
  select
    array_agg(l.user_id) filter (
      where l.is_lapsed
        and (
          exists (select from profiled p where p.user_id = l.user_id)
          -- The user has no profile. A scalar subquery, because for "not exists" the planner may hash all profiles.
          or (select p.user_id from billing.profiles p where p.user_id = l.user_id) is null
        )
    ),
    array_agg(l.id) filter (where l.is_ending),
    count(*) filter (where l.is_lapsed is not true)
  into lapsed_user_ids, ending_ids, checked
  from looked l;
end $$;

-- Settles the access of locked users. A statement after the locks sees all payments and refunds that were committed before.
create function billing.settle_lapsed(p_user_ids uuid[])
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_user record;
begin
  -- Each user's side effects are enqueued in one statement, as in a request.
  perform billing.begin_request('expiry', null);
  -- For those that are settled below: then settling sets it anew.
  update public.subscriptions s
  set due_at = null
  where s.user_id = any (p_user_ids) and s.status = 'active' and s.current_period_end <= billing.clock();
  for v_user in
    select u.id, u.email
    from auth.users u
    join public.subscriptions s on s.user_id = u.id
    where u.id = any (p_user_ids)
      -- Skips subscriptions that were renewed before the lock.
      and s.status = 'active'
      and s.current_period_end <= billing.clock()
    order by u.id
  loop
    if billing.settle_access(v_user.id, v_user.email) is not true then
      raise exception 'a lapsed subscription did not end' using errcode = 'PS500';
    end if;
  end loop;
  -- Another source may have taken over. If its end is less than seven days away, nothing else announces it.
  perform billing.announce_subscription_ends(array_agg(s.id))
  from public.subscriptions s
  where s.user_id = any (p_user_ids) and s.status = 'active'
  having count(*) > 0;
  perform set_config('subscriptions.request', '', true);
  perform billing.wake();
end $$;

-- Ends the lapsed ones of a batch of due subscriptions, and announces the ends that are near. An error for one user, such as in
-- an app's trigger, does not delay the other users.
create function billing.expire_subscriptions()
returns integer -- how many subscriptions were due; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_due record;
  v_done integer;
  v_user_id uuid;
begin
  select * into v_due from billing.check_due_subscriptions();
  perform billing.announce_subscription_ends(v_due.ending_ids);
  v_done := v_due.checked + coalesce(cardinality(v_due.lapsed_user_ids), 0);
  if v_due.lapsed_user_ids is null then return v_done; end if;
  begin
    perform billing.settle_lapsed(v_due.lapsed_user_ids);
    return v_done;
  exception when others then
    if not billing.is_error_of_event(sqlstate) and sqlstate <> '55P03' then raise; end if;
  end;

  foreach v_user_id in array v_due.lapsed_user_ids loop
    begin
      perform billing.settle_lapsed(array[v_user_id]);
    exception when others then
      perform billing.note_settle_failure(v_user_id, sqlstate);
    end;
  end loop;
  return v_done;
end $$;
