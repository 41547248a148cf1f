import { expect, vi } from 'vitest';
import { freePort, portNames } from '../../scripts/stack/ports.ts';
import { readLines } from '../../scripts/stack/process/read-lines.ts';
import { root } from '../../scripts/stack/root.ts';
import type { Findings } from '../helpers/database/findings.ts';
import { openDatabase } from '../helpers/database/test-database.ts';

export type RunningStack = ReturnType<typeof npmStart>;

export type Process = { pid: number; parent: number; command: string };

/** Runs a real `npm start` with the arguments; `cwd` is the project folder. */
export function npmStart(args: string[], env: Record<string, string> = {}, cwd = root) {
  const piped = { stdin: 'null', stdout: 'piped', stderr: 'piped' } as const;
  const npm = new Deno.Command('npm', { args: ['start', '--', ...args], cwd, env, ...piped }).spawn();
  const stdout: string[] = [];
  const stderr: string[] = [];
  const { promise: ready, resolve, reject } = Promise.withResolvers<Record<string, string>>();
  ready.catch(() => {}); // some stacks are started to fail
  const read = Promise.all([
    readLines(npm.stdout, (line) => {
      stdout.push(line);
      if (line !== 'ready') return;
      databaseUrl = values(stdout).DB_URL;
      resolve(values(stdout));
    }),
    readLines(npm.stderr, (line) => stderr.push(line)),
  ]);
  let running = true;
  let databaseUrl: string | undefined;
  const exited = npm.status.then(async (status) => {
    running = false;
    await read;
    reject(new Error(`npm start ended with code ${status.code}:\n${stderr.join('\n')}`));
    return status;
  });
  /**
   * Compares the findings of the database with the declared ones (by default none). Then sends SIGTERM to npm, as a
   * process manager does, unless it has ended, and waits for its end.
   */
  const end = async (findings: Findings | 'not compared' = {}) => {
    try {
      if (running && databaseUrl !== undefined && findings !== 'not compared') {
        await openDatabase(databaseUrl, { findings }).close();
      }
    } finally {
      if (running) npm.kill('SIGTERM');
    }
    return await exited;
  };
  /** `ready`: the printed values, after `ready` is printed. `processes`: all child processes of npm. */
  return { stdout, stderr, ready, exited, end, processes: () => descendants(npm.pid) };
}

/** The exit codes of npm after SIGTERM: of the script, or of a shell that did not replace itself by the script. */
export const stoppedCodes = [0, 143];

/** A base port whose ports are free. */
export const freeBasePort = () => freePort(portNames.length);

/** Waits until none of the processes is left. */
export async function expectGone(processes: Process[]): Promise<void> {
  await vi.waitFor(async () => {
    // A pid may belong to another program by now, so the command is compared, too. Zombie processes keep their pid.
    const left = (await listProcesses()).filter(({ pid, command }) =>
      processes.some((process) => process.pid === pid && process.command === command)
    );
    expect(left).toEqual([]);
  }, { timeout: 30_000, interval: 50 });
}

/** The data folder of the Postgres among the processes. */
export function dataFolderOf(processes: Process[]): string {
  const [, folder] = /native\/bin\/postgres -D (\S+)/.exec(processes.map(({ command }) => command).join('\n')) ?? [];
  if (!folder) throw new Error('no Postgres among the processes');
  return folder;
}

/** Every process of this machine. */
async function listProcesses(): Promise<Process[]> {
  const { stdout } = await new Deno.Command('ps', { args: ['-A', '-o', 'pid=,ppid=,args='] }).output();
  return new TextDecoder().decode(stdout).trim().split('\n').map((line) => {
    const [pid = '', parent = '', ...command] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), command: command.join(' ') };
  });
}

/** All child processes of a process. */
export async function descendants(pid: number): Promise<Process[]> {
  const all = await listProcesses();
  const below = (parent: number): Process[] =>
    all.filter((process) => process.parent === parent).flatMap((process) => [process, ...below(process.pid)]);
  return below(pid);
}

function values(lines: string[]): Record<string, string> {
  const settings = lines.join('\n').matchAll(/^([A-Z_]+)="(.*)"$/gm);
  return Object.fromEntries(Array.from(settings, ([, name = '', value = '']) => [name, value]));
}
