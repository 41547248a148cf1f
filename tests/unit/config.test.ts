import { expect, test } from 'vitest';
import { readConfig } from '../../supabase/functions/api/config.ts';

type Environment = Record<string, string | undefined>;

const url = { SUPABASE_URL: 'https://abc.supabase.co' };
const keys = {
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_1","other":"sb_publishable_2"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_1","other":"sb_secret_2"}',
};
const legacyKeys = { SUPABASE_ANON_KEY: 'anon', SUPABASE_SERVICE_ROLE_KEY: 'service' };
const full: Environment = {
  ...url,
  ...keys,
  GATEWAY_KEY_ID: 'key_1',
  GATEWAY_KEY_SECRET: 'key-secret',
  GATEWAY_WEBHOOK_SECRET: 'webhook-secret',
  GATEWAY_API_URL: 'https://api.gateway.example',
  APP_URL: 'https://app.example.com',
  RESEND_API_KEY: 're_1',
  EMAIL_FROM: 'Acme <billing@acme.example>',
  REVALIDATE_SECRET: 'revalidate-me',
  INTERNAL_KEY: 'internal-key',
};

const read = (environment: Environment) => readConfig((name) => environment[name]);

test('a full environment is read completely, with defaults; nothing is missing', () => {
  expect(read(full)).toMatchObject({
    supabaseUrl: 'https://abc.supabase.co',
    publishableKey: 'sb_publishable_1',
    secretKey: 'sb_secret_1',
    sessionIssuer: 'https://abc.supabase.co/auth/v1',
    databasePoolUrl: null,
    gateway: { keyId: 'key_1', keySecret: 'key-secret', apiUrl: 'https://api.gateway.example' },
    webhookSecrets: ['webhook-secret'],
    signatureHeader: 'x-gateway-signature',
    eventIdHeader: 'x-gateway-event-id',
    returnFields: { orderId: 'razorpay_order_id', paymentId: 'razorpay_payment_id', signature: 'razorpay_signature' },
    appUrl: 'https://app.example.com',
    earlyRenewal: 'replace',
    credit: 'on',
    reconcileCallsPerSecond: 10,
    retention: { ledgerDays: 400, outboxDays: 30, tierHistoryDays: 1100 },
    email: {
      ...{ apiKey: 're_1', from: 'Acme <billing@acme.example>', baseUrl: 'https://api.resend.com', timeZone: 'UTC' },
      ...{ appUrl: 'https://app.example.com', expiryEmails: true, renewalEmails: true, receiptEmails: false },
    },
    revalidation: { url: 'https://app.example.com/api/revalidate', secret: 'revalidate-me' },
    internalKey: 'internal-key',
    port: null,
    spaced: [],
    missing: [],
  });
});

test.each([' secret', 'secret\n', 'secret\r\n', '\tsecret'])(
  '%j is kept as it is, and its variable is named',
  (value) => {
    const config = read({ ...full, GATEWAY_WEBHOOK_SECRET: value, EMAIL_FOOTER: 'Acme\n', REVALIDATE_SECRET: '' });
    expect([config.webhookSecrets, config.spaced]).toEqual([[value], ['GATEWAY_WEBHOOK_SECRET']]);
  },
);

const noApi = { keyId: 'key_1', keySecret: 'key-secret', apiUrl: null };

/** A secret of events. */
const signing = `whsec_${'ab12'.repeat(8)}`;

test.each<[Environment, expected: Record<string, unknown>]>([
  [{ GATEWAY_EVENT_ID_HEADER: 'x-acme-event-id' }, { eventIdHeader: 'x-acme-event-id' }],
  [{ GATEWAY_RETURN_FIELDS: 'order,payment,acme-signature' }, {
    returnFields: { orderId: 'order', paymentId: 'payment', signature: 'acme-signature' },
  }],
  [{ APP_URL: 'https://a.example/shop//' }, {
    appUrl: 'https://a.example/shop',
    revalidation: { url: 'https://a.example/shop/api/revalidate' },
  }],
  [{}, { email: { pages: { dashboard: '/dashboard', pricing: '/pricing' } } }],
  [{ DASHBOARD_PATH: '/#/account', PRICING_PATH: '/plans?from=mail' }, {
    pages: { dashboard: '/#/account', pricing: '/plans?from=mail' },
    email: { pages: { dashboard: '/#/account', pricing: '/plans?from=mail' } },
  }],
  [{ APP_URL: '' }, { appUrl: null, email: null, revalidation: null, missing: ['APP_URL', 'REVALIDATE_URL'] }],
  [{ GATEWAY: 'razorpay', GATEWAY_API_URL: '' }, {
    gateway: { apiUrl: 'https://api.razorpay.com' },
    signatureHeader: 'x-razorpay-signature',
    eventIdHeader: 'x-razorpay-event-id',
    email: { timeZone: expect.stringMatching(/^Asia\/(Kolkata|Calcutta)$/) },
    missing: [],
  }],
  [
    { GATEWAY: 'razorpay', GATEWAY_SIGNATURE_HEADER: 'x-own', GATEWAY_EVENT_ID_HEADER: 'x-id', EMAIL_TIME_ZONE: 'UTC' },
    {
      gateway: { apiUrl: 'https://api.gateway.example' },
      ...{ signatureHeader: 'x-own', eventIdHeader: 'x-id', email: { timeZone: 'UTC' } },
    },
  ],
  [{ GATEWAY: '' }, { signatureHeader: 'x-gateway-signature', email: { timeZone: 'UTC' } }],
  [{ GATEWAY_ACCOUNT_ID: 'acc_Ours' }, { gatewayAccountId: 'acc_Ours' }],
  [{ GATEWAY_KEY_ID: '' }, { gateway: null, missing: ['GATEWAY_KEY_ID'] }],
  [{ GATEWAY_KEY_SECRET: '' }, { gateway: null, missing: ['GATEWAY_KEY_SECRET'] }],
  [{ GATEWAY_API_URL: '' }, { gateway: noApi, missing: ['GATEWAY_API_URL'] }],
  [{ GATEWAY_WEBHOOK_SECRET: '' }, { webhookSecrets: [], missing: ['GATEWAY_WEBHOOK_SECRET'] }],
  [{ GATEWAY_KEY_SECRET_PREVIOUS: 'old' }, { checkoutSecrets: ['key-secret', 'old'] }],
  [{ GATEWAY_KEY_SECRET: '', GATEWAY_KEY_SECRET_PREVIOUS: 'old' }, { checkoutSecrets: [], gateway: null }],
  [{ GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old' }, { webhookSecrets: ['webhook-secret', 'old'] }],
  [{ GATEWAY_WEBHOOK_SECRET: '', GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old' }, { webhookSecrets: ['old'] }],
  [{ RECONCILE_CALLS_PER_SECOND: '25' }, { reconcileCallsPerSecond: 25 }],
  [{ EARLY_RENEWAL: 'extend' }, { earlyRenewal: 'extend' }],
  [{ CREDIT: 'off' }, { credit: 'off' }],
  [{ SUPABASE_URL: 'http://kong:8000/' }, { sessionIssuer: 'http://kong:8000/auth/v1' }],
  [{ DATABASE_POOL_URL: 'postgresql://a:b@c:6543/d' }, { databasePoolUrl: 'postgresql://a:b@c:6543/d' }],
  [{ DATABASE_POOL_URL: '' }, { databasePoolUrl: null }],
  [{ DATABASE_POOL_CA: '-----BEGIN CERTIFICATE-----\\nMII\\n' }, {
    databasePoolCa: '-----BEGIN CERTIFICATE-----\nMII\n',
  }],
  [{ LEDGER_RETENTION_DAYS: '90' }, { retention: { ledgerDays: 90, outboxDays: 30, tierHistoryDays: 1100 } }],
  [{ TIER_HISTORY_RETENTION_DAYS: '99999' }, { retention: { tierHistoryDays: 99999 } }],
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '65535' }, { port: 65535 }],
  [{ RESEND_BASE_URL: 'http://127.0.0.1:54324' }, { email: { baseUrl: 'http://127.0.0.1:54324' } }],
  [{ EMAIL_TIME_ZONE: 'Asia/Kolkata' }, { email: { timeZone: expect.stringMatching(/^Asia\/(Kolkata|Calcutta)$/) } }],
  [{
    EMAIL_BRAND: 'Acme',
    EMAIL_FOOTER: 'Acme Ltd\\nPune',
    EMAIL_ACCENT: '#0f766e',
    EMAIL_LOGO_URL: 'https://a.example/l.png',
  }, {
    email: { look: { brand: 'Acme', footer: 'Acme Ltd\nPune', accent: '#0f766e', logoUrl: 'https://a.example/l.png' } },
  }],
  [{ EMAIL_LOCALE: '' }, { email: { look: { locale: 'en' } } }],
  [{ EMAIL_LOCALE: 'hi' }, { email: { look: { locale: 'hi' } } }],
  [{ EXPIRY_EMAILS: 'off' }, { email: { expiryEmails: false, renewalEmails: true }, missing: [] }],
  [{ RECEIPT_EMAILS: 'on' }, { email: { receiptEmails: true } }],
  [{ RENEWAL_EMAILS: 'off', EXPIRY_EMAILS: '' }, { email: { expiryEmails: true, renewalEmails: false }, missing: [] }],
  [{ REVALIDATE_URL: 'https://a.example/x' }, { revalidation: { url: 'https://a.example/x' } }],
  [{ REVALIDATE_URL: '' }, { revalidation: 'off', missing: [] }],
  [{ REVALIDATE_SECRET: '' }, { revalidation: null, missing: ['REVALIDATE_SECRET'] }],
  [{ EVENTS_URL: 'https://a.example/events' }, { events: null }],
  [{ EVENTS_URL: 'https://a.example/events', EVENTS_SECRET: signing, EVENTS_SECRET_PREVIOUS: `${signing}==` }, {
    events: { url: 'https://a.example/events', secrets: [signing, `${signing}==`] },
  }],
  [{ SUPABASE_URL: 'http://127.0.0.1:54321', EVENTS_URL: 'http://127.0.0.1:3000', EVENTS_SECRET: signing }, {
    events: { url: 'http://127.0.0.1:3000' },
  }],
  [{ INTERNAL_KEY: '' }, { internalKey: null, missing: [] }],
])('with %j the configuration has %j', (environment, expected) => {
  expect(read({ ...full, ...environment })).toMatchObject(expected);
});

const older = { publishableKey: 'anon', secretKey: 'service' };

test.each<[Environment, typeof older]>([
  [{}, older],
  [{ SUPABASE_PUBLISHABLE_KEYS: '{}', SUPABASE_SECRET_KEYS: 'null' }, older],
  [{ SUPABASE_PUBLISHABLE_KEYS: '{"default":""}', SUPABASE_SECRET_KEYS: '"sb_secret_1"' }, older],
  [keys, { publishableKey: 'sb_publishable_1', secretKey: 'sb_secret_1' }],
])('beside legacy keys %j gives %j', (given, expected) => {
  expect(read({ ...url, ...legacyKeys, ...given })).toMatchObject(expected);
});

test.each(
  Object.entries({
    APP_URL: ['app.example.com', 'ftp://app.example.com'],
    CREDIT: ['no'],
    DASHBOARD_PATH: ['dashboard', '//evil.example', 'https://app.example.com/x', '/my page'],
    DATABASE_POOL_CA: ['/etc/ca.pem'],
    DATABASE_POOL_URL: ['db.example.com:6543', 'https://db.example.com'],
    EARLY_RENEWAL: ['maybe', 'Extend'],
    EMAIL_ACCENT: ['blue', '#12345', 'url(x)'],
    EMAIL_LOCALE: ['de', 'hi-IN'],
    EMAIL_LOGO_URL: ['logo.png', 'data:image/png;base64,AA'],
    EMAIL_TIME_ZONE: ['Kolkata'],
    EVENTS_SECRET: ['secret', 'whsec_c2hvcnQ=', `${signing}!`],
    EVENTS_URL: ['app.example.com', 'http://app.example.com', 'https://10.0.0.1'],
    EXPIRY_EMAILS: ['no', 'Off'],
    GATEWAY: ['stripe', 'Razorpay'],
    GATEWAY_API_URL: ['api.gateway.example', 'ftp://api.gateway.example'],
    GATEWAY_EVENT_ID_HEADER: ['x-gateway-event-id:'],
    GATEWAY_RETURN_FIELDS: ['a,b', 'a,b,c,d', 'a,b,', 'a, b, c', 'a,b,a'],
    GATEWAY_SIGNATURE_HEADER: ['x gateway signature'],
    LEDGER_RETENTION_DAYS: ['89', '400.5', '1e3', '100000', 'a year'],
    OUTBOX_RETENTION_DAYS: ['29'],
    PORT: ['http', '-1', '80.5', '65536'],
    RECONCILE_CALLS_PER_SECOND: ['0', '1001', '2.5'],
    RECEIPT_EMAILS: ['yes', 'On'],
    RENEWAL_EMAILS: ['yes', 'On'],
    RESEND_BASE_URL: ['api.resend.com'],
    REVALIDATE_URL: ['/api/revalidate'],
    SESSION_ISSUER: ['abc.supabase.co/auth/v1'],
    SUPABASE_URL: ['abc.supabase.co', '', undefined],
    SUPABASE_PUBLISHABLE_KEYS: ['', undefined],
    SUPABASE_SECRET_KEYS: ['', undefined],
  }).flatMap(([name, values]) => values.map((value) => ({ name, value }))),
)('$name=$value is refused by name', ({ name, value }) => {
  expect(() => read({ ...full, [name]: value })).toThrow(value ? name : `${name} is not set`);
});

test.each([
  ['GATEWAY', 'stripe', 'is not "razorpay"'],
  ['LEDGER_RETENTION_DAYS', '30', 'is not a whole number of days from 90 to 99999'],
  ['SUPABASE_PUBLISHABLE_KEYS', 'sb_secret_raw', 'is not JSON'],
  ['SUPABASE_SECRET_KEYS', 'sb_secret_raw', 'is not JSON'],
])('%s=%s %s, which is all that the message says', (name, value, problem) => {
  expect(() => read({ ...full, [name]: value })).toThrow(new Error(`${name} ${problem}`));
});
