import type { Texts } from './en.ts';

/** Other Territory, and outside India: after the states. */
const last = ['97', '96'];
export const ABROAD = '96';

/** The states of the Indian GST by their names in a language. */
export function statesOf({ states, compare }: Texts): [code: string, name: string][] {
  return Object.entries(states).sort(([code, name], [otherCode, other]) =>
    last.indexOf(code) - last.indexOf(otherCode) || compare(name, other)
  );
}

/** The place of a customer: the state, or the country abroad. */
export function placeOf(state: string | null, country: string | null, texts: Texts): string | undefined {
  if (country && country !== 'IN') return texts.country(country);
  return statesOf(texts).find(([code]) => code === state)?.[1];
}
