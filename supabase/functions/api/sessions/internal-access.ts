const encoder = new TextEncoder();

/** Whether a request may use the internal endpoints: with INTERNAL_KEY or the project's secret key. */
export type InternalAccess = (request: Request) => Promise<boolean>;

/** @param internalKey null: only the secret key is accepted. */
export function createInternalAccess(internalKey: string | null, secretKey: string): InternalAccess {
  return async (request) =>
    await isSame(request.headers.get('x-internal-key'), internalKey) ||
    await isSame(request.headers.get('apikey'), secretKey);
}

/** Compares in constant time: both values' MACs under a random key are compared. */
async function isSame(given: string | null, expected: string | null): Promise<boolean> {
  if (!given || !expected) return false;
  const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const mac = await crypto.subtle.sign('HMAC', key, encoder.encode(expected));
  return await crypto.subtle.verify('HMAC', key, mac, encoder.encode(given));
}
