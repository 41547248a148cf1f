/** The part of `node:crypto` that the function uses: the hosted runtime's type check does not find the Node types. */

type Bytes = Uint8Array;

interface Digest {
  update(message: string | Bytes): Digest;
  digest(): Bytes;
  digest(encoding: 'hex'): string;
}

export function createHash(algorithm: 'sha256'): Digest;
export function createHmac(algorithm: 'sha256', key: string): Digest;
/** @throws when the lengths differ. */
export function timingSafeEqual(one: Bytes, other: Bytes): boolean;
