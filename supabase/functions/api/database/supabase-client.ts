import { createClient, type SupabaseClient } from '@supabase/supabase-js';

/** Auth server and database answer within this, or not at all: SPEC's 500 is out before the gateway's 5 s. */
const timeoutMilliseconds = 4000;

/** A client without a session of its own: nothing kept, nothing refreshed, every request bounded. */
export function createSupabaseClient(url: string, key: string, request: typeof fetch = fetch): SupabaseClient {
  return createClient(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: {
      fetch: (input, init) => request(input, { ...init, signal: AbortSignal.timeout(timeoutMilliseconds) }),
    },
  });
}
