import type { Destination } from './reverse-proxy.ts';
import type { EdgeFunction } from '../function/function.ts';
import type { Lite } from '../supabase-lite/lite.ts';

const functions = '/functions/v1';

/**
 * Routes requests of the API port: `/functions/v1/api…` to the function, with its name as the first part of the path,
 * as on the hosted platform. Other functions do not exist. All other paths go to Lite.
 */
export function routeApi(path: string, edgeFunction: EdgeFunction, lite: Lite): Destination | undefined {
  if (!path.startsWith(`${functions}/`)) return { base: () => lite.apiUrl(), path };
  const rest = path.slice(functions.length);
  return /^\/api([/?]|$)/.test(rest) ? { base: () => Promise.resolve(edgeFunction.url), path: rest } : undefined;
}
