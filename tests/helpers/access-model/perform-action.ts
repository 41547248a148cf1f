import { callRpc } from '../database/session.ts';
import { deliver } from '../gateway/deliver.ts';
import {
  disputeEvent,
  type Fields,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  subscriptionEvent,
} from '../gateway/events.ts';
import { orderTier } from '../records/orders.ts';
import { createPayment, uniqueId } from '../records/records.ts';
import { type Action, type Answer, type GatewayEvent, planOf, type RefundAction } from './actions.ts';
import type { Setting } from './subject.ts';
import { isoTime, second, type Time } from './time.ts';

/** Maps the names of a history to the ids in the database and at the gateway. */
export type Names = {
  /** The id of a name. Creates one with the prefix at the first use. */
  idOf(name: string, prefix: string): string;
  /** The name of an id, or the id itself. */
  nameOf(id: string): string;
  /** Adds an id to a name. A name may have several. */
  add(id: string, name: string): void;
};

export function createNames(): Names {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  return {
    idOf(name, prefix) {
      const id = ids.get(name) ?? uniqueId(prefix);
      ids.set(name, id);
      if (!names.has(id)) names.set(id, name);
      return id;
    },
    nameOf: (id) => names.get(id) ?? id,
    add: (id, name) => void names.set(id, name),
  };
}

type Performer = (action: Action, at: Time) => Promise<string[]>;

/** Performs actions through the RPCs, each at its time. Returns the names of the reconciled gateway subscriptions. */
export function createPerformer({ database, service, userId }: Setting, names: Names): Performer {
  const orders = new Map<string, { id: string; orderId: string; amount: number }>();
  const orderOf = (name: string) => {
    const order = orders.get(name);
    if (!order) throw new Error(`no order ${name}`);
    return order;
  };
  // The first payment on an order has the name of the order.
  const paymentOf = (name: string) =>
    names.idOf([...orders.keys()].find((order) => name === `${order}1`) ?? name, 'pay');
  const moneyOf = ({ order, payment }: { order: string; payment: string }) => {
    const { orderId, amount } = orderOf(order);
    return { id: paymentOf(payment), order_id: orderId, amount };
  };

  const refunds = new Map<string, Map<string, number>>();
  /** The refunded amount of a payment as the gateway counts it: pending refunds included. */
  const refundedOf = ({ payment, refund, amount, status }: RefundAction): number => {
    const known = refunds.get(payment) ?? new Map<string, number>();
    refunds.set(payment, known.set(refund, status === 'failed' ? 0 : amount));
    return [...known.values()].reduce((sum, each) => sum + each, 0);
  };

  const bodies = new Map<string, string>();
  /** Delivers the event of an action. A repeated action delivers the same bytes again. */
  const send = async (action: Action, build: () => string): Promise<string[]> => {
    const key = JSON.stringify(action);
    const body = bodies.get(key) ?? build();
    bodies.set(key, body);
    const outcome = await deliver(service, body);
    if (/^(failed|ignored)/.test(String(outcome))) throw new Error(`${outcome}: ${body}`);
    return [];
  };
  const call = (name: string, ...parameters: unknown[]) => callRpc(service, name, ...parameters).then(() => []);
  const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters).then(() => []);

  const bodyOf = ({ do: name, tier, payment, ...event }: GatewayEvent): string =>
    subscriptionEvent({
      name,
      userId,
      id: names.idOf(event.subscription, 'sub'),
      planId: `plan_${tier}`,
      createdAt: isoTime(event.createdAt),
      start: isoOf(event.start),
      end: isoOf(event.end),
      fields: { paid_count: event.paidCount, charge_at: seconds(event.chargeAt) },
      ...(payment !== null && {
        // The gateway creates an order of its own for each charge.
        payment: { id: paymentOf(payment), order_id: uniqueId('order'), amount: planOf(tier).price },
      }),
    });
  const place = async ({ order, tier, amount, start }: Extract<Action, { do: 'order' }>): Promise<string[]> => {
    const placed = start
      ? await orderTier(service, { user: { id: userId, email: null }, tier, start })
      : await createPayment(database, { userId, amount, meta: { tier } });
    if ('answer' in placed) {
      if (placed.answer.amount !== amount) throw new Error(`costs ${placed.answer.amount}`);
    } else {
      // Plan and length are stored with the order, as create_order does.
      await database.query(
        `update public.payments p set plan_id = pl.id, duration_months = coalesce(nullif(pl.duration_months, 0), 12)
         from public.plans pl where p.id = $1 and pl.tier = $2`,
        [placed.id, tier],
      );
    }
    orders.set(order, { id: placed.id, orderId: placed.orderId, amount });
    for (const id of [placed.id, placed.orderId]) names.add(id, order);
    return [];
  };
  const ask = async (answers: Record<string, Answer>): Promise<string[]> => {
    const { subscriptions } = await callRpc(service, 'claim_subscriptions_to_reconcile');
    const { orders } = await callRpc(service, 'claim_subscription_orders');
    const reconciled = new Set<string>();
    const apply = async (claimed: unknown, by: (id: string, gatewayId: string, entity: string) => Promise<unknown>) => {
      for (const { id, gateway_subscription_id: gatewayId } of Array.isArray(claimed) ? claimed : []) {
        const name = names.nameOf(gatewayId);
        const answer = answers[name];
        if (!answer) throw new Error(`claimed, and the gateway has no such subscription: ${name}`);
        await by(id, gatewayId, JSON.stringify(entityOf(gatewayId, answer)));
        reconciled.add(name);
      }
    };
    await apply(subscriptions, (...given) => call('apply_gateway_subscription', ...given));
    await apply(orders, (id, _, entity) => call('apply_subscription_order', id, entity));
    return [...reconciled].sort();
  };

  return (action, at) => {
    switch (action.do) {
      case 'wait':
        return Promise.resolve([]);
      case 'order':
        return place(action);
      case 'verify':
        return call('verify_payment', userId, orderOf(action.order).orderId, paymentOf(action.payment), 'signature');
      case 'captured': {
        const { id, orderId } = orderOf(action.order);
        const paid = () => orderPaid(moneyOf(action), { id: orderId, receipt: id.replaceAll('-', '') });
        return send(action, action.event === 'order.paid' ? paid : () => paymentCaptured(moneyOf(action)));
      }
      case 'failed':
        return send(action, () => paymentFailed(moneyOf(action)));
      case 'dispute':
        return send(action, () => disputeEvent('lost', 'lost', moneyOf(action)));
      case 'refund': {
        const order_id = action.order === null ? null : orderOf(action.order).orderId;
        const refund = { id: names.idOf(action.refund, 'rfnd'), status: action.status };
        return send(action, () => {
          const amounts = { amount: action.of, amount_refunded: refundedOf(action) };
          return refundEvent({ id: paymentOf(action.payment), order_id, ...amounts }, action.amount, refund);
        });
      }
      case 'nothing captured':
        return call('apply_order_payments', orderOf(action.order).id, action.isUnknown ? null : '[]');
      case 'subscribe': {
        const { tier, subscription, startsAt, isTrial, replaces } = action;
        return write(
          `insert into billing.subscription_orders (user_id, tier, gateway_plan_id, gateway_subscription_id, expires_at,
             next_check_at, starts_at, is_trial, replaces)
           values ($1, $2, 'plan_' || $2, $3, $4::timestamptz + interval '1 day', $4::timestamptz + interval '10 minutes',
             $5, $6, $7)`,
          ...[userId, tier, names.idOf(subscription, 'sub'), isoTime(at), isoTime(startsAt), isTrial],
          replaces === null ? null : names.idOf(replaces, 'sub'),
        );
      }
      case 'ask':
        return ask(action.answers);
      case 'cancel':
        return call('cancel_subscription', userId, action.atPeriodEnd);
      case 'resume':
        return call('resume_subscription', userId);
      case 'grant':
        return write(
          `insert into billing.support_actions (action, email, tier, until, reason) values ('grant', $1, $2, $3, $4)`,
          ...[userId, action.tier, isoTime(action.until), action.grant],
        );
      case 'write by hand':
        return write(
          `with profile as (update public.profiles set subscription_tier = $2 where user_id = $1)
           insert into public.subscriptions (user_id, plan_id, tier, status, current_period_start, current_period_end)
           select $1, p.id, p.tier, 'active', $3, $4 from public.plans p where p.tier = $2`,
          ...[userId, action.tier, isoTime(at), isoTime(action.until)],
        );
      case 'change plan':
        return write(
          'update public.plans set duration_months = $2, price = $3 where tier = $1',
          ...[action.tier, action.months, action.price],
        );
      default:
        return send(action, () => bodyOf(action));
    }
  };
}

/** A gateway subscription as an entity of the gateway's API. */
function entityOf(id: string, { tier, status, start, end, endedAt, paidCount, chargeAt }: Answer): Fields {
  return {
    ...{ id, entity: 'subscription', plan_id: `plan_${tier}`, status, paid_count: paidCount, notes: [] },
    ...{ current_start: seconds(start), current_end: seconds(end) },
    ...{ ended_at: seconds(endedAt), charge_at: seconds(chargeAt) },
  };
}

function seconds(at: Time | null): number | null {
  return at === null ? null : at / second;
}

function isoOf(at: Time | null): string | null {
  return at === null ? null : isoTime(at);
}
