import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import { readJson } from '../http/read-json.ts';
import type { Route, RouteContext } from './route.ts';
import { changeRequest, parseRequest } from '../http/validation.ts';
import type { ChangeRequest } from '../ports.ts';
import { order } from './create-order.ts';
import { subscribe } from './create-subscription.ts';
import { askWithCredit, mayExist, refuse } from './order-request.ts';

/** Shows what a change of the plan would cost, and when it begins. */
export const previewChange: Route = {
  method: 'POST',
  path: '/api/subscriptions/change/preview',
  operation: 'previewChange',
  bodyOf: 'session',
  failure: 'changeSubscriptionFailed',
  // The gateway's timeout of 5 s comes on top of the database's 4 s.
  deadlineMilliseconds: 12_000,

  async handle(context) {
    const read = await readChange(context);
    if (!('userId' in read)) return read;
    const preview = await askWithCredit(context, (isRead) => context.database.previewChange(read, isRead));
    return 'change' in preview ? { status: 200, body: preview.change, outcome: preview.outcome } : refuse(preview);
  },
};

/**
 * Changes the plan: answers an order to pay, a subscription to authorise, or both. Contract:
 * POST /api/subscriptions/change.
 */
export const changeSubscription: Route = {
  method: 'POST',
  path: '/api/subscriptions/change',
  operation: 'changeSubscription',
  bodyOf: 'session',
  failure: 'changeSubscriptionFailed',
  // Invoices, an order and a subscription at the gateway, 5 s each, on top of the database's 4 s.
  deadlineMilliseconds: 23_000,

  async handle(context) {
    const { config, database, gateway, dispatchLater } = context;
    if (config.gateway === null || gateway === null) return errorAnswer('paymentsNotConfigured');
    const { keyId } = config.gateway;
    const read = await readChange(context);
    if (!('userId' in read)) return read;

    const preview = await askWithCredit(context, (isRead) => database.previewChange(read, isRead));
    if (!('change' in preview)) return refuse(preview);
    const { change, order_start: start, is_billed: isBilled } = preview;
    const body = { change, order: null, payment_id: null, subscription: null };

    let paymentId: string | null = null;
    if (start !== null) {
      const ordered = await order(
        { database, gateway, dispatchLater },
        { ...read, start, idempotencyKey: null },
        keyId,
      );
      if ('refusal' in ordered) return ordered.refusal;
      const { credit, starts_at, ends_at, ...rest } = ordered.body;
      // The order fixes the terms, which may be some seconds older.
      const next_charge = change.next_charge && { ...change.next_charge, at: ends_at };
      Object.assign(body, rest, {
        change: { ...change, amount_due: rest.order.amount, credit, starts_at, ends_at, next_charge },
      });
      if (!isBilled) return { ...ordered, body };
      paymentId = rest.payment_id;
    }
    const subscribed = await subscribe(
      { database, gateway },
      read.userId,
      () => database.createChange({ ...read, paymentId }),
      keyId,
    );
    // A cancellation of what was undone.
    dispatchLater();
    return 'refusal' in subscribed ? subscribed.refusal : { ...subscribed, body: { ...body, ...subscribed.body } };
  },
};

/** Reads the session and the body, or answers the refusal. @throws MalformedJson */
async function readChange({ request, body, auth }: RouteContext): Promise<ChangeRequest | Answer> {
  const userId = await auth.authenticate(request);
  if (userId === null) return errorAnswer('unauthorized');
  const parsed = parseRequest(changeRequest, readJson(body));
  if (!parsed.ok) return errorAnswer('invalidRequest', parsed.details);
  return mayExist(parsed.request) ? { userId, ...parsed.request } : errorAnswer('offerNotFound');
}
