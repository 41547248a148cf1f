-- Which tier a user had when, and why.
-- Depends on: _profiles.

create table private.tier_changes (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  from_tier text,
  to_tier text,
  cause text not null,
  reference text,
  at timestamptz not null default private.clock()
);
alter table private.tier_changes enable row level security;
revoke all on private.tier_changes from public;
create index tier_changes_user_id_idx on private.tier_changes (user_id);
create index tier_changes_at_idx on private.tier_changes (at);
comment on table private.tier_changes is 'Every real change of a profile''s tier. Kept for TIER_HISTORY_RETENTION_DAYS, of a deleted user for 90 days.';
comment on column private.tier_changes.cause is 'payment, the gateway event''s name, or direct: somebody wrote the profile.';
comment on column private.tier_changes.reference is 'The payment, order or subscription behind it, as the gateway calls it.';

-- Says why the rest of the transaction changes tiers.
create function private.note_cause(
  p_cause text,
  p_reference text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform
    set_config('subscriptions.cause', coalesce(p_cause, ''), true),
    set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end
$$;
revoke execute on function private.note_cause(text, text) from public;
grant execute on function private.note_cause(text, text) to service_role;

-- Security definer: an admin's or the app's own role may write tiers without rights here.
create function private.note_tier_change()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.tier_changes (user_id, from_tier, to_tier, cause, reference)
  values (
    new.user_id,
    case when tg_op = 'UPDATE' then old.subscription_tier end,
    new.subscription_tier,
    coalesce(nullif(current_setting('subscriptions.cause', true), ''), 'direct'),
    nullif(current_setting('subscriptions.reference', true), '')
  );
  return null;
end
$$;
revoke execute on function private.note_tier_change() from public;

create trigger note_tier_change
after update of subscription_tier on public.profiles
for each row
when (coalesce(old.subscription_tier, 'free') <> coalesce(new.subscription_tier, 'free'))
execute function private.note_tier_change();

create trigger note_first_tier
after insert on public.profiles
for each row
when (new.subscription_tier <> 'free')
execute function private.note_tier_change();
