/**
 * `npm run console`: serves the console on 127.0.0.1, over the local stack or a hosted project. Prints its address on
 * stdout, everything else on stderr.
 */
import { portOf, readArguments, refusePositionals } from './command-line.ts';
import { createConsole } from './console/console.ts';
import { createSupportDatabase, Refused } from './console/database.ts';
import { chooseDatabase } from './console/choose-database.ts';
import { readPassword } from './console/read-password.ts';
import type { Verification } from './doctor/connection.ts';
import { writeLine } from './stack/process/child.ts';
import { onParentEnd } from './stack/process/parent.ts';

const usage = `Usage: npm run console -- [--db-url <connection string>] [--without-ca] [--port N] [--stack-port N]
  serves the console until Ctrl-C
  --db-url      a hosted project, with the role subscriptions_support. Without the password, which this command asks for:
                the process list shows arguments. SUPPORT_DB_URL in the environment may contain it.
                Neither of them: the local stack of npm start
  --stack-port  the API's port of that stack (54321)
  --without-ca  connect to a hosted project without DATABASE_POOL_CA: any server on the way can read the password
  --port N      the port of the console; any free one by default
  SUPPORT_DB_PASSWORD, DATABASE_POOL_CA, APP_URL in the environment: the password, the CA of the database (PEM), and
                where the links of shown mails lead`;

const { port, stackPort, dbUrl, withoutCa } = readArguments(
  usage,
  {
    port: { type: 'string', default: '0' },
    'stack-port': { type: 'string', default: '54321' },
    'db-url': { type: 'string' },
    'without-ca': { type: 'boolean', default: false },
  },
  (values, positionals) => {
    refusePositionals(positionals);
    return {
      port: portOf(values.port, 0),
      stackPort: portOf(values['stack-port'], 1, 65534),
      dbUrl: values['db-url'],
      withoutCa: values['without-ca'],
    };
  },
);
const ended = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] satisfies Deno.Signal[]) {
  Deno.addSignalListener(signal, () => ended.resolve());
}
onParentEnd(() => ended.resolve());

try {
  const environment = Deno.env.toObject();
  const databaseUrl = await chooseDatabase(dbUrl, environment, readPassword, stackPort);
  const verification = { certificate: environment.DATABASE_POOL_CA, withoutCa };
  await tryDatabase(databaseUrl, verification);
  const appUrl = environment.APP_URL || 'https://app.example';
  const service = createConsole({ port, databaseUrl, appUrl, ...verification });
  await service.start();
  const lines = `CONSOLE_URL=${JSON.stringify(service.entryUrl)}\nready\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(lines));
  await ended.promise;
  await service.stop();
  Deno.exit(0);
} catch (error) {
  writeLine(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}

/** Reads one row, so that a wrong address or password ends the command and not each page. */
async function tryDatabase(url: string, verification: Verification): Promise<void> {
  const database = createSupportDatabase(url, verification);
  try {
    await database.read('select from billing.service_state');
  } catch (error) {
    if (error instanceof Refused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = dbUrl || Deno.env.get('SUPPORT_DB_URL')
      ? 'Does it run, and may subscriptions_support log in?'
      : 'Run `npm start`, or name its port with --stack-port, or a database with --db-url.';
    throw new Error(`The database did not answer: ${reason}. ${remedy}`);
  } finally {
    database.close();
  }
}
