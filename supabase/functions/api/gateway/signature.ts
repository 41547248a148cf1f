// @ts-types="../node-crypto.d.ts"
import { createHmac, timingSafeEqual } from 'node:crypto';

const utf8 = new TextEncoder();

/** Which of the secrets made a signature, the HMAC-SHA256 of a message; null: none of them. */
export type Verifier = (message: Uint8Array, signature: string) => 'current' | 'previous' | null;

/**
 * Creates a verifier of the gateway's signatures. Contract: Signatures.
 * @param secrets the current one first. Any of them verifies; an empty one never does.
 */
export function createVerifier(secrets: readonly string[]): Verifier {
  const keys = secrets.filter((secret) => secret !== '');
  return (message, signature) => {
    if (!/^[0-9a-f]{64}$/.test(signature)) return null;
    // Its text is compared: to decode it costs more. crypto.subtle.verify would do the same on another thread, which costs six
    // times as much.
    const given = utf8.encode(signature);
    const index = keys.findIndex((key) =>
      timingSafeEqual(utf8.encode(createHmac('sha256', key).update(message).digest('hex')), given)
    );
    if (index < 0) return null;
    return index === 0 ? 'current' : 'previous';
  };
}

/** The message that the signature of a subscription's first payment covers: the ids in the other order. */
export function subscriptionMessage(subscriptionId: string, paymentId: string): Uint8Array {
  return utf8.encode(`${paymentId}|${subscriptionId}`);
}

/** The message that a payment's signature covers. */
export function paymentMessage(orderId: string, paymentId: string): Uint8Array {
  return utf8.encode(`${orderId}|${paymentId}`);
}
