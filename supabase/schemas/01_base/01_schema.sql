-- Schema billing with the clock, the settings, and readers for the gateway's irregular JSON.

-- Nothing is installed where one of our names is taken. A function, because the CLI prints the statement that failed.
create function pg_temp.refuse_taken_names()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_names constant text[] := array[
    'apply_gateway_event', 'apply_gateway_subscription', 'apply_invoices', 'apply_order_payments', 'apply_order_read', 'apply_settlement',
    'apply_statement_item', 'apply_statement_page', 'claim_statement_pages',
    'apply_settlement_page', 'claim_settlement_pages',
    'begin_reconciliation', 'billing_details', 'billing_details_pkey', 'cancel_subscription', 'claim_outbox',
    'claim_payments_to_reconcile', 'claim_subscriptions_to_reconcile', 'complete_outbox', 'confirm_stop',
    'create_change', 'create_order', 'create_subscription', 'current_tier', 'current_tiers', 'discard_order', 'end_reconciliation',
    'fail_outbox', 'feature_limit', 'get_billing_details', 'get_document', 'get_health', 'get_order', 'get_receipt', 'get_schema_version', 'get_subscription', 'has_feature',
    'has_tier', 'has_tier_at_least', 'list_plans', 'list_plans_for_user', 'next_outbox_attempt', 'payments', 'payments_captured_at_idx',
    'payments_credited_id_idx', 'payments_deleted_user_idx', 'payments_extra_of_idx', 'payments_gateway_order_id_key',
    'payments_gateway_payment_id_key', 'payments_gateway_subscription_id_idx', 'payments_next_reconcile_at_idx',
    'payments_period_end_idx', 'payments_pkey', 'payments_subscription_id_idx',
    'payments_unsettled_idx', 'payments_user_deleted_at_idx', 'payments_user_id_created_at_idx', 'plans',
    'plans_gateway_plan_id_key', 'plans_lookup_key_key', 'plans_pkey', 'plans_tier_key', 'preview_change', 'purge_records', 'put_billing_details',
    'receipts', 'receipts_dispute_id_key', 'receipts_document_number_key', 'receipts_payment_id_idx', 'receipts_payment_id_key',
    'receipts_pkey', 'receipts_receipt_id_idx', 'receipts_refund_id_key', 'receipts_reissue_of_key', 'receipts_series_number_key',
    'receipts_tax_period_idx', 'receipts_user_id_idx',
    'resume_subscription', 'store_order', 'store_subscription', 'subscription_profiles',
    'subscription_profiles_names_idx', 'subscription_profiles_pkey', 'subscriptions',
    'subscriptions_due_at_idx', 'subscriptions_pkey', 'subscriptions_plan_id_idx',
    'subscriptions_user_id_key', 'verify_payment', 'verify_returned_payment', 'verify_subscription'
  ];
  v_taken text;
begin
  select string_agg(o.type || ' ' || o.identity, ', ' order by o.identity)
  into v_taken
  from (
    select 'pg_namespace'::regclass, n.oid from pg_namespace n where n.nspname = 'billing'
    union all
    select o.catalog, o.id
    from (
      select 'pg_class'::regclass, c.oid, c.relnamespace, c.relname from pg_class c
      union all
      select 'pg_type'::regclass, t.oid, t.typnamespace, t.typname from pg_type t where t.typrelid = 0
      union all
      select 'pg_proc'::regclass, p.oid, p.pronamespace, p.proname from pg_proc p
    ) o (catalog, id, schema, name)
    where o.schema = 'public'::regnamespace and o.name = any (v_names)
    union all
    select 'pg_trigger'::regclass, t.oid
    from pg_trigger t
    where t.tgrelid = 'auth.users'::regclass and t.tgname in ('create_profile', 'note_deleted_user', 'settle_new_user')
  ) taken (catalog, id)
  cross join lateral pg_identify_object(taken.catalog, taken.id, 0) o;
  if v_taken is not null then
    raise exception 'Nothing was installed, because the database already has %: read "Beside another app" in '
      'supabase/docs/deployment.md.', v_taken
      using errcode = 'PS409';
  end if;
end $$;

select pg_temp.refuse_taken_names();

create schema billing;
comment on schema billing is 'Ledger, outbox and internal functions. The API never exposes this schema.';
revoke all on schema billing from public;
grant usage on schema billing to service_role;
-- The Edge Function acts as service_role. A function that is not for it is revoked beside its definition.
alter default privileges in schema billing grant execute on functions to service_role;

-- Functions that write have `set enable_seqscan = off`: a session keeps a plan that it made while a table was empty. Then
-- `set jit = off`, too: a plan that must scan costs so much that Postgres would compile it, for seconds.

-- Locks auth.users for a file that creates a foreign key to it or a trigger on it, which take the same lock. Does not queue
-- for it: all sign-ins would wait behind it, for example for the end of an autovacuum.
create function billing.lock_users()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  for n in 1..600 loop
    begin
      lock table auth.users in share row exclusive mode nowait;
      return;
    exception
      when lock_not_available then
        perform pg_sleep(0.1);
      when insufficient_privilege then
        return; -- the file needs less than this right
    end;
  end loop;
  raise lock_not_available
    using message = 'Another transaction or a vacuum has locked auth.users for a minute: run "supabase db push" again.';
end $$;
revoke execute on function billing.lock_users() from service_role;

-- The time for all rules: a test stack replaces the function to shift time. In plpgsql, as all functions that a request
-- calls: a session plans a function in sql again for each call.
create function billing.clock()
returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return now(); end $$;

-- Formats a time as JavaScript does: YYYY-MM-DDTHH:MM:SS.sssZ.
create function billing.iso_time(p_at timestamptz)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'); end $$;

-- AT TIME ZONE also takes abbreviations, and reads +05:30 as a zone west of Greenwich.
create function billing.is_time_zone(p_name text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return p_name = 'UTC' or exists (select from pg_timezone_names z where lower(z.name) = lower(p_name)); end $$;

create table billing.settings (
  is_only boolean primary key default true check (is_only),
  early_renewal text not null default 'replace' check (early_renewal in ('replace', 'extend')),
  credit text not null default 'on' check (credit in ('on', 'off')),
  gateway_dashboard text check (gateway_dashboard ~ '^https://[^ ]*[{]id[}]'),
  support_grant_days integer check (support_grant_days >= 0),
  support_grant_tier text,
  support_refund_amount bigint check (support_refund_amount >= 0),
  events boolean not null default false,
  time_zone text not null default 'UTC' check (billing.is_time_zone(time_zone)),
  seller_name text constraint settings_seller_name_check check (char_length(seller_name) between 1 and 200),
  seller_address text constraint settings_seller_address_check check (char_length(seller_address) <= 500),
  seller_gstin text,
  seller_state text,
  sac text,
  tax_rate integer constraint settings_tax_rate_check check (tax_rate between 1 and 10000),
  tax_name text not null default 'Tax'
    constraint settings_tax_name_check check (char_length(tax_name) between 1 and 40),
  receipt_prefix text not null default '',
  credit_note_prefix text not null default 'CN',
  commercial_note_prefix text not null default 'FN',
  receipts_from timestamptz,
  export_lut text constraint settings_export_lut_check check (export_lut ~ '^[A-Z0-9]{15}$'),
  over_5_crore boolean not null default false,
  dispute_notes boolean not null default true,
  gstr1_version text not null default 'GST3.2.4',
  tally jsonb not null default '{}' constraint settings_tally_check check (jsonb_typeof(tally) = 'object'),
  constraint settings_receipts_from_check check (receipts_from is null or seller_name is not null),
  constraint settings_sac_check check (sac ~ '^99[0-9]{2}([0-9]{2})?$' and (not over_5_crore or char_length(sac) = 6)),
  constraint settings_tax_name_of_gst_check check (
    seller_gstin is not null or upper(btrim(tax_name)) not in ('GST', 'CGST', 'SGST', 'UTGST', 'IGST')
  ),
  -- A number may begin neither with 0 nor with a hyphen.
  constraint settings_prefixes_check check (
    receipt_prefix ~ '^([A-Z1-9][A-Z0-9-]{0,3})?$'
    and credit_note_prefix ~ '^[A-Z1-9][A-Z0-9-]{0,3}$'
    and commercial_note_prefix ~ '^[A-Z1-9][A-Z0-9-]{0,3}$'
    and receipt_prefix <> credit_note_prefix
    and receipt_prefix <> commercial_note_prefix
    and credit_note_prefix <> commercial_note_prefix
  )
);
alter table billing.settings enable row level security;
grant select on billing.settings to service_role;
comment on table billing.settings is 'The settings, in one row.';
comment on column billing.settings.early_renewal is
  'The period of a purchase of the running tier. replace: it starts now. extend: it follows the running one.';
comment on column billing.settings.credit is 'Whether a dearer tier that starts now gets a credit for unused time.';
comment on column billing.settings.gateway_dashboard is
  'Address of a record in the gateway''s dashboard, with {kind} (payments, orders or subscriptions), {id} and, if the '
  'dashboard needs it, {mode} (test or live). Null: billing.timeline has no links.';
comment on column billing.settings.support_grant_days is
  'How far ahead the end of a grant by a support login may be. Null: as far as of any grant. 0: support grants nothing.';
comment on column billing.settings.support_grant_tier is
  'The highest tier that a support login may grant, and then without entitlements of its own. Null: any tier.';
comment on column billing.settings.support_refund_amount is
  'The most that support may refund of one payment, in minor units of the payment''s currency. Null: no limit.';
comment on column billing.settings.events is
  'Whether changes of access and payments are sent to EVENTS_URL. False: no event is written.';
comment on column billing.settings.receipts_from is
  'Payments that the gateway confirmed from then on get a receipt. Null: none is issued.';
comment on column billing.settings.seller_gstin is 'With it documents are tax invoices. Its first two digits are seller_state.';
comment on column billing.settings.sac is 'The code of the service: four digits and more, six above 5 crore rupees of turnover.';
comment on column billing.settings.tax_rate is 'In hundredths of a percent, contained in the price: 1800 is 18 %. Null: no tax.';
comment on column billing.settings.tax_name is 'Of the tax of a seller without a GSTIN.';
comment on column billing.settings.export_lut is 'The letter of undertaking: exports carry no tax. Null: they carry IGST.';
comment on column billing.settings.over_5_crore is
  'Whether documents to registered buyers and abroad need an e-invoice number, which is not made here.';
comment on column billing.settings.dispute_notes is 'Whether a lost dispute gets a credit note with tax.';
comment on column billing.settings.gstr1_version is 'The version that the GST portal wants to read in the upload.';
comment on column billing.settings.tally is
  'Names of the company and of ledgers in Tally, where they are not those of the exported files: {"Bank": "HDFC 1234"}.';
comment on column billing.settings.time_zone is
  'The seller''s time zone, by its IANA name: of calendar months, of months of revenue, and of days that people read.';

insert into billing.settings default values;

create function billing.early_renewal()
returns text -- replace or extend
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return coalesce((select s.early_renewal from billing.settings s where s.is_only), 'replace'); end $$;

create function billing.time_zone()
returns text language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return coalesce((select s.time_zone from billing.settings s where s.is_only), 'UTC'); end $$;

-- These functions read JSON of any shape. A value of another type than theirs gives null.
create function billing.json_object(p_value jsonb)
returns jsonb language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case when jsonb_typeof(p_value) = 'object' then p_value end; end $$;

create function billing.json_text(p_value jsonb)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}' end; end $$;

create function billing.json_uuid(p_value jsonb)
returns uuid language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_text constant text := billing.json_text(p_value);
begin
  return case when v_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then v_text::uuid end;
end $$;

-- Unix seconds of the years 1970 to 9999.
create function billing.json_time(p_value jsonb)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when jsonb_typeof(p_value) <> 'number' then null
    when p_value::numeric between 0 and 253402300799 and p_value::numeric % 1 = 0 then to_timestamp(p_value::numeric)
  end;
end $$;

create function billing.json_integer(p_value jsonb)
returns bigint language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when jsonb_typeof(p_value) <> 'number' then null
    when abs(p_value::numeric) <= 9007199254740991 and p_value::numeric % 1 = 0 then p_value::bigint
  end;
end $$;

-- Returns the created_at of an event. Some events have it inside the payload. Null: the event has none.
create function billing.event_time(p_body jsonb)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(billing.json_time(p_body -> 'created_at'), billing.json_time(p_body -> 'payload' -> 'created_at'));
end $$;

-- Returns when an event happened, to rank it among the customer's acts: at the end of its second. An event without a time,
-- or more than 14 days old, counts from its arrival: the gateway does not retry for so long.
create function billing.happened_at(
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_created_at > p_arrived_at - interval '14 days'
      then least(p_created_at + interval '999999 microseconds', p_arrived_at)
    else p_arrived_at
  end;
end $$;

-- Adds calendar months in the seller's time zone, in every time zone of the session: to the same day of the month, or the last
-- day of a shorter one, at the same time of day. A time that the clocks skip that day is as much later; of one that comes
-- twice the second counts.
create function billing.add_months(p_from timestamptz, p_months integer, p_zone text default billing.time_zone())
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return (p_from at time zone p_zone + make_interval(months => p_months)) at time zone p_zone; end $$;
