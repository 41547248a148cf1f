import { renderEmail } from '../../supabase/functions/api/render-email.ts';
import { paymentFailedRow, paymentSuccessRow, settings } from './rows.ts';

// Run by generated-bundle.test.ts with no more permissions than the function has.
const mails = [await renderEmail(paymentSuccessRow(), settings), await renderEmail(paymentFailedRow(), settings)];
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(mails)));
