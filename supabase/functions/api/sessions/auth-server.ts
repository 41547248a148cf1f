import { z } from 'zod';
import type { Config } from '../config.ts';

/** The project's auth server. Every method throws when the server is unavailable or its answer is invalid. */
export type AuthServer = {
  /** Whether the token is a valid session of an existing user. */
  knows(token: string): Promise<boolean>;
  /** The public keys of sessions, by key id. */
  fetchKeys(): Promise<Map<string, JsonWebKey>>;
};

/** Short enough that the function answers 500 before its callers time out. */
const timeoutMilliseconds = 4000;

const user = z.object({ id: z.string() });
const keySet = z.object({
  // Keys without an id, and keys of type `oct` (shared secrets), are dropped below.
  keys: z.array(z.looseObject({ kid: z.string().optional(), kty: z.string() })),
});

/** The auth server limits this project's calls. The caller may retry after `retryAfter`. */
export class AuthServerBusy extends Error {
  override readonly name = 'AuthServerBusy';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: string | null) {
    super('the auth server answers 429');
    this.retryAfter = /^\d{1,4}$/.test(retryAfter ?? '') ? Number(retryAfter) : 1;
  }
}

export function createAuthServer(
  { supabaseUrl, publishableKey }: Pick<Config, 'supabaseUrl' | 'publishableKey'>,
  request: typeof fetch = fetch,
): AuthServer {
  const base = `${supabaseUrl.replace(/\/+$/, '')}/auth/v1`;

  async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const response = await request(base + path, {
      headers: { apikey: publishableKey, ...headers },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    if (response.status < 500 && response.status !== 429) return response;
    await response.body?.cancel();
    if (response.status === 429) throw new AuthServerBusy(response.headers.get('retry-after'));
    throw new Error(`the auth server answers ${response.status}`);
  }

  return {
    async knows(token) {
      const response = await get('/user', { authorization: `Bearer ${token}` });
      if (response.ok) return user.safeParse(await response.json()).success || fail();
      await response.body?.cancel();
      return false;
    },

    async fetchKeys() {
      const response = await get('/.well-known/jwks.json');
      const { keys } = keySet.parse(await response.json());
      return new Map(keys.flatMap((key) => key.kid === undefined || key.kty === 'oct' ? [] : [[key.kid, key]]));
    },
  };
}

function fail(): never {
  throw new Error('the auth server does not name the user');
}
