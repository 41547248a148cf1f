import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { startApiProxy } from '../helpers/http/api-proxy.ts';
import { type Buyer, sessionClaims } from '../helpers/http/caller.ts';
import { answer, call, refusal, requestSubscription } from '../helpers/http/requests.ts';
import { targets, useProject, useService } from '../helpers/project/use-project.ts';
import { base64Url, createToken, encodeJson } from '../helpers/http/tokens.ts';
import { readTier } from '../helpers/records/read-records.ts';

type Claims = Record<string, unknown>;
const project = useProject();
const { database, newBuyer, newUser, unchanged } = project;
const unauthorized = refusal(401, 'Unauthorized');
const now = () => Math.floor(Date.now() / 1000);

/** Claims that no session of a user has. All: unit/auth. */
const refusedClaims = (): Claims[] => [
  { exp: now() - 1 },
  { exp: undefined },
  { exp: 'never' },
  { role: 'anon' },
  { role: 'service_role' },
  { sub: undefined },
  { sub: 'nobody' },
  { sub: [crypto.randomUUID()] },
];

describe.each(targets)('%s, tokens under the shared secret', (target) => {
  const service = useService(target, project);
  let user: Buyer;
  let token: string;
  beforeAll(async () => {
    user = await newBuyer();
    token = user.accessToken;
  });

  /** Sends a read and a verification with only these headers. */
  const readAndVerify = async (headers: Record<string, string>, query = '') => [
    await call(service, `GET /api/subscriptions${query}`, { headers }),
    await call(service, `POST /api/payments/verify${query}`, { headers, body: user.paid }),
  ];
  async function refused(...authorizations: (string | Promise<string>)[]): Promise<void> {
    await unchanged(async () => {
      for (const value of authorizations) {
        const authorization = await value;
        expect({ authorization, answers: await readAndVerify({ authorization }) })
          .toEqual({ authorization, answers: [unauthorized, unauthorized] });
      }
    });
  }
  const bearer = async (claims: Claims, options?: Parameters<typeof createToken>[1]) =>
    `Bearer ${await createToken({ ...sessionClaims(user.id), ...claims }, options)}`;
  /** The token without its signature. */
  const unsigned = (signed: string) => signed.split('.').slice(0, 2).join('.');

  test('read and verify with a header that names no session → 401', async () => {
    const odd = ['', 'Bearer ', 'Bearer \u00e9.\u00ff', 'Bearer ..', 'Bearer YWJj.YWJj.YWJj'];
    const { publishable, secret, jwtSecret } = localKeys;
    const tokens = [publishable, secret, jwtSecret, `${unsigned(token)}.`, `${token}.x`, `${token} ${token}`];
    await refused(...odd, token, `Basic ${token}`, ...tokens.map((token) => `Bearer ${token}`));
    await refused(`Bearer ${token}, Bearer ${token}`);
  });

  test('read and verify with a forged token, or one of an unknown user → 401', async () => {
    const [header, , signature] = token.split('.');
    await refused(
      `Bearer ${token.slice(0, -4)}AAAA`,
      `Bearer ${header}.${encodeJson({ ...sessionClaims(user.id), role: 'service_role' })}.${signature}`,
      bearer({}, { secret: localKeys.publishable }),
      bearer({ filler: 'x'.repeat(15_000) }, { secret: 'another-secret' }),
      bearer({ sub: crypto.randomUUID() }),
    );
  });

  test('read and verify with a token of other claims, or whose claims or header are no object → 401', async () => {
    const header = encodeJson({ alg: 'HS256', typ: 'JWT' });
    await refused(
      ...refusedClaims().map((claims) => bearer(claims)),
      ...[null, [], 'x', {}].map(encodeJson).flatMap((odd) => [
        `Bearer ${header}.${odd}.c2lnbmF0dXJl`,
        `Bearer ${odd}.${encodeJson(sessionClaims(user.id))}.c2lnbmF0dXJl`,
      ]),
    );
  });

  test('read and verify with a token of another algorithm, signed or unsigned → 401', async () => {
    const known = ['none', 'RS256', 'ES256', null].flatMap((alg) => [{ alg }, { alg, kid: 'key-1' }]);
    for (
      const algorithm of [...known, {}, { alg: 'ES256', kid: { a: 1 } }, { alg: 'EdDSA', kid: '../../etc/passwd' }]
    ) {
      const signed = await bearer({}, { header: { typ: 'JWT', ...algorithm } });
      await refused(signed, `${unsigned(signed)}.`);
    }
  });

  test('read and verify with the session outside the header authorization, or after the user was deleted → 401', async () => {
    const headers = { apikey: token, cookie: `sb-access-token=${token}` };
    const query = `?access_token=${token}&apikey=${localKeys.secret}`;
    expect(await readAndVerify(headers, query)).toEqual([unauthorized, unauthorized]);
    const gone = await newUser();
    await database.query('delete from auth.users where id = $1', [gone.id]);
    await refused(`Bearer ${gone.accessToken}`);
  });

  test('read and verify with the scheme in any case → 200', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER  ']) {
      const answers = await readAndVerify({ authorization: `${scheme} ${token}` });
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
    expect(await readTier(database, user.id)).toBe('pro');
  });
});

// Hosted projects sign sessions with ES256 and publish the public key. The local auth server does not.
describe.each(targets)('%s, tokens under a published key', (target) => {
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' } as const;
  const readFailed = refusal(500, 'Failed to get subscription');
  const nothing = { subscription: null, currentTier: 'free', entitlements: {}, payments: [], billing: null };
  const nothingYet = { status: 200, body: nothing };
  const jwksPath = '/auth/v1/.well-known/jwks.json';
  let published: CryptoKeyPair;
  let publicKey: JsonWebKey;
  let keysAreDown = false;
  let asked: string[] = [];
  let userId: string;
  beforeAll(async () => {
    published = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
    publicKey = await crypto.subtle.exportKey('jwk', published.publicKey);
    userId = (await newUser()).id;
  });
  const proxy = startApiProxy(() => project.apiUrl, (request, forwardRequest) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/auth/')) asked.push(pathname);
    if (pathname !== jwksPath) return forwardRequest();
    if (keysAreDown) return Response.json({ message: 'down' }, { status: 503 });
    return Response.json({ keys: [{ ...publicKey, kid: 'key-1', alg: 'ES256', use: 'sig', key_ops: ['verify'] }] });
  });
  afterAll(() => proxy.stop());
  beforeEach(() => {
    keysAreDown = false;
    asked = [];
  });
  const addresses = {
    apiUrl: proxy.url,
    get poolUrl() {
      return project.poolUrl;
    },
  };

  /** The claims of a session that this project's auth server issues. */
  const claims = (changed: Claims = {}) => ({ ...sessionClaims(userId), iss: `${proxy.url}/auth/v1`, ...changed });
  async function sign(of: unknown, { kid = 'key-1', key = published.privateKey } = {}): Promise<string> {
    const signed = `${encodeJson({ alg: 'ES256', typ: 'JWT', kid })}.${encodeJson(of)}`;
    const bytes = new TextEncoder().encode(signed);
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, bytes);
    return `${signed}.${base64Url(new Uint8Array(signature))}`;
  }

  const service = useService(target, addresses);
  /** Its auth server is down from the start. */
  const withoutKeys = useService(target, addresses);
  const read = async (token: string | Promise<string>) => await answer(requestSubscription(service, await token));

  test('GET /api/subscriptions with twenty sessions, valid and forged, at once → one call of the auth server, for the keys', async () => {
    const kids = Array.from({ length: 20 }, (_, index) => index % 2 === 0 ? 'key-1' : `key-${index + 1}`);
    const answers = await Promise.all(kids.map((kid) => read(sign(claims(), { kid }))));
    expect(answers).toEqual(kids.map((kid) => kid === 'key-1' ? nothingYet : unauthorized));
    expect(asked).toEqual([jwksPath]);
  });

  test('GET /api/subscriptions with a session of other claims, issuer or audience → 401', async () => {
    const others = [{ nbf: now() + 60 }, { iss: 'https://another.example.com/auth/v1' }, { aud: 'another' }];
    for (const change of [...refusedClaims(), ...others]) {
      expect({ change, ...await read(sign(claims(change))) }).toEqual({ change, ...unauthorized });
    }
    expect(asked).toEqual([]);
  });

  test('GET /api/subscriptions with a session of another key or algorithm, or signed with the public key → 401', async () => {
    const { privateKey: key } = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
    const header = (alg: string) => ({ alg, typ: 'JWT', kid: 'key-1' });
    const [, ...signedPart] = (await sign(claims())).split('.');
    const forged = [
      await sign(claims(), { key }),
      await sign(claims(), { kid: 'key-unknown' }),
      `${encodeJson(header('none'))}.${encodeJson(claims())}.`,
      await createToken(claims(), { secret: JSON.stringify(publicKey), header: header('HS256') }),
      [encodeJson(header('RS256')), ...signedPart].join('.'),
    ];
    for (const token of forged) expect(await read(token)).toEqual(unauthorized);
    expect(asked).not.toContain(jwksPath);
  });

  test('GET /api/subscriptions several times without any session key → 500, not 401; one call of the auth server', async () => {
    keysAreDown = true;
    const token = await sign(claims());
    for (const _ of [1, 2, 3]) {
      const answers = await Promise.all([1, 2].map(() => answer(requestSubscription(withoutKeys, token))));
      expect(answers).toEqual([readFailed, readFailed]);
    }
    expect(asked).toEqual([jwksPath]);
  });
});
