/**
 * `npm run clock -- '+1 month'`: shifts the time of the local stack; without an argument: resets it to the real time.
 */
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { writeLine } from './stack/process/child.ts';
import { localDatabaseUrl } from './stack/secrets.ts';
import { setGatewayClock, settleGateway } from './stack/gateway/clock.ts';
import { sweep } from './stack/postgres/sweep.ts';

const { values, positionals } = parseArgs({
  args: Deno.args,
  options: { port: { type: 'string', default: '54321' } },
  allowPositionals: true,
});
const [shift] = positionals;
const port = Number(values.port);
const gatewayUrl = `http://127.0.0.1:${port + 4}`;
const sql = postgres(await localDatabaseUrl(port), { max: 1 });
try {
  // In one transaction: if the gateway simulator refuses the new time, the stack keeps the old one.
  await sql.begin(async (sql) => {
    await sql`update billing.clock_shift set shift = ${
      shift === undefined ? sql`interval '0'` : sql`shift + ${shift}::text::interval`
    }`;
    await setGatewayClock(sql, gatewayUrl);
  });
  // After the commit, so that the webhooks find the new time, and before the sweep, so that renewals are known to it.
  await settleGateway(gatewayUrl);
  // Run the sweep now instead of at the next minute.
  await sql.unsafe(sweep);
  const [row] = await sql`select billing.iso_time(billing.clock()) as now`;
  writeLine(`The stack's time is ${row?.now}`);
} catch (error) {
  writeLine(`The clock was not shifted: ${error instanceof Error ? error.message : error}`);
  Deno.exitCode = 1;
} finally {
  await sql.end();
}
