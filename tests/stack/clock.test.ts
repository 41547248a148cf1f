import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records.ts';
import { openDatabase, type TestDatabase } from '../helpers/test-database.ts';
import { freeBasePort, npmStart, type RunningStack } from './running-stack.ts';

// The clock goes back to a time at which what has lapsed was still paid.
const findings = { paid_not_entitled: 1 };
const port = freeBasePort();
let stack: RunningStack;
let database: TestDatabase;

beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  database = openDatabase((await stack.ready).DB_URL ?? '', { findings });
});
afterAll(async () => {
  await database.close();
  await stack.end(findings);
});

async function shiftClock(...args: string[]): Promise<number> {
  const clock = new Deno.Command('npm', { args: ['run', 'clock', '--', '--port', String(port), ...args], cwd: root });
  return (await clock.output()).code;
}

const tier = async (id: string) =>
  (await database.one('select subscription_tier from public.profiles where user_id = $1', [id])).subscription_tier;

test('a month and its grace days later a tier that was bought for a month has ended, and the clock goes back', async () => {
  const { id } = await createUser(database);
  const { orderId } = await createPayment(database, { userId: id, meta: { tier: 'basic' } });
  await database.query('select public.verify_payment($1, $2, $3, $4)', [id, orderId, uniqueId('pay'), 'signature']);
  expect(await tier(id)).toBe('basic');

  expect(await shiftClock('1 month 2 days')).toBe(0);
  expect(await tier(id)).toBe('basic');
  expect(await shiftClock('2 days')).toBe(0);
  expect(await tier(id)).toBe('free');

  expect(await shiftClock('no interval')).toBe(1);
  expect(await shiftClock()).toBe(0);
  expect(await database.one('select private.clock() = now() as back')).toEqual({ back: true });
});
