import { expect, test, vi } from 'vitest';
import { readLines } from '../../scripts/stack/process/read-lines.ts';
import { root } from '../../scripts/stack/root.ts';
import { localSecrets } from '../../scripts/stack/secrets.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { descendants, expectGone, freeBasePort, npmStart, stoppedCodes } from './running-stack.ts';

// Each has a stack of its own.

const patience = { timeout: 30_000, interval: 50 };

test('SIGTERM while the database is made ends the CLI, which waits for it', async () => {
  const early = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  const processes = await vi.waitFor(async () => {
    const running = await early.processes();
    expect(running.map(({ command }) => command).join()).toMatch(/supabase db push/);
    return running;
  }, patience);
  const { databasePassword } = await localSecrets();
  expect(processes.filter(({ command }) => command.includes(databasePassword))).toEqual([]);
  expect(stoppedCodes).toContain((await early.end()).code);
  await expectGone(processes);
});

test('with GATEWAY=razorpay months are Indian and the function accepts the webhooks of the simulator; without a secret events wait', async () => {
  const environment = { GATEWAY: 'razorpay', EVENTS_SECRET: '' };
  const razorpay = npmStart(['--port', String(freeBasePort()), '--ephemeral'], environment);
  const { GATEWAY_URL: gateway, DB_URL: databaseUrl = '' } = await razorpay.ready;
  const settings = await withClient(
    databaseUrl,
    (client) => client.query('select events, time_zone from billing.settings'),
  );
  expect(settings.rows).toEqual([{ events: true, time_zone: 'Asia/Kolkata' }]);
  const body = JSON.stringify({ body: JSON.stringify({ event: 'payment.authorized' }) });
  await fetch(`${gateway}/simulate/deliver`, { method: 'POST', body });
  await vi.waitFor(async () => {
    const { items } = await (await fetch(`${gateway}/simulate/deliveries`)).json();
    expect(items[0].attempts).toMatchObject([{ status: 200 }]);
  }, patience);
  await razorpay.end();
});

test('npm start stops when the shell of its script is ended, which passes no signal on', async () => {
  const script = `${Deno.execPath()} run -A scripts/start.ts --port ${freeBasePort()} --ephemeral; :`;
  const shell = new Deno.Command('/bin/sh', {
    args: ['-c', script],
    cwd: root,
    env: { npm_lifecycle_event: 'start' },
    ...{ stdin: 'null', stdout: 'piped', stderr: 'null' },
  }).spawn();
  const ready = Promise.withResolvers<void>();
  const read = readLines(shell.stdout, (line) => line === 'ready' && ready.resolve());
  await ready.promise;
  const processes = await descendants(shell.pid);
  expect(processes.map(({ command }) => command).join()).toMatch(/scripts\/start\.ts/);
  shell.kill('SIGTERM');
  await shell.status;
  await expectGone(processes);
  await read;
});
