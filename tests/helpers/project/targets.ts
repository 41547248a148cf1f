import { createApp } from '../../../supabase/functions/api/app.ts';
import { createAuth } from '../../../supabase/functions/api/sessions/auth.ts';
import { readConfig } from '../../../supabase/functions/api/config.ts';
import { createDatabase } from '../../../supabase/functions/api/database/database.ts';
import { createGateway } from '../../../supabase/functions/api/gateway/gateway.ts';
import { createSenders } from '../../../supabase/functions/api/outbox/senders.ts';
import { secrets } from '../gateway/sign.ts';
import { withDescribedAnswers } from '../http/described-answers.ts';
import { createTransport } from '../../../supabase/functions/api/database/transport.ts';
import { localKeys } from './keys.ts';
import { createFunction } from '../../../scripts/stack/function/function.ts';
import { root } from '../../../scripts/stack/root.ts';

/** A way to run the service: the app in this process, or the served function on one of two versions of Deno. */
export type Target = `${'in process' | "served on today's Deno" | 'served on Deno 2.1.4'}${'' | ' over the pool'}`;
/** Whether the service calls the database over the pool, not over REST. */
export function isOverPool(target: Target): boolean {
  return target.endsWith(' over the pool');
}

/** The addresses of a project. Only targets over the pool use `poolUrl`. */
export type Addresses = { readonly apiUrl: string; readonly poolUrl: string };

/** The running service, as a caller uses it. */
export type RunningService = {
  /** Sends a request; the path starts with /api. @throws when the answer is not as the API description says */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON lines of its log so far. */
  readonly log: readonly Record<string, unknown>[];
  /** All lines of its output so far. */
  readonly output: readonly string[];
  stop(): Promise<void>;
};

/** Starts the service for a project. `environment` overrides variables; an empty value means not configured. */
export async function startService(
  target: Target,
  { apiUrl, poolUrl }: Addresses,
  environment: Record<string, string> = {},
  fetchThrough: typeof fetch = fetch,
): Promise<RunningService> {
  const env: Record<string, string> = {
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: localKeys.publishable }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: localKeys.secret }),
    ...(isOverPool(target) ? { DATABASE_POOL_URL: poolUrl } : {}),
    ...secrets,
    ...environment,
  };
  const log: Record<string, unknown>[] = [];
  const output: string[] = [];
  if (target.startsWith('in process')) {
    const config = readConfig((name) => env[name]);
    const gateway = createGateway(config.gateway);
    const transport = await createTransport(config, fetchThrough);
    let isStopped = false;
    // A dispatcher that still waits must not reach the database of the next file.
    const database = createDatabase(
      (...call) => isStopped ? Promise.reject(new Error('stopped')) : transport(...call),
      config,
    );
    const app = createApp(config, {
      auth: createAuth(config, fetchThrough),
      database,
      gateway,
      senders: createSenders(config, gateway, database),
    }, (entry) => {
      log.push({ ...entry });
      output.push(JSON.stringify(entry));
    });
    return {
      request: withDescribedAnswers(async (path, init) =>
        await app.fetch(new Request(`http://127.0.0.1${path}`, init))
      ),
      log,
      output,
      stop() {
        isStopped = true;
        return Promise.resolve();
      },
    };
  }

  const isHosted = target.startsWith('served on Deno 2.1.4');
  const served = createFunction({
    port: 0,
    // A Deno discards the compiled code that another version left in its folder, so each version has its own.
    env: isHosted ? { ...env, DENO_DIR: `${root}/node_modules/.cache/deno-hosted` } : env,
    denoPath: isHosted ? `${root}/node_modules/deno-hosted/deno` : undefined,
    log: (line) => {
      output.push(line);
      if (line.startsWith('{')) log.push(JSON.parse(line));
    },
  });
  await served.start();
  await served.ready();
  return {
    request: withDescribedAnswers((path, init) => fetch(served.url + path, init)),
    log,
    output,
    stop: () => served.stop(),
  };
}
