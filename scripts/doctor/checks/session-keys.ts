import { z } from 'zod';
import { type Check, checkHosted, fail, pass, skip, warn } from '../check.ts';

const keySet = z.object({ keys: z.array(z.looseObject({ alg: z.string().optional(), kty: z.string() })) });

/** Key types of ES256, RS256 and EdDSA; `oct` is a shared secret. */
const asymmetric = ['EC', 'RSA', 'OKP'];

/** Sessions are signed with a key pair, so that the function can check them without the auth server. */
export const sessionKeys: Check = {
  name: 'session-keys',

  async run(context) {
    if (context.mode === 'local') return [skip('the local auth server signs with a shared secret', checkHosted)];
    const { status, body } = await context.request(`${context.url}/auth/v1/.well-known/jwks.json`);
    const parsed = keySet.safeParse(body);
    if (status !== 200 || !parsed.success) {
      return [
        fail(
          `the auth server answers ${status} for its public keys`,
          'Check in the dashboard whether the project is paused.',
        ),
      ];
    }
    const keys = parsed.data.keys.filter(({ kty }) => asymmetric.includes(kty));
    const algorithms = [...new Set(keys.map(({ alg, kty }) => alg ?? kty))];
    if (algorithms.length > 0) return [pass(`public keys: ${algorithms.join(', ')}`)];
    return [
      warn(
        'sessions are signed with a shared secret: each request calls the auth server',
        'Move to signing keys in the dashboard, under JWT Keys.',
      ),
    ];
  },
};
