/** Reads an environment variable by name; a missing and an empty one are the same: not configured. */
export type Environment = (name: string) => string | undefined;

/** Everything that the function can be told from outside. */
export type Config = {
  readonly supabaseUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Key id and secret of the gateway's API; null: payments are not configured (SPEC 4, verify, step 1). */
  readonly gateway: { readonly keyId: string; readonly keySecret: string } | null;
  /** Either verifies a webhook; empty: webhooks are not configured. */
  readonly webhookSecrets: readonly string[];
  readonly signatureHeader: string;
  readonly eventIdHeader: string;
  readonly earlyRenewal: 'replace' | 'extend';
  /** Local only: the hosted platform decides itself where the function listens. */
  readonly port: number | null;
  /** Names of the missing variables whose feature is therefore off. */
  readonly missing: readonly string[];
};

/**
 * Reads the configuration; the only place that knows the variables' names.
 * @throws Error naming the variable, when one without which nothing works is missing or a value makes no sense.
 */
export function readConfig(environment: Environment): Config {
  const read = (name: string) => environment(name) || null;
  const defaultKey = (name: string) => readDefaultKey(read(name), name);
  const keyId = read('GATEWAY_KEY_ID');
  const keySecret = read('GATEWAY_KEY_SECRET');
  const webhookSecret = read('GATEWAY_WEBHOOK_SECRET');
  const previousWebhookSecret = read('GATEWAY_WEBHOOK_SECRET_PREVIOUS');
  const features = { GATEWAY_KEY_ID: keyId, GATEWAY_KEY_SECRET: keySecret, GATEWAY_WEBHOOK_SECRET: webhookSecret };

  return {
    supabaseUrl: httpUrl(read('SUPABASE_URL') ?? missing('SUPABASE_URL'), 'SUPABASE_URL'),
    publishableKey: defaultKey('SUPABASE_PUBLISHABLE_KEYS') ?? read('SUPABASE_ANON_KEY') ??
      missing('SUPABASE_PUBLISHABLE_KEYS'),
    secretKey: defaultKey('SUPABASE_SECRET_KEYS') ?? read('SUPABASE_SERVICE_ROLE_KEY') ??
      missing('SUPABASE_SECRET_KEYS'),
    gateway: keyId && keySecret ? { keyId, keySecret } : null,
    webhookSecrets: [webhookSecret, previousWebhookSecret].filter((secret) => secret !== null),
    signatureHeader: headerName(read('GATEWAY_SIGNATURE_HEADER') ?? 'x-gateway-signature', 'GATEWAY_SIGNATURE_HEADER'),
    eventIdHeader: headerName(read('GATEWAY_EVENT_ID_HEADER') ?? 'x-gateway-event-id', 'GATEWAY_EVENT_ID_HEADER'),
    earlyRenewal: earlyRenewal(read('EARLY_RENEWAL') ?? 'replace'),
    port: port(read('PORT')),
    missing: Object.entries(features).filter(([, value]) => value === null).map(([name]) => name),
  };
}

function missing(name: string): never {
  throw new Error(`${name} is not set`);
}

/** Entry `default` of a JSON object of keys, as the platform sets it. */
function readDefaultKey(json: string | null, name: string): string | null {
  if (json === null) return null;
  try {
    const keys: unknown = JSON.parse(json);
    const key = typeof keys === 'object' && keys !== null ? Reflect.get(keys, 'default') : null;
    return typeof key === 'string' && key !== '' ? key : null;
  } catch {
    throw new Error(`${name} is not JSON`);
  }
}

function httpUrl(value: string, name: string): string {
  if (/^https?:$/.test(URL.parse(value)?.protocol ?? '')) return value;
  throw new Error(`${name} is not an http(s) address`);
}

/** Reading a header by a name that can be none would throw at every request. */
function headerName(value: string, name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value;
  throw new Error(`${name} is not the name of a header`);
}

function earlyRenewal(value: string): 'replace' | 'extend' {
  if (value === 'replace' || value === 'extend') return value;
  throw new Error('EARLY_RENEWAL is neither "replace" nor "extend"');
}

function port(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65535) return Number(value);
  throw new Error('PORT is not a port number');
}
