import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyProject } from '../helpers/project/copy-project.ts';
import { runScript } from '../helpers/project/run-script.ts';
import { freeBasePort, npmStart } from './running-stack.ts';

let folder: string;
beforeAll(async () => {
  folder = await copyProject();
  await Deno.chmod(folder, 0o700);
});
afterAll(() => Deno.remove(folder, { recursive: true }));

/** Postgres runs as another user when root starts it. */
const remedy =
  /^The user "postgres", .* can't run .*: move the project to a folder that other users can reach, or start it as another user$/;

test.skipIf(Deno.uid() !== 0)(
  'npm start as root in a folder closed to others says what to do, and exits with 1',
  async () => {
    const stack = npmStart(['--port', String(freeBasePort()), '--ephemeral'], {}, folder);
    expect((await stack.exited).code).toBe(1);
    expect(stack.stderr).toEqual([expect.stringMatching(remedy)]);
  },
);

test.skipIf(Deno.uid() !== 0)('npm run check there does the same before its first check', async () => {
  const { code, stderr } = await runScript('check', [], { cwd: folder });
  expect([code, stderr.trimEnd()]).toEqual([1, expect.stringMatching(remedy)]);
});
