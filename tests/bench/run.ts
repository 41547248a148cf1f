/** `npm run bench`: prints what was measured as Markdown. */
import { benchOutbox } from './outbox.ts';
import { table } from './report.ts';
import { benchStack } from './stack.ts';

const rows = [...await benchStack(), ...await benchOutbox()];
Deno.stdout.writeSync(new TextEncoder().encode(table(rows)));
