import { day, second, type Time } from './actions.ts';
import { type Facts, isRefunded, type Subscription } from './facts.ts';
import { hasEndedAtGateway, hasPlan, newestStatus } from './model.ts';

/** The rest about a deleted user is erased 90 days later: what follows then is not drawn. */
export const isErasedSoon = ({ deletedAt }: Facts, now: Time): boolean =>
  deletedAt !== null && now > deletedAt + 80 * day;

/** Whether the gateway may charge it again, by what is known here. */
const isOpen = (one: Subscription): boolean =>
  !hasEndedAtGateway(one) && !['completed', 'cancelled'].includes(newestStatus(one)?.status ?? '');

/** The user is deleted: what he bought loses him, what he asked for and was given is gone, and the gateway is to stop. */
export function deleteUser(facts: Facts, now: Time): void {
  facts.isRestorable =
    facts.wishes.length + facts.cancellations.length + facts.rows.length + facts.planned.length === 0 &&
    facts.subscriptions.every(hasPlan);
  facts.deletedAt = now;
  facts.gone.push(...facts.orders.splice(0));
  for (const list of [facts.grants, facts.rows, facts.wishes, facts.cancellations, facts.planned]) list.splice(0);
  for (const one of facts.subscriptions) one.isUnwanted ||= isOpen(one);
}

/** Whether the gateway is told to stop, by name: what was open then, and what an event showed since. */
export function unwanted({ subscriptions }: Facts): Map<string, boolean> {
  return new Map(subscriptions.filter((one) => one.isUnwanted && isOpen(one)).map(({ name }) => [name, true]));
}

/** What was paid after the deletion is to be refunded. */
export function findingsAfterDeletion({ gone, subscriptions, deletedAt }: Facts): string[] {
  const charged = deletedAt === null
    ? []
    : subscriptions.flatMap(({ cycles }) =>
      cycles.flatMap(({ at, money }) =>
        money !== null && !isRefunded(money) && at + second > deletedAt ? [`charged_after_deletion: ${money.name}`] : []
      )
    );
  const captured = gone.filter(({ isCaptured, fulfilledAt, money }) =>
    isCaptured && fulfilledAt === null && !isRefunded(money)
  );
  return [...charged, ...captured.map(({ name }) => `captured_not_fulfilled: ${name}`)];
}
