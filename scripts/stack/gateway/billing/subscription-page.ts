import { Hono } from 'hono';
import { found } from '../answers.ts';
import { createPage } from '../../http/local-host-page.ts';
import type { GatewayStore } from '../store.ts';
import { priceOf } from './subscriptions.ts';

/**
 * The page at a subscription's `short_url`, where a person approves or refuses the mandate, or later changes the method of
 * payment, and its data.
 */
export function createSubscriptionPage(store: GatewayStore): Hono {
  const page = createPage(new URL('subscription-page/', import.meta.url));
  const routes = new Hono();
  routes.get('/simulate/subscription/:id', (c) => {
    const subscription = store.subscriptions.find(c.req.param('id'));
    const plan = store.plans.find(subscription?.plan_id);
    return found(c, subscription && plan && { subscription, plan, amount: priceOf(subscription, plan) });
  });
  routes.route('/s', page);
  routes.get('/s/:id', () => page.request('/'));
  return routes;
}
