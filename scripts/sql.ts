/**
 * `npm run sql -- "select …"`: runs SQL on the database of the local stack, as its owner. Rows go to stdout as a table. Exit
 * code 1: the server refused it, or the stack does not run. 2: wrong arguments.
 */
import { portOf, readArguments } from './command-line.ts';
import { NoDatabase, runStatement, serverText } from './sql/run-statement.ts';
import { writeLine } from './stack/process/child.ts';
import { localDatabaseUrl, noStack } from './stack/secrets.ts';

const usage =
  'Usage: npm run sql -- "<statement>" [--port N]\n  --port N  the API\'s port of the running stack (54321)';

Deno.exit(await run());

async function run(): Promise<number> {
  const options = readArguments(
    usage,
    { port: { type: 'string', default: '54321' } },
    ({ port }, [statement, ...more]) => {
      if (statement === undefined || more.length > 0) throw new Error('Give one statement, in quotes');
      return { statement, port: portOf(port, 1, 65534) };
    },
  );
  try {
    const text = await runStatement(await localDatabaseUrl(options.port), options.statement);
    await new Blob([text]).stream().pipeTo(Deno.stdout.writable);
    return 0;
  } catch (error) {
    writeLine(
      error instanceof NoDatabase ? `${noStack(options.port)} (${error.message})` : serverText(error),
    );
    return 1;
  }
}
