/**
 * `npm start`: runs the local stack in the foreground. Prints a client's settings on stdout, everything else on stderr.
 */
import { resolve } from 'node:path';
import { portOf, readArguments, refusePositionals } from './command-line.ts';
import { createConsole } from './console/console.ts';
import { writeLine } from './stack/process/child.ts';
import { claimDataFolder } from './stack/data-folder.ts';
import { pagesText } from './stack/pages.ts';
import { portNames, takenPorts } from './stack/ports.ts';
import { localSecrets } from './stack/secrets.ts';
import { onParentEnd } from './stack/process/parent.ts';
import { createStack } from './stack/stack.ts';

const usage = `Usage: npm start -- [--port N] [--ephemeral] [--reset] [--project FOLDER] [--verbose]
  --port N      the API's port (54321); Postgres, Studio, mailbox, gateway simulator, function, demo shop and console take
                the seven after it
  --ephemeral   throw-away data
  --reset       delete the kept data first
  --project     serves the functions of that app beside ours, and applies its migrations
  --verbose     show the migrations that are applied`;

const { port, ephemeral, reset, project, verbose } = readArguments(
  usage,
  {
    port: { type: 'string', default: '54321' },
    ephemeral: { type: 'boolean', default: false },
    reset: { type: 'boolean', default: false },
    project: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
  (values, positionals) => {
    refusePositionals(positionals);
    const port = portOf(values.port, 1, 65535 - (portNames.length - 1));
    if (values.ephemeral && values.reset) throw new Error('--reset deletes kept data, and --ephemeral keeps none');
    return { ...values, port, project: values.project === undefined ? undefined : resolve(values.project) };
  },
);
Deno.exit(await run());

/**
 * Runs the stack until a signal or a crash. Prints only the first failure: later ones follow from it.
 * @returns the exit code
 */
async function run(): Promise<number> {
  const end = Promise.withResolvers<number>();
  let ended = false;
  const finish = (code: number, error?: unknown) => {
    if (!ended && error !== undefined) printError(error);
    ended = true;
    end.resolve(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] satisfies Deno.Signal[]) {
    Deno.addSignalListener(signal, () => finish(0));
  }
  onParentEnd(() => finish(0));
  // After a bug or a lost connection the stack stops cleanly, too.
  globalThis.addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    finish(1, event.reason);
  });
  globalThis.addEventListener('error', (event) => {
    event.preventDefault();
    finish(1, event.error);
  });
  try {
    const taken = takenPorts(port);
    if (taken.length > 0) {
      throw new Error(`${taken.join('\n')}\nFree it, or choose other ports with --port`);
    }
    const secrets = await localSecrets();
    if (!ephemeral) await claimDataFolder(reset, secrets.databasePassword);
    const environment = Deno.env.toObject();
    const onCrash = (error: Error) => finish(1, error);
    const stack = await createStack({
      ...{ port, ephemeral, project, secrets, environment, verbose },
      createConsole,
      onCrash,
    });
    stack.start().then(
      (answers) => answers && print(stack.outputs),
      (error: unknown) => finish(1, error),
    );
    const code = await end.promise;
    await stack.stop();
    return code;
  } catch (error) {
    printError(error);
    return 1;
  }
}

/** Programs read the lines with values. A person at a terminal gets the pages first. */
function print(outputs: Record<string, string>): void {
  const pages = Deno.stdout.isTerminal() ? [pagesText(outputs)] : [];
  const lines = [
    ...pages,
    ...Object.entries(outputs).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    'ready',
    '',
  ];
  Deno.stdout.writeSync(new TextEncoder().encode(lines.join('\n')));
}

function printError(error: unknown): void {
  writeLine(error instanceof Error ? error.message : String(error));
}
