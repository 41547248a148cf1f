/** `deno run -A tests/bench/receipt-pdf.ts`: the CPU of a receipt's PDF, warm, beside that of a mail. Some seconds. */
import process from 'node:process';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { renderReceipt } from '../../supabase/functions/api/receipts/render-receipt.ts';
import { paymentSuccessRow, settings } from '../emails/rows.ts';
import { samples } from '../receipts/samples.ts';

const rounds = 7;
const repetitions = 300;

const work: Record<string, () => Promise<unknown>> = {
  'mail': () => renderEmail(paymentSuccessRow(), settings),
  'PDF of a tax invoice': () => renderReceipt(samples['inside-the-state'], {}),
  'PDF in Devanagari': () => renderReceipt(samples.devanagari, {}),
};

/** In alternation, since the speed of a shared machine changes. */
const costs = new Map<string, number[]>();
for (let round = 0; round <= rounds; round++) {
  for (const [name, render] of Object.entries(work)) {
    const start = process.cpuUsage();
    for (let repetition = 0; repetition < repetitions; repetition++) await render();
    const { user, system } = process.cpuUsage(start);
    const cost = (user + system) / repetitions / 1000;
    if (round === 0) continue; // warms up
    costs.set(name, [...costs.get(name) ?? [], cost]);
  }
}

const median = (values: readonly number[] = []) => values.toSorted((one, other) => one - other)[rounds >> 1] ?? 0;
const mail = median(costs.get('mail'));
for (const [name, values] of costs) {
  writeLine(`${name}: ${median(values).toFixed(2)} ms of CPU, ${(median(values) / mail).toFixed(2)} of a mail`);
}
