import fc from 'fast-check';
import { type Drawn, unpaidHistories } from './draws.ts';
import type { Facts } from './facts.ts';
import { answersAbout } from './gateway.ts';
import { chooseStep, startOf, type State } from './history.ts';
import type { NewSubject } from './prepare-subjects.ts';
import { recordAction } from './record-action.ts';
import { describeAction } from './actions.ts';
import type { Claim, Subject } from './subject.ts';
import { day, hour, isoTime, parseTime, second, type Time } from './time.ts';

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
  await fc.assert(
    fc.asyncProperty(unpaidHistories(), fc.constantFrom(0, 0, 0, 1), async (drawn, skipped) => {
      const subject = await newSubject(drawn.earlyRenewal);
      const reached = await runUntilMail(subject, drawn, skipped);
      if (reached === null) return;
      await checkClaim(subject, reached);
      checked[reached.claim.accessEndsAt === null ? 'withoutTime' : 'withTime'] += 1;
    }),
    { ...parameters, endOnFailure: true },
  );
  return checked;
}

/** The state after the event for which a mail was sent. */
type Reached = { state: State; claim: Claim; lines: string[] };

/** Stops at the first mail after `skipped` others; null: the history sends no such mail. */
async function runUntilMail(subject: Subject, drawn: Drawn, skipped: number): Promise<Reached | null> {
  let state: State = startOf(drawn);
  let known = 0;
  const lines: string[] = [];
  for (const draw of drawn.draws) {
    const chosen = chooseStep(state, draw);
    if (chosen === null) continue;
    const before = state;
    state = chosen.state;
    // The service reconciles every six hours.
    await letPass(subject, before, state.now, state.facts);
    const found = await newClaim(before);
    if (found) return { state: { ...before, now: state.now, facts: state.facts }, claim: found, lines };
    for (const action of chosen.actions) {
      const reconciled = await subject.perform(action, isoTime(state.now));
      recordAction(
        state.facts,
        action.do === 'ask' ? { do: 'ask', answers: pick(action.answers, reconciled) } : action,
        state.now,
      );
      lines.push(`${isoTime(state.now)} ${describeAction(action)}`);
    }
    const claim = await newClaim(state);
    if (claim) return { state, claim, lines };
  }
  return null;

  async function newClaim({ billed }: State): Promise<Claim | null> {
    const claims = await subject.readClaims();
    const claim = claims.at(-1);
    const isNew = claims.length > known && claims.length > skipped;
    known = claims.length;
    // A payment that was held back is known to no one.
    const isPaid = billed.some(({ held }) => held.some((event) => event.do === 'charged'));
    return claim && isNew && !isPaid ? claim : null;
  }
}

async function checkClaim(subject: Subject, { state, claim, lines }: Reached): Promise<void> {
  const mirror = state.facts.subscriptions.find(({ name }) => name === claim.subscription);
  const paid = Math.max(...(mirror?.cycles ?? []).map(({ end }) => end).filter((end) => end <= state.now + 40 * day));
  const end = claim.accessEndsAt === null ? paid + 3 * day : parseTime(claim.accessEndsAt);
  if (!Number.isFinite(end)) return;
  const tiers: string[] = [];
  for (const at of [end - 7 * hour, end - second, end + second, end + 7 * hour]) {
    if (at <= state.now) continue;
    await letPass(subject, state, at, state.facts);
    tiers.push(`${isoTime(at)} ${(await subject.read()).tier}`);
    if (claim.accessEndsAt === null) continue;
    const isFree = tiers.at(-1)?.endsWith(' free');
    if (isFree !== at > end) {
      throw new Error([...lines, `the mail says: access ends at ${claim.accessEndsAt}`, ...tiers].join('\n'));
    }
  }
  const [first] = tiers;
  if (claim.accessEndsAt === null && first && !first.endsWith(' free') && tiers.at(-1)?.endsWith(' free')) {
    throw new Error([...lines, 'the mail says that access does not end', ...tiers].join('\n'));
  }
}

/** Sets the clock, runs the sweep, and reconciles what is due. */
async function letPass(subject: Subject, { billed }: Pick<State, 'billed'>, at: Time, facts: Facts): Promise<void> {
  await subject.advance(isoTime(at), true);
  const answers = answersAbout(facts, billed);
  const reconciled = await subject.perform({ do: 'ask', answers }, isoTime(at));
  recordAction(facts, { do: 'ask', answers: pick(answers, reconciled) }, at);
}

function pick<Value>(values: Record<string, Value>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}
