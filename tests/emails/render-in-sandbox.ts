import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { everyRow, settings } from './rows.ts';

// Run by generated-bundle.test.ts with no more permissions than the function has.
const mails = await Promise.all(everyRow().map((row) => renderEmail(row, settings)));
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(mails)));
