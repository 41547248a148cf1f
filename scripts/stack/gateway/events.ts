import { z } from 'zod';
import type { Dispute, Order, Payment, Refund, Subscription } from './entities.ts';
import type { Settlement } from './settlement-entities.ts';

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

/** The name of any event that the simulator can send. Others are refused: a test would wait for them for ever. */
const eventName = z.enum([
  'payment.authorized',
  'payment.captured',
  'payment.failed',
  'order.paid',
  ...REFUND_EVENTS.map((event) => `refund.${event}` as const),
  ...DISPUTE_EVENTS.map((event) => `payment.dispute.${event}` as const),
  ...SUBSCRIPTION_EVENTS.map((event) => `subscription.${event}` as const),
  'settlement.processed',
]);

/**
 * How webhooks are delivered.
 * - `events`: send only these, in this order
 * - `drop`: record all events, or these, without sending them; `POST /simulate/redeliver` sends them later
 * - `reorder`: send the last event first; by default they are sent one after another, in the order of the events
 * - `at_once`: send all in parallel, so that they race
 * - `duplicate`: the number of further deliveries of each event, even if the first was accepted
 * - `delay_ms`: the delay before the first event
 * - `first_retry_ms`: the pause before the first retry, in the gateway's time; each further pause is twice as long
 */
export const deliverOptions = z.strictObject({
  events: z.array(eventName).optional(),
  drop: z.union([z.boolean(), z.array(eventName)]).optional(),
  reorder: z.boolean().optional(),
  at_once: z.boolean().optional(),
  duplicate: z.int().min(0).max(100).optional(),
  delay_ms: z.int().min(0).max(600_000).optional(),
  first_retry_ms: z.int().min(1).max(600_000).optional(),
});

export type DeliverOptions = z.infer<typeof deliverOptions>;

/**
 * Irregular bodies of webhooks. The real gateway sends each of them in some case.
 * - `created_at`: missing in the envelope, or inside `payload`
 * - `contains`: names only the first entity
 * - `key_order`: keys sorted or reversed, at every level
 * - `order_id`: null in the payment
 * - `captured`: text or a flag in the payment, independent of its status
 * - `error_description`: `""` or text in a payment that did not fail
 */
const irregular = z.strictObject({
  created_at: z.enum(['missing', 'in_payload']).optional(),
  contains: z.literal('incomplete').optional(),
  key_order: z.enum(['sorted', 'reversed']).optional(),
  order_id: z.null().optional(),
  captured: z.union([z.boolean(), z.enum(['0', '1'])]).optional(),
  error_description: z.string().nullable().optional(),
});

export type Irregular = z.infer<typeof irregular>;

/** The fields of each request that sends events. */
export const eventFields = {
  /** Unix seconds: the time of the events and of a new entity. */
  created_at: z.int().min(0).optional(),
  irregular: irregular.default({}),
  deliver: deliverOptions.default({}),
};

export type EventRequest = z.infer<z.ZodObject<typeof eventFields>>;

/** `signature`: null sends no signature header; by default the body is signed with the webhook secret. */
export type Webhook = {
  event: string | null;
  body: string;
  eventId?: string | undefined;
  signature?: string | null | undefined;
};

/** The webhooks that the option `events` selects, in its order; by default all. */
export function chosen(webhooks: Webhook[], { events }: DeliverOptions): Webhook[] {
  return events?.flatMap((name) => webhooks.filter(({ event }) => event === name)) ?? webhooks;
}

type Entities = {
  refund?: Refund;
  subscription?: Subscription;
  payment?: Payment;
  order?: Order;
  dispute?: Dispute;
  settlement?: Settlement;
};

/** The webhook of an event that a request caused. */
export function createWebhook(
  event: string,
  entities: Entities,
  { created_at, irregular }: { created_at: number; irregular: Irregular },
): Webhook {
  return { event, body: eventBody(event, entities, { createdAt: created_at, irregular }) };
}

/**
 * The raw body of a webhook: the gateway's envelope with the current entities, in the given order.
 * @param options `createdAt`: Unix seconds; `accountId`: the id of the gateway's account
 */
export function eventBody(
  event: string,
  entities: Entities,
  { createdAt, irregular, accountId = 'acc_Simulator00001' }: {
    createdAt: number;
    irregular: Irregular;
    accountId?: string;
  },
): string {
  const named = Object.entries(entities).filter(([, entity]) => entity !== undefined);
  const contains = named.map(([name]) => name);
  const payload = Object.fromEntries(named.map(([name, entity]) => {
    return [name, { entity: name === 'payment' ? { ...entity, ...paymentFields(irregular) } : entity }];
  }));
  const envelope = {
    entity: 'event',
    account_id: accountId,
    event,
    contains: irregular.contains === 'incomplete' ? contains.slice(0, 1) : contains,
    payload: irregular.created_at === 'in_payload' ? { ...payload, created_at: createdAt } : payload,
    ...irregular.created_at === undefined ? { created_at: createdAt } : {},
  };
  return JSON.stringify(irregular.key_order === undefined ? envelope : ordered(envelope, irregular.key_order));
}

function paymentFields({ order_id, captured, error_description }: Irregular) {
  const fields = Object.entries({ order_id, captured, error_description });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function ordered(value: unknown, order: 'sorted' | 'reversed'): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, ordered(inner, order)] as const);
  return Object.fromEntries(order === 'reversed' ? entries.reverse() : entries.sort(([a], [b]) => a < b ? -1 : 1));
}
