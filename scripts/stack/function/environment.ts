import { parseEnv } from 'node:util';
import { root } from '../root.ts';

/**
 * The variables of the function and of the services that stand in around it: the process environment wins over
 * `supabase/functions/.env`, and the local defaults fill the rest. An empty value is a value: it says "not configured"
 * and is not filled. The names are those of `supabase/functions/.env.example` and of the defaults; any other variable of
 * the process stays out.
 */
export async function readEnvironment(
  processEnvironment: Record<string, string>,
  defaults: Record<string, string>,
  envFile = `${root}/supabase/functions/.env`,
): Promise<Record<string, string>> {
  const names = new Set([...await functionVariables(), ...Object.keys(defaults)]);
  const file = await readEnvFile(envFile);
  const environment: Record<string, string> = {};
  for (const name of names) {
    const value = processEnvironment[name] ?? file[name] ?? defaults[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/**
 * The names in `supabase/functions/.env.example`, commented out or not: every variable that the function reads, but the
 * platform's.
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
