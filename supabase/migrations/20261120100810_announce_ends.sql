-- Tells users that their paid period ends, seven days before.
-- Depends on: _subscription_mails, _expire_subscriptions.

create table private.announced_ends (
  is_only boolean primary key default true constraint announced_ends_is_only_check check (is_only),
  until timestamptz not null
);
alter table private.announced_ends enable row level security;
revoke all on private.announced_ends from public;
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
revoke execute on function private.announce_ends() from public;
