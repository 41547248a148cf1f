import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

const roles = ['anon', 'authenticated', 'service_role'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

// Every new grant must be listed here.
test('the API’s roles hold exactly these rights on tables', async () => {
  const rows = await database.query(
    `select distinct format('%s: %s %s.%s', role, lower(privilege), n.nspname, c.relname) as "right"
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest($1::text[]) role
     cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN'])
       privilege
     where n.nspname in ('public', 'private', 'auth', 'extensions')
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and has_table_privilege(role, c.oid, privilege)
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'anon: select public.plans',
    'authenticated: select public.payments',
    'authenticated: select public.plans',
    'authenticated: select public.profiles',
    'authenticated: select public.subscriptions',
    'service_role: delete private.extra_payments',
    'service_role: delete private.unsettled_events',
    'service_role: insert private.alerts',
    'service_role: insert private.extra_payments',
    'service_role: insert private.gateway_charges',
    'service_role: insert private.gateway_events',
    'service_role: insert private.gateway_subscriptions',
    'service_role: insert private.order_keys',
    'service_role: insert private.order_reads',
    'service_role: insert private.outbox',
    'service_role: insert private.outbox_pauses',
    'service_role: insert private.refunds',
    'service_role: insert private.subscription_orders',
    'service_role: insert private.unsettled_events',
    'service_role: insert private.user_cancellations',
    'service_role: insert public.payments',
    'service_role: insert public.profiles',
    'service_role: insert public.subscriptions',
    'service_role: select private.alerts',
    'service_role: select private.deleted_users',
    'service_role: select private.extra_payments',
    'service_role: select private.gateway_charges',
    'service_role: select private.gateway_events',
    'service_role: select private.gateway_subscriptions',
    'service_role: select private.grants',
    'service_role: select private.manual_subscriptions',
    'service_role: select private.mirrored',
    'service_role: select private.order_keys',
    'service_role: select private.order_reads',
    'service_role: select private.outbox',
    'service_role: select private.outbox_pauses',
    'service_role: select private.refunds',
    'service_role: select private.replacements',
    'service_role: select private.scheduled_jobs',
    'service_role: select private.settings',
    'service_role: select private.sources',
    'service_role: select private.subscription_orders',
    'service_role: select private.unsettled_events',
    'service_role: select private.upcoming_payments',
    'service_role: select private.user_cancellations',
    'service_role: select public.payments',
    'service_role: select public.plans',
    'service_role: select public.profiles',
    'service_role: select public.subscriptions',
    'service_role: update private.extra_payments',
    'service_role: update private.gateway_charges',
    'service_role: update private.gateway_events',
    'service_role: update private.gateway_subscriptions',
    'service_role: update private.grants',
    'service_role: update private.manual_subscriptions',
    'service_role: update private.order_keys',
    'service_role: update private.order_reads',
    'service_role: update private.outbox',
    'service_role: update private.outbox_pauses',
    'service_role: update private.refunds',
    'service_role: update private.scheduled_jobs',
    'service_role: update private.subscription_orders',
    'service_role: update private.user_cancellations',
    'service_role: update public.payments',
    'service_role: update public.profiles',
    'service_role: update public.subscriptions',
  ]);
});

test('the API’s roles hold exactly these rights on single columns', async () => {
  const rows = await database.query(
    `select format('%s: %s %s.%s.%s', role, lower(privilege), n.nspname, c.relname, a.attname) as "right"
     from pg_attribute a
     join pg_class c on c.oid = a.attrelid
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest($1::text[]) role
     cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) privilege
     where n.nspname in ('public', 'private', 'auth', 'extensions')
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and a.attnum > 0
       and not a.attisdropped
       and has_column_privilege(role, c.oid, a.attnum, privilege)
       and not has_table_privilege(role, c.oid, privilege)
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'authenticated: update public.profiles.display_name',
    'authenticated: update public.profiles.username',
  ]);
});

test('the API’s roles may execute exactly these functions', async () => {
  const rows = await database.query(
    `select format('%s: %s.%s', role, n.nspname, p.proname) as "right"
     from pg_proc p
     join pg_namespace n on n.oid = p.pronamespace
     cross join unnest($1::text[]) role
     where n.nspname in ('public', 'private')
       and has_function_privilege(role, p.oid, 'EXECUTE')
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'authenticated: public.current_tier',
    'authenticated: public.has_tier',
    'service_role: private.access_end',
    'service_role: private.add_months',
    'service_role: private.announce_billing',
    'service_role: private.applied_version',
    'service_role: private.apply_answer',
    'service_role: private.apply_delivery',
    'service_role: private.apply_dispute',
    'service_role: private.apply_event',
    'service_role: private.apply_event_for_missing_user',
    'service_role: private.apply_next_charge',
    'service_role: private.apply_order_state',
    'service_role: private.apply_payment_captured',
    'service_role: private.apply_payment_failed',
    'service_role: private.apply_recorded_event',
    'service_role: private.apply_refund',
    'service_role: private.apply_subscription_event',
    'service_role: private.attach_gateway_subscription',
    'service_role: private.begin_request',
    'service_role: private.can_be_reapplied',
    'service_role: private.cancellation_time',
    'service_role: private.clock',
    'service_role: private.count_best_payment',
    'service_role: private.credit',
    'service_role: private.default_username',
    'service_role: private.delete_unordered',
    'service_role: private.early_renewal',
    'service_role: private.end_sources',
    'service_role: private.end_uncaptured_access',
    'service_role: private.enqueue',
    'service_role: private.enqueue_cancellation',
    'service_role: private.event_time',
    'service_role: private.events_of',
    'service_role: private.find_credit',
    'service_role: private.find_end',
    'service_role: private.find_payment',
    'service_role: private.find_ruling',
    'service_role: private.find_user',
    'service_role: private.forget_subscription_order',
    'service_role: private.fulfil_payment',
    'service_role: private.gateway_statuses',
    'service_role: private.happened_at',
    'service_role: private.has_never_paid',
    'service_role: private.hash_user_id',
    'service_role: private.is_about_deleted_user',
    'service_role: private.is_deleted',
    'service_role: private.is_dispute_news',
    'service_role: private.is_error_of_event',
    'service_role: private.is_payment_of',
    'service_role: private.is_refunded',
    'service_role: private.is_settled',
    'service_role: private.is_subscribed',
    'service_role: private.is_waiting',
    'service_role: private.iso_time',
    'service_role: private.json_integer',
    'service_role: private.json_object',
    'service_role: private.json_text',
    'service_role: private.json_time',
    'service_role: private.json_uuid',
    'service_role: private.last_paid_cycle',
    'service_role: private.lay_out_chain',
    'service_role: private.lock_gateway_payment',
    'service_role: private.lock_missing_user',
    'service_role: private.lock_user',
    'service_role: private.mark_renewal',
    'service_role: private.mark_ruling_source',
    'service_role: private.merge_gateway_status',
    'service_role: private.merge_gateway_subscription',
    'service_role: private.merge_refund',
    'service_role: private.next_reconciliation',
    'service_role: private.note_cause',
    'service_role: private.note_extra_payment',
    'service_role: private.note_missing_user',
    'service_role: private.note_successor',
    'service_role: private.note_unsettled',
    'service_role: private.order_answer',
    'service_role: private.paid_for',
    'service_role: private.paid_until',
    'service_role: private.plan_bought',
    'service_role: private.plan_change',
    'service_role: private.prefill',
    'service_role: private.purge_batch',
    'service_role: private.record_charge',
    'service_role: private.refunded_amount',
    'service_role: private.request_subscription',
    'service_role: private.retry_delay',
    'service_role: private.revalidation_key',
    'service_role: private.scenario',
    'service_role: private.set_tier',
    'service_role: private.settle_access',
    'service_role: private.settle_cancellations',
    'service_role: private.settle_charge_refunds',
    'service_role: private.settle_payment',
    'service_role: private.settle_refunds',
    'service_role: private.status_after',
    'service_role: private.stored_payload',
    'service_role: private.subscription_events',
    'service_role: private.subscription_order',
    'service_role: private.tier_bought',
    'service_role: private.undo_change',
    'service_role: private.withdraw_cancellation',
    'service_role: private.withdraw_open_orders',
    'service_role: public.apply_gateway_event',
    'service_role: public.apply_gateway_subscription',
    'service_role: public.apply_order_payments',
    'service_role: public.apply_order_read',
    'service_role: public.apply_subscription_order',
    'service_role: public.begin_reconciliation',
    'service_role: public.cancel_subscription',
    'service_role: public.claim_outbox',
    'service_role: public.claim_payments_to_reconcile',
    'service_role: public.claim_subscription_orders',
    'service_role: public.claim_subscriptions_to_reconcile',
    'service_role: public.complete_outbox',
    'service_role: public.create_change',
    'service_role: public.create_order',
    'service_role: public.create_subscription',
    'service_role: public.discard_order',
    'service_role: public.end_reconciliation',
    'service_role: public.fail_outbox',
    'service_role: public.finish_reconciliation',
    'service_role: public.get_health',
    'service_role: public.get_order',
    'service_role: public.get_schema_version',
    'service_role: public.get_subscription',
    'service_role: public.list_plans',
    'service_role: public.list_plans_for_user',
    'service_role: public.next_outbox_attempt',
    'service_role: public.preview_change',
    'service_role: public.purge_records',
    'service_role: public.resume_subscription',
    'service_role: public.store_order',
    'service_role: public.store_subscription',
    'service_role: public.verify_payment',
    'service_role: public.verify_returned_payment',
    'service_role: public.verify_subscription',
  ]);
});

test('no sequence is open to the API’s roles', async () => {
  const rows = await database.query(
    `select format('%s: %s.%s', role, n.nspname, c.relname) as "right"
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     cross join unnest($1::text[]) role
     where c.relkind = 'S' and n.nspname in ('public', 'private')
       and has_sequence_privilege(role, c.oid, 'USAGE, SELECT, UPDATE')`,
    [roles],
  );
  expect(rows).toEqual([]);
});

test('only the service can use schema private, and no role of the API can create objects in a schema', async () => {
  const rows = await database.query(
    `select format('%s: %s %s', role, lower(privilege), n.nspname) as "right"
     from pg_namespace n
     cross join unnest($1::text[]) role
     cross join unnest(array['USAGE', 'CREATE']) privilege
     where n.nspname in ('public', 'private')
       and has_schema_privilege(role, n.oid, privilege)
     order by 1`,
    [roles],
  );
  expect(rows.map((row) => row.right)).toEqual([
    'anon: usage public',
    'authenticated: usage public',
    'service_role: usage private',
    'service_role: usage public',
  ]);
});

test('a new table of schema public is closed to the API’s roles', async () => {
  await database.query('create table public.new_table (id int)');
  const row = await database.one(
    `select bool_or(has_table_privilege(role, 'public.new_table', 'SELECT, INSERT, UPDATE, DELETE')) as open
     from unnest($1::text[]) role`,
    [roles],
  );
  expect(row).toEqual({ open: false });
});

test('no security definer function is in schema public, which the API exposes', async () => {
  const rows = await database.query(
    `select p.proname from pg_proc p where p.prosecdef and p.pronamespace = 'public'::regnamespace`,
  );
  expect(rows).toEqual([]);
});
