import { z } from 'zod';

/**
 * The body of `POST /simulate/endpoint`: what a person sets in the gateway's dashboard, and how fast time runs there.
 * - `enabled`: true switches the endpoint on again, false off;
 * - `secret`: signs every event from now on; older ones keep their signature on every retry;
 * - `time_scale`: the 24 hours of retries in so many times less.
 */
export const endpointRequest = z.strictObject({
  enabled: z.boolean().optional(),
  secret: z.string().min(1).max(255).optional(),
  time_scale: z.number().min(1).max(1_000_000).optional(),
});

export type EndpointChanges = z.infer<typeof endpointRequest>;

/** The webhook endpoint as the gateway's dashboard shows it. */
export type Endpoint = {
  url: string;
  enabled: boolean;
  disabled_at: string | null;
  /** `retries_exhausted`: by the gateway itself, after an event's last delivery failed. */
  disabled_by: 'retries_exhausted' | 'control' | null;
  secret_rotated_at: string | null;
  time_scale: number;
};
