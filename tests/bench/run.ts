/** `npm run bench`: prints what was measured as Markdown. */
import { benchExpiry } from './expiry.ts';
import { benchOutbox } from './outbox.ts';
import { table } from './report.ts';
import { benchStack } from './stack.ts';

const rows = [...await benchStack(), ...await benchOutbox(), ...await benchExpiry()];
Deno.stdout.writeSync(new TextEncoder().encode(table(rows)));
