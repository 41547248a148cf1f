// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import type { Answer } from '../http/answer.ts';
import type { Route, RouteContext } from '../http/route.ts';
import { withDeadline } from '../http/with-deadline.ts';

/** The plans are public, so an auth server that hangs delays them for no longer. */
const sessionMilliseconds = 2000;

/**
 * Returns the plans on offer. With a valid session each has its scenario for the user. Contract: GET
 * /api/subscriptions/plans.
 */
export const listPlans: Route = {
  method: 'GET',
  path: '/api/subscriptions/plans',
  failure: 'listPlansFailed',

  async handle(context) {
    const { request, database } = context;
    const userId = await findUser(context);
    // A cache must not answer a user with the plans of another one, nor with those of no one.
    const vary = { vary: 'authorization' };
    if (userId !== null) {
      return { status: 200, body: await database.listPlansForUser(userId), outcome: 'listed', headers: vary };
    }
    return publicAnswer(request, await database.listPlans(), vary);
  },
};

/** The user of the session; null without a valid one, also where it can't be checked now. */
async function findUser({ request, auth, logFault }: RouteContext): Promise<string | null> {
  try {
    return await withDeadline(auth.authenticate(request), sessionMilliseconds);
  } catch (error) {
    logFault(error);
    return null;
  }
}

function publicAnswer(request: Request, body: unknown, vary: Record<string, string>): Answer {
  const etag = weakTag(JSON.stringify(body));
  const headers = { etag, 'cache-control': 'public, max-age=60', ...vary };
  const known = request.headers.get('if-none-match')?.split(',').map((tag) => tag.trim()) ?? [];
  // A weak comparison: a cache may have turned the weak tag into a strong one.
  if (known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag.replace(/^W\//, ''))) {
    return { status: 304, body: undefined, outcome: 'unchanged', headers };
  }
  return { status: 200, body, outcome: 'listed', headers };
}

function weakTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`;
}
