import { renderReceipt } from '../../supabase/functions/api/receipts/render-receipt.ts';
import { samples } from './samples.ts';

// sandbox.test.ts runs this file with the permissions of the function.
const documents: Record<string, number[]> = {};
for (const [name, receipt] of Object.entries(samples)) {
  documents[name] = [...await renderReceipt(receipt, { brandColor: '#0f766e' })];
}
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(documents)));
