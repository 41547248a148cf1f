import { expect, test } from 'vitest';
import { denoEnvironment } from '../../scripts/stack/process/deno-environment.ts';
import { root } from '../../scripts/stack/root.ts';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { everyRow, settings } from './rows.ts';

// On today's Deno: every-mail, and the served function in contract/dispatch-outbox.
test("the hosted runtime's Deno renders every mail with the function's permissions", async () => {
  const { stdout, stderr } = await new Deno.Command(`${root}/node_modules/deno-hosted/deno`, {
    args: [
      ...['run', '--no-prompt', '--node-modules-dir=manual', '--no-lock', '--allow-net=127.0.0.1'],
      ...['--config', 'supabase/functions/api/deno.json', 'tests/emails/render-in-sandbox.ts'],
    ],
    cwd: root,
    clearEnv: true,
    env: denoEnvironment(),
  }).output();
  expect(new TextDecoder().decode(stderr)).toBe('');
  expect(JSON.parse(new TextDecoder().decode(stdout)))
    .toEqual(await Promise.all(everyRow().map((row) => renderEmail(row, settings))));
});
