import { type Action, planOf } from './actions.ts';
import type { Draw, Kind } from './draws.ts';
import type { Facts, Order } from './facts.ts';
import type { State } from './history.ts';

/** A payment that can be refunded. */
type Refundable = { name: string; amount: number; order: string | null; canFail: boolean };

/** A new refund of a payment, or a new status of an earlier one. */
export function chooseRefund({ facts, billed }: State, kind: Kind, { which, how }: Draw): Action[] | null {
  const refundable = [
    ...facts.orders.flatMap(refundableOf),
    ...billed.flatMap(({ cycles, tier }) =>
      cycles.flatMap(({ payment, again }) => [payment, again]).flatMap((name) =>
        name ? [{ name, amount: planOf(tier).price, order: null, canFail: true }] : []
      )
    ),
  ];
  return kind === 'refund' ? newRefund(facts, refundable, which, how) : changedRefund(facts, refundable, which, how);
}

function refundableOf({ name, amount, extras, money, isCaptured, verifiedAt, isDisputeLost, isNeverCaptured }: Order) {
  if (isDisputeLost || isNeverCaptured) return [];
  // With two payments on an order, the extra one is refunded. A payment without an event yet is refunded in full.
  if (extras.length > 0) return extras.map((extra) => ({ name: extra.name, amount, order: name, canFail: true }));
  if (!isCaptured && verifiedAt !== null) return [];
  return [{ name: `${name}1`, amount, order: name, canFail: money !== null }];
}

function newRefund(facts: Facts, refundable: Refundable[], which: number, how: number): Action[] | null {
  const open = refundable.map((each) => {
    const refunds = [...facts.money.get(each.name)?.refunds.values() ?? []].filter(({ status }) => status !== 'failed');
    return { ...each, left: refunds.reduce((left, { amount }) => left - amount, each.amount) };
  }).filter(({ left, canFail, amount }) => left > 0 && (canFail || left === amount));
  const money = open[which % Math.max(open.length, 1)];
  if (!money) return null;
  const { name, order, amount: of, left, canFail } = money;
  const amount = canFail ? [left, left, Math.ceil(left / 2), 1][how % 4] ?? left : left;
  const refund = `${name} refund ${(facts.money.get(name)?.refunds.size ?? 0) + 1}`;
  return [{
    do: 'refund',
    payment: name,
    of,
    order,
    refund,
    amount,
    status: canFail && how > 7 ? 'pending' : 'processed',
  }];
}

/** A pending refund is processed or fails, a processed one fails, or its refund.created arrives late. */
function changedRefund(facts: Facts, refundable: Refundable[], which: number, how: number): Action[] | null {
  const refunds = refundable.filter(({ canFail }) => canFail).flatMap(({ name: payment, amount: of, order }) =>
    [...facts.money.get(payment)?.refunds ?? []].map(([refund, { amount, status }]) => ({
      payment,
      of,
      order,
      refund,
      amount,
      status,
    }))
  ).filter(({ status }) => status !== 'failed');
  const moved = refunds[which % Math.max(refunds.length, 1)];
  if (!moved) return null;
  const status = moved.status === 'pending' ? (how < 8 ? 'processed' : 'failed') : how < 10 ? 'failed' : 'pending';
  return [{ do: 'refund', ...moved, status }];
}
