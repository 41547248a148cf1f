/** Replaces secrets in a text. */
export type Mask = (text: string) => string;

/**
 * A mask for these values, also where they are percent-encoded, in Base64 or escaped as in JSON. Short ones are masked,
 * too: a garbled word is better than a secret on a screen.
 */
export function createMask(values: readonly string[]): Mask {
  const written = values.filter((value) => value !== '').flatMap((value) => [
    value,
    decoded(value),
    encodeURIComponent(value),
    base64(value),
    JSON.stringify(value).slice(1, -1),
  ]);
  // The longest first: one may be a part of another.
  const secrets = [...new Set(written)].sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function base64(value: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(value)));
}
