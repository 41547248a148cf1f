import { z } from 'zod';

/**
 * The body of `POST /simulate/endpoint`: the settings of the gateway's dashboard, and the speed of retries.
 * - `enabled`: switches the endpoint on or off
 * - `secret`: signs new events; retries of older events keep their signature
 * - `time_scale`: how many times faster than real time the 24 hours of retries pass
 */
export const endpointRequest = z.strictObject({
  enabled: z.boolean().optional(),
  secret: z.string().min(1).max(255).optional(),
  time_scale: z.number().min(1).max(1_000_000).optional(),
});

/** The webhook endpoint as the gateway's dashboard shows it. */
export type Endpoint = {
  url: string;
  enabled: boolean;
  disabled_at: string | null;
  /** `retries_exhausted`: the last delivery of an event failed. `control`: by `POST /simulate/endpoint`. */
  disabled_by: 'retries_exhausted' | 'control' | null;
  secret_rotated_at: string | null;
  time_scale: number;
};
