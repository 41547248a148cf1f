import { relative } from 'node:path';
import { writeLine } from '../scripts/stack/process/child.ts';
import { onParentEnd } from '../scripts/stack/process/parent.ts';
import { root } from '../scripts/stack/root.ts';

/** How long a run may take, in minutes: on a busy machine the suites take a fifth of it. */
const limits = { short: 30, long: 90 };

type FileResult = {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; failureMessages: string[] }[];
};
type Report = { success: boolean; testResults: FileResult[] };

export type Suite = {
  /** The folder of the tests' configuration. */
  root: string;
  config: string;
  /** Further arguments of vitest: parts of paths, options. */
  args: readonly string[];
  env?: Record<string, string>;
  limitMinutes: number;
  /** How long the run may take to end after its report: a test that left something open may keep its worker. */
  endSeconds: number;
  /** Whether a file that failed runs once more by itself. */
  isRepeated: boolean;
};

/**
 * Runs a suite. Prints which files passed only when they ran again, each with its first error: such a file is unsteady,
 * which is a fault of the test or of the product.
 *
 * @returns the exit code: 0, or 1 when a file failed, twice where it may run again, or when the run did not end in time
 */
export async function runSuite(suite: Suite): Promise<number> {
  const first = await run(suite, suite.args);
  if (first.code === 0) return 0;
  const failed = first.report?.testResults.filter(({ status }) => status === 'failed') ?? [];
  // Without a failed file the run itself failed, such as by an error outside of the tests.
  if (!suite.isRepeated || failed.length === 0) return 1;
  // `-t` is followed by a title.
  const options = suite.args.filter((arg, index) =>
    arg.startsWith('-') && !arg.startsWith('--shard') || suite.args[index - 1] === '-t'
  );
  const lines: string[] = [];
  let code = 0;
  for (const result of failed) {
    const file = relative(suite.root, result.name);
    writeLine(`${file} failed and runs once more by itself`);
    const again = await run(suite, [...options, file]);
    if (again.code !== 0) code = 1;
    lines.push(`${again.code === 0 ? 'unsteady' : 'failed twice'}: ${file}, ${firstError(result)}`);
  }
  for (const line of lines) writeLine(line);
  return code;
}

async function run(
  { root, config, env, limitMinutes, endSeconds }: Suite,
  args: readonly string[],
): Promise<{ code: number; report: Report | undefined }> {
  const folder = await Deno.makeTempDir({ prefix: 'test-report-' });
  try {
    const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${folder}/report.json`];
    const child = new Deno.Command(Deno.execPath(), {
      args: ['run', '-A', vitest, 'run', '--config', config, '--root', root, ...reporters, ...args],
      cwd: root,
      env: { ...env },
      stdin: 'null',
    }).spawn();
    const end = () => {
      try {
        child.kill('SIGTERM');
      } catch {
        // It has ended meanwhile.
      }
    };
    Deno.addSignalListener('SIGTERM', end);
    const unwatch = onParentEnd(end);
    const report = `${folder}/report.json`;
    const timer = setTimeout(() => {
      writeLine(`The tests did not end within ${limitMinutes} minutes`);
      end();
    }, limitMinutes * 60_000);
    const reportTimer = setInterval(async () => {
      const at = await Deno.stat(report).then(({ mtime }) => mtime, () => null);
      if (at === null || Date.now() - at.getTime() < endSeconds * 1000) return;
      clearInterval(reportTimer);
      writeLine(`The run did not end within ${endSeconds} seconds after its tests`);
      end();
    }, 1_000);
    const { code } = await child.status;
    clearTimeout(timer);
    clearInterval(reportTimer);
    unwatch();
    Deno.removeSignalListener('SIGTERM', end);
    return { code, report: await readReport(report) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const vitest = `${root}/node_modules/vitest/vitest.mjs`;

async function readReport(path: string): Promise<Report | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch {
    return undefined;
  }
}

function firstError({ message, assertionResults }: FileResult): string {
  const [error = message] = assertionResults.flatMap(({ failureMessages }) => failureMessages);
  return error.trim().split('\n', 1)[0] ?? '';
}

if (import.meta.main) {
  const [, name] = /^--(apps|long)$/.exec(Deno.args[0] ?? '') ?? [];
  const args = name === undefined ? Deno.args : Deno.args.slice(1);
  // Without a path or a title `npm test` leaves out what `npm run test:apps` runs.
  const isWhole = args.every((arg) => arg.startsWith('-') && arg !== '-t');
  Deno.exit(
    await runSuite({
      root,
      config: `${root}/tests/vitest.config.ts`,
      args,
      env: { SUITE: name ?? (isWhole ? 'gate' : '') },
      limitMinutes: name === 'long' ? limits.long : limits.short,
      endSeconds: 60,
      isRepeated: Deno.env.get('CI') === 'true',
    }),
  );
}
