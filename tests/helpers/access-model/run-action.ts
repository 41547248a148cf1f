import { type Access, accessOf, billingDifferences, describeAccess } from './access.ts';
import { type Action, describeAction } from './actions.ts';
import type { Facts } from './facts.ts';
import { isLive, sourcesOf } from './model.ts';
import { moneyFaults } from './money.ts';
import { recordAction } from './record-action.ts';
import type { Subject } from './subject.ts';
import { day, hour, isoTime, type Time } from './time.ts';

/** Performs an action and compares model and database. Returns its line. @throws where they differ */
export async function runAction(
  subject: Subject,
  facts: Facts,
  action: Action,
  now: Time,
  before: readonly string[],
): Promise<string> {
  const at = isoTime(now);
  const due = dueForReconciliation(facts, now);
  const reconciled = await subject.perform(action, at).catch((error) => {
    throw new Error([...before, `${at} ${describeAction(action)} → ${error}`].join('\n'), { cause: error });
  });
  recordAction(facts, action.do === 'ask' ? { do: 'ask', answers: pick(action.answers, reconciled) } : action, now);
  const [model, database] = [accessOf(facts, now), await subject.read()];
  const line = `${at} ${describeAction(action)} → ${describeAccess(model)}`;
  const missed = action.do === 'ask' ? due.filter((name) => !reconciled.includes(name)) : [];
  const stored = await subject.readBilling();
  const others = [
    ...missed.map((name) => `not claimed for reconciliation: ${name}`),
    ...billingDifferences(facts, now, stored),
    ...moneyFaults(facts, now, stored.sold, database),
  ];
  if (describeAccess(model) !== describeAccess(database) || others.length > 0) {
    throw new Difference([...before, line], model, database, others);
  }
  return line;
}

/** The sources that run only because they were not reconciled, and that are due for it. */
function dueForReconciliation(facts: Facts, now: Time): string[] {
  return sourcesOf(facts).filter((source) => {
    const { end, graceDays, name } = source;
    const reconciledAt = facts.subscriptions.find((subscription) => subscription.name === name)?.reconciledAt ??
      -Infinity;
    return isLive(source, now) && end + graceDays * day <= now && reconciledAt <= now - 6 * hour;
  }).map(({ name }) => name);
}

function pick<Value>(values: Record<string, Value>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

/** Where the database first differs from the model. */
export class Difference extends Error {
  constructor(
    lines: readonly string[],
    readonly model: Access,
    readonly database: Access,
    others: readonly string[],
  ) {
    super([
      'model and database differ:',
      ...lines,
      `model    ${describeAccess(model)}`,
      `database ${describeAccess(database)}`,
      ...others,
    ].join('\n'));
  }
}
