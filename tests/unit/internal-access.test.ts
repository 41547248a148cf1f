import { describe, expect, test, vi } from 'vitest';

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) };
});

// Another test file of this worker may have loaded the module with the real function.
vi.resetModules();
const { timingSafeEqual } = await import('node:crypto');
const { createInternalAccess } = await import('../../supabase/functions/api/sessions/internal-access.ts');

const request = (headers: HeadersInit) =>
  new Request('https://abc.supabase.co/functions/v1/api/internal/outbox', { method: 'POST', headers });
const mayCall = createInternalAccess('internal-key', 'sb_secret_1');

test.each([
  [{ 'x-internal-key': 'internal-key' }],
  [{ apikey: 'sb_secret_1' }],
  [{ 'x-internal-key': 'internal-key', apikey: 'sb_publishable_1' }],
  [{ 'x-internal-key': 'wrong', apikey: 'sb_secret_1' }],
])('%j is accepted', (headers) => {
  expect(mayCall(request(headers))).toBe(true);
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
])('%j is refused', (headers) => {
  expect(mayCall(request(headers))).toBe(false);
});

describe('without an internal key', () => {
  const mayCallWithout = createInternalAccess(null, 'sb_secret_1');

  test.each<[Record<string, string>]>([[{}], [{ 'x-internal-key': '' }], [{ 'x-internal-key': 'null' }]])(
    '%j is refused',
    (headers) => {
      expect(mayCallWithout(request(headers))).toBe(false);
    },
  );

  test('the secret key is accepted', () => {
    expect(mayCallWithout(request({ apikey: 'sb_secret_1' }))).toBe(true);
  });
});

test('empty keys accept no request, also none with empty headers', () => {
  const empty = createInternalAccess('', '');
  expect(empty(request({}))).toBe(false);
  expect(empty(request({ 'x-internal-key': '', apikey: '' }))).toBe(false);
});

test('a valid and an invalid key are compared once, over 32 bytes, in constant time', () => {
  for (const key of ['internal-key', 'x', 'internal-kex']) {
    vi.mocked(timingSafeEqual).mockClear();
    mayCall(request({ 'x-internal-key': key }));
    expect(vi.mocked(timingSafeEqual).mock.calls.map((keys) => keys.map(({ byteLength }) => byteLength)))
      .toEqual([[32, 32]]);
  }
});
