import { dirname } from 'node:path';
import { expect } from 'vitest';
import { denoEnvironment } from '../../scripts/stack/process/deno-environment.ts';
import { root } from '../../scripts/stack/root.ts';
import { copyFolder, copyProject } from '../helpers/project/copy-project.ts';
import { type Outcome, runScript } from '../helpers/project/run-script.ts';

/** The folder of an app. The caller removes it. */
export type AppFolder = Awaited<ReturnType<typeof createAppFolder>>;

let config: Promise<string> | undefined;

/** Makes a folder with the `config.toml` of `supabase init`, and adds files to it. */
export async function createAppFolder(files: Readonly<Record<string, string>> = {}) {
  const folder = await Deno.makeTempDir({ prefix: 'app-' });
  config ??= initialConfig();
  await Deno.mkdir(`${folder}/supabase`);
  await Deno.writeTextFile(`${folder}/supabase/config.toml`, await config);
  const write = async (path: string, text: string) => {
    await Deno.mkdir(dirname(`${folder}/${path}`), { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return {
    folder,
    write,
    read: (path: string) => Deno.readTextFile(`${folder}/${path}`),
    /** Runs the command of this version, or of a copy of the project. */
    add: (args: readonly string[] = [], project = root) => runAdd([folder, ...args], project),
    /** The text and the time of each file, by its path. */
    state: () => readState(folder),
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

/** The configuration that `supabase init` writes. The CLI needs seconds, so the files share it. */
async function initialConfig(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: 'init-' });
  try {
    await initialise(folder);
    return await Deno.readTextFile(`${folder}/supabase/config.toml`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs `supabase init` in a folder. */
export async function initialise(folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--no-lock',
      '--no-config',
      `${root}/node_modules/supabase/dist/supabase.js`,
      'init',
      '--force',
    ],
    cwd: folder,
    env: { ...denoEnvironment(), SUPABASE_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
    stdin: 'null',
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Runs what `npm run add` runs, without a terminal. */
export const runAdd = (args: readonly string[], project = root): Promise<Outcome> =>
  runScript('add', args, { cwd: project, env: { INIT_CWD: project } });

/** A copy of the project as a version of the given number. The caller removes it. */
export async function createVersion(version: string, from = root): Promise<string> {
  const project = await copyProject();
  if (from !== root) {
    await Deno.remove(`${project}/supabase`, { recursive: true });
    await copyFolder(`${from}/supabase`, `${project}/supabase`);
  }
  await copyFolder(`${from}/emails`, `${project}/emails`);
  const text = await Deno.readTextFile(`${project}/package.json`);
  await Deno.writeTextFile(`${project}/package.json`, text.replace(/"version": "[^"]*"/, `"version": "${version}"`));
  return project;
}

/** The exit code, and the output where it is another one. */
export function expectCode(outcome: Outcome, code: number): void {
  expect(outcome.code, outcome.stdout + outcome.stderr).toBe(code);
}

async function readState(folder: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === '.temp') continue;
    const path = `${folder}/${name}`;
    if (isDirectory) {
      for (const [below, value] of Object.entries(await readState(path))) state[`${name}/${below}`] = value;
    } else {
      state[name] = `${(await Deno.stat(path)).mtime?.toISOString()} ${await Deno.readTextFile(path)}`;
    }
  }
  return state;
}
