import { describe, expect, test, vi } from 'vitest';
import { createInternalAccess } from '../../supabase/functions/api/sessions/internal-access.ts';

const request = (headers: HeadersInit) =>
  new Request('https://abc.supabase.co/functions/v1/api/internal/outbox', { method: 'POST', headers });
const mayCall = createInternalAccess('internal-key', 'sb_secret_1');

test.each([
  [{ 'x-internal-key': 'internal-key' }],
  [{ apikey: 'sb_secret_1' }],
  [{ 'x-internal-key': 'internal-key', apikey: 'sb_publishable_1' }],
  [{ 'x-internal-key': 'wrong', apikey: 'sb_secret_1' }],
])('%j may', async (headers) => {
  expect(await mayCall(request(headers))).toBe(true);
});

test.each<[Record<string, string>]>([
  [{}],
  [{ 'x-internal-key': '', apikey: '' }],
  [{ 'x-internal-key': 'internal-ke' }],
  [{ 'x-internal-key': 'internal-keyy' }],
  [{ 'x-internal-key': 'Internal-key' }],
  [{ 'x-internal-key': 'internal-key, internal-key' }],
  [{ 'x-internal-key': 'sb_secret_1' }],
  [{ apikey: 'internal-key' }],
  [{ apikey: 'sb_publishable_1' }],
  [{ authorization: 'Bearer sb_secret_1' }],
  [{ authorization: 'Bearer internal-key' }],
])('%j may not', async (headers) => {
  expect(await mayCall(request(headers))).toBe(false);
});

describe('without an internal key', () => {
  const mayCallWithout = createInternalAccess(null, 'sb_secret_1');

  test.each<[Record<string, string>]>([[{}], [{ 'x-internal-key': '' }], [{ 'x-internal-key': 'null' }]])(
    '%j may not',
    async (headers) => {
      expect(await mayCallWithout(request(headers))).toBe(false);
    },
  );

  test('the secret key may', async () => {
    expect(await mayCallWithout(request({ apikey: 'sb_secret_1' }))).toBe(true);
  });
});

test('an empty key opens nothing, not even to an empty header', async () => {
  const empty = createInternalAccess('', '');
  expect(await empty(request({}))).toBe(false);
  expect(await empty(request({ 'x-internal-key': '', apikey: '' }))).toBe(false);
});

test('every key that is sent is compared by a MAC, in constant time, whether it is right or wrong', async () => {
  const verify = vi.spyOn(crypto.subtle, 'verify');
  try {
    for (const key of ['internal-key', 'x', 'internal-kex']) {
      verify.mockClear();
      await mayCall(request({ 'x-internal-key': key }));
      expect(verify.mock.calls.map(([algorithm]) => algorithm)).toEqual(['HMAC']);
    }
  } finally {
    verify.mockRestore();
  }
});
