import { test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { proveHistories, runDrawn } from '../helpers/access-model/prove-histories.ts';
import { useSubjects } from '../helpers/access-model/subject.ts';
import { isLong, seedOfDay, suite } from '../helpers/project/suite.ts';

// REPLAY='{"start":…}' prints each step of a failed history.
const replay = Deno.env.get('REPLAY');

const newSubject = useSubjects();

// In parts, because a failing history is shrunk within the time of its test. Each day has others.
const parts = isLong ? 6 : 3;
const numRuns = isLong ? 80 : suite === 'gate' ? 9 : 27;

test.each([...Array(parts).keys()])(
  'random histories match the model: part %i',
  (part) => proveHistories(newSubject, { numRuns, seed: seedOfDay + part }),
  // The histories share a database: one that still runs after its time limit would disturb the next.
  300_000,
);

test.runIf(replay !== undefined)('REPLAY prints each step', async () => {
  for (const line of await runDrawn(newSubject, JSON.parse(replay ?? ''))) writeLine(line);
});
