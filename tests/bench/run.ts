/** `npm run bench`: prints the results as Markdown, and writes them to `bench.result.md` beside this file. */
import { compare, compareTable, ratios } from './compare.ts';
import { benchExpiry } from './expiry.ts';
import { benchMemory } from './memory.ts';
import { compareWithMinimal } from './minimal/measure.ts';
import { minimalTable } from './minimal/table.ts';
import { benchOutbox } from './outbox.ts';
import { publish, table } from './report.ts';
import { benchStack } from './stack.ts';

const cells = await compare();
const comparisons = await compareWithMinimal();
const rows = [
  ...ratios(cells),
  ...await benchMemory(),
  ...await benchStack(),
  ...await benchOutbox(),
  ...await benchExpiry(),
];
await publish('bench.result.md', `${compareTable(cells)}\n${minimalTable(comparisons)}\n${table(rows)}`);
