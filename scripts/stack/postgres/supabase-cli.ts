import { splitPassword } from './database-url.ts';
import { denoEnvironment } from '../process/deno-environment.ts';
import { root } from '../root.ts';

/**
 * Runs the Supabase CLI of this project on a local database.
 * @throws Error with the CLI's output when the exit code is not 0.
 */
export function supabaseCli(databaseUrl: string, ...command: string[]): Promise<string> {
  const { url, password } = splitPassword(databaseUrl);
  return runSupabase(password, ...command, `--remote=${url}`);
}

/** The same with the URLs, without their password, among the arguments. */
export async function runSupabase(password: string, ...command: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...[
        'run',
        '-A',
        '--no-lock',
        '--no-config',
        `${root}/node_modules/supabase/dist/supabase.js`,
      ],
      ...command,
      ...['--workdir', root],
    ],
    clearEnv: true,
    env: {
      ...denoEnvironment(),
      PATH: Deno.env.get('PATH') ?? '',
      SUPABASE_TELEMETRY_DISABLED: '1',
      DO_NOT_TRACK: '1',
      PGPASSWORD: password,
      // Without it the CLI warns that the local server has no TLS.
      PGSSLMODE: 'disable',
    },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (!success) {
    throw new Error(
      `supabase ${command.join(' ')} failed:\n${text(stdout)}\n${text(stderr)}`,
    );
  }
  return text(stdout);
}
