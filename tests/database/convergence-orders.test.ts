import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { createScenario, installRunner, proveOrders, runSequence } from '../helpers/orderings/prove-orders.ts';
import { scenarioNames } from '../helpers/orderings/scenarios.ts';
import { isLong, seedOfDay, suite } from '../helpers/project/suite.ts';

// REPLAY='order: captured-P refund-P verify-P' prints each step of a list that a proof reported.
const replayed = Deno.env.get('REPLAY');
// `npm test` runs the orders of two steps, the long suite those of other sets of four each day. EVERY_ORDER=1 runs every
// order of five.
const part = Math.floor(seedOfDay / 10) % 8;
const long = Deno.env.get('EVERY_ORDER') === '1' ? { length: 5, share: 1 } : { length: 4, share: 8, part };
const short = suite === 'gate' ? { length: 2, share: 1 } : { length: 3, share: 12 };
const extent = { ...isLong ? { ...long, random: 10 } : { ...short, random: 1 }, seed: seedOfDay };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

test.each(scenarioNames)('all orders of the same steps, with repeats, give the expected result: %s', async (name) => {
  expect(await proveOrders(database, name, extent)).toBeGreaterThan(10);
});

test.runIf(replayed !== undefined)('REPLAY prints each step', async () => {
  const [scenario = '', steps = ''] = replayed?.split(': ') ?? [];
  const name = scenarioNames.find((name) => name === scenario);
  if (!name) throw new Error(`no scenario ${scenario}; there are: ${scenarioNames.join('; ')}`);
  const session = await openSession(database, { role: 'service_role' });
  const rows = await runSequence(session, await createScenario(database, name), steps.split(' '));
  for (const { step, answer, state } of rows) {
    writeLine(`${step} → ${JSON.stringify(answer)}\n${JSON.stringify(state, null, 2)}`);
  }
});
