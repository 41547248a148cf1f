import type { Locale } from '../mails.ts';
import { en, type Texts } from './en.ts';
import { hi } from './hi.ts';

export type { Texts };

const languages = { en, hi };
const made = new Map<Locale, Texts>();

/** The texts of a language. They are made when the first mail needs them. */
export function textsOf(locale: Locale = 'en'): Texts {
  const texts = made.get(locale) ?? languages[locale]();
  made.set(locale, texts);
  return texts;
}
