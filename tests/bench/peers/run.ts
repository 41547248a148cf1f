/**
 * `deno run -A tests/bench/peers/run.ts`: prints the CPU per webhook of ours and of comparable systems, which npm
 * installs into a temporary folder. `--node` also measures them on Node, `--smoke` only checks that everything runs.
 */
import { comparePeers } from './measure.ts';
import { peersTable } from './table.ts';

const isSmoke = Deno.args.includes('--smoke');
const { results, missing } = await comparePeers({
  repetitions: isSmoke ? 1 : 5,
  webhooks: isSmoke ? 250 : 1500,
  runtimes: Deno.args.includes('--node') ? ['deno', 'node'] : ['deno'],
});
Deno.stdout.writeSync(new TextEncoder().encode([peersTable(results), ...missing, ''].join('\n')));
