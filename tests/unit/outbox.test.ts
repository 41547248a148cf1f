import { afterAll, expect, test, vi } from 'vitest';
import { readStatus } from '../../supabase/functions/api/outbox/outbox.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
afterAll(() => {
  vi.useRealTimers();
});

test.each([
  ['delivered', [200, 299]],
  ['failed', [199, 300, 307, 399, 408, 409, 500, 599]],
  ['refused', [400, 401, 410, 422, 428, 430, 499]],
])('%s is the outcome of %j', (status, codes) => {
  for (const code of codes) {
    const error = status === 'delivered' ? {} : { error: 'error' };
    expect(readStatus(code, 'error', '30'), String(code)).toEqual({ status, ...error });
  }
});

test.each([
  [60, [null, '', 'soon', 'NaN', 'Infinity']],
  [30, ['30', ' 30 ']],
  [2, ['1.2']],
  [1, ['0', '-5', '2026-01-01T00:00:00.500Z', 'Wed, 31 Dec 2025 23:59:59 GMT']],
  [90, ['Thu, 01 Jan 2026 00:01:30 GMT']],
  [3600, ['3600', '3601', '1e9', 'Fri, 01 Jan 2027 00:00:00 GMT']],
])('429 is a pause of %i s with retry-after %j', (seconds, values) => {
  for (const retryAfter of values) {
    expect(readStatus(429, 'error', retryAfter), `${retryAfter}`).toEqual({
      status: 'paused',
      error: 'error',
      seconds,
    });
  }
});
