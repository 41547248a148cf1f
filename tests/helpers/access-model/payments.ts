import type { Time } from './actions.ts';
import { isRefunded, type Money, type Order } from './facts.ts';

/** Whether another payment buys the order: nothing paid it so far, or that was refunded in full. */
export const isUnpaid = ({ money, fulfilledAt }: Order): boolean => fulfilledAt === null || isRefunded(money);

/** Of several payments on an order one counts. */
export function notePayment(order: Order, money: Money, isCaptured: boolean, now: Time): void {
  money.notedAt ??= now;
  const one = order.money === null || order.money === money ? order : order.extras.find((each) => each.money === money);
  if (one) Object.assign(one, { money, isCaptured: one.isCaptured || isCaptured });
  else order.extras.push({ money, isCaptured });
  countAgain(order);
}

/** A captured payment counts before one that is only verified; after a full refund of the one that counts another one does. */
export function countAgain(order: Order): void {
  const { money, isCaptured } = order;
  const others = order.extras.filter((extra) => !isRefunded(extra.money));
  const next = others.find((extra) => extra.isCaptured) ?? others[0];
  if (money === null || next === undefined || !isRefunded(money) && (isCaptured || !next.isCaptured)) return;
  order.extras.splice(order.extras.indexOf(next), 1, { money, isCaptured });
  order.money = next.money;
  order.isCaptured = next.isCaptured;
}
