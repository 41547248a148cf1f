import { z } from 'zod';
import type { Config } from '../config.ts';

/** The project's auth server. Every method throws when it can't be reached, fails or makes no sense. */
export type AuthServer = {
  /** Whether a session is one of its own, not ended, of a user who is still there. */
  knows(token: string): Promise<boolean>;
  /** The public keys that it signs sessions with, by their ids. */
  fetchKeys(): Promise<Map<string, JsonWebKey>>;
};

/** It answers within this, or not at all: SPEC's 500 is out before a caller gives up. */
const timeoutMilliseconds = 4000;

const user = z.object({ id: z.string() });
const keySet = z.object({
  // A key without an id can't be asked for, and one of a shared secret is no public key.
  keys: z.array(z.looseObject({ kid: z.string().optional(), kty: z.string() })),
});

/** The auth server limits the calls of this project. The caller did nothing wrong and may try again later. */
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
