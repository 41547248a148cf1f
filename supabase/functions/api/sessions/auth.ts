// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';
import { createAuthServer } from './auth-server.ts';
import type { Auth } from '../ports.ts';
import { createSessionKeys } from './session-keys.ts';

/** What a session says of itself; nothing of it is true before its signature is. */
type Session = { readonly alg: string; readonly kid: unknown; readonly claims: Readonly<Record<string, unknown>> };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What the auth server signs with, besides the shared secret of older projects. */
const asymmetric = ['ES256', 'RS256', 'EdDSA'];

/** Clients send the same token for an hour, and checking its signature is most of a read's work: so many are remembered. */
const rememberedTokens = 1000;

/** How long the auth server's refusal of a token is remembered: a forged one must not cost it a call each time. */
const refusalMilliseconds = 60_000;

/**
 * Reads sessions from `Authorization: Bearer <access token>`, as supabase-js sends them. SPEC 5. Those under one of the
 * project's public keys are checked here; those under its shared secret, which is not here, by the auth server.
 */
export function createAuth(
  config: Pick<Config, 'supabaseUrl' | 'publishableKey' | 'sessionIssuer'>,
  request: typeof fetch = fetch,
): Auth {
  const server = createAuthServer(config, request);
  const keys = createSessionKeys(server.fetchKeys);
  const genuine = new Map<string, { readonly session: Session; readonly key: JsonWebKey }>();
  /** By the token's hash, since a refused one may be of any length: until when it is refused. */
  const refused = new Map<string, number>();

  async function isKnownToServer(token: string): Promise<boolean> {
    const hash = createHash('sha256').update(token).digest('base64');
    if ((refused.get(hash) ?? 0) > Date.now()) return false;
    if (await server.knows(token)) return true;
    if (refused.size >= rememberedTokens) refused.clear();
    refused.set(hash, Date.now() + refusalMilliseconds);
    return false;
  }

  async function isGenuine(token: string, session: Session): Promise<boolean> {
    const { alg, kid } = session;
    if (alg === 'HS256') return await isKnownToServer(token);
    if (!asymmetric.includes(alg) || typeof kid !== 'string') return false;
    const key = await keys.find(kid);
    if (key === undefined) return false;
    // A refresh of the keys makes new ones: then each token is checked anew.
    if (genuine.get(token)?.key === key) return true;
    if (!await isSignedWith(token, key)) return false;
    if (genuine.size >= rememberedTokens) genuine.clear();
    genuine.set(token, { session, key });
    return true;
  }

  return {
    async authenticate({ headers }) {
      const token = /^bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1] ?? '';
      const session = genuine.get(token)?.session ?? readSession(token);
      if (session === null) return null;
      const { alg, claims } = session;
      // Issuers of the older kind were not always addresses: there the auth server's word is enough.
      if (alg !== 'HS256' && !isUnsaid(claims.iss) && claims.iss !== config.sessionIssuer) return null;
      if (typeof claims.sub !== 'string' || !uuid.test(claims.sub) || !isCurrent(claims)) return null;
      return await isGenuine(token, session) ? claims.sub : null;
    },
  };
}

/** Most requests of an isolate may come without a session, such as webhooks: the library is loaded with the first. */
async function isSignedWith(token: string, key: JsonWebKey): Promise<boolean> {
  const { compactVerify } = await import('jose/jws/compact/verify');
  return await compactVerify(token, key, { algorithms: asymmetric }).then(() => true, () => false);
}

/** Whether it is a user's, not an API key or a service's, and valid now. */
function isCurrent({ exp, nbf, aud, role }: Session['claims']): boolean {
  const now = Date.now() / 1000;
  return typeof exp === 'number' && exp > now && (nbf === undefined || typeof nbf === 'number' && nbf <= now) &&
    (isUnsaid(aud) || aud === 'authenticated' || Array.isArray(aud) && aud.includes('authenticated')) &&
    role === 'authenticated';
}

/** What a session may leave out: that it is signed with the project's key says as much. */
function isUnsaid(claim: unknown): boolean {
  return claim === undefined;
}

/** @returns null when the token is no JWT. */
function readSession(token: string): Session | null {
  try {
    const [header, claims, signature, ...others] = token.split('.');
    if (signature === undefined || others.length > 0) return null;
    const { alg, kid } = readPart(header);
    return typeof alg === 'string' ? { alg, kid, claims: readPart(claims) } : null;
  } catch {
    return null;
  }
}

/** @throws when it is no JSON object in base64url. */
function readPart(part = ''): Record<string, unknown> {
  const bytes = Uint8Array.from(
    atob(part.replaceAll('-', '+').replaceAll('_', '/')),
    (letter) => letter.charCodeAt(0),
  );
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no JSON object');
  return { ...value };
}
