import { publishableKey } from '../defaults.ts';

/**
 * The variables that the hosted platform sets for every function, for the local stack. The legacy names have the same
 * keys: the local API has no legacy keys. Sessions are signed with a shared secret, so there are no public keys.
 */
export function platformEnvironment(apiUrl: string, databaseUrl: string, secretKey: string): Record<string, string> {
  return {
    SUPABASE_URL: apiUrl,
    SUPABASE_DB_URL: databaseUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: secretKey }),
    SUPABASE_ANON_KEY: publishableKey,
    SUPABASE_SERVICE_ROLE_KEY: secretKey,
    SUPABASE_JWKS: '{"keys":[]}',
  };
}
