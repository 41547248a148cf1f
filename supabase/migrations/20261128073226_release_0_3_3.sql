-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Keeps the reason and the time of an end of this source that the row shows already, where a refund is only later or earlier
-- than another end, or the gateway was told to cancel it only after that end: what happened first ended access. A refund that
-- fails takes back its own end.
create or replace function billing.keep_end(p_ruling billing.ruling)
returns billing.ruling language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source billing.sources := p_ruling.source;
  v_reason constant text := (p_ruling.shown).ended_reason;
  v_mirrored billing.gateway_subscriptions;
begin
  if (p_ruling.shown).status is distinct from 'cancelled'
    or v_reason is not distinct from v_source.ended_reason
    or not billing.is_shown(v_source.gateway_subscription_id, v_source.starts_at, p_ruling.shown)
  then
    return p_ruling;
  end if;
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where v_source.kind = 'gateway_subscription' and (m.user_id, m.gateway_subscription_id) = (v_source.user_id, v_source.id);
  if v_reason = 'refunded' and v_mirrored.paid_until is not null then
    v_source.ended_reason := v_reason;
  elsif v_reason <> 'refunded' and v_source.ended_reason = 'refunded' then
    v_source.ended_reason := v_reason;
    if v_reason = 'lapsed' then v_source.ended_at := null; end if;
    if v_mirrored.paid_until is not null then
      v_mirrored.paid_until := null;
      v_source.starts_at := v_mirrored.period_start;
      v_source.ends_at := v_mirrored.period_end;
      select own.lapses_at into v_source.lapses_at
      from public.plans p
      cross join lateral billing.mirrored_end(v_mirrored, p.grace_days) own
      where p.id = v_mirrored.plan_id;
    end if;
  elsif v_reason = 'lapsed' and not v_mirrored.cancel_at_period_end and billing.is_stop_sent(v_source.id) then
    v_source.ended_reason := v_reason;
    v_source.ended_at := null;
  end if;
  p_ruling.source := v_source;
  return p_ruling;
end $$;

revoke execute on all functions in schema billing from public;
