-- The mail subscription-ending, seven days before a paid period ends. private.settle_access enqueues subscription-ended.
-- Contract: "E-mails".

-- Returns how long before the end of a paid period its mail is sent.
create function private.end_notice()
returns interval
language sql
immutable
set search_path = ''
return interval '7 days';

-- Enqueues a mail for each of the subscriptions whose access ends soon, if its user has an address and a profile. Each end
-- of a period gets one mail.
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
    -- No mail if the gateway renews the subscription.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= v_notice)
    -- No mail if another source takes over.
    and not exists (
      select
      from private.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    );
  -- An insert without rows would still fire the trigger that wakes the dispatcher.
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
    -- Same as the defaults, which would call the clock three times for each row.
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

create table private.announced_ends (
  is_only boolean primary key default true constraint announced_ends_is_only_check check (is_only),
  until timestamptz not null
);
alter table private.announced_ends enable row level security;
insert into private.announced_ends (until) values ('-infinity');
comment on table private.announced_ends is
  'A time in one row. The mails for all periods that end before this time were enqueued, so each period is processed once.';

-- Announces the next batch of periods that end soon. Locks only the row of private.announced_ends. A second run at the same
-- time does nothing.
create function private.announce_ends()
returns integer -- how many periods were processed; call again until it is 0
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
    -- Periods that end at the same time belong to one batch, because the next batch starts after that time.
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
