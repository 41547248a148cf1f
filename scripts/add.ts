/**
 * `npm run add -- <folder>`: installs the service in the folder of an app, or upgrades it. Exit code 0: done, or nothing
 * to do. 1: something prevents it, and nothing is written. 2: wrong arguments.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { tsconfigNotes } from './add/app-tsconfig.ts';
import { changedFiles } from './add/edits.ts';
import { type Installed, readInstalled, recordPath } from './add/installed.ts';
import { planInstallation } from './add/plan.ts';
import { type Product, readProduct } from './add/product.ts';
import { keptLines, mailNotes, nextLines, problemLines, stepLines } from './add/report.ts';
import { removeWaiting, writeSteps } from './add/write-steps.ts';
import { readArguments } from './command-line.ts';
import { writeLine } from './stack/process/child.ts';
import { root } from './stack/root.ts';

const usage = `Usage: npm run add -- <folder> [--function NAME] [--check] [--dry-run]
  <folder>          the folder of an app, with supabase/config.toml
  --function NAME   the name of the Edge Function (api)
  --check           only compare what is installed with this version
  --dry-run         only list what would be done`;

type Options = { folder: string; functionName: string | undefined; check: boolean; dryRun: boolean };

Deno.exit(await run());

async function run(): Promise<number> {
  const options = readArguments(
    usage,
    {
      function: { type: 'string' },
      check: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
    readOptions,
  );
  try {
    const installed = await readInstalled(options.folder);
    const product = await readProduct(root, options.functionName ?? installed?.function ?? 'api');
    return options.check ? await check(options.folder, installed, product) : await add(options, installed, product);
  } catch (error) {
    writeLine(messageOf(error));
    return 1;
  }
}

async function add({ folder, dryRun }: Options, installed: Installed | undefined, product: Product): Promise<number> {
  const plan = await planInstallation(folder, installed, product);
  const problems = problemLines(plan);
  const subject = `supabase-subscriptions ${product.version}, function ${product.function}`;
  if (plan.steps.length === 0 && problems.length === 0) {
    if (!dryRun) await removeWaiting(folder);
    print(`${subject}: nothing to do`, ...keptLines(plan));
    return 0;
  }
  print(
    `${subject}, ${installed === undefined ? 'new' : `from ${installed.version}`}:`,
    ...stepLines(plan, product),
    ...keptLines(plan),
  );
  if (problems.length > 0) {
    print('', 'Nothing is written:', ...problems);
    return 1;
  }
  if (!dryRun) await writeSteps(folder, plan.steps);
  print('', dryRun ? 'Nothing is written: --dry-run' : 'Done.', ...nextLines(plan, product));
  print(...await tsconfigNotes(folder));
  if (plan.kept.length > 0) print(...await mailNotes(folder, plan, product));
  return 0;
}

async function check(folder: string, installed: Installed | undefined, product: Product): Promise<number> {
  if (installed === undefined) {
    print(`${recordPath} is missing`);
    return 1;
  }
  const { version } = product;
  const changed = await changedFiles(folder, installed, product);
  for (const path of changed) print(`${path} is not as it was installed`);
  if (installed.version !== version) print(`${recordPath} names version ${installed.version}, this is ${version}`);
  return changed.length > 0 || installed.version !== version ? 1 : 0;
}

/** @throws Error when the arguments are wrong, or the folder is not that of an app */
function readOptions(
  values: { function?: string | undefined; check: boolean; 'dry-run': boolean },
  [given, ...more]: string[],
): Options {
  if (given === undefined || more.length > 0) throw new Error('Name one folder');
  if (values.function !== undefined && !/^[A-Za-z][\w-]*$/.test(values.function)) {
    throw new Error(`--function ${values.function}: not a name of letters, digits, - and _`);
  }
  if (values.check && values['dry-run']) throw new Error('--check and --dry-run exclude each other');
  // npm starts scripts in the folder of package.json.
  const folder = resolve(Deno.env.get('INIT_CWD') ?? Deno.cwd(), given);
  if (folder === root) throw new Error('This is the folder of the service itself');
  if (!existsSync(`${folder}/supabase/config.toml`)) {
    throw new Error(`${given} has no supabase/config.toml: run \`npx supabase init\` there`);
  }
  return { folder, functionName: values.function, check: values.check, dryRun: values['dry-run'] };
}

function print(...lines: string[]): void {
  Deno.stdout.writeSync(new TextEncoder().encode(lines.map((line) => `${line}\n`).join('')));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
