-- The mails about a subscription's end: subscription-ending before it, subscription-ended after it.
-- Depends on: _outbox, _profiles, _sources.

-- Enqueues a mail for each of the subscriptions whose user has an address and a profile; one for each end of a period.
create function private.enqueue_subscription_mails(
  p_kind text,
  p_subscription_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
begin
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select
    format('%s/%s/%s', p_kind, s.id, period.ends_at),
    'notice',
    p_kind,
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', period.ends_at
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
  where s.id = any (p_subscription_ids)
    and u.email <> ''
  on conflict (key) do nothing;
end
$$;
revoke execute on function private.enqueue_subscription_mails(text, uuid[]) from public;

-- How long before the end of a paid period its user is told.
create function private.end_notice()
returns interval
language sql
immutable
set search_path = ''
return interval '7 days';
revoke execute on function private.end_notice() from public;

-- Announces the ends of those of the subscriptions that really end, and soon.
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
begin
  perform private.enqueue_subscription_mails('subscription-ending', array_agg(s.id))
  from public.subscriptions s
  where s.id = any (p_subscription_ids)
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + v_notice
    -- What renews by itself does not end.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- Shorter than the notice: it would come with the purchase.
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
    )
  having count(*) > 0;
end
$$;
revoke execute on function private.announce_subscription_ends(uuid[]) from public;
