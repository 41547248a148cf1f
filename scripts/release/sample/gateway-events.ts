import { createHash } from 'node:crypto';
import { userId, type UserName } from './users.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An event of the gateway without its time. */
export type GatewayEvent = { readonly name: string; readonly entities: Readonly<Record<string, Fields>> };

/** Prices of the plans, in minor units. */
export const prices = { basic: 4900, pro: 99900, premium: 199900 } as const;
export type Tier = keyof typeof prices;

/** A payment. The payment of a charge has no order of ours. `amount` in minor units. */
export type Money = { readonly id: string; readonly orderId?: string; readonly amount: number };

export function paymentEvent(outcome: 'captured' | 'failed', money: Money): GatewayEvent {
  return { name: `payment.${outcome}`, entities: { payment: paymentEntity(money, outcome) } };
}

export function refundEvent(money: Money, amount: number, status: 'created' | 'processed'): GatewayEvent {
  return {
    name: `refund.${status}`,
    entities: {
      payment: { ...paymentEntity(money, 'captured'), amount_refunded: amount },
      refund: {
        id: money.id.replace(/^pay/, 'rfnd'),
        entity: 'refund',
        payment_id: money.id,
        amount,
        currency: 'INR',
        status: status === 'created' ? 'pending' : status,
      },
    },
  };
}

export function disputeEvent(money: Money, name: 'created' | 'lost', status: string): GatewayEvent {
  return {
    name: `payment.dispute.${name}`,
    entities: {
      payment: paymentEntity(money, 'captured'),
      dispute: { id: money.id.replace(/^pay/, 'disp'), entity: 'dispute', payment_id: money.id, status },
    },
  };
}

/** A gateway subscription to the plan basic, and its cycle, ISO 8601. */
export type Cycle = {
  readonly user: UserName;
  readonly id: string;
  readonly start: string;
  readonly end: string;
};

/** `payment`: the payment of a charge. */
export function subscriptionEvent(
  name: 'activated' | 'charged' | 'cancelled',
  cycle: Cycle,
  payment?: Money,
): GatewayEvent {
  return {
    name: `subscription.${name}`,
    entities: {
      subscription: subscriptionEntity(cycle, name === 'cancelled' ? 'cancelled' : 'active'),
      ...(payment && { payment: paymentEntity(payment, 'captured') }),
    },
  };
}

/** The body of an event that the gateway sends at a time (Unix seconds). */
export function bodyOf({ name, entities }: GatewayEvent, at: number): string {
  return JSON.stringify({
    entity: 'event',
    account_id: 'acc_sample',
    event: name,
    contains: Object.keys(entities),
    payload: Object.fromEntries(Object.entries(entities).map(([entity, fields]) => [entity, { entity: fields }])),
    created_at: at,
  });
}

/** The ledger's key of a body: SHA-256, hex. */
export function sha256(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** A payment, in events and in answers of the gateway's API. */
export function paymentEntity({ id, orderId, amount }: Money, outcome: 'captured' | 'failed'): Fields {
  return {
    id,
    entity: 'payment',
    order_id: orderId ?? null,
    amount,
    currency: 'INR',
    status: outcome,
    captured: outcome === 'captured',
    method: 'upi',
    notes: [],
    ...(outcome === 'failed' && {
      error_code: 'BAD_REQUEST_ERROR',
      error_description: 'Your payment was declined by the bank',
      error_reason: 'payment_failed',
    }),
  };
}

/** A subscription, in events and in answers of the gateway's API. */
export function subscriptionEntity({ user, id, start, end }: Cycle, status: 'active' | 'cancelled'): Fields {
  return {
    id,
    entity: 'subscription',
    plan_id: 'plan_basic',
    status,
    current_start: seconds(start),
    current_end: seconds(end),
    notes: { user_id: userId(user) },
  };
}

function seconds(at: string): number {
  return Date.parse(at) / 1000;
}
