import { afterAll, beforeAll, expect, test } from 'vitest';
import { withClient } from '../helpers/database/postgres-client.ts';
import { copyProject } from '../helpers/project/copy-project.ts';
import {
  expectGone,
  freeBasePort,
  npmStart,
  type Process,
  type RunningStack,
  stoppedCodes,
} from '../stack/running-stack.ts';

const port = String(freeBasePort());
let project: string;
/** The first test leaves it running, and the second one kills it. */
let running: RunningStack | undefined;

beforeAll(async () => {
  project = await copyProject();
});
afterAll(async () => {
  await running?.end();
  await Deno.remove(project, { recursive: true });
});

const start = (args: string[] = [], env = {}) => npmStart(['--port', port, '--verbose', ...args], env, project);
const startElsewhere = () => npmStart(['--port', String(freeBasePort()), '--verbose'], {}, project);
const settings = (url = '') =>
  withClient(url, async (client) => (await client.query('select early_renewal, credit from billing.settings')).rows);
const signUp = async (env: Record<string, string>) => {
  const answer = await fetch(`${env.API_URL}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: env.PUBLISHABLE_KEY ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'one@example.com', password: 'correct horse battery' }),
  });
  await answer.body?.cancel();
  return answer.status;
};
const kill = (processes: Process[], ...parts: string[]) => {
  const found = processes.filter(({ command }) => parts.some((part) => command.includes(part)));
  for (const { pid } of found) Deno.kill(pid, 'SIGKILL');
};

test('npm start takes its settings from the environment, is alone on its kept data, and a killed one leaves no child', async () => {
  const appUrl = 'http://localhost:3000';
  const first = start([], { EARLY_RENEWAL: 'extend', CREDIT: 'off', GATEWAY_KEY_SECRET: '', APP_URL: appUrl });
  const env = await first.ready;
  expect(await signUp(env)).toBe(200);
  expect(env.APP_URL).toBe(appUrl);
  expect(await settings(env.DB_URL)).toEqual([{ early_renewal: 'extend', credit: 'off' }]);
  const unconfigured = await fetch(`${env.FUNCTIONS_URL}/api/payments/verify`, { method: 'POST', body: '{}' });
  expect(await unconfigured.json()).toEqual({ error: 'Payment service not configured' });
  const second = startElsewhere();
  expect((await second.exited).code).toBe(1);
  expect(second.stderr.join('\n')).toContain('Another `npm start` is using the data');

  const processes = await first.processes();
  kill(processes.filter(({ command }) => !command.includes('/bin/sh')), 'scripts/start.ts');
  await first.exited;
  await expectGone(processes);

  const added = '99990101000000_added.sql';
  await Deno.writeTextFile(`${project}/supabase/migrations/${added}`, 'create table public.added (id int);');
  running = start();
  const kept = await running.ready;
  expect(running.stderr).toContain(`[migrate] Applying migration ${added}...`);
  expect(await settings(kept.DB_URL)).toEqual([{ early_renewal: 'replace', credit: 'on' }]);
  expect(await signUp(kept)).toBe(422);
});

test('kept data of another password and with open doors get new secrets and are closed', async () => {
  expect(stoppedCodes).toContain((await running?.end())?.code);
  const folder = `${project}/supabase/.temp/stack`;
  await Deno.remove(`${folder}/secrets.json`);
  await Deno.chmod(folder, 0o755);
  const before = (await running?.ready)?.DB_URL;
  running = start();
  const { DB_URL } = await running.ready;
  expect(DB_URL).not.toBe(before);
  const modes = [folder, `${folder}/secrets.json`].map((path) => (Deno.statSync(path).mode ?? 0) & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test('a Postgres that survived its supervisor is stopped; without a new migration the CLI does not run', async () => {
  const first = running ?? start();
  await first.ready;
  const processes = await first.processes();
  // The shells that would stop the children are killed together with the supervisor, so Postgres survives.
  kill(processes, '/bin/sh', 'scripts/start.ts');
  await first.exited;
  kill(processes, 'lite-process.ts', 'functions/api/index.ts');
  const second = startElsewhere();
  await second.ready;
  // Nothing is missing, so the CLI, which takes long, does not run.
  expect(second.stderr.filter((line) => line.startsWith('[migrate]'))).toEqual([]);
  expect(stoppedCodes).toContain((await second.end()).code);
  await expectGone(processes);
});

test('a changed or removed applied migration stops the start, until --reset', async () => {
  const folder = `${project}/supabase/migrations`;
  const [changed, removed] = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  await Deno.writeTextFile(`${folder}/${changed}`, '\n-- changed\n', { append: true });
  await Deno.rename(`${folder}/${removed}`, `${project}/removed`);
  const refused = start();
  expect((await refused.exited).code).toBe(1);
  expect(refused.stderr).toEqual(expect.arrayContaining([`  ${changed} was changed`, `  ${removed} is gone`]));
  expect(refused.stdout).not.toContain('ready');

  await Deno.rename(`${project}/removed`, `${folder}/${removed}`);
  const reset = start(['--reset']);
  expect(await signUp(await reset.ready)).toBe(200);
  expect(stoppedCodes).toContain((await reset.end()).code);
});
