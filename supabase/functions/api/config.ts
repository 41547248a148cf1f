/** Reads an environment variable by name. */
export type Environment = (name: string) => string | undefined;

/** The configuration of the function. */
export type Config = {
  readonly supabaseUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Expected `iss` of sessions that the function checks itself. */
  readonly sessionIssuer: string;
  /** Postgres URL, through a transaction pooler or direct; null: the database is called over REST. */
  readonly databasePoolUrl: string | null;
  /** CA certificate (PEM) for that Postgres; null: the URL decides whether the connection is encrypted. */
  readonly databasePoolCa: string | null;
  /** Null: payments are not configured. Contract: POST /api/payments/verify, "Order of checks". */
  readonly gateway: GatewayConfig | null;
  /** Current and previous key of payment signatures; empty: payments are not configured. */
  readonly checkoutSecrets: readonly string[];
  /** Current and previous key of webhook signatures; empty: webhooks are not configured. */
  readonly webhookSecrets: readonly string[];
  /** Events of other accounts of the gateway are ignored; null: all accounts are accepted. */
  readonly gatewayAccountId: string | null;
  readonly signatureHeader: string;
  readonly eventIdHeader: string;
  /**
   * The function checks it and does not use it: the setting is a row of the database. `npm start` writes this value
   * there. Contract: Early renewals.
   */
  readonly earlyRenewal: 'replace' | 'extend';
  /** Null: mails wait in the outbox until it is configured. */
  readonly email: EmailConfig | null;
  /** Null: calls wait in the outbox until it is configured; `off`: the app has no cached pages. */
  readonly revalidation: RevalidationConfig | 'off' | null;
  readonly retention: RetentionConfig;
  /** Key of the internal endpoints, besides the secret key; null: only the secret key is accepted. */
  readonly internalKey: string | null;
  /** Local stack only; the hosted platform chooses the port itself. */
  readonly port: number | null;
  /** Names of the missing variables that turn a feature off. */
  readonly missing: readonly string[];
};

export type GatewayConfig = {
  readonly keyId: string;
  readonly keySecret: string;
  /** Null: the function creates no orders, but verifies payments of orders that the app created. */
  readonly apiUrl: string | null;
};

export type EmailConfig = {
  readonly apiKey: string;
  readonly from: string;
  readonly baseUrl: string;
  /** Public address of the app; mails link to it. Contract: E-mails. */
  readonly appUrl: string;
  /** IANA name. */
  readonly timeZone: string;
  /** Whether `subscription-ending` and `subscription-ended` are sent. */
  readonly expiryEmails: boolean;
};

/** For how many days records are kept. */
export type RetentionConfig = {
  readonly ledgerDays: number;
  /** For delivered side effects. */
  readonly outboxDays: number;
  readonly tierHistoryDays: number;
};

export type RevalidationConfig = { readonly url: string; readonly secret: string };

/**
 * Reads the configuration. Only this file contains the variables' names. An empty variable counts as missing, except
 * REVALIDATE_URL, where empty means `off`.
 * @throws Error naming the variable, when a required variable is missing or a value is invalid.
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
  // Resend's client appends `/emails` without removing a slash.
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
      // Ledger rows must outlive their payloads, which are kept for 90 days.
      ledgerDays: readDays('LEDGER_RETENTION_DAYS', 400, 90),
      // `private.unmailed_payments` reads the mails of the last 30 days.
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

/** The platform sets keys as a JSON object. @returns its entry `default`. */
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

/** A one-line env file has the line breaks of a certificate as the two characters `\n`. */
function certificate(value: string | null, name: string): string | null {
  const pem = value?.replaceAll('\\n', '\n') ?? null;
  if (pem === null || /-----BEGIN CERTIFICATE-----\s/.test(pem)) return pem;
  throw new Error(`${name} is not a certificate`);
}

function httpUrl(value: string, name: string): string {
  if (/^https?:$/.test(URL.parse(value)?.protocol ?? '')) return value;
  throw new Error(`${name} is not an http(s) address`);
}

/** With an invalid name every request would throw when it reads the header. */
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
