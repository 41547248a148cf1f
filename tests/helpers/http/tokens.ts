import { localKeys } from '../project/keys.ts';
import { hmac } from '../gateway/sign.ts';

const encoder = new TextEncoder();

/** An access token with the claims; by default HS256 with the project's secret. */
export async function createToken(
  claims: Record<string, unknown>,
  { secret = localKeys.jwtSecret, header = { alg: 'HS256', typ: 'JWT' } }: {
    secret?: string;
    header?: Record<string, unknown>;
  } = {},
): Promise<string> {
  const signed = `${encodeJson(header)}.${encodeJson(claims)}`;
  return `${signed}.${base64Url(await hmac(secret, signed))}`;
}

/** A part of a token: JSON in base64url. */
export function encodeJson(value: unknown): string {
  return base64Url(encoder.encode(JSON.stringify(value)));
}

/** Base64url without padding. */
export function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
