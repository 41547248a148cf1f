import { Hono } from 'hono';
import { type GatewayClock, timed } from './clock.ts';
import { disputeRequest, moveDispute } from './dispute.ts';
import { gatewayError, refused, unknownId } from './error.ts';
import { eventBody } from './event.ts';
import { checkoutAnswer, pay, paymentRequest, payRequest, step } from './pay.ts';
import { createRefund, moveRefund, refundRequest } from './refund.ts';
import { readRequest } from './request.ts';
import type { Send } from './send.ts';
import type { GatewayStore } from './store.ts';

type Parts = { store: GatewayStore; send: Send; clock: GatewayClock; keySecret: string };

/** The controls of payments: pay, fail, authorise or capture late, refund, dispute. */
export function createMoneyControls({ store, send, clock, keySecret }: Parts): Hono {
  const routes = new Hono();

  routes.post('/pay', async (c) => {
    const read = await readRequest(c, payRequest);
    if ('response' in read) return read.response;
    const order = store.orders.find(read.data.order_id);
    if (order === undefined) return unknownId('order_id');
    const paid = pay(store, order, timed(read.data, clock));
    if ('refusal' in paid) return refused(paid.refusal);
    await send(paid.webhooks, read.data.deliver);
    return c.json(await checkoutAnswer(paid.payment, keySecret));
  });

  routes.post('/payment', async (c) => {
    const read = await readRequest(c, paymentRequest);
    if ('response' in read) return read.response;
    const payment = store.payments.find(read.data.payment_id);
    if (payment === undefined) return unknownId('payment_id');
    const moved = step(store, payment, read.data.to, timed(read.data, clock));
    if ('refusal' in moved) return refused(moved.refusal);
    await send(moved.webhooks, read.data.deliver);
    return c.json(await checkoutAnswer(moved.payment, keySecret));
  });

  routes.post('/refund', async (c) => {
    const read = await readRequest(c, refundRequest);
    if ('response' in read) return read.response;
    const request = timed(read.data, clock);
    const { payment_id, refund_id, created_at: createdAt, irregular, event } = request;
    const [payment, refund] = [store.payments.find(payment_id), store.refunds.find(refund_id)];
    const events = payment !== undefined
      ? createRefund(store, payment, request)
      : refund !== undefined
      ? moveRefund(store, refund, event)
      : undefined;
    if (events === undefined) return unknownId(refund_id === undefined ? 'payment_id' : 'refund_id');
    if ('refusal' in events) return refused(events.refusal);
    const webhooks = events.map(({ event, ...entities }) => {
      return { event, body: eventBody(event, entities, { createdAt, irregular }) };
    });
    const last = events.at(-1);
    const event_ids = await send(webhooks, read.data.deliver);
    return c.json({ refund: last?.refund, payment: last?.payment, event_ids });
  });

  routes.post('/dispute', async (c) => {
    const read = await readRequest(c, disputeRequest);
    if ('response' in read) return read.response;
    const request = timed(read.data, clock);
    const { payment_id, created_at: createdAt, irregular, deliver } = request;
    const payment = store.payments.find(payment_id);
    if (payment === undefined) return unknownId('payment_id');
    const dispute = moveDispute(store, payment, request);
    if (dispute === undefined) return gatewayError('There is no dispute about this payment.', { field: 'event' });
    const event = `payment.dispute.${read.data.event}`;
    const body = eventBody(event, { payment, dispute }, { createdAt, irregular });
    return c.json({ dispute, payment, event_ids: await send([{ event, body }], deliver) });
  });

  return routes;
}
