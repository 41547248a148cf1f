import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answer, refusal } from '../helpers/http/answer.ts';
import { type ApiProxy, startApiProxy } from '../helpers/http/api-proxy.ts';
import { createCaller, sessionClaims } from '../helpers/http/caller.ts';
import { requestSubscription } from '../helpers/http/requests.ts';
import { base64Url, createToken, encodeJson } from '../helpers/http/tokens.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

// Hosted projects sign sessions with ES256 and publish the public key. The local auth server does not.
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
  proxy = startApiProxy(() => project.apiUrl, (request, forwardRequest) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/auth/')) return forwardRequest();
    asked.push(pathname);
    if (!pathname.endsWith('/jwks.json')) return forwardRequest();
    return keysAreDown ? Response.json({ message: 'down' }, { status: 503 }) : Response.json(jwks);
  });
});
afterAll(() => proxy.stop());
beforeEach(() => {
  keysAreDown = false;
  asked = [];
});

/** The claims of a session that this project's auth server issues. */
function claimsOf(userId: string): Record<string, unknown> {
  return { ...sessionClaims(userId), iss: `${proxy.url}/auth/v1` };
}

async function createAsymmetricToken(claims: unknown, { kid = 'key-1', key = published.privateKey } = {}) {
  const signed = `${encodeJson({ alg: 'ES256', typ: 'JWT', kid })}.${encodeJson(claims)}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, bytes);
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

const now = () => Math.floor(Date.now() / 1000);
const readFailed = refusal(500, 'Failed to get subscription');
const nothingYet = { status: 200, body: { subscription: null, currentTier: 'free', payments: [], billing: null } };

/** Sessions signed by the published key that are refused for their claims. */
const refusedClaims: Record<string, () => Record<string, unknown>> = {
  'an expired session': () => ({ exp: now() - 1 }),
  'a session without an expiry': () => ({ exp: undefined }),
  'a session that is not valid yet': () => ({ nbf: now() + 60 }),
  'a session of another issuer': () => ({ iss: 'https://another.example.com/auth/v1' }),
  'a session for another audience': () => ({ aud: 'another' }),
  'a session of the anonymous role': () => ({ role: 'anon' }),
  'a session of the service role': () => ({ role: 'service_role' }),
  'a session without a user id': () => ({ sub: undefined }),
  'a session whose user id is not a UUID': () => ({ sub: 'nobody' }),
};

/** Tokens that no private key of this project signed. */
const forgeries: Record<string, (claims: Record<string, unknown>) => Promise<string>> = {
  'another key under the same id': async (claims) =>
    await createAsymmetricToken(claims, {
      key: (await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify'])).privateKey,
    }),
  'an unknown key': (claims) => createAsymmetricToken(claims, { kid: 'key-unknown' }),
  'no key at all': (claims) =>
    Promise.resolve(`${encodeJson({ alg: 'none', typ: 'JWT', kid: 'key-1' })}.${encodeJson(claims)}.`),
  'the public key as a shared secret': async (claims) =>
    await createToken(claims, {
      secret: JSON.stringify(await crypto.subtle.exportKey('jwk', published.publicKey)),
      header: { alg: 'HS256', typ: 'JWT', kid: 'key-1' },
    }),
  'the public key, for another algorithm': async (claims) => {
    const [, ...rest] = (await createAsymmetricToken(claims)).split('.');
    return [encodeJson({ alg: 'RS256', typ: 'JWT', kid: 'key-1' }), ...rest].join('.');
  },
};

const addresses = {
  get apiUrl() {
    return proxy.url;
  },
  get poolUrl() {
    return project.poolUrl;
  },
};

describe.each(restSample)('%s', (target) => {
  describe('with session keys available', () => {
    const service = useService(target, addresses);

    test('GET /api/subscriptions with fifty sessions, valid and forged, at once → one call of the auth server, for the keys', async () => {
      const { id } = await createCaller(project.database);
      const tokens = await Promise.all(Array.from(
        { length: 50 },
        (_, index) => createAsymmetricToken(claimsOf(id), { kid: index % 2 === 0 ? 'key-1' : `key-${index + 1}` }),
      ));
      const answers = await Promise.all(tokens.map((token) => answer(requestSubscription(service, token))));
      expect(answers).toEqual(tokens.map((_, index) => index % 2 === 0 ? nothingYet : unauthorized));
      expect(asked).toEqual(['/auth/v1/.well-known/jwks.json']);
    });

    test('GET /api/subscriptions with a session without issuer and audience → 200', async () => {
      const { id } = await createCaller(project.database);
      const token = await createAsymmetricToken({ ...claimsOf(id), iss: undefined, aud: undefined });
      expect(await answer(requestSubscription(service, token))).toEqual(nothingYet);
    });

    test.each(Object.entries(refusedClaims))('GET /api/subscriptions with %s → 401', async (_, change) => {
      const { id } = await createCaller(project.database);
      const token = await createAsymmetricToken({ ...claimsOf(id), ...change() });
      expect(await answer(requestSubscription(service, token))).toEqual(unauthorized);
      expect(asked).toEqual([]);
    });

    test.each(Object.entries(forgeries))(
      'GET /api/subscriptions with a session signed with %s → 401',
      async (_, forge) => {
        const { id } = await createCaller(project.database);
        expect(await answer(requestSubscription(service, await forge(claimsOf(id))))).toEqual(unauthorized);
        expect(asked.filter((path) => path.endsWith('/jwks.json'))).toEqual([]);
      },
    );

    test('GET /api/subscriptions while the auth server is down, with a known key → 200', async () => {
      keysAreDown = true;
      const { id } = await createCaller(project.database);
      expect(await answer(requestSubscription(service, await createAsymmetricToken(claimsOf(id))))).toEqual(nothingYet);
      expect(asked).toEqual([]);
    });
  });

  describe('with session keys never available', () => {
    const service = useService(target, addresses);

    test('GET /api/subscriptions twenty times → 500, not 401; one call of the auth server', async () => {
      keysAreDown = true;
      const token = await createAsymmetricToken(claimsOf(crypto.randomUUID()));
      for (let i = 0; i < 10; i++) {
        const answers = await Promise.all([1, 2].map(() => answer(requestSubscription(service, token))));
        expect(answers).toEqual([readFailed, readFailed]);
      }
      expect(asked).toEqual(['/auth/v1/.well-known/jwks.json']);
    });
  });
});
