import { type Access, accessOf, billingDifferences, describeAccess } from './access.ts';
import { type Action, describeAction, type TimedAction } from './actions.ts';
import { type Drawn, maxSteps } from './draws.ts';
import type { Facts } from './facts.ts';
import { chooseStep, startOf, type State } from './history.ts';
import { isLive, sourcesOf } from './model.ts';
import type { NewSubject } from './prepare-subjects.ts';
import { recordAction } from './record-action.ts';
import type { Subject } from './subject.ts';
import { day, hour, isoTime, parseTime, type Time } from './time.ts';

/**
 * Runs a drawn history and compares model and database after each action. Returns a line for each. @throws where they
 * differ
 */
export async function runDrawn(newSubject: NewSubject, drawn: Drawn): Promise<string[]> {
  const replay = `REPLAY='${JSON.stringify(drawn)}' npm test -- tests/database/access-model`;
  const subject = await newSubject(drawn.earlyRenewal);
  const lines: string[] = [];
  let state: State = startOf(drawn);
  let steps = 0;
  for (const draw of drawn.draws) {
    if (steps === maxSteps) break;
    const chosen = chooseStep(state, draw);
    if (chosen === null) continue;
    state = chosen.state;
    steps += 1;
    // Half of the steps run without a sweep since the step before. Cancel and resume need one: they act on the stored
    // row.
    const isSwept = draw.how % 2 === 0 || ['cancel', 'cancel at end', 'resume', 'change'].includes(chosen.kind);
    await subject.advance(isoTime(state.now), isSwept);
    for (const action of chosen.actions) {
      lines.push(await runAction(subject, state.facts, action, state.now, [replay, ...lines]));
    }
  }
  return lines;
}

/** Runs a written history, as runDrawn does. */
export async function runSteps(subject: Subject, facts: Facts, steps: readonly TimedAction[]): Promise<string[]> {
  const lines: string[] = [];
  for (const { at, ...action } of steps) {
    await subject.advance(at, true);
    lines.push(await runAction(subject, facts, action, parseTime(at), lines));
  }
  return lines;
}

async function runAction(
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
  const others = [
    ...missed.map((name) => `not claimed for reconciliation: ${name}`),
    ...billingDifferences(facts, now, await subject.readBilling()),
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
