// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import type { Route } from '../http/route.ts';

/** Returns the plans on offer, without a session. Contract: GET /api/subscriptions/plans. */
export const listPlans: Route = {
  method: 'GET',
  path: '/api/subscriptions/plans',
  failure: 'listPlansFailed',

  async handle({ request, database }) {
    const body = await database.listPlans();
    const etag = weakTag(JSON.stringify(body));
    const headers = { etag, 'cache-control': 'public, max-age=60' };
    const known = request.headers.get('if-none-match')?.split(',').map((tag) => tag.trim()) ?? [];
    // A weak comparison: a cache may have turned the weak tag into a strong one.
    if (known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag.replace(/^W\//, ''))) {
      return { status: 304, body: undefined, outcome: 'unchanged', headers };
    }
    return { status: 200, body, outcome: 'listed', headers };
  },
};

function weakTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`;
}
