import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { renderReceipt } from '../../supabase/functions/api/receipts/render-receipt.ts';
import { formatDay, formatMoney, formatRate } from '../../supabase/functions/api/receipts/receipt-texts.ts';
import type { Receipt } from '../../supabase/functions/api/receipts/receipt.ts';
import { linesOf, readPdf } from './read-pdf.ts';

type Books = { documents: (Receipt & { against: string | null; against_date: string | null })[] };

const books = await readBooks();

test.skipIf(books === undefined)('the documents of a worked month are read back', async () => {
  const missing: string[] = [];
  for (const document of books?.documents ?? []) {
    const { pages, texts } = await readPdf(await renderReceipt(document, {}));
    expect(pages).toBe(1);
    const lines = linesOf(texts);
    const { buyer, currency, totals, against, against_date: againstDate } = document;
    const parts = [
      ...[document.title, document.document_number, formatDay(document.document_date), document.lines[0]?.description],
      ...[buyer.name, buyer.address, buyer.gstin, document.lines[0]?.sac],
      ...totals.taxes.map(({ name, rate, amount }) => `${name} ${formatRate(rate)} ${formatMoney(amount, currency)}`),
      ...[`Taxable value ${formatMoney(totals.taxable, currency)}`, `Total ${formatMoney(totals.total, currency)}`],
      ...(against && againstDate ? [`Tax invoice ${against} of ${formatDay(againstDate)}`] : []),
      ...(document.rupees ? [`Value in rupees: ${formatMoney(document.rupees.total, 'INR')}`] : []),
    ];
    missing.push(
      ...parts.flatMap((part) => part && !lines.includes(part) ? [`${document.document_number}: ${part}`] : []),
    );
  }
  expect(missing).toEqual([]);
});

async function readBooks(): Promise<Books | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(`${root}/../shared/books/example.json`));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
