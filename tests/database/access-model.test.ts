import { describe, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { accessOf, describeAccess } from '../helpers/access-model/access.ts';
import { noFacts } from '../helpers/access-model/facts.ts';
import { runDrawn, runSteps } from '../helpers/access-model/run-history.ts';
import { useSubjects } from '../helpers/access-model/use-subjects.ts';
import { recordAction } from '../helpers/access-model/record-action.ts';
import { parseTime } from '../helpers/access-model/time.ts';
import { writtenHistories } from '../helpers/access-model/written-histories.ts';

// REPLAY='{"start":…}' prints each step of a failed history.
const replay = Deno.env.get('REPLAY');

const newSubject = useSubjects();

describe('the model alone', () => {
  test.each(writtenHistories)('$name', ({ steps, end, earlyRenewal = 'replace' }) => {
    const facts = noFacts(earlyRenewal);
    for (const { at, ...action } of steps) recordAction(facts, action, parseTime(at));
    expect(describeAccess(accessOf(facts, parseTime(steps.at(-1)?.at ?? '')))).toBe(end);
  });

  test('an error lists the steps so far, and the model and the database where they differ', async () => {
    const [history] = writtenHistories;
    const stub = {
      advance: async () => {},
      perform: () => Promise.resolve([]),
      read: () => Promise.resolve({ tier: 'free', active: null, findings: [] }),
      readBilling: () => Promise.resolve({ billing: null, cancelled: [], sold: [] }),
      takeStops: () => Promise.resolve([]),
      readClaims: () => Promise.resolve([]),
    };
    await expect(runSteps(stub, noFacts('replace'), history?.steps ?? [])).rejects.toThrow(
      /order A pro amount=99900 → free\n.* verify A A1 → pro until .*\nmodel {4}pro until .*\ndatabase free\nA is fulfilled on one side only$/,
    );
  });
});

describe('the database after each step', () => {
  test.each(writtenHistories)('$name', async ({ steps, earlyRenewal = 'replace' }) => {
    const lines = await runSteps(await newSubject(earlyRenewal), noFacts(earlyRenewal), steps);
    expect(lines).toHaveLength(steps.length);
  });
});

test.runIf(replay !== undefined)('REPLAY prints each step', async () => {
  for (const line of await runDrawn(newSubject, JSON.parse(replay ?? ''))) writeLine(line);
});
