import type { Destination } from './reverse-proxy.ts';
import type { EdgeFunction } from '../function/function.ts';
import type { Lite } from '../supabase-lite/lite.ts';

const functions = '/functions/v1';

/**
 * Where the API port sends a request: `/functions/v1/api…` to the function, which sees its own name as the first part of
 * the path, as on the hosted platform; no other function exists; all else to Lite.
 */
export function routeApi(path: string, edgeFunction: EdgeFunction, lite: Lite): Destination | undefined {
  if (!path.startsWith(`${functions}/`)) return { base: () => lite.apiUrl(), path };
  const rest = path.slice(functions.length);
  return /^\/api([/?]|$)/.test(rest) ? { base: () => Promise.resolve(edgeFunction.url), path: rest } : undefined;
}
