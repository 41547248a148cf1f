import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import {
  createScenario,
  divergencesOf,
  installRunner,
  proveOrders,
  runSequence,
} from '../helpers/orderings/prove-orders.ts';
import { scenarioNames } from '../helpers/orderings/scenarios.ts';
import { isLong } from '../helpers/project/is-long.ts';

// REPLAY='order: captured-P refund-P verify-P' prints each step of a list that a proof reported.
const requested = Deno.env.get('REPLAY');
// The long suite runs the orders of other sets of four steps each day. EVERY_ORDER=1 runs every order of five.
const part = Math.floor(Date.now() / 86_400_000) % 2;
const long = Deno.env.get('EVERY_ORDER') === '1' ? { length: 5, share: 1 } : { length: 4, share: 2, part };
const extent = isLong ? { ...long, random: 20 } : { length: 3, share: 6, random: 2, seed: 20261120 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

test.each(scenarioNames)(
  'the orders of the same steps, with repeats, give the same expected result: %s',
  async (name) => {
    expect(await proveOrders(database, name, extent)).toBeGreaterThan(10);
  },
);

test('a replay returns the answer of each step and the state after it', async () => {
  const steps = await replay('order: failed-F captured-P verify-P refund-P');
  expect(steps.map(({ step, answer, state }) => [step, answer, state])).toMatchObject([
    ['failed-F', { outcome: 'applied' }, { tier: 'free', payments: [{ status: 'failed', tier: 'pro' }] }],
    ['captured-P', { outcome: 'applied' }, { tier: 'pro', payments: [{ status: 'captured', mails: 1 }] }],
    ['verify-P', { outcome: 'already_applied', tier: 'pro' }, { tier: 'pro', payments: [{ mails: 1 }] }],
    ['refund-P', { outcome: 'applied' }, { tier: 'free', subscriptions: null }],
  ]);
});

test('a list with an unknown scenario or step is refused', async () => {
  await expect(replay('orders: verify-P')).rejects.toThrow('no scenario orders');
  await expect(replay('order: pay')).rejects.toThrow('no step pay; there are verify-P captured-P');
});

test.runIf(requested !== undefined)('REPLAY prints each step', async () => {
  for (const { step, answer, state } of await replay(requested ?? '')) {
    writeLine(`${step} → ${JSON.stringify(answer)}\n${JSON.stringify(state, null, 2)}`);
  }
});

test('an order with another result is found, and reported with the two shortest lists of steps', async () => {
  // Which of two payments counts depends on arrival, so the proofs ignore it. This test compares it.
  await database.query('alter function test.read_state(jsonb) rename to read_real_state');
  await database.query(`
    create function test.read_state(p_subject jsonb) returns jsonb language sql stable
    return (
      select jsonb_build_object('counts', p.gateway_payment_id)
      from public.payments p where p.id = (p_subject #>> '{paymentIds,0}')::uuid
    )`);
  const scenario = await createScenario(database, 'two payments on one order');
  const { divergences } = await divergencesOf(database, scenario, { length: 3, share: 1 });
  const both = ['captured-A', 'captured-B'];
  expect(divergences[0]?.sequences.map((sequence) => sequence.toSorted())).toEqual([both, both]);
});

/** Runs the steps of `scenario: step step`. @throws where the scenario or a step is unknown */
async function replay(list: string) {
  const [scenario = '', steps = ''] = list.split(': ');
  const name = scenarioNames.find((name) => name === scenario);
  if (!name) throw new Error(`no scenario ${scenario}; there are: ${scenarioNames.join('; ')}`);
  const session = await openSession(database, { role: 'service_role' });
  return await runSequence(session, await createScenario(database, name), steps.split(' '));
}
