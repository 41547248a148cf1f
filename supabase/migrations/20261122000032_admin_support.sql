-- For an admin: complimentary tiers, the end of a payment's access, and the history of a user's tier.

-- Grants a tier without a payment, until a given time. Paid access continues below the grant.
create function private.grant_tier(
  p_user_id uuid,
  p_tier text,
  p_until timestamptz,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_email text;
begin
  v_email := private.lock_user(p_user_id);
  if v_email is null then
    raise exception 'no such user' using errcode = 'PS404';
  end if;
  if p_until is null or p_until <= private.clock() then
    raise exception 'the end of a grant lies in the future' using errcode = 'PS400';
  end if;
  perform private.note_cause('grant', p_reason);
  insert into private.grants (user_id, tier, until, reason, at)
  values (
    p_user_id, p_tier, date_trunc('milliseconds', p_until), p_reason,
    greatest(
      private.clock(),
      (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
    )
  );
  perform private.settle_access(p_user_id, v_email);
end
$$;

-- Ends a grant at once. The next running source takes over, if the user has one.
create function private.revoke_grant(
  p_grant_id bigint
)
returns boolean -- false: no such grant, or it ended before
language plpgsql
set search_path = ''
as $$
declare
  v_user_id uuid;
  v_email text;
begin
  select g.user_id into v_user_id from private.grants g where g.id = p_grant_id;
  v_email := private.lock_user(v_user_id);
  update private.grants g
  set ended_at = private.clock(),
    ended_reason = 'revoked'
  where g.id = p_grant_id
    and g.ended_at is null;
  if not found then
    return false;
  end if;
  perform private.note_cause('grant revoked', p_grant_id::text);
  perform private.settle_access(v_user_id, v_email);
  return true;
end
$$;

-- Ends the access that a payment gives, such as after a lost dispute. The next running source takes over, if the user has
-- one.
create function private.end_payment_access(
  p_payment_id uuid,
  p_reason text -- such as dispute_lost
)
returns boolean -- false: the payment gave no access, or its access ended before
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments;
  v_email text;
begin
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);
  update public.payments p
  set ended_at = private.clock(),
    ended_reason = p_reason
  where p.id = p_payment_id
    and p.fulfilled_at is not null
    and p.ended_at is null;
  if not found then
    return false;
  end if;
  perform private.note_cause(p_reason, v_payment.gateway_payment_id);
  perform private.settle_payment(v_payment, v_email);
  return true;
end
$$;

-- Returns the payments, events, grants, tier changes and sources of a user, oldest first.
create function private.explain_user(
  p_user_id uuid
)
returns table (at timestamptz, what text, reference text, detail jsonb)
language sql
stable
set search_path = ''
as $$
  select line.at, line.what, line.reference, line.detail
  from (
    select
      1 as rank,
      0 as id,
      p.created_at as at,
      'payment created' as what,
      p.gateway_order_id as reference,
      jsonb_build_object('amount', p.amount, 'tier', private.tier_bought(p)) as detail
    from public.payments p
    where p.user_id = p_user_id
    union all
    select
      2,
      0,
      e.received_at,
      e.event,
      e.subject_id,
      jsonb_build_object('outcome', e.outcome, 'deliveries', e.deliveries, 'created_at', e.event_at)
    from private.gateway_events e
    where e.subject_id in (
      select p.gateway_order_id from public.payments p where p.user_id = p_user_id
      union all
      select m.gateway_subscription_id from private.gateway_subscriptions m where m.user_id = p_user_id
    )
    union all
    select
      3,
      0,
      p.fulfilled_at,
      'payment fulfilled',
      p.gateway_payment_id,
      jsonb_build_object('tier', p.tier, 'period_end', p.period_end, 'refunded_amount', p.refunded_amount)
    from public.payments p
    where p.user_id = p_user_id
      and p.fulfilled_at is not null
    union all
    select
      4,
      g.id,
      g.at,
      'tier granted',
      g.reason,
      jsonb_build_object('tier', g.tier, 'until', g.until)
    from private.grants g
    where g.user_id = p_user_id
    union all
    select
      5,
      c.id,
      c.at,
      'tier ' || coalesce(c.from_tier, 'none') || ' to ' || coalesce(c.to_tier, 'none'),
      c.reference,
      jsonb_build_object('cause', c.cause)
    from private.tier_changes c
    where c.user_id = p_user_id
    union all
    -- The present state of each source.
    select
      6,
      0,
      coalesce(s.ended_at, s.starts_at, s.since),
      'source: ' || s.kind,
      coalesce(s.gateway_subscription_id, s.id),
      jsonb_build_object(
        'tier', s.tier,
        'starts_at', s.starts_at,
        'ends_at', s.ends_at,
        'since', s.since,
        'ended_at', s.ended_at,
        'reason', s.ended_reason,
        'cancel_at_period_end', s.cancel_at_period_end,
        'live', s.ended_at is null and s.lapses_at > private.clock(),
        'rules', s.kind = (ruling.source).kind and s.id = (ruling.source).id and ruling.is_live
      )
    from private.sources s
    cross join (select (r).source, (r).is_live from (select private.find_ruling(p_user_id) as r offset 0) found) ruling
    where s.user_id = p_user_id
  ) line
  -- All rows of one transaction have the same time. The rank puts a cause before its effect.
  order by line.at, line.rank, line.id, line.reference
$$;
