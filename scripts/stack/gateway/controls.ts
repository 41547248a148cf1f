import { Hono } from 'hono';
import { z } from 'zod';
import { accountRequest, setAccount } from './account.ts';
import { authorisationAnswer, authorise, authoriseRequest } from './billing/authorisation.ts';
import { debitRequest, setDebit, setSubscriptionFault, subscriptionFaultRequest } from './billing/charges.ts';
import { cyclesRequest } from './billing/cycles.ts';
import { applyChange } from './apply-change.ts';
import { clockRequest, type GatewayClock, type Timed } from './clock.ts';
import { control } from './answers.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { endpointRequest } from './endpoint.ts';
import { dueRequest, type DueTimer } from './billing/due-timer.ts';
import { faultRequest, gatewayError, type GatewayFaults, unknownId } from './errors.ts';
import { deliverOptions, type EventRequest, type Webhook } from './events.ts';
import { checkoutAnswer, continuePayment, type MovedPayment, pay, paymentRequest, payRequest } from './payments.ts';
import { savePlan, simulatedPlanRequest } from './billing/plans.ts';
import { disputeRequest, moveDispute, moveRefund, refundRequest } from './refunds-and-disputes.ts';
import { settle, settleRequest } from './settlements.ts';
import type { GatewayStore } from './store.ts';
import { updateMethod, updateMethodRequest } from './billing/subscription-changes.ts';
import { cycleRequest, subscriptionRequest } from './billing/subscription-requests.ts';
import { endCycle, moveSubscription } from './billing/subscriptions.ts';

const SHOWN = 100;

const rawRequest = z.strictObject({
  body: z.string(),
  /** Replaces the valid signature; null sends no signature. */
  signature: z.string().nullable().optional(),
  event_id: z.string().min(1).optional(),
  deliver: deliverOptions.default({}),
});

/** Without `event_id` all waiting retries are made now. */
const retryRequest = z.strictObject({ event_id: z.string().optional() });

const redeliverRequest = z.strictObject({ event_id: z.string() });

type Parts = {
  store: GatewayStore;
  queue: DeliveryQueue;
  faults: GatewayFaults;
  clock: GatewayClock;
  due: DueTimer;
  keySecret: string;
};

/** The controls under `/simulate`: payments, subscriptions, deliveries, faults and the clock. */
export function createGatewayControls(parts: Parts): Hono {
  const { store, queue, faults, clock, due } = parts;
  const routes = new Hono().basePath('/simulate');
  routes.route('/', createEntityControls(parts));
  routes.route('/', createDeliveryControls(queue));

  routes.get('/fault', (c) => c.json({ faults: faults.current() }));
  routes.post(
    '/fault',
    control(faultRequest, (fault) => {
      faults.set(fault);
      return { faults: faults.current() };
    }),
  );
  routes.delete('/fault', (c) => {
    faults.lift();
    return c.json({ faults: [] });
  });

  const time = () => ({ now: clock.seconds(), shift_seconds: clock.shiftSeconds() });
  routes.get('/clock', (c) => c.json(time()));
  routes.post(
    '/clock',
    control(clockRequest, async ({ shift_seconds, settle, deliver }) => {
      clock.setShift(shift_seconds);
      if (settle) await due.settle(deliver);
      return time();
    }),
  );
  routes.get('/due', (c) => c.json({ next_at: due.nextAt(), ...queue.underWay() }));
  routes.post(
    '/due',
    control(dueRequest, async ({ shift_seconds, deliver, parallel }) => {
      if (shift_seconds !== undefined) clock.setShift(shift_seconds);
      return { event_ids: await due.settle(deliver, parallel) };
    }),
  );

  routes.get('/state', (c) =>
    c.json({
      orders: store.orders.list().slice(0, SHOWN),
      payments: store.payments.list().slice(0, SHOWN),
      refunds: store.refunds.list().slice(0, SHOWN),
      disputes: store.disputes.list().slice(0, SHOWN),
      settlements: store.settlements.list().slice(0, SHOWN),
      subscriptions: store.subscriptions.list().slice(0, SHOWN),
      ending_with_their_cycle: [...store.endingWithCycle.keys()],
      deliveries: queue.list().slice(0, SHOWN),
      endpoint: queue.endpoint(),
      account: store.account.current,
      faults: faults.current(),
      clock: time(),
    }));
  return routes;
}

/** The controls that change entities: payments, refunds, disputes and subscriptions. */
function createEntityControls({ store, queue, clock, keySecret }: Parts): Hono {
  /** A control that changes entities and sends the webhooks about them. */
  const change = <Request extends EventRequest, Changed extends { webhooks: Webhook[] }>(
    schema: z.ZodType<Request>,
    apply: (store: GatewayStore, request: Timed<Request>) => Changed | Response,
    answer: (changed: Changed, eventIds: string[]) => unknown = withEventIds,
  ) =>
    control(schema, async (request) => {
      const made = await applyChange({ store, queue, clock }, apply, request);
      return made instanceof Response ? made : answer(made.changed, made.eventIds);
    });
  const checkout = ({ payment }: MovedPayment) => checkoutAnswer(payment, keySecret);

  const routes = new Hono();
  routes.post('/pay', change(payRequest, pay, checkout));
  routes.post('/payment', change(paymentRequest, continuePayment, checkout));
  routes.post('/refund', change(refundRequest, moveRefund));
  routes.post('/dispute', change(disputeRequest, moveDispute));
  routes.post('/settle', change(settleRequest, settle));
  routes.post('/subscription', change(subscriptionRequest, moveSubscription));
  routes.post('/cycle', change(cycleRequest, endCycle));
  routes.post('/authorise', change(authoriseRequest, authorise, (made) => authorisationAnswer(made, keySecret)));
  routes.post('/update-method', change(updateMethodRequest, updateMethod));
  routes.post('/subscription-fault', control(subscriptionFaultRequest, (fault) => setSubscriptionFault(store, fault)));
  routes.post('/debit', control(debitRequest, (debit) => setDebit(store, debit)));
  routes.get('/account', (c) => c.json(store.account.current));
  routes.post('/account', control(accountRequest, (account) => setAccount(store.account, account)));
  routes.post('/cycles', control(cyclesRequest, (cycles) => store.cycles.current = cycles));
  routes.post('/plan', control(simulatedPlanRequest, (plan) => ({ plan: savePlan(store, plan, clock.seconds()) })));
  return routes;
}

function withEventIds({ webhooks: _, ...entities }: { webhooks: Webhook[] }, event_ids: string[]) {
  return { ...entities, event_ids };
}

/** The controls of webhooks: list, deliver any raw body, retry, redeliver, and the settings of the endpoint. */
function createDeliveryControls(queue: DeliveryQueue): Hono {
  const routes = new Hono();

  routes.post(
    '/deliver',
    control(rawRequest, async ({ body, signature, event_id, deliver }) => {
      const [delivery] = await queue.send([{ event: eventOf(body), body, eventId: event_id, signature }], deliver);
      return delivery;
    }),
  );
  routes.get('/deliveries', (c) => {
    const items = queue.list();
    return c.json({ entity: 'collection', count: items.length, items });
  });
  routes.get('/deliveries/:id', (c) => {
    const delivery = queue.find(c.req.param('id'));
    return delivery === undefined ? unknownId() : c.json(delivery);
  });

  routes.post('/retry', control(retryRequest, ({ event_id }) => ({ retried: queue.retryNow(event_id) })));
  routes.post(
    '/redeliver',
    control(redeliverRequest, ({ event_id }) => {
      if (queue.find(event_id) === undefined) return unknownId('event_id');
      if (queue.redeliver(event_id)) return queue.find(event_id);
      return gatewayError('The endpoint is off, or was off when this event was sent.', { field: 'event_id' });
    }),
  );
  routes.get('/endpoint', (c) => c.json(queue.endpoint()));
  routes.post('/endpoint', control(endpointRequest, (changes) => queue.setEndpoint(changes)));

  return routes;
}

function eventOf(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    const isEvent = typeof parsed === 'object' && parsed !== null && 'event' in parsed;
    return isEvent && typeof parsed.event === 'string' ? parsed.event : null;
  } catch {
    return null;
  }
}
