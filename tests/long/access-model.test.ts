import { test } from 'vitest';
import { proveHistories } from '../helpers/access-model/prove-histories.ts';
import { useSubjects } from '../helpers/access-model/use-subjects.ts';

const newSubject = useSubjects();

// The first ten of them are those of `npm test`.
test('150 random histories of a fixed seed match the model', async () => {
  await proveHistories(newSubject, { numRuns: 150, seed: 20261121 });
});

// In parts, so that each fits into the time limit of one test. Each run draws new histories; in CI the seeds
// are fixed.
test.each(Array.from({ length: 10 }, (_, part) => part + 1))(
  '2,000 random histories match the model: part %i of 10',
  async (part) => {
    await proveHistories(newSubject, { numRuns: 200, ...(Deno.env.get('CI') && { seed: part }) });
  },
);
