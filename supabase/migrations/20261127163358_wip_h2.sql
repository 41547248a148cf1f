-- Made by npm run migration. Renames and data are written by hand.

-- Returns the decimals of a currency by ISO 4217, as the gateway has them. `npm run generate` copies them.
create function billing.minor_units(p_currency text)
returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_currency in (
      'BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'
    ) then 0
    when p_currency in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 3
    else 2
  end;
end $$;

-- Returns what the gateway's amounts in a currency are multiples of, in minor units: those with three decimals end in 0.
create or replace function billing.amount_step(p_currency text)
returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case billing.minor_units(p_currency) when 3 then 10 else 1 end; end $$;

-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create or replace function billing.set_up_support()
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
  -- The functions that the views call.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.proname = any ('{
        clock, findings_of, find_ruling, find_shown, attach_gateway_subscription, since_of, find_stop,
        newest_purchase, is_superseded, renews_purchase, find_user, kept, is_lost, lost_amount, paid_for,
        purchases_on_credit, is_bought, tier_bought, json_text, json_uuid, json_integer, grace_days, billed_until,
        is_refunded, user_of_message, refunded_amount, refundable_amount, refundable_beside, number_of, is_refused, is_refund_owed,
        is_waiting, why_text, amount_text, minor_units,
        day_text, gateway_link, outbox_state, missing_parts, schedule_faults, search_customers, user_id_of,
        authorised_at, cancelled_by_user_at, is_cancelled_for_end, unnamed_cycles, requested_at, state_of_billing,
        next_change, is_told, price_answer, interval_answer, iso_time, find_successor, mirrored_end, is_billed,
        price_sold
      }')
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, reason) on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
end $$;

-- What an admin reads about customers: one row for each, why they have the tier, and the search. Operations: "Customers".

-- Formats an amount in minor units, such as 19800 of INR as 198.00 INR.
create or replace function billing.amount_text(p_amount bigint, p_currency text)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_digits constant integer := billing.minor_units(p_currency);
begin
  return round(p_amount / 10::numeric ^ v_digits, v_digits) || ' ' || p_currency;
end $$;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."minor_units"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."minor_units"(text) TO "service_role";

revoke execute on all functions in schema billing from public;
