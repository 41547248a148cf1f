const HMAC: HmacKeyGenParams = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Compares two secrets in constant time. An empty expected secret matches nothing, so that a missing setting grants no
 * access.
 */
export async function isSameSecret(given: string, expected: string): Promise<boolean> {
  if (expected === '') return false;
  // `verify` compares in constant time. The random key makes MACs of both texts comparable.
  const key = await crypto.subtle.generateKey(HMAC, false, ['sign', 'verify']);
  const encoder = new TextEncoder();
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(expected));
  return await crypto.subtle.verify('HMAC', key, signature, encoder.encode(given));
}
