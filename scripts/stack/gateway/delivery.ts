import { createHmac } from 'node:crypto';
import type { DeliverOptions, Webhook } from './events.ts';
import { newId } from './new-id.ts';

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

/** One POST of a webhook. Without an answer `status` is null and `error` is the reason. */
export type Attempt = { at: string; status: number | null; error: string | null; duration_ms: number };

/**
 * Signs a webhook with the current secret. A later change of the secret does not affect it.
 * @param at the current time, ISO 8601
 */
export function prepareDelivery(
  { event, body, eventId, signature }: Webhook,
  { drop = false }: DeliverOptions,
  { secret, at }: { secret: string; at: string },
): Delivery {
  const dropped = Array.isArray(drop) ? drop.some((name) => name === event) : drop;
  // Without a webhook secret the gateway sends unsigned webhooks.
  const signed = () => secret === '' ? null : signHex(secret, body);
  return {
    event_id: eventId ?? newId('evt'),
    event,
    body,
    signature: signature === undefined ? signed() : signature,
    state: dropped ? 'dropped' : 'pending',
    attempts: [],
    retry_after_ms: null,
    created_at: at,
  };
}

/** The names of the headers with the signature and the id of an event. */
export type HeaderNames = { signature: string; eventId: string };

/** `at`: when the attempt is made, in the gateway's time. */
type Post = { url: string; headers: HeaderNames; at: string; timeoutMs: number; signal: AbortSignal };

/** Posts a webhook once. After `timeoutMs`, or when the signal aborts, the status is null. Never throws. */
export async function postDelivery(
  { event_id, body, signature }: Delivery,
  { url, headers, at, timeoutMs, signal }: Post,
): Promise<Attempt> {
  const begun = performance.now();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  const finished = (status: number | null, error: string | null): Attempt => {
    return { at, status, error, duration_ms: Math.round(performance.now() - begun) };
  };
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        [headers.eventId]: event_id,
        ...signature === null ? {} : { [headers.signature]: signature },
      },
      // A redirect counts as an answer other than 2xx and is not followed.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout.signal]),
    });
    await response.body?.cancel();
    return finished(response.status, null);
  } catch (error) {
    return finished(null, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** HMAC-SHA256 of the message, both texts as UTF-8, as 64 lower-case hex digits. @throws Error for an empty secret */
export function signHex(secret: string, message: string): string {
  if (secret === '') throw new Error('an empty secret signs nothing');
  return createHmac('sha256', secret).update(message).digest('hex');
}
