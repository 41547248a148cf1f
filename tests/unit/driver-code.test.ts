import { describe, expect, test } from 'vitest';
import { driverCode } from '../../supabase/functions/api/database/driver-code.ts';
import { isPoolWithoutCa } from '../../supabase/functions/api/database/transport.ts';

const withCode = (code: unknown) => Object.assign(new Error('of 10.0.0.1'), { code });

describe('the code of a failed call', () => {
  test.each(['23505', 'ECONNREFUSED', 'SELF_SIGNED_CERT_IN_CHAIN', '57P01'])('%s is the code of the driver', (code) => {
    expect(driverCode(withCode(code))).toBe(code);
  });

  test.each([
    ['The server does not support SSL connections', 'TLS_REFUSED'],
    ['timeout exceeded when trying to connect', 'CONNECT_TIMEOUT'],
    ['Connection terminated due to connection timeout', 'CONNECT_TIMEOUT'],
    ['Connection terminated unexpectedly', 'CONNECTION_CLOSED'],
    ['Connection terminated', 'CONNECTION_CLOSED'],
    ['invalid peer certificate: UnknownIssuer', 'CERTIFICATE_UNKNOWN_ISSUER'],
    ['invalid peer certificate: Expired', 'CERTIFICATE_EXPIRED'],
    ['invalid peer certificate: certificate not valid for name "db.example.com"', 'CERTIFICATE_INVALID'],
    ['invalid peer certificate: Other(OtherError("db.example.com"))', 'CERTIFICATE_INVALID'],
  ])('of "%s" is %s', (message, code) => {
    expect(driverCode(new Error(message))).toBe(code);
  });

  test('of a call that exceeds its deadline is CALL_TIMEOUT, although the code of a DOMException is a number', () => {
    expect(driverCode(new DOMException('Deadline exceeded', 'TimeoutError'))).toBe('CALL_TIMEOUT');
  });

  test.each([new Error('password authentication failed for user "a"'), withCode(23), 'ECONNREFUSED', null, undefined])(
    'of another error is undefined: %s',
    (error) => {
      expect(driverCode(error)).toBeUndefined();
    },
  );
});

describe('a pool without an authority', () => {
  const warns = (databasePoolUrl: string | null, databasePoolCa: string | null = null) =>
    isPoolWithoutCa({ databasePoolUrl, databasePoolCa });

  test.each([
    'postgresql://a:b@db.example.com:6543/postgres',
    'postgres://a:b@10.0.0.1/postgres',
    'postgresql://a:b@127.0.0.1.example.com/postgres',
    'postgresql://a:b@localhost.example.com/postgres',
    'postgresql://a:b@[2001:db8::1]:6543/postgres',
    'postgresql://a:b@127.0.0.1/postgres?host=db.example.com',
    'postgresql://a:b@db.example.com/postgres?sslmode=require',
  ])('%s gets a warning', (url) => {
    expect(warns(url)).toBe(true);
    expect(warns(url, '-----BEGIN CERTIFICATE-----\n')).toBe(false);
  });

  test.each([
    null,
    'postgresql://a:b@127.0.0.1:54322/postgres',
    'postgresql://a:b@127.8.9.10/postgres',
    'postgresql://a:b@localhost/postgres',
    'postgresql://a:b@LOCALHOST/postgres',
    'postgresql://a:b@[::1]:5432/postgres',
    'postgresql:///postgres',
    'postgresql:///postgres?host=/var/run/postgresql',
    'postgresql://a:b@%2Fvar%2Frun%2Fpostgresql/postgres',
  ])('%s gets no warning', (url) => {
    expect(warns(url)).toBe(false);
  });
});
