import { z } from 'zod';
import { EVENT_NAMES } from './event-names.ts';

// A misspelt name is refused: a test would wait for ever for what it asked for wrongly.
const eventName = z.enum(EVENT_NAMES);

/**
 * The vices of a delivery, on demand, in the `deliver` field of what sends webhooks:
 * - `events`: these alone, in this order;
 * - `drop`: all, or these, are recorded and not sent, but by `POST /simulate/redeliver`;
 * - `reorder`: the last event first; by default one event after another, in the order they came about;
 * - `at_once`: all together, so that they race;
 * - `duplicate`: so many further deliveries of each, though the first was accepted;
 * - `delay_ms`: wait before the first;
 * - `first_retry_ms`: the pause before the first retry, doubling from then on, in the gateway's time.
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
