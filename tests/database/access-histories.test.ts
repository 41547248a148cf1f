import { test } from 'vitest';
import { proveHistories } from '../helpers/access-model/prove-histories.ts';
import { useSubjects } from '../helpers/access-model/use-subjects.ts';

const newSubject = useSubjects();

// tests/long runs two thousand others.
test.each([20261121, 20261122, 20261123, 20261124])(
  'fifty random histories of seed %i match the model',
  async (seed) => {
    await proveHistories(newSubject, { numRuns: 50, seed });
  },
  // The histories share a database: one that still runs after its time limit would disturb the next.
  300_000,
);
