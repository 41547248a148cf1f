import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import type { TestDatabase } from '../database/test-database.ts';
import type { Scenario } from './scenarios.ts';

/** Installs the functions that run sequences of steps in a database, and gives each plan a `gateway_plan_id`. */
export async function installRunner(database: TestDatabase): Promise<void> {
  await database.query(await readFile(new URL('runner.sql', import.meta.url), 'utf8'));
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
}

/** A step that ran, what it answered, and the state after it. */
export type StepResult = { step: string; answer: unknown; state: unknown };

/**
 * Runs one sequence, given by the names of its steps, and rolls it back. Returns the answer and the state of each step.
 */
export async function runSequence(
  session: pg.Client,
  scenario: Scenario,
  sequence: readonly string[],
): Promise<StepResult[]> {
  return await run(session, scenario, sequence, '7 seconds', 'each');
}

/** Runs one sequence like `runSequence`, and returns only the last state. `pace` is the time between two steps. */
export async function endOfSequence(
  session: pg.Client,
  scenario: Scenario,
  sequence: readonly string[],
  pace = '7 seconds',
): Promise<unknown> {
  return (await run(session, scenario, sequence, pace, 'last')).at(-1)?.state;
}

async function run(
  session: pg.Client,
  { subject, steps }: Scenario,
  sequence: readonly string[],
  pace: string,
  states: 'each' | 'last',
): Promise<StepResult[]> {
  const indexes = sequence.map((name) => {
    const index = steps.findIndex((step) => step.name === name);
    if (index < 0) throw new Error(`no step ${name}; there are ${steps.map((step) => step.name).join(' ')}`);
    return index;
  });
  await session.query('begin');
  try {
    await session.query(
      "select set_config('test.clock', '2026-11-20T12:00:00Z', true), set_config('test.pace', $1, true)",
      [pace],
    );
    const { rows } = await session.query('select step, answer, state from test.run_sequence($1, $2, $3, $4)', [
      JSON.stringify(subject),
      JSON.stringify(steps),
      indexes,
      states,
    ]);
    return rows.map(({ step, answer, state }) => ({ step: steps[step]?.name ?? '', answer, state }));
  } finally {
    await session.query('rollback');
  }
}

/** The command that shows what each step of a sequence answers and leaves. */
export function replayCommand(scenario: string, sequence: readonly string[]): string {
  return `REPLAY='${scenario}: ${sequence.join(' ')}' npm test -- tests/database/convergence-replay.test.ts`;
}
