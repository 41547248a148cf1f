import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { writeLine } from './stack/process/child.ts';

type Parsed<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true }>
>;

/**
 * Reads the arguments of a command. `--help` prints the usage on stdout and ends with 0. An unknown option, or an error of
 * `read`, prints its message and the usage on stderr and ends with 2.
 */
export function readArguments<const Options extends ParseArgsOptionsConfig, Result>(
  usage: string,
  options: Options,
  read: (values: Parsed<Options>['values'], positionals: string[]) => Result,
): Result {
  if (Deno.args.some((argument) => ['--help', '-h'].includes(argument))) {
    Deno.stdout.writeSync(new TextEncoder().encode(`${usage}\n`));
    Deno.exit(0);
  }
  try {
    const { values, positionals } = parseArgs({ args: Deno.args, options, allowPositionals: true });
    return read(values, positionals);
  } catch (error) {
    writeLine(error instanceof Error ? error.message : String(error));
    writeLine(usage);
    Deno.exit(2);
  }
}

/** @throws Error where arguments are given that are no options */
export function refusePositionals([first]: readonly string[]): void {
  if (first !== undefined) throw new Error(`Unexpected argument '${first}'`);
}

/** The number of a port. @throws Error where it is none, or one below or above these */
export function portOf(value: string, lowest = 1, highest = 65535): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port < lowest || port > highest) {
    throw new Error(`--port ${value}: not a number from ${lowest} to ${highest}`);
  }
  return port;
}
