import { expect } from 'vitest';
import { seededRandom, shuffle } from '../permutations.ts';
import { openSession } from '../session.ts';
import type { TestDatabase } from '../test-database.ts';
import type { Cast, Order, Step } from './cast.ts';
import { type Play, stagePlay } from './scenarios.ts';
import { takeSteps } from './take-steps.ts';

const ordersEach = 14;

/**
 * Random sets of facts about one user, one for each seed: each ends the same in fourteen random orders of arrival with
 * duplicates. The clock stands still or goes on between two steps, by turns.
 *
 * What a set leaves out depends on arrival by nature:
 * - A second verification: which of two purchases the customer made last is when they verified it.
 * - A full refund of a payment before its capture: it never gave access, while one that was captured first did.
 * - Two payments on one order: the first captured one counts.
 * - A cancellation by the user among the steps: it ends what there is when it arrives. It happens before the walk here.
 * - Events without a time: they count from their arrival.
 */
export async function proveRandomSets(database: TestDatabase, seeds: readonly number[]): Promise<void> {
  const session = await openSession(database, { role: 'service_role' });
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const scenario = await stagePlay(database, `seed ${seed}`, randomPlay(random));
    const pace = seed % 2 === 0 ? '7 seconds' : '0 seconds';
    const names = scenario.steps.map(({ name }) => name);
    const end = async (word: readonly string[]) =>
      JSON.stringify((await takeSteps(session, scenario, word, pace)).at(-1)?.state);
    const expected = await end(names);
    for (let order = 1; order < ordersEach; order += 1) {
      const word = shuffle([...names, ...names.filter(() => random() < 0.3)], random);
      expect(await end(word), `seed ${seed}, ${pace} a step: ${word.join(' ')}`).toBe(expected);
    }
  }
  await session.end();
}

/** One to two orders and up to two gateway subscriptions, with what can happen to them within three days. */
function randomPlay(random: () => number): Play {
  const pick = (count: number) => Math.floor(random() * count);
  const chance = (share: number) => random() < share;
  const day = () => pick(13);
  const plan = () => ['plan_pro', 'plan_basic', 'plan_premium', 'plan_unknown'][pick(4)] ?? 'plan_pro';
  const orders = pick(3);
  const act = pick(4);
  return {
    orders,
    orderedOn: day(),
    ...(chance(0.3) ? { isCustomer: true as const } : {}),
    before: (cast) => act === 0 ? [[day(), cast.grant('grant')]] : [],
    steps: (cast, all) => {
      const steps = all.slice(-orders || all.length).flatMap((order, index) => orderSteps(cast, order, index));
      for (const sub of chance(0.4) ? ['A', 'B'] : ['A']) steps.push(...subscriptionSteps(cast, sub));
      return steps;
    },
  };

  function orderSteps(cast: Cast, order: Order, index: number): Step[] {
    const letter = `P${index}`;
    const steps = [cast.captured(`captured-${index}`, order, letter)];
    if (index === 0 && chance(0.3)) steps.push(cast.verify('verify', order, letter));
    if (chance(0.3)) steps.push(cast.orderPaid(`order.paid-${index}`, order, letter));
    if (chance(0.3)) steps.push(cast.failed(`failed-${index}`, order, `F${index}`));
    if (chance(0.4)) steps.push(cast.refunded(`part-${index}`, order, letter, 30000));
    if (chance(0.3)) steps.push(cast.refundFailed(`part-fails-${index}`, `part-${index}`, order, letter, 30000));
    return steps;
  }

  function subscriptionSteps(cast: Cast, sub: string): Step[] {
    const of = plan();
    const steps = [
      cast.subscription('activated', { day: day(), months: [0, 1], sub, as: `activated-${sub}`, plan: of }),
    ];
    const charges = pick(4);
    for (let charge = 0; charge < charges; charge += 1) {
      const months: [number, number] = [charge, charge + 1];
      const paidBy = `${sub}${charge}`;
      const as = `charged-${paidBy}`;
      steps.push(cast.subscription('charged', { day: day(), months, sub, as, plan: of, paidBy }));
      if (chance(0.3)) steps.push(cast.cycleRefunded(`refunded-${paidBy}`, paidBy));
    }
    if (chance(0.3)) {
      steps.push(cast.subscription('activated', { day: day(), months: [3, 4], sub, as: `again-${sub}`, plan: of }));
    }
    if (chance(0.5)) steps.push(cast.subscription('cancelled', { day: day(), sub, as: `cancelled-${sub}`, plan: of }));
    return steps;
  }
}
