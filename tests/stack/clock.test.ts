import { expect, test } from 'vitest';
import { runScript } from '../helpers/project/run-script.ts';
import { freeBasePort } from './running-stack.ts';

// With a stack: stack/start, long/clock-steps.
const port = String(freeBasePort());
async function clock(...args: string[]) {
  const { code, stdout, stderr } = await runScript('clock', args);
  return { code, lines: (stdout + stderr).trim().split('\n') };
}

test('--help prints the usage with code 0; a wrong argument a sentence and the usage with 2', async () => {
  const usage = 'Usage: npm run clock -- [INTERVAL] [--port N]';
  const help = await clock('--help');
  expect([help.code, help.lines[0]]).toEqual([0, usage]);
  for (
    const [args, sentence] of [
      [['1 month', '2'], /^more than one interval: put '1 month 2' in quotes$/],
      [['--port', 'x'], /^--port is not a number from 1 to \d+$/],
    ] satisfies [string[], RegExp][]
  ) {
    const { code, lines } = await clock(...args);
    expect([code, lines[0], lines[1]]).toEqual([2, expect.stringMatching(sentence), usage]);
  }
});

test('where no stack runs it says so in one line, with code 1', async () => {
  expect(await clock('1 day', '--port', port)).toEqual({
    code: 1,
    lines: [`No stack runs at port ${port}: start it with npm start, or name its port with --port N.`],
  });
});
