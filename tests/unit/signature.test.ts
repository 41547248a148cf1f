import { describe, expect, test } from 'vitest';
import { createVerifier, paymentMessage, subscriptionMessage } from '../../supabase/functions/api/gateway/signature.ts';
import { sign } from '../helpers/gateway/sign.ts';

// Pinned vectors, computed with another program: HMAC-SHA256 of "order_A1|pay_B2".
const vectors = {
  'vector-secret': 'ea33337823fbdcc942a99705f0f9ac7ca440af0b0e116ef909f574d96fe72b10',
  'clé ✓': '60690324dba61c6316aee4b82765c12071b48357cf48ac90867a3cfdbae43abb',
} as const;
const secret = 'vector-secret';
const signature = vectors[secret];
const message = paymentMessage('order_A1', 'pay_B2');
const encoder = new TextEncoder();

/** Whether the signature verifies under these secrets. */
const verify = (candidate: string, bytes = message, secrets: string[] = [secret]) =>
  createVerifier(secrets)(bytes, candidate) !== null;

test.each(Object.entries(vectors))('the signature with the secret "%s" is the pinned one', async (secret, pinned) => {
  expect(verify(pinned, message, [secret])).toBe(true);
  expect(await sign(secret, 'order_A1|pay_B2')).toBe(pinned);
});

test('the message of an order is order id | payment id, that of a subscription payment id | subscription id', () => {
  expect(new TextDecoder().decode(message)).toBe('order_A1|pay_B2');
  expect(new TextDecoder().decode(subscriptionMessage('sub_A1', 'pay_B2'))).toBe('pay_B2|sub_A1');
});

test.each([[], [0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b]])('the signature over the bytes %j verifies', async (...bytes) => {
  expect(verify(await sign(secret, new Uint8Array(bytes)), new Uint8Array(bytes))).toBe(true);
});

describe('refused:', () => {
  test.each([
    ['an empty signature', ''],
    ['63 digits', signature.slice(1)],
    ['upper case', signature.toUpperCase()],
    ['a line break behind 64 digits', `${signature}\n`],
    ['64 full-width digits', '\uFF10'.repeat(64)],
    ['a NUL for the last digit', `${signature.slice(0, -1)}\0`],
    ['the last digit changed', `${signature.slice(0, -1)}1`],
  ])('%s', (_, candidate) => {
    expect(verify(candidate)).toBe(false);
  });

  test.each([
    paymentMessage('order_A1', 'pay_B3'),
    paymentMessage('order_A', '1|pay_B2'),
    subscriptionMessage('order_A1', 'pay_B2'),
    encoder.encode('order_A1|pay_B2\n'),
  ])('the signature of another message: %#', (other) => {
    expect(verify(signature, other)).toBe(false);
  });

  test('the signature of the decoded text of a message with a byte-order mark', async () => {
    const bytes = encoder.encode('\uFEFF{}');
    expect(verify(await sign(secret, new TextDecoder().decode(bytes)), bytes)).toBe(false);
  });
});

// WebCrypto refuses empty keys; a key of one zero byte gives the same HMAC.
const signers = { 'vector-secret': secret, 'new-secret': 'new-secret', 'older-secret': 'older-secret', empty: '\0' };

test.each<[secrets: string[], accepted: string[]]>([
  [['new-secret', secret], [secret, 'new-secret']],
  [['', secret], [secret]],
  [['vector-secret '], []],
  [[], []],
  [[''], []],
])('the secrets %j accept the signatures of %j', async (secrets, accepted) => {
  for (const [name, key] of Object.entries(signers)) {
    const candidate = await sign(key, 'order_A1|pay_B2');
    expect(verify(candidate, message, secrets), name).toBe(accepted.includes(name));
  }
});

test('the verifier says whether the current secret made the signature, or a previous one', async () => {
  const verifier = createVerifier(['new-secret', secret]);
  expect(verifier(message, await sign('new-secret', 'order_A1|pay_B2'))).toBe('current');
  expect(verifier(message, signature)).toBe('previous');
});
