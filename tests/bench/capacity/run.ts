/**
 * `npm run bench:capacity`: prints the cost of each request for the database, and writes it to `capacity.result.md`.
 */
import { publish } from '../report.ts';
import { type Cost, measureCapacity } from './measure.ts';
import { requests } from './requests.ts';

const { costs, sweep } = await measureCapacity();
await publish(
  'capacity.result.md',
  [
    '| request | CPU ms | statements | write-ahead log, bytes | pages of 8 kB after a checkpoint, at most | tables and indexes grow by, bytes |',
    '|---|---|---|---|---|---|',
    ...costs.map(line),
    '',
    `A sweep that finds nothing to do: ${sweep.cpu.toFixed(2)} ms of CPU, ${sweep.statements.toFixed(0)} statements.`,
    '',
  ].join('\n'),
);

function line({ request, cpu, statements, wal, pageImages, growth }: Cost): string {
  const cells = [
    requests[request],
    cpu.toFixed(2),
    statements.toFixed(1),
    wal.toFixed(0),
    pageImages.toFixed(1),
    growth.toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}
