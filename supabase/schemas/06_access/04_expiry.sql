-- Access ends after the paid period and the plan's days of grace, unless another source takes over; a mail announces the end
-- of a paid period. Contract: "End of a period", "E-mails".

-- Returns when the access that a row shows is settled next: at the end of its period, seven days before an end that is to be
-- announced, then when it lapses. What the gateway renews it charges within the hour: until then nothing changes for a user who
-- has nothing else. A renewal does not write due_at.
create function billing.next_check(
  p_ends_at timestamptz, -- of the period
  p_lapses_at timestamptz, -- of access; infinity: not before the gateway was asked
  p_is_renewed boolean -- the gateway renews it, no charge fails, and the user has nothing else
)
returns timestamptz -- null: never
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  return case
    when p_ends_at is null then null
    when p_ends_at > v_now and p_is_renewed and p_lapses_at = 'infinity' then p_ends_at + interval '1 hour'
    when p_ends_at > v_now
      then least(
        p_ends_at, p_lapses_at,
        case when p_ends_at - interval '7 days' > v_now then p_ends_at - interval '7 days' end
      )
    when p_lapses_at > v_now and p_lapses_at < 'infinity' then p_lapses_at
    else v_now + interval '1 hour'
  end;
end $$;

-- Returns whether a user has, and had, nothing that gives access beside a gateway subscription.
create function billing.is_sole(p_user_id uuid, p_gateway_subscription_id text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return not exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id is distinct from p_gateway_subscription_id
      and billing.is_known(m)
  )
  and not exists (select from billing.grants g where g.user_id = p_user_id)
  and not exists (select from billing.manual_subscriptions w where w.user_id = p_user_id)
  and not exists (select from public.payments p where p.user_id = p_user_id and p.fulfilled_at is not null);
end $$;

create view billing.starts with (security_invoker = true) as
select p.user_id, p.settle_at as at, p.gateway_payment_id as reference
from public.payments p
where p.settle_at is not null and p.ended_at is null
union all
select m.user_id, m.starts_at, m.gateway_subscription_id
from billing.gateway_subscriptions m
where m.starts_at is not null and m.period_end is not null and not m.is_trial;
grant select on billing.starts to service_role;
comment on view billing.starts is 'When what was paid before its start begins, or began: purchases, and changes of the plan.';

create function billing.next_start(p_user_id uuid)
returns timestamptz -- null: nothing waits for its start
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return (select min(s.at) from billing.starts s where s.user_id = p_user_id and s.at > billing.clock()); end $$;

-- A change of a plan's days of grace acts at once on the periods that are over, also on those that lapsed and would still run.
create function billing.check_grace()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.subscriptions s
  set due_at = billing.clock()
  where s.plan_id = new.id
    and s.current_period_end < billing.clock()
    and (
      s.status = 'active'
      or s.ended_reason = 'lapsed' and s.current_period_end + make_interval(hours => 24 * new.grace_days) > billing.clock()
    );
  return null;
end $$;

create trigger check_grace
after update of grace_days on public.plans
for each row
when (new.grace_days <> old.grace_days)
execute function billing.check_grace();

-- Enqueues the mail about an access that ends soon, one for each end of a period.
create function billing.announce_end(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  insert into billing.outbox (key, destination, kind, payload)
  select
    format('subscription-ending/%s/%s', s.id, billing.iso_time(s.current_period_end)),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', billing.plan_name(s.plan_id, s.tier),
      'ends_at', billing.iso_time(s.current_period_end),
      'early_renewal', billing.early_renewal()
    ) || case when s.tier = any (billing.tiers_on_offer()) then '{}' else '{"is_on_sale": false}' end::jsonb
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join billing.profiles p on p.user_id = s.user_id
  where s.user_id = p_user_id
    and u.email <> ''
    and s.status = 'active'
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + interval '7 days'
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= interval '7 days')
    -- No mail if the gateway charges what runs, or what follows it.
    and not exists (
      select from billing.find_billed(s.user_id) b
      where b.charge_at <= s.current_period_end + interval '1 day'
        -- A row that was written by hand may say that it ends.
        and not (s.cancel_at_period_end and b.id = s.gateway_subscription_id)
    )
    -- No mail if another source takes over.
    and not exists (
      select from billing.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    )
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

-- Settles a batch of the users whose time has come: the period that is shown ends or lapses, its end is to be announced, or what
-- they bought begins. An error for one user, such as in an app's trigger, does not stop the others. A request of one of them
-- waits for the whole batch.
create function billing.settle_due()
returns integer -- how many users were due; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_due record;
  v_begun text;
  v_is_renewed boolean;
  v_done integer := 0;
begin
  for v_due in
    select
      s.user_id, u.email, s.due_at, s.current_period_end as ends_at, s.gateway_subscription_id,
      s.status = 'active' and not s.cancel_at_period_end and s.current_period_end > v_now as is_renewed
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    where s.due_at <= v_now
      and not exists (select from billing.recent_failures f where f.user_id = s.user_id::text)
    order by s.due_at
    limit 50 -- each is a subtransaction, and more than 64 slow down all others
    for no key update of u, s skip locked
  loop
    perform from billing.profiles p where p.user_id = v_due.user_id for no key update skip locked;
    -- An app holds it: the next run takes this user.
    continue when not found and exists (select from billing.profiles p where p.user_id = v_due.user_id);
    v_done := v_done + 1;
    begin
      v_begun := (
        select o.reference
        from billing.starts o
        where o.user_id = v_due.user_id and o.at between v_due.due_at and v_now
        order by o.at desc, o.reference desc
        limit 1
      );
      -- Each user's side effects are enqueued in one statement, as in a request.
      perform billing.begin_request(case when v_begun is null then 'expiry' else 'start of a period' end, v_begun);
      -- The usual one was renewed in time, and goes on.
      v_is_renewed := v_due.is_renewed and v_begun is null and exists (
        select from billing.gateway_subscriptions m
        where (m.user_id, m.gateway_subscription_id, m.gateway_status, m.period_end)
            = (v_due.user_id, v_due.gateway_subscription_id, 'active', v_due.ends_at)
          and m.last_halted_at is null
          and billing.has_next_charge(m)
      );
      -- Settling sets it anew.
      update public.subscriptions s
      set due_at = case
        when v_is_renewed then least(
          billing.next_check(v_due.ends_at, 'infinity', billing.is_sole(v_due.user_id, v_due.gateway_subscription_id)),
          billing.next_start(v_due.user_id)
        )
      end
      where s.user_id = v_due.user_id;
      continue when v_is_renewed;
      perform billing.settle_access(v_due.user_id, v_due.email);
      perform billing.announce_end(s.user_id)
      from public.subscriptions s
      where s.user_id = v_due.user_id
        -- What is shown until another end than before was not announced.
        and (s.current_period_end <> v_due.ends_at or s.current_period_end - interval '7 days' >= v_due.due_at);
      if exists (
        select from public.subscriptions s
        where s.user_id = v_due.user_id and s.status = 'active' and s.current_period_end is not null and s.due_at is null
      ) then
        raise exception 'a subscription would never end' using errcode = 'PS500';
      end if;
    exception when others then
      -- Such as a deadlock: the next run takes the whole batch again.
      if not billing.is_error_of_event(sqlstate) and sqlstate <> '55P03' then raise; end if;
      perform billing.note_settle_failure(v_due.user_id, sqlstate);
    end;
  end loop;
  perform set_config('subscriptions.request', '', true);
  if current_setting('subscriptions.enqueued', true) = 'on' then perform billing.wake(); end if;
  return v_done;
end $$;
