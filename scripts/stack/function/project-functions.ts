import { parseEnv } from 'node:util';
import { z } from 'zod';
import { freePort } from '../ports.ts';
import { type Child, spawnChild, writeLine } from '../process/child.ts';
import type { Service } from '../service.ts';

/** The functions of an app, served beside ours. */
export type ProjectFunctions = Service & {
  /** The name under which the app has ours: `npm run add -- <folder> --function billing`. */
  readonly ours: string;
  has(name: string): boolean;
  /** The address of a function of the app, when it listens. Undefined: it does not within some seconds. */
  addressOf(name: string): Promise<string | undefined>;
};

const installed = z.looseObject({ function: z.string() });

/**
 * Without a folder there are none. Serves the functions in `<folder>/supabase/functions`, each in a Deno of its own that restarts when its files change. They
 * get the app's `.env` and, above it, these variables. Sessions are not checked in front of them.
 * @throws Error if there is no such folder
 */
export async function createProjectFunctions(
  folder: string | undefined,
  variables: Record<string, string>,
): Promise<ProjectFunctions> {
  const functions = `${folder}/supabase/functions`;
  // An app with a function `api` of its own has ours under another name.
  const ours = folder === undefined ? 'api' : await readOurName(folder);
  const names = folder === undefined ? [] : (await namesIn(functions)).filter((name) => name !== ours);
  const running = new Map<string, { child: Child; port: number }>();
  return {
    name: 'functions of the project',
    ours,
    async start() {
      if (folder === undefined) return;
      const env = { ...Deno.env.toObject(), ...await readVariables(`${functions}/.env`), ...variables };
      for (const name of names) {
        const port = freePort();
        const child = spawnChild({
          name,
          command: Deno.execPath(),
          args: [
            ...['run', '-A', '--no-prompt', '--watch', '--no-clear-screen'],
            ...await configArguments(functions, name),
            `${functions}/${name}/index.ts`,
          ],
          cwd: folder,
          env: { ...env, NO_COLOR: '1', DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}` },
        });
        running.set(name, { child, port });
      }
      if (names.length > 0) writeLine(`Functions of ${folder}: ${names.join(', ')}`);
    },
    // A function with an error must not keep the stack from starting: a call of it is answered 503.
    ready: () => Promise.resolve(),
    async stop() {
      const children = [...running.values()];
      running.clear();
      await Promise.all(children.map(({ child }) => child.end('SIGTERM')));
    },
    has: (name) => running.has(name),
    async addressOf(name) {
      const port = running.get(name)?.port;
      return port !== undefined && await listens(port) ? `http://127.0.0.1:${port}` : undefined;
    },
  };
}

/**
 * The configuration that the platform would use, and no other: Deno itself takes the package.json or deno.json of the app
 * around it, with which imports such as `npm:zod` fail.
 */
async function configArguments(functions: string, name: string): Promise<string[]> {
  const packages = '--node-modules-dir=none';
  for (const file of [`${name}/deno.json`, `${name}/deno.jsonc`, 'deno.json', 'deno.jsonc']) {
    if (await exists(`${functions}/${file}`)) return [packages, '--config', `${functions}/${file}`];
  }
  const map = `${functions}/import_map.json`;
  return [packages, '--no-config', ...(await exists(map) ? ['--import-map', map] : [])];
}

/** Waits while a function loads: it restarts when its files change. */
async function listens(port: number): Promise<boolean> {
  for (let tries = 0; tries < 60; tries++) {
    const connection = await Deno.connect({ hostname: '127.0.0.1', port }).catch(() => undefined);
    connection?.close();
    if (connection !== undefined) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function readOurName(folder: string): Promise<string> {
  try {
    return installed.parse(JSON.parse(await Deno.readTextFile(`${folder}/supabase/subscriptions.json`))).function;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 'api';
    throw error;
  }
}

/** As the CLI: each folder with an `index.ts`, but for those that begin with `_` or a dot. */
async function namesIn(functions: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(functions)) {
      if (isDirectory && !/^[_.]/.test(name) && await exists(`${functions}/${name}/index.ts`)) names.push(name);
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`--project: ${functions} does not exist`);
    throw error;
  }
  return names.toSorted();
}

async function readVariables(path: string): Promise<Record<string, string>> {
  const read = await exists(path) ? parseEnv(await Deno.readTextFile(path)) : {};
  return Object.fromEntries(
    Object.entries(read).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
