import { type Child, spawnChild } from '../process/child.ts';
import { denoEnvironment } from '../process/deno-environment.ts';
import { functionVariables } from './environment.ts';
import { root } from '../root.ts';
import type { Service } from '../service.ts';

/** The Edge Function `api`, served on 127.0.0.1. */
export type EdgeFunction = Service & {
  /** Its base URL; throws before `ready`. Paths start with the function's own name: `/api/subscriptions`. */
  readonly url: string;
  /** Process id; undefined while it doesn't run. */
  pid(): number | undefined;
};

export type FunctionOptions = {
  /** The Deno to run it on; default: the one that runs this. */
  denoPath?: string;
  /** 0 lets the system choose. */
  port: number;
  /** Its environment; it gets no other variable. */
  env: Record<string, string>;
  log?: (line: string) => void;
  /** Told when the function ends without having been asked to. */
  onCrash?: (error: Error) => void;
};

const readyWithinMs = 30_000;

/** The hosted platform leaves an isolate 256 MB in all: told of a limit, V8 collects in time. Far more than is ever in use. */
const smallHeap = ['--max-old-space-size=96', '--max-semi-space-size=8'];

/** The function under the permissions that it needs: its variables and the hosts that it calls; no file, no program. */
export function createFunction(options: FunctionOptions): EdgeFunction {
  let child: Child | undefined;
  let listening = Promise.withResolvers<string>();
  let url: string | undefined;

  return {
    name: 'function',
    async start() {
      const address = listening = Promise.withResolvers<string>();
      address.promise.catch(() => {}); // told by `ready`, if anybody asks
      const program = spawnChild({
        name: 'function',
        command: options.denoPath ?? Deno.execPath(),
        args: [
          ...['run', '--no-prompt', '--no-lock', '--cached-only', '--node-modules-dir=manual'],
          ...['--config', `${root}/supabase/functions/api/deno.json`],
          `--v8-flags=${smallHeap.join(',')}`,
          `--allow-net=${allowedHosts(options.env).join(',')}`,
          `--allow-env=${[...await functionVariables(), ...platformVariables, ...probedVariables].join(',')}`,
          `${root}/supabase/functions/api/index.ts`,
        ],
        cwd: root,
        env: { ...denoEnvironment(), ...options.env, PORT: String(options.port) },
        log: options.log,
        onLine(line) {
          const port = listeningPort(line);
          if (port !== undefined) address.resolve(url = `http://127.0.0.1:${port}`);
        },
      });
      child = program;
      void program.exited.then((status) => {
        const asked = child !== program;
        const error = new Error(
          `The function ended with code ${status.code}:\n${program.lastLines().join('\n')}`,
        );
        address.reject(error);
        if (asked) return;
        child = undefined;
        options.onCrash?.(error);
      });
    },
    async ready() {
      const timeout = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        timeout.reject(new Error(`The function did not say that it listens:\n${child?.lastLines().join('\n')}`));
      }, readyWithinMs);
      try {
        await Promise.race([listening.promise, timeout.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    async stop() {
      const program = child;
      child = undefined;
      url = undefined;
      await program?.end('SIGTERM');
    },
    get url() {
      if (url === undefined) throw new Error('The function has no address before it listens');
      return url;
    },
    pid: () => child?.pid,
  };
}

/** What a hosted function is given. */
const platformVariables = [
  'SUPABASE_URL',
  'SUPABASE_PUBLISHABLE_KEYS',
  'SUPABASE_SECRET_KEYS',
  'SUPABASE_ANON_KEY',
  'SUPABASE_SERVICE_ROLE_KEY',
  'SUPABASE_JWKS',
  'SUPABASE_DB_URL',
  'PORT',
];

/** What a Postgres driver and Resend's client look for and do without; a refused look would throw. */
const probedVariables = ['PG*', 'RESEND_USER_AGENT', 'RESEND_DEBUG'];

/** The variables that hold an address which the function calls. */
const addressVariables = [
  'SUPABASE_URL',
  'SUPABASE_DB_URL',
  'DATABASE_POOL_URL',
  'APP_URL',
  'REVALIDATE_URL',
  'GATEWAY_API_URL',
  'RESEND_BASE_URL',
];

function allowedHosts(env: Record<string, string>): string[] {
  const hosts = addressVariables.flatMap((name) => {
    const url = env[name] ?? '';
    return URL.canParse(url) ? [new URL(url).hostname] : [];
  });
  // Without an address of its own the mailer calls Resend.
  if (env.RESEND_API_KEY && !env.RESEND_BASE_URL) hosts.push('api.resend.com');
  return [...new Set(['127.0.0.1', ...hosts])].filter((host) => host !== '');
}

function listeningPort(line: string): number | undefined {
  if (!line.includes('"listening"')) return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null) return undefined;
    if (!('event' in entry) || entry.event !== 'listening' || !('port' in entry)) return undefined;
    return typeof entry.port === 'number' ? entry.port : undefined;
  } catch {
    return undefined;
  }
}
