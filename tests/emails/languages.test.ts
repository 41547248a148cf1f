import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import type { Locale } from '../../supabase/functions/api/generated/emails.js';
import { factsIn } from '../helpers/words/languages.ts';
import { everyRow, settings } from './rows.ts';

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
    const names = /Pro Yearly|Pro|Basic|Premium|Asha Rao|Tax invoice|Card declined by the bank|https?:\S+|\w+_\w+/g;
    expect(`${subject}\n${text}`.replaceAll(names, '').match(/[A-Za-z]{2,}/g) ?? []).toEqual([]);
    expect(html).toContain('lang="hi"');
  },
);

test("the contract's form of an amount is that of English", async () => {
  const row = everyRow().find(({ kind }) => kind === 'payment-success') ?? expect.fail('no such row');
  expect((await render(row, 'en')).text).toContain('₹1234.56');
  expect((await render(row, 'hi')).text).toContain('₹1,234.56');
  expect((await render(row, 'hi')).text).toContain('20 नवंबर 2027');
});
