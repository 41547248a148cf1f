const encoder = new TextEncoder();

/** Says whether a request may use the internal endpoints: by INTERNAL_KEY, or by the project's secret key. */
export type InternalAccess = (request: Request) => Promise<boolean>;

/** @param internalKey null: the secret key alone opens them. */
export function createInternalAccess(internalKey: string | null, secretKey: string): InternalAccess {
  return async (request) =>
    await isSame(request.headers.get('x-internal-key'), internalKey) ||
    await isSame(request.headers.get('apikey'), secretKey);
}

/** In constant time: under a key that nobody knows, the MAC of one verifies the other, or not. */
async function isSame(given: string | null, expected: string | null): Promise<boolean> {
  if (!given || !expected) return false;
  const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const mac = await crypto.subtle.sign('HMAC', key, encoder.encode(expected));
  return await crypto.subtle.verify('HMAC', key, mac, encoder.encode(given));
}
