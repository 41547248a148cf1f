import type { Locale } from '../../../supabase/functions/api/generated/emails.js';

const months = new Map<string, number>(
  ['en', 'hi'].flatMap((locale) => {
    const format = new Intl.DateTimeFormat(`${locale}-IN`, { month: 'long', timeZone: 'UTC' });
    return Array.from(
      { length: 12 },
      (_, month): [string, number] => [format.format(Date.UTC(2027, month)), month + 1],
    );
  }),
);

/** The days and amounts of a mail, each once and sorted: the same in every language. */
export function factsIn(text: string, locale: Locale): string[] {
  const letters = locale === 'hi' ? String.raw`[\u0900-\u097f]` : '[A-Za-z]';
  const days = [...text.matchAll(new RegExp(String.raw`(\d{1,2}) (${letters}+) (\d{4})`, 'g'))]
    .flatMap(([, day, month = '', year]) => months.has(month) ? [`${year}-${months.get(month)}-${day}`] : []);
  const amounts = [...text.matchAll(/₹[\d,]+\.\d\d/g)].map(([amount]) => amount.replaceAll(',', ''));
  return [...new Set([...days, ...amounts])].toSorted();
}
