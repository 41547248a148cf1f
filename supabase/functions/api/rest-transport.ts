import type { SupabaseClient } from '@supabase/supabase-js';
import { DatabaseError, type Transport } from './database.ts';

/** Calls the RPCs over the project's REST API, one request a call, as service_role. */
export function createRestTransport(client: SupabaseClient): Transport {
  return async (name, parameters) => {
    const { data, error } = await client.rpc(name, parameters).retry(false);
    if (error) throw new DatabaseError(name, error.code);
    return data;
  };
}
