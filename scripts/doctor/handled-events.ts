/** The events that private.apply_event handles. The ledger only records others. Contract: Events. */
export const handledEvents: readonly string[] = [
  'payment.captured',
  'payment.failed',
  'order.paid',
  'refund.created',
  'refund.processed',
  'refund.failed',
  'payment.dispute.created',
  'payment.dispute.under_review',
  'payment.dispute.action_required',
  'payment.dispute.won',
  'payment.dispute.lost',
  'payment.dispute.closed',
  'subscription.activated',
  'subscription.charged',
  'subscription.cancelled',
];
