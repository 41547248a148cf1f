import { z } from 'zod';
import { EVENT_NAMES } from './event-names.ts';

// Unknown names are refused: with a misspelt name a test would wait for ever.
const eventName = z.enum(EVENT_NAMES);

/**
 * How webhooks are delivered: the field `deliver` of each request that sends webhooks.
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
