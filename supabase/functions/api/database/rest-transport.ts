import { DatabaseError, type Transport } from './rpc.ts';
import { createSupabaseClient } from './supabase-client.ts';

/** Calls the SQL functions over the project's REST API as service_role, one request a call. */
export function createRestTransport(url: string, secretKey: string, request: typeof fetch = fetch): Transport {
  const client = createSupabaseClient(url, secretKey, request);
  return async (name, parameters) => {
    const { data, error } = await client.rpc(name, parameters).retry(false);
    if (error) throw new DatabaseError(name, error.code);
    return data;
  };
}
