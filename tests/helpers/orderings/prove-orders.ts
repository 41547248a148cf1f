import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { expect } from 'vitest';
import type { Findings } from '../database/findings.ts';
import { openRacers } from '../database/racers.ts';
import { sharedSession } from '../database/session.ts';
import type { Row, TestDatabase } from '../database/test-database.ts';
import { createPayment, createUser, uniqueId } from '../records/records.ts';
import { seededRandom, shuffle } from './permutations.ts';
import { type ScenarioName, scenarioNames, templateOf } from './scenarios.ts';
import { bind, dayOfEvents, type Step, type StepTemplate, verify } from './steps.ts';

/** A scenario of a user, and the steps whose sequences are run. */
export type Scenario = {
  readonly name: ScenarioName;
  readonly end: string;
  readonly subject: { readonly userId: string; paymentIds: readonly string[]; subscriptionIds: readonly string[] };
  readonly steps: readonly Step[];
  /** Whether these steps can be all that happened. Other sets are not compared. */
  isComplete(names: ReadonlySet<string>): boolean;
};

/**
 * Findings of races, which depend on the facts that a seed picks: second payments and charges, lost disputes, also of what
 * was refunded, credits, a row without access after the refund of a purchase under a subscription that has no cycle yet, and
 * access after an old cycle, until the gateway is read.
 */
export const findingsOfRaces: Findings = Object.fromEntries(
  [
    ...[
      'charged_after_cancellation',
      'charged_after_replacement',
      'charged_twice',
      'dispute_lost',
      'entitled_not_paid',
    ],
    ...['paid_not_entitled', 'paid_twice', 'refund_failed', 'returned_too_much', 'tier_mismatch', 'unearned_credit'],
  ].map((finding) => [finding, 'any']),
);

/** Installs the functions that run sequences of steps in a database, and gives each plan a `gateway_plan_id`. */
export async function installRunner(database: TestDatabase): Promise<void> {
  await database.query(await readFile(new URL('runner.sql', import.meta.url), 'utf8'));
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
}

/** A scenario with a new user and new orders. The database needs the runner. */
export async function createScenario(database: TestDatabase, name: ScenarioName): Promise<Scenario> {
  const template = templateOf(name);
  const { isCustomer, orders: days = [], before = [], needs = [], end } = template;
  await database.query('update billing.settings set early_renewal = $1', [template.earlyRenewal ?? 'replace']);
  const { id: userId } = await createUser(database);
  const suffix = uniqueId('');
  const orders: { id: string; orderId: string }[] = [];
  const parts = {
    userId,
    orders,
    paymentId: (letter: string) => `pay_${letter}${suffix}`,
    subscriptionId: (letter: string) => `sub_${letter}${suffix}`,
  };
  const run = (at: string, step: StepTemplate) =>
    database.query("select set_config('test.clock', $1, true), test.run_step($2)", [
      at,
      JSON.stringify(bind(step, parts)),
    ]);
  const place = async (at: string) => {
    const { id, orderId } = await createPayment(database, { userId });
    await database.query('update public.payments set created_at = $2 where id = $1', [id, at]);
    orders.push({ id, orderId });
  };
  if (isCustomer) {
    await place('2026-10-01Z');
    await run('2026-10-01Z', verify('O'));
  }
  for (const day of days) await place(dayOfEvents(day));
  for (const [day, step] of before) await run(dayOfEvents(day), step);
  if (template.credits) {
    const { kind, id, until } = template.credits(parts);
    await database.query(
      `update public.payments
       set starts = 'now', credit = 1000, credited_kind = $2, credited_id = $3, credited_until = $4, credited_amount = 99900
       where id = $1`,
      [orders.at(-1)?.id, kind, id, until],
    );
  }
  if (template.isUnstored) {
    await database.query('update public.payments set gateway_order_id = null where user_id = $1', [userId]);
  }
  return {
    name,
    end,
    subject: { userId, paymentIds: orders.map(({ id }) => id), subscriptionIds: ['A', 'B'].map(parts.subscriptionId) },
    steps: withOwnNames(template.steps).map((step) => bind(step, parts)),
    isComplete: (names) => needs.every(([step, needed]) => !names.has(step) || names.has(needed)),
  };
}

/** The second step of a name gets the number 2. */
function withOwnNames(steps: readonly StepTemplate[]): StepTemplate[] {
  return steps.map((step, index) => {
    const count = steps.slice(0, index).filter(({ name }) => name === step.name).length;
    return count === 0 ? step : { ...step, name: `${step.name}-${count + 1}` };
  });
}

/** Runs a sequence and rolls it back. @returns each step with its answer, and its state or only the last one */
export async function runSequence(
  session: pg.Client,
  { subject, steps }: Scenario,
  sequence: readonly string[],
  states: 'each' | 'last' = 'each',
): Promise<Row[]> {
  const chosen = sequence.map((name) => {
    const step = steps.find((each) => each.name === name);
    if (!step) throw new Error(`no step ${name}; there are ${steps.map((step) => step.name).join(' ')}`);
    return step;
  });
  await session.query("begin; set local test.clock = '2026-11-20T12:00:00Z'");
  try {
    const values = [JSON.stringify(subject), JSON.stringify(chosen), states];
    return (await session.query('select step, answer, state from test.run_sequence($1, $2, $3)', values)).rows;
  } finally {
    await session.query('rollback');
  }
}

async function endOf(session: pg.Client, scenario: Scenario, sequence: readonly string[]): Promise<unknown> {
  return (await runSequence(session, scenario, sequence, 'last')).at(-1)?.state;
}

/** In a few words: `pro; pro active A; stops B`. */
function describeEnd(state: unknown): string {
  const { tier, subscriptions, cancellations } = Object(state);
  const letter = (id: string | null) => id?.slice(4, 5) ?? 'purchase';
  const rows = [subscriptions ?? []].flat().map((row) => `${row.tier} ${row.status} ${letter(row.id)}`);
  const stops = cancellations === null ? [] : [`stops ${cancellations.map(letter).join(' and ')}`];
  return [tier, ...rows, ...stops].join('; ');
}

/** The command that shows what each step of a sequence answers and leaves. */
function replayCommand({ name }: Scenario, sequence: readonly string[]): string {
  return `REPLAY='${name}: ${sequence.join(' ')}' npm test -- tests/database/convergence`;
}

/**
 * How many orders are run: up to a length, each step at most twice; of the longest ones those of each `share`-th set, from
 * `part` on; and so many random ones.
 */
type Extent = {
  readonly length: number;
  readonly share: number;
  readonly part?: number;
  readonly random: number;
  readonly seed: number;
};

/**
 * Proves that all sequences of a scenario's steps end in the same state if they contain the same steps (a repeated step is
 * one fact), and that all steps end as the scenario says. Returns the number of sequences.
 * @throws with two sequences to replay where the states differ, the shortest first
 */
export async function proveOrders(
  database: TestDatabase,
  name: ScenarioName,
  { length, share, part = 0, random: count, seed }: Extent,
): Promise<number> {
  const session = await sharedSession(database);
  const scenario = await createScenario(database, name);
  const { subject, steps, isComplete } = scenario;
  const all = steps.map((step) => step.name);
  expect(describeEnd(await endOf(session, scenario, all)), replayCommand(scenario, all)).toBe(scenario.end);

  await session.query("begin; set local test.clock = '2026-11-20T12:00:00Z'");
  const { rows } = await session.query(
    `select array(select distinct step from unnest(r.sequence) step order by step) as facts, r.state::text,
       jsonb_agg(to_jsonb(r.sequence) order by cardinality(r.sequence)) -> 0 as sequence, count(*)::int as orders
     from test.run_all_sequences($1, $2, '{}', $3, $4, $5) r
     group by 1, 2 order by min(cardinality(r.sequence))`,
    // Of very many steps only short sequences.
    [JSON.stringify(subject), JSON.stringify(steps), steps.length > 8 ? Math.min(length - 1, 3) : length, share, part],
  ).finally(() => session.query('rollback'));
  // The rolled-back rows are still in the tables as dead tuples. A vacuum also discards plans, so short runs go without.
  if (length > 3) await database.query('vacuum public.payments, public.subscriptions, billing.gateway_events');
  const namesOf = (indexes: number[]) => indexes.flatMap((index) => all[index] ?? []);
  const complete = rows.filter(({ facts }) => isComplete(new Set(namesOf(facts))));
  const different = [...Map.groupBy(complete, ({ facts }) => facts.join()).values()].filter((ends) => ends.length > 1);
  const shown = different.slice(0, 3).flat().map(({ sequence, state }) =>
    `${replayCommand(scenario, namesOf(sequence))}\n${state}`
  );
  expect(shown.join('\n'), `${different.length} sets of facts end differently`).toBe('');

  const random = seededRandom(seed);
  for (let run = 0; run < count; run += 1) {
    const { facts, sequence } = randomOrder(scenario, 3, random);
    const expected = await endOf(session, scenario, facts);
    expect(await endOf(session, scenario, sequence), replayCommand(scenario, sequence)).toEqual(expected);
  }
  return complete.reduce((sum, { orders }) => sum + orders, 0) + count;
}

/** A random set of steps that can be all that happened, and an order in which each runs up to so many times. */
function randomOrder({ steps, isComplete }: Scenario, times: number, random: () => number) {
  const all = steps.map(({ name }) => name);
  const some = all.filter(() => random() < 0.8);
  const facts = some.length > 0 && isComplete(new Set(some)) ? some : all;
  const repeats = Array.from({ length: times - 1 }, () => facts.filter(() => random() < 0.5)).flat();
  return { facts, sequence: shuffle([...facts, ...repeats], random) };
}

/** Runs one random sequence for each seed on eight connections at once: it ends as its steps do one after the other. */
export async function proveRaces(database: TestDatabase, seeds: readonly number[]): Promise<void> {
  const sessions = await openRacers(database, 8);
  const single = await sharedSession(database);
  for (const seed of seeds) {
    const name = scenarioNames[seed % scenarioNames.length];
    if (!name) throw new Error('no scenarios');
    const scenario = await createScenario(database, name);
    const { facts, sequence } = randomOrder(scenario, 2, seededRandom(seed));
    const alone = await endOf(single, scenario, facts);

    const waiting = sequence.map((name) => scenario.steps.find((step) => step.name === name));
    await Promise.all(sessions.map(async (session) => {
      for (let step = waiting.shift(); step; step = waiting.shift()) {
        await runStep(session, JSON.stringify(step));
      }
    }));
    // An event that was delivered while its order was being stored is applied by the next sweep.
    await database.query('select billing.replay_missed_events()');
    const { rows: [row] } = await single.query(
      "select set_config('test.clock', (billing.clock() + interval '1 minute')::text, true), test.read_end($1) as state",
      [JSON.stringify(scenario.subject)],
    );
    expect(row.state, `seed ${seed}: ${replayCommand(scenario, sequence)}`).toEqual(alone);
  }
  await Promise.all(sessions.map((session) => session.end()));
}

/** Runs a step again that waited too long for a lock on a busy machine, as the gateway sends a webhook again, or whose
 * transaction was overtaken, as the function calls the database again. */
async function runStep(session: pg.Client, step: string): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await session.query('select test.run_step($1)', [step]).then(() => true, (error) => {
      if (error.code !== '55P03' && error.code !== '40001') throw error;
      return false;
    });
  }
}
