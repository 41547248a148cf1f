import { test } from 'vitest';
import { proveHistories } from '../helpers/access-model/prove-histories.ts';
import { useSubjects } from '../helpers/access-model/subject.ts';
import { isLong } from '../helpers/project/is-long.ts';

const newSubject = useSubjects();

// In parts, because a failing history is shrunk within the time of its test. The long suite draws others, in CI the same.
const parts = isLong ? 8 : 4;

test.each(Array.from({ length: parts }, (_, part) => part))(
  'random histories match the model: part %i',
  async (part) => {
    const seed = isLong ? Deno.env.get('CI') ? { seed: part } : {} : { seed: 20261121 + part };
    await proveHistories(newSubject, { numRuns: isLong ? 100 : 50, ...seed });
  },
  // The histories share a database: one that still runs after its time limit would disturb the next.
  300_000,
);
