import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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
const now = () => Math.floor(Date.now() / 1000);

let published: Record<string, CryptoKeyPair>;
let asked: string[];
let authenticate: (token: string) => Promise<string | null>;
const createKey = () => crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
beforeEach(async () => {
  published = { 'key-1': await createKey() };
  asked = [];
  authenticate = authenticator(answer);
});
afterEach(() => {
  vi.useRealTimers();
});

function authenticator(request: typeof fetch) {
  const auth = createAuth(config, request);
  return (token: string) =>
    auth.authenticate(new Request(config.supabaseUrl, { headers: { authorization: `Bearer ${token}` } }));
}

/** An auth server that publishes the keys and refuses every session. */
async function answer(input: URL | RequestInfo): Promise<Response> {
  asked.push(String(input));
  if (!String(input).endsWith('/jwks.json')) return Response.json({ message: 'no' }, { status: 403 });
  const keys = await Promise.all(
    Object.entries(published).map(async ([kid, { publicKey }]) => {
      return { ...await crypto.subtle.exportKey('jwk', publicKey), kid };
    }),
  );
  return Response.json({ keys: [...keys, { kty: 'oct', kid: 'shared', k: 'c2VjcmV0' }, { kty: 'EC' }] });
}

async function createToken(claims: Record<string, unknown> = {}, kid = 'key-1'): Promise<string> {
  const payload = { ...sessionClaims(userId), iss: config.sessionIssuer, ...claims };
  const signed = `${encodeJson({ alg: 'ES256', typ: 'JWT', kid })}.${encodeJson(payload)}`;
  const key = published[kid]?.privateKey;
  if (key === undefined) return `${signed}.${base64Url(new Uint8Array(64))}`;
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, new TextEncoder().encode(signed));
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

const createShared = (claims: Record<string, unknown> = {}) =>
  `${encodeJson({ alg: 'HS256', typ: 'JWT' })}.${encodeJson({ ...sessionClaims(userId), ...claims })}.c2lnbmF0dXJl`;

describe('a session signed with a published key', () => {
  test.each<[Record<string, unknown>, isAccepted: boolean]>([
    [{ iss: undefined }, true],
    [{ iss: 'https://other.supabase.co/auth/v1' }, false],
    [{ aud: ['other', 'authenticated'] }, true],
    [{ aud: 'other' }, false],
    [{ role: 'anon' }, false],
    [{ exp: undefined }, false],
    [{ exp: now() - 1 }, false],
    [{ nbf: now() + 60 }, false],
    [{ sub: 'asha' }, false],
  ])('with the claims %j is accepted: %j', async (claims, isAccepted) => {
    expect(await authenticate(await createToken(claims))).toBe(isAccepted ? userId : null);
  });

  test('is refused after its expiry, and with a changed signature, although it was accepted before', async () => {
    const token = await createToken({ exp: now() + 60 });
    expect(await authenticate(token)).toBe(userId);
    expect(await authenticate(token.replace(/.{10}$/, (end) => end.split('').reverse().join('')))).toBeNull();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect(await authenticate(token)).toBeNull();
  });

  test('is refused where the key is a shared secret that the key set names', async () => {
    expect(await authenticate(await createToken({}, 'shared'))).toBeNull();
  });
});

describe('a session signed with the shared secret', () => {
  test('is refused for a minute without another call after the auth server refused it', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
    const calls = async (token: string) => {
      expect(await authenticate(token)).toBeNull();
      return asked.length;
    };
    const token = createShared();
    expect([await calls(token), await calls(token), await calls(token)]).toEqual([1, 1, 1]);
    expect(await calls(createShared({ session_id: 'another' }))).toBe(2);
    vi.setSystemTime(Date.now() + 60_001);
    expect(await calls(token)).toBe(3);
  });

  test('is checked by one call for all requests at once, and by another call for the next request', async () => {
    let calls = 0;
    authenticate = authenticator(() => {
      calls += 1;
      return Promise.resolve(Response.json({ id: userId }));
    });
    const token = createShared();
    const users = await Promise.all(Array.from({ length: 20 }, () => authenticate(token)));
    expect(new Set(users)).toEqual(new Set([userId]));
    expect(calls).toBe(1);
    expect(await authenticate(token)).toBe(userId);
    expect(calls).toBe(2);
  });

  test('is not refused when the auth server limits calls: the next request calls it again', async () => {
    const statuses = [429, 200];
    authenticate = authenticator(() => {
      const init = { status: statuses.shift() ?? 500, headers: { 'retry-after': '7' } };
      return Promise.resolve(Response.json({ id: userId }, init));
    });
    await expect(authenticate(createShared())).rejects.toMatchObject({ retryAfter: 7 });
    expect(await authenticate(createShared())).toBe(userId);
  });
});
