import type { Action, GatewayEvent } from './actions.ts';
import { billingOf } from './billing.ts';
import type { Facts } from './facts.ts';
import { answersAbout, begin, type Billed, charge, end, nextCycle, payCycle } from './gateway.ts';
import { isLeftOpen, type State } from './history.ts';
import { sourcesOf } from './model.ts';
import { runAction } from './run-action.ts';
import type { Subject } from './subject.ts';
import { day, hour, isoTime, minute, type Time } from './time.ts';

/** The gateway debits up to 36 hours before a cycle. */
const debitNotice = 36 * hour;

/**
 * Lets the gateway go on for one cycle. Each stop is sent when it is due, and the gateway obeys it. It charges what was not
 * stopped 36 hours before the cycle; a failed charge it tries again. Each charge is one that the customer still wants by the
 * model, each stop is one of which the model does not say that it goes on, and after each the model and the database agree.
 * Then it lets all paid time end, and reconciles. Ends early where the contract leaves the result open, and where a stop that was sent is no longer wanted: it is final.
 * Returns a line for each action. @throws where the gateway charges or stops what it must not
 */
export async function proveNextCycle(
  subject: Subject,
  { now: last, facts, billed }: State,
  before: readonly string[],
): Promise<string[]> {
  const lines: string[] = [];
  const stopping = new Set<string>();
  const told = new Set<string>();
  let now = last;
  const isToStop = (name: string) => billingOf(facts, now).isToBeCancelled.get(name);
  const fault = (text: string) => new Error([...before, ...lines, `${isoTime(now)} ${text}`].join('\n'));

  /** Returns false where the result is open. */
  async function run(actions: readonly Action[]): Promise<boolean> {
    for (const action of actions) {
      if (isLeftOpen(facts, [action], now)) return false;
      lines.push(await runAction(subject, facts, action, now, [...before, ...lines]));
    }
    return true;
  }

  /** Lets time pass until then, and sends what is due. */
  async function pass(until: Time): Promise<boolean> {
    now = Math.max(now, until);
    await subject.advance(isoTime(now), true);
    if ([...told].some((name) => isToStop(name) === false) || !await run([{ do: 'wait' }])) return false;
    for (const { subscription: name, atCycleEnd } of await subject.takeStops()) {
      if (isToStop(name) === false) throw fault(`the gateway stops ${name}, which goes on`);
      told.add(name);
      const one = billed.find((each) => each.name === name);
      if (!one || one.status === 'cancelled' || one.status === 'completed') continue;
      if (atCycleEnd && one.status !== 'authenticated') stopping.add(name);
      else if (!await run([end(one, now)])) return false;
    }
    return true;
  }

  for (const { one, at } of nextCharges(billed, last)) {
    for (const time of [at - debitNotice, at - minute]) {
      if (!await pass(time)) return lines;
    }
    now = at + minute;
    await subject.advance(isoTime(now), true);
    if (one.status === 'cancelled') continue;
    const isStopped = stopping.has(one.name) && one.status !== 'pending';
    if (!isStopped && isToStop(one.name)) throw fault(`the gateway charges ${one.name}, which is to stop`);
    if (!await run(isStopped ? [end(one, at)] : chargeOf(one, at))) return lines;
  }
  for (const time of endsOfPaidTime(facts, now)) {
    if (!await pass(time) || !await run([{ do: 'ask', answers: answersAbout(facts, billed) }])) return lines;
  }
  return lines;
}

/** When the days of grace are over, of each period that has not ended. */
function endsOfPaidTime(facts: Facts, now: Time): Time[] {
  const ends = sourcesOf(facts).filter((source) => !source.isEnded).map(({ end }) => end + 3 * day + hour);
  return [...new Set(ends)].filter((end) => end > now).toSorted((one, other) => one - other);
}

/** The charges that the gateway makes next, one of each subscription. */
function nextCharges(billed: readonly Billed[], now: Time): { one: Billed; at: Time }[] {
  return billed.flatMap((one) => {
    const at = one.status === 'pending'
      ? now + day
      : one.status === 'active' || one.status === 'authenticated'
      ? nextCycle(one).start
      : 0;
    return at > now ? [{ one, at }] : [];
  }).toSorted((one, other) => one.at - other.at);
}

function chargeOf(one: Billed, at: Time): GatewayEvent[] {
  if (one.status === 'pending') return payCycle(one, at);
  return one.status === 'active' ? [charge(one)] : begin(one, at);
}
