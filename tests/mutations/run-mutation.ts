import { schemaVersionFile, schemaVersionText } from '../../scripts/generate/schema-version.ts';
import { copySchemaFiles } from '../../scripts/migration/baseline.ts';
import { root } from '../../scripts/stack/root.ts';
import type { Mutation } from './mutation.ts';

/** The tests that failed, each as `file > title`, or why the tests did not start. */
export type Outcome = { readonly killers: readonly string[]; readonly broken: string | null };

/** A copy of the project, to which mutations are applied one after the other. */
export type Scratch = { run(mutation: Mutation): Promise<Outcome>; remove(): Promise<void> };

/** After so many failures a mutation is dead enough. */
const enough = 3;

export async function createScratch(): Promise<Scratch> {
  const parent = await Deno.makeTempDir({ prefix: 'mutations-' });
  // Postgres runs as another user where the tests run as root.
  await Deno.chmod(parent, 0o755);
  const folder = `${parent}/project`;
  const files = await output('git', ['ls-files', '--cached', '--others', '--exclude-standard'], root);
  for (const file of files.split('\n').filter((name) => name !== '')) {
    await Deno.mkdir(`${folder}/${file}`.replace(/\/[^/]*$/, ''), { recursive: true });
    await Deno.copyFile(`${root}/${file}`, `${folder}/${file}`).catch(ignoreMissing);
  }
  await Deno.symlink(`${root}/node_modules`, `${folder}/node_modules`);
  // A migration may define an object anew, so the databases are made from the schema files.
  const supabase = `${folder}/supabase`;
  await copySchemaFiles(supabase);
  await Deno.writeTextFile(schemaVersionFile.replace(root, folder), await schemaVersionText(`${supabase}/migrations`));
  return {
    async run(mutation) {
      const [path, whole] = await applyMutation(mutation, folder);
      await copySchemaFiles(supabase);
      try {
        const { slow = [], quick = [] } = Object.groupBy(mutation.tests, (part) => isSlow(part) ? 'slow' : 'quick');
        // A wrong function needs no new database.
        const env = {
          SHRINK: 'off',
          SUITE: '',
          // Whether a wrong version fails does not depend on the day.
          SEED: '20261121',
          TEST_CLUSTER: mutation.file.startsWith('schemas/') ? '' : `${parent}/cluster`,
        };
        const first = await runTests(folder, quick, env);
        if (hasEnough(mutation, first.killers) || slow.length === 0) return first;
        const second = await runTests(folder, slow, env);
        return { killers: [...first.killers, ...second.killers], broken: first.broken ?? second.broken };
      } finally {
        await Deno.writeTextFile(path, whole);
      }
    },
    remove: () => Deno.remove(parent, { recursive: true }),
  };
}

/**
 * Changes the file.
 *
 * @returns its path and its former text
 * @throws Error when the text of the mutation does not stand there once
 */
export async function applyMutation(
  { file, text, by }: Mutation,
  folder: string,
  write: (path: string, text: string) => Promise<void> = Deno.writeTextFile,
): Promise<[path: string, whole: string]> {
  const path = `${folder}/supabase/${file}`;
  const whole = await Deno.readTextFile(path);
  const parts = whole.split(text);
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${text}`);
  await write(path, parts.join(by));
  return [path, whole];
}

/** Whether enough tests failed: two, if the rule is about money or access. */
export function hasEnough({ isMoney }: Mutation, killers: readonly string[]): boolean {
  return killers.length >= (isMoney ? 2 : 1);
}

/** A file that was deleted and is still in the index. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** Histories and orders run only where the other tests do not see enough. */
function isSlow(part: string): boolean {
  return /access-histories|convergence/.test(part);
}

async function runTests(folder: string, tests: readonly string[], env: Record<string, string>): Promise<Outcome> {
  if (tests.length === 0) return { killers: [], broken: null };
  const report = `${folder}/report.json`;
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tests/vitest.config.ts', '--root', '.'];
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', ...vitest, '--reporter', 'json', '--outputFile', report, '--bail', String(enough), ...tests],
    cwd: folder,
    env,
    stdin: 'null',
  }).output();
  try {
    const { testResults } = JSON.parse(await Deno.readTextFile(report));
    if (testResults.length === 0) throw new Error('no test ran');
    return { killers: killersIn(testResults, folder), broken: null };
  } catch {
    return { killers: [], broken: new TextDecoder().decode(stderr).trim().slice(-300) };
  } finally {
    await Deno.remove(report).catch(() => {});
  }
}

type FileResult = { name: string; status: string; assertionResults: { status: string; fullName: string }[] };

function killersIn(results: FileResult[], folder: string): string[] {
  return results.flatMap(({ name, status, assertionResults }) => {
    const file = name.replace(`${folder}/tests/`, '');
    const failed = assertionResults.filter((result) => result.status === 'failed');
    // The findings at the end of a file are compared outside of its tests.
    if (failed.length === 0) return status === 'failed' ? [`${file} > its findings`] : [];
    return failed.map(({ fullName }) => `${file} > ${fullName}`);
  });
}

async function output(command: string, args: string[], cwd: string): Promise<string> {
  const { success, stdout } = await new Deno.Command(command, { args, cwd }).output();
  if (!success) throw new Error(`${command} ${args.join(' ')} failed`);
  return new TextDecoder().decode(stdout);
}
