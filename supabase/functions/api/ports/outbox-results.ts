/** The results of the database's functions for side effects, as the function reads them. */
import { z } from 'zod';
import { unread } from './reconcile-results.ts';

const time = z.string().nullable();

export const outboxResults = {
  claim_outbox: z.object({
    token: z.string(),
    /** `key` names the cause of the side effect and is the same at every attempt. */
    rows: z.array(
      z.object({ id: z.number(), destination: z.string(), key: z.string(), kind: z.string(), payload: z.unknown() }),
    ),
    /** How many other due rows were parked because of their age. */
    parked: z.number(),
    /** The destinations that may have further due rows. */
    more: z.array(z.string()),
    next_attempt_at: time,
  }),
  complete_outbox: unread,
  fail_outbox: z.object({ retried: z.number(), parked: z.number() }),
  next_outbox_attempt: z.object({ next_attempt_at: time }),
};
