-- Deliveries: each is applied once, replayed where it waits, and its payload is reduced and emptied.

-- The part of an event's body that the ledger keeps.

-- The fields that the rules read, without the e-mail address, phone number, VPA and name of the customer: what the ledger
-- keeps of an event about a deleted user, and after 90 days of one that still waits.
create function private.stored_payload(
  p_body jsonb,
  p_outcome text
)
returns jsonb -- null: nothing
language plpgsql
stable
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payload constant jsonb := private.json_object(p_body -> 'payload');
  v_fields text[] := array[
    'id', 'order_id', 'payment_id', 'receipt', 'plan_id', 'amount', 'currency', 'status', 'current_start', 'current_end',
    'error_code', 'error_reason'
  ];
  v_is_waiting constant boolean := private.is_waiting(v_event, p_outcome);
  v_entities jsonb;
begin
  if jsonb_typeof(p_body) is distinct from 'object' then
    return null;
  end if;
  -- One that failed is still needed: it has the gateway stop billing.
  if v_event like 'subscription.%'
    and not v_is_waiting
    and private.is_deleted(private.json_uuid(v_payload #> '{subscription,entity,notes,user_id}'))
  then
    return null;
  end if;
  -- The bank's text is needed until the event has its effect, and only for a payment that has a user.
  if v_event = 'payment.failed'
    and v_is_waiting
    and not exists (
      select
      from public.payments p
      where p.gateway_order_id = v_payload #>> '{payment,entity,order_id}'
        and p.user_id is null
    )
  then
    v_fields := v_fields || 'error_description'::text;
  end if;

  select jsonb_object_agg(entity.name, jsonb_build_object('entity', entity.kept))
  into v_entities
  from (
    select
      e.key as name,
      coalesce(
        (
          select jsonb_object_agg(f.key, f.value)
          from jsonb_each(private.json_object(e.value -> 'entity')) f
          where f.key = any (v_fields)
            and jsonb_typeof(f.value) not in ('object', 'array')
        ),
        '{}'
      )
      || case
        when e.key = 'subscription' and e.value #> '{entity,notes,user_id}' is not null
          then jsonb_build_object('notes', jsonb_build_object('user_id', e.value #> '{entity,notes,user_id}'))
        else '{}'
      end as kept
    from jsonb_each(v_payload) e
    where e.key = any (array['payment', 'order', 'refund', 'dispute', 'subscription'])
      and jsonb_typeof(e.value -> 'entity') = 'object'
  ) entity;
  return jsonb_build_object('reduced', true, 'event', v_event, 'payload', coalesce(v_entities, '{}'))
    || case
      when private.event_time(p_body) is null then '{}'
      else jsonb_build_object('created_at', extract(epoch from private.event_time(p_body)))
    end;
end
$$;
grant execute on function private.stored_payload(jsonb, text) to service_role;

-- Whether an event is about a deleted user. Used after its effect failed, which undoes private.note_missing_user.
create function private.is_about_deleted_user(
  p_body jsonb,
  p_subject_id text
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.is_deleted(private.json_uuid(p_body #> '{payload,subscription,entity,notes,user_id}'))
    or exists (
      select
      from public.payments p
      where p.user_id is null
        and p.gateway_order_id = p_subject_id
    )
    or exists (
      select
      from public.payments p
      where p.user_id is null
        and p.gateway_payment_id = p_subject_id
    );
end
$$;
grant execute on function private.is_about_deleted_user(jsonb, text) to service_role;

-- Applies a delivery of the gateway, once, repeats included. Contract: POST /api/webhooks/gateway.

-- The result of a delivery.
create type private.delivery as (
  outcome text, -- as in the ledger
  is_applied boolean -- whether it was applied now, not before
);

-- Applies an event and writes its ledger row, once: effect and row commit together. Of two deliveries at once the second
-- waits for the first, is undone and gets the stored outcome.
create function private.apply_delivery(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, unsigned
  p_body jsonb, -- null: nested too deep to be read
  p_deliveries integer -- 0: reconciliation asked for it, the gateway did not deliver it
)
returns private.delivery
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subject_id text;
  v_event private.gateway_events;
  v_error text;
  v_set text;
  v_delivery private.delivery;
begin
  v_delivery.is_applied := true;
  select * into v_event from private.gateway_events e where e.body_sha256 = p_body_sha256;
  if found and p_deliveries > 0 then
    update private.gateway_events e
    set deliveries = e.deliveries + p_deliveries
    where e.body_sha256 = p_body_sha256
    returning * into v_event;
  end if;

  if v_event.body_sha256 is null then
    v_subject_id := left(
      coalesce(
        p_body #>> '{payload,subscription,entity,id}',
        p_body #>> '{payload,payment,entity,order_id}',
        p_body #>> '{payload,order,entity,id}',
        p_body #>> '{payload,dispute,entity,payment_id}',
        p_body #>> '{payload,payment,entity,id}',
        p_body #>> '{payload,refund,entity,payment_id}'
      ),
      200
    );
    v_set := set_config('subscriptions.cause', coalesce(p_body ->> 'event', ''), true);
    v_set := set_config('subscriptions.reference', coalesce(v_subject_id, encode(p_body_sha256, 'hex')), true);
    v_set := set_config('subscriptions.user_deleted', '', true);
    begin
      v_delivery.outcome := private.apply_event(p_body, p_body_sha256, v_now);
      insert into private.gateway_events (
        body_sha256, event_id, event, subject_id, event_at, payload, reduce_at, outcome, deliveries, attempts, received_at
      )
      values (
        p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id,
        case when p_body ->> 'event' like 'subscription.%' then private.event_time(p_body) end,
        case
          when current_setting('subscriptions.user_deleted') = 'on' then private.stored_payload(p_body, v_delivery.outcome)
          else p_body
        end,
        case
          when v_delivery.outcome = 'unmatched' or v_delivery.outcome like 'ignored: %' then v_now + interval '1 day'
        end,
        v_delivery.outcome, p_deliveries, 1, v_now
      )
      on conflict (body_sha256) do nothing;
      if not found then
        raise exception 'delivered twice at once' using errcode = 'PS409';
      end if;
      if v_delivery.outcome <> 'applied' and private.can_be_reapplied(p_body ->> 'event', v_delivery.outcome) then
        perform private.note_unsettled(p_body_sha256, true);
      end if;
      return v_delivery;
    exception
      when others then
        if not private.is_error_of_event(sqlstate) then
          raise;
        end if;
        v_error := nullif(sqlstate, 'PS409');
    end;

    -- The effect was undone: the event failed, or another delivery of it came first.
    insert into private.gateway_events as e (
      body_sha256, event_id, event, subject_id, event_at, payload, outcome, error, deliveries, attempts, received_at
    )
    values (
      p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id, private.event_time(p_body),
      case
        when private.is_about_deleted_user(p_body, v_subject_id) then private.stored_payload(p_body, 'failed: ' || v_error)
        else p_body
      end,
      'failed: ' || v_error, v_error, p_deliveries, 1, v_now
    )
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning * into v_event;
    if v_error is not null and v_event.error is not distinct from v_error then
      perform private.note_unsettled(p_body_sha256, true);
      v_delivery.outcome := v_event.outcome;
      return v_delivery;
    end if;
  end if;

  -- An event without an effect is applied again. An unmatched subscription event waits in the mirror.
  if v_event.outcome like 'failed: %'
    or v_event.outcome = 'plan_not_found'
    or v_event.outcome = 'unmatched' and v_event.event not like 'subscription.%'
  then
    -- The ledger's copy may be emptied.
    v_event.payload := coalesce(v_event.payload, p_body);
    v_delivery.outcome := private.apply_recorded_event(v_event);
  else
    v_delivery.outcome := v_event.outcome;
    v_delivery.is_applied := false;
  end if;
  return v_delivery;
end
$$;
grant execute on function private.apply_delivery(bytea, text, jsonb, integer) to service_role;

-- API: service_role only.
create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, unsigned
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to be read
  p_account_id text default null -- the account whose events count; null: all
)
returns jsonb -- {outcome}: see private.gateway_events.outcome; "failed: …" asks for another delivery
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_set text;
  v_outcome text;
begin
  if v_body ->> 'account_id' <> p_account_id then
    -- Without the payload, which holds personal data of another business's customers.
    insert into private.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, private.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome);
  end if;
  -- As private.begin_request; the event is the cause.
  v_set := set_config('subscriptions.request', 'on', true);
  v_outcome := (private.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome;
  return jsonb_build_object('outcome', v_outcome);
end
$$;
comment on function public.apply_gateway_event(text, text, text, text) is
  'Records a signed delivery in the ledger and applies its event; a repeat answers the first one''s outcome.';
revoke execute on function public.apply_gateway_event(text, text, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_event(text, text, text, text) to service_role;

-- Applies events again: when the order or payment that they are about is stored, when the plan is there, or when an admin
-- asks for it.

-- Events about an order that is stored now.
-- Security definer: an app that inserts its payments itself has no rights on the ledger.
create function private.replay_order_events()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_subject_id constant text := left(new.gateway_order_id, 200);
  v_event private.gateway_events;
begin
  -- Usually no event waits: this test costs a third of the loop.
  if not exists (
    select
    from private.gateway_events e
    where e.subject_id = v_subject_id
      and e.outcome = 'unmatched'
  ) then
    return null;
  end if;
  for v_event in
    select e.*
    from private.gateway_events e
    where e.subject_id = v_subject_id
      and e.outcome = 'unmatched'
      and e.event not like 'subscription.%'
      and e.payload is not null
    order by e.received_at
    -- A transaction that holds one waits for the payment and then finds it.
    for update skip locked
  loop
    perform private.apply_recorded_event(v_event);
  end loop;
  return null;
end
$$;

create trigger replay_order_events
after insert on public.payments
for each row
when (new.gateway_order_id is not null)
execute function private.replay_order_events();

create trigger replay_events_of_new_order
after update of gateway_order_id on public.payments
for each row
when (new.gateway_order_id is distinct from old.gateway_order_id and new.gateway_order_id is not null)
execute function private.replay_order_events();

-- Events that arrived while their order was being stored: neither transaction saw the other's row, so the trigger did not
-- find them. It has seen every event older than a day. Also events that waited for their plan or, as disputes do, for the
-- payment.
create function private.replay_missed_events()
returns integer -- how many were applied
language plpgsql
set search_path = ''
as $$
declare
  v_missed record;
  v_applied integer := 0;
begin
  for v_missed in
    select e as event, missed.user_id
    from (
      select u.body_sha256, p.user_id
      from private.gateway_events u
      join public.payments p on u.subject_id in (p.gateway_order_id, p.gateway_payment_id)
      where u.received_at > private.clock() - interval '1 day'
        and u.payload is not null
        and u.outcome = 'unmatched'
        and u.event not like 'subscription.%'
        and u.attempts < 3
      union
      select w.body_sha256, p.user_id
      from private.unsettled_events t
      join private.gateway_events w on w.body_sha256 = t.body_sha256
      join public.payments p on w.subject_id in (p.gateway_order_id, p.gateway_payment_id)
      where w.payload is not null
        and (
          w.outcome = 'plan_not_found'
          and p.fulfilled_at is null
          and (private.plan_bought(p)).id is not null
          or w.outcome = 'unmatched'
        )
    ) missed
    join private.gateway_events e on e.body_sha256 = missed.body_sha256
    order by missed.user_id, e.received_at
    limit 100
    for update of e skip locked
  loop
    begin
      perform from auth.users u where u.id = v_missed.user_id for no key update nowait;
      perform private.apply_recorded_event(v_missed.event);
      v_applied := v_applied + 1;
    exception
      -- Another transaction has locked the user: the next run applies the event.
      when lock_not_available then
        null;
    end;
  end loop;
  return v_applied;
end
$$;

-- For an admin who repaired the cause: applies an event of the ledger again.
create function private.replay_event(
  p_body_sha256 bytea
)
returns text -- its outcome; null: there is no such event
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  select * into v_event from private.gateway_events e where e.body_sha256 = p_body_sha256 for update;
  if not found then
    return null;
  end if;
  -- A subscription event that had its effect must not have it again: one without a time would count as new.
  if v_event.payload is null or v_event.event like 'subscription.%' and v_event.outcome in ('applied', 'stale') then
    return v_event.outcome;
  end if;
  return private.apply_recorded_event(v_event);
end
$$;

-- The final outcome of an event that is older than 90 days.
create function private.final_outcome(
  p_event private.gateway_events
)
returns text -- null: it still waits
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when not private.is_waiting(p_event.event, p_event.outcome) then p_event.outcome
    when private.is_deleted(private.json_uuid(p_event.payload #> '{payload,subscription,entity,notes,user_id}'))
      then 'ignored: user deleted'
    -- The payment of a cycle, whose charge is known, waits for no order.
    when p_event.event = 'payment.captured' and p_event.outcome = 'unmatched' and exists (
      select
      from private.gateway_charges c
      where c.gateway_payment_id = p_event.payload #>> '{payload,payment,entity,id}'
        and c.gateway_payment_id <> ''
    ) then 'already'
  end;
end
$$;

-- Reduces the payloads of events that no link ties to a user of ours, a day after they came and a batch at a time: they may
-- be about a deleted user, such as the capture of a cycle that was charged after the deletion, or about a customer of
-- another app.
create function private.reduce_payloads()
returns integer -- how many were reduced; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_reduced integer;
begin
  with unlinked as materialized (
    select e.body_sha256, private.stored_payload(e.payload, e.outcome) as payload
    from private.gateway_events e
    where e.reduce_at < private.clock()
    order by e.reduce_at
    limit 1000
    for update skip locked
  )
  update private.gateway_events e
  set payload = u.payload,
    reduce_at = null
  from unlinked u
  where e.body_sha256 = u.body_sha256;
  get diagnostics v_reduced = row_count;
  return v_reduced;
end
$$;

-- Empties the payloads of the ledger after 90 days, a batch at a time. What decides stays: hash, ids, outcome. An event
-- that still waits keeps the fields that it needs.
create function private.empty_payloads()
returns integer -- how many were emptied or reduced; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_emptied integer;
begin
  with old as materialized (
    select
      e.body_sha256,
      final.outcome,
      case
        when final.outcome is null
          then private.stored_payload(e.payload, e.outcome) #- '{payload,payment,entity,error_description}'
      end as payload
    from private.gateway_events e
    cross join lateral (select private.final_outcome(e) as outcome) final
    where e.received_at < private.clock() - interval '90 days'
      and e.payload is not null
      and (
        final.outcome is not null
        or not e.payload ? 'reduced'
        or e.payload #> '{payload,payment,entity,error_description}' is not null
      )
    order by e.received_at
    limit 1000
    for update of e skip locked
  ),
  settled as (
    delete from private.unsettled_events u
    using old
    where u.body_sha256 = old.body_sha256
      and old.outcome is not null
  )
  update private.gateway_events e
  set payload = old.payload,
    outcome = coalesce(old.outcome, e.outcome)
  from old
  where e.body_sha256 = old.body_sha256;
  get diagnostics v_emptied = row_count;
  return v_emptied;
end
$$;

-- 90 days after a user was deleted nothing of the user is left in any table.

-- Empties the payloads of the events about payments whose user was deleted 90 days ago: some arrived after the deletion.
create function private.empty_payloads_of_deleted()
returns integer -- of how many payments
language plpgsql
set search_path = ''
as $$
declare
  v_done integer;
begin
  with gone as materialized (
    select p.id, p.gateway_order_id, p.gateway_payment_id
    from public.payments p
    where p.user_deleted_at < private.clock() - interval '90 days'
    order by p.user_deleted_at
    limit 1000
    for no key update skip locked
  ),
  emptied as (
    update private.gateway_events e
    set payload = null,
      outcome = case when private.is_waiting(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
    from gone
    cross join lateral (
      values (gone.gateway_order_id), (gone.gateway_payment_id)
    ) subject (id)
    where e.subject_id = left(subject.id, 200)
      and e.payload is not null
    returning e.body_sha256
  ),
  settled as (
    delete from private.unsettled_events u
    using emptied
    where u.body_sha256 = emptied.body_sha256
  )
  update public.payments p
  set user_deleted_at = null
  from gone
  where p.id = gone.id;
  get diagnostics v_done = row_count;
  return v_done;
end
$$;

-- Erases what is left of users deleted more than 90 days ago: mirror, tier changes, events that still wait, the id itself.
-- The rest needs no job of its own: foreign keys delete at once what belongs to the user alone, a payment loses its meta
-- with its user, private.empty_payloads and private.delete_mails keep nothing of before the deletion longer than 90 days. Payments stay for the
-- accounts, with amounts, times and the gateway's ids.
create function private.erase_deleted_users()
returns integer -- how many users and payments were looked at; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted record;
  v_done integer;
begin
  v_done := private.empty_payloads_of_deleted();
  for v_deleted in
    select d.user_id, d.deleted_at
    from private.deleted_users d
    where d.erased_at is null
      and d.deleted_at < private.clock() - interval '90 days'
    order by d.deleted_at
    limit 100
    for update skip locked
  loop
    v_done := v_done + 1;
    perform private.lock_missing_user(v_deleted.user_id);
    delete from private.deleted_users d where d.user_id = v_deleted.user_id;
    -- Restored since, from a backup or by an import: nothing is to be erased.
    continue when exists (select from auth.users u where u.id = v_deleted.user_id);

    with emptied as (
      update private.gateway_events e
      set payload = null,
        outcome = case when private.is_waiting(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
      from private.gateway_subscriptions m
      where m.user_id = v_deleted.user_id
        and m.gateway_subscription_id <> ''
        and e.subject_id = left(m.gateway_subscription_id, 200)
        and e.payload is not null
      returning e.body_sha256
    )
    delete from private.unsettled_events u
    using emptied
    where u.body_sha256 = emptied.body_sha256;
    -- Refunds, charges, mirror: the order in which private.apply_refund locks them.
    delete from private.refunds r
    using private.gateway_charges c
    where c.user_id = v_deleted.user_id
      and c.gateway_payment_id <> ''
      and r.gateway_payment_id = c.gateway_payment_id;
    delete from private.gateway_charges c where c.user_id = v_deleted.user_id;
    delete from private.gateway_subscriptions m where m.user_id = v_deleted.user_id;
    delete from private.tier_changes c where c.user_id = v_deleted.user_id;

    insert into private.deleted_users (user_id, deleted_at, erased_at)
    values (private.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, private.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end
$$;
