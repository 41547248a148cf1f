/**
 * `npm run doctor`: checks the local stack or a hosted project from outside, and prints one line for each check.
 * Exit code: 0, 1 if a check fails, 2 for invalid arguments.
 */
import { portOf, readArguments, refusePositionals } from './command-line.ts';
import { applyFixes, proposals } from './doctor/apply-fixes.ts';
import { checksFor } from './doctor/checks.ts';
import { createMask } from './doctor/mask.ts';
import { type Project, readProject, secretValues } from './doctor/project.ts';
import { resultLine, resultsJson, summaryLine } from './doctor/report.ts';
import { type Result, runChecks } from './doctor/run-checks.ts';
import { writeLine } from './stack/process/child.ts';
import { portNames } from './stack/ports.ts';

const usage = `Usage: npm run doctor -- [--project-ref REF] [--env-file FILE] [--function NAME] [--fix [--yes]] [--json]
                             [--without-ca] [--port N]
  --project-ref REF  check a hosted project. Set SUPABASE_ACCESS_TOKEN and DATABASE_URL in the environment: checks that
                     need a missing one are skipped. Default: check the local stack
  --function NAME    the name of the function in a hosted project (the one in supabase/subscriptions.json, else api)
  --env-file FILE    file with the function's variables (supabase/functions/.env); the process environment overrides it
  --fix              show possible fixes (Vault rows, billing.set_up(), billing.settings, the webhook endpoint),
                     ask, and apply them
  --yes              with --fix: apply without asking
  --without-ca       connect to the database without DATABASE_POOL_CA: any server on the way can read the password
  --json             print the results as a JSON array
  --port N           the local stack's API port (54321)`;

type Options = {
  readonly ref: string | null;
  readonly envFile: string | undefined;
  readonly functionName: string | undefined;
  readonly port: number;
  readonly withoutCa: boolean;
  readonly fix: boolean;
  readonly yes: boolean;
  readonly json: boolean;
};

const options = readOptions();
const project = await readOwnProject();
const mask = createMask(secretValues(project));
Deno.exit(await run(project));

/** npm starts scripts in the folder of package.json, and names the caller's. */
async function readOwnProject(): Promise<Project> {
  const environment = Deno.env.toObject();
  try {
    return await readProject({ ...options, folder: environment.INIT_CWD ?? Deno.cwd(), environment });
  } catch (error) {
    writeLine(error instanceof Error ? error.message : String(error));
    Deno.exit(1);
  }
}

async function run(project: Project): Promise<number> {
  const onResult = (result: Result) => options.json || print(resultLine(result, mask));
  let results = await runChecks(checksFor(project), project, { onResult });
  if (options.fix) results = await repair(project, results, onResult);
  if (options.json) print(resultsJson(results, mask));
  writeLine(summaryLine(results));
  return results.some(({ status }) => status === 'fail') ? 1 : 0;
}

/** Shows the fixes, applies them after a confirmation, and repeats the checks that proposed them. */
async function repair(project: Project, results: Result[], onResult: (result: Result) => void): Promise<Result[]> {
  const fixes = proposals(results);
  // With --json stdout contains only the results.
  const say = (line: string) => options.json ? writeLine(mask(line)) : print(mask(line));
  for (const { fix } of fixes) say(`fix   ${fix.title}`);
  if (fixes.length === 0) {
    writeLine('There is nothing that --fix can repair.');
    return results;
  }
  if (!options.yes && !(isInteractive() && confirm('Apply this?'))) {
    writeLine('Nothing was changed. --yes applies it without asking.');
    return results;
  }
  for (const failure of await applyFixes(project, fixes)) say(`fix   failed: ${failure}`);
  const again = checksFor(project).filter(({ name }) => fixes.some(({ check }) => check === name));
  const repaired = await runChecks(again, project, { onResult });
  return results.map((result) => repaired.find(({ check }) => check === result.check) ?? result);
}

/** False with --json, where the question would break the JSON on stdout. */
function isInteractive(): boolean {
  return !options.json && Deno.stdin.isTerminal();
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function readOptions(): Options {
  const options = {
    'project-ref': { type: 'string' },
    'env-file': { type: 'string' },
    function: { type: 'string' },
    port: { type: 'string', default: '54321' },
    fix: { type: 'boolean', default: false },
    'without-ca': { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  } as const;
  return readArguments(usage, options, (values, positionals) => {
    refusePositionals(positionals);
    const port = portOf(values.port, 1, 65535 - (portNames.length - 1));
    const ref = values['project-ref'] ?? null;
    if (ref !== null && !/^[a-z0-9]+$/.test(ref)) throw new Error(`--project-ref ${ref}: not the ref of a project`);
    if (values.function !== undefined && ref === null) {
      throw new Error('--function needs --project-ref: the function of the local stack is api');
    }
    const functionName = values.function;
    if (functionName !== undefined && !/^[A-Za-z][\w-]*$/.test(functionName)) {
      throw new Error(`--function ${functionName}: not a name of letters, digits, - and _`);
    }
    if (values.yes && !values.fix) throw new Error('--yes needs --fix');
    const { 'env-file': envFile, 'without-ca': withoutCa, fix, yes, json } = values;
    return { ref, envFile, functionName, port, withoutCa, fix, yes, json };
  });
}
