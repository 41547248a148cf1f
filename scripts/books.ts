/**
 * `npm run books -- 2026-11`: writes the books of a month as files for the GST portal, Tally, Zoho Books and the bank
 * statement. Exit code 0: written, 3: written with problems, which are listed, 1: nothing written, 2: wrong arguments.
 */
import { resolve } from 'node:path';
import pg from 'pg';
import { portOf, readArguments } from './command-line.ts';
import { chooseDatabase } from './console/choose-database.ts';
import { readPassword } from './console/read-password.ts';
import { connectionConfig, connectionError, Unverified } from './doctor/connection.ts';
import { type Group, groups } from './books/write-books.ts';
import { monthsOf } from './books/months.ts';
import { runBooks } from './books/run-books.ts';
import { writeLine } from './stack/process/child.ts';
import { localDatabaseUrl, noStack } from './stack/secrets.ts';

const usage = `Usage: npm run books -- YYYY-MM [--out FOLDER] [--close] [--only GROUP]
       npm run books -- --from YYYY-MM --quarter [--out FOLDER] [--close] [--only GROUP]
  YYYY-MM            the month
  --from, --quarter  three months in one, from this one on, for quarterly filers
  --out FOLDER       where the files go (books-YYYY-MM). They replace those of an earlier run
  --close            close the month first: its return does not change any more. For the owner of the database
  --only GROUP       gstr1, tally, zoho or bank
  --db-url           a hosted project, without the password, which this command asks for. SUPPORT_DB_URL in the environment
                     may contain it. Neither of them: the local stack of npm start
  --without-ca       connect to a hosted project without DATABASE_POOL_CA: any server on the way can read the password
  --port N           the local stack's API port (54321)
Exit code 0: written. 3: written, with problems to look at. 1: nothing was written. 2: wrong arguments.`;

const options = readArguments(
  usage,
  {
    from: { type: 'string' },
    quarter: { type: 'boolean', default: false },
    out: { type: 'string' },
    close: { type: 'boolean', default: false },
    only: { type: 'string' },
    'db-url': { type: 'string' },
    'without-ca': { type: 'boolean', default: false },
    port: { type: 'string', default: '54321' },
  },
  ({ from, quarter, out, only, ...values }, positionals) => {
    const months = monthsOf(positionals, from, quarter);
    return {
      months,
      folder: out ?? `books-${quarter ? `${from}-` : ''}${months.month.slice(0, 7)}`,
      only: only === undefined ? undefined : groupOf(only),
      ...{ close: values.close, dbUrl: values['db-url'], withoutCa: values['without-ca'] },
      port: portOf(values.port, 1, 65534),
    };
  },
);
Deno.exit(await run());

async function run(): Promise<number> {
  const environment = Deno.env.toObject();
  const isHosted = Boolean(options.dbUrl || environment.SUPPORT_DB_URL);
  let client: pg.Client | undefined;
  try {
    const url = isHosted
      ? await chooseDatabase(options.dbUrl, environment, readPassword)
      : await localDatabaseUrl(options.port);
    const verification = { certificate: environment.DATABASE_POOL_CA, withoutCa: options.withoutCa };
    client = new pg.Client({ ...connectionConfig(url, verification), connectionTimeoutMillis: 10_000 });
    client.on('error', () => {}); // the running query fails, too
    await client.connect();
  } catch (error) {
    const isOurs = error instanceof Unverified ||
      !(error instanceof Error && 'code' in error) && error instanceof Error;
    const what = isHosted ? 'The database did not answer' : noStack(options.port);
    writeLine(isOurs ? error.message : `${what}: ${connectionError(error)}`);
    return 1;
  }
  try {
    // npm starts scripts in the folder of package.json, and names the caller's.
    const folder = resolve(environment.INIT_CWD ?? Deno.cwd(), options.folder);
    return await runBooks(client, { ...options, folder });
  } catch (error) {
    writeLine(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    await client.end().catch(() => {});
  }
}

function groupOf(name: string): Group {
  const group = groups.find((one) => one === name);
  if (group === undefined) throw new Error(`--only ${name}: none of ${groups.join(', ')}`);
  return group;
}
