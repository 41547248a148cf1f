import fc from 'fast-check';
import { describeAction } from './actions.ts';
import { chooseStep, startOf, type State } from './choose.ts';
import { type Drawn, unpaidHistories } from './draws.ts';
import { answersAbout } from './gateway.ts';
import { performAndRecord } from './prove-histories.ts';
import type { Claim, NewSubject, Subject } from './subject.ts';
import { day, hour, isoTime, second, type Time } from './time.ts';

/**
 * Runs random histories until a mail about a failed or the last charge is sent, then lets time pass with reconciliations and
 * without a further event. Access ends exactly when the mail says; without a time, the mail's subscription ends no access.
 * Returns how many mails with and without a time were checked. @throws with the steps where the mail was wrong
 */
export async function proveClaims(
  newSubject: NewSubject,
  parameters: { numRuns: number; seed?: number },
): Promise<{ withTime: number; withoutTime: number }> {
  const checked = { withTime: 0, withoutTime: 0 };
  // Most check the first mail, some the second one.
  const property = fc.asyncProperty(unpaidHistories(), fc.constantFrom(0, 0, 0, 1), async (drawn, skipped) => {
    const subject = await newSubject(drawn.earlyRenewal);
    const lines: string[] = [];
    const reached = await runUntilMail(subject, drawn, skipped, lines);
    if (reached === null) return;
    await checkClaim(subject, reached, lines);
    checked[reached.claim.accessEndsAt === null ? 'withoutTime' : 'withTime'] += 1;
  });
  await fc.assert(property, { ...parameters, endOnFailure: true });
  return checked;
}

/** The state after the event for which a mail was sent. */
type Reached = { state: State; claim: Claim };

/** Stops at the first mail after `skipped` others; null: the history sends no such mail. */
async function runUntilMail(
  subject: Subject,
  drawn: Drawn,
  skipped: number,
  lines: string[],
): Promise<Reached | null> {
  let state: State = startOf(drawn);
  let known = 0;
  const newClaim = async ({ billed }: State): Promise<Claim | null> => {
    const claims = await subject.readClaims();
    const isNew = claims.length > known && claims.length > skipped;
    known = claims.length;
    // A payment that was held back is known to no one.
    const isPaid = billed.some(({ held }) => held.some((event) => event.do === 'charged'));
    return isNew && !isPaid ? claims.at(-1) ?? null : null;
  };
  for (const draw of drawn.draws) {
    const chosen = chooseStep(state, draw);
    if (chosen === null) continue;
    const before = { ...state, now: chosen.state.now, facts: chosen.state.facts };
    state = chosen.state;
    // The service reconciles every six hours.
    await letPass(subject, before, state.now);
    const found = await newClaim(before);
    if (found) return { state: before, claim: found };
    for (const action of chosen.actions) {
      await performAndRecord(subject, state.facts, action, state.now, lines);
      lines.push(`${isoTime(state.now)} ${describeAction(action)}`);
    }
    const claim = await newClaim(state);
    if (claim) return { state, claim };
  }
  return null;
}

async function checkClaim(subject: Subject, { state, claim }: Reached, lines: string[]): Promise<void> {
  const { subscription, accessEndsAt } = claim;
  const mirror = state.facts.subscriptions.find(({ name }) => name === subscription);
  const paid = Math.max(...(mirror?.cycles ?? []).map(({ end }) => end).filter((end) => end <= state.now + 40 * day));
  const end = accessEndsAt ?? paid + 3 * day;
  if (!Number.isFinite(end)) return;
  const tiers: string[] = [];
  for (const at of [end - 7 * hour, end - second, end + second, end + 7 * hour].filter((at) => at > state.now)) {
    await letPass(subject, state, at);
    const { tier } = await subject.read();
    tiers.push(tier);
    lines.push(`${isoTime(at)} ${tier}`);
    if (accessEndsAt !== null && (tier === 'free') !== at > end) {
      throw new Error([...lines, `the mail says: access ends at ${isoTime(accessEndsAt)}`].join('\n'));
    }
  }
  if (accessEndsAt === null && tiers.length > 0 && tiers[0] !== 'free' && tiers.at(-1) === 'free') {
    throw new Error([...lines, 'the mail says that access does not end'].join('\n'));
  }
}

/** Sets the clock, runs the sweep, and reconciles what is due. */
async function letPass(subject: Subject, { billed, facts }: State, at: Time): Promise<void> {
  await subject.advance(at, true);
  await performAndRecord(subject, facts, { do: 'ask', answers: answersAbout(facts, billed) }, at, []);
}
