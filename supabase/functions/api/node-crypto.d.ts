/** What the function uses of `node:crypto`: the hosted runtime's type check does not find the package of all its types. */

type Bytes = Uint8Array;

/** Takes a message and gives its digest. */
interface Digest {
  update(message: string | Bytes): Digest;
  digest(): Bytes;
  digest(encoding: 'hex'): string;
}

export function createHash(algorithm: 'sha256'): Digest;
export function createHmac(algorithm: 'sha256', key: string): Digest;
/** @throws where the lengths differ. */
export function timingSafeEqual(one: Bytes, other: Bytes): boolean;
