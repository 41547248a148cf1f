import { describe, expect, test } from 'vitest';
import { createVerifier, paymentMessage } from '../../supabase/functions/api/gateway/signature.ts';
import { sign } from '../helpers/gateway/sign.ts';

// Pinned vectors, computed with another program: HMAC-SHA256 of "order_A1|pay_B2".
const vectors = {
  'vector-secret': 'ea33337823fbdcc942a99705f0f9ac7ca440af0b0e116ef909f574d96fe72b10',
  'clé ✓': '60690324dba61c6316aee4b82765c12071b48357cf48ac90867a3cfdbae43abb',
} as const;
const secret = 'vector-secret';
const signature = vectors[secret];
const message = paymentMessage('order_A1', 'pay_B2');
const verify = createVerifier([secret]);
const encoder = new TextEncoder();

test.each(Object.entries(vectors))('the signature with the secret "%s" is the pinned one', async (secret, pinned) => {
  expect(await createVerifier([secret])(message, pinned)).toBe(true);
  expect(await sign(secret, 'order_A1|pay_B2')).toBe(pinned);
});

test('the message of a payment is order id, vertical bar, payment id', () => {
  expect(new TextDecoder().decode(message)).toBe('order_A1|pay_B2');
});

test('a signature over bytes that are not text verifies', async () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b]);
  expect(await verify(bytes, await sign(secret, bytes))).toBe(true);
});

test('an empty message verifies with its signature', async () => {
  expect(await verify(new Uint8Array(), await sign(secret, ''))).toBe(true);
});

describe('refused:', () => {
  test.each([
    ['an empty signature', ''],
    ['63 digits', signature.slice(1)],
    ['65 digits', `${signature}0`],
    ['128 digits', signature.repeat(2)],
    ['upper case', signature.toUpperCase()],
    ['one letter in upper case', signature.replace('ea', 'eA')],
    ['garbage behind 64 digits', `${signature}zz`],
    ['a line break behind 64 digits', `${signature}\n`],
    ['a blank before 64 digits', ` ${signature}`],
    ['64 letters that are not hexadecimal', 'g'.repeat(64)],
    ['64 full-width digits', '\uFF10'.repeat(64)],
    ['a NUL for the last digit', `${signature.slice(0, -1)}\0`],
    ['the last digit changed', `${signature.slice(0, -1)}1`],
    ['the first digit changed', `f${signature.slice(1)}`],
    ['base64', btoa(signature)],
    ['64 zeros', '0'.repeat(64)],
  ])('%s', async (_, candidate) => {
    expect(await verify(message, candidate)).toBe(false);
  });

  test('the signature of another message', async () => {
    expect(await verify(paymentMessage('order_A1', 'pay_B3'), signature)).toBe(false);
    expect(await verify(paymentMessage('order_A', '1|pay_B2'), signature)).toBe(false);
    expect(await verify(encoder.encode('order_A1|pay_B2\n'), signature)).toBe(false);
  });

  test('a signature with another secret', async () => {
    expect(await createVerifier(['vector-secret '])(message, signature)).toBe(false);
    expect(await createVerifier(['Vector-secret'])(message, signature)).toBe(false);
  });

  test('the signature of the decoded text of a message with a byte-order mark', async () => {
    const bytes = encoder.encode('\uFEFF{}');
    expect(await verify(bytes, await sign(secret, new TextDecoder().decode(bytes)))).toBe(false);
  });

  test('every signature, without a secret or with empty ones', async () => {
    // WebCrypto refuses empty keys; a key of one zero byte gives the same HMAC.
    const underEmptySecret = await sign('\0', 'order_A1|pay_B2');
    for (const secrets of [[], [''], ['', '']]) {
      expect(await createVerifier(secrets)(message, underEmptySecret)).toBe(false);
      expect(await createVerifier(secrets)(message, signature)).toBe(false);
    }
  });
});

test('each of two secrets verifies, a third does not', async () => {
  const both = createVerifier(['new-secret', secret]);
  expect(await both(message, signature)).toBe(true);
  expect(await both(message, await sign('new-secret', 'order_A1|pay_B2'))).toBe(true);
  expect(await both(message, await sign('older-secret', 'order_A1|pay_B2'))).toBe(false);
});

test('an empty secret beside another one verifies nothing', async () => {
  const verify = createVerifier(['', secret]);
  expect(await verify(message, signature)).toBe(true);
  expect(await verify(message, await sign('\0', 'order_A1|pay_B2'))).toBe(false);
});
