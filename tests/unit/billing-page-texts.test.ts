import { expect, test } from 'vitest';
import { en } from '../../supabase/client/blocks/billing-page/en.ts';
import { hi } from '../../supabase/client/blocks/billing-page/hi.ts';
import { ABROAD, placeOf, statesOf } from '../../supabase/client/blocks/billing-page/states.ts';

const time = '2027-01-26T12:00:00Z';
const lengths = [1, 3].flatMap((interval_count) =>
  (['month', 'year'] as const).map((interval) => ({ interval, interval_count }))
);

/** Every text below a value, with its path: functions are called with times, and once without their first value. */
function textsOf(value: unknown, path: string): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    const calls: unknown[][] = /per|every|changeLength/.test(path)
      ? lengths.map((length) => [length])
      : [[time, time, true]];
    if (!/day|moment|country|per|every|changeLength|On$|startsOn|starts$|change$/.test(path)) {
      calls.push([null, null, false]);
    }
    return calls.map((call) => [path, String(value(...call))]);
  }
  return Object.entries(value ?? {}).flatMap(([name, inner]) => textsOf(inner, `${path}.${name}`));
}

test('no text of the page has an English word in Hindi, but the names of codes', () => {
  const { money, country, compare, ...texts } = hi;
  const words = textsOf(texts, 'hi').flatMap(([path, text]) =>
    (text.replaceAll(/GSTIN|\bPT\b|null|true|false/g, '').match(/[A-Za-z]{2,}/g) ?? []).map((word) =>
      `${path}: ${word}`
    )
  );
  expect(words).toEqual([]);
  expect([money(99900, 'INR'), country('PT'), compare('क', 'ख')]).toEqual(['₹999.00', 'पुर्तगाल', -1]);
});

test('the states are sorted by their names in each language, and abroad is the last', () => {
  const [english, hindi] = [statesOf(en), statesOf(hi)];
  expect(english.length).toBe(38);
  expect(hindi.map(([code]) => code).toSorted()).toEqual(english.map(([code]) => code).toSorted());
  for (const [states, { compare }] of [[english, en], [hindi, hi]] as const) {
    const names = states.slice(0, -2).map(([, name]) => name);
    expect(names).toEqual(names.toSorted(compare));
    expect(states.slice(-2).map(([code]) => code)).toEqual(['97', ABROAD]);
  }
  expect([hindi[0]?.[1], hindi.find(([code]) => code === '29')?.[1]]).toEqual(['अंडमान और निकोबार द्वीपसमूह', 'कर्नाटक']);
});

test.each([
  [en, '27', null, 'Maharashtra'],
  [hi, '27', 'IN', 'महाराष्ट्र'],
  [en, ABROAD, 'PT', 'Portugal'],
  [hi, ABROAD, 'PT', 'पुर्तगाल'],
  [en, ABROAD, 'XZ', 'XZ'],
  [en, null, null, undefined],
])('the place of a customer is written in the language', (texts, state, country, place) => {
  expect(placeOf(state, country, texts)).toBe(place);
});
