import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

let folder: string;
beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'run-' });
  await Deno.symlink(`${root}/node_modules`, `${folder}/node_modules`);
  await write('vitest.config.ts', `export default { test: { include: ['*.case.ts'] } };`);
  await write('steady.case.ts', `import { test } from 'vitest'; test('passes', () => {});`);
});
afterAll(() => Deno.remove(folder, { recursive: true }));

// Each run of vitest loads it anew: on a busy machine that takes ten seconds and more.
const patience = 240_000;

test(
  'a file that fails once passes the run on CI, which names it with its first error; without CI the run fails',
  async () => {
    const unsteady = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { test } from 'vitest';
    test('fails once', () => {
      if (existsSync('${folder}/ran')) return;
      writeFileSync('${folder}/ran', '');
      throw new Error('too early');
    });`;
    await write('unsteady.case.ts', unsteady);

    const alone = await run(false);
    expect(alone.code).toBe(1);
    expect(alone.printed).not.toContain('once more');
    await Deno.remove(`${folder}/ran`);

    const onCi = await run(true);
    expect(onCi.code).toBe(0);
    expect(onCi.printed.trim().split('\n').at(-1)).toBe('unsteady: unsteady.case.ts, Error: too early');
    // The first run has both files, the second one only that which failed.
    expect(onCi.printed.match(/Test Files .*/g)).toEqual([
      expect.stringMatching(/1 failed.* 1 passed.*\(2\)/),
      expect.stringMatching(/1 passed.*\(1\)/),
    ]);
    await Deno.remove(`${folder}/unsteady.case.ts`);
  },
  patience,
);

test('a file that fails twice fails the run on CI, and one that fails to load, too', async () => {
  await write('wrong.case.ts', `import { expect, test } from 'vitest'; test('fails', () => expect(1).toBe(2));`);
  await write('broken.case.ts', `throw new Error('not loaded');`);
  const { code, printed } = await run(true);
  expect(code).toBe(1);
  expect(printed.trim().split('\n').slice(-2).sort()).toEqual([
    expect.stringMatching(/^failed twice: broken\.case\.ts, .*not loaded/),
    expect.stringMatching(/^failed twice: wrong\.case\.ts, AssertionError: expected 1 to be 2/),
  ]);
}, patience);

test('a run that does not end after its tests is ended, and fails', async () => {
  await write('slow-end.ts', 'export const teardown = () => new Promise((resolve) => setTimeout(resolve, 40_000));');
  await write(
    'vitest.config.ts',
    `export default { test: { include: ['steady.case.ts'], globalSetup: ['slow-end.ts'] } };`,
  );
  const { code, printed } = await run(false);
  expect(code).not.toBe(0);
  expect(printed).toContain('The run did not end within 3 seconds after its tests');
}, patience);

async function write(name: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/${name}`, text);
}

async function run(isRepeated: boolean): Promise<{ code: number; printed: string }> {
  const suite = {
    root: folder,
    config: `${folder}/vitest.config.ts`,
    args: [],
    limitMinutes: 5,
    endSeconds: 3,
    isRepeated,
  };
  const code = `import { runSuite } from '${root}/tests/run.ts'; Deno.exit(await runSuite(${JSON.stringify(suite)}));`;
  const { code: exitCode, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ['eval', '--no-lock', '--node-modules-dir=manual', code],
    env: { NO_COLOR: '1', CI: '' },
    cwd: root,
  }).output();
  return { code: exitCode, printed: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}
