import { denoEnvironment } from '../../../scripts/stack/process/deno-environment.ts';
import { root } from '../../../scripts/stack/root.ts';

/** Runs a script on the hosted runtime's Deno, with the function's permissions. @returns the JSON that it prints */
export async function runHosted(script: string): Promise<unknown> {
  const { stdout, stderr } = await new Deno.Command(`${root}/node_modules/deno-hosted/deno`, {
    args: [
      ...['run', '--no-prompt', '--node-modules-dir=manual', '--no-lock', '--allow-net=127.0.0.1'],
      ...['--config', 'supabase/functions/api/deno.json', script],
    ],
    ...{ cwd: root, clearEnv: true, env: denoEnvironment() },
  }).output();
  const problems = new TextDecoder().decode(stderr);
  if (problems !== '') throw new Error(problems);
  return JSON.parse(new TextDecoder().decode(stdout));
}
