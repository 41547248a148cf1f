-- Events to the app: what is true after a change, through the outbox. Contract: "Events to the app".

-- Returns why access changed, by the cause of the transaction (see billing.note_cause) and what it names. A charge of a
-- subscription that was charged before, or that goes on after a purchase, is a renewal. What was asked for while another price
-- ran, as a subscription beside one that the gateway bills or as an order with a start, is a change.
create function billing.find_reason(
  p_cause text,
  p_reference text -- the gateway's id of the subscription, order or payment. Empty: see public.apply_gateway_event
)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_reason constant text := case
    when p_cause in ('payment', 'payment.captured', 'order.paid', 'start of a period', 'subscription.activated') then 'purchase'
    when p_cause = 'subscription.charged' then 'renewal'
    when p_cause = 'change' then 'change'
    when p_cause = 'cancellation' then 'cancel'
    when p_cause = 'resumption' then 'resume'
    when starts_with(p_cause, 'refund.') then 'refund'
    when starts_with(p_cause, 'payment.dispute.') then 'dispute'
    when p_cause = 'expiry' then 'lapse'
    when p_cause in ('grant', 'grant revoked') then 'grant'
    when p_cause in ('reconciliation', 'plan', 'subscription', 'order') or starts_with(p_cause, 'subscription.') then 'gateway'
    else 'manual'
  end;
  v_mirrored billing.gateway_subscriptions;
begin
  if v_reason not in ('purchase', 'renewal') or coalesce(p_reference, '') = '' then return v_reason; end if;
  v_mirrored := billing.find_subscription(p_reference);
  return case
    when v_mirrored.id is null and v_reason = 'renewal'
      or v_mirrored.paid_count > 1
      or v_mirrored.first_charged_at < v_mirrored.paid_period_event_at
      or v_mirrored.payment_id is not null
      then 'renewal'
    when exists (
      select from (
        select v_mirrored.user_id, v_mirrored.asked_plan_id as plan_id, v_mirrored.asked_at as created_at, true as is_billed
        where v_mirrored.asked_plan_id is not null
        union all
        select p.user_id, p.plan_id, p.created_at, false
        from public.payments p
        where p_reference in (p.gateway_order_id, p.gateway_payment_id) and p.starts is not null
      ) asked
      cross join lateral (
        select p.plan_id, p.gateway_subscription_id is not null as is_billed
        from public.payments p
        where p.user_id = asked.user_id
          and p.created_at < asked.created_at
          and p.period_start <= asked.created_at
          and least(p.period_end, p.ended_at) > asked.created_at
        order by p.created_at desc
        limit 1
      ) running
      where running.plan_id <> asked.plan_id and running.is_billed >= asked.is_billed
    ) then 'change'
    else 'purchase'
  end;
end $$;

-- Returns what an event about a user's access says: what GET /api/subscriptions answers, without the payments and without
-- the page on which the customer changes the method of payment.
create function billing.subscription_event(p_user_id uuid)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_answer constant jsonb := public.get_subscription(p_user_id)::jsonb #- '{billing,manage_url}';
begin
  return jsonb_build_object(
    'user_id', p_user_id, 'reason', billing.find_reason(
      current_setting('subscriptions.cause', true), current_setting('subscriptions.reference', true)
    ),
    'tier', v_answer -> 'currentTier', 'entitlements', v_answer -> 'entitlements', 'billing', v_answer -> 'billing'
  ) || (
    select jsonb_object_agg(f.field, v_answer -> 'subscription' -> f.field)
    from unnest(array[
      'status', 'price', 'current_period_start', 'current_period_end', 'cancel_at_period_end', 'ended_reason'
    ]) f (field)
  );
end $$;

-- Returns what an event about a payment says. Amounts are in minor currency units.
create function billing.payment_event(
  p_payment text, -- the gateway's id of the payment, else the id of its row
  p_type text,
  p_refund_id text -- null: the event is not about a refund
)
returns jsonb -- null: payment or user is gone
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
  return (
    select
      to_jsonb(record) - 'duration_months' - 'meta' || billing.interval_answer(record.duration_months)
        || case p_type
          when 'payment.failed' then jsonb_build_object(
            'error_code', record.meta -> 'error_code', 'error_reason', record.meta -> 'error_reason'
          )
          when 'payment.refunded' then (
            select jsonb_build_object(
              'refund_id', r.refund_id, 'refunded', case when r.status = 'processed' then r.amount else 0 end
            )
            from billing.refunds r
            where r.refund_id = p_refund_id
          )
          else '{}'
        end
    from (
      select
        p.user_id, p.id as payment_id, p.id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.price_key,
        p.duration_months, p.gateway_order_id, p.gateway_payment_id, p.gateway_subscription_id, p.extra_of, p.meta,
        p.captured_at, p.confirmed_at, p.fulfilled_at, p.period_start, p.period_end, p.paid_amount, p.refunded_amount,
        p.dispute_status, p.created_at
      from public.payments p
      where p.id = billing.payment_id_of(p_payment) and p.user_id is not null
    ) record
  );
end $$;

-- Enqueues an event, once in a transaction, and of a refund once in each of its states: its payment may count for an order
-- later. Runs at the end of the transaction, so that the event says what is true after it. A payment is known by the gateway's
-- id: two payments on an order may have exchanged their rows. The id of the row grows with each event about a user, because
-- the user is locked: it is the version of subscription.updated.
-- Nothing is sent about a deleted user, who is to be forgotten, or about a payment that is gone.
create function billing.enqueue_event(
  p_type text,
  p_subject text, -- the user of subscription.updated, else the payment, as in billing.payment_event
  p_refund_id text default null
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_fact constant text := coalesce(
    (select concat_ws(' ', p_type, r.refund_id, r.status) from billing.refunds r where r.refund_id = p_refund_id),
    concat_ws(' ', p_type, p_subject, pg_current_xact_id(), extract(epoch from now()))
  );
  -- Also the receiver's webhook-id: at most 64 letters, digits, hyphens and underscores.
  v_key constant text := 'evt_' || encode(substr(sha256(convert_to(v_fact, 'UTF8')), 1, 16), 'hex');
  v_data jsonb;
begin
  if exists (select from billing.outbox o where o.key = v_key) then return; end if;
  if p_type <> 'subscription.updated' then
    v_data := billing.payment_event(p_subject, p_type, p_refund_id);
  elsif billing.lock_user(p_subject::uuid) is not null then
    v_data := billing.subscription_event(p_subject::uuid);
    -- Nothing of what it says changed.
    if v_data - 'reason' = (
      select (o.payload -> 'data') - 'reason'
      from billing.outbox o
      where o.destination = 'event' and o.payload #>> '{data,user_id}' = p_subject and o.kind = p_type
      order by o.id desc
      limit 1
    ) then
      return;
    end if;
  end if;
  if v_data is null then return; end if;
  perform billing.enqueue(
    v_key, 'event', p_type,
    jsonb_build_object('type', p_type, 'timestamp', billing.iso_time(billing.clock()), 'data', v_data)
  );
end $$;

-- Security definer, as the functions below: the role of an admin or of the app may write these tables but not the outbox.
create function billing.note_subscription_event()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_not_shown constant text[] := '{revision, updated_at, due_at, cancelled_at}';
begin
  -- billing.enqueue_event compares with the event before, which may be deleted by now.
  if tg_op = 'INSERT' or to_jsonb(new) - v_not_shown <> to_jsonb(old) - v_not_shown then
    perform billing.enqueue_event('subscription.updated', new.user_id::text);
  end if;
  return null;
end $$;

create function billing.note_tier_event()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(old.subscription_tier, 'free') <> coalesce(new.subscription_tier, 'free') then
    perform billing.enqueue_event('subscription.updated', new.user_id::text);
  end if;
  return null;
end $$;

create function billing.note_payment_event()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A renewal that failed is told by subscription.updated.
  if new.status <> 'created' and new.status is distinct from old.status and new.failed_subscription_id is null then
    perform billing.enqueue_event('payment.' || new.status, coalesce(new.gateway_payment_id, new.id::text));
  end if;
  -- The refunds that were known before their payment.
  if new.refunded_amount > 0 and new.gateway_payment_id is distinct from old.gateway_payment_id then
    perform billing.enqueue_event('payment.refunded', r.gateway_payment_id, r.refund_id)
    from billing.refunds r
    where r.gateway_payment_id = new.gateway_payment_id and r.status = 'processed';
  end if;
  return null;
end $$;

create function billing.note_refund_event()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if 'processed' in (new.status, old.status) then
    perform billing.enqueue_event('payment.refunded', new.gateway_payment_id, new.refund_id);
  end if;
  return null;
end $$;

create constraint trigger note_event_insert after insert on public.subscriptions
deferrable initially deferred for each row execute function billing.note_subscription_event();

-- The sweep writes due_at alone. Each other write has another updated_at or revision, or is no news.
create constraint trigger note_event after update on public.subscriptions
deferrable initially deferred for each row
when (to_jsonb(new) - 'due_at' <> to_jsonb(old) - 'due_at')
execute function billing.note_subscription_event();

create constraint trigger note_event_insert after insert on billing.gateway_subscriptions
deferrable initially deferred for each row
when (new.arrived_at is not null)
execute function billing.note_subscription_event();

create constraint trigger note_event after update on billing.gateway_subscriptions
deferrable initially deferred for each row
when (
  num_nonnulls(new.arrived_at, new.written_at) > 0
  and (new.gateway_status, new.charge_at, new.stops_at, new.period_end, new.sold)
    is distinct from (old.gateway_status, old.charge_at, old.stops_at, old.period_end, old.sold)
)
execute function billing.note_subscription_event();

create constraint trigger note_event after insert or update of status, refunded_amount on public.payments
deferrable initially deferred for each row execute function billing.note_payment_event();

create constraint trigger note_event after insert or update of status on billing.refunds
deferrable initially deferred for each row execute function billing.note_refund_event();

do $trigger$
begin
  execute format(
    'create constraint trigger note_event after insert or update of subscription_tier on %s
    deferrable initially deferred for each row execute function billing.note_tier_event()',
    billing.profiles_table()
  );
end
$trigger$;

-- Switches the service's triggers of a name, and those with it and _insert: switched off they cost nothing.
create function billing.switch_triggers(p_name text, p_are_on boolean)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_trigger record;
begin
  for v_trigger in
    select t.tgrelid::regclass as relation, t.tgname as name
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_proc f on f.oid = t.tgfoid and f.pronamespace = 'billing'::regnamespace
    where t.tgname in (p_name, p_name || '_insert')
  loop
    execute format(
      'alter table %s %s trigger %I', v_trigger.relation, case when p_are_on then 'enable' else 'disable' end, v_trigger.name
    );
  end loop;
end $$;
revoke execute on function billing.switch_triggers(text, boolean) from service_role;
select billing.switch_triggers('note_event', false);

create function billing.switch_events_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_triggers('note_event', new.events);
  return null;
end $$;

create trigger switch_events after update of events on billing.settings for each row
when (new.events <> old.events)
execute function billing.switch_events_by_setting();

-- For the events of one customer.
create index outbox_events_idx on billing.outbox ((payload #>> '{data,user_id}')) where destination = 'event';
