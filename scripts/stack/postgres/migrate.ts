import { spawnChild } from '../process/child.ts';
import { denoEnvironment } from '../process/deno-environment.ts';
import { root } from '../root.ts';

export type MigrateOptions = {
  /** The database. */
  url: string;
  /** Whether to add the sample data of `supabase/seed.sql`, unless they are there already. */
  seed: boolean;
  log?: (line: string) => void;
};

/**
 * Applies the migrations that the database lacks, with the Supabase CLI as in production; needs no network. Throws with
 * the CLI's own words when one fails; those before it stay applied.
 */
export async function migrate({ url, seed, log }: MigrateOptions): Promise<void> {
  const cli = spawnChild({
    name: 'migrate',
    command: Deno.execPath(),
    args: [
      ...['run', '-A', '--no-lock', '--no-config', `${root}/node_modules/supabase/dist/supabase.js`],
      ...['db', 'push', `--remote=${url}`, '--yes', '--workdir', root],
      ...(seed ? ['--include-seed'] : []),
    ],
    env: {
      ...denoEnvironment(),
      PATH: Deno.env.get('PATH') ?? '',
      SUPABASE_TELEMETRY_DISABLED: '1',
      DO_NOT_TRACK: '1',
      // Spares a warning about the missing TLS of a server on this very machine.
      PGSSLMODE: 'disable',
    },
    log,
  });
  const { success, code } = await cli.exited;
  if (!success) throw new Error(`supabase db push failed with code ${code}:\n${cli.lastLines().join('\n')}`);
}
