import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withClient } from '../helpers/database/postgres-client.ts';
import { copyProject } from '../helpers/project/copy-project.ts';
import { expectGone, freeBasePort, npmStart } from '../stack/running-stack.ts';
import type { RunningStack } from '../stack/running-stack.ts';

describe('kept data', { timeout: 180_000 }, () => {
  const port = String(freeBasePort());
  let project: string;
  let migrations: string[];
  /** The first test leaves it running, and the second one kills it. */
  let running: RunningStack | undefined;

  beforeAll(async () => {
    project = await copyProject();
    migrations = [...Deno.readDirSync(`${project}/supabase/migrations`)].map(({ name }) => name).sort();
  });
  afterAll(async () => {
    await running?.end();
    await Deno.remove(project, { recursive: true });
  });

  const start = (...args: string[]) => npmStart(['--port', port, ...args], {}, project);
  const settings = (url = '') =>
    withClient(url, async (client) => (await client.query('select early_renewal, credit from billing.settings')).rows);
  const signUp = async (url: string, key: string) => {
    const answer = await fetch(`${url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: key, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'one@example.com', password: 'correct horse battery' }),
    });
    await answer.body?.cancel();
    return answer.status;
  };

  test('survive a restart, which adds new migrations and writes settings; only one npm start can use them at a time', async () => {
    const first = npmStart(['--port', port], { EARLY_RENEWAL: 'extend', CREDIT: 'off' }, project);
    const env = await first.ready;
    expect(await signUp(env.API_URL ?? '', env.PUBLISHABLE_KEY ?? '')).toBe(200);
    expect(await settings(env.DB_URL)).toEqual([{ early_renewal: 'extend', credit: 'off' }]);
    const second = npmStart(['--port', String(freeBasePort())], {}, project);
    expect((await second.exited).code).toBe(1);
    expect(second.stderr.join('\n')).toContain('Another `npm start` is using the data');
    expect((await first.end()).code).toBe(0);

    const added = '99990101000000_added.sql';
    await Deno.writeTextFile(`${project}/supabase/migrations/${added}`, 'create table public.added (id int);');
    running = start();
    await running.ready;
    expect(running.stderr).toContain(`[migrate] Applying migration ${added}...`);
    expect(await settings(env.DB_URL)).toEqual([{ early_renewal: 'replace', credit: 'on' }]);
    expect(await signUp(env.API_URL ?? '', env.PUBLISHABLE_KEY ?? '')).toBe(422);
  });

  test('a Postgres that survived its supervisor is stopped; without a new migration the CLI does not run', async () => {
    const first = running ?? start();
    await first.ready;
    const processes = await first.processes();
    // The shells that would stop the children are killed together with the supervisor, so Postgres survives.
    for (const { pid, command } of processes) {
      if (command.startsWith('/bin/sh') || command.includes('scripts/start.ts')) Deno.kill(pid, 'SIGKILL');
    }
    await first.exited;
    for (const { pid, command } of processes) {
      if (command.includes('lite-process.ts') || command.includes('functions/api/index.ts')) Deno.kill(pid, 'SIGKILL');
    }
    const second = npmStart(['--port', String(freeBasePort())], {}, project);
    await second.ready;
    // Nothing is missing, so the CLI, which takes long, does not run.
    expect(second.stderr.filter((line) => line.startsWith('[migrate]'))).toEqual([]);
    expect((await second.end()).code).toBe(0);
    await expectGone(processes);
  });

  test('a changed or removed applied migration stops the start, until --reset', async () => {
    const [changed, removed] = migrations;
    const folder = `${project}/supabase/migrations`;
    await Deno.writeTextFile(`${folder}/${changed}`, '\n-- changed\n', { append: true });
    await Deno.rename(`${folder}/${removed}`, `${project}/removed`);
    const refused = start();
    expect((await refused.exited).code).toBe(1);
    expect(refused.stderr).toEqual(expect.arrayContaining([`  ${changed} was changed`, `  ${removed} is gone`]));
    expect(refused.stdout).not.toContain('ready');

    await Deno.rename(`${project}/removed`, `${folder}/${removed}`);
    const reset = start('--reset');
    const env = await reset.ready;
    expect(await signUp(env.API_URL ?? '', env.PUBLISHABLE_KEY ?? '')).toBe(200);
    expect((await reset.end()).code).toBe(0);
  });
});
