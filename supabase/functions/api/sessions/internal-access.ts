// @ts-types="../node-crypto.d.ts"
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a request may use the internal endpoints: with INTERNAL_KEY or the project's secret key. */
export type InternalAccess = (request: Request) => boolean;

/** @param internalKey null: only the secret key is accepted. */
export function createInternalAccess(internalKey: string | null, secretKey: string): InternalAccess {
  return ({ headers }) =>
    isSame(headers.get('x-internal-key'), internalKey) || isSame(headers.get('apikey'), secretKey);
}

/** Compares in constant time. The hashes have the same length, which the comparison needs. */
function isSame(given: string | null, expected: string | null): boolean {
  if (!given || !expected) return false;
  return timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(expected).digest());
}
