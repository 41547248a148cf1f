import { Hono } from 'hono';
import { clockRequest, type GatewayClock } from './clock.ts';
import { createDeliveryControls } from './delivery-controls.ts';
import type { DeliveryQueue } from './delivery.ts';
import { faultRequest, type GatewayFaults } from './faults.ts';
import { createMoneyControls } from './money-controls.ts';
import type { MoveSubscription } from './move-subscription.ts';
import { readRequest } from './request.ts';
import type { Send } from './send.ts';
import type { GatewayStore } from './store.ts';
import { createSubscriptionControls } from './subscription-controls.ts';

const SHOWN = 100;

type Parts = {
  store: GatewayStore;
  queue: DeliveryQueue;
  faults: GatewayFaults;
  clock: GatewayClock;
  send: Send;
  moveSubscription: MoveSubscription;
  keySecret: string;
};

/** The controls under `/simulate`: payments, subscriptions, deliveries, faults and the clock. */
export function createGatewayControls(parts: Parts): Hono {
  const { store, queue, faults, clock, moveSubscription } = parts;
  const routes = new Hono().basePath('/simulate');
  routes.route('/', createMoneyControls(parts));
  routes.route('/', createSubscriptionControls(store, moveSubscription));
  routes.route('/', createDeliveryControls(queue));

  routes.get('/fault', (c) => c.json({ faults: faults.current() }));
  routes.post('/fault', async (c) => {
    const read = await readRequest(c, faultRequest);
    if ('response' in read) return read.response;
    faults.set(read.data);
    return c.json({ faults: faults.current() });
  });
  routes.delete('/fault', (c) => {
    faults.lift();
    return c.json({ faults: [] });
  });

  const time = () => ({ now: clock.seconds(), shift_seconds: clock.shiftSeconds() });
  routes.get('/clock', (c) => c.json(time()));
  routes.post('/clock', async (c) => {
    const read = await readRequest(c, clockRequest);
    if ('response' in read) return read.response;
    clock.setShift(read.data.shift_seconds);
    return c.json(time());
  });

  routes.get('/state', (c) =>
    c.json({
      orders: store.orders.list().slice(0, SHOWN),
      payments: store.payments.list().slice(0, SHOWN),
      refunds: store.refunds.list().slice(0, SHOWN),
      disputes: store.disputes.list().slice(0, SHOWN),
      subscriptions: store.subscriptions.list().slice(0, SHOWN),
      ending_with_their_cycle: [...store.endingWithCycle],
      deliveries: queue.list().slice(0, SHOWN),
      endpoint: queue.endpoint(),
      faults: faults.current(),
      clock: time(),
    }));
  return routes;
}
