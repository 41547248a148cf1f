import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { runHosted } from '../helpers/project/run-hosted.ts';
import { everyRow, settings } from './rows.ts';

// On today's Deno: every-mail, and the served function in contract/dispatch-outbox.
test("the hosted runtime's Deno renders every mail with the function's permissions", async () => {
  expect(await runHosted('tests/emails/render-in-sandbox.ts'))
    .toEqual(await Promise.all(everyRow().map((row) => renderEmail(row, settings))));
});
