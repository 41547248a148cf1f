/**
 * `npm run bench:soak`: webhooks, reads and verifies on 16 connections, by turns with and without the sweep, its passes,
 * the purge and the dispatcher: ten minutes with them and five without with one function, two fifths of it with 4 and with
 * 16 functions behind PgBouncer (Debian's package `pgbouncer`). Then 16 functions with fewer connections than they open.
 * Arguments are other minutes of the first part, and another number of payments. Prints tables, and writes them to
 * `soak.result.md`.
 */
import { publish } from '../report.ts';
import { measureSoak } from './measure.ts';

await publish('soak.result.md', await measureSoak(Number(Deno.args[0] ?? 10), ...Deno.args.slice(1).map(Number)));
