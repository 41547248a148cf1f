import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { everyRow, settings } from './rows.ts';

// sandbox.test.ts runs this file with the permissions of the function.
const mails = await Promise.all(everyRow().map((row) => renderEmail(row, settings)));
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(mails)));
