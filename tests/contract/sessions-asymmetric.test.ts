import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answer, refusal } from '../helpers/answer.ts';
import { type ApiProxy, startApiProxy } from '../helpers/api-proxy.ts';
import { createCaller, sessionClaims } from '../helpers/caller.ts';
import { readSubscription } from '../helpers/requests.ts';
import { targets } from '../helpers/targets.ts';
import { base64Url, encodeJson } from '../helpers/tokens.ts';
import { useProject, useService } from '../helpers/use-project.ts';

// Hosted projects sign sessions with ES256 and publish the key; the local auth server does not.
const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const project = useProject();
const unauthorized = refusal(401, 'Unauthorized');

let published: CryptoKeyPair;
let jwks: unknown;
let keysAreDown = false;
let asked: string[] = [];
let proxy: ApiProxy;

beforeAll(async () => {
  published = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const key = await crypto.subtle.exportKey('jwk', published.publicKey);
  jwks = { keys: [{ ...key, kid: 'key-1', alg: 'ES256', use: 'sig', key_ops: ['verify'] }] };
  proxy = startApiProxy(() => project.apiUrl, (request, passOn) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/auth/')) return passOn();
    asked.push(pathname);
    if (!pathname.endsWith('/jwks.json')) return passOn();
    return keysAreDown ? Response.json({ message: 'down' }, { status: 503 }) : Response.json(jwks);
  });
});
afterAll(() => proxy.stop());
beforeEach(() => {
  keysAreDown = false;
  asked = [];
});

async function createAsymmetricToken(claims: unknown, { kid = 'key-1', key = published.privateKey } = {}) {
  const signed = `${encodeJson({ alg: 'ES256', typ: 'JWT', kid })}.${encodeJson(claims)}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, bytes);
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

describe.each(targets)('%s', (target) => {
  const service = useService(target, {
    get apiUrl() {
      return proxy.url;
    },
  });

  test('GET /api/subscriptions with an ES256 session → 200, the auth server asked for nothing but its keys', async () => {
    const { id } = await createCaller(project.database);
    for (let i = 0; i < 3; i++) {
      const token = await createAsymmetricToken(sessionClaims(id));
      expect(await answer(readSubscription(service, token)))
        .toEqual({ status: 200, body: { subscription: null, currentTier: 'free', payments: [] } });
    }
    expect(asked.filter((path) => !path.endsWith('/jwks.json'))).toEqual([]);
    expect(asked.length).toBeLessThanOrEqual(1);
  });

  test('GET /api/subscriptions with an ES256 session that is forged, expired or of nobody → 401', async () => {
    const { id } = await createCaller(project.database);
    const other = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
    const now = Math.floor(Date.now() / 1000);
    const tokens = [
      await createAsymmetricToken(sessionClaims(id), { key: other.privateKey }),
      await createAsymmetricToken({ ...sessionClaims(id), exp: now - 60 }),
      await createAsymmetricToken({ ...sessionClaims(id), sub: undefined }),
      await createAsymmetricToken({ ...sessionClaims(id), sub: 'nobody' }),
      await createAsymmetricToken(sessionClaims(id), { kid: 'key-unknown' }),
    ];
    for (const token of tokens) expect(await answer(readSubscription(service, token))).toEqual(unauthorized);
  });

  test('GET /api/subscriptions while the keys of sessions are out of reach → 500, not 401', async () => {
    keysAreDown = true;
    const token = await createAsymmetricToken(sessionClaims(crypto.randomUUID()), { kid: 'key-not-seen-yet' });
    expect(await answer(readSubscription(service, token))).toEqual(refusal(500, 'Failed to get subscription'));
  });
});
