import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { collection, found, page } from '../answers.ts';
import type { GatewayClock } from '../clock.ts';
import { control } from '../answers.ts';
import { endOfCycle } from './cycles.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import type { Subscription } from '../entities.ts';
import { gatewayError, unknownId } from '../errors.ts';
import { apiNotes } from '../notes.ts';
import { createPlan, planRequest, usePlan } from './plans.ts';
import { newId } from '../new-id.ts';
import { type GatewayStore, newSubscription } from '../store.ts';
import { cancel, cancelAtCycleEnd, pause, resume } from './subscription-changes.ts';
import { cancelScheduled, changeRequest, scheduled, update } from './subscription-updates.ts';
import type { MovedSubscription } from './subscriptions.ts';
import { createAddonApi } from './addons.ts';

const time = z.int().min(0).nullable().default(null);
const flag = z.union([z.boolean(), z.literal([0, 1, '0', '1'])]).transform((value) => Number(value) === 1);

const createRequest = z.strictObject({
  plan_id: z.string('The plan id field is required.').min(1),
  total_count: z.int('The total count field is required.').min(1).max(1200),
  customer_notify: flag.default(true),
  quantity: z.int().min(1).default(1),
  start_at: time,
  expire_by: time,
  notes: apiNotes.default([]),
});
const cancelRequest = z.object({ cancel_at_cycle_end: flag.default(false) }).catch({ cancel_at_cycle_end: false });
const anyRequest = z.unknown();
const pauseRequest = z.strictObject({ pause_at: z.literal('now').default('now') });
const resumeRequest = z.strictObject({ resume_at: z.literal('now').default('now') });

type Parts = { store: GatewayStore; queue: DeliveryQueue; clock: GatewayClock; baseUrl: () => string };

/**
 * The calls of the gateway's API for plans and subscriptions. As on the real gateway, no field of a subscription shows
 * a pending cancellation at the end of the cycle.
 */
export function createSubscriptionApi({ store, queue, clock, baseUrl }: Parts): Hono {
  const routes = new Hono();
  const listed = (c: Context, items: object[]) => {
    const part = page(items, c.req.query());
    return part === undefined ? gatewayError('The count must be between 1 and 100.') : c.json(collection(part));
  };

  routes.post('/plans', control(planRequest, (request) => createPlan(store, request, clock.seconds())));
  routes.get('/plans', (c) => listed(c, store.plans.list()));
  routes.get('/plans/:id', (c) => found(c, store.plans.find(c.req.param('id'))));

  routes.post(
    '/subscriptions',
    control(createRequest, (request) => createSubscription(store, request, clock.seconds(), baseUrl())),
  );
  routes.get('/subscriptions', (c) => {
    const plan = c.req.query('plan_id');
    return listed(c, store.subscriptions.list().filter(({ plan_id }) => plan === undefined || plan_id === plan));
  });
  routes.get('/subscriptions/:id', (c) => found(c, store.subscriptions.find(c.req.param('id'))));

  routes.get('/invoices', (c) => {
    const subscription = c.req.query('subscription_id');
    return listed(c, store.invoices.list().filter(({ subscription_id: id }) => id === (subscription ?? id)));
  });

  routes.get('/invoices/:id', (c) => found(c, store.invoices.find(c.req.param('id'))));

  /** Changes the subscription that the path names, sends the webhooks about it, and answers it. */
  const change = <Fields>(
    schema: z.ZodType<Fields>,
    apply: (subscription: Subscription, at: number, fields: Fields) => MovedSubscription | Response,
  ) =>
    control(schema, async (fields, c) => {
      const subscription = store.subscriptions.find(c.req.param('id'));
      if (subscription === undefined) return unknownId();
      const changed = apply(subscription, clock.seconds(), fields);
      if (changed instanceof Response) return changed;
      await queue.send(changed.webhooks, {});
      return store.subscriptions.find(subscription.id);
    });
  routes.patch('/subscriptions/:id', change(changeRequest, (one, at, fields) => update(store, one, at, fields)));
  routes.get('/subscriptions/:id/retrieve_scheduled_changes', (c) => {
    const subscription = store.subscriptions.find(c.req.param('id'));
    const changed = subscription && scheduled(store, subscription);
    return changed instanceof Response ? changed : found(c, changed);
  });
  routes.post('/subscriptions/:id/cancel_scheduled_changes', change(anyRequest, (one) => cancelScheduled(store, one)));
  routes.post('/subscriptions/:id/pause', change(pauseRequest, (one, at) => pause(store, one, at)));
  routes.post('/subscriptions/:id/resume', change(resumeRequest, (one, at) => resume(store, one, at)));
  routes.post(
    '/subscriptions/:id/cancel',
    change(
      cancelRequest,
      (one, at, { cancel_at_cycle_end }) => (cancel_at_cycle_end ? cancelAtCycleEnd : cancel)(store, one, at),
    ),
  );
  routes.route('/', createAddonApi({ store, clock }));
  return routes;
}

/** Creates a subscription that bills itself, once the customer has authorised it at its `short_url`. */
function createSubscription(
  store: GatewayStore,
  { plan_id, start_at, expire_by, ...fields }: z.infer<typeof createRequest>,
  at: number,
  baseUrl: string,
): Subscription | Response {
  if (start_at !== null && start_at <= at) return past('start_at');
  if (expire_by !== null && expire_by <= at) return past('expire_by');
  const plan = usePlan(store, plan_id, at);
  const id = newId('sub');
  store.billing.set(id, { method: 'upi', failures: 0, next: null });
  return store.subscriptions.save({
    ...newSubscription(id, at),
    ...fields,
    plan_id,
    start_at,
    expire_by,
    end_at: start_at === null ? null : endOfCycle(plan, start_at, fields.total_count),
    charge_at: start_at,
    remaining_count: fields.total_count,
    short_url: `${baseUrl}/s/${id}`,
  });
}

function past(field: string): Response {
  return gatewayError(`${field} can not be before the current time.`, { field });
}
