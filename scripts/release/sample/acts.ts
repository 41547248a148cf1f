import {
  bodyOf,
  type Cycle,
  disputeEvent,
  type GatewayEvent,
  type Money,
  paymentEntity,
  paymentEvent,
  prices,
  refundEvent,
  sha256,
  subscriptionEntity,
  subscriptionEvent,
  type Tier,
} from './gateway-events.ts';
import type { SampleDatabase } from './sample-database.ts';
import { emailOf, userId, type UserName } from './users.ts';

/** An act of a user, the gateway or an admin. @throws when the database returns another outcome than expected. */
export type Act = (database: SampleDatabase) => Promise<void>;

/** An act and its time: ISO 8601, UTC. */
export type Step = readonly [at: string, act: Act];

/** The auth server stores a new user; a trigger creates the profile. */
export function signUp(user: UserName): Act {
  return async (database) => {
    await database.query(
      `insert into auth.users (id, aud, role, email, created_at, updated_at)
       values ($1, 'authenticated', 'authenticated', $2, billing.clock(), billing.clock())`,
      [userId(user), emailOf(user)],
    );
  };
}

/** POST /api/payments/orders. The gateway's id of the order is `orderId`. */
export function order(user: UserName, tier: Tier, orderId: string, idempotencyKey?: string): Act {
  return async (database) => {
    const { outcome, payment_id: id } = await database.call('create_order', {
      p_user_id: userId(user),
      p_tier: tier,
      p_idempotency_key: idempotencyKey,
      p_gateway_key_id: 'key_sample',
    });
    expectOutcome(outcome, 'created');
    await database.call('store_order', { p_payment_id: String(id), p_order_id: orderId });
  };
}

/** POST /api/payments/verify. */
export function verify(user: UserName, orderId: string, paymentId = paymentOf(orderId), outcome = 'applied'): Act {
  return async (database) => {
    const result = await database.call('verify_payment', {
      p_user_id: userId(user),
      p_order_id: orderId,
      p_payment_id: paymentId,
      p_signature: sha256(`${orderId}|${paymentId}`),
    });
    expectOutcome(result.outcome, outcome);
  };
}

/** POST /api/webhooks/gateway. */
export function deliver(event: GatewayEvent, outcome = 'applied'): Act {
  return async (database) => {
    const body = bodyOf(event, database.seconds());
    const key = sha256(body);
    const result = await database.call('apply_gateway_event', {
      p_body_sha256: key,
      p_event_id: `evt_${key.slice(0, 14)}`,
      p_body: body,
    });
    expectOutcome(result.outcome, outcome);
  };
}

/** The gateway captures the payment of an order, or an attempt fails. */
export function captured(orderId: string, tier: Tier, outcome = 'applied'): Act {
  return deliver(paymentEvent('captured', money(orderId, tier)), outcome);
}

export function failed(orderId: string, tier: Tier): Act {
  return deliver(paymentEvent('failed', { ...money(orderId, tier), id: `${paymentOf(orderId)}_failed` }));
}

/** The gateway refunds an order, by default in full. `amount` in minor units. */
export function refunded(
  orderId: string,
  tier: Tier,
  amount: number = prices[tier],
  status: 'created' | 'processed' = 'processed',
): Act {
  return deliver(refundEvent(money(orderId, tier), amount, status));
}

export function disputed(orderId: string, tier: Tier, name: 'created' | 'lost', status: string): Act {
  return deliver(disputeEvent(money(orderId, tier), name, status));
}

/** The gateway starts, charges or cancels a subscription. `paymentId`: the payment of a charge for the plan basic. */
export function billed(name: 'activated' | 'charged' | 'cancelled', cycle: Cycle, paymentId?: string): Act {
  return deliver(
    subscriptionEvent(name, cycle, paymentId === undefined ? undefined : { id: paymentId, amount: prices.basic }),
  );
}

/** POST /api/subscriptions/cancel. */
export function cancel(user: UserName, atPeriodEnd: boolean): Act {
  return async (database) => {
    const { outcome } = await database.call('cancel_subscription', {
      p_user_id: userId(user),
      p_at_period_end: atPeriodEnd,
    });
    expectOutcome(outcome, 'cancelled');
  };
}

/** POST /api/subscriptions/resume. */
export function resume(user: UserName): Act {
  return async (database) => {
    const { outcome } = await database.call('resume_subscription', { p_user_id: userId(user) });
    expectOutcome(outcome, 'resumed');
  };
}

/** POST /api/internal/reconcile. `paid`: the orders that the gateway captured. Other orders have no payment there. */
export function reconcile(paid: readonly string[], tier: Tier = 'basic'): Act {
  return async (database) => {
    const { payments } = await database.call('claim_payments_to_reconcile', {});
    for (const { id, order_id: orderId } of rows(payments)) {
      const items = paid.includes(String(orderId)) ? [paymentEntity(money(String(orderId), tier), 'captured')] : [];
      await database.call('apply_order_payments', { p_payment_id: String(id), p_items: JSON.stringify(items) });
    }
    await endReconciliation(database);
  };
}

/** POST /api/internal/reconcile for gateway subscriptions, which the gateway reports as active in these cycles. */
export function reconcileSubscriptions(cycles: readonly Cycle[]): Act {
  return async (database) => {
    const { subscriptions } = await database.call('claim_subscriptions_to_reconcile', {});
    for (const { id, gateway_subscription_id: gatewayId } of rows(subscriptions)) {
      const cycle = cycles.find((cycle) => cycle.id === gatewayId);
      if (cycle === undefined) throw new Error(`The sample has no cycle of ${gatewayId}`);
      await database.call('apply_gateway_subscription', {
        p_id: String(id),
        p_entity: JSON.stringify(subscriptionEntity(cycle, 'active')),
      });
    }
    await endReconciliation(database);
  };
}

/** The end of a complete reconciliation. */
async function endReconciliation(database: SampleDatabase): Promise<void> {
  const run = { p_run_id: '00000000-0000-4000-8000-000000000000' };
  await database.call('begin_reconciliation', run);
  await database.call('end_reconciliation', { ...run, p_is_done: true });
}

/** A statement of an admin or of the app. */
export function statement(sql: string, ...parameters: unknown[]): Act {
  return async (database) => {
    await database.query(sql, parameters);
  };
}

/** The only payment on an order. */
export function paymentOf(orderId: string): string {
  return orderId.replace(/^order/, 'pay');
}

export function money(orderId: string, tier: Tier): Money {
  return { id: paymentOf(orderId), orderId, amount: prices[tier] };
}

export function rows(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value : [];
}

function expectOutcome(outcome: unknown, expected: string): void {
  if (outcome !== expected) throw new Error(`The outcome is ${outcome}, not ${expected}`);
}
