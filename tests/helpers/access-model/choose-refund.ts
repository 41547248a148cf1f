import { type Action, priceOf } from './actions.ts';
import type { State } from './choose.ts';
import type { Order } from './facts.ts';
import type { Billed } from './gateway.ts';

/** A payment that can be refunded: in full, or also in part where an event told it. */
type Refundable = { payment: string; price: string; of: number; order: string | null; isKnown: boolean };

function refundablesOf({ facts, billed }: State): Refundable[] {
  const ofOrder = ({ name: order, price, amount: of, ...rest }: Order): Refundable[] => {
    const known = [rest, ...rest.extras].filter(({ isCaptured }) => isCaptured).flatMap(({ money }) =>
      money ? [{ payment: money.name, price, of, order, isKnown: true }] : []
    );
    // A payment without an event yet is refunded in full.
    if (known.length > 0 || rest.verifiedAt !== null) return known;
    return [{ payment: `${order}1`, price, of, order, isKnown: rest.money !== null }];
  };
  const ofBilled = ({ cycles }: Billed): Refundable[] =>
    cycles.flatMap(({ payment, price }) =>
      payment ? [{ payment, price, of: priceOf(price).amount, order: null, isKnown: true }] : []
    );
  // Of a user who was deleted what was not fulfilled is refunded.
  const orders = [...facts.orders, ...facts.gone.filter(({ fulfilledAt }) => fulfilledAt === null)];
  return [...orders.flatMap(ofOrder), ...billed.flatMap(ofBilled)];
}

export function newRefund(state: State, which: number, how: number): Action[] | null {
  const refundsOf = (name: string) => state.facts.money.get(name)?.refunds ?? new Map();
  const open = refundablesOf(state).map((each) => {
    const amount = [...refundsOf(each.payment).values()].filter(({ status }) => status !== 'failed')
      .reduce((left, { amount }) => left - amount, each.of);
    return { ...each, left: amount };
  }).filter(({ left, isKnown, of }) => left > 0 && (isKnown || left === of));
  const chosen = open[which % Math.max(open.length, 1)];
  if (!chosen) return null;
  const { left, isKnown, ...rest } = chosen;
  const amount = isKnown ? [left, left, Math.ceil(left / 2), 1][how % 4] ?? left : left;
  const refund = `${rest.payment} refund ${refundsOf(rest.payment).size + 1}`;
  return [{ do: 'refund', ...rest, refund, amount, status: isKnown && how > 7 ? 'pending' : 'processed' }];
}

/** A pending refund is processed or fails, a processed one fails, or its refund.created arrives late. */
export function changedRefund(state: State, which: number, how: number): Action[] | null {
  const refunds = refundablesOf(state).filter(({ isKnown }) => isKnown).flatMap(({ payment, price, of, order }) =>
    [...state.facts.money.get(payment)?.refunds ?? []]
      .map(([refund, { amount, status }]) => ({ payment, price, of, order, refund, amount, status }))
  ).filter(({ status }) => status !== 'failed');
  const moved = refunds[which % Math.max(refunds.length, 1)];
  if (!moved) return null;
  const status = moved.status === 'pending' ? (how < 8 ? 'processed' : 'failed') : how < 10 ? 'failed' : 'pending';
  return [{ do: 'refund', ...moved, status }];
}
