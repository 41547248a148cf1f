/** Events of subscriptions; the webhook is named `subscription.<event>`. */
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

/** Events of refunds; the webhook is named `refund.<event>`. */
export const REFUND_EVENTS = ['created', 'processed', 'failed', 'speed_changed'] as const;

/** Events of disputes; the webhook is named `payment.dispute.<event>`. */
export const DISPUTE_EVENTS = ['created', 'under_review', 'action_required', 'won', 'lost', 'closed'] as const;

/** Every event that the simulator can send. */
export const EVENT_NAMES = [
  'payment.authorized',
  'payment.captured',
  'payment.failed',
  'order.paid',
  ...REFUND_EVENTS.map((event) => `refund.${event}` as const),
  ...DISPUTE_EVENTS.map((event) => `payment.dispute.${event}` as const),
  ...SUBSCRIPTION_EVENTS.map((event) => `subscription.${event}` as const),
] as const;
