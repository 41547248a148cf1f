import { expect, test } from 'vitest';
import { renderReceipt } from '../../supabase/functions/api/receipts/render-receipt.ts';
import { runHosted } from '../helpers/project/run-hosted.ts';
import { samples } from './samples.ts';

test("the hosted runtime's Deno renders the same bytes with the function's permissions", async () => {
  const hosted = Object(await runHosted('tests/receipts/render-in-sandbox.ts'));
  const different: string[] = [];
  for (const [name, receipt] of Object.entries(samples)) {
    const bytes = await renderReceipt(receipt, { brandColor: '#0f766e' });
    if (bytes.join() !== hosted[name]?.join()) different.push(name);
  }
  expect(different).toEqual([]);
});

test('a document has the same bytes each time', async () => {
  expect(await renderReceipt(samples.devanagari, {})).toEqual(await renderReceipt(samples.devanagari, {}));
});
