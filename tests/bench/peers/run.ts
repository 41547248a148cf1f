/**
 * `npm run bench:peers`: prints the CPU per webhook of ours and of comparable systems, which npm installs into a
 * temporary folder, and writes it to `peers.result.md`. `--node` also measures them on Node, `--smoke` only checks that
 * everything runs.
 */
import { publish } from '../report.ts';
import { comparePeers } from './measure.ts';
import { peersTable } from './table.ts';

const isSmoke = Deno.args.includes('--smoke');
const { results, missing } = await comparePeers({
  repetitions: isSmoke ? 1 : 25,
  webhooks: isSmoke ? 100 : 300,
  others: isSmoke ? 50 : 1500,
  runtimes: Deno.args.includes('--node') ? ['deno', 'node'] : ['deno'],
});
await publish('peers.result.md', [peersTable(results), ...missing, ''].join('\n'));
