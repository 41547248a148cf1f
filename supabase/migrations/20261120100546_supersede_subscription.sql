-- Of a user's gateway subscriptions and purchases one counts: what it replaced is moved aside, and cancelled at the
-- gateway, or the customer is charged twice. Which one counts goes by when things happened, not by when they were told.
-- Depends on: _schema, _outbox.

-- When a user last bought something once. What the gateway billed before that was replaced by it.
create function private.last_purchase_at(
  p_user_id uuid
)
returns timestamptz -- null: never
language plpgsql
stable
set search_path = ''
as $$
begin
  return (select max(p.fulfilled_at) from public.payments p where p.user_id = p_user_id);
end
$$;
revoke execute on function private.last_purchase_at(uuid) from public;
grant execute on function private.last_purchase_at(uuid) to service_role;

-- Whether an event of the gateway happened before the user's newest purchase: that replaced whatever it says, whenever it
-- comes. It delivers for a day; what claims to be weeks older than the purchase goes by when it comes, as without a time.
create function private.is_replaced(
  p_user_id uuid,
  p_created_at timestamptz -- of the event, whole seconds; null: it doesn't say
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
declare
  v_purchase_at constant timestamptz := private.last_purchase_at(p_user_id);
begin
  return coalesce(
    p_created_at < date_trunc('second', v_purchase_at) and p_created_at > v_purchase_at - interval '14 days',
    false
  );
end
$$;
revoke execute on function private.is_replaced(uuid, timestamptz) from public;
grant execute on function private.is_replaced(uuid, timestamptz) to service_role;

-- The caller holds the locks on the user and on the subscription, here and below.
create function private.supersede_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text -- null: none
)
returns boolean -- whether that is news
language plpgsql
set search_path = ''
as $$
begin
  update public.subscriptions s
  set superseded_gateway_subscription_ids = s.superseded_gateway_subscription_ids || p_gateway_subscription_id
  where s.id = p_subscription_id
    and p_gateway_subscription_id is not null
    and p_gateway_subscription_id <> all (s.superseded_gateway_subscription_ids);
  if not found then
    return false;
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id);
  return true;
end
$$;
revoke execute on function private.supersede_subscription(uuid, text) from public;
grant execute on function private.supersede_subscription(uuid, text) to service_role;

-- A gateway subscription counts again, since it was activated once more. It need not be cancelled, if nobody tried yet.
create function private.unsupersede_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.subscriptions s
  set superseded_gateway_subscription_ids = array_remove(
      s.superseded_gateway_subscription_ids,
      p_gateway_subscription_id
    )
  where s.id = p_subscription_id
    and p_gateway_subscription_id = any (s.superseded_gateway_subscription_ids);
  if found then
    update private.outbox o
    set parked_at = private.clock(),
      last_error = 'withdrawn: activated again'
    where o.key = 'cancel-subscription/' || p_gateway_subscription_id
      and o.attempts = 0
      and o.delivered_at is null;
  end if;
end
$$;
revoke execute on function private.unsupersede_subscription(uuid, text) from public;
grant execute on function private.unsupersede_subscription(uuid, text) to service_role;

-- An event that happened before the user's newest purchase: whatever it says was replaced by that. An activation or a
-- charge brings news all the same: which gateway subscription is to be cancelled.
create function private.apply_replaced_event(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_bills boolean
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_subscription public.subscriptions;
begin
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if p_bills
    and v_subscription.gateway_subscription_id is distinct from p_gateway_subscription_id
    and private.supersede_subscription(v_subscription.id, p_gateway_subscription_id)
  then
    return 'applied';
  end if;
  return 'stale';
end
$$;
revoke execute on function private.apply_replaced_event(uuid, text, boolean) from public;
grant execute on function private.apply_replaced_event(uuid, text, boolean) to service_role;
