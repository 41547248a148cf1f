const encoder = new TextEncoder();

/** Says whether a signature is the HMAC-SHA256 of a message under one of the secrets. */
export type Verifier = (message: BufferSource, signature: string) => Promise<boolean>;

/**
 * A verifier of the gateway's signatures: exactly 64 lower-case hex digits, compared in constant time.
 * @param secrets any of them verifies; an empty one never does.
 */
export function createVerifier(secrets: readonly string[]): Verifier {
  const keys = Promise.all(secrets.filter((secret) => secret !== '').map(importKey));
  return async (message, signature) => {
    // Decoding first would let upper case and garbage tails pass.
    if (!/^[0-9a-f]{64}$/.test(signature)) return false;
    const bytes = Uint8Array.from(signature.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    for (const key of await keys) {
      if (await crypto.subtle.verify('HMAC', key, bytes, message)) return true;
    }
    return false;
  };
}

/** The message that a payment's signature covers. */
export function paymentMessage(orderId: string, paymentId: string): BufferSource {
  return encoder.encode(`${orderId}|${paymentId}`);
}

function importKey(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}
