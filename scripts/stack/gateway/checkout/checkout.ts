import { Hono } from 'hono';
import { control } from '../answers.ts';
import { applyChange } from '../apply-change.ts';
import { authorisationAnswer, authorise, authoriseRequest } from '../billing/authorisation.ts';
import type { GatewayClock } from '../clock.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { gatewayError, unknownId } from '../errors.ts';
import { checkoutAnswer, continuePayment, pay, paymentRequest, payRequest } from '../payments.ts';
import type { GatewayStore } from '../store.ts';
import { createCheckoutPages } from './checkout-pages.ts';
import {
  attemptRequest,
  type CheckoutSettings,
  checkoutSettings,
  describeTarget,
  findTarget,
  qrRequest,
  targetRequest,
} from './checkout-requests.ts';
import { createQrPayments, type QrPayments } from './qr-payments.ts';
import { vendorFields } from './vendor-fields.ts';

type Parts = {
  store: GatewayStore;
  queue: DeliveryQueue;
  clock: GatewayClock;
  keyId: string;
  keySecret: string;
};

/**
 * The checkout: its pages, and the calls that they make. Its payments are those of `POST /simulate/pay` and
 * `POST /simulate/authorise`, with the same webhooks. `stop` forgets the QR codes that are not paid yet.
 */
export function createCheckout(parts: Parts): { routes: Hono; stop(): void } {
  let settings = checkoutSettings.parse({});
  const qrPayments = createQrPayments((payment_id) => {
    const { deliver, irregular } = settings;
    const capture = paymentRequest.parse({ payment_id, to: 'captured' });
    void applyChange(parts, continuePayment, { ...capture, deliver, irregular });
  });
  const routes = createCheckoutPages();
  routes.get('/simulate/checkout', (c) => c.json(settings));
  routes.post('/simulate/checkout', control(checkoutSettings, (next) => settings = next));
  routes.route('/checkout', createAttempts(parts, () => settings));
  routes.route('/checkout', createQrCalls(parts, qrPayments, () => settings));
  return { routes, stop: qrPayments.stop };
}

/** What a window shows, and the attempts that end at once. */
function createAttempts({ keyId, keySecret, ...parts }: Parts, settings: () => CheckoutSettings): Hono {
  const routes = new Hono();
  routes.post(
    '/target',
    control(targetRequest, (request) => {
      const target = findTarget(parts.store, keyId, request);
      return target instanceof Response ? target : describeTarget(target, parts.store.account.current);
    }),
  );
  routes.post(
    '/attempt',
    control(attemptRequest, async ({ outcome, method, notes, ...request }) => {
      const target = findTarget(parts.store, keyId, request);
      if (target instanceof Response) return target;
      const { deliver, irregular } = settings();
      if ('order' in target) {
        const attempt = payRequest.parse({ order_id: target.order.id, outcome });
        const made = await applyChange(parts, pay, { ...attempt, notes, deliver, irregular });
        return made instanceof Response ? made : result(checkoutAnswer(made.changed.payment, keySecret));
      }
      const answer = outcome === 'captured' ? 'approved' : 'refused';
      const attempt = authoriseRequest.parse({ subscription_id: target.subscription.id, outcome: answer, method });
      const made = await applyChange(parts, authorise, { ...attempt, deliver, irregular });
      return made instanceof Response ? made : result(authorisationAnswer(made.changed, keySecret));
    }),
  );
  return routes;
}

/** Payments by QR code: the code is shown, asked for its payment, and its window closed. */
function createQrCalls(
  { keyId, keySecret, ...parts }: Parts,
  qrPayments: QrPayments,
  settings: () => CheckoutSettings,
): Hono {
  const routes = new Hono();
  routes.post(
    '/qr',
    control(qrRequest, async ({ notes, ...request }) => {
      const target = findTarget(parts.store, keyId, request);
      if (target instanceof Response) return target;
      if (!('order' in target)) return unknownId('order_id');
      const attempt = payRequest.parse({ order_id: target.order.id, outcome: 'created' });
      const made = await applyChange(parts, pay, { ...attempt, notes });
      if (made instanceof Response) return made;
      const { id } = made.changed.payment;
      qrPayments.payLater(id, settings().qr_delay_ms);
      return { payment_id: id };
    }),
  );
  routes.get('/qr/:id', (c) => {
    const payment = parts.store.payments.find(c.req.param('id'));
    if (payment === undefined) return unknownId();
    if (qrPayments.isWaiting(payment.id)) return c.json({ waiting: true });
    if (payment.captured) return c.json(result(checkoutAnswer(payment, keySecret)));
    return gatewayError('The order was paid in another way.', { field: 'order_id', reason: 'order_already_paid' });
  });
  routes.post('/qr/:id/close', (c) => {
    qrPayments.payNow(c.req.param('id'));
    return c.json({});
  });
  return routes;
}

type Answer = Parameters<typeof vendorFields>[0] & { error?: unknown };

/** The result of an attempt: the fields for the app's page, or the error of a failed one. */
function result({ error, ...signed }: Answer) {
  return error === undefined ? { paid: vendorFields(signed) } : { failed: { error } };
}
