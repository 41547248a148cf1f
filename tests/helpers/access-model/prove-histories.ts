import { day, describeAction, hour, isoTime, minute } from './actions.ts';
import type { Action, Answer, GatewayEvent, Time } from './actions.ts';
import { chooseStep, isLeftOpen, startOf, type State } from './choose.ts';
import { isErasedSoon } from './deletion.ts';
import { type Drawn, drawnHistories, maxSteps } from './draws.ts';
import {
  accessOf,
  billingDifferences,
  chargeDifferences,
  describeAccess,
  soldDifferences,
  toBeCancelled,
} from './expected.ts';
import type { Facts } from './facts.ts';
import { findingsOf, overlap } from './findings.ts';
import { answersAbout, begin, type Billed, changeStatus, charge, nextCycle, payCycle } from './gateway.ts';
import { hasEndedAtGateway, isLive, rulingSource, sinceOf, sourcesOf } from './model.ts';
import { recordAction } from './record.ts';
import type { Claim, NewSubject, Subject } from './subject.ts';
import fc from 'fast-check';

/** Proves that database and model agree after each action of random histories. @throws with the shrunk counterexample */
export async function proveHistories(
  newSubject: NewSubject,
  parameters: { numRuns: number; seed?: number },
): Promise<void> {
  const property = fc.asyncProperty(drawnHistories(), async (drawn) => void await runDrawn(newSubject, drawn));
  await fc.assert(property, {
    // `SHRINK=off`: whether it fails is all that is asked.
    endOnFailure: Deno.env.get('SHRINK') === 'off',
    // A failure is told before the time of its test ends, shrunk so far.
    interruptAfterTimeLimit: 240_000,
    markInterruptAsFailure: true,
    ...parameters,
  });
}

/** Returns a line for each action. @throws where database and model differ */
export async function runDrawn(newSubject: NewSubject, drawn: Drawn): Promise<string[]> {
  const subject = await newSubject(drawn);
  const lines = [`REPLAY='${JSON.stringify(drawn)}' npm test -- tests/database/access-histories -t REPLAY`];
  let state: State = startOf(drawn);
  let steps = 0;
  for (const draw of drawn.draws) {
    if (steps === maxSteps) break;
    const chosen = chooseStep(state, draw);
    if (chosen === null) continue;
    state = chosen.state;
    steps += 1;
    // Half of the steps run without a sweep since the step before. Some need one: they act on the stored row.
    const isSwept = draw.how % 2 === 0 ||
      ['look', 'cancel', 'cancel at end', 'resume', 'change', 'write'].includes(chosen.kind);
    await subject.advance(state.now, isSwept);
    for (const action of chosen.actions) {
      lines.push(await runAction(subject, state.facts, action, state.now, lines));
    }
  }
  await proveNextCycle(subject, state, lines);
  return lines;
}

/** Performs an action and compares model and database. Returns its line. @throws where they differ */
async function runAction(
  subject: Subject,
  facts: Facts,
  action: Action,
  now: Time,
  before: readonly string[],
  told: ReadonlySet<string> = new Set(),
): Promise<string> {
  const due = dueForReconciliation(facts, now);
  const reconciled = await subject.perform(action, now).catch((error) => {
    throw new Error([...before, `${isoTime(now)} ${describeAction(action)} → ${error}`].join('\n'), { cause: error });
  });
  const pick = ([name]: [string, unknown]) => reconciled.includes(name);
  const answered = (answers: Record<string, Answer>) => Object.fromEntries(Object.entries(answers).filter(pick));
  recordAction(facts, action.do === 'ask' ? { ...action, answers: answered(action.answers) } : action, now);
  const [model, stored] = [accessOf(facts, now), await subject.read()];
  const line = `${isoTime(now)} ${describeAction(action)} → ${describeAccess(model)}`;
  const missed = action.do === 'ask' ? due.filter((name) => !reconciled.includes(name)) : [];
  const others = [
    ...missed.map((name) => `not claimed for reconciliation: ${name}`),
    ...billingDifferences(facts, now, stored),
    ...soldDifferences(facts, stored.sold),
    ...chargeDifferences(facts, stored.charges),
    ...claimFaults(facts, now, stored.mails),
  ];
  const [expected, found] = [describeAccess(model, told), describeAccess(stored, told)];
  if (expected === found && others.length === 0) return line;
  const differences = [`model    ${expected}`, `database ${found}`, ...others];
  throw new Error(['model and database differ:', ...before, line, ...differences].join('\n'));
}

/**
 * What a mail about a failed or the last charge says, where that is wrong: access ends then if nothing else happens. Without
 * a time, another source rules, or lasts longer than the mail's subscription.
 */
function claimFaults(facts: Facts, now: Time, mails: readonly Claim[]): string[] {
  // The gateway is told of a cancellation at once, also where it charged again: no charge can fail after that.
  const stopped = facts.subscriptions.filter((one) => facts.cancellations.some((at) => at >= one.askedAt));
  const sources = sourcesOf(facts).map((source) => {
    const graceDays = stopped.some(({ name }) => name === source.name) ? 0 : source.graceDays;
    return { ...source, runsUntilReconciled: false, graceDays };
  });
  let end = now;
  for (
    let live = sources;
    live.length > 0;
    end = Math.max(end, ...live.map((each) => each.end + each.graceDays * day))
  ) {
    live = sources.filter((source) => isLive(source, end));
  }
  return mails.filter(({ subscription, accessEndsAt }) => {
    if (accessEndsAt !== null) return end !== Math.max(now, accessEndsAt);
    const rules = rulingSource(facts, now)?.name === subscription;
    return rules && sources.some((each) => each.name === subscription && each.end + each.graceDays * day === end);
  }).map(({ subscription, accessEndsAt }) =>
    `the mail about ${subscription} says ${accessEndsAt && isoTime(accessEndsAt)}, access ends ${isoTime(end)}`
  );
}

/** The sources that run only because they were not reconciled, and that are due for it. */
function dueForReconciliation(facts: Facts, now: Time): string[] {
  const nameOf = (name: string) => name === 'row' ? facts.rows[0]?.subscription ?? name : name;
  const isDue = (name: string) => {
    const one = facts.subscriptions.find((subscription) => subscription.name === name);
    return (one?.reconciledAt ?? -Infinity) <= now - 6 * hour;
  };
  return sourcesOf(facts).filter((source) =>
    isLive(source, now) && source.end + source.graceDays * day <= now && isDue(nameOf(source.name))
  ).map(({ name }) => nameOf(name));
}

/** The gateway debits up to 36 hours before a cycle. */
const debitNotice = 36 * hour;

/**
 * Lets the gateway go on for one cycle, then all paid time end, and adds a line for each action. Each stop is sent when it
 * is due, and obeyed. What was not stopped is charged 36 hours before the cycle; a failed charge is tried again. Ends early
 * where the contract leaves the result open, and where the model no longer asks for a stop that was sent.
 * @throws where the gateway charges what is `toBeCancelled` when it is debited; charges twice for the same time without a
 * finding; or is told to stop what the model says goes on
 */
async function proveNextCycle(
  subject: Subject,
  { now: last, facts, billed }: State,
  lines: string[],
): Promise<void> {
  const stopping = new Set<string>();
  const told = new Set<string>();
  let now = last;
  const fault = (text: string) => new Error([...lines, `${isoTime(now)} ${text}`].join('\n'));

  /** Returns false where the result is open. */
  async function run(actions: readonly Action[]): Promise<boolean> {
    for (const action of actions) {
      const after = structuredClone(facts);
      recordAction(after, action, now);
      if (isFinal(after) || isLeftOpen(facts, [action], now)) return false;
      lines.push(await runAction(subject, facts, action, now, lines, told));
    }
    return true;
  }

  /** Whether a stop that was sent is no longer asked for, and not known to have been obeyed. */
  function isFinal(known: Facts): boolean {
    const asked = toBeCancelled(known);
    return known.subscriptions.some((one) => told.has(one.name) && !hasEndedAtGateway(one) && !asked.get(one.name));
  }

  async function pass(until: Time): Promise<boolean> {
    now = Math.max(now, until);
    await subject.advance(now, true);
    return await run([{ do: 'wait' }]);
  }

  async function send(): Promise<boolean> {
    const stops = await subject.takeStops();
    for (const { subscription, atCycleEnd } of stops) {
      if (facts.deletedAt !== null && atCycleEnd) {
        throw fault(`${subscription} of a deleted user is not stopped at once`);
      }
      told.add(subscription);
      for (const one of facts.subscriptions) if (one.name === subscription) one.isTold = true;
    }
    for (const { subscription: name, atCycleEnd } of stops) {
      if (toBeCancelled(facts).get(name) === false) throw fault(`the gateway stops ${name}, which goes on`);
      const one = billed.find((each) => each.name === name);
      if (!one || one.status === 'cancelled' || one.status === 'completed') continue;
      // It is read before it is told: before its first charge, and while a charge fails, it is stopped at once.
      if (atCycleEnd && one.status !== 'authenticated' && one.status !== 'pending') stopping.add(name);
      else if (!await run([changeStatus(one, 'cancelled', now)])) return false;
    }
    return true;
  }

  // The age of one that only a failed charge told is not known.
  const known = new Set(facts.subscriptions.filter((one) => sinceOf(one) !== null).map(({ name }) => name));
  const charged: Billed[] = [];
  for (const { one, at } of nextCharges(billed, last)) {
    if (isErasedSoon(facts, at) || !await pass(at - debitNotice) || !await send()) return;
    // What is sent after the debit is too late.
    const isToStopInTime = toBeCancelled(facts).get(one.name);
    now = at + minute;
    await subject.advance(now, true);
    if (one.status === 'cancelled') continue;
    const isStopped = stopping.has(one.name) && one.status !== 'pending';
    if (!isStopped && isToStopInTime) throw fault(`the gateway charges ${one.name}, which is to stop`);
    if (!await run(isStopped ? [changeStatus(one, 'cancelled', at)] : chargeOf(one, at))) return;
    if (isStopped || one.endsWithCycle || !known.has(one.name)) continue;
    const twice = charged.filter((other) => isSameTime(one, other)).map(({ name }) => name);
    const isFound = findingsOf(facts, now).some((finding) => /^(charged_|paid_twice)/.test(finding));
    if (twice.length > 0 && !isFound) {
      throw fault(`the gateway charges ${one.name} for the time of ${twice.join(', ')}`);
    }
    charged.push(one);
  }
  // When the days of grace are over, of each period that has not ended.
  const ends = sourcesOf(facts).filter((source) => !source.isEnded).map(({ end }) =>
    end + facts.graceDays * day + hour
  );
  for (
    const time of [...new Set(ends)].filter((end) => end > now && end < Infinity).toSorted((one, other) => one - other)
  ) {
    if (!await pass(time) || !await run([{ do: 'ask', answers: answersAbout(facts, billed) }])) return;
  }
}

function isSameTime(one: Billed, other: Billed): boolean {
  const [first, second] = [one.cycles.at(-1), other.cycles.at(-1)];
  return first !== undefined && second !== undefined && overlap(first, second);
}

/** The charges that the gateway makes next, one of each subscription. */
function nextCharges(billed: readonly Billed[], now: Time): { one: Billed; at: Time }[] {
  return billed.flatMap((one) => {
    const goesOn = one.status === 'active' || one.status === 'authenticated';
    const at = one.status === 'pending' ? now + day : goesOn ? nextCycle(one).start : 0;
    return at > now ? [{ one, at }] : [];
  }).toSorted((one, other) => one.at - other.at);
}

function chargeOf(one: Billed, at: Time): GatewayEvent[] {
  if (one.status === 'pending') return payCycle(one, at);
  return one.status === 'active' ? [charge(one)] : begin(one, at);
}
