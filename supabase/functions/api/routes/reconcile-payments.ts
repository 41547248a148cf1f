import { errorAnswer } from '../http/errors.ts';
import { reconcileAll } from '../gateway/reconciler.ts';
import { respondAsync } from '../http/respond-async.ts';
import type { Route } from './route.ts';

/** Reads from the gateway what its webhooks did not announce. Contract: POST /api/internal/reconcile. */
export const reconcilePayments: Route = {
  method: 'POST',
  path: '/api/internal/reconcile',
  operation: 'reconcilePayments',
  failure: 'reconcileFailed',
  // Many calls of the gateway take long. Schedulers do not wait: see `respondAsync`.
  deadlineMilliseconds: 75_000,

  async handle(context) {
    const { request, mayCallInternally, database, gatewayReads, dispatchLater, logFault } = context;
    if (!mayCallInternally(request)) return errorAnswer('unauthorized');
    if (gatewayReads === null) return errorAnswer('paymentsNotConfigured');
    return await respondAsync(context, async () => {
      const report = await reconcileAll(database, gatewayReads, logFault);
      if (report.applied > 0) dispatchLater();
      return { status: 200, body: report, outcome: report.unanswered > 0 ? 'incomplete' : 'reconciled' };
    });
  },
};
