import { createApp } from '../../supabase/functions/api/app.ts';
import { createAuth } from '../../supabase/functions/api/auth.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';
import { createDatabase } from '../../supabase/functions/api/database.ts';
import { createGateway } from '../../supabase/functions/api/gateway.ts';
import { createRestTransport } from '../../supabase/functions/api/rest-transport.ts';
import { createSenders } from '../../supabase/functions/api/senders.ts';
import { createSupabaseClient } from '../../supabase/functions/api/supabase-client.ts';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { createFunction } from '../../scripts/stack/function.ts';
import { root } from '../../scripts/stack/root.ts';

/** Every way in which the service is run, by name. */
export const targets = ['in process', "served on today's Deno", 'served on Deno 2.1.4'] as const;
export type Target = (typeof targets)[number];

/** The service as a caller has it. */
export type RunningService = {
  /** Sends a request; the path starts with /api. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON lines that it logged so far. */
  readonly log: readonly Record<string, unknown>[];
  /** Every line that it wrote so far, JSON or not. */
  readonly output: readonly string[];
  stop(): Promise<void>;
};

/** Secrets that the tests sign with. */
export const secrets = {
  GATEWAY_KEY_ID: 'key_test',
  GATEWAY_KEY_SECRET: 'test-key-secret',
  GATEWAY_WEBHOOK_SECRET: 'test-webhook-secret',
} as const;

/** Starts the service against a project's API. `environment` overrides; an empty value is "not configured". */
export async function startService(
  target: Target,
  apiUrl: string,
  environment: Record<string, string> = {},
  fetchThrough: typeof fetch = fetch,
): Promise<RunningService> {
  const env: Record<string, string> = {
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: localKeys.publishable }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: localKeys.secret }),
    ...secrets,
    ...environment,
  };
  const log: Record<string, unknown>[] = [];
  const output: string[] = [];
  if (target === 'in process') {
    const config = readConfig((name) => env[name]);
    const gateway = createGateway(config.gateway);
    const app = createApp(config, {
      auth: createAuth(createSupabaseClient(config.supabaseUrl, config.publishableKey, fetchThrough)),
      database: createDatabase(
        createRestTransport(createSupabaseClient(config.supabaseUrl, config.secretKey, fetchThrough)),
        config,
      ),
      gateway,
      senders: createSenders(config, gateway),
    }, (entry) => {
      log.push({ ...entry });
      output.push(JSON.stringify(entry));
    });
    return {
      request: async (path, init) => await app.fetch(new Request(`http://127.0.0.1${path}`, init)),
      log,
      output,
      stop: () => Promise.resolve(),
    };
  }

  const served = createFunction({
    port: 0,
    env,
    denoPath: target === 'served on Deno 2.1.4' ? `${root}/node_modules/deno-hosted/deno` : undefined,
    log: (line) => {
      output.push(line);
      if (line.startsWith('{')) log.push(JSON.parse(line));
    },
  });
  await served.start();
  await served.ready();
  return { request: (path, init) => fetch(served.url + path, init), log, output, stop: () => served.stop() };
}
