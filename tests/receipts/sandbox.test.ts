import { expect, test } from 'vitest';
import { denoEnvironment } from '../../scripts/stack/process/deno-environment.ts';
import { root } from '../../scripts/stack/root.ts';
import { renderReceipt } from '../../supabase/functions/api/receipts/render-receipt.ts';
import { samples } from './samples.ts';

test("the hosted runtime's Deno renders the same bytes with the function's permissions", async () => {
  const { stdout, stderr } = await new Deno.Command(`${root}/node_modules/deno-hosted/deno`, {
    args: [
      ...['run', '--no-prompt', '--node-modules-dir=manual', '--no-lock', '--allow-net=127.0.0.1'],
      ...['--config', 'supabase/functions/api/deno.json', 'tests/receipts/render-in-sandbox.ts'],
    ],
    cwd: root,
    clearEnv: true,
    env: denoEnvironment(),
  }).output();
  expect(new TextDecoder().decode(stderr)).toBe('');
  const hosted: Record<string, number[]> = JSON.parse(new TextDecoder().decode(stdout));
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
