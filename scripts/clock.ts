/**
 * `npm run clock -- '1 month'`: moves the time of the local stack; without an argument: back to the machine's time.
 * Exit code: 0, 1 if the clock was not moved, 2 for invalid arguments.
 */
import postgres from 'postgres';
import { portOf, readArguments } from './command-line.ts';
import { moveClock } from './stack/clock/move-clock.ts';
import { readTarget } from './stack/clock/read-target.ts';
import { writeLine } from './stack/process/child.ts';
import { databaseUrlAt } from './stack/postgres/database-url.ts';
import { portNames } from './stack/ports.ts';
import { localSecrets, noStack } from './stack/secrets.ts';

const usage = `Usage: npm run clock -- [INTERVAL] [--port N]
  INTERVAL   moves the time of the local stack, such as '1 month', '36 hours', '1 year 4 days' or '3 days ago'. Everything
             that is due on the way happens in its order. Default: back to the machine's time
  --port N   the stack's API port (54321)`;

Deno.exit(await run());

/** @returns the exit code */
async function run(): Promise<number> {
  const { port, interval } = readArguments(
    usage,
    { port: { type: 'string', default: '54321' } },
    ({ port }, [interval, ...more]) => {
      if (more.length > 0) throw new Error(`more than one interval: put '${[interval, ...more].join(' ')}' in quotes`);
      return { port: portOf(port, 1, 65_536 - portNames.length), interval };
    },
  );
  const { databasePassword, secretKey } = await localSecrets();
  const sql = postgres(databaseUrlAt(port + 1, databasePassword), { max: 1, connect_timeout: 5, onnotice: () => {} });
  const stack = {
    sql,
    gatewayUrl: `http://127.0.0.1:${port + 4}`,
    internalUrl: `http://127.0.0.1:${port}/functions/v1/api/internal`,
    secretKey,
  };
  let isMoving = false;
  try {
    const target = await readTarget(sql, interval);
    if (target.status === 'refused') {
      writeLine(`${target.reason}\n${usage}`);
      return 2;
    }
    isMoving = true;
    await moveClock(stack, target.at, ({ at, text }) => writeLine(`${minute(at)}  ${text}`));
    const [row] = await sql`select billing.iso_time(billing.clock()) as now`;
    writeLine(`The stack's time is ${row?.now}`);
    return 0;
  } catch (error) {
    writeLine(reasonOf(error, port));
    const [row] = isMoving ? await sql`select billing.iso_time(billing.clock()) as now`.catch(() => []) : [];
    if (row !== undefined) writeLine(`The stack's time is ${row.now}`);
    return 1;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** A time as `2027-01-05 00:00`, in UTC. @param seconds Unix seconds */
function minute(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

function reasonOf(error: unknown, port: number): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(ECONNREFUSED|CONNECT_TIMEOUT|CONNECTION_CLOSED|CONNECTION_ENDED)$/.test(code)) {
    return noStack(port);
  }
  if (code === '28P01') {
    return `The database at port ${port + 1} has another password: another folder's stack runs there.`;
  }
  if (code === '42P01' || code === '42883') return 'The stack is not ready yet: wait for the line "ready".';
  return `The clock was not moved to the end: ${error instanceof Error ? error.message : error}`;
}
