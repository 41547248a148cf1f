import fc from 'fast-check';
import { drawnHistories } from './draws.ts';
import { runDrawn } from './run-history.ts';
import type { NewSubject } from './prepare-subjects.ts';

/**
 * Proves for `numRuns` random histories of up to twelve steps that database and model agree after each step.
 * @throws with the seed and the steps of the shrunk counterexample
 */
export async function proveHistories(
  newSubject: NewSubject,
  parameters: { numRuns: number; seed?: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(drawnHistories(), async (drawn) => {
      await runDrawn(newSubject, drawn);
    }),
    // `SHRINK=off`: whether it fails is all that is asked.
    { endOnFailure: Deno.env.get('SHRINK') === 'off', ...parameters },
  );
}
