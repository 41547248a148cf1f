import type { Answer } from './answer.ts';

/**
 * Runs the work and returns its answer. With `prefer: respond-async` (RFC 7240) the work runs in the background and the
 * answer is 202. Contract: POST /api/internal/outbox.
 */
export async function respondAsync(
  { request, workLater }: { request: Request; workLater: (work: () => Promise<Answer>) => void },
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
