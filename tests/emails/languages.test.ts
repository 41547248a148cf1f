import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import type { Locale } from '../../supabase/functions/api/generated/emails.js';
import { factsIn } from '../helpers/words/languages.ts';
import { everyRow, receiptIssuedRow, settings } from './rows.ts';

const render = (row: ReturnType<typeof everyRow>[number], locale: Locale) =>
  renderEmail(row, { ...settings, timeZone: 'Asia/Kolkata', look: { locale } });

test.each(everyRow().map((row) => [row.kind, row] as const))(
  '%s names the same days and amounts in Hindi',
  async (_, row) => {
    const [english, hindi] = [await render(row, 'en'), await render(row, 'hi')];
    expect(factsIn(`${hindi.subject}\n${hindi.text}`, 'hi')).toEqual(
      factsIn(`${english.subject}\n${english.text}`, 'en'),
    );
  },
);

test.each(everyRow().map((row) => [row.kind, row] as const))(
  '%s has no English word in Hindi but names',
  async (_, row) => {
    const { subject, text, html } = await render(row, 'hi');
    const names = /Pro Yearly|Pro|Basic|Premium|Asha Rao|Card declined by the bank|https?:\S+|\w+_\w+/g;
    const read = html.replaceAll(/<(style|script)[^>]*>.*?<\/\1>|<!--.*?-->|<[^>]*>|&[#\w]+;/gs, ' ');
    const told = [...html.matchAll(/ (?:alt|title|aria-label)="([^"]*)"/g)].map(([, words]) => words);
    expect([subject, text, read, ...told].join('\n').replaceAll(names, '').match(/[A-Za-z]{2,}/g) ?? []).toEqual([]);
    expect(html).toContain('lang="hi"');
  },
);

test.each([['Receipt', 'रसीद'], ['Credit note', 'क्रेडिट नोट'], ['Credit note without GST', 'बिना जीएसटी का क्रेडिट नोट']])(
  'the mail of a document with the title %s names it in Hindi, and as it is in English',
  async (title, hindi) => {
    const row = receiptIssuedRow();
    Object.assign(Object(row.payload).receipt, { title });
    expect((await render(row, 'hi')).subject).toBe(`${hindi} 2728/000102`);
    expect((await render(row, 'en')).subject).toBe(`${title} 2728/000102`);
  },
);

test("the contract's form of an amount is that of English", async () => {
  const row = everyRow().find(({ kind }) => kind === 'payment-success') ?? expect.fail('no such row');
  expect((await render(row, 'en')).text).toContain('₹1234.56');
  expect((await render(row, 'hi')).text).toContain('₹1,234.56');
  expect((await render(row, 'hi')).text).toContain('20 नवंबर 2027');
});
