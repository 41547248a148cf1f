import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataFolderOf, expectGone, freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';

let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral'], {
    GATEWAY_KEY_SECRET: '',
    APP_URL: 'http://localhost:3000',
  });
  env = await stack.ready;
}, 60_000);
afterAll(() => stack.end());

test('npm start with an APP_URL prints it', () => {
  expect(env.APP_URL).toBe('http://localhost:3000');
});

test('a function with an empty GATEWAY_KEY_SECRET has no payment service', async () => {
  const unconfigured = await fetch(`${env.FUNCTIONS_URL}/api/payments/verify`, { method: 'POST', body: '{}' });
  expect(await unconfigured.json()).toEqual({ error: 'Payment service not configured' });
});

test('the children of a killed supervisor end', async () => {
  const processes = await stack.processes();
  const supervisor = processes.find(({ command }) => command.includes('scripts/start.ts'));
  Deno.kill(supervisor?.pid ?? 0, 'SIGKILL');
  await stack.exited;
  await expectGone(processes);
  await Deno.remove(dataFolderOf(processes).replace(/\/postgres$/, ''), { recursive: true });
});
