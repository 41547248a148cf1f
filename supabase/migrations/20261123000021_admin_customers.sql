-- What an admin reads about customers: users with their names and addresses, the money that was received, and one row for
-- each customer with the reason for the tier. Operations: "Customers".

alter table private.settings
add column gateway_dashboard text
  constraint settings_gateway_dashboard_check check (gateway_dashboard ~ '^https://[^ ]*[{]id[}]');
comment on column private.settings.gateway_dashboard is
  'Address of a record in the gateway''s dashboard, with {kind} (payments, orders or subscriptions), {id} and, if the '
  'dashboard needs it, {mode} (test or live). Null: private.timeline has no links.';

-- The admin's view of auth.users. It has the rights of its owner, so that a role that reads it needs no right on schema
-- auth, where the hashes of passwords and tokens are. All other views of an admin read it.
-- The auth server compares addresses in lower case, and its unique index on them leaves out the users of single sign-on.
-- These are read from their identity, whose address has an index.
create view private.users
with (security_invoker = false)
as
select
  u.id as user_id,
  u.email::text as email,
  (select coalesce(nullif(p.display_name, ''), p.username) from public.profiles p where p.user_id = u.id) as name,
  u.created_at as signed_up_at
from auth.users u
where not u.is_sso_user
union all
select
  i.user_id,
  i.email::text,
  (select coalesce(nullif(p.display_name, ''), p.username) from public.profiles p where p.user_id = i.user_id),
  i.created_at
from auth.identities i
where i.provider like 'sso:%';
comment on view private.users is
  'All users, with the four facts that support needs. The only view with the rights of its owner.';
comment on column private.users.user_id is 'The id of the user, as in auth.users.';
comment on column private.users.email is 'The e-mail address, in lower case. Null: the user has none.';
comment on column private.users.name is 'The display name of the profile, else its username.';
comment on column private.users.signed_up_at is 'When the user signed up.';

-- Finds a user by an e-mail address or an id.
create function private.user_id_of(
  p_user text
)
returns uuid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_user constant text := lower(btrim(p_user));
  v_found uuid[];
begin
  if v_user ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select array_agg(u.user_id) into v_found from private.users u where u.user_id = v_user::uuid;
  else
    select array_agg(u.user_id) into v_found from private.users u where u.email = v_user;
  end if;
  if v_found is null then
    raise exception 'no user with the e-mail address or id "%"', p_user using errcode = 'PS404';
  end if;
  if cardinality(v_found) > 1 then
    raise exception '% users have the e-mail address "%": name one by its id', cardinality(v_found), p_user
      using errcode = 'PS409';
  end if;
  return v_found[1];
end
$$;
comment on function private.user_id_of(text) is
  'The id of the user with this e-mail address or id. Raises PS404 for an unknown user, and PS409 for an ambiguous address.';

-- Formats an amount in minor units, such as 19800 of INR as 198.00 INR.
create function private.amount_text(
  p_amount bigint,
  p_currency text
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_digits constant integer := case
    when p_currency in (
      'BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'
    ) then 0
    when p_currency in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 3
    else 2
  end;
begin
  return round(p_amount / 10::numeric ^ v_digits, v_digits) || ' ' || p_currency;
end
$$;

-- Formats the day of a time in UTC, such as 1 Nov 2026.
create function private.day_text(
  p_at timestamptz
)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return to_char(p_at at time zone 'UTC', 'FMDD Mon YYYY');
end
$$;

create view private.receipts
with (security_invoker = true)
as
select
  p.user_id,
  'payment' as kind,
  p.id::text as source_id,
  p.gateway_payment_id,
  p.gateway_order_id,
  p.gateway_key_id,
  p.captured_at as received_at,
  p.tier,
  p.currency,
  p.amount,
  p.refunded_amount,
  p.period_start,
  p.period_end
from public.payments p
where p.status = 'captured'
union all
select
  p.user_id, 'extra_payment', p.id::text, x.gateway_payment_id, p.gateway_order_id, p.gateway_key_id, x.paid_at, p.tier,
  p.currency, p.amount, x.refunded_amount, null, null
from private.extra_payments x
join public.payments p on p.id = x.payment_id
where x.confirmed_at is not null
union all
select
  c.user_id, 'cycle', c.gateway_subscription_id, c.gateway_payment_id, null, o.gateway_key_id, c.charged_at, pl.tier,
  -- A subscription without a plan of ours is charged in the currency of the shop.
  coalesce(pl.currency, (select min(shop.currency) from public.plans shop), 'INR'),
  c.amount, c.refunded_amount, c.period_start, c.period_end
from private.gateway_charges c
left join private.gateway_subscriptions m
  on m.user_id = c.user_id
  and m.gateway_subscription_id = c.gateway_subscription_id
left join public.plans pl on pl.id = m.plan_id
left join private.subscription_orders o on o.gateway_subscription_id = c.gateway_subscription_id
where c.amount is not null;
comment on view private.receipts is 'The money that was received: captured payments, further payments on an order, cycles.';
comment on column private.receipts.user_id is 'The customer. Null: the user was deleted.';
comment on column private.receipts.kind is
  'payment, extra_payment (a further payment on an order) or cycle (of a subscription that the gateway bills).';
comment on column private.receipts.source_id is 'The id of the payment, or of the gateway subscription.';
comment on column private.receipts.gateway_payment_id is 'The gateway''s id of the payment. Empty: it named none.';
comment on column private.receipts.gateway_order_id is 'The gateway''s id of the order. Null: a cycle.';
comment on column private.receipts.gateway_key_id is 'The API key of the order or the subscription, if known.';
comment on column private.receipts.received_at is 'When the payment was captured or the cycle was charged.';
comment on column private.receipts.tier is 'The tier that was sold.';
comment on column private.receipts.currency is 'The currency of the amounts.';
comment on column private.receipts.amount is 'The amount in minor currency units.';
comment on column private.receipts.refunded_amount is 'The sum of the processed refunds, minor currency units.';
comment on column private.receipts.period_start is 'Start of the period that was paid for. Null: it gave none.';
comment on column private.receipts.period_end is 'End of the period that was paid for. Null: it gave none.';

-- Returns in one sentence why a user has the tier: the source that rules.
create function private.why_text(
  p_ruling private.ruling
)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_source constant private.sources := p_ruling.source;
  v_until constant text := coalesce(' until ' || private.day_text(v_source.ends_at), '');
  v_name text;
begin
  if v_source.kind is null then
    return 'No payment, subscription or grant gives a tier.';
  end if;
  v_name := case v_source.kind
    when 'payment' then (
      select format('Payment %s of %s', coalesce(p.gateway_payment_id, p.id::text), private.day_text(p.captured_at))
      from public.payments p
      where p.id = v_source.id::uuid
    )
    when 'gateway_subscription' then format('Subscription %s of %s', v_source.id, private.day_text(v_source.since))
    when 'grant' then (
      select format('Grant %s of %s (%s)', g.id, private.day_text(g.at), coalesce(g.reason, 'no reason'))
      from private.grants g
      where g.id = v_source.id::bigint
    )
    else format('The subscription row that was written by hand on %s', private.day_text(v_source.since))
  end;
  if p_ruling.is_live then
    return v_name || ' gives ' || v_source.tier || v_until || case
      when v_source.cancel_at_period_end then ' and was cancelled for that day.'
      when v_source.ends_at < private.clock() then ', and the days after it until it is renewed or ends.'
      when v_source.gateway_subscription_id is not null then ', when the gateway charges the next cycle.'
      else '.'
    end;
  end if;
  return v_name || ' gave ' || v_source.tier || case
    when v_source.ended_at is null then v_until || '.'
    else format(
      ' and ended on %s: %s.', private.day_text(v_source.ended_at), coalesce(replace(v_source.ended_reason, '_', ' '), 'ended')
    )
  end;
end
$$;

-- Returns the number of findings about a user. A function with one plan for all users, because planning its statement takes
-- longer than running it: a session does it once.
create function private.count_findings(
  p_user_id uuid
)
returns bigint
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  return (select count(*) from private.findings f where f.user_id = p_user_id);
end
$$;

create view private.customers
with (security_invoker = true)
as
select
  u.user_id,
  u.email,
  u.name,
  coalesce(pr.subscription_tier, 'free') as tier,
  private.why_text(found.ruling) as why,
  case when (found.ruling).is_live then ((found.ruling).source).kind end as source_kind,
  case when (found.ruling).is_live then ((found.ruling).source).id end as source_id,
  case when (found.ruling).is_live then ((found.ruling).source).ends_at end as until,
  case
    when (found.ruling).is_live is not true then null
    when ((found.ruling).source).kind = 'grant' then 'complimentary'
    when coalesce(((found.ruling).source).gateway_subscription_id, s.gateway_subscription_id) is not null then 'billed'
    when ((found.ruling).source).kind = 'payment' then 'one-time'
  end as billing,
  (select max(r.received_at) from private.receipts r where r.user_id = u.user_id) as last_payment_at,
  (
    select coalesce(jsonb_object_agg(net.currency, net.amount), '{}')
    from (
      select r.currency, sum(r.amount - r.refunded_amount) as amount
      from private.receipts r
      where r.user_id = u.user_id
      group by r.currency
    ) net
  ) as lifetime_amounts,
  private.count_findings(u.user_id) as open_findings,
  u.signed_up_at
from private.users u
left join public.profiles pr on pr.user_id = u.user_id
left join public.subscriptions s on s.user_id = u.user_id and s.status = 'active'
-- One call for each user, for the columns that read it.
left join lateral (select private.find_ruling(u.user_id) as ruling offset 0) found on true;
comment on view private.customers is
  'One row for each user: the tier, why the user has it, and what was paid. Filter it by email or user_id.';
comment on column private.customers.user_id is 'The id of the user.';
comment on column private.customers.email is 'The e-mail address, in lower case. Null: the user has none.';
comment on column private.customers.name is 'The display name of the profile, else its username.';
comment on column private.customers.tier is 'The tier of the profile, as the app reads it; free without one.';
comment on column private.customers.why is 'In one sentence the source that gives the tier, or the one that gave it last.';
comment on column private.customers.source_kind is
  'payment, gateway_subscription, grant or manual (a subscription row written by hand). Null: nothing runs.';
comment on column private.customers.source_id is
  'The id of the payment, gateway subscription or grant, or of the user for manual. Null: nothing runs.';
comment on column private.customers.until is 'End of the period, without the days of grace. Null: nothing runs, or no end.';
comment on column private.customers.billing is
  'billed (by the gateway, cycle by cycle), one-time or complimentary. Null: nothing runs, or it was written by hand.';
comment on column private.customers.last_payment_at is 'When the newest payment was captured or the newest cycle charged.';
comment on column private.customers.lifetime_amounts is
  'For each currency what was captured minus what was refunded, in minor currency units.';
comment on column private.customers.open_findings is 'The number of rows of private.findings about this user.';
comment on column private.customers.signed_up_at is 'When the user signed up.';

revoke execute on all functions in schema private from public;
