import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { installRunner, runSequence } from '../helpers/orderings/run-sequence.ts';
import { createScenario, scenarioNames } from '../helpers/orderings/scenarios.ts';

// REPLAY='order: captured refund verify' prints each step of a list that a proof of convergence reported.
const requested = Deno.env.get('REPLAY');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

/**
 * Runs a list of steps. @returns the answer of each step and the state after it @throws if the scenario or a step is
 * unknown
 */
async function replay(list: string) {
  const [scenario = '', word = ''] = list.split(': ');
  const name = scenarioNames.find((name) => name === scenario);
  if (!name) throw new Error(`no scenario ${scenario}; there are: ${scenarioNames.join('; ')}`);
  const session = await openSession(database, { role: 'service_role' });
  return await runSequence(session, await createScenario(database, name), word.split(' '));
}

test('a replay returns the answer of each step and the state after it', async () => {
  const steps = await replay('order: failed captured verify refund');
  expect(steps.map(({ step, answer, state }) => [step, answer, state])).toMatchObject([
    ['failed', { outcome: 'applied' }, { tier: 'free', payments: [{ status: 'failed', tier: 'pro' }] }],
    ['captured', { outcome: 'applied' }, { tier: 'pro', payments: [{ status: 'captured', mails: 1 }] }],
    ['verify', { outcome: 'already_applied', tier: 'pro' }, { tier: 'pro', payments: [{ mails: 1 }] }],
    ['refund', { outcome: 'applied' }, { tier: 'free', subscriptions: null }],
  ]);
});

test('a list with an unknown scenario or step is refused', async () => {
  await expect(replay('orders: verify')).rejects.toThrow('no scenario orders');
  await expect(replay('order: pay')).rejects.toThrow('no step pay; there are verify captured');
});

test.runIf(requested !== undefined)('REPLAY prints each step', async () => {
  for (const { step, answer, state } of await replay(requested ?? '')) {
    writeLine(`${step} → ${JSON.stringify(answer)}\n${JSON.stringify(state, null, 2)}`);
  }
});
