import { spawnChild } from '../process/child.ts';
import { denoEnvironment } from '../process/deno-environment.ts';
import { root } from '../root.ts';
import { splitPassword } from './database-url.ts';
import { waitAtPort } from './wait-at-port.ts';

export type MigrateOptions = {
  /** URL of the database. */
  url: string;
  /** Whether to add the sample data of `supabase/seed.sql`, unless they exist. */
  seed: boolean;
  /** Whether to apply also migrations that are older than an applied one, such as the newest one of an app. */
  includeAll?: boolean;
  /** The folder with `supabase/config.toml` and `supabase/migrations`; default: this project. */
  folder?: string;
  /** When the database takes connections: the CLI, which needs a second to load, loads before. Default: now. */
  ready?: Promise<void>;
  log?: (line: string) => void;
};

/**
 * Applies the missing migrations with the Supabase CLI, as in production; needs no network. If one fails, the earlier
 * ones stay applied. @throws Error with the output of the CLI
 */
export async function migrate(
  { url, seed, includeAll = false, folder = root, ready, log }: MigrateOptions,
): Promise<void> {
  const port = ready && waitAtPort(url, ready);
  const remote = splitPassword(port?.url ?? url);
  const cli = spawnChild({
    name: 'migrate',
    command: Deno.execPath(),
    args: [
      ...['run', '-A', '--no-lock', '--no-config', `${root}/node_modules/supabase/dist/supabase.js`],
      ...['db', 'push', `--remote=${remote.url}`, '--yes', '--workdir', folder],
      ...(seed ? ['--include-seed'] : []),
      ...(includeAll ? ['--include-all'] : []),
    ],
    env: {
      ...denoEnvironment(),
      PATH: Deno.env.get('PATH') ?? '',
      SUPABASE_TELEMETRY_DISABLED: '1',
      DO_NOT_TRACK: '1',
      PGPASSWORD: remote.password,
      // Without it the CLI warns that the local server has no TLS.
      PGSSLMODE: 'disable',
    },
    log,
  });
  const { success, code } = await cli.exited;
  port?.close();
  if (!success) throw new Error(`supabase db push failed with code ${code}:\n${cli.lastLines().join('\n')}`);
}
