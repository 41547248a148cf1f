import { isStorableText } from '../database/storable-json.ts';
import type { Answer } from '../http/answer.ts';
import {
  errorAnswer,
  type ErrorName,
  onlyAtPeriodEndAnswer,
  priceConflictAnswer,
  tooLateAnswer,
} from '../http/errors.ts';
import { readJson } from '../http/read-json.ts';
import { parseRequest } from '../http/validation.ts';
import { readSubscription } from '../gateway/reconciler.ts';
import type { RouteContext } from './route.ts';
import type { PriceRequest, Result, Unread } from '../ports.ts';
import type { z } from 'zod';

/** How long a request waits while another request creates the same order. */
const waitMilliseconds = 3000;
const pauseMilliseconds = 200;

/** The request of an order or a subscription, or the answer that refuses it. Contract: their "Order of checks". */
export type ReadOrder<Body> =
  | Body & { readonly idempotencyKey: string | null; readonly refusal?: undefined }
  | { readonly refusal: Answer };

/** Reads body and `Idempotency-Key`. @throws MalformedJson */
export function readOrderRequest<Body extends PriceRequest>(
  schema: z.ZodType<Body>,
  { headers }: Request,
  body: Uint8Array,
): ReadOrder<Body> {
  const parsed = parseRequest(schema, readJson(body));
  if (!parsed.ok) return { refusal: errorAnswer('invalidRequest', parsed.details) };
  const idempotencyKey = headers.get('idempotency-key') || null;
  if (idempotencyKey !== null && idempotencyKey.length > 255) {
    const details = { formErrors: [], fieldErrors: { 'idempotency-key': ['At most 255 characters'] } };
    return { refusal: errorAnswer('invalidRequest', details) };
  }
  return mayExist(parsed.request) ? { ...parsed.request, idempotencyKey } : { refusal: errorAnswer('offerNotFound') };
}

/** Whether Postgres can store the names. */
export function mayExist({ tier = '', price = '' }: PriceRequest): boolean {
  return isStorableText(tier) && isStorableText(price);
}

/** Calls again while another request creates the same order. */
export async function waitWhileInFlight<T extends { outcome: string }>(create: () => Promise<T>): Promise<T> {
  const until = performance.now() + waitMilliseconds;
  for (;;) {
    const result = await create();
    if (result.outcome !== 'in_flight' || performance.now() > until) return result;
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}

/**
 * Asks for an order or a change. Where its credit depends on a payment that is not known yet, the subscription that it paid for
 * is read from the gateway first.
 * @param ask asks once more after the read; without the gateway's API it is told at once that nothing will be read
 * @returns the result; `unread` if the gateway did not answer
 */
export async function askWithCredit<T extends { outcome: string; subscription?: Unread['subscription'] }>(
  { database, gateway, dispatchLater }: Pick<RouteContext, 'database' | 'gateway' | 'dispatchLater'>,
  ask: (isRead: boolean) => Promise<T>,
): Promise<T> {
  const result = await ask(gateway === null);
  const { outcome, subscription } = result;
  if (outcome !== 'unread' || subscription === undefined || gateway === null) return result;
  if (await readSubscription(database, gateway, subscription) === null) return result;
  dispatchLater();
  return await ask(true);
}

/** What no order and no subscription follows. An order and a change have some of these outcomes. */
type Refused = Exclude<Result<'create_subscription'>, { outcome: 'created' | 'existing' | 'undone' }> | Unread;

/**
 * Answers the outcome of an order, a subscription or a change that is refused.
 * @param inProgress the answer while another request creates the same
 */
export function refuse(result: Refused, inProgress: ErrorName = 'subscriptionInProgress'): Answer {
  switch (result.outcome) {
    case 'plan_not_found':
      return errorAnswer('offerNotFound');
    case 'not_at_gateway':
      return errorAnswer('priceNotAtGateway');
    case 'price_conflict':
      return priceConflictAnswer();
    case 'not_now':
      return onlyAtPeriodEndAnswer(result.reason);
    case 'user_not_found':
      return errorAnswer('unauthorized');
    case 'key_conflict':
      return errorAnswer('idempotencyKeyReused');
    case 'already_subscribed':
      return errorAnswer('alreadySubscribed');
    case 'subscription_not_found':
      return errorAnswer('subscriptionNotFound');
    case 'too_late':
      return tooLateAnswer(result.possible_from);
    case 'in_flight':
      return { ...errorAnswer(inProgress), headers: { 'retry-after': '1' } };
    case 'unread':
      return errorAnswer('gatewayUnavailable');
    case 'rate_limited':
      return { ...errorAnswer('tooManyOrders'), headers: { 'retry-after': String(result.retry_after) } };
  }
}
