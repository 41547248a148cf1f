import { spawnChild } from '../../scripts/stack/process/child.ts';
import { denoEnvironment } from '../../scripts/stack/process/deno-environment.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { root } from '../../scripts/stack/root.ts';

/** The answer to a `GET`. */
export type Answer = { readonly headers: Headers; readonly body: unknown };

/** Serves a function of an app's folder on a database, and reads paths. @returns the answers */
export async function serveFunction(
  folder: string,
  name: string,
  databaseUrl: string,
  paths: readonly string[],
): Promise<Answer[]> {
  const port = freePort();
  const listening = Promise.withResolvers<void>();
  await Deno.symlink(`${root}/node_modules`, `${folder}/node_modules`);
  const program = spawnChild({
    name: 'function',
    command: Deno.execPath(),
    args: [
      // The command of the documents, with the packages of `npm ci`: the tests have no network.
      ...['run', '-A', '--no-lock', '--cached-only', '--node-modules-dir=manual'],
      ...['--config', `supabase/functions/${name}/deno.json`, `supabase/functions/${name}/index.ts`],
    ],
    cwd: folder,
    env: {
      ...denoEnvironment(),
      PORT: String(port),
      SUPABASE_URL: 'http://127.0.0.1:1',
      SUPABASE_ANON_KEY: 'any',
      SUPABASE_SERVICE_ROLE_KEY: 'any',
      DATABASE_POOL_URL: databaseUrl,
    },
    log: (line) => line.includes('"listening"') && listening.resolve(),
  });
  try {
    const ended = program.exited.then(() => Promise.reject(new Error(program.lastLines().join('\n'))));
    await Promise.race([listening.promise, ended]);
    ended.catch(() => {});
    return await Promise.all(paths.map(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { headers: response.headers, body: await response.json() };
    }));
  } finally {
    await program.end('SIGTERM');
    await Deno.remove(`${folder}/node_modules`);
  }
}
