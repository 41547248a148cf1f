import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksFor } from '../../scripts/doctor/checks.ts';
import { root } from '../../scripts/stack/root.ts';
import { freeBasePort, npmStart, type RunningStack } from './running-stack.ts';

describe('npm run doctor on the local stack', { timeout: 60_000 }, () => {
  const port = freeBasePort();
  let stack: RunningStack;
  beforeAll(async () => {
    stack = npmStart(['--port', String(port), '--ephemeral']);
    await stack.ready;
  }, 60_000);
  afterAll(() => stack.end());

  test('finds no fault in two runs, and exits with 0', async () => {
    for (let times = 0; times < 2; times += 1) {
      const { code, stdout } = await new Deno.Command('npm', {
        args: ['run', '--silent', 'doctor', '--', '--json', '--port', String(port)],
        cwd: root,
        stdin: 'null',
        stderr: 'null',
      }).output();
      const results: { check: string; status: string }[] = JSON.parse(new TextDecoder().decode(stdout));
      expect(results.filter(({ status }) => status === 'fail' || status === 'warn')).toEqual([]);
      expect(results.map(({ check }) => check)).toEqual(checksFor({ mode: 'local' }).map(({ name }) => name));
      expect(results.filter(({ status }) => status === 'pass').map(({ check }) => check)).toEqual(
        expect.arrayContaining(['local-stack', 'webhook-ping', 'gateway-key', 'database', 'schedule', 'versions']),
      );
      expect(code).toBe(0);
    }
  });
});
