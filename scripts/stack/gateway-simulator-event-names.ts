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

/** Every webhook that the simulator makes by itself. */
export const EVENT_NAMES = [
  'payment.authorized',
  'payment.captured',
  'payment.failed',
  'order.paid',
  ...SUBSCRIPTION_EVENTS.map((event) => `subscription.${event}` as const),
] as const;
