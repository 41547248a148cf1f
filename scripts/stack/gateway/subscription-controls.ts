import { Hono } from 'hono';
import { cycleRequest, endOfCycle } from './cycle.ts';
import { gatewayError, unknownId } from './error.ts';
import type { MoveSubscription } from './move-subscription.ts';
import { readRequest } from './request.ts';
import type { GatewayStore } from './store.ts';
import { subscriptionRequest } from './subscription.ts';

/** The controls of subscriptions: any event, and the end of a cycle. */
export function createSubscriptionControls(store: GatewayStore, move: MoveSubscription): Hono {
  const routes = new Hono();

  routes.post('/subscription', async (c) => {
    const read = await readRequest(c, subscriptionRequest);
    return 'response' in read ? read.response : c.json(await move(read.data));
  });

  routes.post('/cycle', async (c) => {
    const read = await readRequest(c, cycleRequest);
    if ('response' in read) return read.response;
    const { outcome, ...request } = read.data;
    const subscription = store.subscriptions.find(request.subscription_id);
    if (subscription === undefined) return unknownId('subscription_id');
    const { status } = subscription;
    if (status === 'cancelled' || status === 'completed') {
      return gatewayError(`A subscription that is ${status} has no further cycle.`, { field: 'subscription_id' });
    }
    const event = endOfCycle(subscription, store.endingWithCycle.has(subscription.id), outcome);
    return c.json(await move({ ...request, event }));
  });

  return routes;
}
