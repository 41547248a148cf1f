import { localKeys } from '../defaults.ts';

/**
 * The variables that the hosted platform sets for every function, for the local stack. The legacy names have the same
 * keys: the local API has no legacy keys. Sessions are signed with a shared secret, so there are no public keys.
 */
export function platformEnvironment(apiUrl: string, databaseUrl: string): Record<string, string> {
  return {
    SUPABASE_URL: apiUrl,
    SUPABASE_DB_URL: databaseUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: localKeys.publishable }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: localKeys.secret }),
    SUPABASE_ANON_KEY: localKeys.publishable,
    SUPABASE_SERVICE_ROLE_KEY: localKeys.secret,
    SUPABASE_JWKS: '{"keys":[]}',
  };
}
