import type { TimedAction } from './actions.ts';
import { type Drawn, maxSteps } from './draws.ts';
import type { Facts } from './facts.ts';
import { chooseStep, startOf, type State } from './history.ts';
import type { NewSubject } from './prepare-subjects.ts';
import { proveNextCycle } from './prove-next-cycle.ts';
import { runAction } from './run-action.ts';
import type { Subject } from './subject.ts';
import { isoTime, parseTime } from './time.ts';

/**
 * Runs a drawn history and compares model and database after each action, also while the gateway goes on for a cycle.
 * Returns a line for each action. @throws where they differ
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
  return [...lines, ...await proveNextCycle(subject, state, [replay, ...lines])];
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
