/**
 * `deno run -A tests/bench/minimal/run.ts`: prints the cost of a request in our database and in the minimal one.
 * Arguments select kinds: `verify captured charged ignored read`.
 */
import { compareWithMinimal } from './measure.ts';
import { kinds } from './requests.ts';
import { minimalTable } from './table.ts';

const unknown = Deno.args.filter((arg) => !kinds.some((kind) => kind === arg));
if (unknown.length > 0) throw new Error(`No such kind: ${unknown.join(', ')}. There are ${kinds.join(', ')}.`);
const chosen = kinds.filter((kind) => Deno.args.length === 0 || Deno.args.includes(kind));
Deno.stdout.writeSync(new TextEncoder().encode(minimalTable(await compareWithMinimal(chosen))));
