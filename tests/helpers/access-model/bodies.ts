import { seconds } from '../gateway/gateway-events.ts';
import { uniqueId } from '../records/records.ts';
import { type Action, type Answer, planOf } from './actions.ts';

type Fields = Record<string, unknown>;

/** The body of a refund event, with the refunded payment. The payment's `amount_refunded` includes pending refunds. */
export function refundBody(
  { of, status, amount }: Extract<Action, { do: 'refund' }>,
  { payment, order, refund, refunded }: { payment: string; order: string | null; refund: string; refunded: number },
  at: string,
): string {
  const event = status === 'pending' ? 'created' : status;
  return envelope(`refund.${event}`, {
    payment: { ...paymentEntity(payment, order, of), amount_refunded: refunded },
    refund: { id: refund, entity: 'refund', payment_id: payment, amount, currency: 'INR', status },
  }, at);
}

/** The body of a subscription event. A charge contains its payment. */
export function subscriptionBody(
  { do: name, tier, createdAt, start, end, payment }: Extract<Action, { do: 'activated' | 'charged' | 'cancelled' }>,
  ids: { user: string; subscription: string; payment: string },
): string {
  const entity = {
    id: ids.subscription,
    entity: 'subscription',
    plan_id: `plan_${tier}`,
    status: name === 'cancelled' ? 'cancelled' : 'active',
    current_start: seconds(start),
    current_end: seconds(end),
    notes: { user_id: ids.user },
  };
  return envelope(`subscription.${name}`, {
    subscription: entity,
    // The gateway creates an order of its own for each charge.
    ...(payment === null ? {} : { payment: paymentEntity(ids.payment, uniqueId('order'), planOf(tier).price) }),
  }, createdAt);
}

/** A gateway subscription as an entity of the gateway's API. */
export function subscriptionAnswer(id: string, { tier, status, start, end, endedAt }: Answer): Fields {
  return {
    id,
    entity: 'subscription',
    plan_id: `plan_${tier}`,
    status,
    current_start: seconds(start),
    current_end: seconds(end),
    ended_at: endedAt === null ? null : seconds(endedAt),
    notes: [],
  };
}

function paymentEntity(id: string, order: string | null, amount: number): Fields {
  return {
    id,
    entity: 'payment',
    order_id: order,
    amount,
    currency: 'INR',
    status: 'captured',
    captured: true,
    notes: [],
  };
}

function envelope(event: string, entities: Record<string, Fields>, at: string): string {
  return JSON.stringify({
    entity: 'event',
    account_id: uniqueId('acc'),
    event,
    contains: Object.keys(entities),
    payload: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }])),
    created_at: seconds(at),
  });
}
