const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 14;

/** A new id in the gateway's format: the prefix, `_`, and 14 random case-sensitive alphanumerics. */
export function newId(prefix: string): string {
  let id = `${prefix}_`;
  while (id.length < prefix.length + 1 + ID_LENGTH) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    // Larger bytes are dropped: with the remainder the first letters would be more frequent.
    if (byte < ID_ALPHABET.length * 4) id += ID_ALPHABET[byte % ID_ALPHABET.length];
  }
  return id;
}
