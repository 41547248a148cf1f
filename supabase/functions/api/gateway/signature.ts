// @ts-types="../node-crypto.d.ts"
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether a signature is the HMAC-SHA256 of a message under one of the secrets. */
export type Verifier = (message: Uint8Array, signature: string) => boolean;

/**
 * Creates a verifier of the gateway's signatures. Contract: Signatures.
 * @param secrets any of them verifies; an empty one never does.
 */
export function createVerifier(secrets: readonly string[]): Verifier {
  const keys = secrets.filter((secret) => secret !== '');
  return (message, signature) => {
    // Checked before decoding: parseInt accepts upper case and trailing garbage.
    if (!/^[0-9a-f]{64}$/.test(signature)) return false;
    const given = Uint8Array.from(signature.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    // crypto.subtle.verify would do the same on another thread, which costs six times as much.
    return keys.some((key) => timingSafeEqual(createHmac('sha256', key).update(message).digest(), given));
  };
}

/** The message that the signature of a subscription's first payment covers: the ids in the other order. */
export function subscriptionMessage(subscriptionId: string, paymentId: string): Uint8Array {
  return new TextEncoder().encode(`${paymentId}|${subscriptionId}`);
}

/** The message that a payment's signature covers. */
export function paymentMessage(orderId: string, paymentId: string): Uint8Array {
  return new TextEncoder().encode(`${orderId}|${paymentId}`);
}
