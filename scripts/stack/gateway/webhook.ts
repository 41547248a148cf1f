import type { Attempt } from './attempt.ts';
import type { DeliverOptions } from './deliver-options.ts';
import { newId } from './id.ts';
import { signHex } from './signature.ts';

/** `signature` null sends no signature header; left out, the body is signed with the webhook secret. */
export type Webhook = { event: string | null; body: string; eventId?: string | undefined; signature?: string | null };

/** A webhook and every POST of it so far. Its id, body and signature are the same in all of them. */
export type Delivery = {
  event_id: string;
  event: string | null;
  body: string;
  signature: string | null;
  /** `endpoint_off`: the endpoint was switched off, so that this one is never delivered (again). */
  state: 'pending' | 'retrying' | 'delivered' | 'given_up' | 'dropped' | 'endpoint_off';
  attempts: Attempt[];
  /** While retrying: the pause before the next attempt, in milliseconds of the gateway's time. */
  retry_after_ms: number | null;
  created_at: string;
};

/** The secret and the time, ISO 8601, of the moment in which a webhook is made. */
type Moment = { secret: string; at: string };

/** Signs a webhook under the secret of this moment: no later one changes it. */
export async function prepareDelivery(
  webhook: Webhook,
  options: DeliverOptions,
  { secret, at }: Moment,
): Promise<Delivery> {
  const { event, body, eventId, signature } = webhook;
  const { drop = false } = options;
  const dropped = Array.isArray(drop) ? drop.some((name) => name === event) : drop;
  // Without a webhook secret the gateway sends its webhooks unsigned.
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
