-- The trigger that carries out an inserted support action, and the actions on events and reconciliation.
-- Operations: "Support actions".

-- Applies an event of the ledger again, or stops waiting for its effect.
create function private.perform_event(
  p_action private.support_actions -- replay_event or ignore_event
)
returns private.support_actions
language plpgsql
set search_path = ''
as $$
declare
  v_by_admin constant text := 'ignored: by an admin';
  v_event private.gateway_events;
  v_outcome text;
begin
  if p_action.reference ~* '^(\\x)?[0-9a-f]{64}$' then
    select * into v_event
    from private.gateway_events e
    where e.body_sha256 = decode(right(p_action.reference, 64), 'hex')
    for update;
  end if;
  if v_event.body_sha256 is null then
    raise exception '% needs reference: the body_sha256 of a webhook', p_action.action using errcode = 'PS404';
  end if;
  if not (
    private.can_be_reapplied(v_event.event, v_event.outcome)
    or v_event.outcome = 'unmatched'
    or p_action.action = 'replay_event' and v_event.outcome = v_by_admin
  ) then
    raise exception 'the outcome of this webhook is final: %', v_event.outcome using errcode = 'PS409';
  end if;
  p_action.user_id := coalesce(
    p_action.user_id,
    (select s.user_id from private.subjects s where s.subject_id = v_event.subject_id and s.user_id is not null limit 1)
  );
  if p_action.action = 'ignore_event' then
    update private.gateway_events e set outcome = v_by_admin, error = null where e.body_sha256 = v_event.body_sha256;
    perform private.note_unsettled(v_event.body_sha256, false);
    p_action.result := format('%s is ignored. It was: %s.', v_event.event, v_event.outcome);
    return p_action;
  end if;
  if v_event.payload is null then
    raise exception 'the body of this webhook was deleted' using errcode = 'PS409';
  end if;
  v_outcome := private.replay_event(v_event.body_sha256);
  p_action.result := format('%s was applied again: %s.', v_event.event, v_outcome);
  return p_action;
end
$$;

-- Makes reconciliation read records from the gateway now.
create function private.perform_reconcile_now(
  p_action private.support_actions
)
returns private.support_actions
language plpgsql
set search_path = ''
as $$
declare
  v_orders integer;
  v_subscriptions integer;
  v_payment_id constant uuid := private.payment_id_of(p_action.reference);
begin
  if p_action.reference is null and p_action.user_id is null then
    raise exception 'reconcile_now needs email or reference' using errcode = 'PS400';
  end if;
  p_action.user_id := coalesce(
    p_action.user_id,
    (select p.user_id from public.payments p where p.id = v_payment_id),
    (
      select m.user_id
      from private.gateway_subscriptions m
      where m.gateway_subscription_id = p_action.reference
      limit 1
    )
  );
  perform private.lock_user(p_action.user_id);
  update public.payments p
  set next_reconcile_at = private.clock()
  where p.user_id = p_action.user_id
    and (p_action.reference is null or p.id = v_payment_id)
    and p.gateway_order_id is not null
    and not private.is_settled(p)
    -- The gateway does not keep an unpaid order for long.
    and (p_action.reference is not null or p.created_at > private.clock() - interval '30 days');
  get diagnostics v_orders = row_count;
  update private.gateway_subscriptions m
  set next_check_at = private.clock()
  where m.user_id = p_action.user_id
    and (p_action.reference is null or m.gateway_subscription_id = p_action.reference)
    and m.gateway_subscription_id <> ''
    and m.status is distinct from 'cancelled';
  get diagnostics v_subscriptions = row_count;
  if v_orders + v_subscriptions = 0 then
    raise exception 'nothing to reconcile: no open order and no running subscription%',
      coalesce(' "' || p_action.reference || '"', '') using errcode = 'PS404';
  end if;
  perform private.call_function('/api/internal/reconcile');
  p_action.result := format('Orders to read: %s. Subscriptions to read: %s.', v_orders, v_subscriptions);
  return p_action;
end
$$;

-- Carries out an inserted action.
-- Security definer: a role of support may insert the row, and nothing else.
create function private.perform_action()
returns trigger
language plpgsql
security definer
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  if coalesce(new.reason, '') !~ '\S' then
    raise exception 'a support action needs a reason' using errcode = 'PS400';
  end if;
  new.created_at := private.clock();
  new.reference := nullif(btrim(new.reference), '');
  new.email := nullif(btrim(new.email), '');
  new.user_id := case when new.email is not null then private.user_id_of(new.email) end;
  case new.action
    when 'grant' then new := private.perform_grant(new);
    when 'revoke_grant' then new := private.perform_revoke_grant(new);
    when 'end_access' then new := private.perform_end_access(new);
    when 'requeue_mail' then new := private.perform_requeue_mail(new);
    when 'reconcile_now' then new := private.perform_reconcile_now(new);
    when 'note' then
      if new.user_id is null and new.reference is null then
        raise exception 'note needs email or reference' using errcode = 'PS400';
      end if;
      new.result := 'Noted.';
    else new := private.perform_event(new);
  end case;
  new.email := (select u.email from private.users u where u.user_id = new.user_id);
  return new;
end
$$;

create trigger perform_action
before insert on private.support_actions
for each row execute function private.perform_action();

-- The functions for admins with an e-mail address or an id instead of a uuid.

create function private.explain_user(
  p_user text -- e-mail address or id
)
returns table (at timestamptz, what text, reference text, detail jsonb)
language sql
stable
set search_path = ''
as $$
  select l.at, l.what, l.reference, l.detail
  -- An id may be that of a deleted user.
  from private.explain_user(coalesce(private.json_uuid(to_jsonb(p_user)), private.user_id_of(p_user))) l
$$;

create function private.grant_tier(
  p_user text, -- e-mail address or id
  p_tier text,
  p_until timestamptz,
  p_reason text
)
returns void
language sql
set search_path = ''
as $$
  select private.grant_tier(private.user_id_of(p_user), p_tier, p_until, p_reason)
$$;

-- New: the payment may be named by the gateway's id of the payment or of its order.
create function private.end_payment_access(
  p_payment text,
  p_reason text -- such as dispute_lost
)
returns boolean -- false: no such payment, it gave no access, or its access ended before
language sql
set search_path = ''
as $$
  select private.end_payment_access(private.payment_id_of(p_payment), p_reason)
$$;

revoke execute on all functions in schema private from public;
