import { root } from '../../scripts/stack/root.ts';

/** The output and the exit code of a run of the doctor. */
export type DoctorRun = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs `scripts/doctor.ts` as `npm run doctor` does, without a terminal and with only these environment variables. */
export async function runDoctor(args: string[], environment: Record<string, string> = {}): Promise<DoctorRun> {
  const env: Record<string, string> = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
  for (const name of ['PATH', 'HOME', 'DENO_DIR']) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', `${root}/scripts/doctor.ts`, ...args],
    cwd: root,
    clearEnv: true,
    env: { ...env, ...environment },
    stdin: 'null',
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** The lines of a run that start with a text, without their padding. */
export function linesOf({ stdout }: DoctorRun, start: string): string[] {
  return stdout.split('\n').map((line) => line.replace(/ +/g, ' ')).filter((line) => line.startsWith(start));
}

/** The status of each check in a run with `--json`. */
export function statuses({ stdout }: DoctorRun): Record<string, string> {
  const results: { check: string; status: string }[] = JSON.parse(stdout);
  return Object.fromEntries(results.map(({ check, status }) => [check, status]));
}
