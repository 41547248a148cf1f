import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createAuth } from '../../supabase/functions/api/sessions/auth.ts';
import { sessionClaims } from '../helpers/http/caller.ts';
import { base64Url, encodeJson } from '../helpers/http/tokens.ts';

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const config = {
  supabaseUrl: 'https://abc.supabase.co',
  publishableKey: 'sb_publishable_1',
  sessionIssuer: 'https://abc.supabase.co/auth/v1',
};
const userId = '3b1f8f0e-1d2c-4a5b-8c7d-9e0f1a2b3c4d';

let published: Record<string, CryptoKeyPair>;
let asked: string[];
beforeEach(async () => {
  published = { 'key-1': await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']) };
  asked = [];
});

/** An auth server that publishes the keys and refuses every session. */
async function answer(input: URL | RequestInfo): Promise<Response> {
  asked.push(String(input));
  if (!String(input).endsWith('/jwks.json')) return Response.json({ message: 'no' }, { status: 403 });
  const keys = await Promise.all(
    Object.entries(published).map(async ([kid, { publicKey }]) => ({
      ...await crypto.subtle.exportKey('jwk', publicKey),
      kid,
    })),
  );
  return Response.json({ keys: [...keys, { kty: 'oct', kid: 'shared', k: 'c2VjcmV0' }, { kty: 'EC' }] });
}

async function createToken(kid = 'key-1', claims: Record<string, unknown> = {}): Promise<string> {
  const signed = `${encodeJson({ alg: 'ES256', typ: 'JWT', kid })}.${
    encodeJson({ ...sessionClaims(userId), iss: config.sessionIssuer, ...claims })
  }`;
  const key = published[kid]?.privateKey;
  if (key === undefined) return `${signed}.${base64Url(new Uint8Array(64))}`;
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, new TextEncoder().encode(signed));
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

function requestWith(token: string): Request {
  return new Request('https://abc.supabase.co', { headers: { authorization: `Bearer ${token}` } });
}

describe('a session signed with a published key', () => {
  test('returns its user for the first and the second request', async () => {
    const auth = createAuth(config, answer);
    const token = await createToken();
    expect(await auth.authenticate(requestWith(token))).toBe(userId);
    expect(await auth.authenticate(requestWith(token))).toBe(userId);
    expect(asked).toEqual([`${config.supabaseUrl}/auth/v1/.well-known/jwks.json`]);
  });

  test('of another issuer is refused, and one without an issuer is not', async () => {
    const auth = createAuth(config, answer);
    const others = await createToken('key-1', { iss: 'https://other.supabase.co/auth/v1' });
    expect(await auth.authenticate(requestWith(others))).toBeNull();
    expect(await auth.authenticate(requestWith(await createToken('key-1', { iss: undefined })))).toBe(userId);
  });

  test('is refused after its expiry, although it was accepted before', async () => {
    const auth = createAuth(config, answer);
    const token = await createToken('key-1', { exp: Math.floor(Date.now() / 1000) + 60 });
    expect(await auth.authenticate(requestWith(token))).toBe(userId);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect(await auth.authenticate(requestWith(token))).toBeNull();
    vi.useRealTimers();
  });

  test('is refused after its key was revoked, although it was accepted before', async () => {
    const auth = createAuth(config, answer);
    const token = await createToken();
    expect(await auth.authenticate(requestWith(token))).toBe(userId);
    published = { 'key-2': await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']) };
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.setSystemTime(0);
    vi.advanceTimersByTime(10 * 60_000 + 1);
    expect(await auth.authenticate(requestWith(await createToken('key-2')))).toBe(userId);
    expect(await auth.authenticate(requestWith(token))).toBeNull();
    vi.useRealTimers();
  });

  test('with a changed signature is refused, although the unchanged one was accepted before', async () => {
    const auth = createAuth(config, answer);
    const token = await createToken();
    expect(await auth.authenticate(requestWith(token))).toBe(userId);
    const changed = token.replace(/.{10}$/, (end) => end.split('').reverse().join(''));
    expect(await auth.authenticate(requestWith(changed))).toBeNull();
  });
});

test('a session signed with a shared secret that the key set names is refused', async () => {
  const auth = createAuth(config, answer);
  expect(await auth.authenticate(requestWith(await createToken('shared')))).toBeNull();
});

describe('a session signed with the shared secret', () => {
  const createShared = (claims: Record<string, unknown> = {}) =>
    `${encodeJson({ alg: 'HS256', typ: 'JWT' })}.${encodeJson({ ...sessionClaims(userId), ...claims })}.c2lnbmF0dXJl`;

  test('is refused for a minute without another call after the auth server refused it', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
    try {
      const auth = createAuth(config, answer);
      for (let count = 0; count < 3; count += 1) {
        expect(await auth.authenticate(requestWith(createShared()))).toBeNull();
      }
      expect(asked).toHaveLength(1);
      expect(await auth.authenticate(requestWith(createShared({ session_id: 'another' })))).toBeNull();
      expect(asked).toHaveLength(2);
      vi.setSystemTime(Date.now() + 60_001);
      expect(await auth.authenticate(requestWith(createShared()))).toBeNull();
      expect(asked).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is not refused when the auth server limits calls: the next request calls it again', async () => {
    const statuses = [429, 200];
    const auth = createAuth(
      config,
      () =>
        Promise.resolve(
          Response.json({ id: userId }, { status: statuses.shift() ?? 500, headers: { 'retry-after': '7' } }),
        ),
    );
    await expect(auth.authenticate(requestWith(createShared()))).rejects.toMatchObject({ retryAfter: 7 });
    expect(await auth.authenticate(requestWith(createShared()))).toBe(userId);
  });
});
