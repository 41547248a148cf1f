import { root } from '../../../scripts/stack/root.ts';

export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

type Options = { readonly cwd?: string; readonly env?: Record<string, string>; readonly clearEnv?: boolean };

/** Runs what `npm run <name>` runs, without a terminal, in the project or a copy of it. */
export async function runScript(
  name: string,
  args: readonly string[] = [],
  { cwd = root, ...options }: Options = {},
): Promise<Outcome> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', `scripts/${name}.ts`, ...args],
    ...{ cwd, stdin: 'null', ...options },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
