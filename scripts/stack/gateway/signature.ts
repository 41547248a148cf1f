/**
 * HMAC-SHA256 of the message, both texts as UTF-8, as 64 lower-case hex digits. Rejects with a `DataError` for an empty
 * secret.
 */
export async function signHex(secret: string, message: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(message)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
