import { expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { noFacts } from '../helpers/access-model/facts.ts';
import { proveHistories, runAction, runDrawn } from '../helpers/access-model/prove-histories.ts';
import { useSubjects } from '../helpers/access-model/subject.ts';
import { parseTime } from '../helpers/access-model/actions.ts';
import { isLong } from '../helpers/project/is-long.ts';

// REPLAY='{"start":…}' prints each step of a failed history.
const replay = Deno.env.get('REPLAY');

const newSubject = useSubjects();

// In parts, because a failing history is shrunk within the time of its test. The long suite draws others, in CI the same.
const parts = isLong ? 10 : 4;

test.each(Array.from({ length: parts }, (_, part) => part))(
  'random histories match the model: part %i',
  async (part) => {
    const seed = isLong ? Deno.env.get('CI') ? { seed: part } : {} : { seed: 20261121 + part };
    await proveHistories(newSubject, { numRuns: isLong ? 100 : 30, ...seed });
  },
  // The histories share a database: one that still runs after its time limit would disturb the next.
  300_000,
);

test('an error lists the steps so far, and the model and the database where they differ', async () => {
  const stub = {
    ...{ advance: async () => {}, perform: () => Promise.resolve([]), takeStops: () => Promise.resolve([]) },
    read: () => Promise.resolve({ tier: 'free', active: null, findings: [], billing: null, ...stored }),
  };
  const stored = { cancelled: [], sold: [], mails: [] };
  const facts = noFacts('replace');
  const now = parseTime('2026-01-10T12:00:00Z');
  const first = await runAction(stub, facts, { do: 'order', order: 'A', tier: 'pro', amount: 99900 }, now, []);
  await expect(runAction(stub, facts, { do: 'verify', order: 'A', payment: 'A1' }, now, [first])).rejects.toThrow(
    /order A pro amount=99900 → free\n.* verify A A1 → pro until .*\nmodel {4}pro until .*\ndatabase free\nA is fulfilled on one side only$/,
  );
});

test.runIf(replay !== undefined)('REPLAY prints each step', async () => {
  for (const line of await runDrawn(newSubject, JSON.parse(replay ?? ''))) writeLine(line);
});
