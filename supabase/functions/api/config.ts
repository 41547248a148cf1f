/** Reads an environment variable by name; a missing and an empty one are the same: not configured. */
export type Environment = (name: string) => string | undefined;

/** Everything that the function can be told from outside. */
export type Config = {
  readonly supabaseUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Who signed the sessions that are checked here, as they name it. */
  readonly sessionIssuer: string;
  /** Postgres, through a transaction pooler or not; null: the database is called over REST. */
  readonly databasePoolUrl: string | null;
  /** PEM of who signed the certificate of that Postgres; null: its address says whether the connection is encrypted. */
  readonly databasePoolCa: string | null;
  /** Key id and secret of the gateway's API; null: payments are not configured (SPEC 4, verify, step 1). */
  readonly gateway: GatewayConfig | null;
  /** Either verifies what a checkout handed to the client; empty: payments are not configured. */
  readonly checkoutSecrets: readonly string[];
  /** Either verifies a webhook; empty: webhooks are not configured. */
  readonly webhookSecrets: readonly string[];
  /** The gateway's account whose events count; null: all. */
  readonly gatewayAccountId: string | null;
  readonly signatureHeader: string;
  readonly eventIdHeader: string;
  readonly earlyRenewal: 'replace' | 'extend';
  /** Null: mails wait until it is configured. */
  readonly email: EmailConfig | null;
  /** Null: calls wait until it is configured; `off`: there is nothing to refresh. */
  readonly revalidation: RevalidationConfig | 'off' | null;
  readonly retention: RetentionConfig;
  /** Opens the internal endpoints beside the secret key; null: the secret key alone does. */
  readonly internalKey: string | null;
  /** Local only: the hosted platform decides itself where the function listens. */
  readonly port: number | null;
  /** Names of the missing variables whose feature is therefore off. */
  readonly missing: readonly string[];
};

export type GatewayConfig = {
  readonly keyId: string;
  readonly keySecret: string;
  /** Null: orders are not configured; payments made elsewhere are verified all the same. */
  readonly apiUrl: string | null;
};

export type EmailConfig = {
  readonly apiKey: string;
  readonly from: string;
  readonly baseUrl: string;
  /** Public address of the app, `{app_url}` of SPEC 6. */
  readonly appUrl: string;
  /** IANA name. */
  readonly timeZone: string;
  /** Whether users are told that their paid period ends, and that it has. */
  readonly expiryEmails: boolean;
};

/** For how many days records are kept. */
export type RetentionConfig = {
  readonly ledgerDays: number;
  /** Of side effects that were delivered. */
  readonly outboxDays: number;
  readonly tierHistoryDays: number;
};

export type RevalidationConfig = { readonly url: string; readonly secret: string };

/**
 * Reads the configuration; the only place that knows the variables' names.
 * @throws Error naming the variable, when one without which nothing works is missing or a value makes no sense.
 */
export function readConfig(environment: Environment): Config {
  const read = (name: string) => environment(name) || null;
  const readUrl = (name: string) => {
    const value = read(name);
    return value === null ? null : httpUrl(value, name);
  };
  const readKey = (name: string) => readDefaultKey(read(name), name);
  const keyId = read('GATEWAY_KEY_ID');
  const keySecret = read('GATEWAY_KEY_SECRET');
  const previousKeySecret = read('GATEWAY_KEY_SECRET_PREVIOUS');
  const webhookSecret = read('GATEWAY_WEBHOOK_SECRET');
  const previousWebhookSecret = read('GATEWAY_WEBHOOK_SECRET_PREVIOUS');
  const gatewayApiUrl = readUrl('GATEWAY_API_URL');
  const appUrl = readUrl('APP_URL');
  const apiKey = read('RESEND_API_KEY');
  const from = read('EMAIL_FROM');
  // Resend's client appends `/emails` to it as it is.
  const baseUrl = (readUrl('RESEND_BASE_URL') ?? 'https://api.resend.com').replace(/\/+$/, '');
  const timeZone = knownTimeZone(read('EMAIL_TIME_ZONE') ?? 'UTC');
  const expiryEmails = onOrOff(read('EXPIRY_EMAILS') ?? 'on', 'EXPIRY_EMAILS');
  const readDays = (name: string, otherwise: number, least: number) => days(read(name), name, otherwise, least);
  const noRevalidation = environment('REVALIDATE_URL') === '';
  const revalidateUrl = readUrl('REVALIDATE_URL') ?? (appUrl && `${appUrl.replace(/\/+$/, '')}/api/revalidate`);
  const revalidateSecret = read('REVALIDATE_SECRET');
  const features = {
    GATEWAY_KEY_ID: keyId,
    GATEWAY_KEY_SECRET: keySecret,
    GATEWAY_WEBHOOK_SECRET: webhookSecret,
    GATEWAY_API_URL: gatewayApiUrl,
    APP_URL: appUrl,
    RESEND_API_KEY: apiKey,
    EMAIL_FROM: from,
    ...(noRevalidation ? {} : { REVALIDATE_URL: revalidateUrl, REVALIDATE_SECRET: revalidateSecret }),
  };

  const supabaseUrl = readUrl('SUPABASE_URL') ?? missing('SUPABASE_URL');

  return {
    supabaseUrl,
    publishableKey: readKey('SUPABASE_PUBLISHABLE_KEYS') ?? read('SUPABASE_ANON_KEY') ??
      missing('SUPABASE_PUBLISHABLE_KEYS'),
    secretKey: readKey('SUPABASE_SECRET_KEYS') ?? read('SUPABASE_SERVICE_ROLE_KEY') ?? missing('SUPABASE_SECRET_KEYS'),
    sessionIssuer: readUrl('SESSION_ISSUER') ?? `${supabaseUrl.replace(/\/+$/, '')}/auth/v1`,
    databasePoolUrl: postgresUrl(read('DATABASE_POOL_URL'), 'DATABASE_POOL_URL'),
    databasePoolCa: certificate(read('DATABASE_POOL_CA'), 'DATABASE_POOL_CA'),
    gateway: keyId && keySecret ? { keyId, keySecret, apiUrl: gatewayApiUrl } : null,
    checkoutSecrets: keyId && keySecret ? [keySecret, previousKeySecret].filter((secret) => secret !== null) : [],
    webhookSecrets: [webhookSecret, previousWebhookSecret].filter((secret) => secret !== null),
    gatewayAccountId: read('GATEWAY_ACCOUNT_ID'),
    signatureHeader: headerName(read('GATEWAY_SIGNATURE_HEADER') ?? 'x-gateway-signature', 'GATEWAY_SIGNATURE_HEADER'),
    eventIdHeader: headerName(read('GATEWAY_EVENT_ID_HEADER') ?? 'x-gateway-event-id', 'GATEWAY_EVENT_ID_HEADER'),
    earlyRenewal: earlyRenewal(read('EARLY_RENEWAL') ?? 'replace'),
    email: apiKey && from && appUrl ? { apiKey, from, baseUrl, appUrl, timeZone, expiryEmails } : null,
    revalidation: revalidation(noRevalidation, revalidateUrl, revalidateSecret),
    retention: {
      // Payloads are kept for 90 days, and what still waits for longer.
      ledgerDays: readDays('LEDGER_RETENTION_DAYS', 400, 90),
      // `private.unmailed_payments` reads the mails of 30 days.
      outboxDays: readDays('OUTBOX_RETENTION_DAYS', 30, 30),
      tierHistoryDays: readDays('TIER_HISTORY_RETENTION_DAYS', 1100, 30),
    },
    internalKey: read('INTERNAL_KEY'),
    port: port(read('PORT')),
    missing: Object.entries(features).filter(([, value]) => value === null).map(([name]) => name),
  };
}

function missing(name: string): never {
  throw new Error(`${name} is not set`);
}

function revalidation(off: boolean, url: string | null, secret: string | null): RevalidationConfig | 'off' | null {
  if (off) return 'off';
  return url && secret ? { url, secret } : null;
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

function postgresUrl(value: string | null, name: string): string | null {
  if (value === null || /^postgres(ql)?:$/.test(URL.parse(value)?.protocol ?? '')) return value;
  throw new Error(`${name} is not the address of a Postgres`);
}

/** Lines of a certificate may have been written as `\n`, for a file of one line each. */
function certificate(value: string | null, name: string): string | null {
  const pem = value?.replaceAll('\\n', '\n') ?? null;
  if (pem === null || /-----BEGIN CERTIFICATE-----\s/.test(pem)) return pem;
  throw new Error(`${name} is not a certificate`);
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

function onOrOff(value: string, name: string): boolean {
  if (value === 'on' || value === 'off') return value === 'on';
  throw new Error(`${name} is neither "on" nor "off"`);
}

function knownTimeZone(value: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    throw new Error('EMAIL_TIME_ZONE is not a time zone');
  }
}

function days(value: string | null, name: string, otherwise: number, least: number): number {
  const number = value === null ? otherwise : /^\d{1,5}$/.test(value) ? Number(value) : NaN;
  if (number >= least) return number;
  throw new Error(`${name} is not a whole number of days from ${least} to 99999`);
}

function port(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65535) return Number(value);
  throw new Error('PORT is not a port number');
}
