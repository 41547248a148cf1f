import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyProject } from '../helpers/project/copy-project.ts';
import { expectGone, freeBasePort, npmStart, type RunningStack, stoppedCodes } from './running-stack.ts';
import { subscribe } from './subscriber.ts';

const port = String(freeBasePort());
let project: string;
let running: RunningStack | undefined;
beforeAll(async () => {
  project = await copyProject();
});
afterAll(async () => {
  await running?.end();
  await Deno.remove(project, { recursive: true });
});

const start = () => running = npmStart(['--port', port], {}, project);
const journal = () => `${project}/supabase/.temp/stack/gateway.jsonl`;
async function clock(interval: string): Promise<void> {
  const args = ['run', '-A', 'scripts/clock.ts', interval, '--port', port];
  const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: project }).output();
  expect([code, new TextDecoder().decode(stderr)]).toEqual([0, expect.anything()]);
}

test('a subscription outlives a stop and a kill of npm start: its months are charged and renew it', async () => {
  const customer = await subscribe(await start().ready, { tier: 'basic' });
  expect(stoppedCodes).toContain((await running?.end())?.code);

  await start().ready;
  await clock('1 month 1 hour');
  expect(await customer.atGateway()).toMatchObject({ status: 'active', paid_count: 2 });
  await customer.sees({ currentTier: 'basic', billing: { status: 'active' } });
  const { subscription: { current_period_end: end } } = await customer.request('subscriptions');
  expect(new Date(end).getTime()).toBeGreaterThan(Date.now() + 55 * 24 * 60 * 60 * 1000);

  const processes = await running?.processes() ?? [];
  for (const { pid, command } of processes) if (command.includes('scripts/start.ts')) Deno.kill(pid, 'SIGKILL');
  await running?.exited;
  await expectGone(processes);

  await start().ready;
  await clock('1 month');
  expect(await customer.atGateway()).toMatchObject({ status: 'active', paid_count: 3 });
});

test('--reset deletes what the simulator knows; --ephemeral leaves nothing', async () => {
  expect(stoppedCodes).toContain((await running?.end())?.code);
  expect((await Deno.readTextFile(journal())).length).toBeGreaterThan(1000);
  running = npmStart(['--port', port, '--reset'], {}, project);
  const { GATEWAY_URL } = await running.ready;
  const { subscriptions } = await (await fetch(`${GATEWAY_URL}/simulate/state`)).json();
  expect(subscriptions).toEqual([]);
  expect(stoppedCodes).toContain((await running.end()).code);

  await Deno.remove(journal());
  running = npmStart(['--port', port, '--ephemeral'], {}, project);
  await subscribe(await running.ready, { tier: 'basic' });
  expect(stoppedCodes).toContain((await running.end()).code);
  const left = [...Deno.readDirSync(`${project}/supabase/.temp/stack`)].map(({ name }) => name);
  expect(left.filter((name) => name.startsWith('gateway'))).toEqual([]);
});
