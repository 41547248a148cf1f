import { type Child, spawnChild, writeLine } from '../process/child.ts';
import { denoEnvironment } from '../process/deno-environment.ts';
import { root } from '../root.ts';
import type { Service } from '../service.ts';
import { waitUntilSilent, type WatchTimes } from './watch-lite.ts';

/** The settings of Lite's process. */
export type LiteSettings = {
  databaseUrl: string;
  jwtSecret: string;
  publishableKey: string;
  secretKey: string;
  /** Target of links in auth mails: the app. */
  siteUrl: string;
  /** The public port of Studio: requests for another port are refused. Undefined: no Studio. */
  studioPort?: number;
};

/** Supabase Lite. The system chooses its ports, and a restart changes them: read the URL for each request. */
export type Lite = Service & {
  /** Base URL of the API. Waits while Lite restarts; undefined after `waitMs`. */
  apiUrl(waitMs?: number): Promise<string | undefined>;
  /** Base URL of the Studio listener. Waits like `apiUrl`. */
  studioUrl(waitMs?: number): Promise<string | undefined>;
  /** Process id; undefined between two processes. */
  pid(): number | undefined;
};

type Ports = { api: number; studio?: number };

const readyWithinMs = 30_000;
const maxBackoffMs = 2000;

/**
 * Runs Lite on a database. Restarts it when it ends without `stop`, and when it is silent while Postgres answers. Lite reads the schema once, so that it connects
 * only after `migrated` is resolved; it loads before.
 */
export function createLite(
  settings: LiteSettings,
  { log, migrated = Promise.resolve(), watch = { everyMs: 2000, silentMs: 10_000 } }: {
    log?: (line: string) => void;
    migrated?: Promise<void>;
    watch?: WatchTimes;
  } = {},
): Lite {
  let child: Child | undefined;
  let lastLines = (): string[] => [];
  let running = false;
  let backoffMs = 100;
  let ports = Promise.withResolvers<Ports>();

  function startProcess(): void {
    let up = false;
    const listening = ports;
    const lite = spawnChild({
      name: 'lite',
      command: Deno.execPath(),
      args: ['run', ...permissions, '--no-prompt', '--no-lock', `${root}/scripts/stack/supabase-lite/lite-process.ts`],
      cwd: root,
      env: { ...denoEnvironment(), LITE_TELEMETRY: '0', DO_NOT_TRACK: '1' },
      input: migrated.then(() => JSON.stringify(settings)),
      log,
      onLine(line) {
        if (!line.startsWith('{"event":"listening"')) return;
        up = true;
        const started: Ports = JSON.parse(line);
        listening.resolve(started);
        void replaceWhenSilent(started.api);
      },
    });
    const replaceWhenSilent = async (port: number) => {
      const isOver = () => child !== lite;
      if (!await waitUntilSilent(`http://127.0.0.1:${port}`, settings.databaseUrl, isOver, watch)) return;
      (log ?? writeLine)('[lite] does not answer while Postgres does: it is replaced');
      await lite.end();
    };
    child = lite;
    lastLines = lite.lastLines;
    const startedAt = performance.now();
    void lite.exited.then(() => {
      if (child !== lite) return;
      child = undefined;
      if (up) ports = Promise.withResolvers();
      // After a crash restart at once; a process that can't start gets an exponential backoff.
      backoffMs = performance.now() - startedAt > 5000 ? 100 : Math.min(backoffMs * 2, maxBackoffMs);
      setTimeout(() => running && startProcess(), backoffMs);
    });
  }

  async function address(pick: (ports: Ports) => number | undefined, waitMs: number): Promise<string | undefined> {
    const port = await within(ports.promise.then(pick), waitMs);
    return port === undefined ? undefined : `http://127.0.0.1:${port}`;
  }

  return {
    name: 'Lite',
    start() {
      running = true;
      startProcess();
      return Promise.resolve();
    },
    async ready() {
      if (await within(ports.promise, readyWithinMs) === undefined) {
        throw new Error(`Lite did not start:\n${lastLines().join('\n')}`);
      }
    },
    async stop() {
      running = false;
      const lite = child;
      child = undefined;
      ports = Promise.withResolvers();
      await lite?.end('SIGTERM');
    },
    apiUrl: (waitMs = 3000) => address(({ api }) => api, waitMs),
    studioUrl: (waitMs = 3000) => address(({ studio }) => studio, waitMs),
    pid: () => child?.pid,
  };
}

// Lite connects only to programs on this machine.
const permissions = ['--allow-net=127.0.0.1', '--allow-env', '--allow-sys', `--allow-read=${root}`];

async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(timeout.resolve, milliseconds, undefined);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
