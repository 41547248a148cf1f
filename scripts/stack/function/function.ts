import { type Child, spawnChild } from '../process/child.ts';
import { denoEnvironment } from '../process/deno-environment.ts';
import { functionVariables } from './environment.ts';
import { root } from '../root.ts';
import type { Service } from '../service.ts';

/** The Edge Function `api`, served on 127.0.0.1. */
export type EdgeFunction = Service & {
  /** Base URL; throws before `ready`. Paths start with the function's name: `/api/subscriptions`. */
  readonly url: string;
  /** Process id; undefined while it is not running. */
  pid(): number | undefined;
};

export type FunctionOptions = {
  /** Path of Deno; default: the Deno of this process. */
  denoPath?: string;
  /** 0 lets the system choose. */
  port: number;
  /** The whole environment: no variable is inherited. */
  env: Record<string, string>;
  log?: (line: string) => void;
  /** Called when the function ends without `stop`. */
  onCrash?: (error: Error) => void;
};

const readyWithinMs = 30_000;

/** The hosted platform limits an isolate to 256 MB. With a heap limit V8 collects garbage in time. */
const heapLimits = ['--max-old-space-size=96', '--max-semi-space-size=8'];

/**
 * Runs the function with the permissions that it needs: its variables, its own folder and the hosts that it calls, no other
 * file, no program.
 */
export function createFunction(options: FunctionOptions): EdgeFunction {
  let child: Child | undefined;
  let listening = Promise.withResolvers<string>();
  let url: string | undefined;

  return {
    name: 'function',
    async start() {
      const address = listening = Promise.withResolvers<string>();
      address.promise.catch(() => {}); // `ready` reports the error, if it is called
      const program = spawnChild({
        name: 'function',
        command: options.denoPath ?? Deno.execPath(),
        args: [
          ...['run', '--no-prompt', '--no-lock', '--cached-only', '--node-modules-dir=manual'],
          ...['--config', `${root}/supabase/functions/api/deno.json`],
          `--v8-flags=${heapLimits.join(',')}`,
          // Deno reads modules that were loaded with the first request again, if `npm run generate` wrote them meanwhile.
          `--allow-read=${root}/supabase/functions/api`,
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
        const isExpected = child !== program;
        const error = new Error(
          `The function ended with code ${status.code}:\n${program.lastLines().join('\n')}`,
        );
        address.reject(error);
        if (isExpected) return;
        child = undefined;
        options.onCrash?.(error);
      });
    },
    async ready() {
      const timeout = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        timeout.reject(new Error(`The function did not start to listen:\n${child?.lastLines().join('\n')}`));
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
      if (url === undefined) throw new Error('The function has no URL before it listens');
      return url;
    },
    pid: () => child?.pid,
  };
}

/** The variables that the hosted platform sets. */
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

/** Optional variables of the Postgres driver and of Resend's client. Without the permission a read would throw. */
const probedVariables = ['PG*', 'RESEND_USER_AGENT', 'RESEND_DEBUG'];

/** The variables with a URL that the function calls. */
const addressVariables = [
  'SUPABASE_URL',
  'SUPABASE_DB_URL',
  'DATABASE_POOL_URL',
  'APP_URL',
  'REVALIDATE_URL',
  'GATEWAY_API_URL',
  'RESEND_BASE_URL',
  'EVENTS_URL',
];

function allowedHosts(env: Record<string, string>): string[] {
  const hosts = addressVariables.flatMap((name) => {
    const url = env[name] ?? '';
    return URL.canParse(url) ? [new URL(url).hostname] : [];
  });
  // The default of RESEND_BASE_URL.
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
