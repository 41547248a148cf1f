import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { writeLine } from '../../scripts/stack/child.ts';
import { drawnHistories } from '../helpers/access-model/draws.ts';
import { runDrawn } from '../helpers/access-model/run-history.ts';
import { type NewSubject, prepareSubjects } from '../helpers/access-model/subject.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

// REPLAY='{"start":…}' shows what a history that failed does, step by step.
const replay = Deno.env.get('REPLAY');

let database: TestDatabase;
let newSubject: NewSubject;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  newSubject = await prepareSubjects(database);
});
afterAll(() => database.close());

test('random histories end as the model says', async () => {
  await fc.assert(
    fc.asyncProperty(drawnHistories(12), async (drawn) => {
      await runDrawn(newSubject, drawn);
    }),
    { numRuns: Number(Deno.env.get("RUNS") ?? 150), ...(Deno.env.get("SEED") ? {seed: Number(Deno.env.get("SEED"))} : {}) },
  );
});

test.runIf(replay !== undefined)('REPLAY is shown step by step', async () => {
  for (const line of await runDrawn(newSubject, JSON.parse(replay ?? ''))) writeLine(line);
});
