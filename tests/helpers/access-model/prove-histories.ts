import fc from 'fast-check';
import { type Action, describeAction, type TimedAction } from './actions.ts';
import { chooseStep, startOf, type State } from './choose.ts';
import { type Drawn, drawnHistories, maxSteps } from './draws.ts';
import { accessOf, billingDifferences, describeAccess } from './expected.ts';
import { type Facts, noFacts } from './facts.ts';
import { isLive, sourcesOf } from './model.ts';
import { moneyFaults } from './money.ts';
import { proveNextCycle } from './prove-next-cycle.ts';
import { recordAction } from './record.ts';
import type { NewSubject, Subject } from './subject.ts';
import { day, hour, isoTime, type Time } from './time.ts';

/**
 * Proves for random histories of up to twelve steps that database and model agree after each action, also while the gateway
 * goes on for a cycle. @throws with the seed and the steps of the shrunk counterexample
 */
export async function proveHistories(
  newSubject: NewSubject,
  parameters: { numRuns: number; seed?: number },
): Promise<void> {
  const property = fc.asyncProperty(drawnHistories(), async (drawn) => void await runDrawn(newSubject, drawn));
  // `SHRINK=off`: whether it fails is all that is asked.
  await fc.assert(property, { endOnFailure: Deno.env.get('SHRINK') === 'off', ...parameters });
}

/** Returns a line for each action. @throws where database and model differ */
export async function runDrawn(newSubject: NewSubject, drawn: Drawn): Promise<string[]> {
  const subject = await newSubject(drawn.earlyRenewal);
  const lines = [`REPLAY='${JSON.stringify(drawn)}' npm test -- tests/database/access-model`];
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
    await subject.advance(state.now, isSwept);
    for (const action of chosen.actions) {
      lines.push(await runAction(subject, state.facts, action, state.now, lines));
    }
  }
  await proveNextCycle(subject, state, lines);
  return lines;
}

/** Runs a written history, as runDrawn does. */
export async function runSteps(subject: Subject, steps: readonly TimedAction[], facts = noFacts('replace')) {
  const lines: string[] = [];
  for (const { at, ...action } of steps) {
    await subject.advance(at, true);
    lines.push(await runAction(subject, facts, action, at, lines));
  }
  return lines;
}

/** Performs an action and compares model and database. Returns its line. @throws where they differ */
export async function runAction(
  subject: Subject,
  facts: Facts,
  action: Action,
  now: Time,
  before: readonly string[],
): Promise<string> {
  const due = dueForReconciliation(facts, now);
  const reconciled = await performAndRecord(subject, facts, action, now, before);
  const [model, stored] = [accessOf(facts, now), await subject.read()];
  const line = `${isoTime(now)} ${describeAction(action)} → ${describeAccess(model)}`;
  const missed = action.do === 'ask' ? due.filter((name) => !reconciled.includes(name)) : [];
  const others = [
    ...missed.map((name) => `not claimed for reconciliation: ${name}`),
    ...billingDifferences(facts, now, stored),
    ...moneyFaults(facts, now, stored.sold, stored),
  ];
  const [expected, found] = [describeAccess(model), describeAccess(stored)];
  if (expected === found && others.length === 0) return line;
  const differences = [`model    ${expected}`, `database ${found}`, ...others];
  throw new Error(['model and database differ:', ...before, line, ...differences].join('\n'));
}

/** Returns the names of the reconciled gateway subscriptions. */
export async function performAndRecord(
  subject: Subject,
  facts: Facts,
  action: Action,
  now: Time,
  before: readonly string[],
): Promise<string[]> {
  const reconciled = await subject.perform(action, now).catch((error) => {
    throw new Error([...before, `${isoTime(now)} ${describeAction(action)} → ${error}`].join('\n'), { cause: error });
  });
  const pick = ([name]: [string, unknown]) => reconciled.includes(name);
  const known = action.do === 'ask'
    ? { ...action, answers: Object.fromEntries(Object.entries(action.answers).filter(pick)) }
    : action;
  recordAction(facts, known, now);
  return reconciled;
}

/** The sources that run only because they were not reconciled, and that are due for it. */
function dueForReconciliation(facts: Facts, now: Time): string[] {
  const isDue = (name: string) => {
    const one = facts.subscriptions.find((subscription) => subscription.name === name);
    return (one?.reconciledAt ?? -Infinity) <= now - 6 * hour;
  };
  return sourcesOf(facts).filter((source) =>
    isLive(source, now) && source.end + source.graceDays * day <= now && isDue(source.name)
  ).map(({ name }) => name);
}
