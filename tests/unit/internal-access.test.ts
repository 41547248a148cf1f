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
])('%j is accepted', async (headers) => {
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
])('%j is refused', async (headers) => {
  expect(await mayCall(request(headers))).toBe(false);
});

describe('without an internal key', () => {
  const mayCallWithout = createInternalAccess(null, 'sb_secret_1');

  test.each<[Record<string, string>]>([[{}], [{ 'x-internal-key': '' }], [{ 'x-internal-key': 'null' }]])(
    '%j is refused',
    async (headers) => {
      expect(await mayCallWithout(request(headers))).toBe(false);
    },
  );

  test('the secret key is accepted', async () => {
    expect(await mayCallWithout(request({ apikey: 'sb_secret_1' }))).toBe(true);
  });
});

test('empty keys accept no request, also none with empty headers', async () => {
  const empty = createInternalAccess('', '');
  expect(await empty(request({}))).toBe(false);
  expect(await empty(request({ 'x-internal-key': '', apikey: '' }))).toBe(false);
});

test('a valid and an invalid key are compared by one HMAC, in constant time', async () => {
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
