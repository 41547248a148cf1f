import { readLines } from './read-lines.ts';

/** A running program of the local stack. */
export type Child = {
  readonly pid: number;
  /** Resolves when the program has ended, however it ended. */
  readonly exited: Promise<Deno.CommandStatus>;
  /** What it last said, oldest line first: the reason of a crash, as a rule. */
  lastLines(): string[];
  /** Sends the signals one after the other, some seconds apart, at last SIGKILL; returns when the program has ended. */
  end(...signals: Deno.Signal[]): Promise<void>;
};

export type ChildOptions = {
  /** Prefix of its lines on stderr. */
  name: string;
  command: string;
  args: string[];
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Sees each line of its stdout and stderr. */
  onLine?: (line: string) => void;
  /** Where the lines go; default: stderr, under the name. */
  log?: (line: string) => void;
};

const keptLines = 20;
const graceMs = 5000;

/**
 * Starts a program in a process group of its own: Ctrl-C in the terminal reaches the supervisor alone, which then ends
 * the programs in order. Throws what `Deno.Command` throws when the program can't be run.
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
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
    detached: true,
  }).spawn();

  const last: string[] = [];
  const onLine = (line: string) => {
    last.push(line);
    if (last.length > keptLines) last.shift();
    log(line);
    options.onLine?.(line);
  };
  const read = Promise.all([readLines(child.stdout, onLine), readLines(child.stderr, onLine)]);

  const warden = watchOver(child.pid);
  const exited = child.status.then(async (status) => {
    warden.end();
    // Its last words may still be in the pipe; a grandchild may hold the pipe open for longer.
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
          child.kill('SIGCONT'); // a paused program obeys nothing but SIGKILL until it goes on
        } catch {
          break; // it has ended already
        }
        if (await Promise.race([exited, delay(graceMs)])) break;
      }
      await exited;
    },
  };
}

/** Writes one line to stderr: stdout belongs to the `NAME="value"` lines. */
export function writeLine(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

// Asks, waits up to five seconds, then insists.
const wardenScript = `
read -r _
kill -INT "$0"
for _ in 1 2 3 4 5; do
  sleep 1
  kill -0 "$0" || exit
done
kill -KILL "$0"`;

/**
 * Ends the program when this process dies without ending it: a SIGKILL leaves no chance to clean up, but it does close
 * the pipe that a small shell waits on.
 */
function watchOver(pid: number): { end(): void } {
  const warden = new Deno.Command('/bin/sh', {
    args: ['-c', wardenScript, String(pid)],
    clearEnv: true,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'piped',
    stdout: 'null',
    stderr: 'null',
    detached: true,
  }).spawn();
  warden.unref();
  return {
    end() {
      try {
        warden.kill('SIGKILL');
      } catch {
        // It ended by itself: nothing is left to end.
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
