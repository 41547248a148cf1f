import type { Check, Need, Outcome, Status } from './check.ts';
import { fail, skip } from './check.ts';
import { type Context, DeadlineExceeded, withContext } from './context.ts';
import { DatabaseUnreachable } from './database.ts';
import type { Project } from './project.ts';
import { Unreachable } from './request.ts';

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

const severity: readonly Status[] = ['fail', 'warn', 'pass', 'skip'];

/**
 * Runs the checks one after the other, each with its own deadline, and reports each result at once. A check that throws
 * counts as failed.
 */
export async function runChecks(
  checks: readonly Check[],
  project: Project,
  { onResult = () => {}, deadline = deadlineMilliseconds }: {
    onResult?: (result: Result) => void;
    deadline?: number;
  } = {},
): Promise<Result[]> {
  const results: Result[] = [];
  let failedGate: string | undefined;
  for (const check of checks) {
    const result = failedGate === undefined
      ? await runCheck(check, project, deadline)
      : summarise(check.name, [skip(`see ${failedGate}`)]);
    if (check.isGate && result.status === 'fail') failedGate = check.name;
    results.push(result);
    onResult(result);
  }
  return results;
}

async function runCheck(check: Check, project: Project, deadline: number): Promise<Result> {
  const missing = missingNeed(check.needs ?? [], project);
  if (missing !== undefined) return summarise(check.name, [skip(missing)]);
  try {
    return summarise(check.name, await withContext(project, deadline, (context: Context) => check.run(context)));
  } catch (error) {
    return summarise(check.name, [describeError(error, deadline)]);
  }
}

function missingNeed(needs: readonly Need[], { mode, accessToken, databaseUrl, environment }: Project) {
  if (needs.includes('access token')) {
    if (mode === 'local') return 'only for a hosted project';
    if (accessToken === null) return 'SUPABASE_ACCESS_TOKEN is not given';
  }
  if (needs.includes('gateway key')) {
    const names = ['GATEWAY_API_URL', 'GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET'].filter((name) => !environment[name]);
    if (names.length > 0) return `${names.join(', ')} not given`;
  }
  return needs.includes('database') && databaseUrl === null ? 'DATABASE_URL is not given' : undefined;
}

function describeError(error: unknown, deadline: number): Outcome {
  if (error instanceof DatabaseUnreachable) return skip('the database can\'t be reached, see the check "database"');
  const code = codeOf(error);
  if (error instanceof DeadlineExceeded) return fail(error.message, tryAgain);
  // Postgres cancelled the statement, whose timeout is the same deadline.
  if (code === '57014') return fail(new DeadlineExceeded(deadline).message, tryAgain);
  if (error instanceof Unreachable) return fail(error.message, 'Check the address and the network.');
  return fail(
    `${error instanceof Error ? error.message : String(error)}${code === undefined ? '' : ` (${code})`}`,
    'Are all migrations applied? See the check "versions".',
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
