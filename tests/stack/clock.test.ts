import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { freeBasePort, npmStart, type RunningStack } from './running-stack.ts';
import { subscribe } from './subscriber.ts';

const port = freeBasePort();
let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  env = await stack.ready;
});
afterAll(() => stack.end());

/** Runs what `npm run clock` runs. @returns the exit code and the lines */
async function clock(...args: string[]) {
  const command = ['run', '-A', 'scripts/clock.ts', ...args];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: command, cwd: root }).output();
  const decoder = new TextDecoder();
  return { code, lines: (decoder.decode(stdout) + decoder.decode(stderr)).trim().split('\n') };
}

test('one jump over the notice of a cancellation ends the subscription without another charge', async () => {
  const customer = await subscribe(env, { tier: 'basic' });
  await customer.request('subscriptions/cancel', { at_period_end: true });
  const { code, lines } = await clock('1 month 1 hour', '--port', String(port));
  expect(code).toBe(0);
  expect(lines.map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}/, '').replace(/ is \d{4}-.*/, ' is …')))
    .toEqual([
      'mails 1',
      'gateway told 1',
      expect.stringMatching(/^cancelled 1, mails \d, access ended 1$/),
      "The stack's time is …",
    ]);
  expect(await customer.atGateway()).toMatchObject({ status: 'cancelled', paid_count: 1 });
  await customer.sees({ currentTier: 'free' });
});

test('support reads each table of a stack whose clock moves: no part is missing, and its jobs run by that clock', async () => {
  const sql = postgres(env.DB_URL ?? '', { max: 1, onnotice: () => {} });
  try {
    expect(await sql`select part from billing.missing_parts()`).toEqual([]);
    await clock('1 month', '--port', String(port));
    const [state] =
      await sql`select billing.clock() - last_sweep_at < interval '2 minutes' as is_recent from billing.service_state`;
    expect(state?.is_recent).toBe(true);
  } finally {
    await sql.end();
  }
});

test('--help prints the usage with code 0; a wrong argument a sentence and the usage with 2', async () => {
  const usage = 'Usage: npm run clock -- [INTERVAL] [--port N]';
  const help = await clock('--help');
  expect([help.code, help.lines[0]]).toEqual([0, usage]);
  for (
    const [args, sentence] of [
      [['soon', '--port', String(port)], /^'soon' is no interval: /],
      [['1 month', '2'], /^more than one interval: put '1 month 2' in quotes$/],
      [['--port', 'x'], /^--port x: not a number from 1 to \d+$/],
    ] satisfies [string[], RegExp][]
  ) {
    const { code, lines } = await clock(...args);
    expect([code, lines[0], lines[1]]).toEqual([2, expect.stringMatching(sentence), usage]);
  }
});

test('where no stack runs it says so in one line, with code 1', async () => {
  const free = freeBasePort();
  expect(await clock('1 day', '--port', String(free))).toEqual({
    code: 1,
    lines: [`No stack answers at port ${free}: run \`npm start\`, or name its port with --port`],
  });
});

test('a move back lets the statement read again what comes now', async () => {
  for (const args of [['2 months'], []]) expect((await clock(...args, '--port', String(port))).code).toBe(0);
  const sql = postgres(String(env.DB_URL), { max: 1, onnotice: () => {} });
  try {
    expect(
      await sql`select list from billing.statement_windows w
      where w.read_until > billing.clock() or w.next_read_at > billing.clock() + interval '1 day 1 hour'`,
    ).toHaveLength(0);
  } finally {
    await sql.end({ timeout: 1 });
  }
});
