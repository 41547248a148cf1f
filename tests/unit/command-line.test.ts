import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { runScript } from '../helpers/project/run-script.ts';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(await Deno.readTextFile(`${root}/package.json`));
const names = Object.values(scripts).flatMap((script) => /^deno run -A scripts\/(\w+)\.ts$/.exec(script)?.[1] ?? []);

test('each script of the folder is a command of npm', async () => {
  const files = (await Array.fromAsync(Deno.readDir(`${root}/scripts`))).filter(({ isFile }) => isFile);
  expect(files.map(({ name }) => name).filter((name) => name !== 'command-line.ts').toSorted())
    .toEqual(names.map((name) => `${name}.ts`).toSorted());
});

test.each(names)(
  'npm run %s -- --help prints the usage, 0; a wrong argument is a line and the usage, 2',
  async (name) => {
    const usage = `Usage: npm ${name === 'start' ? 'start' : `run ${name}`}`;
    for (const option of ['--help', '-h']) {
      const { code, stdout, stderr } = await runScript(name, [option]);
      expect([code, stdout.startsWith(usage), stderr]).toEqual([0, true, '']);
    }
    for (const wrong of [['--nonsense'], ['one', 'two', 'three']]) {
      const { code, stdout, stderr } = await runScript(name, wrong);
      const [line, next] = stderr.split('\n');
      expect([code, stdout, line !== '', next?.startsWith(usage)]).toEqual([2, '', true, true]);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  },
);
