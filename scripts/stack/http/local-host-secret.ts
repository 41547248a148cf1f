const HMAC: HmacKeyGenParams = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Compares two secrets in a time that does not tell how much of them agrees. An empty expected secret matches nothing, so
 * that a setting left out never opens a door.
 */
export async function isSameSecret(given: string, expected: string): Promise<boolean> {
  if (expected === '') return false;
  // `verify` is the runtime's constant-time comparison; a key used once makes it compare the two texts.
  const key = await crypto.subtle.generateKey(HMAC, false, ['sign', 'verify']);
  const encoder = new TextEncoder();
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(expected));
  return await crypto.subtle.verify('HMAC', key, signature, encoder.encode(given));
}
