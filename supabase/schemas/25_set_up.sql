-- The end of the installation: who may call the functions, and the roles, triggers and jobs outside of the schema.

revoke execute on all functions in schema billing from public;

-- The functions of the API that only the Edge Function calls.
revoke execute on function
  public.apply_gateway_event, public.apply_gateway_subscription, public.apply_invoices, public.apply_order_payments,
  public.apply_order_read, public.apply_subscription_order, public.begin_reconciliation, public.cancel_subscription,
  public.claim_outbox, public.claim_payments_to_reconcile, public.claim_subscription_orders,
  public.claim_subscriptions_to_reconcile, public.complete_outbox, public.create_change, public.create_order,
  public.create_subscription, public.discard_order, public.end_reconciliation, public.fail_outbox,
  public.finish_reconciliation, public.get_health, public.get_order, public.get_schema_version,
  public.get_subscription, public.list_plans, public.list_plans_for_user, public.next_outbox_attempt,
  public.preview_change, public.purge_records, public.resume_subscription, public.store_order,
  public.store_subscription, public.verify_payment, public.verify_returned_payment, public.verify_subscription
from public, anon, authenticated;
grant execute on function
  public.apply_gateway_event, public.apply_gateway_subscription, public.apply_invoices, public.apply_order_payments,
  public.apply_order_read, public.apply_subscription_order, public.begin_reconciliation, public.cancel_subscription,
  public.claim_outbox, public.claim_payments_to_reconcile, public.claim_subscription_orders,
  public.claim_subscriptions_to_reconcile, public.complete_outbox, public.create_change, public.create_order,
  public.create_subscription, public.discard_order, public.end_reconciliation, public.fail_outbox,
  public.finish_reconciliation, public.get_health, public.get_order, public.get_schema_version,
  public.get_subscription, public.list_plans, public.list_plans_for_user, public.next_outbox_attempt,
  public.preview_change, public.purge_records, public.resume_subscription, public.store_order,
  public.store_subscription, public.verify_payment, public.verify_returned_payment, public.verify_subscription
to service_role;

select billing.set_up();
