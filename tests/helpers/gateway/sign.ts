/** The secrets with which the tests sign. */
export const secrets = {
  GATEWAY_KEY_ID: 'key_test',
  GATEWAY_KEY_SECRET: 'test-key-secret',
  GATEWAY_WEBHOOK_SECRET: 'test-webhook-secret',
} as const;

const encoder = new TextEncoder();

/** HMAC-SHA256 of a message. */
export async function hmac(secret: string, message: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const bytes = typeof message === 'string' ? encoder.encode(message) : message;
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
}

/** HMAC-SHA256 as the gateway writes it: 64 lower-case hex digits. */
export async function sign(secret: string, message: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return Array.from(await hmac(secret, message), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
