import { beforeAll, describe, expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller, sessionClaims } from '../helpers/http/caller.ts';
import { type Checkout, checkout } from '../helpers/http/requests.ts';
import { createToken, encodeJson } from '../helpers/http/tokens.ts';
import { poolSample, type RunningService } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows, readTier } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

const project = useProject();
const unauthorized = refusal(401, 'Unauthorized');
const now = () => Math.floor(Date.now() / 1000);

let userId: string;
let token: string;
let paid: Checkout;
beforeAll(async () => {
  ({ id: userId, accessToken: token } = await createCaller(project.database));
  paid = await checkout((await createPayment(project.database, { userId })).orderId);
});

/** Sends a read and a verification with only these headers. */
async function readAndVerify(service: RunningService, headers: Record<string, string>, query = '') {
  return [
    await answer(service.request(`/api/subscriptions${query}`, { headers })),
    await answer(
      service.request(`/api/payments/verify${query}`, { method: 'POST', headers, body: JSON.stringify(paid) }),
    ),
  ];
}

/** Invalid values of the header `authorization`. */
const refusedHeaders: Record<string, () => string | Promise<string>> = {
  'an empty value': () => '',
  'a scheme alone': () => 'Bearer',
  'an empty bearer': () => 'Bearer ',
  'a token without a scheme': () => token,
  'another scheme': () => `Basic ${token}`,
  'two tokens': () => `Bearer ${token} ${token}`,
  'two headers in one': () => `Bearer ${token}, Bearer ${token}`,
  'the publishable key': () => `Bearer ${localKeys.publishable}`,
  'the secret key': () => `Bearer ${localKeys.secret}`,
  'the secret of the tokens': () => `Bearer ${localKeys.jwtSecret}`,
  'garbage': () => 'Bearer garbage',
  'letters beyond ASCII': () => 'Bearer \u00e9.\u00ff.\u00df',
  'two parts': () => `Bearer ${token.split('.').slice(0, 2).join('.')}`,
  'four parts': () => `Bearer ${token}.x`,
  'empty parts': () => 'Bearer ..',
  'parts that are not JSON': () => 'Bearer YWJj.YWJj.YWJj',
  'a token without its signature': () => `Bearer ${token.split('.').slice(0, 2).join('.')}.`,
  'a changed signature': () => `Bearer ${token.slice(0, -4)}AAAA`,
  'changed claims': () => {
    const [header, , signature] = token.split('.');
    return `Bearer ${header}.${encodeJson({ ...sessionClaims(userId), role: 'service_role' })}.${signature}`;
  },
  'a token under another secret': () =>
    forge(sessionClaims(userId), { secret: 'another-secret-of-more-than-32-letters' }),
  'a token under the publishable key': () => forge(sessionClaims(userId), { secret: localKeys.publishable }),
  'a token of 20,000 letters under another secret': () =>
    forge({ ...sessionClaims(userId), filler: 'x'.repeat(15_000) }, { secret: 'another-secret' }),
  'an expired token': () => forge({ ...sessionClaims(userId), iat: now() - 7200, exp: now() - 3600 }),
  'a token without an expiry': () => forge({ ...sessionClaims(userId), exp: undefined }),
  'a token whose expiry is text': () => forge({ ...sessionClaims(userId), exp: 'never' }),
  'a token of an unknown user': () => forge(sessionClaims(crypto.randomUUID())),
  'a token without a user id': () => forge({ ...sessionClaims(userId), sub: undefined }),
  'a token of the anonymous role': () => forge({ role: 'anon', iss: 'supabase', iat: now(), exp: now() + 3600 }),
  'a token of the service role': () => forge({ role: 'service_role', iss: 'supabase', iat: now(), exp: now() + 3600 }),
  'a token whose user id is not a UUID': () => forge(sessionClaims('nobody')),
  'a token whose user id is empty': () => forge(sessionClaims('')),
  'a token whose user id is a number': () => forge({ ...sessionClaims(userId), sub: 7 }),
  'a token whose user id is a list': () => forge({ ...sessionClaims(userId), sub: [userId] }),
};

/** JOSE headers of tokens that are signed with the project's secret, or unsigned. */
const refusedAlgorithms: Record<string, Record<string, unknown>> = {
  'alg none': { alg: 'none', typ: 'JWT' },
  'alg NONE': { alg: 'NONE', typ: 'JWT' },
  'alg none and a kid': { alg: 'none', typ: 'JWT', kid: 'key-1' },
  'no alg': { typ: 'JWT' },
  'alg null': { alg: null, typ: 'JWT' },
  'alg 5': { alg: 5, typ: 'JWT' },
  'alg RS256 and a kid': { alg: 'RS256', typ: 'JWT', kid: 'key-1' },
  'alg RS256 without a kid': { alg: 'RS256', typ: 'JWT' },
  'alg ES256 and a kid': { alg: 'ES256', typ: 'JWT', kid: 'key-1' },
  'alg ES256 and a kid that is not a string': { alg: 'ES256', typ: 'JWT', kid: { a: 1 } },
  'alg EdDSA and a path as kid': { alg: 'EdDSA', typ: 'JWT', kid: '../../etc/passwd' },
  'an unknown alg and a kid': { alg: 'XX999', typ: 'JWT', kid: 'key-1' },
};

async function forge(claims: Record<string, unknown>, options?: Parameters<typeof createToken>[1]): Promise<string> {
  return `Bearer ${await createToken(claims, options)}`;
}

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  async function refused(headers: Record<string, string>, query?: string): Promise<void> {
    const before = await readAllRows(project.database);
    expect(await readAndVerify(service, headers, query)).toEqual([unauthorized, unauthorized]);
    expect(await readAllRows(project.database)).toEqual(before);
  }

  test.each(Object.entries(refusedHeaders))(
    'read and verify with %s as the session → 401',
    async (_, authorization) => {
      await refused({ authorization: await authorization() });
    },
  );

  test.each(Object.entries(refusedAlgorithms))('read and verify with a token of %s → 401', async (_, header) => {
    const signed = await createToken(sessionClaims(userId), { header });
    await refused({ authorization: `Bearer ${signed}` });
    await refused({ authorization: `Bearer ${signed.split('.').slice(0, 2).join('.')}.` });
  });

  test.each([null, [], 'x', 5, {}])('read and verify with a token whose claims are %j → 401', async (claims) => {
    const header = encodeJson({ alg: 'HS256', typ: 'JWT' });
    await refused({ authorization: `Bearer ${header}.${encodeJson(claims)}.c2lnbmF0dXJl` });
    await refused({ authorization: `Bearer ${encodeJson(claims)}.${encodeJson(sessionClaims(userId))}.c2lnbmF0dXJl` });
  });

  test('read and verify with the session outside the header authorization → 401', async () => {
    await refused({ apikey: token });
    await refused({ apikey: localKeys.secret });
    await refused({ cookie: `sb-access-token=${token}` });
    await refused({}, `?access_token=${token}&apikey=${localKeys.secret}`);
  });

  test('read and verify after the user was deleted → 401', async () => {
    const gone = await createCaller(project.database);
    await project.database.query('delete from auth.users where id = $1', [gone.id]);
    await refused({ authorization: `Bearer ${gone.accessToken}` });
  });

  test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])(
    'read and verify with the scheme "%s" → 200',
    async (scheme) => {
      const [read, verified] = await readAndVerify(service, { authorization: `${scheme} ${token}` });
      expect([read?.status, verified?.status]).toEqual([200, 200]);
      expect(await readTier(project.database, userId)).toBe('pro');
    },
  );
});
