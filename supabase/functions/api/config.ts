import { z } from 'zod';
import {
  certificate,
  colour,
  days,
  fieldNames,
  headerName,
  httpUrl,
  isPublicAddress,
  lines,
  missing,
  namesWithSpace,
  pagePath,
  platformKey,
  postgresUrl,
  signingSecret,
  text,
  timeZone,
  wholeNumber,
  withoutSlash,
} from './config-fields.ts';
import { withPreset } from './config-presets.ts';
import type { Look } from './generated/emails.js';

/** Reads an environment variable by name. */
export type Environment = (name: string) => string | undefined;

/** The configuration of the function. */
export type Config = Readonly<ReturnType<typeof readConfig>>;
export type GatewayConfig = NonNullable<Config['gateway']>;
export type EmailConfig = NonNullable<Config['email']>;
export type RetentionConfig = Config['retention'];
export type EventsConfig = NonNullable<Config['events']>;
export type RevalidationConfig = Exclude<Config['revalidation'], 'off' | null>;

/** The variables that the function reads, and their defaults. No other file contains their names. */
const variables = z.object({
  SUPABASE_URL: httpUrl,
  SUPABASE_PUBLISHABLE_KEYS: platformKey.optional(),
  SUPABASE_SECRET_KEYS: platformKey.optional(),
  SUPABASE_ANON_KEY: text.optional(),
  SUPABASE_SERVICE_ROLE_KEY: text.optional(),
  SESSION_ISSUER: httpUrl.optional(),
  DATABASE_POOL_URL: postgresUrl.optional(),
  DATABASE_POOL_CA: certificate.optional(),
  GATEWAY: z.literal('razorpay', 'is not "razorpay"').optional(),
  GATEWAY_KEY_ID: text.optional(),
  GATEWAY_KEY_SECRET: text.optional(),
  GATEWAY_KEY_SECRET_PREVIOUS: text.optional(),
  GATEWAY_WEBHOOK_SECRET: text.optional(),
  GATEWAY_WEBHOOK_SECRET_PREVIOUS: text.optional(),
  GATEWAY_ACCOUNT_ID: text.optional(),
  GATEWAY_SIGNATURE_HEADER: headerName.default('x-gateway-signature'),
  GATEWAY_EVENT_ID_HEADER: headerName.default('x-gateway-event-id'),
  GATEWAY_RETURN_FIELDS: fieldNames.prefault('razorpay_order_id,razorpay_payment_id,razorpay_signature'),
  GATEWAY_API_URL: httpUrl.optional(),
  RECONCILE_CALLS_PER_SECOND: wholeNumber(1, 1000, 'is not a whole number from 1 to 1000').default(10),
  EARLY_RENEWAL: z.enum(['replace', 'extend'], 'is neither "replace" nor "extend"').default('replace'),
  CREDIT: z.enum(['on', 'off'], 'is neither "on" nor "off"').default('on'),
  APP_URL: httpUrl.optional(),
  DASHBOARD_PATH: pagePath.default('/dashboard'),
  PRICING_PATH: pagePath.default('/pricing'),
  REVALIDATE_URL: httpUrl.optional(),
  REVALIDATE_SECRET: text.optional(),
  RESEND_API_KEY: text.optional(),
  // Resend's client appends `/emails` without removing a slash.
  RESEND_BASE_URL: httpUrl.default('https://api.resend.com').transform(withoutSlash),
  EMAIL_FROM: text.optional(),
  EMAIL_TIME_ZONE: timeZone.default('UTC'),
  EMAIL_LOCALE: z.enum(['en', 'hi'], 'is neither "en" nor "hi"').default('en'),
  EMAIL_BRAND: text.optional(),
  EMAIL_LOGO_URL: httpUrl.optional(),
  EMAIL_FOOTER: lines.optional(),
  EMAIL_ACCENT: colour.optional(),
  EXPIRY_EMAILS: z.enum(['on', 'off'], 'is neither "on" nor "off"').default('on'),
  RENEWAL_EMAILS: z.enum(['on', 'off'], 'is neither "on" nor "off"').default('on'),
  RECEIPT_EMAILS: z.enum(['on', 'off'], 'is neither "on" nor "off"').default('off'),
  // Ledger rows must outlive their payloads, which are kept for 90 days.
  LEDGER_RETENTION_DAYS: days(90).default(400),
  // `billing.unmailed_payments` reads the mails of the last 30 days.
  OUTBOX_RETENTION_DAYS: days(30).default(30),
  TIER_HISTORY_RETENTION_DAYS: days(30).default(1100),
  EVENTS_URL: httpUrl.optional(),
  EVENTS_SECRET: signingSecret.optional(),
  EVENTS_SECRET_PREVIOUS: signingSecret.optional(),
  INTERNAL_KEY: text.optional(),
  PORT: wholeNumber(0, 65535, 'is not a port number').optional(),
});

/** The variables that turn a feature on. */
const features = [
  ...['GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET', 'GATEWAY_API_URL'] as const,
  ...['APP_URL', 'RESEND_API_KEY', 'EMAIL_FROM', 'REVALIDATE_URL', 'REVALIDATE_SECRET'] as const,
];

/**
 * Reads the configuration. An empty variable counts as missing, except REVALIDATE_URL, where empty means `off`.
 * @throws Error naming the variable, when a required variable is missing or a value is invalid.
 */
export function readConfig(environment: Environment) {
  const valueOf = withPreset(environment);
  const names = Object.keys(variables.shape);
  const parsed = variables.safeParse(Object.fromEntries(names.map((name) => [name, valueOf(name)])));
  if (!parsed.success) throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join()} ${message}`)[0]);
  const given = parsed.data;
  const { GATEWAY_KEY_ID: keyId, GATEWAY_KEY_SECRET: keySecret, APP_URL: appUrl } = given;
  const { RESEND_API_KEY: apiKey, EMAIL_FROM: from, REVALIDATE_SECRET: secret } = given;
  // A local project is reached over http, and so may its app be.
  if (given.EVENTS_URL && given.SUPABASE_URL.startsWith('https:') && !isPublicAddress(given.EVENTS_URL)) {
    throw new Error('EVENTS_URL is not a public https address');
  }
  const hasPages = environment('REVALIDATE_URL') !== '';
  const { EMAIL_BRAND: brand, EMAIL_LOGO_URL: logoUrl, EMAIL_FOOTER: footer, EMAIL_ACCENT: accent } = given;
  const look: Look = { brand, logoUrl, footer, accent, locale: given.EMAIL_LOCALE };
  const pages = { dashboard: given.DASHBOARD_PATH, pricing: given.PRICING_PATH };
  const url = given.REVALIDATE_URL ??= appUrl && `${withoutSlash(appUrl)}/api/revalidate`;

  return {
    supabaseUrl: given.SUPABASE_URL,
    publishableKey: given.SUPABASE_PUBLISHABLE_KEYS ?? given.SUPABASE_ANON_KEY ?? missing('SUPABASE_PUBLISHABLE_KEYS'),
    secretKey: given.SUPABASE_SECRET_KEYS ?? given.SUPABASE_SERVICE_ROLE_KEY ?? missing('SUPABASE_SECRET_KEYS'),
    /** Expected `iss` of sessions that the function checks itself. */
    sessionIssuer: given.SESSION_ISSUER ?? `${withoutSlash(given.SUPABASE_URL)}/auth/v1`,
    /** Postgres URL, through a transaction pooler or direct; null: the database is called over REST. */
    databasePoolUrl: given.DATABASE_POOL_URL ?? null,
    /** CA certificate (PEM) for that Postgres; null: the URL decides whether the connection is encrypted. */
    databasePoolCa: given.DATABASE_POOL_CA ?? null,
    /**
     * Null: payments are not configured. Contract: POST /api/payments/verify, "Order of checks". Without `apiUrl` the
     * function creates no orders, but verifies payments of orders that the app created.
     */
    gateway: keyId && keySecret ? { keyId, keySecret, apiUrl: given.GATEWAY_API_URL ?? null } : null,
    /** Current and previous key of payment signatures; empty: payments are not configured. */
    checkoutSecrets: keyId && keySecret ? [keySecret, given.GATEWAY_KEY_SECRET_PREVIOUS].filter(isSet) : [],
    /** Current and previous key of webhook signatures; empty: webhooks are not configured. */
    webhookSecrets: [given.GATEWAY_WEBHOOK_SECRET, given.GATEWAY_WEBHOOK_SECRET_PREVIOUS].filter(isSet),
    /** Events of other accounts of the gateway are ignored; null: all accounts are accepted. */
    gatewayAccountId: given.GATEWAY_ACCOUNT_ID ?? null,
    /** Of reconciliation, all runs together. */
    reconcileCallsPerSecond: given.RECONCILE_CALLS_PER_SECOND,
    signatureHeader: given.GATEWAY_SIGNATURE_HEADER,
    eventIdHeader: given.GATEWAY_EVENT_ID_HEADER,
    /** The form fields in which a redirect checkout posts its result. */
    returnFields: given.GATEWAY_RETURN_FIELDS,
    /** Public address of the app, without a slash at its end; null: a redirect checkout can't return to it. */
    appUrl: appUrl === undefined ? null : withoutSlash(appUrl),
    /** The app's pages that the function links to: paths, after `appUrl`. */
    pages,
    look,
    /**
     * The function checks it and does not use it, as `credit`: the settings are a row of the database. `npm start` writes
     * these values there. Contract: Early renewals.
     */
    earlyRenewal: given.EARLY_RENEWAL,
    /** Contract: Start and credit. */
    credit: given.CREDIT,
    /** Null: mails wait in the outbox until it is configured. */
    email: apiKey && from && appUrl
      ? {
        apiKey,
        from,
        baseUrl: given.RESEND_BASE_URL,
        /** Public address of the app; mails link to it. Contract: E-mails. */
        appUrl,
        pages,
        /** IANA name. */
        timeZone: given.EMAIL_TIME_ZONE,
        look,
        /** Whether `subscription-ending` and `subscription-ended` are sent. */
        expiryEmails: given.EXPIRY_EMAILS === 'on',
        renewalEmails: given.RENEWAL_EMAILS === 'on',
        receiptEmails: given.RECEIPT_EMAILS === 'on',
      }
      : null,
    /** Null: calls wait in the outbox until it is configured; `off`: the app has no cached pages. */
    revalidation: hasPages ? url && secret ? { url, secret } : null : 'off' as const,
    /** Null: no events are sent. The first secret is the current one. Contract: Events to the app. */
    events: given.EVENTS_URL && given.EVENTS_SECRET
      ? { url: given.EVENTS_URL, secrets: [given.EVENTS_SECRET, given.EVENTS_SECRET_PREVIOUS].filter(isSet) }
      : null,
    /** For how many days records are kept: events, delivered side effects, and changes of tiers. */
    retention: {
      ledgerDays: given.LEDGER_RETENTION_DAYS,
      outboxDays: given.OUTBOX_RETENTION_DAYS,
      tierHistoryDays: given.TIER_HISTORY_RETENTION_DAYS,
    },
    /** Key of the internal endpoints, besides the secret key; null: only the secret key is accepted. */
    internalKey: given.INTERNAL_KEY ?? null,
    /** Local stack only; the hosted platform chooses the port itself. */
    port: given.PORT ?? null,
    /** Names of the variables with white space around the value, as it is pasted. It is not removed. */
    spaced: namesWithSpace(names, environment),
    /** Names of the missing variables that turn a feature off. */
    missing: features.filter((name) => given[name] === undefined && (hasPages || !name.startsWith('REVALIDATE_'))),
  };
}

function isSet(secret: string | undefined): secret is string {
  return secret !== undefined;
}
