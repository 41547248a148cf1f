import { Hono } from 'hono';
import { createPage } from '../../http/local-host-page.ts';
import { control } from '../answers.ts';
import { applyChange } from '../apply-change.ts';
import { authorisationAnswer, authorise, authoriseRequest } from '../billing/authorisation.ts';
import type { GatewayClock } from '../clock.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { CHECKOUT_SCRIPT, gatewayError, unknownId } from '../errors.ts';
import { checkoutAnswer, continuePayment, pay, paymentRequest, payRequest } from '../payments.ts';
import type { GatewayStore } from '../store.ts';
import {
  attemptRequest,
  checkoutSettings,
  describeTarget,
  findTarget,
  qrRequest,
  targetRequest,
} from './checkout-requests.ts';
import { createQrPayments } from './qr-payments.ts';
import { vendorFields } from './vendor-fields.ts';

const folder = new URL('window/', import.meta.url);
const scripts = ['page.js', 'panels.js', 'hosts.js', 'dialog.js', 'qr-code.js'];
// As everything on this machine, the window serves pages of this machine only.
const LOCAL_PAGES = ['localhost', '*.localhost', '127.0.0.1'].flatMap((
  host,
) => [`http://${host}:*`, `https://${host}:*`]);

type Parts = {
  store: GatewayStore;
  queue: DeliveryQueue;
  clock: GatewayClock;
  keyId: string;
  keySecret: string;
};

/**
 * The checkout: the script that apps load, the window that it opens, the page of redirect mode, and what both call.
 * Their payments are those of `POST /simulate/pay` and `POST /simulate/authorise`, with the same webhooks.
 */
export function createCheckout({ keyId, keySecret, ...parts }: Parts): { routes: Hono; stop(): void } {
  const { store } = parts;
  let settings = checkoutSettings.parse({});
  const events = () => ({ deliver: settings.deliver, irregular: settings.irregular });
  const qrPayments = createQrPayments((payment_id) => {
    void applyChange(parts, continuePayment, { ...paymentRequest.parse({ payment_id, to: 'captured' }), ...events() });
  });

  const routes = new Hono();
  routes.get(CHECKOUT_SCRIPT, async () => {
    const script = await Deno.readTextFile(new URL('checkout.js', import.meta.url));
    return new Response(script, {
      headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' },
    });
  });
  routes.route(
    '/checkout/window',
    createPage(folder, { scripts, policy: { 'frame-ancestors': LOCAL_PAGES.join(' ') } }),
  );
  routes.route('/checkout/redirect', createPage(folder, { scripts, policy: { 'form-action': 'http: https:' } }));

  routes.post(
    '/checkout/target',
    control(targetRequest, (request) => {
      const target = findTarget(store, keyId, request);
      return target instanceof Response ? target : describeTarget(target);
    }),
  );
  routes.post(
    '/checkout/attempt',
    control(attemptRequest, async ({ outcome, method, notes, ...request }) => {
      const target = findTarget(store, keyId, request);
      if (target instanceof Response) return target;
      if ('order' in target) {
        const attempt = payRequest.parse({ order_id: target.order.id, outcome });
        const made = await applyChange(parts, pay, { ...attempt, notes, ...events() });
        return made instanceof Response ? made : result(await checkoutAnswer(made.changed.payment, keySecret));
      }
      const answer = outcome === 'captured' ? 'approved' : 'refused';
      const attempt = authoriseRequest.parse({ subscription_id: target.subscription.id, outcome: answer, method });
      const made = await applyChange(parts, authorise, { ...attempt, ...events() });
      return made instanceof Response ? made : result(await authorisationAnswer(made.changed, keySecret));
    }),
  );

  routes.post(
    '/checkout/qr',
    control(qrRequest, async ({ notes, ...request }) => {
      const target = findTarget(store, keyId, request);
      if (target instanceof Response) return target;
      if (!('order' in target)) return unknownId('order_id');
      const attempt = payRequest.parse({ order_id: target.order.id, outcome: 'created' });
      const made = await applyChange(parts, pay, { ...attempt, notes });
      if (made instanceof Response) return made;
      qrPayments.payLater(made.changed.payment.id, settings.qr_delay_ms);
      return { payment_id: made.changed.payment.id };
    }),
  );
  routes.get('/checkout/qr/:id', async (c) => {
    const payment = store.payments.find(c.req.param('id'));
    if (payment === undefined) return unknownId();
    if (qrPayments.isWaiting(payment.id)) return c.json({ waiting: true });
    if (payment.captured) return c.json(result(await checkoutAnswer(payment, keySecret)));
    return gatewayError('The order was paid in another way.', { field: 'order_id', reason: 'order_already_paid' });
  });
  routes.post('/checkout/qr/:id/close', (c) => {
    qrPayments.payNow(c.req.param('id'));
    return c.json({});
  });

  routes.get('/simulate/checkout', (c) => c.json(settings));
  routes.post('/simulate/checkout', control(checkoutSettings, (next) => settings = next));
  return { routes, stop: qrPayments.stop };
}

type Answer = Parameters<typeof vendorFields>[0] & { error?: unknown };

/** The result of an attempt: the fields for the app's page, or the error of a failed one. */
function result({ error, ...signed }: Answer) {
  return error === undefined ? { paid: vendorFields(signed) } : { failed: { error } };
}
