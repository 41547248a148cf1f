import fc from 'fast-check';
import { drawnHistories } from './draws.ts';
import { runDrawn } from './run-history.ts';
import type { NewSubject } from './prepare-subjects.ts';

/**
 * Proves that so many random histories of up to twelve steps are, after each step, what the model says.
 * @throws with the seed and the steps of the simplest that is not
 */
export async function proveHistories(
  newSubject: NewSubject,
  parameters: { numRuns: number; seed?: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(drawnHistories(), async (drawn) => {
      await runDrawn(newSubject, drawn);
    }),
    parameters,
  );
}
