import { test } from 'vitest';
import { proveHistories } from './prove-histories.ts';
import { useSubjects } from './use-subjects.ts';

/** Registers the tests of half of the 2,000 random histories, for each of two files that run at once. */
export function testLongHistories(half: 0 | 1): void {
  const newSubject = useSubjects();

  // In parts, so that each fits into the time limit of one test. Each run draws new histories; in CI the seeds are fixed.
  test.each([1, 2, 3, 4, 5].map((part) => part + 5 * half))(
    '2,000 random histories match the model: part %i of 10',
    async (part) => {
      await proveHistories(newSubject, { numRuns: 200, ...(Deno.env.get('CI') && { seed: part }) });
    },
  );
}
