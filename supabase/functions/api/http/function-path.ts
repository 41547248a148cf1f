import { getPath } from 'hono/utils/url';

/**
 * The path of a request as the routes have it: `/api/subscriptions`. The first segment is the name of the function, which
 * an app may choose: `/api/subscriptions` of the function `api`, `/billing/api/subscriptions` and `/billing/subscriptions`
 * of the function `billing` are one route.
 */
export function functionPath(request: Request): string {
  const path = getPath(request);
  const [, name, rest] = /^\/([^/]+)(\/[^]*)?$/.exec(path) ?? [];
  if (name === undefined || name === 'api') return path;
  return rest?.startsWith('/api/') ? rest : `/api${rest ?? ''}`;
}
