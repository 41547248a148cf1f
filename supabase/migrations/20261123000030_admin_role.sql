-- The role of support: it reads what the console shows and inserts support actions, nothing else. Operations: "Support role".

-- What the role reads: the views of an admin, and below them the tables that they read with the rights of the caller.
create function private.support_tables()
returns text[]
language sql
immutable
set search_path = ''
return array[
  'private.users', 'private.customers', 'private.timeline', 'private.periods', 'private.findings', 'private.webhooks',
  'private.messages', 'private.customer_payments', 'private.service_state', 'private.revenue_monthly',
  'private.active_monthly', 'private.paid_periods', 'private.missed_webhooks', 'private.receipts', 'private.subjects',
  'private.sources', 'private.replacements', 'private.upcoming_payments', 'private.support_actions',
  'private.paid_not_entitled', 'private.entitled_not_paid', 'private.captured_not_fulfilled', 'private.tier_mismatch',
  'private.paid_twice', 'private.unexpected_charges', 'private.unearned_credits', 'private.never_captured',
  'private.dispute_lost', 'private.expiry_failed', 'private.outbox_stuck', 'private.failed_events',
  'private.open_functions', 'private.purchases', 'private.unmailed_payments', 'private.reconciliation_backlog',
  'public.plans', 'public.profiles', 'public.subscriptions', 'public.payments', 'private.settings',
  'private.gateway_subscriptions', 'private.gateway_charges', 'private.subscription_orders',
  'private.manual_subscriptions', 'private.grants', 'private.refunds', 'private.extra_payments',
  'private.tier_changes', 'private.gateway_events', 'private.unsettled_events', 'private.outbox',
  'private.outbox_pauses', 'private.settle_failures', 'private.expected_triggers', 'private.alerts',
  'private.scheduled_jobs'
];

-- The functions that these views call.
create function private.support_functions()
returns text[]
language sql
stable
set search_path = ''
return array(
  select p.oid::regprocedure::text
  from pg_catalog.pg_proc p
  where p.pronamespace = 'private'::regnamespace
    and p.proname = any (array[
      'clock', 'count_findings', 'find_ruling', 'find_user', 'paid_for', 'plan_bought', 'tier_bought', 'json_text', 'json_uuid',
      'json_integer', 'refunded_amount', 'is_waiting', 'why_text', 'amount_text', 'day_text', 'gateway_link', 'outbox_state',
      'missing_parts', 'schedule_faults', 'remedy', 'search_customers', 'user_id_of'
    ])
  order by 1
);

-- Creates the role with its rights and policies, again after a restore that lost them.
-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create function private.set_up_support()
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_name text;
begin
  -- No login is possible: an admin gives it a password, or makes a login role for each person in it.
  begin
    if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
      create role subscriptions_support nologin;
      alter role subscriptions_support set statement_timeout = '60s';
    end if;
  exception
    -- Roles belong to the whole server: another of its databases was set up at the same time.
    when duplicate_object or unique_violation then
      null;
  end;
  grant usage on schema private, public to subscriptions_support;
  foreach v_name in array private.support_tables() loop
    execute format('grant select on %s to subscriptions_support', v_name);
    if exists (
      select
      from pg_catalog.pg_class c
      where c.oid = v_name::regclass
        and c.relkind = 'r'
        and not exists (
          select from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polname = 'Support reads all rows'
        )
    ) then
      execute format(
        'create policy "Support reads all rows" on %s for select to subscriptions_support using (true)', v_name
      );
    end if;
  end loop;
  foreach v_name in array private.support_functions() loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, reason) on private.support_actions to subscriptions_support;
  if not exists (
    select
    from pg_catalog.pg_policy p
    where p.polrelid = 'private.support_actions'::regclass
      and p.polname = 'Support acts'
  ) then
    create policy "Support acts" on private.support_actions for insert to subscriptions_support with check (true);
  end if;
end
$$;

-- Whether the role of support exists with its rights.
create function private.has_support_role()
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select
    from pg_catalog.pg_roles r
    where r.rolname = 'subscriptions_support'
      and has_column_privilege(r.oid, 'private.support_actions'::regclass, 'reason', 'insert')
      and (
        select bool_and(has_table_privilege(r.oid, t.name::regclass, 'select'))
        from unnest(private.support_tables()) t (name)
      )
      and exists (
        select
        from pg_catalog.pg_policy p
        where p.polrelid = 'private.support_actions'::regclass
          and p.polname = 'Support acts'
      )
  )
$$;

revoke execute on all functions in schema private from public;
