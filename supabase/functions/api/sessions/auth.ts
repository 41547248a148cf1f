// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';
import { createAuthServer } from './auth-server.ts';
import type { Auth } from '../ports.ts';
import { createSessionKeys } from './session-keys.ts';

/** The decoded token. Its claims are untrusted until the signature is verified. */
type Session = { readonly alg: string; readonly kid: unknown; readonly claims: Readonly<Record<string, unknown>> };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Algorithms of signing keys. HS256 is the shared secret of older projects. */
const asymmetric = ['ES256', 'RS256', 'EdDSA'];

/** Clients send the same token for an hour, and verifying a signature is most of the work of a read. */
const maxCachedTokens = 1000;

/** How long a refusal of the auth server is cached, so that a repeated forged token costs one call. */
const refusalMilliseconds = 60_000;

/**
 * Authenticates by `Authorization: Bearer <access token>`. Tokens with a signing key of the project are checked in the
 * function, tokens with the shared secret by the auth server. Contract: Sessions.
 */
export function createAuth(
  config: Pick<Config, 'supabaseUrl' | 'publishableKey' | 'sessionIssuer'>,
  request: typeof fetch = fetch,
): Auth {
  const server = createAuthServer(config, request);
  const keys = createSessionKeys(server.fetchKeys);
  const verified = new Map<string, { readonly session: Session; readonly key: JsonWebKey }>();
  /** Expiry by the token's hash: a refused token may have any length. */
  const refused = new Map<string, number>();
  /** Calls of the auth server that are not answered yet, by the token's hash. Requests with the same token share one. */
  const pending = new Map<string, Promise<boolean>>();

  async function isKnownToServer(token: string): Promise<boolean> {
    const hash = createHash('sha256').update(token).digest('base64');
    if ((refused.get(hash) ?? 0) > Date.now()) return false;
    const call = pending.get(hash) ?? server.knows(token).finally(() => pending.delete(hash));
    pending.set(hash, call);
    if (await call) return true;
    if (refused.size >= maxCachedTokens) refused.clear();
    refused.set(hash, Date.now() + refusalMilliseconds);
    return false;
  }

  async function isVerified(token: string, session: Session): Promise<boolean> {
    const { alg, kid } = session;
    if (alg === 'HS256') return await isKnownToServer(token);
    if (!asymmetric.includes(alg) || typeof kid !== 'string') return false;
    const key = await keys.find(kid);
    if (key === undefined) return false;
    // A refresh of the keys creates new objects, so each token is verified again after it.
    if (verified.get(token)?.key === key) return true;
    if (!await isSignedWith(token, key)) return false;
    if (verified.size >= maxCachedTokens) verified.clear();
    verified.set(token, { session, key });
    return true;
  }

  return {
    async authenticate({ headers }) {
      const token = /^bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1] ?? '';
      const session = verified.get(token)?.session ?? await readSession(token);
      if (session === null) return null;
      const { alg, claims } = session;
      // Issuers of HS256 tokens were not always URLs. The auth server checks those tokens.
      if (alg !== 'HS256' && claims.iss !== undefined && claims.iss !== config.sessionIssuer) return null;
      if (typeof claims.sub !== 'string' || !uuid.test(claims.sub) || !isCurrent(claims)) return null;
      return await isVerified(token, session) ? claims.sub : null;
    },
  };
}

async function isSignedWith(token: string, key: JsonWebKey): Promise<boolean> {
  const { compactVerify } = await import('jose/jws/compact/verify');
  return await compactVerify(token, key, { algorithms: asymmetric }).then(() => true, () => false);
}

/** Whether the claims are a user's, not those of an API key or the service, and valid now. */
function isCurrent({ exp, nbf, aud, role }: Session['claims']): boolean {
  const now = Date.now() / 1000;
  return typeof exp === 'number' && exp > now && (nbf === undefined || typeof nbf === 'number' && nbf <= now) &&
    (aud === undefined || aud === 'authenticated' || Array.isArray(aud) && aud.includes('authenticated')) &&
    role === 'authenticated';
}

/**
 * An isolate may serve only requests without a session, such as webhooks. So the library is loaded with the first
 * session. @returns null when the token is not a JWT.
 */
async function readSession(token: string): Promise<Session | null> {
  if (token === '') return null;
  const [{ decodeProtectedHeader }, { decodeJwt }] = await Promise.all([
    import('jose/decode/protected_header'),
    import('jose/jwt/decode'),
  ]);
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    return typeof alg === 'string' ? { alg, kid, claims: decodeJwt(token) } : null;
  } catch {
    return null;
  }
}
