import { type AuthError, isAuthError, type SupabaseClient } from '@supabase/supabase-js';
import type { Auth } from './ports.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads sessions from `Authorization: Bearer <access token>`, as supabase-js sends them. SPEC 5. */
export function createAuth(client: SupabaseClient): Auth {
  return {
    async authenticate(request) {
      // Without a token getClaims would look for a session of its own.
      const token = /^bearer +(\S+)$/i.exec(request.headers.get('authorization')?.trim() ?? '')?.[1];
      if (token === undefined) return null;
      const claims = await readClaims(client, token);
      return typeof claims?.sub === 'string' && uuid.test(claims.sub) ? claims.sub : null;
    },
  };
}

async function readClaims(client: SupabaseClient, token: string): Promise<{ sub?: unknown } | null> {
  try {
    const { data, error } = await client.auth.getClaims(token);
    if (error === null) return data?.claims ?? null;
    if (isOutage(error)) throw error;
    return null;
  } catch (error) {
    if (isAuthError(error)) throw error;
    // Forged headers make the library trip over its own parsing; a failing network never ends here.
    return null;
  }
}

/** Unreachable (status 0), broken or overloaded: nothing was said about the token. */
function isOutage(error: AuthError): boolean {
  return !error.status || error.status >= 500 || error.status === 429;
}
