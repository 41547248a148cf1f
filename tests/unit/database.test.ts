import { describe, expect, test } from 'vitest';
import { createDatabase } from '../../supabase/functions/api/database/database.ts';
import { DatabaseError } from '../../supabase/functions/api/database/rpc.ts';
import { driverCode } from '../../supabase/functions/api/database/driver-code.ts';
import { isPoolWithoutCa } from '../../supabase/functions/api/database/transport.ts';

type Database = ReturnType<typeof createDatabase>;
type Ask = (database: Database) => Promise<unknown>;

const userId = '3b1f8f0e-1d2c-4a5b-8c7d-9e0f1a2b3c4d';
const empty = { subscription: null, currentTier: 'free', entitlements: { on: true }, payments: [] };
const bought = {
  ...{ payment_id: 'p', amount: 99900, currency: 'INR', plan: { tier: 'pro', name: 'Pro' }, running: null },
  price: { lookup_key: 'pro', amount: 99900, currency: 'INR' },
  prefill: { email: 'asha@example.com', name: null },
};
const time = '2027-11-20T13:02:04.662Z';
const running = { tier: 'pro', until: time, early_renewal: 'replace', starts_at: time };
const getSubscription: Ask = (to) => to.getSubscription(userId);
const verifyPayment: Ask = (to) =>
  to.verifyPayment({ userId, orderId: 'order_1', paymentId: 'pay_1', signature: 'abc' });
const createOrder: Ask = (to) => to.createOrder({ userId, tier: 'pro', idempotencyKey: null }, true);
const listPlansForUser: Ask = (to) => to.listPlansForUser(userId);
const applyGatewayEvent: Ask = (to) => to.applyGatewayEvent({ bodySha256: '00', eventId: 'evt_1', body: '{}' });

/** A database whose calls return these results in order. Errors are thrown. */
function scripted(...ends: unknown[]) {
  const calls: { name: string; parameters: unknown }[] = [];
  const database = createDatabase((name, parameters) => {
    calls.push({ name, parameters });
    const end = ends[calls.length - 1];
    return end instanceof Error ? Promise.reject(end) : Promise.resolve(end);
  });
  return { database, calls };
}

test('getSubscription passes the user and returns the answer as JSON text, unchanged with its large numbers', async () => {
  const text = '{"subscription":null,"currentTier":"free","payments":[{"amount":9007199254740993, "meta":{}}]}';
  const { database, calls } = scripted(text, empty);
  expect(await database.getSubscription(userId)).toBe(text);
  expect(JSON.parse(await database.getSubscription(userId))).toEqual(empty);
  expect(calls[0]).toEqual({ name: 'get_subscription', parameters: { p_user_id: userId } });
});

test.each<[string, Ask, results: unknown[]]>([
  ['getSubscription', getSubscription, [undefined, null, '', '{}', 'null', [], {}]],
  [
    'getSubscription',
    getSubscription,
    [{ currentTier: null }, { payments: null }, { entitlements: null }].map((part) => ({ ...empty, ...part })),
  ],
  ['verifyPayment', verifyPayment, [null, {}, { outcome: 'applied' }, { ...running, outcome: 'new' }]],
  ['createOrder', createOrder, [
    undefined,
    ...[undefined, 'pro', { tier: 'pro' }, { ...running, until: null }].map((running) => ({
      outcome: 'created',
      ...bought,
      running,
    })),
  ]],
  ['listPlansForUser', listPlansForUser, [{ plans: [{ tier: 'pro', scenario: 'other', prices: [] }] }]],
  ['applyGatewayEvent', applyGatewayEvent, [null, {}, { outcome: null }]],
])('a result of %s of another shape is an error: %#', async (_, ask, results) => {
  for (const result of results) await expect(ask(scripted(result).database), JSON.stringify(result)).rejects.toThrow();
});

describe('a failure', () => {
  const failure = (code: string | undefined) => new DatabaseError('get_subscription', code);

  test.each(['40001', '40P01', '53300', '57P03', 'PGRST003'])(
    '%s is retried once, and thrown the second time',
    async (code) => {
      const once = scripted(failure(code), empty);
      expect(JSON.parse(await once.database.getSubscription(userId))).toEqual(empty);
      expect(once.calls[1]).toEqual(once.calls[0]);
      const second = failure(code);
      const twice = scripted(failure(code), second, empty);
      await expect(twice.database.getSubscription(userId)).rejects.toBe(second);
      expect([once.calls.length, twice.calls.length]).toEqual([2, 2]);
    },
  );

  test.each([
    ...['55P03', '57014', '40003', undefined].map(failure),
    Object.assign(new Error('not a DatabaseError'), { code: '40001' }),
  ])('%s is not retried', async (first) => {
    const { database, calls } = scripted(first, empty);
    await expect(database.getSubscription(userId)).rejects.toBe(first);
    expect(calls).toHaveLength(1);
  });

  test('has a message with only the call and its SQLSTATE', () => {
    expect(failure('23505').message).toBe('get_subscription failed: 23505');
    for (const words of [undefined, 'user "a" failed', 'db.example.com', 'x'.repeat(65), 'A\nB']) {
      expect(failure(words)).toMatchObject({ code: undefined, message: 'get_subscription failed' });
    }
  });
});

describe('the code of a failed call', () => {
  const withCode = (code: unknown) => Object.assign(new Error('of 10.0.0.1'), { code });

  test.each<[unknown, code: string | undefined]>([
    [withCode('23505'), '23505'],
    [withCode('SELF_SIGNED_CERT_IN_CHAIN'), 'SELF_SIGNED_CERT_IN_CHAIN'],
    [new Error('The server does not support SSL connections'), 'TLS_REFUSED'],
    [new Error('timeout exceeded when trying to connect'), 'CONNECT_TIMEOUT'],
    [new Error('Connection terminated due to connection timeout'), 'CONNECT_TIMEOUT'],
    [new Error('Connection terminated unexpectedly'), 'CONNECTION_CLOSED'],
    [new Error('invalid peer certificate: UnknownIssuer'), 'CERTIFICATE_UNKNOWN_ISSUER'],
    [new Error('invalid peer certificate: Other(OtherError("db.example.com"))'), 'CERTIFICATE_INVALID'],
    // The code of a DOMException is a number.
    [new DOMException('Deadline exceeded', 'TimeoutError'), 'CALL_TIMEOUT'],
    [new Error('password authentication failed for user "a"'), undefined],
    ['ECONNREFUSED', undefined],
  ])('of %s is %s', (error, code) => {
    expect(driverCode(error)).toBe(code);
  });
});

test.each([
  [true, 'postgresql://a:b@db.example.com:6543/postgres'],
  [true, 'postgresql://a:b@127.0.0.1/postgres?host=db.example.com'],
  [false, null],
  [false, 'postgresql://a:b@127.0.0.1:54322/postgres'],
  [false, 'postgresql://a:b@localhost/postgres'],
  [false, 'postgresql://a:b@[::1]:5432/postgres'],
  [false, 'postgresql://a:b@%2Fvar%2Frun%2Fpostgresql/postgres'],
])('it is %s that without an authority there is a warning about the pool %s', (isWarned, databasePoolUrl) => {
  expect(isPoolWithoutCa({ databasePoolUrl, databasePoolCa: null })).toBe(isWarned);
  expect(isPoolWithoutCa({ databasePoolUrl, databasePoolCa: '-----BEGIN CERTIFICATE-----\n' })).toBe(false);
});
