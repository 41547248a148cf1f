/**
 * `npm run doctor`: checks the local stack, or a hosted project, from the outside: one line a check. Exit code 0 without
 * a fail, 1 with one, 2 for wrong arguments.
 */
import { parseArgs } from 'node:util';
import { applyFixes, proposals } from './doctor/apply-fixes.ts';
import { checksFor } from './doctor/checks.ts';
import { createMask } from './doctor/mask.ts';
import { type Project, readProject, secretValues } from './doctor/project.ts';
import { resultLine, resultsJson, summaryLine } from './doctor/report.ts';
import { type Result, runChecks } from './doctor/run-checks.ts';
import { writeLine } from './stack/child.ts';
import { portNames } from './stack/ports.ts';

const usage = `Usage: npm run doctor -- [--project-ref REF] [--env-file FILE] [--fix [--yes]] [--json] [--port N]
  --project-ref REF  a hosted project, with SUPABASE_ACCESS_TOKEN and DATABASE_URL in the environment; what is not
                     given is skipped. Without it: the local stack
  --env-file FILE    the function's variables (supabase/functions/.env); the process environment wins over it
  --fix              shows what it would change: Vault rows, private.set_up(), the webhook endpoint; asks, then does it
  --yes              with --fix: does not ask
  --json             the results as a JSON array
  --port N           the local stack's API port (54321)`;

type Options = {
  readonly ref: string | null;
  readonly envFile: string | undefined;
  readonly port: number;
  readonly fix: boolean;
  readonly yes: boolean;
  readonly json: boolean;
};

const options = readOptions(Deno.args);
const project = await readProject({ ...options, environment: Deno.env.toObject() });
const mask = createMask(secretValues(project));
Deno.exit(await run(project));

async function run(project: Project): Promise<number> {
  const tell = (result: Result) => options.json || print(resultLine(result, mask));
  let results = await runChecks(checksFor(project), project, { onResult: tell });
  if (options.fix) results = await repair(project, results, tell);
  if (options.json) print(resultsJson(results, mask));
  writeLine(summaryLine(results));
  return results.some(({ status }) => status === 'fail') ? 1 : 0;
}

/** Shows the fixes, applies them when that is wanted, and runs the checks that proposed them again. */
async function repair(project: Project, results: Result[], tell: (result: Result) => void): Promise<Result[]> {
  const fixes = proposals(results);
  // With --json stdout belongs to the results.
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
  const repaired = await runChecks(again, project, { onResult: tell });
  return results.map((result) => repaired.find(({ check }) => check === result.check) ?? result);
}

/** With --json the question would stand between the results. */
function isInteractive(): boolean {
  return !options.json && Deno.stdin.isTerminal();
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function readOptions(args: string[]): Options {
  try {
    const { values } = parseArgs({
      args,
      options: {
        'project-ref': { type: 'string' },
        'env-file': { type: 'string' },
        port: { type: 'string', default: '54321' },
        fix: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      print(usage);
      Deno.exit(0);
    }
    const port = Number(values.port);
    const highest = 65535 - (portNames.length - 1);
    if (!/^\d+$/.test(values.port) || port < 1 || port > highest) {
      throw new Error(`--port ${values.port}: not a number from 1 to ${highest}`);
    }
    const ref = values['project-ref'] ?? null;
    if (ref !== null && !/^[a-z0-9]+$/.test(ref)) throw new Error(`--project-ref ${ref}: not the ref of a project`);
    if (values.yes && !values.fix) throw new Error('--yes goes with --fix');
    return { ref, envFile: values['env-file'], port, fix: values.fix, yes: values.yes, json: values.json };
  } catch (error) {
    writeLine(error instanceof Error ? error.message : String(error));
    writeLine(usage);
    Deno.exit(2);
  }
}
