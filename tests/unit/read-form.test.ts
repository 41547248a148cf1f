import { describe, expect, test } from 'vitest';
import { mayBeForm, readForm } from '../../supabase/functions/api/http/read-form.ts';

const form = (text: string) => readForm(new TextEncoder().encode(text));
const request = (headers: Record<string, string>) => new Request('http://127.0.0.1', { method: 'POST', headers });
const type = 'application/x-www-form-urlencoded';

describe('a field', () => {
  test.each([
    ['a=1&b=2', 'a', '1'],
    ['a=&b=2', 'a', ''],
    ['a', 'a', ''],
    ['a=%E2%82%B9+x', 'a', '₹ x'],
    ['error%5Bcode%5D=1', 'error[code]', '1'],
    ['a=%FF', 'a', '\ufffd'],
    ['a=1&b=2', 'c', undefined],
    ['a=1&a=2', 'a', undefined],
    ['a=1&%61=1', 'a', undefined],
    ['', 'a', undefined],
    ['a=1', '__proto__', undefined],
    ['a=1', 'toString', undefined],
  ])('of %j named %j is %j', (text, name, value) => {
    expect(form(text)(name)).toBe(value);
  });

  test('is read from a body of 16 KiB, and not from a larger one', () => {
    expect(form('a=1&b='.padEnd(16 * 1024, 'x'))('a')).toBe('1');
    expect(form('a=1&b='.padEnd(16 * 1024 + 1, 'x'))('a')).toBeUndefined();
  });
});

describe('a body', () => {
  test.each<[Record<string, string>, boolean]>([
    [{ 'content-type': type }, true],
    [{ 'content-type': `${type}; charset=utf-16` }, true],
    [{ 'content-type': type.toUpperCase() }, true],
    [{ 'content-type': type, 'content-length': '16384' }, true],
    [{ 'content-type': type, 'content-length': '16385' }, false],
    [{ 'content-type': type, 'content-length': 'many' }, true],
    [{ 'content-type': `${type}x` }, false],
    [{ 'content-type': 'multipart/form-data' }, false],
    [{}, false],
  ])('with the headers %j may be a form: %j', (headers, expected) => {
    expect(mayBeForm(request(headers))).toBe(expected);
  });
});
