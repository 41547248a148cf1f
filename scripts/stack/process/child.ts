import { readLines } from './read-lines.ts';

/** A program that the local stack started. */
export type Child = {
  readonly pid: number;
  /** Resolves when the program has ended, with any status. */
  readonly exited: Promise<Deno.CommandStatus>;
  /** The last lines of its output, oldest first: usually the reason of a crash. */
  lastLines(): string[];
  /** Sends the signals and then SIGKILL, five seconds apart, until the program has ended. */
  end(...signals: Deno.Signal[]): Promise<void>;
};

export type ChildOptions = {
  /** Prefix of its log lines. */
  name: string;
  command: string;
  args: string[];
  /** The whole environment: no variable is inherited. */
  env: Record<string, string>;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Written to its stdin as soon as it is there. By default stdin is empty. */
  input?: Promise<string>;
  /** Called with each line of stdout and stderr. */
  onLine?: (line: string) => void;
  /** Default: writes to stderr, with the name as prefix. */
  log?: (line: string) => void;
};

const keptLines = 20;
const graceMs = 5000;

/**
 * Starts a program in its own process group: Ctrl-C in the terminal reaches only this process, which then ends the
 * programs in order. @throws the error of `Deno.Command` when the program can't be run
 */
export function spawnChild(options: ChildOptions): Child {
  const log = options.log ?? ((line: string) => writeLine(`[${options.name}] ${line}`));
  const child = new Deno.Command(options.command, {
    args: options.args,
    cwd: options.cwd,
    clearEnv: true,
    env: options.env,
    uid: options.uid,
    gid: options.gid,
    stdin: options.input ? 'piped' : 'null',
    stdout: 'piped',
    stderr: 'piped',
    detached: true,
  }).spawn();
  // A program that has ended already reads no input.
  void options.input?.then((text) => new Blob([text]).stream().pipeTo(child.stdin)).catch(() => {});

  const last: string[] = [];
  const onLine = (line: string) => {
    last.push(line);
    if (last.length > keptLines) last.shift();
    log(line);
    options.onLine?.(line);
  };
  const read = Promise.all([readLines(child.stdout, onLine), readLines(child.stderr, onLine)]);

  const watchdog = startWatchdog(child.pid);
  const exited = child.status.then(async (status) => {
    watchdog.end();
    // The last output may still be in the pipe. The time limit is needed because a grandchild may keep the pipe open.
    await Promise.race([read, delay(200)]);
    return status;
  });

  return {
    pid: child.pid,
    exited,
    lastLines: () => [...last],
    async end(...signals) {
      for (const signal of [...signals, 'SIGKILL'] satisfies Deno.Signal[]) {
        try {
          child.kill(signal);
          child.kill('SIGCONT'); // a stopped program handles no signal but SIGKILL until it continues
        } catch {
          break; // it has ended already
        }
        if (await Promise.race([exited, delay(graceMs)])) break;
      }
      await exited;
    },
  };
}

/**
 * Writes one line to stderr: stdout is only for the `NAME="value"` lines. A line may quote a request, so control
 * characters are escaped: a terminal would obey them.
 */
export function writeLine(line: string): void {
  const text = line.replace(/[^\P{Cc}\t\n]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

// Blocks until its stdin is closed, then sends SIGINT and, after five seconds, SIGKILL.
const watchdogScript = `
read -r _
kill -INT "$0"
for _ in 1 2 3 4 5; do
  sleep 1
  kill -0 "$0" || exit
done
kill -KILL "$0"`;

/**
 * Ends the program when this process dies without doing so. After a SIGKILL this process can't clean up, but the system
 * closes the pipe that the watchdog's shell reads from.
 */
function startWatchdog(pid: number): { end(): void } {
  const shell = new Deno.Command('/bin/sh', {
    args: ['-c', watchdogScript, String(pid)],
    clearEnv: true,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'piped',
    stdout: 'null',
    stderr: 'null',
    detached: true,
  }).spawn();
  shell.unref();
  return {
    end() {
      try {
        shell.kill('SIGKILL');
      } catch {
        // The shell has ended already.
      }
    },
  };
}

function delay(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds, undefined);
    Deno.unrefTimer(timer);
  });
}
