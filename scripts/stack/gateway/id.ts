const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 14;

/** A fresh id as the gateway makes them: the prefix, `_`, and 14 random case-sensitive alphanumerics. */
export function newId(prefix: string): string {
  let id = `${prefix}_`;
  while (id.length < prefix.length + 1 + LENGTH) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    // The bytes past the last whole round of the alphabet would favour its first letters.
    if (byte < ALPHABET.length * 4) id += ALPHABET[byte % ALPHABET.length];
  }
  return id;
}
