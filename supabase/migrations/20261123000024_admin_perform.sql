-- Carries out support actions. Each raises a clear error where it would do nothing: PS400 for a missing or wrong value, PS404
-- for an unknown record, PS409 where another admin, or an event, was faster. Operations: "Support actions".

-- Returns the number that a reference is. Null: it is no number.
create function private.number_of(
  p_reference text
)
returns bigint
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when p_reference ~ '^[0-9]{1,18}$' then p_reference::bigint end;
end
$$;

-- Grants a complimentary tier.
create function private.perform_grant(
  p_action private.support_actions
)
returns private.support_actions
language plpgsql
set search_path = ''
as $$
declare
  v_grant private.grants;
begin
  if p_action.user_id is null then
    raise exception 'grant needs email: the customer''s e-mail address or id' using errcode = 'PS400';
  end if;
  if not exists (select from public.plans p where p.tier = p_action.tier) then
    raise exception 'grant needs tier: "%" is no tier of public.plans', coalesce(p_action.tier, '') using errcode = 'PS400';
  end if;
  if (p_action.until > private.clock()) is not true then
    raise exception 'grant needs until: a time in the future' using errcode = 'PS400';
  end if;
  perform private.lock_user(p_action.user_id);
  select * into v_grant
  from private.grants g
  where g.user_id = p_action.user_id
    and g.tier = p_action.tier
    and g.ended_at is null
    and g.until >= p_action.until
  order by g.id desc
  limit 1;
  if found then
    raise exception 'grant % gives % until % already', v_grant.id, v_grant.tier, private.iso_time(v_grant.until)
      using errcode = 'PS409';
  end if;
  perform private.grant_tier(p_action.user_id, p_action.tier, p_action.until, p_action.reason);
  select max(g.id)::text into p_action.reference from private.grants g where g.user_id = p_action.user_id;
  p_action.result := format(
    'Grant %s gives %s until %s.', p_action.reference, p_action.tier, private.day_text(p_action.until)
  );
  return p_action;
end
$$;

-- Ends a grant: the one with the id in reference, else the only one of the customer that runs.
create function private.perform_revoke_grant(
  p_action private.support_actions
)
returns private.support_actions
language plpgsql
set search_path = ''
as $$
declare
  v_grants private.grants[];
begin
  if p_action.reference is null then
    select array_agg(g) into v_grants
    from private.grants g
    where g.user_id = p_action.user_id
      and g.ended_at is null
      and g.until > private.clock();
  else
    select array_agg(g) into v_grants
    from private.grants g
    where g.id = private.number_of(p_action.reference)
      and g.user_id = coalesce(p_action.user_id, g.user_id);
  end if;
  if v_grants is null then
    raise exception 'revoke_grant needs reference: no such grant of this customer' using errcode = 'PS404';
  end if;
  if cardinality(v_grants) > 1 then
    raise exception 'revoke_grant needs reference: % grants of this customer run', cardinality(v_grants)
      using errcode = 'PS400';
  end if;
  p_action.reference := v_grants[1].id;
  p_action.user_id := v_grants[1].user_id;
  if not private.revoke_grant(v_grants[1].id) then
    raise exception 'grant % ended before', v_grants[1].id using errcode = 'PS409';
  end if;
  p_action.result := format('Grant %s of %s ended.', v_grants[1].id, v_grants[1].tier);
  return p_action;
end
$$;

-- Ends the access that a payment gives.
create function private.perform_end_access(
  p_action private.support_actions
)
returns private.support_actions
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments;
begin
  select * into v_payment
  from public.payments p
  where p.id = private.payment_id_of(p_action.reference)
    and p.user_id = coalesce(p_action.user_id, p.user_id);
  if not found then
    raise exception 'end_access needs reference: no payment "%" of this customer. To end a grant, use revoke_grant. A '
      'subscription that the gateway bills is cancelled at the gateway', coalesce(p_action.reference, '')
      using errcode = 'PS404';
  end if;
  p_action.user_id := v_payment.user_id;
  if not private.end_payment_access(
    v_payment.id, case when v_payment.dispute_status = 'lost' then 'dispute_lost' else 'ended_by_admin' end
  ) then
    raise exception 'payment % gives no access, or its access ended before', p_action.reference using errcode = 'PS409';
  end if;
  p_action.result := format('The access of payment %s ended.', coalesce(v_payment.gateway_payment_id, v_payment.id::text));
  return p_action;
end
$$;

-- Tries an undelivered side effect again for 24 hours.
create function private.perform_requeue_mail(
  p_action private.support_actions
)
returns private.support_actions
language plpgsql
set search_path = ''
as $$
declare
  v_row private.outbox;
begin
  select * into v_row
  from private.outbox o
  where o.id = private.number_of(p_action.reference)
    or o.key = p_action.reference
  for update;
  if not found then
    raise exception 'requeue_mail needs reference: no message "%"', coalesce(p_action.reference, '') using errcode = 'PS404';
  end if;
  if v_row.delivered_at is not null then
    raise exception 'message % was delivered at %', v_row.id, private.iso_time(v_row.delivered_at) using errcode = 'PS409';
  end if;
  if v_row.parked_at is not null and v_row.claims = '{}' then
    raise exception 'message % was withdrawn: %', v_row.id, v_row.last_error using errcode = 'PS409';
  end if;
  if v_row.parked_at is null and v_row.attempts = 0 then
    raise exception 'message % is queued already, for %', v_row.id, private.iso_time(v_row.next_attempt_at)
      using errcode = 'PS409';
  end if;
  perform private.requeue(v_row.id);
  p_action.reference := v_row.id;
  p_action.user_id := coalesce(
    p_action.user_id,
    (select u.user_id from private.users u where u.email = v_row.payload ->> 'to' limit 1)
  );
  p_action.result := format('Message %s (%s) is queued again.', v_row.id, v_row.kind);
  return p_action;
end
$$;

revoke execute on all functions in schema private from public;
