import { publicAnswer } from '../http/public-answer.ts';
import type { Route, RouteContext } from './route.ts';
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
  operation: 'listPlans',
  failure: 'listPlansFailed',

  async handle(context) {
    const { request, database } = context;
    const userId = await findUser(context);
    // A cache must not answer a user with the plans of another one, nor with those of no one.
    const vary = { vary: 'authorization' };
    if (userId !== null) {
      return { status: 200, body: await database.listPlansForUser(userId), outcome: 'listed', headers: vary };
    }
    const json = JSON.stringify(await database.listPlans());
    return publicAnswer(request, { json, outcome: 'listed', maxAge: 60, headers: vary });
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
