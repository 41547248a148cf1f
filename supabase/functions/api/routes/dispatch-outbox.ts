import { errorAnswer } from '../http/errors.ts';
import { purgeRecords } from '../database/purge-records.ts';
import { respondAsync } from '../http/respond-async.ts';
import type { Route } from '../http/route.ts';

/** A change that commits while pg_net sends this call queues no call of its own: a second look a moment later finds it. */
const secondLookMilliseconds = 1000;

/**
 * POST /api/internal/outbox: delivers what is due, for schedulers and wakes, then purges old records. Answers hold counts
 * only.
 */
export const dispatchOutbox: Route = {
  method: 'POST',
  path: '/api/internal/outbox',
  failure: 'dispatchFailed',
  // Deliveries may take as long as their receivers; whoever asks need not wait.
  deadlineMilliseconds: 60_000,

  async handle(context) {
    const { request, mayCallInternally, database, config, dispatcher, dispatchLater, logFault } = context;
    if (!await mayCallInternally(request)) return errorAnswer('unauthorized');
    return await respondAsync(context, async () => {
      const report = await dispatcher.dispatch();
      dispatchLater(secondLookMilliseconds);
      await purgeRecords(database, config.retention, logFault);
      return { status: 200, body: report, outcome: 'dispatched' };
    });
  },
};
