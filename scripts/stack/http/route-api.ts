import type { Destination } from './reverse-proxy.ts';
import type { EdgeFunction } from '../function/function.ts';
import type { ProjectFunctions } from '../function/project-functions.ts';
import type { Lite } from '../supabase-lite/lite.ts';

const functions = '/functions/v1';

/**
 * Routes requests of the API port: `/functions/v1/api…` to the function, with its name as the first part of the path,
 * as on the hosted platform. Other functions are those of `--project`, where ours may have another name. All other paths go
 * to Lite.
 */
export function routeApi(
  path: string,
  edgeFunction: EdgeFunction,
  lite: Lite,
  project: ProjectFunctions,
): Destination | undefined {
  if (!path.startsWith(`${functions}/`)) return { base: () => lite.apiUrl(), path };
  const rest = path.slice(functions.length);
  const [, name = ''] = /^\/([\w-]+)([/?]|$)/.exec(rest) ?? [];
  if (project.has(name)) return { base: () => project.addressOf(name), path: rest };
  const isOurs = name === 'api' || name === project.ours;
  return isOurs ? { base: () => Promise.resolve(edgeFunction.url), path: rest } : undefined;
}
