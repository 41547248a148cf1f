import { type ChildOptions, spawnChild } from '../../scripts/stack/process/child.ts';
import { denoEnvironment } from '../../scripts/stack/process/deno-environment.ts';
import { root } from '../../scripts/stack/root.ts';

/** A server of the bench in its own process, so that its CPU and memory are separate from the load generator's. */
export type BenchProcess = { readonly pid: number; readonly port: number; stop(): Promise<void> };

/** Starts a file of this folder on Deno and waits until it prints its port. */
export function startBenchProcess(file: string, env: Record<string, string>): Promise<BenchProcess> {
  return startServerProcess({
    name: file,
    command: Deno.execPath(),
    args: ['run', '-A', '--cached-only', '--node-modules-dir=manual', `${root}/tests/bench/${file}`],
    cwd: root,
    env: { ...denoEnvironment(), ...env },
  });
}

/** Starts a program and waits until it prints its port. @throws Error with its last output when it exits */
export async function startServerProcess(program: Omit<ChildOptions, 'log' | 'onLine'>): Promise<BenchProcess> {
  const listening = Promise.withResolvers<number>();
  const child = spawnChild({
    ...program,
    log: () => {},
    onLine(line) {
      if (line.startsWith('{"event":"listening"')) listening.resolve(JSON.parse(line).port);
    },
  });
  void child.exited.then(() => listening.reject(new Error(child.lastLines().join('\n'))));
  return { pid: child.pid, port: await listening.promise, stop: () => child.end('SIGTERM') };
}
