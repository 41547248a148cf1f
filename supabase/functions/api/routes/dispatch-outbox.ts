import { errorAnswer } from '../http/errors.ts';
import { purgeRecords } from '../database/purge-records.ts';
import { respondAsync } from '../http/respond-async.ts';
import type { Route } from './route.ts';

/** A change that commits while pg_net sends this call queues no call of its own. A second dispatch delivers it. */
const secondDispatchMilliseconds = 1000;

/** Delivers due side effects, then purges old records. Contract: POST /api/internal/outbox. */
export const dispatchOutbox: Route = {
  method: 'POST',
  path: '/api/internal/outbox',
  operation: 'dispatchOutbox',
  failure: 'dispatchFailed',
  // The time of a delivery depends on its receiver. Schedulers do not wait: see `respondAsync`.
  deadlineMilliseconds: 60_000,

  async handle(context) {
    const { request, mayCallInternally, database, config, dispatcher, dispatchLater, logFault } = context;
    if (!mayCallInternally(request)) return errorAnswer('unauthorized');
    return await respondAsync(context, async () => {
      const report = await dispatcher.dispatch();
      dispatchLater(secondDispatchMilliseconds);
      await purgeRecords(database, config.retention, logFault);
      return { status: 200, body: report, outcome: 'dispatched' };
    });
  },
};
