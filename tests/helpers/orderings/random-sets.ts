import { expect } from 'vitest';
import { seededRandom, shuffle } from './permutations.ts';
import { createScenarioFrom, type ScenarioTemplate } from './scenarios.ts';
import type { OrderIds, Step, StepBuilder } from './step-builder.ts';
import { openSession } from '../database/session.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { endOfSequence } from './run-sequence.ts';

const ordersEach = 14;

/**
 * Proves for random sets of facts about one user, one for each seed, that each set ends in the same state in fourteen
 * random orders of arrival with duplicates. For even seeds the clock advances between two steps, for odd ones it does not.
 *
 * A set leaves out what depends on the order of arrival by its nature:
 * - A second verification: the purchase that was verified last is the newest one.
 * - A full refund of a payment before its capture: that payment never gave access. One that was captured first did.
 * - Two payments on one order: the first captured one counts.
 * - A cancellation by the user among the steps: it ends the sources that exist when it arrives. Here it runs before them.
 * - Events without `created_at`: they count from their arrival.
 */
export async function proveRandomSets(database: TestDatabase, seeds: readonly number[]): Promise<void> {
  const session = await openSession(database, { role: 'service_role' });
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const scenario = await createScenarioFrom(database, `seed ${seed}`, randomTemplate(random));
    const pace = seed % 2 === 0 ? '7 seconds' : '0 seconds';
    const names = scenario.steps.map(({ name }) => name);
    const end = async (sequence: readonly string[]) =>
      JSON.stringify(await endOfSequence(session, scenario, sequence, pace));
    const expected = await end(names);
    for (let order = 1; order < ordersEach; order += 1) {
      const sequence = shuffle([...names, ...names.filter(() => random() < 0.3)], random);
      expect(await end(sequence), `seed ${seed}, ${pace} a step: ${sequence.join(' ')}`).toBe(expected);
    }
  }
  await session.end();
}

/** Up to two orders and up to two gateway subscriptions, with events of three days. */
function randomTemplate(random: () => number): ScenarioTemplate {
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
    before: (build) => act === 0 ? [[day(), build.grant('grant')]] : [],
    steps: (build, all) => {
      const steps = all.slice(-orders || all.length).flatMap((order, index) => orderSteps(build, order, index));
      for (const sub of chance(0.4) ? ['A', 'B'] : ['A']) steps.push(...subscriptionSteps(build, sub));
      return steps;
    },
  };

  function orderSteps(build: StepBuilder, order: OrderIds, index: number): Step[] {
    const letter = `P${index}`;
    const steps = [build.captured(`captured-${index}`, order, letter)];
    if (index === 0 && chance(0.3)) steps.push(build.verify('verify', order, letter));
    if (chance(0.3)) steps.push(build.orderPaid(`order.paid-${index}`, order, letter));
    if (chance(0.3)) steps.push(build.failed(`failed-${index}`, order, `F${index}`));
    if (chance(0.4)) steps.push(build.refunded(`part-${index}`, order, letter, 30000));
    if (chance(0.3)) steps.push(build.refundFailed(`part-fails-${index}`, `part-${index}`, order, letter, 30000));
    return steps;
  }

  function subscriptionSteps(build: StepBuilder, sub: string): Step[] {
    const of = plan();
    const steps = [
      build.subscription('activated', { day: day(), months: [0, 1], sub, as: `activated-${sub}`, plan: of }),
    ];
    const charges = pick(4);
    for (let charge = 0; charge < charges; charge += 1) {
      const months: [number, number] = [charge, charge + 1];
      const paidBy = `${sub}${charge}`;
      const as = `charged-${paidBy}`;
      steps.push(build.subscription('charged', { day: day(), months, sub, as, plan: of, paidBy }));
      if (chance(0.3)) steps.push(build.cycleRefunded(`refunded-${paidBy}`, paidBy));
    }
    if (chance(0.3)) {
      steps.push(build.subscription('activated', { day: day(), months: [3, 4], sub, as: `again-${sub}`, plan: of }));
    }
    if (chance(0.5)) steps.push(build.subscription('cancelled', { day: day(), sub, as: `cancelled-${sub}`, plan: of }));
    return steps;
  }
}
