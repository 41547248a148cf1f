import { errorAnswer } from '../errors.ts';
import type { Route } from '../route.ts';

/** A change that commits while this call is being sent finds it queued still, and makes none of its own. */
const secondLookMilliseconds = 1000;

/** POST /api/internal/outbox: delivers what is due, for schedulers and wakes. Answers hold counts only. */
export const dispatchOutbox: Route = {
  method: 'POST',
  path: '/api/internal/outbox',
  failure: 'dispatchFailed',
  // Deliveries may take as long as their receivers; whoever asks need not wait.
  deadlineMilliseconds: 60_000,

  async handle({ request, mayCallInternally, dispatcher, dispatchLater }) {
    if (!await mayCallInternally(request)) return errorAnswer('unauthorized');
    const report = await dispatcher.dispatch();
    dispatchLater(secondLookMilliseconds);
    return { status: 200, body: report, outcome: 'dispatched' };
  },
};
