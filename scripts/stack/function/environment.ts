import { parseEnv } from 'node:util';
import { presetOf } from '../../../supabase/functions/api/config-presets.ts';
import { isLoopback } from '../http/local-host.ts';
import { writeLine } from '../process/child.ts';
import { root } from '../root.ts';

/**
 * The variables of the function, the mailbox and the simulator: from the process environment, else from
 * `supabase/functions/.env`, else from the defaults, else from the preset of GATEWAY. An empty value means "not configured" and is kept. Only names of
 * `supabase/functions/.env.example` and of the defaults are read.
 * @param unused names that are not taken from the file
 */
export async function readEnvironment(
  processEnvironment: Record<string, string>,
  defaults: Record<string, string>,
  envFile = `${root}/supabase/functions/.env`,
  unused: readonly string[] = [],
): Promise<Record<string, string>> {
  const names = new Set([...await functionVariables(), ...Object.keys(defaults)]);
  const file = await readEnvFile(envFile);
  const environment: Record<string, string> = {};
  for (const name of names) {
    const value = processEnvironment[name] ?? (unused.includes(name) ? undefined : file[name]) ?? defaults[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const [name, value] of Object.entries(presetOf(environment.GATEWAY))) environment[name] ||= value;
  return environment;
}

/** The variables with a server that the function calls. APP_URL is only linked to. */
const calledServers = ['DATABASE_POOL_URL', 'GATEWAY_API_URL', 'RESEND_BASE_URL', 'REVALIDATE_URL', 'EVENTS_URL'];

/**
 * The variables of the function, with an app those of its file, but for servers outside of this machine: the file is the one
 * that is deployed, and a local stack must neither write to a hosted database nor send signed events to customers' app.
 */
export async function readProjectEnvironment(
  project: string | undefined,
  processEnvironment: Record<string, string>,
  defaults: Record<string, string>,
): Promise<Record<string, string>> {
  if (project === undefined) return await readEnvironment(processEnvironment, defaults);
  const envFile = `${project}/supabase/functions/.env`;
  const file = await readEnvFile(envFile);
  const outside = calledServers.filter((name) =>
    processEnvironment[name] === undefined && file[name] && !isLoopback(file[name])
  );
  if (outside.length > 0) {
    const wayOut = 'To use one, set it in the environment of npm start.';
    writeLine(`Not used from ${envFile}: ${outside.join(', ')}, outside of this machine. ${wayOut}`);
  }
  return await readEnvironment(processEnvironment, defaults, envFile, outside);
}

/**
 * The names in `supabase/functions/.env.example`, also those that are commented out: all variables that the function
 * reads, except those of the platform.
 */
export async function functionVariables(): Promise<string[]> {
  const example = await Deno.readTextFile(`${root}/supabase/functions/.env.example`);
  const names = [...example.matchAll(/^(?:# ?)?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name ?? '');
  return names.filter((name) => !name.startsWith('SUPABASE_'));
}

async function readEnvFile(path: string): Promise<Record<string, string | undefined>> {
  try {
    return parseEnv(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}
