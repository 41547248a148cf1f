-- Support actions: an inserted row is carried out, and stays as the audit trail. The role of support, which reads what the
-- console shows and inserts support actions, nothing else. Operations: "Support actions", "Support role".

create function billing.require(p_is_met boolean, p_errcode text, p_message text)
returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$ begin if p_is_met is not true then raise exception using errcode = p_errcode, message = p_message; end if; end $$;

-- Finds a payment by its id, the gateway's order id, or a gateway's payment id. Null: there is none.
create function billing.payment_id_of(p_reference text)
returns uuid language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select p.id from public.payments p where p.id = billing.json_uuid(to_jsonb(p_reference))),
    (select p.id from public.payments p where p.gateway_order_id = p_reference),
    (select p.id from public.payments p where p.gateway_payment_id = p_reference)
  );
end $$;

create type billing.support_action as enum (
  'grant', 'revoke_grant', 'end_access', 'refund', 'cancel', 'resume', 'reissue', 'requeue_mail', 'replay_event', 'ignore_event',
  'reconcile_now', 'note'
);

-- No foreign key: the trail outlives the user. The defaults are for forms, which else ask for what the triggers write.
create table billing.support_actions (
  id bigint generated always as identity primary key,
  action billing.support_action not null,
  email text,
  tier text,
  until timestamptz,
  reference text,
  entitlements jsonb
    constraint support_actions_entitlements_check check (entitlements is null or action = 'grant'),
  amount bigint,
  at_period_end boolean
    constraint support_actions_at_period_end_check check (at_period_end is null or action = 'cancel'),
  reason text not null constraint support_actions_reason_check check (reason ~ '\S'),
  actor text not null default current_user,
  actor_email text,
  created_at timestamptz not null default now(),
  user_id uuid,
  result text not null default '',
  corrects_seller boolean
    constraint support_actions_corrects_seller_check check (corrects_seller is null or action = 'reissue')
);
alter table billing.support_actions enable row level security;
create index support_actions_user_id_idx on billing.support_actions (user_id);
create index support_actions_reference_idx on billing.support_actions (reference) where reference is not null;
comment on table billing.support_actions is
  'What admins did for customers. Insert a row to do it: action, email, reason, and what the action needs. Triggers carry '
  'it out and write actor, time and result, or raise an error and write nothing. Rows are never changed.';
comment on column billing.support_actions.action is
  'grant (tier, until, perhaps entitlements), revoke_grant (reference: id of the grant), end_access (reference: payment), refund (reference: payment, perhaps amount), '
  'cancel (perhaps at_period_end) and resume all that the customer pays for, reissue (reference: number of a receipt, perhaps corrects_seller), requeue_mail '
  '(reference: id of the message), replay_event and ignore_event (reference: body_sha256 of the webhook), reconcile_now '
  '(reference: order, payment or subscription; without one all of the customer), note.';
comment on column billing.support_actions.email is 'The customer''s address or id, unless the reference names one.';
comment on column billing.support_actions.entitlements is 'Of a grant, beside those of its plan: {"projects": 25}.';
comment on column billing.support_actions.amount is 'Of a refund, in minor units. Null: all that is left.';
comment on column billing.support_actions.at_period_end is
  'Of a cancellation: true or null: when the paid period ends; false: now.';
comment on column billing.support_actions.corrects_seller is
  'Of a reissue: true: the settings had a mistake, and those of today are right; false or null: they were right then.';
comment on column billing.support_actions.reference is 'What it is about. A note about missed_webhook, unmailed_payment, refund_failed, returned_too_much or a document ends it.';
comment on column billing.support_actions.actor is 'The role that inserted the row: of a direct connection its login.';
comment on column billing.support_actions.actor_email is 'The address in the session''s JWT, if it came through the API.';
comment on column billing.support_actions.user_id is 'The customer. Erased with the address 90 days after the user.';

-- Security invoker: only then is current_user the role of the caller. Runs before perform_action, in the order of names.
-- A direct connection may switch its role and set any claims, so its login role counts. The API logs in as authenticator, in
-- the local stack as a superuser, and sets the role and the claims of a verified token.
create function billing.note_actor()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_is_api constant boolean := session_user = 'authenticator'
    or (select r.rolsuper from pg_catalog.pg_roles r where r.rolname = session_user);
begin
  new.actor := case when v_is_api then current_user else session_user end;
  new.actor_email := case
    when v_is_api then nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'
  end;
  return new;
end $$;

create trigger note_actor
before insert on billing.support_actions
for each row execute function billing.note_actor();

-- Rows are never changed or deleted, except that the data of a deleted user is erased.
create function billing.keep_support_action()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_erased billing.support_actions;
begin
  if tg_op = 'UPDATE' then
    v_erased := old;
    v_erased.email := null;
    v_erased.user_id := null;
    v_erased.reason := 'erased with the user';
    if new is not distinct from v_erased and not exists (select from billing.find_user(old.user_id)) then
      return new;
    end if;
  end if;
  raise exception 'support actions are never changed or deleted: insert another one' using errcode = 'PS409';
end $$;

create trigger keep_support_action
before update or delete on billing.support_actions
for each row execute function billing.keep_support_action();

create trigger keep_support_actions
before truncate on billing.support_actions
for each statement execute function billing.keep_support_action();

-- Returns the number that a reference is. Null: it is no number.
create function billing.number_of(p_reference text)
returns bigint language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case when p_reference ~ '^[0-9]{1,18}$' then p_reference::bigint end; end $$;

-- Returns the customer of a side effect: of the subscription that it cancels, of the payment that it refunds, or with the
-- address of the mail, or that the event is about.
create function billing.user_of_message(p_message billing.outbox)
returns uuid language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_message.destination
    when 'gateway' then billing.user_of_subject(
      coalesce(p_message.payload ->> 'gateway_subscription_id', p_message.payload ->> 'gateway_payment_id')
    )
    when 'event' then billing.json_uuid(p_message.payload #> '{data,user_id}')
    else (select u.user_id from billing.users u where u.email = p_message.payload ->> 'to' limit 1)
  end;
end $$;

-- The functions that carry out an action: each checks it, and returns it with its reference, user and result.

-- Returns whether the actor has the rights of the tables' owner: the limits of support do not apply.
create function billing.acts_as_owner(p_action billing.support_actions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return pg_has_role(
    p_action.actor, (select c.relowner from pg_catalog.pg_class c where c.oid = 'billing.support_actions'::regclass), 'member'
  );
end $$;

create function billing.check_grant_limits(p_action billing.support_actions)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_limits billing.settings;
begin
  if billing.acts_as_owner(p_action) then return; end if;
  select * into v_limits from billing.settings;
  perform billing.require(
    v_limits.support_grant_days is null
      or p_action.until <= billing.clock() + make_interval(hours => 24 * v_limits.support_grant_days),
    'PS403', format('support may grant %s days at most: the setting support_grant_days', v_limits.support_grant_days)
  );
  perform billing.require(
    v_limits.support_grant_tier is null
      or p_action.entitlements is null and exists (
        select from public.plans p
        join public.plans most on most.tier = v_limits.support_grant_tier and most.lookup_key is null
        where p.tier = p_action.tier and p.lookup_key is null and billing.rank_of(p) <= billing.rank_of(most)
      ),
    'PS403', format(
      'support may grant %s at most, without entitlements: the setting support_grant_tier', v_limits.support_grant_tier
    )
  );
end $$;

-- Grants a tier without a payment, until a given time. Paid access continues below the grant.
create function billing.perform_grant(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_email constant text := billing.lock_user(p_action.user_id);
  v_grant billing.grants;
begin
  perform billing.require(p_action.user_id is not null, 'PS400', 'grant needs email: the customer''s e-mail address or id');
  perform billing.require(v_email is not null, 'PS404', 'grant needs email: the customer was deleted');
  perform billing.require(
    exists (select from public.plans p where p.tier = p_action.tier), 'PS400',
    format('grant needs tier: "%s" is no tier of public.plans', p_action.tier)
  );
  -- What follows from it, such as the credit of an order, could not be calculated of an infinite or distant end.
  perform billing.require(
    p_action.until > billing.clock() and p_action.until <= billing.clock() + interval '100 years', 'PS400',
    'grant needs until: a time in the future, at most 100 years ahead'
  );
  perform billing.check_grant_limits(p_action);
  select * into v_grant
  from billing.grants g
  where g.user_id = p_action.user_id and g.tier = p_action.tier and g.ended_at is null and g.until >= p_action.until
    and g.entitlements is not distinct from p_action.entitlements
  order by g.id desc
  limit 1;
  perform billing.require(
    v_grant.id is null, 'PS409',
    format('grant %s gives %s until %s already', v_grant.id, v_grant.tier, billing.iso_time(v_grant.until))
  );
  perform billing.note_cause('grant', p_action.reason);
  insert into billing.grants (user_id, tier, until, reason, entitlements, at)
  values (
    p_action.user_id, p_action.tier, date_trunc('milliseconds', p_action.until), p_action.reason, p_action.entitlements,
    greatest(
      billing.clock(),
      (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_action.user_id)
    )
  )
  returning id into p_action.reference;
  perform billing.settle_access(p_action.user_id, v_email);
  p_action.result := format(
    'Grant %s gives %s until %s.', p_action.reference, p_action.tier, billing.day_text(p_action.until)
  );
  return p_action;
end $$;

-- Ends the grant with the id in reference, else the only one of the customer that runs. The next running source takes over.
create function billing.perform_revoke_grant(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_grants billing.grants[];
  v_email text;
begin
  select array_agg(g) into v_grants
  from billing.grants g
  where g.id = billing.number_of(p_action.reference)
    and g.user_id = coalesce(p_action.user_id, g.user_id)
    or p_action.reference is null
    and g.user_id = p_action.user_id
    and g.ended_at is null
    and g.until > billing.clock();
  perform billing.require(v_grants is not null, 'PS404', 'revoke_grant needs reference: no such grant of this customer');
  perform billing.require(
    cardinality(v_grants) = 1, 'PS400',
    format('revoke_grant needs reference: %s grants of this customer run', cardinality(v_grants))
  );
  p_action.reference := v_grants[1].id;
  p_action.user_id := v_grants[1].user_id;
  v_email := billing.lock_user(p_action.user_id);
  update billing.grants g
  set ended_at = billing.clock(), ended_reason = 'revoked'
  where g.id = v_grants[1].id and g.ended_at is null;
  perform billing.require(found, 'PS409', format('grant %s ended before', v_grants[1].id));
  perform billing.note_cause('grant revoked', p_action.reference);
  perform billing.settle_access(p_action.user_id, v_email);
  p_action.result := format('Grant %s of %s ended.', v_grants[1].id, v_grants[1].tier);
  return p_action;
end $$;

-- Ends the access that a payment gives, such as after a lost dispute. The next running source takes over.
create function billing.perform_end_access(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment public.payments;
  v_email text;
  v_reason text;
begin
  select * into v_payment
  from public.payments p
  where p.id = billing.payment_id_of(p_action.reference)
    and p.gateway_subscription_id is null
    and p.user_id = coalesce(p_action.user_id, p.user_id);
  perform billing.require(v_payment.id is not null, 'PS404', format(
    'end_access needs reference: no payment "%s" of this customer. To end a grant, use revoke_grant. A subscription that '
      'the gateway bills is cancelled at the gateway', p_action.reference
  ));
  p_action.user_id := v_payment.user_id;
  v_email := billing.lock_user(p_action.user_id);
  v_reason := case when billing.lost_amount(v_payment.gateway_payment_id) > 0 then 'dispute_lost' else 'ended_by_admin' end;
  update public.payments p
  set ended_at = billing.clock(), ended_reason = v_reason
  where p.id = v_payment.id and p.fulfilled_at is not null and p.ended_at is null;
  perform billing.require(
    found, 'PS409', format('payment %s gives no access, or its access ended before', p_action.reference)
  );
  perform billing.note_cause(v_reason, v_payment.gateway_payment_id);
  perform billing.settle_payment(v_payment, v_email);
  p_action.result := format('The access of payment %s ended.', coalesce(v_payment.gateway_payment_id, v_payment.id::text));
  return p_action;
end $$;

-- Returns what a refund of all that is left of a payment changes of what the gateway charges.
create function billing.refund_effect(p_payment public.payments)
-- uncovers_credit: also of a part, because a later purchase got a credit for it; ends_renewal; resumes_replaced: a subscription
-- that it replaced is charged again; null: nothing
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_payment.extra_of is not null then null
    when exists (select from billing.purchases_on_credit(p_payment)) then 'uncovers_credit'
    when p_payment.gateway_subscription_id is not null then null
    when exists (
      select from billing.next_charge(p_payment.user_id) n
      join billing.gateway_subscriptions m
        on m.user_id = n.user_id
        and m.gateway_subscription_id = n.id
        and m.payment_id = p_payment.id
      where n.kind <> 'subscription'
    ) then 'ends_renewal'
    when exists (
      select from billing.stoppable s
      where s.user_id = p_payment.user_id
        and s.is_open
        and s.stops_at is not null
        and not billing.is_stop_sent(s.gateway_subscription_id)
        and (billing.find_stop(s, p_without => p_payment.id::text)).stops_at is null
    ) then 'resumes_replaced'
  end;
end $$;

-- Asks the gateway for a refund: of all that is left, or of a part. Access follows from the refund, as from any other.
create function billing.perform_refund(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant uuid := billing.payment_id_of(p_action.reference);
  v_payment public.payments;
  v_left bigint;
  v_most bigint;
  v_effect text;
begin
  perform billing.require(p_action.reference is not null, 'PS400', 'refund needs reference: the payment');
  perform billing.require((p_action.amount > 0) is not false, 'PS400', 'refund needs an amount above 0');
  select * into v_payment
  from public.payments p
  where p.id = v_id and p.user_id is not distinct from coalesce(p_action.user_id, p.user_id);
  perform billing.require(
    v_payment.id is not null, 'PS404', format('refund needs reference: no payment "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    v_payment.status = 'captured' and v_payment.gateway_payment_id is not null, 'PS409',
    format('payment %s was not captured', p_action.reference)
  );
  -- Two at once would each find all of it left. Read again by the gateway's id: of two payments on an order the other one
  -- may count by now.
  perform billing.lock_gateway_payment(v_payment.gateway_payment_id);
  select * into v_payment from public.payments p where p.gateway_payment_id = v_payment.gateway_payment_id;
  v_left := billing.refundable_amount(v_payment);
  p_action.amount := coalesce(p_action.amount, v_left);
  perform billing.require(
    p_action.amount between 1 and v_left, 'PS409',
    format(
      'of payment %s %s can be refunded: the rest was refunded or asked for before', v_payment.gateway_payment_id,
      billing.amount_text(v_left, v_payment.currency)
    )
  );
  perform billing.require(
    p_action.amount >= 100, 'PS400',
    format('the gateway refunds %s at least', billing.amount_text(100, v_payment.currency))
  );
  if not billing.acts_as_owner(p_action) then
    select s.support_refund_amount into v_most from billing.settings s;
    perform billing.require(
      v_most is null or v_most >= p_action.amount + (
        select coalesce(sum(r.amount), 0)
        from billing.refund_requests r
        where r.payment_id = v_payment.id and r.status <> 'failed'
      ),
      'PS403', format(
        'support may refund %s of a payment at most: the setting support_refund_amount',
        billing.amount_text(v_most, v_payment.currency)
      )
    );
  end if;
  p_action.reference := v_payment.gateway_payment_id;
  p_action.user_id := v_payment.user_id;
  v_effect := billing.refund_effect(v_payment);
  perform billing.enqueue(
    'refund-' || gen_random_uuid(), 'gateway', 'refund',
    jsonb_build_object(
      'gateway_payment_id', v_payment.gateway_payment_id, 'amount', p_action.amount, 'currency', v_payment.currency,
      'support_action', p_action.id::text
    )
  );
  p_action.result := format(
    'The gateway is asked to refund %s of payment %s. %s%s',
    billing.amount_text(p_action.amount, v_payment.currency), v_payment.gateway_payment_id,
    (
      select format('Dispute %s of it is open: if it is lost, the money is gone twice. ', min(d.dispute_id))
      from billing.disputes d
      where d.gateway_payment_id = v_payment.gateway_payment_id and billing.decision_rank(d.status) = 0
      having count(*) > 0
    ),
    case
      when v_payment.extra_of is not null then 'Access does not depend on it.'
      when v_effect = 'uncovers_credit' then (
        select format(
          'Access stays: its unused time was credited to payment %s, which is not covered then (unearned_credit). ',
          string_agg(p.gateway_payment_id, ', ' order by p.fulfilled_at)
        )
        from billing.purchases_on_credit(v_payment) p
      ) || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when p_action.amount < v_left then 'Access stays.'
      when v_payment.gateway_subscription_id is not null
        then 'The paid time of its cycle ends when the refund is processed. '
          || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when v_effect = 'ends_renewal' then 'Its access and its renewal end when the refund is processed.'
      when v_effect = 'resumes_replaced' then 'Its access ends when the refund is processed, and what it replaced goes on.'
      else 'Its access ends when the refund is processed. ' || coalesce(billing.next_charge_text(v_payment.user_id), '')
    end
  );
  return p_action;
end $$;

-- Returns in one sentence what the gateway charges a customer next.
create function billing.next_charge_text(p_user_id uuid)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant billing.commitment := billing.next_charge(p_user_id);
begin
  if v_next.id is null then return 'Nothing is charged next.'; end if;
  return format(
    'Next charge: %s on %s.', billing.amount_text((v_next.sold).amount, (v_next.sold).currency), billing.day_text(v_next.charge_at)
  );
end $$;

-- Cancels all that a customer pays for, as the customer would: what gives access, and what the gateway may still charge.
create function billing.perform_cancel(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_cancelled jsonb;
begin
  perform billing.require(p_action.user_id is not null, 'PS400', 'cancel needs email: the customer''s e-mail address or id');
  p_action.at_period_end := coalesce(p_action.at_period_end, true);
  v_cancelled := public.cancel_subscription(p_action.user_id, p_action.at_period_end);
  perform billing.require(
    v_cancelled ->> 'outcome' = 'cancelled', 'PS404', 'nothing to cancel: nothing gives access, and nothing can be charged'
  );
  -- No request sends what it enqueued.
  perform set_config('subscriptions.request', '', true);
  perform billing.wake();
  p_action.result := case
    when v_cancelled #>> '{subscription,status}' = 'active'
      then 'Access ends on ' || billing.day_text((v_cancelled #>> '{subscription,current_period_end}')::timestamptz) || '. '
    else 'Access has ended. '
  end || billing.next_charge_text(p_action.user_id);
  return p_action;
end $$;

create function billing.perform_resume(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- As in public.resume_subscription: without a cancellation it changes nothing, and support is to know that.
  v_is_cancelled constant boolean := exists (select from billing.ends_wished w where w.user_id = p_action.user_id)
    or exists (select from public.subscriptions s where s.user_id = p_action.user_id and s.cancel_at_period_end);
  v_outcome text;
begin
  perform billing.require(p_action.user_id is not null, 'PS400', 'resume needs email: the customer''s e-mail address or id');
  v_outcome := public.resume_subscription(p_action.user_id) ->> 'outcome';
  perform billing.require(v_outcome <> 'subscription_not_found', 'PS404', 'nothing to resume');
  perform billing.require(
    v_outcome = 'resumed' and v_is_cancelled, 'PS409', 'nothing was cancelled for the end of a period, or the gateway has the cancellation already'
  );
  perform set_config('subscriptions.request', '', true);
  perform billing.wake();
  p_action.result := 'Resumed. ' || billing.next_charge_text(p_action.user_id);
  return p_action;
end $$;

create function billing.perform_requeue_mail(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_row billing.outbox;
  v_obstacle text;
begin
  select * into v_row
  from billing.outbox o
  where o.id = billing.number_of(p_action.reference) or o.key = p_action.reference
  for update;
  perform billing.require(
    v_row.id is not null, 'PS404', format('requeue_mail needs reference: no message "%s"', p_action.reference)
  );
  v_obstacle := case
    when v_row.delivered_at is not null then format('was delivered at %s', billing.iso_time(v_row.delivered_at))
    when v_row.parked_at is not null and v_row.last_error = 'withdrawn' then 'was withdrawn'
    when v_row.parked_at is null and v_row.attempts = 0
      then format('is queued already, for %s', billing.iso_time(v_row.next_attempt_at))
    when not billing.requeue(v_row.id) then 'cannot be sent: that much of the payment is no longer left to refund'
  end;
  perform billing.require(v_obstacle is null, 'PS409', format('message %s %s', v_row.id, v_obstacle));
  p_action.reference := v_row.id;
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_message(v_row));
  p_action.result := format('Message %s (%s) is queued again.', v_row.id, v_row.kind);
  return p_action;
end $$;

-- replay_event applies an event of the ledger again. ignore_event stops waiting for its effect.
create function billing.perform_event(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_by_admin constant text := 'ignored: by an admin';
  v_event billing.gateway_events;
begin
  select * into v_event
  from billing.gateway_events e
  where e.body_sha256 = decode(substring(p_action.reference from '^(?:\\x)?([0-9a-fA-F]{64})$'), 'hex')
  for update;
  perform billing.require(
    v_event.body_sha256 is not null, 'PS404', p_action.action || ' needs reference: the body_sha256 of a webhook'
  );
  perform billing.require(
    billing.can_be_reapplied(v_event.event, v_event.outcome)
      or v_event.outcome = 'unmatched'
      or p_action.action = 'replay_event' and v_event.outcome = v_by_admin,
    'PS409', 'the outcome of this webhook is final: ' || v_event.outcome
  );
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_subject(v_event.subject_id));
  if p_action.action = 'ignore_event' then
    update billing.gateway_events e set outcome = v_by_admin, error = null where e.body_sha256 = v_event.body_sha256;
    delete from billing.unsettled_events u where u.body_sha256 = v_event.body_sha256;
    p_action.result := format('%s is ignored. It was: %s.', v_event.event, v_event.outcome);
    return p_action;
  end if;
  perform billing.require(v_event.payload is not null, 'PS409', 'the body of this webhook was deleted');
  p_action.result := format('%s was applied again: %s.', v_event.event, billing.replay_event(v_event.body_sha256));
  return p_action;
end $$;

create function billing.perform_reconcile_now(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_orders integer;
  v_subscriptions integer;
  v_payment_id constant uuid := billing.payment_id_of(p_action.reference);
begin
  perform billing.require(
    num_nonnulls(p_action.user_id, p_action.reference) > 0, 'PS400', 'reconcile_now needs email or reference'
  );
  p_action.user_id := coalesce(
    p_action.user_id,
    (select p.user_id from public.payments p where p.id = v_payment_id),
    (select m.user_id from billing.gateway_subscriptions m where m.gateway_subscription_id = p_action.reference limit 1)
  );
  perform billing.lock_user(p_action.user_id);
  update public.payments p
  set next_reconcile_at = billing.clock()
  where p.user_id = p_action.user_id
    and (p_action.reference is null or p.id = v_payment_id)
    and p.gateway_order_id is not null
    and not billing.is_settled(p)
    -- The gateway does not keep an unpaid order for long.
    and (p_action.reference is not null or p.created_at > billing.clock() - interval '30 days');
  get diagnostics v_orders = row_count;
  update billing.gateway_subscriptions m
  set next_check_at = '-infinity'
  where m.user_id = p_action.user_id
    and (p_action.reference is null or m.gateway_subscription_id = p_action.reference)
    and m.gateway_subscription_id <> ''
    and m.status is distinct from 'cancelled';
  get diagnostics v_subscriptions = row_count;
  perform billing.require(
    v_orders + v_subscriptions > 0, 'PS404',
    'nothing to reconcile: no open order and no running subscription' || coalesce(' "' || p_action.reference || '"', '')
  );
  perform billing.call_function('/api/internal/reconcile');
  p_action.result := format('Orders to read: %s. Subscriptions to read: %s.', v_orders, v_subscriptions);
  return p_action;
end $$;

-- Security definer: a role of support may insert the row, and nothing else.
create function billing.perform_action()
returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
begin
  perform billing.require(new.reason ~ '\S', 'PS400', 'a support action needs a reason');
  new.created_at := billing.clock();
  new.reference := nullif(btrim(new.reference), '');
  new.email := nullif(btrim(new.email), '');
  new.user_id := case when new.email is not null then billing.user_id_of(new.email) end;
  case new.action
    when 'grant' then new := billing.perform_grant(new);
    when 'revoke_grant' then new := billing.perform_revoke_grant(new);
    when 'end_access' then new := billing.perform_end_access(new);
    when 'refund' then new := billing.perform_refund(new);
    when 'cancel' then new := billing.perform_cancel(new);
    when 'resume' then new := billing.perform_resume(new);
    when 'reissue' then new := billing.perform_reissue(new);
    when 'requeue_mail' then new := billing.perform_requeue_mail(new);
    when 'reconcile_now' then new := billing.perform_reconcile_now(new);
    when 'note' then
      perform billing.require(num_nonnulls(new.user_id, new.reference) > 0, 'PS400', 'note needs email or reference');
      new.result := 'Noted.';
    else new := billing.perform_event(new);
  end case;
  new.email := (select u.email from billing.users u where u.user_id = new.user_id);
  return new;
end $$;

create trigger perform_action
before insert on billing.support_actions
for each row execute function billing.perform_action();

-- What the role reads: of the app what is about plans, access and payments, and all of the schema but erased users and internal
-- calls. A view reads with the rights of the caller.
create function billing.support_tables()
returns text[] language sql stable set search_path = pg_catalog, pg_temp
return '{public.plans, public.subscriptions, public.payments, public.receipts, public.billing_details}'::text[]
  || billing.profiles_table()::text
  || array(
    select c.oid::regclass::text
    from pg_catalog.pg_class c
    where c.relnamespace = 'billing'::regnamespace and c.relkind in ('r', 'v')
      and c.relname not in ('deleted_users', 'function_calls')
  );

create function billing.has_policy(p_table regclass, p_name text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp
return exists (select from pg_catalog.pg_policy p where p.polrelid = p_table and p.polname = p_name);

-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create function billing.set_up_support()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
begin
  -- No login is possible: an admin gives it a password, or makes a login role for each person in it.
  begin
    if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
      create role subscriptions_support nologin;
      alter role subscriptions_support set statement_timeout = '60s';
      -- An open support action locks the customer, whose orders wait.
      alter role subscriptions_support set idle_in_transaction_session_timeout = '60s';
    end if;
  exception
    -- Roles belong to the whole server: another of its databases was set up at the same time.
    when duplicate_object or unique_violation then
      null;
  end;
  grant usage on schema billing, public to subscriptions_support;
  foreach v_name in array billing.support_tables() loop
    execute format('grant select on %s to subscriptions_support', v_name);
    if (select c.relkind = 'r' from pg_catalog.pg_class c where c.oid = v_name::regclass)
      and not billing.has_policy(v_name::regclass, 'Support reads all rows')
    then
      execute format(
        'create policy "Support reads all rows" on %s for select to subscriptions_support using (true)', v_name
      );
    end if;
  end loop;
  -- The functions that the views call: those that write nothing.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.provolatile <> 'v'
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, at_period_end, corrects_seller, reason)
  on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
end $$;
revoke execute on function billing.set_up_support() from service_role;

create function billing.has_support_role()
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_catalog.pg_roles r
    where r.rolname = 'subscriptions_support'
      and has_column_privilege(r.oid, 'billing.support_actions'::regclass, 'reason', 'insert')
      and (
        select bool_and(has_table_privilege(r.oid, t.name::regclass, 'select'))
        from unnest(billing.support_tables()) t (name)
      )
      and billing.has_policy('billing.support_actions', 'Support acts')
  )
$$;
