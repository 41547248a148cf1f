import type { Answer } from './answer.ts';
import type { RouteContext } from './route.ts';

/**
 * Answers what the work answers. A caller that prefers `respond-async` (RFC 7240), as pg_net's calls do, gets 202 at once,
 * and the work goes on in the background.
 */
export async function respondAsync(
  { request, workLater }: Pick<RouteContext, 'request' | 'workLater'>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const preferences = request.headers.get('prefer')?.split(',').map((preference) => preference.split(';')[0]?.trim()) ??
    [];
  if (!preferences.some((preference) => preference?.toLowerCase() === 'respond-async')) return await work();
  workLater(work);
  return {
    status: 202,
    body: { accepted: true },
    outcome: 'accepted',
    headers: { 'preference-applied': 'respond-async' },
  };
}
