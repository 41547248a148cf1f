import type { Action, GatewayEvent } from './actions.ts';
import { isLeftOpen, type State } from './choose.ts';
import { toBeCancelled } from './expected.ts';
import type { Facts } from './facts.ts';
import { findingsOf, overlap } from './findings.ts';
import { answersAbout, begin, type Billed, changeStatus, charge, nextCycle, payCycle } from './gateway.ts';
import { hasEndedAtGateway, sourcesOf } from './model.ts';
import { runAction } from './prove-histories.ts';
import { recordAction } from './record.ts';
import type { Subject } from './subject.ts';
import { day, hour, isoTime, minute, type Time } from './time.ts';

/** The gateway debits up to 36 hours before a cycle. */
const debitNotice = 36 * hour;

/**
 * Lets the gateway go on for one cycle, then all paid time end. Each stop is sent when it is due, and the gateway obeys it.
 * It charges what was not stopped 36 hours before the cycle, and tries a failed charge again.
 *
 * - A charge is one that the customer still wants: the model does not say `toBeCancelled` when it is debited.
 * - Two charges for the same time, of subscriptions that the database knew before, are a finding.
 * - A stop that is sent is one that the model asks for, or does not decide.
 *
 * Model and database are compared after each action. Ends early where the contract leaves the result open, and where the
 * model no longer asks for a stop that was sent: what was sent is final.
 *
 * Adds a line for each action. @throws where the gateway charges or stops what it must not
 */
export async function proveNextCycle(
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
      lines.push(await runAction(subject, facts, action, now, lines));
    }
    return true;
  }

  /** Whether a stop that was sent is no longer asked for, and not known to have been obeyed. */
  function isFinal(known: Facts): boolean {
    const asked = toBeCancelled(known, now);
    return known.subscriptions.some((one) => told.has(one.name) && !hasEndedAtGateway(one) && !asked.get(one.name));
  }

  /** Lets time pass until then. */
  async function pass(until: Time): Promise<boolean> {
    now = Math.max(now, until);
    await subject.advance(now, true);
    return await run([{ do: 'wait' }]);
  }

  /** Sends what is due. */
  async function send(): Promise<boolean> {
    const stops = await subject.takeStops();
    for (const { subscription } of stops) told.add(subscription);
    for (const { subscription: name, atCycleEnd, dueAt } of stops) {
      if (toBeCancelled(facts, now).get(name) === false) throw fault(`the gateway stops ${name}, which goes on`);
      const one = billed.find((each) => each.name === name);
      if (!one || one.status === 'cancelled' || one.status === 'completed') continue;
      // Sent when it was due, it would have ended the subscription before the charge that failed.
      const isBeforeCharge = one.status === 'authenticated' ||
        one.status === 'pending' && dueAt < (one.cycles.at(-1)?.start ?? 0);
      if (atCycleEnd && !isBeforeCharge) stopping.add(name);
      else if (!await run([changeStatus(one, 'cancelled', now)])) return false;
    }
    return true;
  }

  const known = new Set(facts.subscriptions.map(({ name }) => name));
  const charged: Billed[] = [];
  for (const { one, at } of nextCharges(billed, last)) {
    if (!await pass(at - debitNotice) || !await send()) return;
    // What is sent after the debit is too late.
    const isToStopInTime = toBeCancelled(facts, now).get(one.name);
    now = at + minute;
    await subject.advance(now, true);
    if (one.status === 'cancelled') continue;
    const isStopped = stopping.has(one.name) && one.status !== 'pending';
    if (!isStopped && isToStopInTime) throw fault(`the gateway charges ${one.name}, which is to stop`);
    if (!await run(isStopped ? [changeStatus(one, 'cancelled', at)] : chargeOf(one, at))) return;
    if (isStopped || !known.has(one.name)) continue;
    const twice = charged.filter((other) => isSameTime(one, other)).map(({ name }) => name);
    const isFound = findingsOf(facts, now).some((finding) => /^(charged_|paid_twice)/.test(finding));
    if (twice.length > 0 && !isFound) {
      throw fault(`the gateway charges ${one.name} for the time of ${twice.join(', ')}`);
    }
    charged.push(one);
  }
  // When the days of grace are over, of each period that has not ended.
  const ends = sourcesOf(facts).filter((source) => !source.isEnded).map(({ end }) => end + 3 * day + hour);
  for (const time of [...new Set(ends)].filter((end) => end > now).toSorted((one, other) => one - other)) {
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
