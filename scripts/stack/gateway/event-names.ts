/** What can happen to a subscription; the webhook is named `subscription.<this>`. */
export const SUBSCRIPTION_EVENTS = [
  'authenticated',
  'activated',
  'charged',
  'pending',
  'halted',
  'cancelled',
  'paused',
  'resumed',
  'completed',
  'updated',
] as const;

/** What can happen to a refund; the webhook is named `refund.<this>`. */
export const REFUND_EVENTS = ['created', 'processed', 'failed', 'speed_changed'] as const;

/** What can happen to a dispute; the webhook is named `payment.dispute.<this>`. */
export const DISPUTE_EVENTS = ['created', 'under_review', 'action_required', 'won', 'lost', 'closed'] as const;

/** Every webhook that the simulator makes by itself. */
export const EVENT_NAMES = [
  'payment.authorized',
  'payment.captured',
  'payment.failed',
  'order.paid',
  ...REFUND_EVENTS.map((event) => `refund.${event}` as const),
  ...DISPUTE_EVENTS.map((event) => `payment.dispute.${event}` as const),
  ...SUBSCRIPTION_EVENTS.map((event) => `subscription.${event}` as const),
] as const;
