import { createHash } from 'node:crypto';
import type pg from 'pg';
import { uniqueId } from '../records/records.ts';
import { callRpc } from '../database/session.ts';

/** Unix seconds of an ISO 8601 time, as the gateway writes times. */
export function seconds(at: string): number {
  return Date.parse(at) / 1000;
}

/** The body of a payment event, in the gateway's envelope. */
export function paymentEvent(
  name: 'captured' | 'failed',
  entity: Record<string, unknown>,
  createdAt: number = seconds('2026-01-01T00:00:00Z'),
): string {
  return JSON.stringify({
    entity: 'event',
    event: `payment.${name}`,
    contains: ['payment'],
    payload: { payment: { entity: { entity: 'payment', ...entity } } },
    created_at: createdAt,
  });
}

/** The fields of a subscription event. With `createdAt` null the event has no `created_at`. */
export type SubscriptionEvent = {
  readonly name: 'activated' | 'charged' | 'cancelled';
  readonly userId: string;
  readonly id?: string | null;
  readonly planId?: string;
  readonly start?: string | null;
  readonly end?: string | null;
  readonly createdAt?: string | null;
  /** The payment of the cycle: its id at the gateway and its amount in minor units. */
  readonly payment?: { readonly id: string; readonly amount: number };
};

/**
 * The body of a subscription event, in the gateway's envelope. Each call returns a different body, even for the same
 * data.
 */
export function subscriptionEvent(
  { name, userId, id = 'sub_A', planId, start = null, end = null, createdAt = null, payment }: SubscriptionEvent,
): string {
  return JSON.stringify({
    entity: 'event',
    account_id: uniqueId('acc'),
    event: `subscription.${name}`,
    payload: {
      subscription: {
        entity: {
          ...(id === null ? {} : { id }),
          ...(planId === undefined ? {} : { plan_id: planId }),
          current_start: start === null ? null : seconds(start),
          current_end: end === null ? null : seconds(end),
          notes: { user_id: userId },
        },
      },
      ...(payment === undefined ? {} : { payment: { entity: { entity: 'payment', status: 'captured', ...payment } } }),
    },
    ...(createdAt === null ? {} : { created_at: seconds(createdAt) }),
  });
}

/** The ledger's key of a body, as the route computes it: SHA-256 in hex. */
export function sha256(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Delivers a body as the webhook route does after checking it, and returns the outcome. */
export async function deliver(client: pg.Client, body: string, eventId: string | null = null): Promise<unknown> {
  const { outcome } = await callRpc(client, 'apply_gateway_event', sha256(body), eventId, body);
  return outcome;
}
