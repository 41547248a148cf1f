import { expect, test } from 'vitest';
import { isStorableText, toStorableJson } from '../../supabase/functions/api/database/storable-json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each<[string, json: string, stored?: string | null]>([
  ['is unchanged without such text', '{"a":[1,2.5,-3,true,false,null,"ä 😀"],"b":{}}'],
  ...['5', 'null', '"x"', '[]'].map((json): [string, string] => [`is unchanged: ${json}`, json]),
  ['keeps __proto__ as a key of the data', '{"__proto__":{"a":1},"b":2}'],
  ['keeps an escaped backslash before u0000', '["\\\\u0000"]'],
  ['replaces NUL in a value', '{"a":"x\\u0000y"}', '{"a":"x\uFFFDy"}'],
  ['replaces NUL in a key', '{"x\\u0000":1}', '{"x\uFFFD":1}'],
  ['replaces a lone high surrogate', '["\\ud800"]', '["\uFFFD"]'],
  ['has null for a number beyond a double', '[1e200000,-1e200000]', '[null,null]'],
  ['may have 64 levels', nested(64)],
  ['is null with 65 levels', nested(65), null],
  ['is null with 200,000 levels', nested(200_000), null],
])('JSON that Postgres can store %s', (_, json, stored = json) => {
  expect(toStorableJson(json)).toBe(stored);
});

test('invalid JSON throws SyntaxError', () => {
  for (const text of ['', '{', 'undefined', "{'a':1}", '[1,]', '{"a":1}x', '['.repeat(200_000)]) {
    expect(() => toStorableJson(text)).toThrow(SyntaxError);
  }
});

test.each([
  ...['', 'order_A1', '😀', '\uFFFD', '\u0001'].map((text) => [text, true] as const),
  ...['\0', 'a\0b', '\uD800', 'x\uDC00', '\uDC00\uD800'].map((text) => [text, false] as const),
])('that the text %j can be stored is %j', (text, isStorable) => {
  expect(isStorableText(text)).toBe(isStorable);
});
