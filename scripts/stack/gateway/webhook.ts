import type { Attempt } from './attempt.ts';
import type { DeliverOptions } from './deliver-options.ts';
import { newId } from './id.ts';
import { signHex } from './signature.ts';

/** `signature`: null sends no signature header; by default the body is signed with the webhook secret. */
export type Webhook = { event: string | null; body: string; eventId?: string | undefined; signature?: string | null };

/** A webhook and its attempts so far. Id, body and signature are the same in all attempts. */
export type Delivery = {
  event_id: string;
  event: string | null;
  body: string;
  signature: string | null;
  /** `endpoint_off`: the endpoint was disabled, so this webhook is never delivered (again). */
  state: 'pending' | 'retrying' | 'delivered' | 'given_up' | 'dropped' | 'endpoint_off';
  attempts: Attempt[];
  /** While retrying: the pause before the next attempt, in milliseconds of the gateway's time. */
  retry_after_ms: number | null;
  created_at: string;
};

/** The current secret and time (ISO 8601). */
type Signing = { secret: string; at: string };

/** Signs a webhook with the current secret. A later change of the secret does not affect it. */
export async function prepareDelivery(
  webhook: Webhook,
  options: DeliverOptions,
  { secret, at }: Signing,
): Promise<Delivery> {
  const { event, body, eventId, signature } = webhook;
  const { drop = false } = options;
  const dropped = Array.isArray(drop) ? drop.some((name) => name === event) : drop;
  // Without a webhook secret the gateway sends unsigned webhooks.
  const signed = async () => secret === '' ? null : await signHex(secret, body);
  return {
    event_id: eventId ?? newId('evt'),
    event,
    body,
    signature: signature === undefined ? await signed() : signature,
    state: dropped ? 'dropped' : 'pending',
    attempts: [],
    retry_after_ms: null,
    created_at: at,
  };
}
