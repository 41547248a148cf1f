import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readStatus } from '../../supabase/functions/api/outbox/outbox.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([200, 201, 202, 204, 299])('%i → delivered', (status) => {
  expect(readStatus(status, 'error', '30')).toEqual({ status: 'delivered' });
});

test.each([199, 300, 301, 302, 304, 307, 308, 399, 408, 409, 500, 502, 503, 504, 599])(
  '%i → failed, with a retry',
  (status) => {
    expect(readStatus(status, 'error', '30')).toEqual({ status: 'failed', error: 'error' });
  },
);

test.each([400, 401, 403, 404, 405, 410, 413, 422, 428, 430, 451, 499])('%i → refused, without a retry', (status) => {
  expect(readStatus(status, 'error', '30')).toEqual({ status: 'refused', error: 'error' });
});

describe('429 with retry-after', () => {
  test.each([
    [null, 60],
    ['', 60],
    ['soon', 60],
    ['NaN', 60],
    ['Infinity', 60],
    ['30', 30],
    [' 30 ', 30],
    ['1.2', 2],
    ['0', 1],
    ['-5', 1],
    ['3600', 3600],
    ['3601', 3600],
    ['1e9', 3600],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
    ['2026-01-01T00:00:00.500Z', 1],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 1],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 3600],
  ])('%j → a pause of %i s', (retryAfter, seconds) => {
    expect(readStatus(429, 'error', retryAfter)).toEqual({ status: 'paused', error: 'error', seconds });
  });
});
