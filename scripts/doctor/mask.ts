/** Replaces secrets in a text. */
export type Mask = (text: string) => string;

/**
 * Creates a mask for these values, also in percent-encoding, Base64 and JSON escapes. Short values are masked, too: the
 * output may become harder to read, but shows no secret.
 */
export function createMask(values: readonly string[]): Mask {
  const forms = values.filter((value) => value !== '').flatMap((value) => [
    value,
    decoded(value),
    encodeURIComponent(value),
    base64(value),
    JSON.stringify(value).slice(1, -1),
  ]);
  // The longest first: one secret may be a part of another.
  const secrets = [...new Set(forms)].sort((one, other) => other.length - one.length);
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
