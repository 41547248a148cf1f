import { describe, expect, test } from 'vitest';
import { readConfig } from '../../supabase/functions/api/config.ts';

/** The variables that the platform always sets. */
const platform = {
  SUPABASE_URL: 'https://abc.supabase.co',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_1","other":"sb_publishable_2"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_1","other":"sb_secret_2"}',
};
const full = {
  ...platform,
  GATEWAY_KEY_ID: 'key_1',
  GATEWAY_KEY_SECRET: 'key-secret',
  GATEWAY_WEBHOOK_SECRET: 'webhook-secret',
  GATEWAY_API_URL: 'https://api.gateway.example',
};

function read(environment: Record<string, string | undefined>) {
  return readConfig((name) => environment[name]);
}

describe('a full environment', () => {
  test('is read completely, with defaults for header names and renewals', () => {
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
      returnFields: {
        orderId: 'razorpay_order_id',
        paymentId: 'razorpay_payment_id',
        signature: 'razorpay_signature',
      },
      appUrl: null,
      earlyRenewal: 'replace',
      credit: 'on',
      port: null,
    });
    for (const name of ['GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET', 'GATEWAY_API_URL']) {
      expect(read(full).missing).not.toContain(name);
    }
  });

  test.each([
    [{ GATEWAY_SIGNATURE_HEADER: 'x-acme-signature' }, { signatureHeader: 'x-acme-signature' }],
    [{ GATEWAY_EVENT_ID_HEADER: 'x-acme-event-id' }, { eventIdHeader: 'x-acme-event-id' }],
    [{ GATEWAY_RETURN_FIELDS: 'order,payment,acme-signature' }, {
      returnFields: { orderId: 'order', paymentId: 'payment', signature: 'acme-signature' },
    }],
    [{ APP_URL: 'https://a.example/shop//' }, { appUrl: 'https://a.example/shop' }],
    [{ GATEWAY_ACCOUNT_ID: 'acc_Ours' }, { gatewayAccountId: 'acc_Ours' }],
    [{ GATEWAY_ACCOUNT_ID: '' }, { gatewayAccountId: null }],
    [{ GATEWAY_KEY_SECRET_PREVIOUS: 'old' }, { checkoutSecrets: ['key-secret', 'old'] }],
    [{ GATEWAY_KEY_SECRET: '', GATEWAY_KEY_SECRET_PREVIOUS: 'old' }, { checkoutSecrets: [], gateway: null }],
    [{ GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old' }, { webhookSecrets: ['webhook-secret', 'old'] }],
    [{ GATEWAY_WEBHOOK_SECRET: '', GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old' }, { webhookSecrets: ['old'] }],
    [{}, { reconcileCallsPerSecond: 10 }],
    [{ RECONCILE_CALLS_PER_SECOND: '25' }, { reconcileCallsPerSecond: 25 }],
    [{ EARLY_RENEWAL: 'extend' }, { earlyRenewal: 'extend' }],
    [{ EARLY_RENEWAL: 'replace' }, { earlyRenewal: 'replace' }],
    [{ CREDIT: 'off' }, { credit: 'off' }],
    [{ SUPABASE_URL: 'http://kong:8000/' }, { sessionIssuer: 'http://kong:8000/auth/v1' }],
    [{ SESSION_ISSUER: 'https://id.example.com/auth/v1' }, { sessionIssuer: 'https://id.example.com/auth/v1' }],
    [{ DATABASE_POOL_URL: 'postgresql://a:b@c:6543/d' }, { databasePoolUrl: 'postgresql://a:b@c:6543/d' }],
    [{ DATABASE_POOL_URL: 'postgres://a:b@c/d' }, { databasePoolUrl: 'postgres://a:b@c/d' }],
    [{ DATABASE_POOL_CA: '-----BEGIN CERTIFICATE-----\\nMII\\n' }, {
      databasePoolCa: '-----BEGIN CERTIFICATE-----\nMII\n',
    }],
    [{ DATABASE_POOL_CA: '' }, { databasePoolCa: null }],
    [{ DATABASE_POOL_URL: '' }, { databasePoolUrl: null }],
    [{}, { retention: { ledgerDays: 400, outboxDays: 30, tierHistoryDays: 1100 } }],
    [{ LEDGER_RETENTION_DAYS: '90' }, { retention: { ledgerDays: 90, outboxDays: 30, tierHistoryDays: 1100 } }],
    [{ OUTBOX_RETENTION_DAYS: '31' }, { retention: { ledgerDays: 400, outboxDays: 31, tierHistoryDays: 1100 } }],
    [{ TIER_HISTORY_RETENTION_DAYS: '99999' }, { retention: { tierHistoryDays: 99999 } }],
    [{ LEDGER_RETENTION_DAYS: '' }, { retention: { ledgerDays: 400 } }],
    [{ PORT: '8000' }, { port: 8000 }],
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '65535' }, { port: 65535 }],
  ])('with %j gives %j', (environment, expected) => {
    expect(read({ ...full, ...environment })).toMatchObject(expected);
  });
});

describe('legacy keys', () => {
  const legacy = {
    SUPABASE_URL: 'https://abc.supabase.co',
    SUPABASE_ANON_KEY: 'anon',
    SUPABASE_SERVICE_ROLE_KEY: 'service',
  };

  test('are used where the newer keys are missing', () => {
    expect(read(legacy)).toMatchObject({ publishableKey: 'anon', secretKey: 'service' });
  });

  test.each(['{}', '{"default":""}', '{"default":null}', '[]', 'null', '"sb_secret_1"'])(
    'are used where the newer keys are %s',
    (keys) => {
      expect(read({ ...legacy, SUPABASE_PUBLISHABLE_KEYS: keys, SUPABASE_SECRET_KEYS: keys }))
        .toMatchObject({ publishableKey: 'anon', secretKey: 'service' });
    },
  );

  test('are not used where the newer keys are set', () => {
    expect(read({ ...legacy, ...platform })).toMatchObject({
      publishableKey: 'sb_publishable_1',
      secretKey: 'sb_secret_1',
    });
  });
});

describe('a variable that the platform sets', () => {
  test.each(['SUPABASE_URL', 'SUPABASE_PUBLISHABLE_KEYS', 'SUPABASE_SECRET_KEYS'])(
    '%s is named when it is missing or empty',
    (name) => {
      for (const value of [undefined, '']) {
        expect(() => read({ ...full, [name]: value })).toThrow(`${name} is not set`);
      }
    },
  );

  test.each(['SUPABASE_PUBLISHABLE_KEYS', 'SUPABASE_SECRET_KEYS'])(
    '%s is named without its value when it is not JSON',
    (name) => {
      expect(() => read({ ...full, [name]: 'sb_secret_raw' })).toThrow(new Error(`${name} is not JSON`));
    },
  );
});

describe('a feature without its variable', () => {
  test.each(['GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET', 'GATEWAY_API_URL'])(
    '%s is named when it is missing or empty',
    (name) => {
      for (const value of [undefined, '']) expect(read({ ...full, [name]: value }).missing).toContain(name);
    },
  );

  test.each(['GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET'])('has no gateway without %s', (name) => {
    for (const value of [undefined, '']) expect(read({ ...full, [name]: value }).gateway).toBeNull();
  });

  test('has a gateway without an API address where GATEWAY_API_URL is missing', () => {
    for (const value of [undefined, '']) {
      expect(read({ ...full, GATEWAY_API_URL: value }).gateway)
        .toEqual({ keyId: 'key_1', keySecret: 'key-secret', apiUrl: null });
    }
  });

  test('has no webhook secrets where they are empty', () => {
    expect(read({ ...full, GATEWAY_WEBHOOK_SECRET: '', GATEWAY_WEBHOOK_SECRET_PREVIOUS: '' }).webhookSecrets).toEqual(
      [],
    );
  });
});

describe('the receivers of side effects', () => {
  const receivers = {
    ...full,
    APP_URL: 'https://app.example.com',
    RESEND_API_KEY: 're_1',
    EMAIL_FROM: 'Acme <billing@acme.example>',
    REVALIDATE_SECRET: 'revalidate-me',
    INTERNAL_KEY: 'internal-key',
  };

  test('are read completely, with defaults for addresses and time zone; nothing is missing', () => {
    expect(read(receivers)).toMatchObject({
      email: {
        apiKey: 're_1',
        from: 'Acme <billing@acme.example>',
        baseUrl: 'https://api.resend.com',
        appUrl: 'https://app.example.com',
        timeZone: 'UTC',
        expiryEmails: true,
        renewalEmails: true,
      },
      revalidation: { url: 'https://app.example.com/api/revalidate', secret: 'revalidate-me' },
      internalKey: 'internal-key',
      missing: [],
    });
  });

  test.each([
    [{ RESEND_BASE_URL: 'http://127.0.0.1:54324' }, { email: { baseUrl: 'http://127.0.0.1:54324' } }],
    [{ RESEND_BASE_URL: 'http://127.0.0.1:54324//' }, { email: { baseUrl: 'http://127.0.0.1:54324' } }],
    [{ EMAIL_TIME_ZONE: 'Asia/Kolkata' }, { email: { timeZone: expect.stringMatching(/^Asia\/(Kolkata|Calcutta)$/) } }],
    [{ EXPIRY_EMAILS: 'off' }, { email: { expiryEmails: false }, missing: [] }],
    [{ EXPIRY_EMAILS: 'on' }, { email: { expiryEmails: true } }],
    [{ EXPIRY_EMAILS: '' }, { email: { expiryEmails: true } }],
    [{ RENEWAL_EMAILS: 'off' }, { email: { renewalEmails: false }, missing: [] }],
    [{ RENEWAL_EMAILS: 'on' }, { email: { renewalEmails: true } }],
    [{ RENEWAL_EMAILS: '' }, { email: { renewalEmails: true } }],
    [{ REVALIDATE_URL: 'https://a.example/x' }, { revalidation: { url: 'https://a.example/x' } }],
    [{ APP_URL: 'https://a.example/' }, { revalidation: { url: 'https://a.example/api/revalidate' } }],
    [{ APP_URL: 'https://a.example/shop' }, { revalidation: { url: 'https://a.example/shop/api/revalidate' } }],
    [{ REVALIDATE_URL: '' }, { revalidation: 'off', missing: [] }],
    [{ REVALIDATE_URL: '', REVALIDATE_SECRET: '' }, { revalidation: 'off', missing: [] }],
    [{ REVALIDATE_SECRET: '' }, { revalidation: null, missing: ['REVALIDATE_SECRET'] }],
    [{ APP_URL: '' }, { email: null, revalidation: null, missing: ['APP_URL', 'REVALIDATE_URL'] }],
    [{ RESEND_API_KEY: '' }, { email: null, missing: ['RESEND_API_KEY'] }],
    [{ EMAIL_FROM: '' }, { email: null, missing: ['EMAIL_FROM'] }],
    [{ INTERNAL_KEY: '' }, { internalKey: null, missing: [] }],
  ])('with %j give %j', (environment, expected) => {
    expect(read({ ...receivers, ...environment })).toMatchObject(expected);
  });

  test.each([
    ['APP_URL', 'app.example.com'],
    ['APP_URL', 'ftp://app.example.com'],
    ['RESEND_BASE_URL', 'api.resend.com'],
    ['REVALIDATE_URL', '/api/revalidate'],
    ['EMAIL_TIME_ZONE', 'Kolkata'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => read({ ...receivers, [name]: value })).toThrow(name);
  });
});

describe('an invalid value', () => {
  test.each([
    ['EARLY_RENEWAL', 'maybe'],
    ['EARLY_RENEWAL', 'Extend'],
    ['CREDIT', 'no'],
    ['EXPIRY_EMAILS', 'no'],
    ['EXPIRY_EMAILS', 'Off'],
    ['RENEWAL_EMAILS', 'yes'],
    ['RENEWAL_EMAILS', 'On'],
    ['LEDGER_RETENTION_DAYS', '89'],
    ['LEDGER_RETENTION_DAYS', '0'],
    ['LEDGER_RETENTION_DAYS', '-400'],
    ['LEDGER_RETENTION_DAYS', '400.5'],
    ['LEDGER_RETENTION_DAYS', '1e3'],
    ['LEDGER_RETENTION_DAYS', '100000'],
    ['LEDGER_RETENTION_DAYS', 'a year'],
    ['OUTBOX_RETENTION_DAYS', '29'],
    ['RECONCILE_CALLS_PER_SECOND', '0'],
    ['RECONCILE_CALLS_PER_SECOND', '1001'],
    ['RECONCILE_CALLS_PER_SECOND', '2.5'],
    ['TIER_HISTORY_RETENTION_DAYS', '29'],
    ['PORT', 'http'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '65536'],
    ['PORT', '123456'],
    ['GATEWAY_SIGNATURE_HEADER', 'x gateway signature'],
    ['GATEWAY_EVENT_ID_HEADER', 'x-gateway-event-id:'],
    ['GATEWAY_RETURN_FIELDS', 'order,payment'],
    ['GATEWAY_RETURN_FIELDS', 'order,payment,signature,more'],
    ['GATEWAY_RETURN_FIELDS', 'order,payment,'],
    ['GATEWAY_RETURN_FIELDS', 'order, payment, signature'],
    ['GATEWAY_RETURN_FIELDS', 'order,payment,order'],
    ['SUPABASE_URL', 'abc.supabase.co'],
    ['SESSION_ISSUER', 'abc.supabase.co/auth/v1'],
    ['DATABASE_POOL_CA', '/etc/ca.pem'],
    ['DATABASE_POOL_URL', 'db.example.com:6543'],
    ['DATABASE_POOL_URL', 'https://db.example.com'],
    ['GATEWAY_API_URL', 'api.gateway.example'],
    ['GATEWAY_API_URL', 'ftp://api.gateway.example'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => read({ ...full, [name]: value })).toThrow(name);
  });

  test('LEDGER_RETENTION_DAYS=30 is refused with the allowed range', () => {
    expect(() => read({ ...full, LEDGER_RETENTION_DAYS: '30' }))
      .toThrow(new Error('LEDGER_RETENTION_DAYS is not a whole number of days from 90 to 99999'));
  });
});
