import type pg from 'pg';
import type { Scenario } from './scenarios.ts';

/** One order, by the names of its steps: what each answered and left. Nothing of it is kept. */
export async function takeSteps(
  session: pg.Client,
  { subject, steps }: Scenario,
  word: readonly string[],
  pace = '7 seconds',
): Promise<{ step: string; answer: unknown; state: unknown }[]> {
  const indexes = word.map((name) => {
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
    const { rows } = await session.query('select step, answer, state from test.take_steps($1, $2, $3)', [
      JSON.stringify(subject),
      JSON.stringify(steps),
      indexes,
    ]);
    return rows.map(({ step, answer, state }) => ({ step: steps[step]?.name ?? '', answer, state }));
  } finally {
    await session.query('rollback');
  }
}
