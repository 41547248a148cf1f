import { describe, expect, test } from 'vitest';
import { isStorableText, toStorableJson } from '../../supabase/functions/api/database/storable-json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('toStorableJson', () => {
  test.each(['{"a":[1,2.5,-3,true,false,null,"ä 😀"],"b":{}}', '5', 'null', '"x"', '[]'])(
    'leaves %s unchanged',
    (json) => {
      expect(toStorableJson(json)).toBe(json);
    },
  );

  test.each([
    ['NUL in a value', '{"a":"x\\u0000y"}', '{"a":"x\uFFFDy"}'],
    ['NUL in a key', '{"x\\u0000":1}', '{"x\uFFFD":1}'],
    ['a lone high surrogate', '["\\ud800"]', '["\uFFFD"]'],
    ['a lone low surrogate', '["\\udc00x"]', '["\uFFFDx"]'],
    ['surrogates in the wrong order', '["\\udc00\\ud800"]', '["\uFFFD\uFFFD"]'],
    ['a pair of surrogates', '["\\ud83d\\ude00"]', '["😀"]'],
    ['NUL deep inside', '{"a":[{"b":["\\u0000"]}]}', '{"a":[{"b":["\uFFFD"]}]}'],
    ['a number beyond a double', '[1e200000,-1e200000]', '[null,null]'],
    ['an escaped backslash before u0000', '["\\\\u0000"]', '["\\\\u0000"]'],
  ])('%s', (_, json, expected) => {
    expect(toStorableJson(json)).toBe(expected);
  });

  test('keeps __proto__ as a key of the data', () => {
    expect(toStorableJson('{"__proto__":{"a":1},"b":2}')).toBe('{"__proto__":{"a":1},"b":2}');
  });

  test.each([63, 64])('accepts %i levels', (depth) => {
    expect(toStorableJson(nested(depth))).toBe(nested(depth));
  });

  test.each([65, 1000, 200_000])('returns null for %i levels', (depth) => {
    expect(toStorableJson(nested(depth))).toBeNull();
  });

  test.each(['', '{', 'undefined', "{'a':1}", '[1,]', '{"a":1}x', '['.repeat(200_000)])(
    'throws SyntaxError for invalid JSON (%#)',
    (text) => {
      expect(() => toStorableJson(text)).toThrow(SyntaxError);
    },
  );
});

describe('isStorableText', () => {
  test.each(['', 'order_A1', '😀', '\uFFFD', '\u0001'])('is true of %j', (text) => {
    expect(isStorableText(text)).toBe(true);
  });

  test.each(['\0', 'a\0b', '\uD800', 'x\uDC00', '\uDC00\uD800'])('is false of %j', (text) => {
    expect(isStorableText(text)).toBe(false);
  });
});
