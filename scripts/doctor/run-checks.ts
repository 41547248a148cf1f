import type { Check, Need, Outcome, Status } from './check.ts';
import { checkHosted, fail, notGiven, skip } from './check.ts';
import { howToConnect } from './connection.ts';
import { type Context, DeadlineExceeded, withContext } from './context.ts';
import { DatabaseUnreachable } from './database.ts';
import { howToGetToken } from './management-api.ts';
import type { Project } from './project.ts';
import { DeadProxy, Unreachable } from './request.ts';

/** The result of a check: one line of the report. */
export type Result = {
  readonly check: string;
  readonly status: Status;
  readonly message: string;
  readonly remedy?: string;
  /** The single outcomes, with their fixes. */
  readonly outcomes: readonly Outcome[];
};

/** For one check. */
const deadlineMilliseconds = 5000;

const tryAgain = 'Check that the server is running, and run the doctor again.';

const repairFirst = 'Repair that first.';

const severity: readonly Status[] = ['fail', 'warn', 'pass', 'skip'];

/**
 * Runs the checks, each with its own deadline, and reports the results in the order of the checks. Those that need the
 * database run one after the other, so that they take one connection, the others beside them. All wait for a gate of all. A
 * check that throws counts as failed.
 */
export async function runChecks(
  checks: readonly Check[],
  project: Project,
  { onResult = () => {}, deadline = deadlineMilliseconds }: {
    onResult?: (result: Result) => void;
    deadline?: number;
  } = {},
): Promise<Result[]> {
  const failed: { all?: string; database?: string } = {};
  const run = async (check: Check): Promise<Result> => {
    const gate = failed.all ?? (needsDatabase(check) ? failed.database : undefined);
    if (gate !== undefined) return summarise(check.name, [skip(`the check "${gate}" failed`, repairFirst)]);
    const result = await runCheck(check, project, deadline);
    if (check.gateOf !== undefined && result.status === 'fail') failed[check.gateOf] = check.name;
    return result;
  };
  let gate: Promise<unknown> = Promise.resolve();
  let database = gate;
  const running = checks.map((check) => {
    const result = (needsDatabase(check) ? database : gate).then(() => run(check));
    if (check.gateOf === 'all') gate = database = result;
    else if (needsDatabase(check)) database = result;
    return result;
  });
  const results: Result[] = [];
  for (const result of running) {
    results.push(await result);
    onResult(await result);
  }
  return results;
}

function needsDatabase({ needs = [] }: Check): boolean {
  return needs.includes('database');
}

async function runCheck(check: Check, project: Project, deadline: number): Promise<Result> {
  const missing = missingNeed(check.needs ?? [], project);
  if (missing !== undefined) return summarise(check.name, [missing]);
  try {
    return summarise(check.name, await withContext(project, deadline, (context: Context) => check.run(context)));
  } catch (error) {
    return summarise(check.name, [describeError(error, deadline)]);
  }
}

function missingNeed(
  needs: readonly Need[],
  { mode, accessToken, databaseUrl, environment }: Project,
): Outcome | undefined {
  if (needs.includes('access token')) {
    if (mode === 'local') return skip('only for a hosted project', checkHosted);
    if (accessToken === null) return skip('SUPABASE_ACCESS_TOKEN not given', howToGetToken);
  }
  if (needs.includes('gateway key')) {
    const names = ['GATEWAY_API_URL', 'GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET'].filter((name) => !environment[name]);
    if (names.length > 0) return notGiven(...names);
  }
  return needs.includes('database') && databaseUrl === null ? skip('DATABASE_URL not given', howToConnect) : undefined;
}

function describeError(error: unknown, deadline: number): Outcome {
  if (error instanceof DatabaseUnreachable) return skip("the database can't be reached", repairFirst);
  const code = codeOf(error);
  if (error instanceof DeadlineExceeded) return fail(error.message, tryAgain);
  // Postgres cancelled the statement, whose timeout is the same deadline.
  if (code === '57014') return fail(new DeadlineExceeded(deadline).message, tryAgain);
  if (error instanceof DeadProxy) {
    return fail(error.message, `Start it, unset ${error.variable}, or name the servers in NO_PROXY.`);
  }
  if (error instanceof Unreachable) return fail(error.message, 'Check the address and the network.');
  return fail(
    `${error instanceof Error ? error.message : String(error)}${code === undefined ? '' : ` (${code})`}`,
    'Are all migrations applied? See the check "migrations".',
  );
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

/** Joins outcomes into one result: the worst status, and the texts of all outcomes that need attention. */
function summarise(check: string, outcomes: readonly Outcome[]): Result {
  const status = severity.find((one) => outcomes.some((outcome) => outcome.status === one)) ?? 'pass';
  const shown = status === 'fail' || status === 'warn'
    ? severity.slice(0, 2).flatMap((one) => outcomes.filter((outcome) => outcome.status === one))
    : outcomes.filter((outcome) => outcome.status === status);
  const remedies = shown.flatMap(({ remedy }) => remedy ?? []);
  return {
    check,
    status,
    message: shown.map(({ message }) => message).join('; '),
    ...(remedies.length > 0 && { remedy: [...new Set(remedies)].join(' ') }),
    outcomes,
  };
}
