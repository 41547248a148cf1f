import { expect, test, vi } from 'vitest';

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) };
});

// Another test file of this worker may have loaded the module with the real function.
vi.resetModules();
const { timingSafeEqual } = await import('node:crypto');
const { createInternalAccess } = await import('../../supabase/functions/api/sessions/internal-access.ts');

const request = (headers: Record<string, string>) =>
  new Request('https://abc.supabase.co/functions/v1/api/internal/outbox', { method: 'POST', headers });
const both = ['internal-key', 'sb_secret_1'] as const;
const noInternal = [null, 'sb_secret_1'] as const;
const empty = ['', ''] as const;

test.each<[readonly [string | null, string], Record<string, string>, isAccepted: boolean]>([
  [both, { 'x-internal-key': 'internal-key' }, true],
  [both, { apikey: 'sb_secret_1' }, true],
  [both, { 'x-internal-key': 'wrong', apikey: 'sb_secret_1' }, true],
  [both, {}, false],
  [both, { 'x-internal-key': 'internal-ke' }, false],
  [both, { 'x-internal-key': 'sb_secret_1' }, false],
  [both, { apikey: 'internal-key' }, false],
  [both, { authorization: 'Bearer sb_secret_1' }, false],
  [noInternal, { apikey: 'sb_secret_1' }, true],
  [noInternal, {}, false],
  [noInternal, { 'x-internal-key': 'null' }, false],
  [empty, {}, false],
  [empty, { 'x-internal-key': '', apikey: '' }, false],
])('with the keys %j a request with %j is accepted: %j', ([internalKey, secretKey], headers, isAccepted) => {
  expect(createInternalAccess(internalKey, secretKey)(request(headers))).toBe(isAccepted);
});

test.each(['internal-key', 'x'])('the key %s is compared once, over 32 bytes, in constant time', (key) => {
  vi.mocked(timingSafeEqual).mockClear();
  createInternalAccess(...both)(request({ 'x-internal-key': key }));
  expect(vi.mocked(timingSafeEqual).mock.calls.map((keys) => keys.map(({ byteLength }) => byteLength)))
    .toEqual([[32, 32]]);
});
